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
from topiarist.text.readers.file_systems import Brought, files_at, is_address, last_name, without_secret  # noqa: E402

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


def test_a_folder_elsewhere_is_read_as_one_here(pile, tmp_path):
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
def test_files_patterns_and_folders(pile, address, number):
    assert len(list(read(f"{ROOT}/{address}"))) == number


def test_patterns_of_what_to_read_go_by_the_path_below(pile):
    assert [one.id for one in read(ROOT, include="deep/*", exclude="*.gz")] == ["pile/deep/note.txt"]
    assert [one.id for one in read(ROOT, exclude="deep")] == ["d0", "d1", "d2"]


def test_what_parsers_read_can_be_opened_by_them(pile):
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


def test_one_file_at_a_time_is_here_and_none_afterwards(pile, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen = []
    for _ in read(f"{ROOT}/**/*.jsonl*"):
        (folder,) = tmp_path.glob("topiarist-*")
        seen.append(len(list(folder.iterdir())))
    assert seen == [1] * 5
    assert not list(tmp_path.iterdir())
    list(read(__file__))
    assert not list(tmp_path.iterdir())


def test_a_file_that_breaks_off_is_a_problem_and_not_a_smaller_result(pile, monkeypatch):
    info = type(pile).info
    longer = lambda self, path, **known: {**info(self, path, **known), "size": 10**6}  # noqa: E731
    monkeypatch.setattr(type(pile), "info", longer)
    reading = read([f"{ROOT}/a.jsonl", __file__])
    assert len(list(reading)) == 1
    assert reading.problems[0].reason.startswith("broke off after ")
    assert reading.counts.failed == 1


def test_a_file_that_vanishes_is_a_problem(pile):
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
def test_addresses_that_lead_nowhere_are_refused_at_once(pile, address, error, message):
    with pytest.raises(error, match=message):
        read(address)


def test_a_path_that_exists_is_no_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s3:").mkdir()
    (tmp_path / "s3:" / "x").write_text("here")
    assert not is_address("s3://x")
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
def test_secrets_are_not_shown(address, shown):
    assert without_secret(address) == shown


def test_what_a_library_says_of_an_address_is_told_without_its_secrets(pile, monkeypatch):
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


def test_a_name_with_signs_of_a_pattern_is_a_name_where_there_is_such_a_file(pile):
    pile.pipe("/pile/a[1].txt", b"in brackets")
    assert [one.text for one in read(f"{ROOT}/a[1].txt")] == ["in brackets"]


def test_an_address_on_this_machine_is_a_path(tmp_path):
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
def test_names_of_addresses(address, name):
    assert last_name(address) == name


def test_what_changes_elsewhere_is_known(pile):
    (file,) = files_at(f"{ROOT}/a.jsonl")
    before, size = file.stamp(), file.size
    assert file.stamp() == before
    pile.pipe("/pile/a.jsonl", b'{"text": "other"}')
    (file,) = files_at(f"{ROOT}/a.jsonl")
    assert file.stamp() != before
    assert file.size != size == 113


def test_a_file_of_which_only_the_size_is_known_may_have_changed(pile, monkeypatch):
    monkeypatch.setattr(type(pile), "info", lambda self, path, **_: {"name": path, "size": 7, "type": "file"})
    (file,) = files_at(f"{ROOT}/a.jsonl")
    assert file.size == 7
    assert file.stamp() == ""
    monkeypatch.setattr(type(pile), "info", lambda *_, **__: (_ for _ in ()).throw(TimeoutError("too late")))
    with pytest.raises(ResourceError, match=r"cannot read memory:///pile/a\.jsonl: too late"):
        file.stamp()


def test_nothing_is_brought_for_sources_that_are_here():
    with Brought([os.devnull]) as brought:
        assert brought.folders == []
