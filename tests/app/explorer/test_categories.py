"""Judging where documents are filed: held-out numbers, lists, thresholds, and labels that people give."""

import html
import random
import re
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from starlette.testclient import TestClient

from tests.app.explorer.conftest import GENERAL, HEADINGS, TOPICS, Served
from tests.app.explorer.test_browser import RULES, until
from topiarist.app.explorer import addresses
from topiarist.app.explorer.pages import category_documents, category_filing
from topiarist.app.explorer.server import explorer
from topiarist.files import contents
from topiarist.files.categories import Categories
from topiarist.files.check import check
from topiarist.files.collection import Collection
from topiarist.files.headings import headings
from topiarist.files.judgements import Judgements
from topiarist.files.learning import learn
from topiarist.files.recipe import Recipe
from topiarist.files.shaping import undo
from topiarist.tasks.shape.edits import Rename
from topiarist.text.documents import Document

HERE = "http://127.0.0.1"
LABELS = list(TOPICS)
EVIL = "<script>window.hacked = 1</script>"
ODD = " odd  \u202elabel\t"


def text_of(labels, rng, own, strange):
    """Words of the labels and of their headings, and some of any other label."""
    words = [rng.choice(GENERAL) for _ in range(12)]
    for label in labels:
        words += [rng.choice(TOPICS[label].split()) for _ in range(own)]
        words += [rng.choice(HEADINGS[label.split("/")[0]].split()) for _ in range(4)]
    words += [rng.choice(TOPICS[rng.choice(LABELS)].split()) for _ in range(strange)]
    rng.shuffle(words)
    return " ".join(words)


def muddled(n=360):
    """Short documents with one label, some of them wrong, some without."""
    rng = random.Random(3)
    found = []
    for number in range(n):
        label = LABELS[number % len(LABELS)]
        told = () if number % 5 == 4 else (rng.choice(LABELS),) if number % 12 == 0 else (label,)
        found.append(Document(f"n{number:03d}", text_of([label], rng, 1, 2), f"Note {number}", told))
    return found


def mixed(n=360):
    """Documents of one or two labels."""
    rng = random.Random(4)
    found = []
    for number in range(n):
        labels = rng.sample(LABELS, 1 + number % 2)
        found.append(Document(f"m{number:03d}", text_of(labels, rng, 2, 3), f"Mix {number}", tuple(labels)))
    return found


def grown(path, documents):
    with Collection.grow(documents, path, Recipe(topics=6)) as collection:
        quality = learn(collection, holdout=0.4)
    return str(path), quality


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    return grown(tmp_path_factory.mktemp("single") / "notes.topiary", muddled())


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    return grown(tmp_path_factory.mktemp("several") / "mixed.topiary", mixed())


class Writer(TestClient):
    def judge(self, does, item, **form):
        token, state = self.app.state.desk.token, form.pop("state", self.app.state.desk.view().mark)
        values = {"token": token, "state": state, "does": does, "document": item["line"]["id"],
                  "number": item["number"], "label": item["label"], "back": "/categories", **form}  # fmt: skip
        return self.post("/judge", data=values, headers={"Origin": HERE})

    def list(self, label, **values):
        return self.get("/categories.json", params={"label": label, **values}).json()["filed"]

    def labels(self, id):
        documents = self.app.state.desk.view().collection.documents
        return documents.labels_of([documents.row_of(id)])[0]


@pytest.fixture
def client(single, tmp_path):
    shutil.copytree(single[0], tmp_path / "copy.topiary")
    return Writer(explorer(str(tmp_path / "copy.topiary")), base_url=HERE)


@pytest.fixture
def many(several, tmp_path):
    shutil.copytree(several[0], tmp_path / "copy.topiary")
    return Writer(explorer(str(tmp_path / "copy.topiary")), base_url=HERE)


@pytest.fixture
def folder_of():
    return lambda client: client.app.state.desk.folder


@pytest.mark.parametrize("which", ["single", "several"])
def test_agreement_is_that_of_held_out_documents(request, which):
    folder, quality = request.getfixturevalue(which)
    page = TestClient(explorer(folder), base_url=HERE).get("/categories.json").json()
    assert not page["seen"]
    assert f"{quality.n_held_out} documents whose labels it had not seen" in page["sentence"]
    known = {one.name: one for one in quality.categories}
    assert len(page["rows"]) == len(known)
    for row in page["rows"]:
        assert row["held_out"] == known[row["label"]].documents
        assert row["agreement"] == pytest.approx(known[row["label"]].recall)
        assert row["precision"] == pytest.approx(known[row["label"]].precision)
    assert any(row["agreement"] < 1 for row in page["rows"])


@pytest.mark.parametrize("which", ["client", "many"])
def test_a_confused_pair_leads_to_its_documents(request, which):
    client = request.getfixturevalue(which)
    pairs = 0
    for row in client.get("/categories.json").json()["rows"]:
        for one in row["confused"]:
            name, number = re.fullmatch(r"(.*) \(([\d,]+)\)", one["name"]).groups()
            found = client.get(one["address"].replace("/categories", "/categories.json")).json()["filed"]
            assert found["paging"]["total"] == int(number)
            assert all(row["label"] in item["line"]["labels"] for item in found["documents"])
            assert all(name not in item["line"]["labels"] for item in found["documents"])
            assert all(item["label"] == name for item in found["documents"])
            pairs += 1
    assert pairs > 3


def test_thresholds_are_counted_on_held_out_documents(client):
    held = client.app.state.desk.view().collection.categories.held
    page = client.get("/categories.json?rho=0.6").json()
    assert len(page["thresholds"]) == 100
    for one in page["thresholds"]:
        assert one["filed"] + sum(one["above"]) + one["left"] == pytest.approx(1)
    filed = [one["filed"] for one in page["thresholds"]]
    assert filed == sorted(filed, reverse=True)
    assert filed[0] == 1
    assert page["thresholds"][0]["correct"] == pytest.approx(held.exact())
    sure = [place for place in range(len(held.rows)) if held.certainty[place, -1] >= np.float32(0.6)]
    right = [place for place in sure if held.right_label[place] == held.told_label[place]]
    assert page["chosen"]["certainty"] == 0.6
    assert page["chosen"]["filed"] == pytest.approx(len(sure) / len(held.rows))
    assert page["chosen"]["correct"] == pytest.approx(len(right) / len(sure))
    names = client.app.state.desk.view().collection.categories.names
    above = [place for place in range(len(held.rows)) if place not in sure and held.certainty[place, 0] >= 0.6]
    tops = sorted({name.split("/")[0] + "/" for name in names})
    good = [place for place in above if names[held.right_label[place]].startswith(tops[held.groups[place, 0]])]
    assert 0 < len(sure) < len(held.rows)
    assert len(above) > 0
    assert page["places"][1]["share"] == pytest.approx(len(above) / len(held.rows))
    assert page["places"][1]["correct"] == pytest.approx(len(good) / len(above))


def test_every_document_is_filed_at_one_place(client):
    page = client.get("/categories.json?rho=0.6").json()
    assert sum(place["documents"] for place in page["places"]) == 360
    assert sum(row["filed"] for row in page["rows"]) == page["places"][0]["documents"]
    seen = set()
    addresses_ = [row["address"] for row in page["rows"]]
    addresses_ += [one["address"] for place in page["places"] for one in place["headings"]]
    addresses_.append(page["places"][-1]["address"])
    for address in addresses_:
        number = 1
        while True:
            path = address.replace("/categories", "/categories.json") + f"&page={number}"
            found = client.get(path).json()["filed"]
            ids = [item["line"]["id"] for item in found["documents"]]
            assert not seen & set(ids)
            seen |= set(ids)
            certainty = [item["certainty"] for item in found["documents"]]
            assert np.diff(certainty).min(initial=0) > -1e-4
            if number >= found["paging"]["pages"]:
                break
            number += 1
    assert len(seen) == 360


def test_a_document_at_a_heading_tells_each_level(client):
    page = client.get("/categories.json?rho=0.6").json()
    heading = page["places"][1]["headings"][0]
    found = client.get(heading["address"].replace("/categories", "/categories.json")).json()["filed"]
    for item in found["documents"]:
        top, last = item["path"]
        assert top["here"]
        assert not last["here"]
        assert top["certainty"] >= 0.6 > last["certainty"]
        assert item["label"] == last["name"]
        assert last["name"].startswith(f"{top['name']}/")


def test_labels_have_headings_by_slashes_or_dots():
    one = headings(["comp.graphics", "comp.sys.ibm.pc", "comp.sys.mac", "misc.forsale", "sci.med", "sci.space"])
    assert one.names[0] == ("comp.", "misc.forsale", "sci.")
    assert one.names[1] == ("comp.graphics", "comp.sys.", "misc.forsale", "sci.med", "sci.space")
    assert one.names[2][1] == "comp.sys.ibm.pc"
    groups, certainty = one.best(np.array([[0.3, 0.25, 0.2, 0.1, 0.1, 0.05]]))
    assert [one.names[level][group] for level, group in enumerate(groups[0])] == ["comp.", "comp.sys.", "comp.graphics"]
    assert certainty[0].tolist() == pytest.approx([0.75, 0.45, 0.3])
    assert headings(["law", "law/bail", "sport"]).names[0] == ("law/", "sport")
    for flat in (["a", "b"], ["Dr. Who", "Dr. No"], ["x/a", "x/b"], ["v1.0", "two", "three", "four"], []):
        assert headings(flat).levels == 1


def test_what_is_accepted_moved_or_left_is_kept_and_does_not_come_again(client):
    found = client.list("law/bail")
    first, second, third = found["documents"][:3]
    assert client.judge("accept", first).status_code == 200
    assert client.judge("move", second, to="sport/tennis").status_code == 200
    before = client.labels(third["line"]["id"])
    answer = client.judge("leave", third)
    assert "stays as it is" in answer.text
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
                            ["accepted", "moved", "left as it is"], strict=True))  # fmt: skip
    assert client.get("/search.json?label=sport/tennis").json()["total"] == len(
        client.app.state.desk.view().collection.documents.with_label("sport/tennis")
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
    assert f"“{item['line']['title']}” has now: law/bail." in answer.text
    assert answer.text.count("Take back") == 1


def test_learning_uses_what_was_judged(client, folder_of):
    one = next(item for item in client.list("law/bail")["documents"] if not item["line"]["labels"])
    client.judge("move", one, to="sport/tennis")
    left = next(item for item in client.list("law/appeal")["documents"] if not item["line"]["labels"])
    client.judge("leave", left)
    with Collection.open(folder_of(client)) as collection:
        known = sum(bool(document.labels) for document in collection.documents.iterate())
        assert learn(collection).n_labelled == known
        table = {one["line"]["id"]: ["law/bail"], left["line"]["id"]: ["law/bail"]}
        table |= {f"n{number:03d}": [LABELS[number % 6]] for number in range(60) if f"n{number:03d}" not in table}
        quality = learn(collection, table)
        names = collection.categories.names
        sizes = dict(zip(names, collection.categories.held.labelled.tolist(), strict=True))
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
    database = client.app.state.desk.view().collection.generation.database
    assert [one.kind for one in Judgements(database).since(0)] == ["move", "accept"]


def test_of_many_people_at_once_nobody_is_lost(client, folder_of):
    items = client.list("law/bail")["documents"][:6]
    state = client.app.state.desk.view().mark
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda item: client.judge("move", item, to="energy/oil", state=state), items))
        again = list(pool.map(lambda to: client.judge("move", items[0], to=to, state=state), LABELS))
    assert {answer.status_code for answer in answers} == {200}
    assert {answer.status_code for answer in again} == {409}
    assert {client.labels(item["line"]["id"]) for item in items} == {("energy/oil",)}
    assert check(folder_of(client)) == []


def test_shaping_the_tree_does_not_stand_in_the_way(client, folder_of):
    item, old = client.list("law/bail")["documents"][0], client.app.state.desk.view().mark
    with Collection.open(folder_of(client)) as other:
        other.shape([Rename(other.outline.topics[1], "Theirs")])
    assert client.judge("accept", item, state=old).status_code == 200
    with Collection.open(folder_of(client)) as other:
        undo(other)
    assert client.labels(item["line"]["id"]) == ("law/bail",)


def test_judged_labels_go_with_a_collection_that_is_grown_anew(client, folder_of):
    items, old = client.list("law/bail")["documents"][:3], client.app.state.desk.view().mark
    client.judge("accept", items[0])
    client.judge("leave", items[1])
    gone = items[0]["line"]["id"]
    Collection.grow(
        [one for one in muddled() if one.id != gone], folder_of(client), Recipe(topics=6), force=True
    ).close()
    assert client.judge("accept", items[2], state=old).status_code == 409
    database = client.app.state.desk.view().collection.generation.database
    assert [one.kind for one in Judgements(database).holding()] == ["leave"]
    Collection.grow(muddled(), folder_of(client), Recipe(topics=6), force=True).close()
    with Collection.open(folder_of(client)) as collection:
        learn(collection)
    client.judge("move", client.list("law/bail")["documents"][0], to="energy/oil")
    moved = Judgements(client.app.state.desk.view().collection.generation.database).since(0)[-1]
    id = client.app.state.desk.view().collection.documents.get(moved.row).id
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
    assert Judgements(client.app.state.desk.view().collection.generation.database).last_number() == 0


def test_a_collection_that_is_read_only_shows_no_buttons(single):
    text = TestClient(explorer(single[0], read_only=True), base_url=HERE).get("/categories?label=law/bail").text
    assert "certain of it" in text
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
    sure = category_documents.certainty_of
    monkeypatch.setattr(category_documents, "certainty_of", lambda *values: sure(*values) ** 4)  # of the same order
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
        form = {"token": client.app.state.desk.token, "text": text}
        answer = client.post("/new", data=form, headers={"Origin": HERE, "Accept": "application/json"}).json()
        (line,) = answer["filed"]
        assert bool(line["labels"]) == some
        assert all(0 < label["certainty"] <= 1 for label in line["labels"])
        page = client.post("/new", data=form, headers={"Origin": HERE}).text
        assert all(re.search(rf"{label['name']} [\d.]+%</span>", page) for label in line["labels"])
        assert ("unlike anything here" in page) == line["unusual"]
    assert line["unusual"]
    assert not [one for one in recwarn if one.category is UserWarning]


def test_categories_learned_before_say_that_they_have_seen_the_documents(single, monkeypatch):
    monkeypatch.setattr(contents, "read_held_out", lambda folder: None)
    page = TestClient(explorer(single[0]), base_url=HERE).get("/categories.json").json()
    assert page["seen"]
    assert "documents that it has seen" in page["sentence"]
    assert "looks better than it is" in page["notes"][0]


def test_learned_one_by_one_the_first_of_several_labels_counts(many, folder_of):
    with Collection.open(folder_of(many)) as collection:
        learn(collection, several=False)
    page = many.get("/categories.json").json()
    assert not page["several"]
    assert "Where a document has several labels, its first one was learned, and is judged." in page["notes"]
    item = next(one for one in many.list("law/bail")["documents"] if len(one["line"]["labels"]) == 2)
    first, second = item["line"]["labels"]
    other = next(label for label in LABELS if label not in (first, second))
    many.judge("move", item, to=other)
    assert many.labels(item["line"]["id"]) == (other, second)


def test_without_held_out_documents_that_is_said(client, folder_of):
    with Collection.open(folder_of(client)) as collection:
        learn(collection, holdout=0)
    page = client.get("/categories.json").json()
    assert page["seen"]
    assert "documents that it has seen" in page["sentence"]
    assert sum(row["held_out"] for row in page["rows"]) == sum(row["labelled"] for row in page["rows"]) == 288


def test_a_model_that_knows_fewer_labels_tells_in_the_numbers_of_another(single):
    with Collection.open(single[0]) as collection:
        known, counts = collection.categories, collection.counts[:40]
        own, names = known.read(counts), ("a/first", *known.names[:2], "law/middle", *known.names[2:], "z/last")
        other = known.read(counts, names)
    assert [names[label] for label in other.label] == [known.names[label] for label in own.label]
    assert other.share.tolist() == pytest.approx(own.share.tolist())
    tops = headings(names).names[0]
    assert [tops[group] for group in other.best[0][:, 0]] == [known.headings.names[0][one] for one in own.best[0][:, 0]]


def test_of_many_documents_some_are_filed_and_that_is_said(single, monkeypatch):
    monkeypatch.setattr(category_filing, "JUDGED", 100)
    page = TestClient(explorer(single[0]), base_url=HERE).get("/categories.json").json()
    assert sum(row["filed"] for row in page["rows"]) == 90
    assert "among 90 of all 360" in page["notes"][0]


def test_documents_are_read_when_they_are_learned_and_once_after_others_came(client, folder_of, monkeypatch):
    sizes, real = [], Categories.read

    def counted(self, counts, *rest):
        sizes.append(counts.shape[0])
        return real(self, counts, *rest)

    monkeypatch.setattr(Categories, "read", counted)
    before = client.get("/categories.json").json()
    with Collection.open(folder_of(client)) as other:
        other.shape([Rename(other.outline.topics[1], "Theirs")])
    client.get("/categories?rho=0.5")
    client.judge("accept", client.list("law/bail")["documents"][0])
    assert sizes == []
    with Collection.open(folder_of(client)) as other:
        other.add([Document("new", "bail surety custody bond remand court judge")], learn=False)
    after = client.get("/categories.json").json()
    client.get("/categories?rho=0.5")
    assert sizes == [361]
    sizes = [{row["label"]: row["filed"] for row in page["rows"]} for page in (before, after)]
    assert sizes[1] == sizes[0] | {"law/bail": sizes[0]["law/bail"] + 1}


def test_hostile_labels_stay_text(tmp_path):
    documents = [Document(one.id, one.text, one.title, (EVIL if one.labels == ("law/bail",) else ODD,))
                 for one in muddled(120)]  # fmt: skip
    with Collection.grow(documents, tmp_path / "evil.topiary", Recipe(topics=3)) as collection:
        learn(collection)
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


@pytest.fixture
def judging(client):
    found = Served(client.app)
    yield found
    found.stop()


@pytest.fixture
def judging_many(many):
    found = Served(many.app)
    yield found
    found.stop()


def test_the_numbers_follow_the_slider(page, judging):
    page.goto(f"{judging.address}/categories")
    page.wait_for_selector('[role="tree"]', state="attached")
    page.locator("#rho").fill("0.6")
    row = page.locator('[data-thresholds] tr[data-at="0.60"]')
    for name in ("filed", "correct"):
        shown = page.locator(f'[data-figure="{name}"]').inner_text()
        assert shown == row.locator(f'[data-is="{name}"]').text_content()
        assert shown.endswith("%")
    page.wait_for_url("**rho=0.6**")
    until(page, "document.querySelectorAll('#places .own a').length > 0")
    before = page.locator("main").aria_snapshot()
    page.reload()
    assert page.locator("main").aria_snapshot() == before
    assert page.problems == []


@pytest.mark.parametrize("script", [True, False])
def test_documents_are_judged_in_the_browser(browser, judging, script):
    context = browser.new_context(java_script_enabled=script)
    page = context.new_page()
    page.goto(f"{judging.address}/categories")
    page.locator("#rows th a", has_text="law/bail").click()
    first = page.locator(".items h3 a").first.inner_text()
    page.locator(".item").first.get_by_role("button", name="Accept law/bail").click()
    assert first in page.locator(".notice").inner_text()
    second = page.locator(".items h3 a").first.inner_text()
    assert second != first
    page.locator(".item select").first.select_option("sport/tennis")
    page.locator(".item").first.get_by_role("button", name="Move").click()
    assert "sport/tennis" in page.locator(".notice").inner_text()
    page.locator(".notice").get_by_role("button", name="Take back").click()
    assert page.locator(".items h3 a").first.inner_text() == second
    page.locator(".item").first.get_by_role("button", name="Leave").click()
    page.locator(".choices a", has_text="all").click()
    page.wait_for_url("**show=all**")
    assert page.locator(".judged").count() == 2
    context.close()


@pytest.mark.parametrize("which", ["judging", "judging_many"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_lists_are_accessible_and_fit_a_phone(request, browser, which, theme):
    served = request.getfixturevalue(which)
    context = browser.new_context(viewport={"width": 320, "height": 700}, color_scheme=theme)
    page = context.new_page()
    for path in ("/categories", "/categories?rho=0.6", "/categories?label=law/bail", "/categories?left=1&rho=0.7"):
        page.goto(f"{served.address}{path}")
        page.wait_for_selector('[role="tree"]', state="attached")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, path
        assert Axe().run(page, options=RULES).response["violations"] == [], path
        outside = page.evaluate("document.querySelectorAll('main ol > :not(li.item)').length")
        assert outside == 0
    page.goto(f"{served.address}/categories?label=law/bail")
    certain = page.locator("ol.items > li.item .share")
    assert certain.count() == page.locator("ol.items > li").count() > 5
    context.close()
