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


def test_what_is_accepted_moved_or_left_is_kept_and_does_not_come_again(annotator):
    found = annotator.list("law/bail")
    first, second, third = found["documents"][:3]
    assert annotator.judge("accept", first).status_code == 200
    assert annotator.judge("move", second, to="sport/tennis").status_code == 200
    before = annotator.labels(third["line"]["id"])
    answer = annotator.judge("leave", third)
    assert "Unchanged labels of" in answer.text
    assert annotator.labels(first["line"]["id"]) == ("law/bail",)
    assert annotator.labels(second["line"]["id"]) == ("sport/tennis",)
    assert annotator.labels(third["line"]["id"]) == before
    now = annotator.list("law/bail")
    assert now["paging"]["total"] == found["paging"]["total"] - 3
    assert now["hidden"] == 3
    gone = {one["line"]["id"] for one in (first, second, third)}
    assert not gone & {one["line"]["id"] for one in now["documents"]}
    every = annotator.list("law/bail", show="all")["documents"]
    said = {one["line"]["id"]: one["judged"] for one in every if one["judged"]}
    assert said == dict(zip([one["line"]["id"] for one in (first, second, third)],
                            ["accepted", "moved", "unchanged"], strict=True))  # fmt: skip
    assert annotator.get("/search.json?label=sport/tennis").json()["total"] == len(
        annotator.app.state.session.view().collection.documents.labelled_rows("sport/tennis")
    )


def test_documents_without_a_label_can_be_shown_alone(annotator):
    found = annotator.list("law/bail", show="all")
    bare = annotator.list("law/bail", show="bare")
    assert found["all"] == bare["all"] > bare["paging"]["total"] > 2
    assert all(item["line"]["labels"] == [] for item in bare["documents"])
    annotator.judge("accept", bare["documents"][0])
    now = annotator.list("law/bail", show="bare")
    assert now["paging"]["total"] == bare["paging"]["total"] - 1
    assert now["documents"][0] == bare["documents"][1]


def test_a_judgement_is_taken_back(annotator):
    item = next(
        one for one in annotator.list("law/bail")["documents"] if one["line"]["labels"] not in ([], ["law/bail"])
    )
    before, rows = annotator.labels(item["line"]["id"]), annotator.get("/categories.json").json()["rows"]
    assert annotator.judge("accept", item).status_code == 200
    now = next(
        one for one in annotator.list("law/bail", show="all")["documents"] if one["line"]["id"] == item["line"]["id"]
    )
    changed = {row["label"]: row["labelled"] for row in annotator.get("/categories.json").json()["rows"]}
    assert changed["law/bail"] == {row["label"]: row["labelled"] for row in rows}["law/bail"] + 1
    answer = annotator.judge("back", now)
    assert answer.status_code == 200
    assert annotator.labels(item["line"]["id"]) == before
    assert annotator.get("/categories.json").json()["rows"] == rows
    assert item["line"]["id"] in [one["line"]["id"] for one in annotator.list("law/bail")["documents"]]
    assert annotator.judge("back", now | {"number": now["number"] + 1}).status_code == 422


def test_the_page_says_what_was_done_and_offers_to_take_it_back(annotator):
    item = annotator.list("law/bail")["documents"][0]
    answer = annotator.judge("accept", item, back="/categories?label=law/bail&done=7")
    assert answer.url.params["done"] == "1"
    assert answer.url.params.get_list("done") == ["1"]
    assert f"Labels of “{item['line']['title']}”: law/bail." in answer.text
    assert answer.text.count("Undo judgement") == 1
    assert answer.text.count(">Undo<") == 1  # of the last change


def test_learning_uses_what_was_judged(annotator, folder_of):
    one = next(item for item in annotator.list("law/bail")["documents"] if not item["line"]["labels"])
    annotator.judge("move", one, to="sport/tennis")
    left = next(item for item in annotator.list("law/appeal")["documents"] if not item["line"]["labels"])
    annotator.judge("leave", left)
    with Collection.open(folder_of(annotator)) as collection:
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
    rows = annotator.get("/categories.json").json()["rows"]
    assert {row["label"]: row["labelled"] for row in rows} == expected


def test_of_two_people_none_overwrites_the_other(annotator):
    item = annotator.list("law/bail")["documents"][0]
    assert annotator.judge("move", item, to="sport/tennis").status_code == 200
    answer = annotator.judge("accept", item)
    assert answer.status_code == 409
    assert "sport/tennis" in answer.text
    assert "law/bail" in answer.text
    assert annotator.labels(item["line"]["id"]) == ("sport/tennis",)
    fields = dict(
        re.findall(r'name="(\w+)" value="([^"]*)"', answer.text.split('action="/judge"')[1].split("</form>")[0])
    )
    assert annotator.post("/judge", data=fields, headers={"Origin": HERE}).status_code == 200
    assert annotator.labels(item["line"]["id"]) == ("law/bail",)
    database = annotator.app.state.session.view().collection.generation.database
    assert [one.kind for one in Judgements(database).since(0)] == ["move", "accept"]


def test_of_many_people_at_once_nobody_is_lost(annotator, folder_of):
    items = annotator.list("law/bail")["documents"][:6]
    state = annotator.app.state.session.view().mark
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda item: annotator.judge("move", item, to="energy/oil", state=state), items))
        again = list(pool.map(lambda to: annotator.judge("move", items[0], to=to, state=state), LABELS))
    assert {answer.status_code for answer in answers} == {200}
    assert {answer.status_code for answer in again} == {409}
    assert {annotator.labels(item["line"]["id"]) for item in items} == {("energy/oil",)}
    assert check_folder(folder_of(annotator)) == []


def test_shaping_the_tree_does_not_stand_in_the_way(annotator, folder_of):
    item, old = annotator.list("law/bail")["documents"][0], annotator.app.state.session.view().mark
    with Collection.open(folder_of(annotator)) as other:
        other.shape([Rename(other.outline.topics[1], "Theirs")])
    assert annotator.judge("accept", item, state=old).status_code == 200
    with Collection.open(folder_of(annotator)) as other:
        undo_last_step(other)
    assert annotator.labels(item["line"]["id"]) == ("law/bail",)


def test_judged_labels_go_with_a_collection_that_is_grown_anew(annotator, folder_of):
    items, old = annotator.list("law/bail")["documents"][:3], annotator.app.state.session.view().mark
    annotator.judge("accept", items[0])
    annotator.judge("leave", items[1])
    gone = items[0]["line"]["id"]
    Collection.grow(
        [one for one in muddled() if one.id != gone], folder_of(annotator), Recipe(topics=6), force=True
    ).close()
    assert annotator.judge("accept", items[2], state=old).status_code == 409
    database = annotator.app.state.session.view().collection.generation.database
    assert [one.kind for one in Judgements(database).list_current()] == ["leave"]
    Collection.grow(muddled(), folder_of(annotator), Recipe(topics=6), force=True).close()
    with Collection.open(folder_of(annotator)) as collection:
        learn_categories(collection)
    annotator.judge("move", annotator.list("law/bail")["documents"][0], to="energy/oil")
    moved = Judgements(annotator.app.state.session.view().collection.generation.database).since(0)[-1]
    id = annotator.app.state.session.view().collection.documents.get(moved.row).id
    Collection.grow(muddled(), folder_of(annotator), Recipe(topics=6), force=True).close()
    assert annotator.labels(id) == ("energy/oil",)


def test_wrong_forms_change_nothing(annotator):
    item = annotator.list("law/bail")["documents"][0]
    before = annotator.labels(item["line"]["id"])
    assert annotator.judge("eat", item).status_code == 422
    assert annotator.judge("move", item).status_code == 422
    assert "law/bail" in annotator.judge("move", item, to="law/bial").text
    assert annotator.judge("move", item, to="law/bial").status_code == 422
    assert annotator.judge("accept", item, state="").status_code == 422
    assert annotator.judge("accept", item, token="x").status_code == 403
    assert annotator.judge("accept", item | {"line": {"id": "nobody"}}).status_code in (404, 422)
    assert annotator.labels(item["line"]["id"]) == before
    assert Judgements(annotator.app.state.session.view().collection.generation.database).last_number() == 0


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
    assert "Check one of its labels, or choose Leave" in refused.text
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
    annotator = Writer(explorer(request.getfixturevalue(which)[0]), base_url=HERE)
    for text, some in (("bail custody surety court judge", True), ("xyzzy plugh frotz", False)):
        form = {"token": annotator.app.state.session.token, "text": text}
        answer = annotator.post("/new", data=form, headers={"Origin": HERE, "Accept": "application/json"}).json()
        (line,) = answer["filed"]
        assert bool(line["labels"]) == some
        assert all(0 < label["certainty"] <= 1 for label in line["labels"])
        page = annotator.post("/new", data=form, headers={"Origin": HERE}).text
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
    annotator = Writer(explorer(str(tmp_path / "evil.topiary")), base_url=HERE)
    item = annotator.list(EVIL)["documents"][0]
    pages = [annotator.get("/categories"), annotator.get(addresses.category(EVIL)), annotator.judge("accept", item)]
    pages.append(annotator.judge("accept", item))
    assert [page.status_code for page in pages] == [200, 200, 200, 409]
    for page in pages:
        assert "<script>window" not in page.text
        assert "&lt;script&gt;window" in page.text
    other = annotator.list(EVIL)["documents"][0]
    values = map(html.unescape, re.findall(r'<option value="([^"]*)"', annotator.get(addresses.category(EVIL)).text))
    annotator.judge("move", other, to=next(value for value in values if "odd" in value))
    assert annotator.labels(other["line"]["id"]) == (ODD,)
