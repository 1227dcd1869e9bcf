"""A sealed folder: complete or not there, known by its manifest, changed by one at a time."""

import errno
import json
import os
from pathlib import Path

import pytest

from topiarist.errors import DamagedError, InputError, ResourceError, SystemLimitError, UsageError
from topiarist.storage import sealed_folder
from topiarist.storage.sealed_folder import (
    MANIFEST,
    Format,
    check_files,
    digest,
    lock_folder,
    new_sealed_folder,
    read_manifest,
    read_plain_file,
    replace_folder,
    seal_files,
    write_json,
    write_manifest,
)

NOTES = Format(name="notes", version=2, label="a folder of notes", hint="another folder", remedy="write them again")


@pytest.fixture
def folder(tmp_path):
    with new_sealed_folder(tmp_path / "notes") as partial:
        (partial / "below").mkdir()
        write_json(partial / "a.json", ["a"])
        write_json(partial / "below" / "b.json", {"b": "ü"})
        write_manifest(partial, NOTES, {"files": seal_files(partial)})
    return tmp_path / "notes"


def test_sealed_files_checked(folder):
    body, checksum = read_manifest(folder, NOTES)
    assert (body["format"], body["version"], list(body["files"])) == ("notes", 2, ["a.json", "below/b.json"])
    assert checksum == digest(body)
    found = check_files(folder, body["files"], NOTES, contents=True)
    assert {name: json.loads(path.read_text()) for name, path in found.items()} == {
        "a.json": ["a"],
        "below/b.json": {"b": "ü"},
    }


def test_file_errors_raises_damaged_error():
    path = Path("notes.json")
    told = {
        KeyError("files"): "notes.json is damaged: there is no 'files'",
        ValueError("no JSON"): "notes.json is damaged: no JSON",
        RecursionError("x"): "notes.json is damaged: it is nested too deeply",
    }
    for error, said in told.items():
        assert str(NOTES.create_damaged_error(path, error)).startswith(said)
    assert isinstance(NOTES.create_damaged_error(path, "of another size"), InputError)
    for lacking in (OSError(errno.EMFILE, "Too many open files"), OSError(errno.ENOSPC, "full"), MemoryError()):
        found = NOTES.create_damaged_error(path, lacking)
        assert isinstance(found, SystemLimitError)
        assert "damaged" not in str(found)


def test_read_plain_file_rejects_other_files(tmp_path):
    plain, link = tmp_path / "plain", tmp_path / "link"
    plain.write_bytes(b"12345")
    link.symlink_to(plain)
    assert (
        read_plain_file(plain, max_bytes=5) == read_plain_file(link) == read_plain_file(plain, links=False) == b"12345"
    )
    with pytest.raises(ValueError, match="longer than any"):
        read_plain_file(plain, max_bytes=4)
    with pytest.raises(ValueError, match="it is a link"):
        read_plain_file(link, links=False)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="not a plain file"):
        read_plain_file(tmp_path / "pipe")


def test_new_file_deletes_partial_file(tmp_path):
    def stopped():
        with new_sealed_folder(tmp_path / "notes") as partial:
            (partial / "half").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert list(tmp_path.iterdir()) == []


def test_prepare_target_requires_empty_folder(tmp_path):
    (tmp_path / "empty").mkdir()
    with new_sealed_folder(tmp_path / "empty") as partial:
        (partial / "a").touch()
    assert [path.name for path in (tmp_path / "empty").iterdir()] == ["a"]
    (tmp_path / "file").touch()
    for taken in ("empty", "file"):
        with pytest.raises(UsageError, match=f"{taken} exists already"), new_sealed_folder(tmp_path / taken):
            pass


def test_replace_folder_with_existing_target(tmp_path):
    def late():
        with replace_folder(tmp_path / "notes"):
            (tmp_path / "notes").mkdir()
            (tmp_path / "notes" / "first").touch()

    with pytest.raises(UsageError, match="exists already"):
        late()
    with replace_folder(tmp_path / "notes", allow_existing=True) as partial:
        (partial / "third").touch()
    assert [path.name for path in tmp_path.rglob("*")] == ["notes", "first"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 3}, "has version 3 of the format, this topiarist reads 2"),
        ({"format": "letters"}, "is not a manifest of a folder of notes: format 'letters'"),
        ({"sha256": "0"}, "does not match its own checksum"),
    ],
)
def test_read_manifest_rejects_invalid_content(folder, change, message):
    body = json.loads((folder / MANIFEST).read_text()) | change
    (folder / MANIFEST).write_text(json.dumps(body))
    with pytest.raises(InputError, match=message):
        read_manifest(folder, NOTES)


def test_format_errors(folder):
    strict = Format(name="notes", version=2, label="notes", hint="none", absent=UsageError, error=DamagedError,
                    layout={"allow_nan": False})  # fmt: skip
    (folder / MANIFEST).write_text('{"x": NaN}')
    with pytest.raises(DamagedError, match="NaN is not JSON"):
        read_manifest(folder, strict)
    (folder / MANIFEST).unlink()
    with pytest.raises(UsageError, match=r"is not notes: manifest\.json cannot be read"):
        read_manifest(folder, strict)


@pytest.mark.parametrize("name", ["../a.json", "/etc/passwd", "..", "a/b/c.json", "below/../a.json", "a\0"])
def test_check_files_rejects_outside_names(folder, name):
    with pytest.raises(ValueError, match="a file called"):
        check_files(folder, {name: {"bytes": 1, "sha256": ""}}, NOTES, contents=False)


@pytest.mark.skipif(os.name != "posix", reason="links are those of POSIX")
def test_check_files_follows_allowed_links(folder, tmp_path):
    files = read_manifest(folder, NOTES)[0]["files"]
    os.rename(folder / "below", tmp_path / "elsewhere")
    (folder / "below").symlink_to(tmp_path / "elsewhere")
    assert len(check_files(folder, files, NOTES, contents=True)) == 2
    with pytest.raises(ValueError, match=r"a file called 'below/b\.json'"):
        check_files(folder, files, Format(name="n", version=1, label="", hint="", links=False), contents=False)


def test_open_reports_damaged_files(folder):
    files = read_manifest(folder, NOTES)[0]["files"]
    (folder / "a.json").write_text('["b"]')
    check_files(folder, files, NOTES, contents=False)
    with pytest.raises(InputError, match=r"a\.json has changed since it was written"):
        check_files(folder, files, NOTES, contents=True)
    (folder / "a.json").write_text("[]")
    with pytest.raises(InputError, match=r"a\.json has 2 bytes, 5 were written\n.*write them again"):
        check_files(folder, files, NOTES, contents=False)


def test_lock_folder_allows_one_writer(folder):
    with lock_folder(folder):
        with pytest.raises(ResourceError, match="by this process already"), lock_folder(folder):
            raise AssertionError
        assert (folder / sealed_folder.WRITER).exists()
    with lock_folder(folder, "notes"):
        pass
    assert not (folder / sealed_folder.WRITER).exists()
