"""A collection folder: what opens, what is refused and in which words, who may write, what is swept up."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace

import pytest

from tests.small import DOCUMENTS, grown
from topiarist import __version__
from topiarist.errors import DamagedError, ResourceError, UsageError
from topiarist.storage import collection_folder as folders
from topiarist.storage import edit_log
from topiarist.storage.collection_folder import Folder, begin_generation
from topiarist.storage.document_table import Documents
from topiarist.storage.generation import new_part, open_part
from topiarist.storage.sealed_folder import write_manifest
from topiarist.text.documents import Document


def names(path):
    return sorted(found.name for found in path.iterdir())


def rewrite(path, **changes):
    """Change a manifest, with a checksum that fits."""
    body = json.loads((path / "manifest.json").read_text()) | changes
    body.pop("sha256")
    write_manifest(path, replace(folders.COLLECTION, version=body["version"]), body)


def test_folder_opens_grown_collection(folder):
    again = Folder.open(folder.path)
    assert Documents(again.generation.database).ids() == [document.id for document in DOCUMENTS]
    assert edit_log.current(again.generation.database) == (1, {"number": 0, "parts": {"tree": "tree-1"}})
    assert (open_part(again.generation, "tree-1") / "model.json").read_text() == "{}"
    assert names(folder.path) == [again.generation.folder.name, "lock", "manifest.json"]
    body = json.loads((folder.path / "manifest.json").read_text())
    assert (body["format"], body["version"], body["topiarist"]) == ("topiarist-collection", 1, __version__)


@pytest.mark.parametrize("name", ["with spaces", "café–日本", "a#b", "a?mode=rw", "100%41", "a&b=c;d'e\"f", "-x", "~"])
def test_folder_names_with_special_characters(tmp_path, name):
    grown(tmp_path / name).close()
    with Folder.open(tmp_path / name).writing() as generation:
        Documents(generation.database).append([Document("new", "text")])
    assert len(Documents(Folder.open(tmp_path / name).generation.database)) == 5
    assert names(tmp_path) == [name]


def test_folder_opens_after_move(folder, tmp_path):
    folder.close()
    shutil.move(folder.path, tmp_path / "elsewhere")
    assert len(Documents(Folder.open(tmp_path / "elsewhere").generation.database)) == 4


def test_folder_survives_change_of_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = grown("mail.topiary")
    os.chdir("/")
    assert len(Documents(folder.generation.database)) == 4
    with folder.writing() as generation:
        assert generation.folder.parent == tmp_path / "mail.topiary"


def test_open_missing_collection_fails(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as refused:
        Folder.open("./x")
    assert refused.value.message == "there is no collection at ./x"
    assert refused.value.hint == "Run topiarist grow ./folder to make one."
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="there is no collection at other"):
        Folder.open("other")


def test_newer_format_suggests_upgrade(folder):
    rewrite(folder.path, version=7, topiarist="2.1")
    with pytest.raises(DamagedError) as refused:
        Folder.open(folder.path)
    assert refused.value.message == (
        f"this collection was written by topiarist 2.1 (format 7); this is {__version__}, which reads up to format 1"
    )
    assert refused.value.hint == "Run pip install -U topiarist."
    assert refused.value.exit_code == 4


def test_newer_database_rejected(folder):
    folder.close()
    with sqlite3.connect(folder.generation.database.path) as connection:
        connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(DamagedError, match=r"written by a newer topiarist \(format 9\)"):
        len(Documents(Folder.open(folder.path).generation.database))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "manifest.json cannot be read"),
        ("[]", "manifest.json cannot be read"),
        ("\xff", "manifest.json"),
        ('{"format": "other", "version": 1}', "not the manifest of a collection"),
        ('{"format": "topiarist-collection", "version": 1, "generation": "g-00000000"}', "no checksum"),
        ('{"format": "topiarist-collection", "version": 1, "sha256": "0"}', "does not match its own checksum"),
    ],
)
def test_damaged_manifest_reported(folder, text, message):
    (folder.path / "manifest.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(DamagedError, match=message) as refused:
        Folder.open(folder.path)
    assert refused.value.hint.startswith("Run topiarist check ")


@pytest.mark.parametrize("name", ["../other", "g-ffffffffffffffff", "lock"])
def test_manifest_with_invalid_generation_rejected(folder, name):
    rewrite(folder.path, generation=name)
    with pytest.raises(DamagedError, match="is damaged"):
        Folder.open(folder.path)


def test_missing_manifest_reported(folder):
    (folder.path / "manifest.json").unlink()
    with pytest.raises(DamagedError, match=r"manifest\.json is missing"):
        Folder.open(folder.path)


def test_begin_generation_resumes_interrupted_grow(tmp_path):
    path = tmp_path / "x"
    with suppress(KeyboardInterrupt), begin_generation(path) as growing:
        Documents(growing.generation.database).load(DOCUMENTS)
        with new_part(growing.generation, "counts") as kept:
            (kept.folder / "a").write_text("kept")
        edit_log.keep(growing.generation.database, [kept.part])
        with new_part(growing.generation, "counts") as lost:
            (lost.folder / "a").write_text("lost")
        assert lost.name == "counts-2"
        raise KeyboardInterrupt
    with pytest.raises(UsageError, match="there is an unfinished grow at") as refused:
        Folder.open(path)
    assert "--resume" in refused.value.hint
    with pytest.raises(UsageError, match="there is an unfinished grow at"), begin_generation(path):
        pass
    with begin_generation(path, resume=True) as growing:
        assert growing.resumed
        assert len(Documents(growing.generation.database)) == 4
        assert (open_part(growing.generation, "counts-1") / "a").read_text() == "kept"
        assert not (growing.generation.folder / "counts-2").exists()
        edit_log.record(growing.generation.database, "grow", {}, {"parts": {"counts": "counts-1"}})
        folder = growing.publish()
    assert edit_log.current(Folder.open(path).generation.database)[1] == {"parts": {"counts": "counts-1"}}
    assert names(path) == [folder.generation.folder.name, "lock", "manifest.json"]


def test_failed_empty_grow_leaves_no_folder(tmp_path):
    with pytest.raises(ValueError, match="nothing to read"), begin_generation(tmp_path / "x"):
        raise ValueError("nothing to read")
    assert names(tmp_path) == []
    (tmp_path / "mine").mkdir()
    with pytest.raises(ValueError, match="nothing to read"), begin_generation(tmp_path / "mine"):
        raise ValueError("nothing to read")
    assert names(tmp_path / "mine") in ([], ["lock"])
    grown(tmp_path / "mine")


@pytest.mark.parametrize("content", [None, b""])
def test_resume_after_kill_before_tables(tmp_path, content):
    """An unfinished grow without tables begins anew, whatever was asked."""
    (tmp_path / "x" / "growing").mkdir(parents=True)
    if content is not None:
        (tmp_path / "x" / "growing" / "documents.sqlite").write_bytes(content)
    with begin_generation(tmp_path / "x", resume=True) as growing:
        assert not growing.resumed
        assert len(Documents(growing.generation.database)) == 0


def test_begin_generation_refuses_existing_files(folder, tmp_path):
    with (
        pytest.raises(UsageError, match=r"there is a collection at .* already") as refused,
        begin_generation(folder.path),
    ):
        pass
    assert "--force" in refused.value.hint
    with pytest.raises(UsageError, match="already"), begin_generation(folder.path, resume=True):
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file"), begin_generation(tmp_path / "file"):
        pass
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "thesis.doc").write_text("")
    for force in (False, True):
        with pytest.raises(UsageError, match="other files"), begin_generation(tmp_path / "own", force=force):
            pass


def test_force_replaces_after_publish(folder):
    reader = Folder.open(folder.path)
    assert len(Documents(reader.generation.database)) == 4
    with begin_generation(folder.path, force=True) as growing:
        Documents(growing.generation.database).load([Document("only", "one")])
        assert len(Documents(Folder.open(folder.path).generation.database)) == 4
        edit_log.record(growing.generation.database, "grow", {}, {})
        growing.publish()
    assert len(Documents(reader.generation.database)) == 4  # who reads the old one goes on
    assert reader.refresh()
    assert not reader.refresh()
    assert Documents(reader.generation.database).ids() == ["only"]
    with folder.writing():
        pass  # the next writer removes it
    assert len([name for name in names(folder.path) if name.startswith("g-")]) == 1


def test_force_replaces_damaged_collection(folder):
    (folder.path / "manifest.json").write_text("oops")
    grown(folder.path, force=True)
    assert len(Documents(Folder.open(folder.path).generation.database)) == 4


def test_resume_after_kill_before_manifest(folder, monkeypatch):
    """The whole grow is there: it must not be lost, nor count as done."""
    monkeypatch.setattr(folders.Manifest, "write", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        grown(folder.path, [Document("new", "text")], force=True)
    monkeypatch.undo()
    assert len(Documents(Folder.open(folder.path).generation.database)) == 4
    with Folder.open(folder.path).writing():
        pass
    assert "growing" in names(folder.path)
    with begin_generation(folder.path, resume=True) as growing:
        assert growing.resumed
        growing.publish()
    assert Documents(Folder.open(folder.path).generation.database).ids() == ["new"]
    assert not list(folder.path.rglob("complete"))


WRITER = """
import sys
from topiarist.storage.collection_folder import Folder
with Folder.open(sys.argv[1]).writing():
    print("writing", flush=True)
    sys.stdin.read()
"""


def test_writer_lock_spares_readers(folder):
    other = subprocess.Popen(
        [sys.executable, "-c", WRITER, folder.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout.readline() == "writing\n"
        with (
            pytest.raises(ResourceError, match=f"is being written by process {other.pid}\n") as refused,
            folder.writing(),
        ):
            pass
        assert refused.value.exit_code == 5
        assert len(Documents(Folder.open(folder.path).generation.database)) == 4
        with pytest.raises(ResourceError, match="is being written by"), begin_generation(folder.path, force=True):
            pass
        other.kill()
        other.wait()
        with folder.writing(wait=5):  # the dead hold nothing
            assert (folder.path / "writer").exists()
        assert not (folder.path / "writer").exists()
    finally:
        other.kill()
        other.communicate()


def test_writer_lock_within_one_process(folder):
    with folder.writing():
        with pytest.raises(ResourceError, match="by this process already"), folder.writing():
            pass
        (folder.path / "writer").write_text("{")
        with pytest.raises(ResourceError, match="by another process"), folder.writing():
            pass
        (folder.path / "writer").write_text('{"process": 5, "machine": "moon"}')
        with pytest.raises(ResourceError, match="by process 5 on moon"), folder.writing():
            pass


def test_sweep_removes_only_leftovers(folder):
    place = folder.generation.folder
    ours = [folder.path / "g-0123456789abcdef", place / "tree-7", place / f".tree-8.{'0' * 32}"]
    others = [folder.path / "problems.csv", folder.path / "growing", place / "notes.txt", folder.path / "g-mine"]
    for path in (*ours, others[1]):
        path.mkdir()
        (path / "x").write_text("")
    ours.append(folder.path / f"manifest.json.{'0' * 32}")
    for path in (ours[-1], others[0], others[2], others[3]):
        path.write_text("")
    Documents(Folder.open(folder.path).generation.database).ids()
    assert all(path.exists() for path in (*ours, *others))  # reading changes nothing
    with folder.writing():
        assert not any(path.exists() for path in ours)
    assert all(path.exists() for path in others)
    assert open_part(folder.generation, "tree-1").is_dir()


def as_nobody(function):
    """Run something in a process without special rights; what it returned, as text."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            os.write(write, str(function()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    assert os.waitpid(child, 0)[1] == 0
    return text


@pytest.mark.skipif(os.name != "posix", reason="other systems have other permissions")
@pytest.mark.parametrize("clean", [True, False])
def test_read_only_folder_readable(tmp_path, clean):
    folder = grown(tmp_path / "x")
    if clean:
        folder.close()
    else:
        Documents(folder.generation.database).ids()  # leaves the files of the journal
    for parent in (tmp_path, *tmp_path.parents):
        if parent == tmp_path or parent.name.startswith(("pytest-", "popen-")):
            parent.chmod(0o755)
    for path in (folder.path, *folder.path.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)

    def attempt():
        there = Folder.open(folder.path)
        number = len(Documents(there.generation.database))
        try:
            with there.writing():
                return "written"
        except ResourceError as error:
            return f"{number} {error.message} {error.exit_code}"

    assert as_nobody(attempt) == f"4 cannot write in {folder.path}: Permission denied 5"
    for path in (folder.path, folder.generation.folder):
        path.chmod(0o755)


def test_older_format_rejected(folder):
    rewrite(folder.path, version=0, topiarist="0.0.1")
    with pytest.raises(DamagedError, match=r"written by topiarist 0\.0\.1 \(format 0\); this reads format 1"):
        Folder.open(folder.path)


def test_open_suggests_collection_beside_folder(tmp_path):
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail.topiary").mkdir()
    with pytest.raises(UsageError, match=r"but there is .*mail\.topiary"):
        Folder.open(tmp_path / "mail")
