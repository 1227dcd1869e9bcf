"""A grow that was stopped and taken up elsewhere: what each stage ran on is kept and reported."""

import pytest

from tests.grown import NoteCollector, documents
from topiarist.collection.grow import checkpoints, pipeline, state
from topiarist.collection.grow.block_growth import BlockGrowth
from topiarist.collection.grow.made_with import LAST_STAGE, describe_environment
from topiarist.collection.grow.pipeline import grow_collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.grow.state import GrowOptions

RECIPE = Recipe(topics=3, headings=False)


class KilledError(Exception):
    pass


def killed(*_arguments):
    raise KilledError


@pytest.fixture
def stopped(tmp_path, monkeypatch):
    """A grow that dies when the tree is there and nothing else is, with a checkpoint of it."""
    folder = tmp_path / "stopped"
    monkeypatch.setattr(checkpoints.CheckpointJournal.__init__, "__defaults__", (0.0,))
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "describe_topics", killed)
        with pytest.raises(KilledError):
            grow_collection(documents()[:80], folder, RECIPE, GrowOptions(n_threads=1))
    return folder


def taken_up(folder, place=None):
    collector = NoteCollector()
    options = GrowOptions(n_threads=1, reporter=collector, blocks=place)
    with grow_collection(documents()[:80], folder, RECIPE, options, resume=True) as collection:
        assert any(note.startswith("Resuming a tree of") for note in collector.notes)
        return [note for note in collector.notes if note.startswith("Resuming with")], dict(collection.settings)


def test_a_grow_that_is_taken_up_as_it_was_begun_is_one_grow(stopped):
    told, settings = taken_up(stopped)
    assert told == []
    assert LAST_STAGE not in settings


def test_another_version_of_a_later_stage_explains_a_difference(stopped, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(state, "describe_environment", lambda device: describe_environment(device) | {"numpy": "9.9"})
        told, settings = taken_up(stopped)
    assert told == ["Resuming with another numpy: one run might have given another tree"]
    assert settings[LAST_STAGE]["numpy"] == "9.9"


def test_a_tree_that_a_version_which_grows_otherwise_had_begun_is_begun_anew(stopped, monkeypatch):
    options = GrowOptions(n_threads=1, reporter=(collector := NoteCollector()))
    monkeypatch.setattr(checkpoints, "WAY", checkpoints.WAY + 1)
    with grow_collection(documents()[:80], stopped, RECIPE, options, resume=True) as collection:
        assert len(collection.outline.topics) > 1
    assert "The checkpoint belongs to another version. Growth starts from the root" in collector.notes
    assert not any(note.startswith("Resuming a tree") for note in collector.notes)


def test_a_tree_that_was_begun_in_memory_and_taken_up_within_an_allowance_is_told(stopped):
    told, settings = taken_up(stopped, BlockGrowth(memory=500_000_000))
    assert told == ["Resuming with another allowance of memory: one run might have given another tree"]
    assert settings[LAST_STAGE]["in_blocks"] == {"memory": 500_000_000}


def test_an_allowance_matters_only_where_a_tree_was_begun(tmp_path, monkeypatch):
    folder = tmp_path / "read"
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "fit_tree", killed)
        with pytest.raises(KilledError):
            grow_collection(documents()[:80], folder, RECIPE, GrowOptions(n_threads=1))
    collector = NoteCollector()
    options = GrowOptions(n_threads=1, reporter=collector, blocks=BlockGrowth(memory=500_000_000))
    with grow_collection(documents()[:80], folder, RECIPE, options, resume=True):
        assert not [note for note in collector.notes if note.startswith("Resuming with")]
