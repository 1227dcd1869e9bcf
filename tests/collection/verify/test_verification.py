"""A collection is grown and edited again from its own texts: the bits agree, or it is told what differs and why."""

import json
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from tests.collection.test_forged import forged, generation, resealed
from tests.grown import documents, new_documents
from topiarist.collection.check import check
from topiarist.collection.collection import Collection
from topiarist.collection.contents import MODEL
from topiarist.collection.grow.made_with import MADE_WITH
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.shape import changes
from topiarist.collection.shape.edits import Ignore, Merge, Rename, Seed
from topiarist.collection.state import steps
from topiarist.collection.verify.digests import digest_of
from topiarist.collection.verify.verification import verify
from topiarist.errors import DamagedError
from topiarist.estimators.common.progress import Watching
from topiarist.estimators.model_folder import load_model, save_model
from topiarist.models import em
from topiarist.store.document_table import checksum

SOME = 120
RECIPE = Recipe(topics=4, headings=False)


@pytest.fixture(scope="module")
def small_once(tmp_path_factory):
    path = tmp_path_factory.mktemp("verified") / "small.topiary"
    Collection.grow(documents()[:SOME], path, RECIPE).close()
    return path


@pytest.fixture
def small(small_once, tmp_path):
    path = tmp_path / "small.topiary"
    shutil.copytree(small_once, path)
    return path


def verified(path):
    with Collection.open(path) as collection:
        return verify(collection, n_threads=1)


class Stop(Watching):
    def step(self, done, about):
        if done >= 3:
            raise KeyboardInterrupt


def test_everything_that_can_be_done_to_a_tree_is_done_again(small):
    with Collection.open(small) as collection:
        before = digest_of(collection)
        topics = [collection.outline.topics[leaf] for leaf in collection.outline.tree.leaves]
        collection.add(new_documents(5))  # it learns from them
        changes.shape(collection, [Rename(topics[0], "First"), Merge((topics[1], topics[2]))])
        changes.shape(collection, [Seed(topics[0], ("energy",)), Ignore(("field",))], refit=False)
        changes.shape(collection, [], watching=Stop())  # somebody stops the fit
        collection.add(new_documents(8)[5:])  # a tree that was shaped does not learn
        collection.shape([Rename(topics[3], "Taken back")])
        changes.undo(collection)
        collection.remove([collection.documents.ids()[0], new_documents(8)[7].id])
        collection.shape(["rename First Last"])
        kinds = [one.kind for one in steps(collection)]
        assert kinds == ["grow", "add", "edit", "edit", "refit", "add", "edit", "undo", "remove", "edit"]
        found = verify(collection, n_threads=1)
        assert (found.agrees, found.differs, found.told, found.reasons, found.steps) == (True, (), (), (), 7)
        assert digest_of(collection) == found.digests.whole != before
        assert found.made_with["documents"] == SOME
    assert found.made_with["device"] == "cpu"
    assert json.loads(json.dumps(found.to_dict()))["agrees"] is True


def test_a_digest_says_nothing_of_the_folder_and_of_what_was_undone(small, small_once):
    with Collection.open(small) as collection, Collection.open(small_once) as other:
        assert digest_of(collection) == digest_of(other)
        collection.tag([0], "seen")
        assert digest_of(collection) == digest_of(other)
        collection.shape([Rename(collection.outline.topics[1], "Named")])
        assert digest_of(collection) != digest_of(other)
        changes.undo(collection)
        assert digest_of(collection) == digest_of(other)


def test_a_changed_parameter_is_found(small):
    def change(folder):
        model = load_model(folder / MODEL)
        name = next(
            name for name, value in vars(model).items() if name.endswith("_") and getattr(value, "ndim", 0) == 2
        )
        array = getattr(model, name).copy()
        array[0, 0] += 1e-6
        setattr(model, name, array)
        shutil.rmtree(folder / MODEL)
        save_model(model, folder / MODEL)

    resealed(small, "tree-1", change)
    assert [one for one in check(small) if one.severity == "error"] == []  # nobody else can see it
    found = verified(small)
    assert not found.agrees
    assert found.differs == ("parameters",)
    assert not found.explained
    assert "largest difference of a parameter is 1e-06" in " ".join(found.told)


def test_a_changed_text_is_found_however_well_it_is_forged(small):
    with closing(sqlite3.connect(generation(small) / "documents.sqlite", isolation_level=None)) as connection:
        id, title, text, source, date = connection.execute(
            "SELECT id, title, text, source, date FROM documents JOIN texts USING (row) WHERE row = 3"
        ).fetchone()
        text = f"{text} never said"
        connection.execute("UPDATE texts SET text = ? WHERE row = 3", (text,))
        sum = checksum(id, title, text, source, date)
        connection.execute("UPDATE documents SET checksum = ? WHERE row = 3", (sum,))
    found = verified(small)
    assert not found.agrees
    assert found.differs[0] == "texts"
    assert found.told[0] == "the texts are not those that it was grown from"


def test_a_forged_log_is_found(small):
    with Collection.open(small) as collection:
        collection.shape([Rename(collection.outline.topics[1], "Honest")])
    forged(small, "UPDATE edits SET body = replace(body, 'Honest', 'Forged')")
    found = verified(small)
    assert found.differs == ("tree",)
    assert not found.explained


def test_another_version_explains_a_difference(small):
    with Collection.open(small) as collection:
        collection.shape([Rename(collection.outline.topics[1], "Honest")])
        known = {**collection.settings[MADE_WITH], "numpy": "1.0"}
    forged(
        small,
        "UPDATE edits SET body = replace(body, 'Honest', 'Forged')",
        f"UPDATE settings SET value = '{json.dumps(known)}' WHERE name = '{MADE_WITH}'",
    )
    found = verified(small)
    assert not found.agrees
    assert found.explained
    assert any(one.startswith("numpy was 1.0, and is ") for one in found.reasons)


def test_what_is_gone_is_told_and_the_rest_is_counted_again(small):
    with Collection.open(small) as collection:
        collection.remove([collection.documents.ids()[0]], forget=True)
        found = verify(collection)
        assert found.agrees is None
        assert found.told[0].startswith("It cannot be grown again: documents were forgotten for good")
        assert found.told[1].startswith(f"What can be said: the words of all {SOME - 1} texts were counted again")
    forged(small, "UPDATE texts SET text = text || ' ' || text WHERE row = 2")
    found = verified(small)
    assert (found.agrees, found.differs) == (False, ("counts",))


def test_what_was_carried_over_is_taken_as_it_is(small):
    with Collection.open(small) as collection:
        collection.shape([Rename(collection.outline.topics[1], "Mine")])
    Collection.grow(documents()[:SOME], small, RECIPE, force=True).close()
    with Collection.open(small) as collection:
        assert "Mine" in collection.outline.titles.values()
        found = verify(collection, n_threads=1)
    assert found.agrees
    assert found.given == (
        "what people said of the collection that was there before, and was carried over: taken as it is",
    )


def test_a_collection_of_an_earlier_version_says_that_nothing_was_written_down(tmp_path):
    written = Path(__file__).parents[2] / "fixtures" / "version-0.1.0.zip"
    with zipfile.ZipFile(written) as packed:
        packed.extractall(tmp_path)
    found = verified(tmp_path / "collection")
    assert found.agrees is not True or found.reasons == ()
    assert found.agrees or any("earlier version" in one for one in found.reasons)
    forged(tmp_path / "collection", "DELETE FROM edits")
    with pytest.raises(DamagedError):
        verified(tmp_path / "collection")


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE settings SET value = '{}' WHERE name = 'recipe'",
        "DELETE FROM settings WHERE name = 'recipe'",
        "UPDATE edits SET kind = 'add', body = '{\"documents\": 3}' WHERE number > 1",
        "UPDATE edits SET kind = 'odd' WHERE number > 1",
    ],
)
def test_settings_and_logs_that_nobody_wrote(small, forgery):
    """Told in words: as damage, as something that differs, or as something that cannot be done again."""
    with Collection.open(small) as collection:
        collection.shape([Rename(collection.outline.topics[1], "Honest")])
    forged(small, forgery)
    agrees, said = None, ""
    try:
        agrees = verified(small).agrees
    except DamagedError as error:
        said = str(error)
    assert not agrees
    assert "Error" not in said


def test_whoever_stops_it_is_not_told_that_something_differs(small, monkeypatch):
    monkeypatch.setattr("topiarist.models.em.step", Pressed())
    with Collection.open(small) as collection, pytest.raises(KeyboardInterrupt):
        verify(collection, n_threads=1)


class Pressed:
    """Ctrl-C in the third step of a fit."""

    def __init__(self):
        self.step, self.times = em.step, 0

    def __call__(self, *given):
        self.times += 1
        if self.times == 3:
            raise KeyboardInterrupt
        return self.step(*given)
