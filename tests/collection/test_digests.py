"""The same texts and edits give the same bits; tags, undone edits and the place of a folder change none."""

import shutil

import pytest

from tests.digests import digest_of, digests
from tests.grown import documents, new_documents
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.shape import history
from topiarist.collection.shape.edits import Ignore, Merge, Rename, Seed
from topiarist.storage import edit_log

N_DOCS = 120
RECIPE = Recipe(topics=4, headings=False)


def grow_small(path):
    Collection.grow(documents()[:N_DOCS], path, RECIPE).close()
    return path


@pytest.fixture(scope="module")
def small_once(tmp_path_factory):
    return grow_small(tmp_path_factory.mktemp("digests") / "small.topiary")


@pytest.fixture
def small(small_once, tmp_path):
    path = tmp_path / "small.topiary"
    shutil.copytree(small_once, path)
    return path


def edit_and_digest(path):
    with Collection.open(path) as collection:
        topics = [collection.outline.topics[leaf] for leaf in collection.outline.tree.leaves]
        collection.add(new_documents(5))  # the model learns from them
        history.apply_edits(collection, [Rename(topics[0], "First"), Merge((topics[1], topics[2]))])
        history.apply_edits(collection, [Seed(topics[0], ("energy",)), Ignore(("field",))], refit=False)
        history.apply_edits(collection, [])
        collection.add(new_documents(8)[5:])  # an edited tree does not learn
        collection.shape([Rename(topics[3], "Undone")])
        history.undo_last_step(collection)
        collection.remove([collection.documents.ids()[0], new_documents(8)[7].id])
        collection.shape(["rename First Last"])
        kinds = [one.kind for one in edit_log.history(collection.generation.database)[::-1]]
        assert kinds == ["grow", "add", "edit", "edit", "refit", "add", "edit", "undo", "remove", "edit"]
        return digests(collection)


def test_same_texts_and_edits_give_same_bits(small, tmp_path):
    again = grow_small(tmp_path / "again.topiary")
    assert edit_and_digest(small) == edit_and_digest(again)


def test_digest_ignores_tags_and_undone_edits(small, small_once):
    with Collection.open(small) as collection, Collection.open(small_once) as other:
        assert digest_of(collection) == digest_of(other)
        collection.tag([0], "seen")
        assert digest_of(collection) == digest_of(other)
        collection.shape([Rename(collection.outline.topics[1], "Named")])
        assert digest_of(collection) != digest_of(other)
        history.undo_last_step(collection)
        assert digest_of(collection) == digest_of(other)
