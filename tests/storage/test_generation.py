"""Parts that are complete or not there, and the log that names them."""

import json
import os

import pytest

from topiarist.errors import DamagedError, ResourceError
from topiarist.storage import edit_log
from topiarist.storage.collection_folder import Folder
from topiarist.storage.generation import Part, make_part_name, new_part, open_part, part_faults


def write(generation, kind="tree", text="x"):
    with new_part(generation, kind) as part:
        (part.folder / "a.txt").write_text(text)
    return part.part


def test_new_part_named_when_complete(folder):
    with folder.writing() as generation:
        with new_part(generation, "tree") as part:
            assert part.name == "tree-2"
            assert not (generation.folder / "tree-2").exists()
            with pytest.raises(ValueError, match="not complete yet"):
                _ = part.part
            (part.folder / "deep").mkdir()
            (part.folder / "deep" / "a.bin").write_bytes(b"abc")
        assert part.folder == generation.folder / "tree-2"
        listed = json.loads((part.folder / "part.json").read_text())
        assert listed["files"]["deep/a.bin"]["bytes"] == 3
        assert part_faults(part.folder, part.digest, contents=True) == []


def test_failed_part_deleted(folder):
    def fail(generation):
        with new_part(generation, "tree") as part:
            (part.folder / "a").write_text("x")
            raise KeyboardInterrupt

    with folder.writing() as generation:
        before = sorted(path.name for path in generation.folder.iterdir())
        with pytest.raises(KeyboardInterrupt):
            fail(generation)
        assert sorted(path.name for path in generation.folder.iterdir()) == before


def test_part_numbers_unique(folder):
    with folder.writing() as generation:
        assert make_part_name(generation, "counts") == "counts-1"
        assert write(generation).name == "tree-2"
        assert write(generation).name == "tree-3"
        assert write(generation, "tree-of").name == "tree-of-1"
        assert make_part_name(generation, "tree") == "tree-4"
        for kind in ("", "Tree", "../x", "a/b", ".a", "1a"):
            with pytest.raises(ValueError, match="the kind of a part"):
                make_part_name(generation, kind)


def test_sweep_removes_unnamed_parts(folder):
    with folder.writing() as generation:
        kept, dropped, lost = (write(generation, kind) for kind in ("kept", "dropped", "lost"))
        edit_log.keep(generation.database, [kept, dropped])
        edit_log.drop(generation.database, [dropped.name, "tree-1"])  # tree-1 is named by a state, and stays
    with folder.writing() as generation:
        names = {path.name for path in generation.folder.iterdir() if path.is_dir()}
        assert names == {"kept-1", "tree-1"}
        assert set(edit_log.parts(generation.database)) == names
    assert lost.name == "lost-1"


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("arrays/words.bin", b"short", "tree-1/arrays/words.bin has 5 bytes, 16,384 were written"),
        ("arrays/words.bin", None, "tree-1/arrays/words.bin cannot be read: No such file"),
        ("part.json", b"{}", "tree-1/part.json has changed"),
        ("part.json", None, "tree-1/part.json cannot be read: No such file"),
    ],
)
def test_open_part_rejects_damage(folder, file, content, message):
    path = folder.generation.folder / "tree-1" / file
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(DamagedError, match=message) as refused:
        open_part(folder.generation, "tree-1")
    assert refused.value.hint.startswith("Run topiarist check")


def test_part_names_checked(folder):
    for name in ("tree-9", "../x", ""):
        with pytest.raises(DamagedError, match="is not known"):
            open_part(folder.generation, name)
    assert part_faults(folder.path / "..", "0") == ["'..' is not the name of a part"]


def test_history_includes_undo(folder):
    with folder.writing() as generation:
        database = generation.database
        part = write(generation)
        state = {"number": 1, "parts": {"tree": part.name}}
        assert (
            edit_log.record(database, "rename", {"topic": 3, "to": "Öl"}, state, parts=[part], time="2026-01-02") == 2
        )
        assert edit_log.current(database) == (2, state)
        assert edit_log.record(database, "undo", {}, 1) == 1
        assert edit_log.current(database) == (1, {"number": 0, "parts": {"tree": "tree-1"}})
    newest, middle, oldest = edit_log.history(Folder.open(folder.path).generation.database)
    assert [edit.kind for edit in (oldest, middle, newest)] == ["grow", "rename", "undo"]
    assert (middle.time, middle.body, middle.before, middle.after) == ("2026-01-02", {"topic": 3, "to": "Öl"}, 1, 2)
    assert (oldest.before, newest.before, newest.after) == (None, 2, 1)
    assert edit_log.history(folder.generation.database, limit=1) == [newest]
    with folder.writing() as generation:
        assert open_part(generation, "tree-2").is_dir()  # an earlier state needs it


def test_state_requires_recorded_parts(folder):
    with folder.writing() as generation:
        with pytest.raises(ValueError, match="may only name parts that were recorded"):
            edit_log.record(generation.database, "edit", {}, {"parts": {"tree": "tree-9"}})
        with pytest.raises(DamagedError, match="state 7 is missing"):
            edit_log.record(generation.database, "undo", {}, 7)
        with pytest.raises(ValueError, match="Out of range float"):
            edit_log.record(generation.database, "edit", {}, {"x": float("nan")})
    assert len(edit_log.history(folder.generation.database)) == 1


def test_changed_state_raises_damaged_error(folder):
    with folder.writing() as generation:
        generation.database.run("UPDATE states SET body = replace(body, '0', '5')")
    with pytest.raises(DamagedError, match="state 1 is changed"):
        edit_log.current(folder.generation.database)


def test_history_limits(folder):
    database = folder.generation.database
    assert edit_log.count_entries(database) == (1, 1)
    assert list(edit_log.faults(database)) == []
    with folder.writing() as generation:
        part = write(generation)
        edit_log.record(generation.database, "edit", {}, {"parts": {"tree": part.name}}, parts=[part])
        edit_log.record(generation.database, "undo", {}, 1)
    assert edit_log.count_entries(database) == (2, 3)


def test_log_without_state_raises_damaged_error(folder):
    with folder.writing() as generation:
        generation.database.run("PRAGMA foreign_keys = OFF")
        generation.database.run("DELETE FROM edits")
        generation.database.run("DELETE FROM states")
        assert list(edit_log.faults(generation.database)) == ["there is no state"]


def test_linked_folder_in_part_raises_damaged_error(folder):
    place = folder.generation.folder / "tree-1"
    ((name, digest),) = edit_log.parts(folder.generation.database).items()
    assert name == "tree-1"
    (place / "arrays").rename(folder.path / "elsewhere")
    (place / "arrays").symlink_to(folder.path / "elsewhere")
    assert part_faults(place, digest) == ["tree-1/arrays is a link to somewhere else"]
    with pytest.raises(DamagedError):
        open_part(folder.generation, "tree-1")


def test_part_faults_reports_system_limits(folder, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    with folder.writing() as generation:
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(ResourceError, match=r"cannot write .*/tree-2: .*No space left on device"):
            write(generation)
        monkeypatch.undo()
        assert not list(generation.folder.glob("*tree-2*"))
    assert Part("a", "b") == Part("a", "b")
