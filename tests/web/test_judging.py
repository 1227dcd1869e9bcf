"""Labels that people give: kept, taken back, learned from, and of two people none overwrites the other."""

import html
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from tests.web.labelled import HERE, LABELS, Writer, muddled
from topiarist.collection.check import check_folder
from topiarist.collection.classify import filing
from topiarist.collection.classify.judgements import Judgements
from topiarist.collection.classify.learning import learn_categories
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.shape.edits import Rename
from topiarist.collection.shape.history import undo_last_step
from topiarist.text.documents import Document
from topiarist.web import addresses
from topiarist.web.http.server import explorer

EVIL = "<script>window.hacked = 1</script>"
ODD = " odd  \u202elabel\t"


def test_what_is_accepted_moved_or_left_is_kept_and_does_not_come_again(client):
    found = client.list("law/bail")
    first, second, third = found["documents"][:3]
    assert client.judge("accept", first).status_code == 200
    assert client.judge("move", second, to="sport/tennis").status_code == 200
    before = client.labels(third["line"]["id"])
    answer = client.judge("leave", third)
    assert "Unchanged labels of" in answer.text
    assert client.labels(first["line"]["id"]) == ("law/bail",)
    assert client.labels(second["line"]["id"]) == ("sport/tennis",)
    assert client.labels(third["line"]["id"]) == before
    now = client.list("law/bail")
    assert now["paging"]["total"] == found["paging"]["total"] - 3
    assert now["hidden"] == 3
    gone = {one["line"]["id"] for one in (first, second, third)}
    assert not gone & {one["line"]["id"] for one in now["documents"]}
    every = client.list("law/bail", show="all")["documents"]
    said = {one["line"]["id"]: one["judged"] for one in every if one["judged"]}
    assert said == dict(zip([one["line"]["id"] for one in (first, second, third)],
                            ["accepted", "moved", "unchanged"], strict=True))  # fmt: skip
    assert client.get("/search.json?label=sport/tennis").json()["total"] == len(
        client.app.state.session.view().collection.documents.with_label("sport/tennis")
    )


def test_documents_without_a_label_can_be_shown_alone(client):
    found = client.list("law/bail", show="all")
    bare = client.list("law/bail", show="bare")
    assert found["all"] == bare["all"] > bare["paging"]["total"] > 2
    assert all(item["line"]["labels"] == [] for item in bare["documents"])
    client.judge("accept", bare["documents"][0])
    now = client.list("law/bail", show="bare")
    assert now["paging"]["total"] == bare["paging"]["total"] - 1
    assert now["documents"][0] == bare["documents"][1]


def test_a_judgement_is_taken_back(client):
    item = next(one for one in client.list("law/bail")["documents"] if one["line"]["labels"] not in ([], ["law/bail"]))
    before, rows = client.labels(item["line"]["id"]), client.get("/categories.json").json()["rows"]
    assert client.judge("accept", item).status_code == 200
    now = next(
        one for one in client.list("law/bail", show="all")["documents"] if one["line"]["id"] == item["line"]["id"]
    )
    changed = {row["label"]: row["labelled"] for row in client.get("/categories.json").json()["rows"]}
    assert changed["law/bail"] == {row["label"]: row["labelled"] for row in rows}["law/bail"] + 1
    answer = client.judge("back", now)
    assert answer.status_code == 200
    assert client.labels(item["line"]["id"]) == before
    assert client.get("/categories.json").json()["rows"] == rows
    assert item["line"]["id"] in [one["line"]["id"] for one in client.list("law/bail")["documents"]]
    assert client.judge("back", now | {"number": now["number"] + 1}).status_code == 422


def test_the_page_says_what_was_done_and_offers_to_take_it_back(client):
    item = client.list("law/bail")["documents"][0]
    answer = client.judge("accept", item, back="/categories?label=law/bail&done=7")
    assert answer.url.params["done"] == "1"
    assert answer.url.params.get_list("done") == ["1"]
    assert f"Labels of “{item['line']['title']}”: law/bail." in answer.text
    assert answer.text.count("Undo judgement") == 1
    assert answer.text.count(">Undo<") == 1  # of the last change


def test_learning_uses_what_was_judged(client, folder_of):
    one = next(item for item in client.list("law/bail")["documents"] if not item["line"]["labels"])
    client.judge("move", one, to="sport/tennis")
    left = next(item for item in client.list("law/appeal")["documents"] if not item["line"]["labels"])
    client.judge("leave", left)
    with Collection.open(folder_of(client)) as collection:
        known = sum(bool(document.labels) for document in collection.documents.iterate())
        assert learn_categories(collection).n_labelled == known
        table = {one["line"]["id"]: ["law/bail"], left["line"]["id"]: ["law/bail"]}
        table |= {f"n{number:03d}": [LABELS[number % 6]] for number in range(60) if f"n{number:03d}" not in table}
        quality = learn_categories(collection, table)
        names = collection.categories.names
        sizes = dict(zip(names, collection.categories.heldout.labelled.tolist(), strict=True))
    expected = Counter(labels[0] for labels in (table | {one["line"]["id"]: ["sport/tennis"]}).values())
    assert sizes == expected
    assert quality.n_labelled == len(table)
    rows = client.get("/categories.json").json()["rows"]
    assert {row["label"]: row["labelled"] for row in rows} == expected


def test_of_two_people_none_overwrites_the_other(client):
    item = client.list("law/bail")["documents"][0]
    assert client.judge("move", item, to="sport/tennis").status_code == 200
    answer = client.judge("accept", item)
    assert answer.status_code == 409
    assert "sport/tennis" in answer.text
    assert "law/bail" in answer.text
    assert client.labels(item["line"]["id"]) == ("sport/tennis",)
    fields = dict(
        re.findall(r'name="(\w+)" value="([^"]*)"', answer.text.split('action="/judge"')[1].split("</form>")[0])
    )
    assert client.post("/judge", data=fields, headers={"Origin": HERE}).status_code == 200
    assert client.labels(item["line"]["id"]) == ("law/bail",)
    database = client.app.state.session.view().collection.generation.database
    assert [one.kind for one in Judgements(database).since(0)] == ["move", "accept"]


def test_of_many_people_at_once_nobody_is_lost(client, folder_of):
    items = client.list("law/bail")["documents"][:6]
    state = client.app.state.session.view().mark
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda item: client.judge("move", item, to="energy/oil", state=state), items))
        again = list(pool.map(lambda to: client.judge("move", items[0], to=to, state=state), LABELS))
    assert {answer.status_code for answer in answers} == {200}
    assert {answer.status_code for answer in again} == {409}
    assert {client.labels(item["line"]["id"]) for item in items} == {("energy/oil",)}
    assert check_folder(folder_of(client)) == []


def test_shaping_the_tree_does_not_stand_in_the_way(client, folder_of):
    item, old = client.list("law/bail")["documents"][0], client.app.state.session.view().mark
    with Collection.open(folder_of(client)) as other:
        other.shape([Rename(other.outline.topics[1], "Theirs")])
    assert client.judge("accept", item, state=old).status_code == 200
    with Collection.open(folder_of(client)) as other:
        undo_last_step(other)
    assert client.labels(item["line"]["id"]) == ("law/bail",)


def test_judged_labels_go_with_a_collection_that_is_grown_anew(client, folder_of):
    items, old = client.list("law/bail")["documents"][:3], client.app.state.session.view().mark
    client.judge("accept", items[0])
    client.judge("leave", items[1])
    gone = items[0]["line"]["id"]
    Collection.grow(
        [one for one in muddled() if one.id != gone], folder_of(client), Recipe(topics=6), force=True
    ).close()
    assert client.judge("accept", items[2], state=old).status_code == 409
    database = client.app.state.session.view().collection.generation.database
    assert [one.kind for one in Judgements(database).list_current()] == ["leave"]
    Collection.grow(muddled(), folder_of(client), Recipe(topics=6), force=True).close()
    with Collection.open(folder_of(client)) as collection:
        learn_categories(collection)
    client.judge("move", client.list("law/bail")["documents"][0], to="energy/oil")
    moved = Judgements(client.app.state.session.view().collection.generation.database).since(0)[-1]
    id = client.app.state.session.view().collection.documents.get(moved.row).id
    Collection.grow(muddled(), folder_of(client), Recipe(topics=6), force=True).close()
    assert client.labels(id) == ("energy/oil",)


def test_wrong_forms_change_nothing(client):
    item = client.list("law/bail")["documents"][0]
    before = client.labels(item["line"]["id"])
    assert client.judge("eat", item).status_code == 422
    assert client.judge("move", item).status_code == 422
    assert "law/bail" in client.judge("move", item, to="law/bial").text
    assert client.judge("move", item, to="law/bial").status_code == 422
    assert client.judge("accept", item, state="").status_code == 422
    assert client.judge("accept", item, token="x").status_code == 403
    assert client.judge("accept", item | {"line": {"id": "nobody"}}).status_code in (404, 422)
    assert client.labels(item["line"]["id"]) == before
    assert Judgements(client.app.state.session.view().collection.generation.database).last_number() == 0


def test_a_collection_that_is_read_only_shows_no_buttons(single):
    text = TestClient(explorer(single[0], read_only=True), base_url=HERE).get("/categories?label=law/bail").text
    assert "certainty" in text
    assert 'action="/judge"' not in text


def test_several_labels_are_chips_that_may_be_unchecked(many):
    item = next(
        one
        for one in many.list("law/bail")["documents"]
        if {(c["has"], c["told"]) for c in one["chips"]} >= {(False, True)}
    )
    told = [chip["label"] for chip in item["chips"] if chip["told"]]
    assert "law/bail" in told
    assert all(0 < chip["certainty"] < 1 for chip in item["chips"] if chip["told"])
    every = [chip["label"] for chip in item["chips"]]
    assert set(every) == {*told, *item["line"]["labels"]}
    kept = [label for label in every if label != "law/bail"] or ["law/appeal"]
    more = next(label for label in LABELS if label not in every)
    assert many.judge("accept", item, label=kept, to=more).status_code == 200
    assert set(many.labels(item["line"]["id"])) == {*kept, more}
    other = many.list("law/bail")["documents"][0]
    refused = many.judge("accept", other, label=[])
    assert refused.status_code == 422
    assert "check one of its labels, or Leave" in refused.text
    page = many.get("/categories.json?rho=0.5").json()
    assert page["chosen"]["left"] == pytest.approx(1 - page["chosen"]["filed"])
    at = many.get("/categories.json?rho=0.9").json()["chosen"]
    assert at["correct"] is None or at["correct"] >= page["thresholds"][0]["correct"]


def test_only_labels_that_it_has_or_that_are_likely_are_checked(many, monkeypatch):
    """Whoever accepts without a look gives no label that is more likely wrong than right."""
    sure = filing.compute_certainty
    monkeypatch.setattr(filing, "compute_certainty", lambda *values: sure(*values) ** 4)  # of the same order
    seen = set()
    for ask in (*({"label": label} for label in LABELS), {"left": 1, "rho": 0.99}):
        text, page = many.get("/categories", params=ask).text, many.get("/categories.json", params=ask).json()
        for item, shown in zip(page["filed"]["documents"], text.split('<li class="item"')[1:], strict=True):
            if item["judged"]:
                continue
            boxes = re.findall(r'type="checkbox" name="label" value="([^"]*)"( checked)?>', shown)
            likely = {chip["label"]: chip["has"] or (chip["certainty"] or 0) >= 0.5 for chip in item["chips"]}
            assert {name: bool(checked) for name, checked in boxes} == likely
            seen |= set(likely.values())
            values = re.findall(r'<option value="([^"]+)"', shown)
            assert sorted(values) == sorted(set(values) | set(item["likely"]))
    assert seen == {True, False}


@pytest.mark.parametrize("which", ["single", "several"])
def test_new_documents_get_labels_with_their_certainty_and_unknown_words_none(request, which, recwarn):
    client = Writer(explorer(request.getfixturevalue(which)[0]), base_url=HERE)
    for text, some in (("bail custody surety court judge", True), ("xyzzy plugh frotz", False)):
        form = {"token": client.app.state.session.token, "text": text}
        answer = client.post("/new", data=form, headers={"Origin": HERE, "Accept": "application/json"}).json()
        (line,) = answer["filed"]
        assert bool(line["labels"]) == some
        assert all(0 < label["certainty"] <= 1 for label in line["labels"])
        page = client.post("/new", data=form, headers={"Origin": HERE}).text
        assert all(re.search(rf"{label['name']} [\d.]+%</span>", page) for label in line["labels"])
        assert ("unlike anything here" in page or "does not fit" in page) == line["unusual"]
    assert line["unusual"]
    assert line["misfit"] == "0 of its 3 words are known here"
    assert line["misfit"] in page
    assert not [one for one in recwarn if one.category is UserWarning]


def test_hostile_labels_stay_text(tmp_path):
    documents = [Document(one.id, one.text, one.title, (EVIL if one.labels == ("law/bail",) else ODD,))
                 for one in muddled(120)]  # fmt: skip
    with Collection.grow(documents, tmp_path / "evil.topiary", Recipe(topics=3)) as collection:
        learn_categories(collection)
    client = Writer(explorer(str(tmp_path / "evil.topiary")), base_url=HERE)
    item = client.list(EVIL)["documents"][0]
    pages = [client.get("/categories"), client.get(addresses.category(EVIL)), client.judge("accept", item)]
    pages.append(client.judge("accept", item))
    assert [page.status_code for page in pages] == [200, 200, 200, 409]
    for page in pages:
        assert "<script>window" not in page.text
        assert "&lt;script&gt;window" in page.text
    other = client.list(EVIL)["documents"][0]
    values = map(html.unescape, re.findall(r'<option value="([^"]*)"', client.get(addresses.category(EVIL)).text))
    client.judge("move", other, to=next(value for value in values if "odd" in value))
    assert client.labels(other["line"]["id"]) == (ODD,)
