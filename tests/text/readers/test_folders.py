"""Which files are read, in which order, under which ids, and what is said when there are none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.text.readers.makers import pdf, reasons
from topiarist.errors import InputError, UsageError
from topiarist.text.readers import read


def fill(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {name}")
    return folder


def ids(*args, **options) -> list[str]:
    return [document.id for document in read(*args, **options)]


def test_folder_order_without_hidden_files(tmp_path: Path) -> None:
    folder = fill(
        tmp_path / "mail",
        "b.txt", "a/z.txt", "a/y.txt", "c.TXT", ".hidden.txt", ".git/x.txt", "~$a.docx", "old.topiary/x.csv",
    )  # fmt: skip
    assert ids(folder) == ["mail/a/y.txt", "mail/a/z.txt", "mail/b.txt", "mail/c.TXT"]


def test_ids_independent_of_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fill(tmp_path / "mail", "a/y.txt")
    monkeypatch.chdir(tmp_path)
    assert ids("./mail") == ids(folder) == ["mail/a/y.txt"]
    (document,) = read("./mail")
    assert document.source == "./mail/a/y.txt"
    monkeypatch.chdir(folder)
    assert ids(".") == ["mail/a/y.txt"]


def test_sources_read_once_in_order(tmp_path: Path) -> None:
    fill(tmp_path, "b/x.txt", "a/x.txt", "c.txt")
    assert ids([tmp_path / "b", tmp_path / "c.txt", str(tmp_path / "a"), tmp_path / "c.txt"]) == [
        "b/x.txt", "c.txt", "a/x.txt",
    ]  # fmt: skip


def test_equal_names_in_two_sources(tmp_path: Path) -> None:
    fill(tmp_path, "one/mail/x.txt", "two/mail/x.txt")
    assert ids([tmp_path / "one/mail", tmp_path / "two/mail"]) == ["mail/x.txt", "mail/x.txt#2"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"include": "*.MD"}, ["m/b.md", "m/sub/d.md"]),
        ({"include": ["*.md", "c.*"]}, ["m/b.md", "m/c.txt", "m/sub/d.md"]),
        ({"include": "sub/*"}, ["m/sub/d.md", "m/sub/e.txt"]),
        ({"exclude": "sub"}, ["m/b.md", "m/c.txt"]),
        ({"exclude": ["*.md"]}, ["m/c.txt", "m/sub/e.txt"]),
        ({"include": "*.md", "exclude": "sub/*"}, ["m/b.md"]),
        ({"limit": 2}, ["m/b.md", "m/c.txt"]),
        ({"include": "*.log"}, ["m/a.log"]),  # a suffix without a reader, asked for by name: plain text
        ({"include": ["a.*", "*.txt"]}, ["m/c.txt", "m/sub/e.txt"]),  # not asked for by its suffix
    ],
)
def test_selection(tmp_path: Path, options: dict, expected: list[str]) -> None:
    folder = fill(tmp_path / "m", "a.log", "b.md", "c.txt", "sub/d.md", "sub/e.txt")
    assert ids(folder, **options) == expected


def test_named_file_with_unknown_suffix_read(tmp_path: Path) -> None:
    fill(tmp_path, "notes.log", "README")
    assert ids([tmp_path / "notes.log", tmp_path / "README"], include="*.pdf") == ["notes.log", "README"]


def test_links_followed_on_request(tmp_path: Path) -> None:
    folder = fill(tmp_path / "m", "a.txt", "sub/b.txt")
    fill(tmp_path / "other", "c.txt")
    (folder / "file.txt").symlink_to(tmp_path / "other" / "c.txt")
    (folder / "again.txt").symlink_to(folder / "a.txt")
    (folder / "inside").symlink_to(folder / "sub")
    (folder / "sub" / "loop").symlink_to(folder)
    (folder / "outside").symlink_to(tmp_path / "other")
    (folder / "nowhere.txt").symlink_to(tmp_path / "gone")
    reading = read(folder)
    assert [d.id for d in reading] == ["m/a.txt", "m/sub/b.txt"]  # what lies within is read at its own place
    assert reasons(reading) == [
        "file.txt: a link to a file elsewhere; set follow-links to follow links",
        "nowhere.txt: a link to nothing",
        "outside: a link to a folder elsewhere; set follow-links to follow links",
    ]
    assert ids(tmp_path / "m" / "file.txt") == ["file.txt"]  # who names it means it
    assert ids(folder, follow_links=True) == [
        "m/a.txt",
        "m/again.txt",
        "m/file.txt",
        "m/inside/b.txt",
        "m/outside/c.txt",
    ]


def test_pipes_skipped(tmp_path: Path) -> None:
    folder = fill(tmp_path / "m", "a.txt")
    os.mkfifo(folder / "b.txt")
    reading = read([folder, folder / "b.txt"])
    assert len(list(reading)) == 1
    assert reasons(reading) == [
        "b.txt: not a regular file",
        "b.txt: not a regular file; pipe JSON lines to - instead",
    ]


def test_deep_folder_read(tmp_path: Path) -> None:
    # Deeper than Python calls can nest; made and removed step by step, because the library's helpers recurse.
    folders = [f"{tmp_path}/m" + "/d" * depth for depth in range(1200)]
    for folder in folders:
        os.mkdir(folder)
    name = f"{folders[-1]}/a.txt"
    try:
        with open(name, "w") as stream:
            stream.write("deep")
        assert [document.text for document in read(tmp_path / "m")] == ["deep"]
    finally:
        os.unlink(name)
        for folder in reversed(folders):
            os.rmdir(folder)


def test_files_lists_without_reading(tmp_path: Path) -> None:
    folder = fill(tmp_path / "m", "a.txt", "b.sav")
    first, second = read(folder).files()
    assert (first.name, first.kind is None) == (str(folder / "a.txt"), False)
    assert second.kind is None


def test_files_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fill(tmp_path / "m", "a.txt", "deep/b.txt", "c.sav")
    scanned: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda name: scanned.append(str(name)) or scandir(name))
    reading = read(folder)
    assert len(reading.files()) == len(reading.files()) == 3
    assert [document.id for document in reading] == [document.id for document in reading] == ["m/a.txt", "m/deep/b.txt"]
    assert scanned == [str(folder), str(folder / "deep")]
    empty = read(fill(tmp_path / "e", "d.sav"))
    empty.files()
    with pytest.raises(InputError, match=r"in 1 folder; found 1 \.sav"):
        list(empty)


def test_deleted_and_unreadable_files_become_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fill(tmp_path / "m", "a.txt", "b.txt", "c.csv", "d.txt")
    pdf(folder / "e.pdf", "page")

    import io

    true_open = io.FileIO

    def open_or_deny(path, *args):
        if str(path).endswith("b.txt"):
            raise PermissionError(13, "Permission denied", path)
        return true_open(path, *args)

    monkeypatch.setattr("topiarist.text.readers.lines.io.FileIO", open_or_deny)
    reading = read(folder)
    stream = iter(reading)
    assert next(stream).id == "m/a.txt"
    (folder / "c.csv").unlink()
    assert [document.id for document in stream] == ["m/d.txt", "m/e.pdf"]
    assert reasons(reading) == ["b.txt: permission denied", "c.csv: vanished while reading"]


def deny(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Root may list any folder, so the refusal is played."""
    true_scandir = os.scandir

    def scandir(path):
        if os.path.samefile(path, folder):
            raise PermissionError(13, "Permission denied", path)
        return true_scandir(path)

    monkeypatch.setattr(os, "scandir", scandir)


def test_unreadable_folder_among_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fill(tmp_path / "m", "a.txt", "sub/b.txt")
    deny(monkeypatch, folder / "sub")
    reading = read(folder)
    assert len(list(reading)) == 1
    assert reading.counts.failed == 1
    assert reasons(reading) == ["sub: permission denied"]


def test_unreadable_folder_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "mail", "a.txt")
    monkeypatch.chdir(tmp_path)
    deny(monkeypatch, tmp_path / "mail")
    with pytest.raises(UsageError) as caught:
        list(read("./mail"))
    assert caught.value.message == "cannot open the folder ./mail: permission denied"


def test_empty_reading_names_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "mail", *(f"{folder}{n}.sav" for folder in ("", "a/", "b/") for n in range(4)))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        list(read("./mail"))
    assert str(caught.value) == (
        "nothing to read in ./mail\n"
        "  Looked for text, web pages, PDF, office files, books, mail, tables and archives in 3 folders; "
        "found 12 .sav files.\n"
        "  Try: Save them as CSV, or name the files with --include '*.log'."
    )


@pytest.mark.parametrize(
    ("names", "options", "found", "hint"),
    [
        ((), {}, "in 1 folder; found no files.", "Choose another folder."),
        (
            ("a.dat", "b.dat", "c.sav", "README"), {},
            "in 1 folder; found 2 .dat files, 1 suffixless file, 1 .sav file.",
            "Name the files with --include '*.dat', if they hold plain text.",
        ),
        (
            ("a.txt", "b.txt"), {"include": "*.pdf"},
            "in 1 folder; found 2 excluded by --include and --exclude.",
            "Change the patterns of --include and --exclude.",
        ),
    ],
)  # fmt: skip
def test_empty_reading_messages(tmp_path: Path, names, options, found: str, hint: str) -> None:
    (tmp_path / "m").mkdir()
    with pytest.raises(InputError) as caught:
        list(read(fill(tmp_path / "m", *names), **options))
    assert caught.value.message.endswith(found)
    assert caught.value.hint == hint


def test_named_file_of_unknown_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sheet.sav").write_bytes(bytes(2000))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        InputError, match=r"nothing to read in sheet\.sav\n  Looked for .* archives; found 1 \.sav file\."
    ):
        list(read("sheet.sav"))


def test_no_usable_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail" / "a.sav").write_text("x")
    (tmp_path / "mail" / "b.txt").write_text(" \n")
    (tmp_path / "mail" / "c.pdf").write_text("rubbish")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        list(read("mail"))
    assert caught.value.message == (
        "no usable text in mail\n"
        "  3 files: 0 read · 1 empty · 1 not a known type · 1 failed. The first: mail/b.txt: no text"
    )


@pytest.mark.parametrize(
    ("source", "message", "hint"),
    [
        ("mial", "no such file or folder: mial", "Use mail."),
        ("zzz", "no such file or folder: zzz", "Check the spelling, or pass the full path."),
        ("no/where/a.txt", "no such file or folder: no/where/a.txt",
         "Check the spelling: no/where does not exist or cannot be opened."),
        ("dangling", "dangling is a link to nothing", "Name an existing file or folder."),
    ],
)  # fmt: skip
def test_missing_path_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, message: str, hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mail").mkdir()
    (tmp_path / "dangling").symlink_to("gone")
    with pytest.raises(UsageError) as caught:
        read(source)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_read_rejects_invalid_arguments(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected at least one source"):
        read([])
    with pytest.raises(UsageError, match="limit must be at least 1, got 0"):
        read(tmp_path, limit=0)
