"""The numbers of categories follow what people judge, and stay as they are whatever else happens."""

import pytest
from starlette.testclient import TestClient

from tests.web.labelled import HERE, LABELS
from topiarist.collection.classify import predictions
from topiarist.collection.classify.judgements import ACCEPT, Judgements
from topiarist.collection.classify.learning import learn_categories
from topiarist.collection.collection import Collection
from topiarist.collection.shape.edits import Rename
from topiarist.errors import DamagedError
from topiarist.storage.tensors import map_tensors, write_tensors
from topiarist.web.http.server import explorer


def labelled(annotator):
    return {row["label"]: row["labelled"] for row in annotator.get("/categories.json").json()["rows"]}


def test_labels_of_a_table_are_counted_with_all_judgements_since(annotator, folder_of):
    early, *others = annotator.list("law/bail", show="all")["documents"][:4]
    annotator.judge("move", early, to="energy/oil")  # learned from: it is not counted once more
    table = {f"n{number:03d}": [LABELS[number % 6]] for number in range(120)}
    with Collection.open(folder_of(annotator)) as collection:
        learn_categories(collection, table)
        held = collection.categories.heldout
    first = labelled(annotator)
    assert sum(first.values()) == held.labelled.sum()
    with Collection.open(folder_of(annotator)) as collection:
        known = dict(zip(collection.documents.ids(), collection.documents.labels_of(range(360)), strict=True))
    changed = dict(first)
    for item in others:
        annotator.judge("move", item, to="sport/tennis")
        for label in known[item["line"]["id"]]:
            changed[label] -= 1
        changed["sport/tennis"] += 1
    assert labelled(annotator) == changed != first
    with Collection.open(folder_of(annotator)) as collection:
        collection.shape([Rename(collection.outline.topics[1], "Another")])
    assert labelled(annotator) == changed
    assert labelled(TestClient(explorer(folder_of(annotator)), base_url=HERE)) == changed


def test_held_out_answers_without_an_array_are_damaged(single, tmp_path):
    with Collection.open(single[0]) as collection:
        predictions.write_held_out(tmp_path, collection.categories.heldout)
    arrays = dict(map_tensors(tmp_path / predictions.HELDOUT_FILE))
    del arrays["judged"]
    write_tensors(tmp_path / predictions.HELDOUT_FILE, arrays)
    with pytest.raises(DamagedError, match="there is no 'judged'"):
        predictions.read_held_out(tmp_path)


def test_a_document_whose_label_was_taken_back_is_without_a_label_again(annotator):
    item = annotator.list("law/bail", show="bare")["documents"][0]
    total = annotator.list("law/bail", show="bare")["paging"]["total"]
    view = annotator.app.state.session.view()
    view.remembered = type(view.remembered)()  # the list is first looked at after it was judged
    annotator.judge("accept", item)
    now = annotator.list("law/bail", show="bare")
    assert now["paging"]["total"] == total - 1
    annotator.judge("back", item | {"number": 1})
    assert annotator.labels(item["line"]["id"]) == ()
    again = annotator.list("law/bail", show="bare")
    assert again["paging"]["total"] == total
    assert again["documents"][0]["line"]["id"] == item["line"]["id"]


def test_that_a_document_has_several_labels_is_said_as_soon_as_it_has(annotator, folder_of):
    said = "Only the first label of a document is used."
    assert said not in annotator.get("/categories.json").json()["notes"]
    with Collection.open(folder_of(annotator)) as collection, collection.folder.writing() as generation:
        Judgements(generation.database).judge(0, ACCEPT, ["law/bail", "energy/oil"], expected=0)
    assert said in annotator.get("/categories.json").json()["notes"]


def test_agreement_on_documents_it_has_seen_follows_judgements(annotator, folder_of):
    with Collection.open(folder_of(annotator)) as collection:
        learn_categories(collection, holdout=0)
    before = annotator.get("/categories.json").json()
    row = next(row for row in before["rows"] if row["label"] == "law/bail")
    items = [one for one in annotator.list("law/bail")["documents"] if one["line"]["labels"] == ["law/bail"]][:5]
    assert len(items) == 5
    for item in items:
        annotator.judge("move", item, to="energy/oil")
    after = annotator.get("/categories.json").json()
    assert after["sentence"] != before["sentence"]
    now = next(row for row in after["rows"] if row["label"] == "law/bail")
    assert now["held_out"] == row["held_out"] - 5
    assert now["precision"] < row["precision"]
