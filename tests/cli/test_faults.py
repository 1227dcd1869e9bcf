"""Commands in which something of the system fails: a part of ``tools/fuzz_faults.py``; ``make fuzz`` has all of it."""

import pytest

from tests.tools import tool


@pytest.fixture(scope="module")
def fuzz():
    return tool("fuzz_faults")


@pytest.mark.parametrize(("only", "most", "sizes"), [("file", 5, 1), ("remove --forget", 3, 0)])
def test_a_fault_is_told_and_leaves_the_collection_whole(fuzz, tmp_path, only, most, sizes):
    """Every commit names what was synced before; then some calls fail, and a disk is full."""
    found, tally = fuzz.rounds(tmp_path, most=most, only=only, sizes=sizes, seed=3, n_docs=40)
    assert found == []
    assert sum(tally.values()) == most + sizes


def test_the_recorder_sees_what_was_not_synced(fuzz, tmp_path, monkeypatch):
    """Without syncs of files nothing holds: whoever takes them out must be found out."""
    from topiarist.storage import sealed_folder

    fuzz.write_notes(tmp_path / "plain", 40)
    fuzz.warm_up(tmp_path / "plain", tmp_path / "warm")
    grow = next(one for one in fuzz.VICTIMS if one.name == "grow")
    with monkeypatch.context() as patch:
        patch.setattr(sealed_folder, "sync_contents", lambda path: [one for one in path.rglob("*") if one.is_file()])
        known = fuzz.rehearsed(tmp_path / "plain", tmp_path / "home", grow)
    assert any("never synced" in one or "before the" in one for one in known.wrong)
