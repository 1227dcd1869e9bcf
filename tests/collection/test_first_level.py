"""The first level of the tree that people see: the same in every place, over the same leaves."""

import json
import shutil

import numpy as np
import pytest
from starlette.testclient import TestClient

from tests.web.conftest import deep_documents
from topiarist.collection.classify.tree_quality import evaluate_tree
from topiarist.collection.collection import Collection
from topiarist.collection.describe.documents import load_document_details
from topiarist.collection.describe.export import format_tree, make_table
from topiarist.collection.describe.statistics import Figures
from topiarist.collection.describe.topic_tree import describe_tree
from topiarist.collection.grow.recipe import Recipe
from topiarist.counts.corpus import Corpus
from topiarist.counts.settings import CountSettings
from topiarist.estimators.tree.cam import CAM
from topiarist.metrics.trees import dendrogram_purity
from topiarist.text.documents import Document
from topiarist.trees.tree import Tree
from topiarist.web.http.server import explorer


def labelled_documents():
    """Documents of 24 topics under six headings, which are under three; labels are these three."""
    return [
        Document(one.id, one.text, one.title, labels=(f"label {number % 24 // 8}",))
        for number, one in enumerate(deep_documents())
    ]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("first") / "first.topiary"
    Collection.grow(labelled_documents(), path, Recipe(topics=24)).close()
    return path


@pytest.fixture
def grown(path):
    with Collection.open(path) as collection:
        yield collection


def first_level(collection):
    tree = collection.outline.tree
    return {collection.outline.topics[node] for node in tree.children(tree.root)}


def test_large_headings_are_left_out_of_the_outline(grown):
    model, outline = grown.tree_model, grown.outline
    large = [node for node, topic in enumerate(outline.node_topics) if topic < 0]
    assert large
    mask = model.tree.path_mask(model.class_nodes)
    documents = grown.shares.sum(axis=0) @ mask
    assert all(documents[node] > documents[model.tree.root] / 4 for node in large)
    assert not any(model.tree.is_leaf(node) for node in large)
    assert 5 <= len(first_level(grown)) <= 12
    assert len(outline.tree.leaves) == len(model.tree.leaves)
    sizes = [grown.tree.sizes[node] for node in outline.tree.children(outline.tree.root)]
    assert sizes == sorted(sizes, reverse=True)


def test_leaves_are_those_of_the_model_bit_for_bit(grown):
    documents = labelled_documents()
    corpus = Corpus.from_documents(documents, CountSettings())
    model = CAM(24, random_state=0).fit(corpus.counts)
    told = describe_tree(model, corpus)
    assert len(told.tree.leaves) == len(model.tree_.leaves)
    assert len(told.tree) < len(model.tree_)
    assert told.tree.depths == tuple(node.depth for node in told.nodes)
    sizes = np.sort([told.nodes[leaf].size for leaf in told.tree.leaves])
    np.testing.assert_array_equal(sizes, np.sort(model.cluster_given_doc_.sum(axis=0)).astype(sizes.dtype))


def test_every_view_has_the_same_first_level(grown, path):
    expected, root = first_level(grown), grown.outline.root
    client = TestClient(explorer(str(path)), base_url="http://127.0.0.1")
    index = client.get("/index.json").json()
    assert {one["topic"]["id"] for one in index["headings"]} == expected
    assert {one["topic"] for one in index["shown"] if one["level"] == 1} == expected
    assert {row["topic"]["id"] for row in client.get("/tree.json").json()["row"]["below"]} == expected
    assert {grown.outline.topics[node] for node in grown.tree.view("coarse")} == expected
    rows = list(make_table(grown, "topics", n_words=5, texts=False, rho=0.5).rows)
    assert {row["id"] for row in rows if row["parent"] == root} == expected
    exported = json.loads(format_tree(grown, "json", 5))
    assert len(exported["children"]) == len(expected)
    printed = grown.tree.render(width=100, detail="normal").split("\n")
    assert sum(line.startswith(("├─ ", "└─ ")) for line in printed) == len(expected)


def test_words_of_large_headings_count_at_the_level_above(grown):
    levels = load_document_details(grown, "0").levels
    assert levels[0].topic == grown.outline.root
    assert all(level.topic in grown.outline.topics for level in levels)
    assert sum(level.share for level in levels) == pytest.approx(1.0)
    rows = list(make_table(grown, "words", n_words=3, texts=False, rho=0.5).rows)
    assert {row["topic"] for row in rows} == set(grown.outline.topics)


def test_evaluation_has_purity_with_and_without_hidden_headings(grown):
    model = grown.tree_model
    homes = np.array(model.class_nodes)[grown.shares.toarray().argmax(axis=1)]
    labels = [own[0] for own in grown.documents.labels_of(range(len(grown)))]
    found = evaluate_tree(grown).labelled
    assert found.merged_purity == pytest.approx(dendrogram_purity(model.tree, homes, labels))
    placed = grown.assignments
    assert found.purity == pytest.approx(dendrogram_purity(placed.tree, placed.assigned_nodes, labels))
    assert Figures(grown).tree == grown.outline.tree


def test_edits_and_their_fit_keep_the_first_level(path, tmp_path):
    shutil.copytree(path, tmp_path / "copy.topiary")
    with Collection.open(tmp_path / "copy.topiary") as collection:
        before = first_level(collection)
        one, two, *_ = sorted(before)
        collection.shape([f"group {one} {two} as Ours"], refit=True)
        ours = collection.topic("Ours")
        assert first_level(collection) == before - {one, two} | {ours}
        assert -1 not in collection.outline.node_topics


@pytest.mark.parametrize("way", ["as it grew", "given"])
def test_trees_without_built_headings_stay_whole(way, tmp_path):
    documents = labelled_documents()
    given = Tree.from_paths([("all", f"label {number}", f"part {number}") for number in range(3)])
    recipe = Recipe(topics=24, headings=False) if way == "as it grew" else Recipe(hierarchy=given)
    with Collection.grow(documents, tmp_path / "whole.topiary", recipe) as collection:
        assert -1 not in collection.outline.node_topics
        assert collection.outline.tree.parents == collection.tree_model.tree.parents
