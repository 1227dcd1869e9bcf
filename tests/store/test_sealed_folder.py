"""A sealed folder: complete or not there, known by its manifest, changed by one at a time."""

import errno
import json
import os
from pathlib import Path

import pytest

from topiarist.errors import DamagedError, InputError, LackError, ResourceError, UsageError
from topiarist.store import sealed_folder
from topiarist.store.sealed_folder import (
    MANIFEST,
    Format,
    checked_files,
    contents_of,
    digest,
    folder_beside,
    locked,
    new_sealed_folder,
    read_manifest,
    seal,
    write_json,
    write_manifest,
)

NOTES = Format(name="notes", versions=(1, 2), what="a folder of notes", hint="another folder", again="write them again")


@pytest.fixture
def folder(tmp_path):
    with new_sealed_folder(tmp_path / "notes") as partial:
        (partial / "below").mkdir()
        write_json(partial / "a.json", ["a"])
        write_json(partial / "below" / "b.json", {"b": "ü"})
        write_manifest(partial, NOTES, {"files": seal(partial)})
    return tmp_path / "notes"


def test_what_was_sealed_is_found_again(folder):
    body, checksum = read_manifest(folder, NOTES)
    assert (body["format"], body["version"], list(body["files"])) == ("notes", 2, ["a.json", "below/b.json"])
    assert checksum == digest(body)
    found = checked_files(folder, body["files"], NOTES, contents=True)
    assert {name: json.loads(path.read_text()) for name, path in found.items()} == {
        "a.json": ["a"],
        "below/b.json": {"b": "ü"},
    }


def test_what_is_told_of_a_file_is_damage_or_a_lack():
    path = Path("notes.json")
    told = {
        KeyError("files"): "notes.json is damaged: there is no 'files'",
        ValueError("no JSON"): "notes.json is damaged: no JSON",
        RecursionError("x"): "notes.json is damaged: it is nested too deeply",
    }
    for error, said in told.items():
        assert str(NOTES.damaged(path, error)).startswith(said)
    assert isinstance(NOTES.damaged(path, "of another size"), InputError)
    for lacking in (OSError(errno.EMFILE, "Too many open files"), OSError(errno.ENOSPC, "full"), MemoryError()):
        found = NOTES.damaged(path, lacking)
        assert isinstance(found, LackError)
        assert "damaged" not in str(found)


def test_only_plain_files_of_a_size_are_read(tmp_path):
    plain, link = tmp_path / "plain", tmp_path / "link"
    plain.write_bytes(b"12345")
    link.symlink_to(plain)
    assert contents_of(plain, most=5) == contents_of(link) == contents_of(plain, links=False) == b"12345"
    with pytest.raises(ValueError, match="longer than any"):
        contents_of(plain, most=4)
    with pytest.raises(ValueError, match="it is a link"):
        contents_of(link, links=False)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="no plain file"):
        contents_of(tmp_path / "pipe")


def test_what_fails_leaves_nothing(tmp_path):
    def stopped():
        with new_sealed_folder(tmp_path / "notes") as partial:
            (partial / "half").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert list(tmp_path.iterdir()) == []


def test_a_place_must_be_free_or_an_empty_folder(tmp_path):
    (tmp_path / "empty").mkdir()
    with new_sealed_folder(tmp_path / "empty") as partial:
        (partial / "a").touch()
    assert [path.name for path in (tmp_path / "empty").iterdir()] == ["a"]
    (tmp_path / "file").touch()
    for taken in ("empty", "file"):
        with pytest.raises(UsageError, match=f"{taken} exists already"), new_sealed_folder(tmp_path / taken):
            pass


def test_whoever_is_later_gives_way_or_has_written_the_same(tmp_path):
    def late():
        with folder_beside(tmp_path / "notes"):
            (tmp_path / "notes").mkdir()
            (tmp_path / "notes" / "first").touch()

    with pytest.raises(UsageError, match="exists already"):
        late()
    with folder_beside(tmp_path / "notes", same=True) as partial:
        (partial / "third").touch()
    assert [path.name for path in tmp_path.rglob("*")] == ["notes", "first"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 3}, "has version 3 of the format, this topiarist reads 1 and 2"),
        ({"format": "letters"}, "is not that of a folder of notes: format 'letters'"),
        ({"sha256": "0"}, "does not match its own checksum"),
    ],
)
def test_a_strange_manifest_is_refused(folder, change, message):
    body = json.loads((folder / MANIFEST).read_text()) | change
    (folder / MANIFEST).write_text(json.dumps(body))
    with pytest.raises(InputError, match=message):
        read_manifest(folder, NOTES)


def test_each_format_has_errors_of_its_own(folder):
    strict = Format(name="notes", versions=(2,), what="notes", hint="none", absent=UsageError, error=DamagedError,
                    layout={"allow_nan": False})  # fmt: skip
    (folder / MANIFEST).write_text('{"x": NaN}')
    with pytest.raises(DamagedError, match="NaN is not JSON"):
        read_manifest(folder, strict)
    (folder / MANIFEST).unlink()
    with pytest.raises(UsageError, match=r"is not notes: manifest\.json cannot be read"):
        read_manifest(folder, strict)


@pytest.mark.parametrize("name", ["../a.json", "/etc/passwd", "..", "a/b/c.json", "below/../a.json", "a\0"])
def test_a_manifest_names_files_of_its_own_folder(folder, name):
    with pytest.raises(ValueError, match="a file called"):
        checked_files(folder, {name: {"bytes": 1, "sha256": ""}}, NOTES, contents=False)


@pytest.mark.skipif(os.name != "posix", reason="links are those of POSIX")
def test_links_are_followed_where_the_format_allows_them(folder, tmp_path):
    files = read_manifest(folder, NOTES)[0]["files"]
    os.rename(folder / "below", tmp_path / "elsewhere")
    (folder / "below").symlink_to(tmp_path / "elsewhere")
    assert len(checked_files(folder, files, NOTES, contents=True)) == 2
    with pytest.raises(ValueError, match=r"a file called 'below/b\.json'"):
        checked_files(folder, files, Format(name="n", versions=(1,), what="", hint="", links=False), contents=False)


def test_damaged_files_are_named(folder):
    files = read_manifest(folder, NOTES)[0]["files"]
    (folder / "a.json").write_text('["b"]')
    checked_files(folder, files, NOTES, contents=False)
    with pytest.raises(InputError, match=r"a\.json has changed since it was written"):
        checked_files(folder, files, NOTES, contents=True)
    (folder / "a.json").write_text("[]")
    with pytest.raises(InputError, match=r"a\.json has 2 bytes, 5 were written\n.*write them again"):
        checked_files(folder, files, NOTES, contents=False)


def test_one_writer_at_a_time(folder):
    with locked(folder):
        with pytest.raises(ResourceError, match="is being written by this process already"), locked(folder):
            raise AssertionError
        assert (folder / sealed_folder.WRITER).exists()
    with locked(folder, "notes"):
        pass
    assert not (folder / sealed_folder.WRITER).exists()
