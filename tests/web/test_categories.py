"""Judging where documents are filed: held-out numbers, lists, thresholds."""

import re
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from tests.web.clients import HERE, Writer
from tests.web.conftest import documents
from tests.web.labelled import LABELS
from topiarist.collection import contents
from topiarist.collection.classify import filing
from topiarist.collection.classify.learning import learn_categories
from topiarist.collection.classify.predictions import Categories, find_headings
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.shape.edits import Rename
from topiarist.storage import collection_folder, edit_log
from topiarist.storage.sealed_folder import lock_folder
from topiarist.text.documents import Document
from topiarist.web.http.server import explorer


@pytest.mark.parametrize("which", ["single", "several"])
def test_agreement_is_that_of_held_out_documents(request, which):
    folder, quality = request.getfixturevalue(which)
    page = TestClient(explorer(folder), base_url=HERE).get("/categories.json").json()
    assert not page["seen"]
    assert f"{quality.n_held_out} documents held out" in page["sentence"]
    known = {one.name: one for one in quality.categories}
    assert len(page["rows"]) == len(known)
    for row in page["rows"]:
        assert row["held_out"] == known[row["label"]].documents
        assert row["agreement"] == pytest.approx(known[row["label"]].recall)
        assert row["precision"] == pytest.approx(known[row["label"]].precision)
    assert any(row["agreement"] < 1 for row in page["rows"])


@pytest.mark.parametrize("which", ["annotator", "many"])
def test_a_confused_pair_leads_to_its_documents(request, which):
    annotator = request.getfixturevalue(which)
    pairs = 0
    for row in annotator.get("/categories.json").json()["rows"]:
        for one in row["confused"]:
            name, number = re.fullmatch(r"(.*) \(([\d,]+)\)", one["name"]).groups()
            found = annotator.get(one["address"].replace("/categories", "/categories.json")).json()["filed"]
            assert found["paging"]["total"] == int(number)
            assert all(row["label"] in item["line"]["labels"] for item in found["documents"])
            assert all(name not in item["line"]["labels"] for item in found["documents"])
            assert all(item["label"] == name for item in found["documents"])
            pairs += 1
    assert pairs > 3


def test_thresholds_are_counted_on_held_out_documents(annotator):
    held = annotator.app.state.session.view().collection.categories.heldout
    page = annotator.get("/categories.json?rho=0.6").json()
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
    names = annotator.app.state.session.view().collection.categories.names
    above = [place for place in range(len(held.rows)) if place not in sure and held.certainty[place, 0] >= 0.6]
    tops = sorted({name.split("/")[0] + "/" for name in names})
    good = [place for place in above if names[held.right_label[place]].startswith(tops[held.groups[place, 0]])]
    assert 0 < len(sure) < len(held.rows)
    assert len(above) > 0
    assert page["places"][1]["share"] == pytest.approx(len(above) / len(held.rows))
    assert page["places"][1]["correct"] == pytest.approx(len(good) / len(above))


def test_every_document_is_filed_at_one_place(annotator):
    page = annotator.get("/categories.json?rho=0.6").json()
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
            found = annotator.get(path).json()["filed"]
            ids = [item["line"]["id"] for item in found["documents"]]
            assert not seen & set(ids)
            seen |= set(ids)
            certainty = [item["certainty"] for item in found["documents"]]
            assert np.diff(certainty).min(initial=0) > -1e-4
            if number >= found["paging"]["pages"]:
                break
            number += 1
    assert len(seen) == 360


def test_a_document_at_a_heading_tells_each_level(annotator):
    page = annotator.get("/categories.json?rho=0.6").json()
    heading = page["places"][1]["headings"][0]
    found = annotator.get(heading["address"].replace("/categories", "/categories.json")).json()["filed"]
    for item in found["documents"]:
        top, last = item["path"]
        assert top["here"]
        assert not last["here"]
        assert top["certainty"] >= 0.6 > last["certainty"]
        assert item["label"] == last["name"]
        assert last["name"].startswith(f"{top['name']}/")


def test_labels_have_headings_by_slashes_or_dots():
    one = find_headings(["comp.graphics", "comp.sys.ibm.pc", "comp.sys.mac", "misc.forsale", "sci.med", "sci.space"])
    assert one.names[0] == ("comp.", "misc.forsale", "sci.")
    assert one.names[1] == ("comp.graphics", "comp.sys.", "misc.forsale", "sci.med", "sci.space")
    assert one.names[2][1] == "comp.sys.ibm.pc"
    groups, certainty = one.best(np.array([[0.3, 0.25, 0.2, 0.1, 0.1, 0.05]]))
    assert [one.names[level][group] for level, group in enumerate(groups[0])] == ["comp.", "comp.sys.", "comp.graphics"]
    assert certainty[0].tolist() == pytest.approx([0.75, 0.45, 0.3])
    assert find_headings(["law", "law/bail", "sport"]).names[0] == ("law/", "sport")
    for flat in (["a", "b"], ["Dr. Who", "Dr. No"], ["x/a", "x/b"], ["v1.0", "two", "three", "four"], []):
        assert find_headings(flat).levels == 1


def test_categories_learned_before_say_that_they_have_seen_the_documents(single, monkeypatch):
    monkeypatch.setattr(contents, "read_held_out", lambda folder: None)
    page = TestClient(explorer(single[0]), base_url=HERE).get("/categories.json").json()
    assert page["seen"]
    assert "of the training set" in page["sentence"]
    assert "too high" in page["notes"][0]


def test_learned_one_by_one_the_first_of_several_labels_counts(many, folder_of):
    with Collection.open(folder_of(many)) as collection:
        learn_categories(collection, several=False)
    page = many.get("/categories.json").json()
    assert not page["several"]
    assert "Only the first label of a document is used." in page["notes"]
    item = next(one for one in many.list("law/bail")["documents"] if len(one["line"]["labels"]) == 2)
    first, second = item["line"]["labels"]
    other = next(label for label in LABELS if label not in (first, second))
    many.judge("move", item, to=other)
    assert many.labels(item["line"]["id"]) == (other, second)


def test_without_held_out_documents_that_is_said(annotator, folder_of):
    with Collection.open(folder_of(annotator)) as collection:
        learn_categories(collection, holdout=0)
    page = annotator.get("/categories.json").json()
    assert page["seen"]
    assert "of the training set" in page["sentence"]
    assert sum(row["held_out"] for row in page["rows"]) == sum(row["labelled"] for row in page["rows"]) == 288


def test_a_model_that_knows_fewer_labels_tells_in_the_numbers_of_another(single):
    with Collection.open(single[0]) as collection:
        known, counts = collection.categories, collection.counts[:40]
        own, names = (
            known.predict_labels(counts),
            ("a/first", *known.names[:2], "law/middle", *known.names[2:], "z/last"),
        )
        other = known.predict_labels(counts, names)
    assert [names[label] for label in other.label] == [known.names[label] for label in own.label]
    assert other.share.tolist() == pytest.approx(own.share.tolist())
    tops = find_headings(names).names[0]
    assert [tops[group] for group in other.best[0][:, 0]] == [known.headings.names[0][one] for one in own.best[0][:, 0]]


def test_of_many_documents_some_are_filed_and_that_is_said(single, monkeypatch):
    monkeypatch.setattr(filing, "MAX_DOCUMENTS", 100)
    page = TestClient(explorer(single[0]), base_url=HERE).get("/categories.json").json()
    assert sum(row["filed"] for row in page["rows"]) == 90
    assert "among 90 of 360" in page["notes"][0]


def test_documents_are_read_when_they_are_learned_and_once_after_others_came(annotator, folder_of, monkeypatch):
    sizes, real = [], Categories.predict_labels

    def counted(self, counts, *rest):
        sizes.append(counts.shape[0])
        return real(self, counts, *rest)

    monkeypatch.setattr(Categories, "predict_labels", counted)
    before = annotator.get("/categories.json").json()
    with Collection.open(folder_of(annotator)) as other:
        other.shape([Rename(other.outline.topics[1], "Theirs")])
    annotator.get("/categories?rho=0.5")
    annotator.judge("accept", annotator.list("law/bail")["documents"][0])
    assert sizes == []
    with Collection.open(folder_of(annotator)) as other:
        other.add([Document("new", "bail surety custody bond remand court judge")], learn=False)
    after = annotator.get("/categories.json").json()
    annotator.get("/categories?rho=0.5")
    assert sizes == [361]
    sizes = [{row["label"]: row["filed"] for row in page["rows"]} for page in (before, after)]
    assert sizes[1] == sizes[0] | {"law/bail": sizes[0]["law/bail"] + 1}


def test_categories_are_learned_from_a_column_on_the_page_and_undone(tmp_path):
    found = [replace(one, labels=(), columns=(("category", one.labels[0]),)) for one in documents(120)]
    Collection.grow(found, tmp_path / "copy.topiary", Recipe(topics=3)).close()
    writer = Writer(explorer(str(tmp_path / "copy.topiary")), base_url=HERE)
    page = writer.get("/categories.json").json()
    columns = [one["name"] for one in page["columns"]]
    text = writer.get("/categories").text
    assert not page["learned"]
    assert columns
    assert text.count('action="/learn"') == len(columns)
    assert writer.put_form("/learn", column="nothing").status_code in (404, 422)
    assert writer.put_form("/learn", column=columns[0], state="g-0:1").status_code == 409
    answer = writer.put_form("/learn", column=columns[0], back="/categories")
    assert answer.url.path == "/categories"
    job = writer.app.state.session.job
    for _ in range(600):
        if job.done:
            break
        time.sleep(0.1)
    assert not job.error
    now = writer.get("/categories.json").json()
    assert now["learned"]
    assert now["learned_from"] == columns[0]
    assert 'action="/learn"' in writer.get("/categories").text
    assert "Forget the learned categories" in writer.put_form("/undo").text
    assert writer.put_form("/undo", sure="1").status_code == 200
    assert not writer.get("/categories.json").json()["learned"]
    reader = TestClient(explorer(str(tmp_path / "copy.topiary"), read_only=True), base_url=HERE)
    assert 'action="/learn"' not in reader.get("/categories").text


@pytest.fixture
def topic_writer(tmp_path):
    columns = [
        (("kind", f"{one.labels[0]};{one.labels[0]}-{number % 2}"),) for number, one in enumerate(documents(120))
    ]
    sources = [replace(one, labels=(), columns=pairs) for one, pairs in zip(documents(120), columns, strict=True)]
    Collection.grow(sources, tmp_path / "kinds.topiary", Recipe(topics=3)).close()
    return Writer(explorer(str(tmp_path / "kinds.topiary")), base_url=HERE)


def learn_with(writer, labels=None, **settings):
    with Collection.open(writer.app.state.session.folder) as collection:
        return learn_categories(collection, labels, **settings)


def load_entries(writer):
    database = writer.app.state.session.fresh().collection.generation.database
    return [entry.body for entry in edit_log.history(database, kind="learn")]


def wait_for_job(writer):
    until = time.monotonic() + 60
    while not writer.app.state.session.job.done:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert not writer.app.state.session.job.error


def test_learn_again_uses_the_same_settings(topic_writer):
    learn_with(topic_writer, column="kind", separator=";", several=False, holdout=0.4, unlabelled_weight=0.5)
    assert 'name="again"' in topic_writer.get("/categories").text
    assert topic_writer.put_form("/learn", again="1").status_code == 200
    wait_for_job(topic_writer)
    again, first = load_entries(topic_writer)
    assert again == first
    assert again["settings"] == {
        "table": False, "separator": ";", "several": False, "holdout": 0.4, "unlabelled_weight": 0.5
    }  # fmt: skip


def test_learn_again_ignores_undone_learning(topic_writer):
    learn_with(topic_writer, column="kind", separator=";")
    labels = {one.id: one.labels for one in documents(120)}
    learn_with(topic_writer, labels)
    topic_writer.put_form("/undo", sure="1")
    page = topic_writer.get("/categories.json").json()
    assert (page["learned_from"], page["command"]) == ("kind", "")


def test_categories_from_table_show_command_instead_of_button(topic_writer):
    labels = {one.id: one.labels for one in documents(120)}
    learn_with(topic_writer, labels, separator=";", several=False, holdout=0.3)
    text, page = topic_writer.get("/categories").text, topic_writer.get("/categories.json").json()
    assert 'action="/learn"' not in text
    assert page["command"].startswith("topiarist learn ")
    assert page["command"].endswith(" --labels FILE --separator ';' --single --holdout 0.3")
    assert topic_writer.put_form("/learn", again="1").status_code == 422


def test_learning_waits_for_another_writer(topic_writer, monkeypatch):
    folder, reached = topic_writer.app.state.session.folder, threading.Event()

    def lock(*arguments, **settings):
        reached.set()
        return lock_folder(*arguments, **settings)

    with lock_folder(Path(folder), folder):
        monkeypatch.setattr(collection_folder, "lock_folder", lock)
        topic_writer.put_form("/learn", column="kind")
        assert reached.wait(60)
        time.sleep(0.2)  # a writer that does not wait has failed by then
        assert not topic_writer.app.state.session.job.done
    wait_for_job(topic_writer)


def test_learning_cannot_be_stopped_from_its_beginning(topic_writer, monkeypatch):
    session, go = topic_writer.app.state.session, threading.Event()
    monkeypatch.setattr(session, "_run_work", lambda job, work: go.wait(60) and job.end())
    session.learn(column="kind")
    topic_writer.put_form("/stop")
    page = topic_writer.get("/job.json").json()
    assert (page["sentence"], page["stoppable"]) == ("Learning the categories.", False)
    go.set()
