"""Files at addresses: found through fsspec, brought here whole when their turn comes, and gone when they were read."""

import gzip
import io
import json
import os
import zipfile

import pytest

fsspec = pytest.importorskip("fsspec")

from topiarist.errors import ResourceError, UsageError  # noqa: E402
from topiarist.text.readers import read  # noqa: E402
from topiarist.text.readers.file_systems import LocalCopies, get_last_name, is_url, list_files, remove_secret  # noqa: E402

ROOT = "memory://pile"


@pytest.fixture
def pile():
    """Some files in fsspec's memory, which stands for any other system."""
    system = fsspec.filesystem("memory")
    put = lambda path, data: system.pipe(f"/pile/{path}", data)  # noqa: E731
    lines = [json.dumps({"id": f"d{number}", "text": f"text number {number}"}) for number in range(5)]
    put("a.jsonl", "\n".join(lines[:3]).encode())
    put("deep/b.jsonl.gz", gzip.compress("\n".join(lines[3:]).encode()))
    put("deep/note.txt", b"a plain note about trees")
    put("picture.png", b"\x89PNG")
    put("_SUCCESS", b"")
    put(".hidden/c.txt", b"nobody sees this")
    put("old.topiary/manifest.json", b'{"text": "a collection of ours"}')
    put("~$note.txt", b"open in an office program")
    yield system
    system.rm("/pile", recursive=True)


def test_remote_folder_reads_like_local_folder(pile, tmp_path):
    pile.get("/pile", str(tmp_path / "pile"), recursive=True)
    (tmp_path / "pile" / "_SUCCESS").unlink()
    far, near = read(ROOT), read(tmp_path / "pile")
    assert [one.text for one in far] == [one.text for one in near]
    assert [one.id for one in far] == ["d0", "d1", "d2", "d3", "d4", "pile/deep/note.txt"]
    assert [one.id for one in far] == [one.id for one in near]
    assert far.counts == near.counts
    assert [problem.source for problem in far.problems] == ["memory:///pile/picture.png"]


@pytest.mark.parametrize(
    ("address", "number"),
    [("a.jsonl", 3), ("*.jsonl", 3), ("**/*.jsonl*", 5), ("deep", 3), ("deep/note.txt", 1)],
)
def test_list_files_of_urls(pile, address, number):
    assert len(list(read(f"{ROOT}/{address}"))) == number


def test_selection_of_remote_files_by_path(pile):
    assert [one.id for one in read(ROOT, include="deep/*", exclude="*.gz")] == ["pile/deep/note.txt"]
    assert [one.id for one in read(ROOT, exclude="deep")] == ["d0", "d1", "d2"]


def test_parsers_open_downloaded_files(pile):
    """Their processes may open nothing but the sources: the folder of what was brought is among them."""
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    from pyarrow import parquet

    buffer = io.BytesIO()
    parquet.write_table(pa.table({"text": ["one two three", "four five six"]}), buffer)
    pile.pipe("/pile/table.parquet", buffer.getvalue())
    pile.pipe("/pile/page.html", b"<html><body><p>a page of words</p></body></html>")
    with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
        archive.writestr("inner.txt", "a text within")
    pile.pipe("/pile/all.zip", packed.getvalue())
    found = {one.text for name in ("table.parquet", "page.html", "all.zip") for one in read(f"{ROOT}/{name}")}
    assert found == {"one two three", "four five six", "a page of words", "a text within"}


def test_downloads_deleted_after_reading(pile, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen = []
    for _ in read(f"{ROOT}/**/*.jsonl*"):
        (folder,) = tmp_path.glob("topiarist-*")
        seen.append(len(list(folder.iterdir())))
    assert seen == [1] * 5
    assert not list(tmp_path.iterdir())
    list(read(__file__))
    assert not list(tmp_path.iterdir())


def test_truncated_download_becomes_problem(pile, monkeypatch):
    info = type(pile).info
    longer = lambda self, path, **known: {**info(self, path, **known), "size": 10**6}  # noqa: E731
    monkeypatch.setattr(type(pile), "info", longer)
    reading = read([f"{ROOT}/a.jsonl", __file__])
    assert len(list(reading)) == 1
    assert reading.problems[0].reason.startswith("broke off after ")
    assert reading.counts.failed == 1


def test_deleted_remote_file_becomes_problem(pile):
    reading = read(f"{ROOT}/**/*.jsonl*")
    reading.files()
    pile.rm("/pile/a.jsonl")
    assert [one.id for one in reading] == ["d3", "d4"]
    assert "cannot be read" in reading.problems[0].reason


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        (f"{ROOT}/other", UsageError, "no such file or folder: memory://pile/other"),
        (f"{ROOT}/*.csv", UsageError, "no file matches"),
        ("nothing-of-the-kind://x/y", UsageError, "Protocol not known"),
        ("s3://bucket/x", ResourceError, "s3:// cannot be read here"),
    ],
)
def test_missing_urls_rejected_early(pile, address, error, message):
    with pytest.raises(error, match=message):
        read(address)


def test_existing_path_not_url(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s3:").mkdir()
    (tmp_path / "s3:" / "x").write_text("here")
    assert not is_url("s3://x")
    assert [one.text for one in read("s3://x")] == ["here"]


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("ftp://me:word@host/x@y", "ftp://host/x@y"),
        ("https://u:p@ss@host/f", "https://host/f"),
        ("https://host/f.csv?X-Signature=abc&x=1", "https://host/f.csv"),
        ("cannot open 'https://u:p@host/f?sig=abc': 404", "cannot open 'https://host/f': 404"),
        ("s3://bucket/part-?.csv", "s3://bucket/part-?.csv"),
        ("plain/me:word@host", "plain/me:word@host"),
    ],
)
def test_remove_secret_of_urls(address, shown):
    assert remove_secret(address) == shown


def test_url_errors_hide_secrets(pile, monkeypatch):
    def refused(self, path, *_, **__):
        raise FileNotFoundError("https://me:word@host/pile/a.jsonl?sig=abc")

    reading = read([f"{ROOT}/a.jsonl", __file__])
    monkeypatch.setattr(type(pile), "open", refused)
    assert len(list(reading)) == 1
    assert reading.problems[0].reason == "cannot be read: https://host/pile/a.jsonl"

    def unanswered(*_):
        raise OSError("no answer from https://a:b@host")

    monkeypatch.setattr(type(pile), "isfile", unanswered)
    with pytest.raises(ResourceError, match=r"cannot read memory://pile/a\.jsonl: no answer from https://host"):
        read(f"{ROOT}/a.jsonl")


def test_existing_name_with_pattern_characters(pile):
    pile.pipe("/pile/a[1].txt", b"in brackets")
    assert [one.text for one in read(f"{ROOT}/a[1].txt")] == ["in brackets"]


def test_to_local_path_of_file_urls(tmp_path):
    (tmp_path / "a b.txt").write_text("here")
    assert [one.id for one in read((tmp_path / "a b.txt").as_uri())] == ["a b.txt"]
    (tmp_path / "c.csv").write_text("text\nthere\n")
    assert [one.id for one in read(f"file://{tmp_path}/*.csv")] == [f"{tmp_path.name}/c.csv:2"]


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("s3://bucket/parts/*.jsonl.gz", "parts"),
        ("s3://bucket/news.jsonl", "news.jsonl"),
        ("s3://bucket/", "bucket"),
        ("memory://*", ""),
        ("s3://key:secret@bucket/*.parquet", "bucket"),
        ("https://me:word@host", "host"),
    ],
)
def test_get_last_name_of_urls(address, name):
    assert get_last_name(address) == name


def test_stamp_changes_with_remote_file(pile):
    (file,) = list_files(f"{ROOT}/a.jsonl")
    before, size = file.stamp(), file.size
    assert file.stamp() == before
    pile.pipe("/pile/a.jsonl", b'{"text": "other"}')
    (file,) = list_files(f"{ROOT}/a.jsonl")
    assert file.stamp() != before
    assert file.size != size == 113


def test_stamp_empty_without_version(pile, monkeypatch):
    monkeypatch.setattr(type(pile), "info", lambda self, path, **_: {"name": path, "size": 7, "type": "file"})
    (file,) = list_files(f"{ROOT}/a.jsonl")
    assert file.size == 7
    assert file.stamp() == ""
    monkeypatch.setattr(type(pile), "info", lambda *_, **__: (_ for _ in ()).throw(TimeoutError("too late")))
    with pytest.raises(ResourceError, match=r"cannot read memory:///pile/a\.jsonl: too late"):
        file.stamp()


def test_local_sources_need_no_copies():
    with LocalCopies([os.devnull]) as brought:
        assert brought.folders == []
