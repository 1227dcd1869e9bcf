"""A collection that is grown anew loses no document without a word."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.grown import N_DOCS, NoteCollector, documents
from topiarist.collection.check import check_folder
from topiarist.collection.collection import Collection
from topiarist.collection.grow.inheritance import _add_likely, _inherit_headings, find_covering_nodes
from topiarist.collection.grow.pipeline import grow_collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.grow.state import GrowOptions
from topiarist.collection.shape.edits import Group, apply
from topiarist.collection.shape.tree_state import TreeState
from topiarist.metrics.placed_documents import DocumentAssignments
from topiarist.trees.tree import Tree

RECIPE = Recipe(topics=2, headings=False)


@pytest.fixture(scope="module")
def every():
    return documents()[:88]


def again(path, given):
    collector = NoteCollector()
    with grow_collection(given, path, RECIPE, GrowOptions(reporter=collector), force=True) as grown:
        return grown.documents.ids(), " | ".join(collector.notes)


def test_added_documents_outlive_growing_anew_again_and_again(tmp_path, every):
    path = tmp_path / "x.topiary"
    with Collection.grow(every[:80], path, RECIPE) as collection:
        collection.add(every[80:84])
        collection.add(every[84:])
        before = collection.documents.ids()
    for _ in range(2):
        ids, heard = again(path, every[:80])
        assert ids == before
        assert "8 documents that people added before are carried over" in heard


def test_who_is_in_the_sources_now_is_read_from_there_and_who_is_gone_is_named(tmp_path, every):
    path = tmp_path / "x.topiary"
    with Collection.grow(every[:80], path, RECIPE) as collection:
        collection.add(every[80:])
    ids, heard = again(path, every[1:85])
    assert ids == [one.id for one in (*every[1:85], *every[85:])]
    assert "3 documents that people added before are carried over" in heard
    assert f"1 document of before is missing from the sources and from the collection: {every[0].id}" in heard


def test_documents_with_new_ids_are_not_missing(tmp_path, every):
    path = tmp_path / "x.topiary"
    Collection.grow(every[:80], path, RECIPE).close()
    _, notes = again(path, [replace(one, id=f"new/{one.id}") for one in every[:79]])
    assert "79 documents of before have another id now, to which no tags, notes and pins are carried over" in notes
    assert f"1 document of before is missing from the sources and from the collection: {every[79].id}" in notes
    _, notes = again(path, documents()[100:160])
    assert "The sources replace all 79 documents of before" in notes
    assert "missing" not in notes


def test_a_heading_that_lost_some_of_its_topics_is_not_said_to_be_over_the_same():
    was = apply(TreeState.from_tree(Tree.star(6), range(1, 7)), Group((1, 2, 3, 4), "Ours"))
    shape, known, told = _inherit_headings(was, TreeState.from_tree(Tree.star(6), range(1, 7)), {1: 2, 3: 5})
    assert {shape.topics[child] for child in shape.tree.children(shape.node(known[7]))} == {2, 5}
    assert told == [
        "Carried over in part, for no new topics are surely the same: "
        f"Ours over 2 of its 4 topics, without {was.name(2)}, {was.name(4)}"
    ]
    _, _, told = _inherit_headings(was, TreeState.from_tree(Tree.star(6), range(1, 7)), {1: 1, 2: 2, 3: 3, 4: 5})
    assert told == ["Carried over: 1 heading over the same topics"]
    _, _, told = _inherit_headings(was, TreeState.from_tree(Tree.star(6), range(1, 7)), {1: 1})
    assert told == ["Headings not restored, because their topics have no match: Ours"]


def _under(collection, topic):
    shares = collection.shares_under(topic)
    return {id for id, share in zip(collection.documents.ids(), shares, strict=True) if share > 0.5}


def _placed(parents, homes, ids):
    tree = Tree(tuple(parents))
    shares = np.zeros((len(homes), len(tree.leaves)), np.float32)
    shares[np.arange(len(homes)), [tree.leaves.index(home) for home in homes]] = 1.0
    return DocumentAssignments(tree, tree.leaves, csr_array(shares), ids)


def test_a_topic_that_fell_apart_is_held_by_the_new_topics_that_have_its_documents():
    ids = [str(number) for number in range(12)]
    then = _placed((-1, 0, 0), [1] * 6 + [2] * 6, ids)
    now = _placed((-1, 0, 0, 1, 1, 1), [3, 3, 3, 4, 4, 5, 5, 5, 2, 2, 2, 2, 2], [*ids, "new"])
    assert find_covering_nodes(then, 1, now, []) == [1]  # most of what is below 1 was there
    assert find_covering_nodes(then, 1, now, [5]) == [3, 4]  # 5 is another's, and 1 is above it
    assert find_covering_nodes(then, 1, now, [1]) == []  # nothing is left
    assert find_covering_nodes(then, 2, now, []) == [2, 5]
    assert find_covering_nodes(then, 2, now, [2]) == []  # 5 alone holds too few of it


def test_a_heading_comes_back_over_topics_that_fell_apart(path):
    with Collection.open(path) as collection:
        topics = [collection.outline.topics[leaf] for leaf in collection.outline.tree.leaves[:3]]
        collection.shape([f"group {' '.join(map(str, topics))} as 'All of ours'"])
        before = {collection.outline.name(topic): _under(collection, topic) for topic in topics}
    collector = NoteCollector()
    options = GrowOptions(reporter=collector)
    grow_collection(documents()[:N_DOCS], path, Recipe(topics=14), options, force=True).close()
    said = " | ".join(collector.notes)
    with Collection.open(path) as other:
        heading = other.outline.node(other.topic("All of ours"))
        found = [other.outline.topics[child] for child in other.outline.tree.children(heading)]
        together = set().union(*(_under(other, topic) for topic in found))
        assert len(together & set().union(*before.values())) > 0.5 * len(set().union(*before.values()))
        assert len(found) == 3, said
        assert "1 heading over the same topics" in said
        assert {finding.severity for finding in check_folder(other.folder.path)} <= {"note"}


def test_likely_counterparts_need_no_user_edit():
    shape = TreeState.from_tree(Tree((-1, 0, 0, 0, 0)), [1, 2, 3, 4])
    shape = replace(shape, titles={2: "Bail"})
    assert _add_likely(shape, {1: 11}, {2: 12, 3: 13, 4: 11}) == {1: 11, 3: 13}
