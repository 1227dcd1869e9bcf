"""A fault at every open, write, sync and rename of everything that writes: the collection is what it was, or what it
should become; it is whole; and the next attempt succeeds. ``tools/fuzz_calls.py`` has every fault at every call, those
of SQLite too; a few of these are here.
"""

import errno
import os
import re
import shutil

import pytest

from tests.faults import Killed, counted, failing
from tests.small import grown
from tests.tools import tool
from topiarist.collection.check import check_folder
from topiarist.errors import TopiaristError
from topiarist.storage import edit_log, sealed_folder
from topiarist.storage.collection_folder import Folder
from topiarist.storage.document_table import Documents
from topiarist.storage.generation import new_part
from topiarist.storage.marks import Marks
from topiarist.storage.succession import copy_log, copy_tables, copy_whole_part, reduce_generation
from topiarist.text.documents import Document

MORE = (Document("c/1", "Another text of oil.", "Oil"), Document("c/2", "And one of bail.", "Bail"))


def append(folder):
    with folder.writing() as generation:
        Documents(generation.database).append(MORE)


def tag(folder):
    with folder.writing() as generation:
        Marks(generation.database).tag([0, 1], "seen")


def edit(folder):
    with folder.writing() as generation:
        with new_part(generation, "tree") as part:
            (part.folder / "model.json").write_text("{1}")
            (part.folder / "words.bin").write_bytes(bytes(10_000))
        state = {"number": 1, "parts": {"tree": part.name}}
        edit_log.record(generation.database, "edit", {}, state, parts=[part.part])


def replace(folder):
    grown(folder.path, MORE, force=True).close()


def remove(folder):
    with reduce_generation(folder) as one:
        copy_tables(one.old.database, one.new.database, [1])
        part = copy_whole_part(one, "tree-1", "tree")
        copy_log(one.old.database, one.new.database)
        edit_log.record(one.new.database, "remove", {}, {"number": 1, "parts": {"tree": part.name}}, parts=[part])
        one.publish()


WRITERS = {"append": append, "tag": tag, "edit": edit, "replace": replace, "remove": remove}
FAULTS = (errno.ENOSPC, errno.EMFILE, errno.EIO, errno.ENOMEM, Killed())


def seen(path):
    """What a reader sees: documents, marks, the state and the contents of its parts."""
    folder = Folder.open(path)
    try:
        database, generation = folder.generation.database, folder.generation
        number, state = edit_log.current(database)
        parts = {
            name: sorted((one.name, one.read_bytes()) for one in (generation.folder / name).rglob("*") if one.is_file())
            for name in state["parts"].values()
        }
        return Documents(database).ids(), database.all("SELECT * FROM tags"), number, str(state), parts
    finally:
        folder.close()


@pytest.mark.parametrize("name", WRITERS)
def test_writers_atomic_under_faults(tmp_path, monkeypatch, name):
    write, original = WRITERS[name], tmp_path / "original.topiary"
    grown(original).close()
    before = seen(original)
    path = tmp_path / "mail.topiary"

    def fresh():
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(original, path)
        return Folder.open(path)

    folder = fresh()
    with counted(path, monkeypatch) as faulty:
        write(folder)
    folder.close()
    after = seen(path)
    assert after != before
    number = len(faulty.calls)
    assert number >= (1 if name in ("append", "tag") else 10), "the injection meets what is written"
    for at in range(number):
        fault = FAULTS[at % len(FAULTS)]
        folder = fresh()
        error = None
        with failing(path, monkeypatch, at, fault):
            try:
                write(folder)
            except (TopiaristError, OSError, Killed) as met:
                error = met
        folder.close()
        assert error is None or "damage" not in str(error)
        assert seen(path) in (before, after), faulty.calls[at]
        assert [one for one in check_store(path) if one.severity == "error"] == [], faulty.calls[at]
        if seen(path) == before:
            again = Folder.open(path)
            write(again)
            again.close()
        assert seen(path)[0] == after[0], faulty.calls[at]


def check_store(path):
    """What check finds in the folder itself: states of these tests have no tree."""
    return [one for one in check_folder(path) if "shape" not in one.what]


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace here, which lets calls of others fail")
@pytest.mark.parametrize(
    ("name", "faults"),
    [
        ("replace", [("unlink", "-journal", -1, "EIO")]),  # SQLite could not leave its journal, and said so to nobody
        # the manifest was there, what it names was removed
        ("remove", [("fsync", r"mail\.topiary>", -1, "EIO"), ("openat", r'mail\.topiary", O_RDONLY\|', -1, "EMFILE")]),
        (
            "tag",
            [
                ("pwrite64", "-wal", 0, "EIO+"),
                ("fdatasync", "-wal", 0, "EIO"),
                ("openat", r'\.sqlite"', 0, "EMFILE+"),
            ],
        ),
    ],
)
def test_writers_atomic_under_database_faults(tmp_path, name, faults):
    """Each of these calls is found in a rehearsal: how many others come before it depends on the version of SQLite."""
    fuzz, original, path = tool("fuzz_calls"), tmp_path / "original.topiary", tmp_path / "mail.topiary"
    grown(original).close()
    before, write = seen(original), WRITERS[name]
    shutil.copytree(original, path)
    if fuzz.asked(path, write, "", tmp_path / "log") is fuzz.REFUSED:
        pytest.skip("strace may not look at other processes here")
    after, rehearsal = seen(path), (tmp_path / "log").read_text()
    for call, of, which, error in faults:
        when = fuzz.place(rehearsal, call, of, which)
        shutil.rmtree(path)
        shutil.copytree(original, path)
        inject = f"inject={call}:error={error.rstrip('+')}:when={when}{'+' * error.endswith('+')}"
        code = fuzz.asked(path, write, inject, tmp_path / "log")
        (injected, *_) = re.findall(r".*\(INJECTED\)", (tmp_path / "log").read_text())
        assert re.search(of, injected), injected
        assert fuzz.faults_after(path, write, code, before, after) == [], inject


def test_named_generation_survives_failed_commit(tmp_path, monkeypatch):
    """The last sync of a commit fails: everything is in its place, and was thrown away."""
    path = tmp_path / "mail.topiary"
    folder = grown(path)
    plain = sealed_folder.sync_folder

    def broken(place):
        if (path / "manifest.json").stat().st_mtime_ns != before:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(place))
        plain(place)

    before = (path / "manifest.json").stat().st_mtime_ns
    with monkeypatch.context() as patch:
        patch.setattr(sealed_folder, "sync_folder", broken)
        with pytest.raises((TopiaristError, OSError)):
            remove(folder)
    folder.close()
    assert seen(path)[0] == ["a/1", "b/1", "b/2"]
