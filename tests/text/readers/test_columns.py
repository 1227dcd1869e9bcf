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


def test_the_message_when_the_text_is_not_clear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tickets(tmp_path, "id,opened,summary,description,state", "1", "2020", "short", LONG, "open")
    with pytest.raises(UsageError) as caught:
        read("tickets.csv")
    assert str(caught.value) == (
        "which column holds the text? tickets.csv has: id, opened, summary, description, state\n"
        "  Try: --text-column description        (longest text: description, 412 characters on average)"
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
def test_the_choice(tmp_path: Path, header: str, cells: tuple[str, ...], text: str) -> None:
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
def test_no_choice(tmp_path: Path, header: str, cells: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="which column holds the text"):
        read(tickets(tmp_path, header, *cells))


def test_a_column_given_another_role_is_not_the_text(tmp_path: Path) -> None:
    path = tickets(tmp_path, "body,remark", "b", LONG)
    (document,) = read(path, Columns(title="body"))
    assert (document.title, document.text) == ("b", LONG)


def test_a_column_that_does_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tickets(tmp_path, "id,opened,summary,description,state,owner,queue", *"1234567")
    with pytest.raises(UsageError) as caught:
        read("tickets.csv", Columns(text="descripton"))
    assert str(caught.value) == (
        "no column descripton in tickets.csv; it has: id, opened, summary, description, state and 2 more\n"
        "  Try: --text-column description"
    )
    with pytest.raises(UsageError, match="Try: --label-column queue"):
        read("tickets.csv", Columns(text="description", label="Queue"))


def test_in_a_folder_an_unclear_table_does_not_stop_the_rest(tmp_path: Path) -> None:
    path = tickets(tmp_path, "a,b", "x", "y")
    (tmp_path / "z.txt").write_text("text")
    reading = read(tmp_path)
    assert [document.text for document in reading] == ["text"]
    assert [problem.reason for problem in reading.problems] == [f"which column holds the text? {path} has: a, b"]


def test_in_a_folder_with_nothing_else_it_is_the_error(tmp_path: Path) -> None:
    tickets(tmp_path, "a,b", "x", "y")
    with pytest.raises(UsageError, match="which column holds the text"):
        list(read(tmp_path))


def test_the_text_cannot_be_declined(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the text column cannot be left out"):
        read(tickets(tmp_path, "a,b", "x", "y"), Columns(text=""))
