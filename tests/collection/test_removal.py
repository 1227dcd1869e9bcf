"""Documents that are removed are nowhere, and undo brings them back exactly."""

from dataclasses import replace

import numpy as np
import pytest

from tests.collection.test_collection import agree, bits
from tests.grown import NoteCollector, documents, new_documents, piled_documents
from topiarist.collection.check import check_folder
from topiarist.collection.collection import Collection
from topiarist.collection.describe.account import build_account
from topiarist.collection.grow.pipeline import grow_collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.grow.state import GrowOptions
from topiarist.collection.remove.removal import choose_documents, preview_removal
from topiarist.collection.shape.edits import Pin, Rename
from topiarist.collection.state import open_state_before_last
from topiarist.errors import UsageError
from topiarist.storage.marks import Marks
from topiarist.text.documents import Document


def texts(collection):
    return [(one.id, one.title, one.text, one.labels, one.date, one.source) for one in collection.documents.iterate()]


def indexed(collection):
    """What the index by meaning has of each document, by which rows can be told apart."""
    lengths = np.concatenate([one.lengths for one in collection.index.segments])
    return np.column_stack([lengths, np.concatenate([one.rows[-1] for one in collection.index.segments])])


def test_removed_documents_are_nowhere_and_undo_brings_them_back_exactly(collection):
    everything, before, ids = bits(collection), texts(collection), collection.documents.ids()
    lengths = indexed(collection)
    gone = [ids[3], ids[77], ids[499]]
    with collection.folder.writing() as generation:
        Marks(generation.database).tag([3, 4, 498], "mine")
    expected = collection.search("galaxies", 500, by="words").total
    removal = collection.remove(gone)
    assert (len(removal), removal.n_left) == (3, 497)
    agree(collection)
    left = [id for id in ids if id not in gone]
    assert collection.documents.ids() == left
    np.testing.assert_array_equal(indexed(collection), lengths[[id not in gone for id in ids]])
    assert texts(collection) == [one for one in before if one[0] not in gone]
    assert collection.marks.tags() == {"mine": 2}
    assert [collection.documents.get(row).id for row in collection.marks.rows_with("mine")] == [ids[4], ids[498]]
    for by in ("words", "meaning", "both"):
        found = [hit.id for hit in collection.search("galaxies", 497, by=by)]
        assert not set(found) & set(gone)
    assert collection.search("galaxies", 500, by="words").total <= expected
    assert not set(collection.assignments.ids) & set(gone)
    typical = {row for node in collection.description.nodes for row in node.rows}
    assert max(typical) < 497
    assert check_folder(collection.folder.path) == []
    with open_state_before_last(collection)[0] as then:
        assert then.documents.ids() == ids
    with collection.folder.writing() as generation:
        Marks(generation.database).tag([0], "later")
    assert collection.undo() == "3 documents removed"
    assert bits(collection) == everything
    assert texts(collection) == before
    assert collection.marks.tags() == {"later": 1, "mine": 3}
    assert check_folder(collection.folder.path) == [] or all(
        one.severity == "note" for one in check_folder(collection.folder.path)
    )


def test_a_removal_is_one_step_among_others(collection):
    ids = collection.documents.ids()
    first = bits(collection)
    collection.remove(ids[:2])
    second = bits(collection)
    topic = collection.outline.topics[1]
    collection.shape([Rename(topic, "Mine"), Pin((ids[9],), topic)], refit=False)
    collection.remove(query=f'"{collection.documents.get(0).title}"')
    with Collection.open(collection.folder.path) as again:
        assert len(again) < 498
        assert again.outline.name(topic) == "Mine"
        for _ in range(2):
            again.undo()
        assert bits(again) == second
        again.undo()
        assert bits(again) == first
        with pytest.raises(UsageError, match="nothing to undo"):
            again.undo()


def test_documents_can_be_added_and_the_tree_fitted_after_a_removal(collection):
    ids = collection.documents.ids()
    collection.shape([Pin((ids[1],), collection.outline.topics[1])], refit=False)
    collection.remove(ids[1:5])
    assert not collection.outline.pins
    collection.add(new_documents(5))
    agree(collection)
    collection.shape([], refit=True)
    agree(collection)
    assert collection.documents.ids() == [ids[0], *ids[5:], *(one.id for one in new_documents(5))]
    assert check_folder(collection.folder.path) == []


def test_the_sizes_of_topics_are_those_of_the_documents_that_are_left(collection):
    shares, rows = collection.shares, choose_documents(collection, collection.documents.ids()[:50])
    own = np.asarray(shares[50:].sum(axis=0, dtype=np.float64)).ravel()
    sizes = own @ collection.outline.tree.path_mask(collection.outline.class_nodes)
    sizes[collection.outline.tree.root] = len(collection) - 50  # unsorted documents are in no topic
    told = preview_removal(collection, rows)
    assert sum(told.topics.values()) == 50
    collection.remove(told.ids)
    assert np.allclose([node.size for node in collection.tree.nodes], sizes)


def test_what_cannot_be_removed_is_said(collection):
    with pytest.raises(UsageError, match="all documents"):
        collection.remove(collection.documents.ids())
    with pytest.raises(UsageError, match="there is no document 'nobody'"):
        collection.remove(["nobody"])
    with pytest.raises(UsageError, match="no document matches"):
        collection.remove(query="xyzzyplugh")
    with pytest.raises(UsageError, match="either ids or a query"):
        collection.remove()


def test_scripts_without_spaces_are_found_after_a_removal(collection):
    chinese = Document("zh/1", "今年的考研成绩已经公布,考研人数创下新高。", "考研成绩公布")
    collection.add([chinese, replace(chinese, id="zh/2", title="考研人数")], learn=False)
    found = collection.search("考研", by="words").total
    assert found == 2
    collection.remove(["zh/1"])
    assert [hit.id for hit in collection.search("考研", by="words")] == ["zh/2"]
    collection.undo()
    assert collection.search("考研", by="words").total == found


def test_of_copies_the_next_is_the_first_when_the_first_is_gone(collection):
    one = new_documents(1)[0]
    collection.add([replace(one, id=f"copy/{number}") for number in range(3)], learn=False)
    assert collection.copies.originals.tolist() == [500, 500]
    collection.remove(["copy/0"])
    assert (collection.copies.rows.tolist(), collection.copies.originals.tolist()) == ([501], [500])
    agree(collection)


def test_what_was_removed_stays_out_when_it_is_grown_again(tmp_path):
    collector, some = NoteCollector(), documents()[:80]
    recipe, folder = Recipe(topics=2, headings=False), tmp_path / "c.topiary"
    with Collection.grow(some, folder, recipe) as collection:
        collection.remove([some[0].id, some[1].id])
        collection.remove([some[2].id])
        collection.undo()
        collection.remove([some[3].id], forget=True)
        collection.remove([some[4].id])
        collection.add([some[4]])  # by hand: it is wanted again
    with grow_collection(some, folder, recipe, GrowOptions(reporter=collector), force=True) as again:
        gone = {some[0].id, some[1].id, some[3].id}
        assert set(again.documents.ids()) == {one.id for one in some} - gone
        assert any(
            note.startswith("3 documents that people removed stay out (the setting take-removed")
            for note in collector.notes
        )
        assert [one.number for one in build_account(again) if one.what == "removed"] == [3]
        assert again.settings["n_grown"] == 77
    with grow_collection(some, folder, recipe, force=True) as third:
        assert not gone & set(third.documents.ids())
    with grow_collection(some, folder, recipe, GrowOptions(take_removed=True), force=True) as whole:
        assert set(whole.documents.ids()) == {one.id for one in some}
        assert not [one for one in build_account(whole) if one.what == "removed"]


def told(collection):
    """What the account says of languages and of repeated lines."""
    return [(one.number, one.said) for one in build_account(collection) if one.what in ("language", "repeated")]


def test_languages_and_repeated_lines_count_what_is_added_and_what_is_removed(tmp_path):
    with Collection.grow(piled_documents(), tmp_path / "c.topiary", Recipe(topics=2, headings=False)) as collection:
        first, added = told(collection), piled_documents()[:6]
        collection.add([replace(one, id=f"new/{one.id}") for one in added])
        second = told(collection)
        assert [b[0] - a[0] for a, b in zip(first, second, strict=True)][-1] == 6  # all have a footer
        assert sum(number for number, said in second if " in English" in said or "too short" in said) == len(collection)
        assert collection.languages == ("en",)
        collection.remove([f"new/{one.id}" for one in added])
        assert told(collection) == first
        collection.undo()
        assert told(collection) == second


def test_additions_that_were_taken_back_do_not_end_what_undo_reaches(collection):
    gone = collection.documents.ids()[7]
    collection.remove([gone])
    for number in range(2):
        collection.add([Document(f"tried {number}", "magnetic field of the sun")], learn=False)
        collection.undo()
    collection.add([Document("kept", "magnetic field of the sun")], learn=False)
    collection.undo()
    assert "removed" in collection.undo()
    assert gone in collection.documents.ids()
