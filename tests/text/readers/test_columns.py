"""Which column is the text, and the words of the errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from topiarist.errors import UsageError
from topiarist.text.readers import Columns, read


def tickets(folder: Path, header: str, *cells: str, name: str = "tickets.csv") -> Path:
    path = folder / name
    path.write_text(f"{header}\n{','.join(cells)}\n")
    return path


LONG = "x" * 412


def test_unclear_text_column_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tickets(tmp_path, "id,opened,summary,description,state", "1", "2020", "short", LONG, "open")
    with pytest.raises(UsageError) as caught:
        read("tickets.csv")
    assert str(caught.value) == (
        "no column is known to hold the text; tickets.csv has: id, opened, summary, description, state\n"
        "  Try: Choose the column of the text, such as --text-column description (412 characters on average)."
    )


@pytest.mark.parametrize(
    ("header", "cells", "text"),
    [
        ("summary,Text", ("long " * 50, "t"), "t"),  # a sure name wins over length
        ("content,body", ("c", "b"), "b"),
        ("title,abstract", ("t", "a"), "a"),
        ("name,description", ("n", "d"), "d"),
        ("remark", ("r",), "r"),  # the only column
        ("a,b,c", ("x", LONG, "yy"), LONG),  # clearly the longest
        ("label,text", ("l", "t"), "t"),
    ],
)
def test_choose_columns_by_names(tmp_path: Path, header: str, cells: tuple[str, ...], text: str) -> None:
    (document,) = read(tickets(tmp_path, header, *cells))
    assert document.text == text


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("a,b", ("x" * 100, "y" * 90)),  # two long ones
        ("a,b", ("short", "er")),  # no long one
        ("abstract,summary", (LONG, "s")),  # two likely names
    ],
)
def test_choose_columns_without_candidate(tmp_path: Path, header: str, cells: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="known to hold the text"):
        read(tickets(tmp_path, header, *cells))


def test_choose_columns_skips_columns_with_roles(tmp_path: Path) -> None:
    path = tickets(tmp_path, "body,remark", "b", LONG)
    (document,) = read(path, Columns(title="body"))
    assert (document.title, document.text) == ("b", LONG)


def test_missing_column_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tickets(tmp_path, "id,opened,summary,description,state,owner,queue", *"1234567")
    with pytest.raises(UsageError) as caught:
        read("tickets.csv", Columns(text="descripton"))
    assert str(caught.value) == (
        "no column descripton in tickets.csv; it has: id, opened, summary, description, state and 2 more\n"
        "  Try: Use --text-column description."
    )
    with pytest.raises(UsageError, match="Try: Use --label-column queue"):
        read("tickets.csv", Columns(text="description", label="Queue"))


@pytest.mark.parametrize("role", ["id", "title", "date", "label"])
def test_none_disables_columns(tmp_path: Path, role: str) -> None:
    path = tickets(tmp_path, "id,title,date,text", "7", "Fire", "2014-03-05", LONG)
    with pytest.raises(UsageError, match=f"or --{role}-column none for no {role}s"):
        read(path, Columns(**{role: "nothing like it"}))
    (document,) = read(path, Columns(**{role: "none"}))
    (empty,) = read(path, Columns(**{role: ""}))
    assert document == empty


def test_column_named_none(tmp_path: Path) -> None:
    (document,) = read(tickets(tmp_path, "none,text", "red", LONG), Columns(label="none"))
    assert document.labels == ("red",)
    with pytest.raises(UsageError, match="no column none in"):
        read(tickets(tmp_path, "id,text", "7", LONG), Columns(text="none"))


def test_unclear_table_in_folder_skipped(tmp_path: Path) -> None:
    path = tickets(tmp_path, "a,b", "x", "y")
    (tmp_path / "z.txt").write_text("text")
    reading = read(tmp_path)
    assert [document.text for document in reading] == ["text"]
    assert [problem.reason for problem in reading.problems] == [
        f"no column is known to hold the text; {path} has: a, b"
    ]


def test_unclear_table_alone_raises_error(tmp_path: Path) -> None:
    tickets(tmp_path, "a,b", "x", "y")
    with pytest.raises(UsageError, match="known to hold the text"):
        list(read(tmp_path))


def test_text_column_required(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the text requires a column"):
        read(tickets(tmp_path, "a,b", "x", "y"), Columns(text=""))


def test_repeated_subject_is_no_title(tmp_path: Path) -> None:
    path = tmp_path / "books.csv"
    path.write_text("text,subject\n" + "".join(f"book {row},{'law' if row % 2 else 'art'}\n" for row in range(12)))
    reading = read(path)
    assert [one.columns for one in reading][:2] == [(("subject", "art"),), (("subject", "law"),)]
    (table,) = reading.chosen
    assert table.title == ""
    path.write_text("text,subject\nbook,law\n")  # a later table is too short to decide
    assert [one.title for one in read(path, Columns(preferred=(table,)))] == ["book"]
    assert [one.title for one in read(path)] == ["law"]
