"""A grow that was stopped and taken up elsewhere: what each stage ran on is kept, told, and known to ``verify``."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from tests.collection.test_forged import forged
from tests.grown import documents
from topiarist.collection.collection import Collection
from topiarist.collection.grow import grower, journal
from topiarist.collection.grow.block_growth import InBlocks
from topiarist.collection.grow.grower import Grower
from topiarist.collection.grow.journal import Teller
from topiarist.collection.grow.made_with import MADE_WITH, STAGES, circumstances, stages
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.shape.edits import Rename
from topiarist.collection.verify.verification import verify
from topiarist.text.language import Language

RECIPE = Recipe(topics=3, headings=False)


class Heard(Teller):
    def __init__(self):
        self.told = []

    def said(self, text):
        self.told.append(text)


class KilledError(Exception):
    pass


def killed(*_arguments):
    raise KilledError


@pytest.fixture
def stopped(tmp_path, monkeypatch):
    """A grow that dies when the tree is there and nothing else is, with a checkpoint of it."""
    folder = tmp_path / "stopped"
    monkeypatch.setattr(journal.PartJournal.__init__, "__defaults__", (0.0,))
    with monkeypatch.context() as patch:
        patch.setattr(Grower, "_kept", killed)
        with pytest.raises(KilledError):
            Grower(RECIPE, n_threads=1).grow(documents()[:80], folder)
    return folder


def taken_up(folder, place=None):
    heard = Heard()
    with Grower(RECIPE, n_threads=1, tell=heard, place=place).grow(documents()[:80], folder, resume=True) as collection:
        assert any(told.startswith("Taking up a tree of") for told in heard.told)
        return [told for told in heard.told if told.startswith("Taken up with")], dict(collection.settings)


def spoilt(folder):
    """What ``verify`` says when somebody has changed the log."""
    with Collection.open(folder) as collection:
        collection.shape([Rename(collection.outline.topics[1], "Honest")])
    forged(folder, "UPDATE edits SET body = replace(body, 'Honest', 'Forged')")
    with Collection.open(folder) as collection:
        return verify(collection, n_threads=1)


def test_a_grow_that_is_taken_up_as_it_was_begun_is_one_grow(stopped):
    told, settings = taken_up(stopped)
    assert told == []
    assert STAGES not in settings
    assert len(stages(settings)) == 1
    found = spoilt(stopped)
    assert (found.agrees, found.explained) == (False, False)


def test_another_version_of_a_later_stage_explains_a_difference(stopped, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(grower, "circumstances", lambda device: circumstances(device) | {"numpy": "9.9"})
        told, settings = taken_up(stopped)
    assert told == ["Taken up with another numpy: one run might have given another tree"]
    assert [one["numpy"] for one in stages(settings)] == [settings[MADE_WITH]["numpy"], "9.9"]
    found = spoilt(stopped)
    assert not found.agrees
    assert [one.partition(", and is")[0] for one in found.reasons] == [
        "numpy was, when the grow was taken up again, 9.9"
    ]


def test_a_grow_of_a_version_that_wrote_three_documents_is_taken_up(stopped):
    """Where nobody chose how many documents must have a word, version 0.1 wrote 3; the counts are made by then."""
    assert RECIPE.min_documents is None
    before = replace(RECIPE, min_documents=3)
    assert before.identity == RECIPE.identity
    assert Recipe.from_dict(before.to_dict()).counting(Language("", 0.0, 0)).min_document_share == 0.0
    (database,) = (stopped / "growing").glob("*.sqlite")
    with closing(sqlite3.connect(database)) as connection, connection:
        changed = "UPDATE settings SET value = replace(value, '\"min_documents\": null', '\"min_documents\": 3')"
        assert connection.execute(f"{changed} WHERE name = 'recipe'").rowcount == 1
        ((kept,),) = connection.execute("SELECT value FROM settings WHERE name = 'recipe'").fetchall()
    assert json.loads(kept)["min_documents"] == 3
    told, settings = taken_up(stopped)
    assert not told
    assert settings["recipe"]["min_documents"] == 3
    other = replace(RECIPE, min_documents=4)
    assert other.identity != RECIPE.identity


def test_a_tree_that_a_version_which_grows_otherwise_had_begun_is_begun_anew(stopped, monkeypatch):
    heard = Heard()
    monkeypatch.setattr(journal, "WAY", journal.WAY + 1)
    with Grower(RECIPE, n_threads=1, tell=heard).grow(documents()[:80], stopped, resume=True) as collection:
        assert len(collection.outline.topics) > 1
    assert "The tree that another version had begun is begun anew" in heard.told
    assert not any(told.startswith("Taking up a tree") for told in heard.told)


def test_a_tree_that_was_begun_in_memory_and_taken_up_within_an_allowance_is_told(stopped):
    told, settings = taken_up(stopped, InBlocks(memory=500_000_000))
    assert told == ["Taken up with another allowance of memory: one run might have given another tree"]
    assert [one["in_blocks"] for one in stages(settings)] == [None, {"memory": 500_000_000}]
    assert spoilt(stopped).reasons == (
        "one part of the tree was grown in memory or within another allowance, and the rest otherwise",
    )


def test_an_allowance_matters_only_where_a_tree_was_begun(tmp_path, monkeypatch):
    folder = tmp_path / "read"
    with monkeypatch.context() as patch:
        patch.setattr(Grower, "fitted", killed)
        with pytest.raises(KilledError):
            Grower(RECIPE, n_threads=1).grow(documents()[:80], folder)
    heard = Heard()
    place = InBlocks(memory=500_000_000)
    with Grower(RECIPE, n_threads=1, tell=heard, place=place).grow(documents()[:80], folder, resume=True) as collection:
        assert not [told for told in heard.told if told.startswith("Taken up")]
        assert verify(collection, n_threads=1).agrees
    assert spoilt(folder).reasons == ()
