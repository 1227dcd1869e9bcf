"""Labels against the tree: every label counts, and every square leads to its documents."""

import html
import re
from collections import Counter

import pytest
from starlette.testclient import TestClient

from tests.web.conftest import documents
from topiarist.collection.classify.judgements import MOVE, Judgements
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.shape.edits import Merge
from topiarist.text.documents import Document
from topiarist.web.http.server import explorer
from topiarist.web.pages import compare


def several(document, number):
    """Every third document has its heading as a second label, every ninth has it twice; every tenth has none."""
    heading = document.labels[0].split("/")[0]
    labels = document.labels + (heading,) * (number % 3 == 0) + (heading,) * (number % 9 == 0)
    return Document(document.id, document.text, document.title, () if number % 10 == 0 else labels)


@pytest.fixture(scope="module")
def given():
    return [several(document, number) for number, document in enumerate(documents(240))]


@pytest.fixture(scope="module")
def client(given, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("several") / "several.topiary")
    Collection.grow(given, path, Recipe(topics=6)).close()
    return TestClient(explorer(path), base_url="http://127.0.0.1")


@pytest.mark.parametrize("query", ["", "?level=1"])
def test_all_labels_of_a_document_count(client, given, query):
    page = client.get(f"/compare.json{query}").json()
    view = client.app.state.session.view()
    sizes = Counter(label for document in given for label in set(document.labels))
    assert {row["label"]: row["documents"] for row in page["rows"]} == sizes
    several = sum(len(set(document.labels)) > 1 for document in given)
    labelled = sum(bool(document.labels) for document in given)
    assert page["several"].startswith(f"{several} of {labelled} labelled documents count under several labels")
    expected, under = Counter(), Counter()
    for row, document in enumerate(given):
        path = {view.shape.topics[node] for node in view.tree.path(int(view.assigned_nodes[row]))}
        for topic in path if document.labels else ():
            under[topic] += 1
            expected.update((label, topic) for label in set(document.labels))
    for row in page["rows"]:
        counts = dict(zip((topic["id"] for topic in page["topics"]), row["counts"], strict=True))
        assert counts == {topic: expected[row["label"], topic] for topic in counts}
        assert row["topic"]["id"] == max(counts, key=counts.get)
        best = expected[row["label"], row["topic"]["id"]]
        assert row["share"] == pytest.approx(best / sizes[row["label"]])
        assert row["purity"] == pytest.approx(best / under[row["topic"]["id"]])


def test_the_topic_with_most_of_a_label_may_be_one_that_is_not_drawn(client, monkeypatch):
    whole = client.get("/compare.json").json()
    monkeypatch.setattr(compare, "TOPICS", 2)
    page = client.get("/compare.json").json()
    assert (len(page["topics"]), page["topics_left_out"]) == (2, len(whole["topics"]) - 2)
    assert page["sentence"] == whole["sentence"]
    told = ("label", "topic", "share", "purity", "both")
    assert [{name: row[name] for name in told} for row in page["rows"]] == [
        {name: row[name] for name in told} for row in whole["rows"]
    ]
    places = [[topic["id"] for topic in whole["topics"]].index(topic["id"]) for topic in page["topics"]]
    for row, before in zip(page["rows"], whole["rows"], strict=True):
        assert row["counts"] == [before["counts"][place] for place in places]
    assert {row["topic"]["id"] for row in page["rows"]} - {topic["id"] for topic in page["topics"]}


def test_a_square_leads_to_the_documents_that_it_counts(client):
    text = client.get("/compare").text
    drawn = text.split('<table class="squares"')[1].split("</table>")[0]
    squares = re.findall(r'href="(/search[^"]*topic=[^"]*)"[^>]* title="([^"]*)"', drawn)
    assert len(squares) > 6
    for link, title in squares:
        total = client.get(html.unescape(link).replace("/search?", "/search.json?")).json()["total"]
        assert f": {total:,} documents" in title


def test_the_page_says_that_a_document_may_count_twice(client, folder):
    assert "count under several labels" in client.get("/compare").text
    single = TestClient(explorer(folder), base_url="http://127.0.0.1")
    assert single.get("/compare.json").json()["several"] == ""


def test_agreement_is_that_of_the_fit_until_labels_or_topics_change(copied):
    client = TestClient(explorer(copied), base_url="http://127.0.0.1")
    view = client.app.state.session.view()
    fitted = view.collection.description.facts["agreement"]
    assert client.get("/compare.json").json()["agreement"] == pytest.approx(fitted)
    with Collection.open(copied) as collection, collection.folder.writing() as generation:
        for row in range(0, 120, 2):
            Judgements(generation.database).judge(row, MOVE, ["law/bail"], expected=0)
    judged = client.get("/compare.json").json()
    assert judged["agreement"] < fitted - 0.1
    assert f"Agreement (NMI): {judged['agreement']:.2f}." in judged["sentence"]
    figures = {one["name"]: one["value"] for one in client.get("/model.json").json()["figures"]}
    assert figures["agreement with labels"] == f"{judged['agreement']:.2f}"
    with Collection.open(copied) as collection:
        one, two = (collection.outline.topics[leaf] for leaf in collection.outline.tree.leaves[:2])
        collection.shape([Merge((one, two))], refit=False)
    assert client.get("/compare.json").json()["agreement"] != pytest.approx(judged["agreement"])
