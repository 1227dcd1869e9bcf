"""Columns and dates from the command line: said when they are read, asked for, shown, exported, left out."""

import csv
import io
import json

import pytest
from typer.testing import CliRunner

from tests.grown import documents
from topiarist.cli.commands import app


@pytest.fixture
def run(tmp_path, monkeypatch):
    """``run("grow", …)`` in a folder with a table of tickets."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)
    with open("tickets.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "body", "status", "price", "date"])
        for place, one in enumerate(documents()[:60]):
            text = one.text if place % 10 else "n/a"
            when = f"{place % 28 + 1:02}/0{place % 9 + 1}/2025" if place != 7 else "soon"
            writer.writerow([place, text, ("open", "shut")[place % 2], place * 1.5, when])

    def typed(*arguments, code=0, env=None):
        done = CliRunner().invoke(app, list(map(str, arguments)), env=env)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == code, f"{done.stdout}\n{done.stderr}"
        return done

    return typed


def test_a_table_from_reading_to_export(run):
    grown = run("grow", "tickets.csv", "--topics", 2)
    said = grown.stderr
    assert "Text from column body; id from id, date from date" in said
    assert "Columns: status (category, 2 different), price (number, 1.5 to 88.5)" in said
    assert "Dates of tickets.csv: day-first, decided by" in said
    assert "1 document has a date that could not be read (such as “soon”)" in said
    assert "6 empty (6 of them n/a, none, - or the like)" in said
    with open("tickets.topiary/problems.csv", newline="") as file:
        assert "not a date that can be read: “soon”" in file.read()

    shown = run("show", "tickets.topiary").stdout
    assert "Text from column body" in shown
    assert "price   number, 1.5 to 88.5" in shown
    assert json.loads(run("show", "tickets.topiary", "--json").stdout)["dates"]["unread"] == 1
    document = run("show", "tickets.topiary", "11", "-n", "1").stdout
    assert "2025-03-12" in document
    assert "Date as given: 12/03/2025" in document
    assert "status: shut" in document

    found = json.loads(run("find", "tickets.topiary", "status:open price:3..6 date:2025", "--json").stdout)
    assert {hit["id"] for hit in found["hits"]} == {"2", "4"}
    assert found["remarks"] == [
        "1 document has no date (including 1 with an unreadable date): no filter by date finds it."
    ]
    missed = run("find", "tickets.topiary", "statsu:open", "--by", "words", code=1)
    assert "Did you mean status:?" in missed.stderr

    table = list(csv.DictReader(io.StringIO(run("export", "tickets.topiary", "-o", "-").stdout)))
    assert list(table[0])[-6:] == ["tags", "read", "date_given", "passage_notes", "status", "price"]
    assert (table[0]["date"], table[0]["date_given"], table[0]["price"]) == ("2025-02-02", "02/02/2025", "1.5")


def test_columns_are_left_out_and_misspelt_ones_are_said(run):
    grown = run("grow", "tickets.csv", "--topics", 2, env={"TOPIARIST_COLUMNS": "price"})
    assert "Columns: price (number" in grown.stderr
    wrong = run("grow", "tickets.csv", "--topics", 2, "--force", code=2, env={"TOPIARIST_COLUMNS": "prise"})
    assert "no column prise was read; the columns are: status, price" in wrong.stderr
    assert 'columns = "price"' in wrong.stderr


def test_dates_that_nothing_decides_name_the_option(run, tmp_path):
    lines = [f"{one.id}\t{' '.join(one.text.split())}\t0{place % 9 + 1}/0{(place + 3) % 9 + 1}/2025"
             for place, one in enumerate(documents()[:40])]  # fmt: skip
    (tmp_path / "t.tsv").write_text("\n".join(["id\ttext\tdate", *lines]))
    wrong = run("grow", "t.tsv", "--topics", 2, code=2)
    assert "tells whether the day or the month comes first" in wrong.stderr
    assert "day-first or month-first (--dates)" in wrong.stderr
    (tmp_path / "topiarist.toml").write_text('[grow]\ndates = "month-first"\n')
    grown = run("grow", "t.tsv", "--topics", 2)
    assert "month-first, as was asked" in grown.stderr
