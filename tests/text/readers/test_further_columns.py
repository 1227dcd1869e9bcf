"""What is known of a document beside its text: cells of tables, attributes, header fields; missing ones left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.text.readers.makers import only, reasons
from topiarist.errors import UsageError
from topiarist.text.readers import Columns, read
from topiarist.text.spelling import find_likeliest_name

MAIL = b"""From: =?utf-8?q?Zo=C3=AB?= Smith <zoe@example.org>
To: Ann <ann@example.org>, bob@example.org
Cc: list@example.org
Subject: The printer
Date: Wed, 22 Jan 2025 13:45:00 +0100
List-Id: <printers.example.org>

It is on fire.
"""


def test_further_cells_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,body,status,price,notes,date\n7,The printer is on fire,open,12.50,n/a,22/01/2025\n")
    reading = read(path)
    document = only(reading)
    assert document.columns == (("status", "open"), ("price", "12.50"))
    assert (document.date, document.given_date) == ("22/01/2025", "")  # one date alone does not decide
    (chosen,) = reading.chosen
    assert (chosen.text, chosen.id, chosen.date, chosen.title) == ("body", "id", "date", "")


def test_attributes_of_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    body = {"text": "The printer", "tags": ["a", "b"], "author": {"name": "Zoë", "age": 7}, "done": True, "gone": None}
    path.write_text(json.dumps(body))
    assert only(read(path)).columns == (
        ("tags", "a"), ("tags", "b"), ("author.name", "Zoë"), ("author.age", "7"), ("done", "true")
    )  # fmt: skip


def test_fields_of_the_header_of_a_mail(tmp_path: Path) -> None:
    path = tmp_path / "one.eml"
    path.write_bytes(MAIL)
    document = only(read(path))
    assert document.columns == (
        ("from", "Zoë Smith <zoe@example.org>"), ("to", "Ann <ann@example.org>"), ("to", "bob@example.org"),
        ("cc", "list@example.org"), ("subject", "The printer"), ("list-id", "<printers.example.org>"),
    )  # fmt: skip
    assert (document.date, document.given_date) == ("2025-01-22T13:45:00+01:00", "Wed, 22 Jan 2025 13:45:00 +0100")


def test_missing_value_words_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("text\nThe printer is on fire\nn/a\nNone\n-\nnull\nnone of them works\n")
    reading = read(path)
    assert [document.text for document in reading] == ["The printer is on fire", "none of them works"]
    assert (reading.counts.empty, reading.counts.no_answer) == (4, 4)
    assert "4 empty (4 of them n/a, none, - or the like)" in str(reading.counts)
    assert reasons(reading)[0] == "t.csv:3: no answer: “n/a”"


def test_columns_of_one_row_limited(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    deep: object = "x"
    for _ in range(50):
        deep = {"a": deep}
    body = {"text": "The printer", "deep": deep, "long": "y" * 10_000, **{f"k{n}": "v" for n in range(5_000)}}
    path.write_text(json.dumps(body))
    columns = only(read(path)).columns
    assert len(columns) == 1_000
    assert max(len(value) for _, value in columns) == 1_001


@pytest.mark.parametrize(
    ("asked", "meant"), [("bdoy", "body"), ("msg", "message"), ("Titel", "title"), ("descr", "description"), ("qq", "")]
)
def test_misspelt_column_suggests_nearest(asked: str, meant: str) -> None:
    assert find_likeliest_name(asked, ["id", "img", "title", "body", "message", "description"]) == meant


def test_misspelt_column_hint(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,img,message\n1,2,three\n")
    with pytest.raises(UsageError) as told:
        read(path, Columns(text="msg"))
    assert told.value.hint == "Use --text-column message."
