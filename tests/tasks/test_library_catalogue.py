"""A library files the catalogue of the next month: from raw CSV files to the documents that a search finds."""

import csv
import io
import json

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from tests.grown import documents
from topiarist import Collection
from topiarist.cli.commands import app
from topiarist.web.http.server import explorer

HEADER = ("Signatur", "Titel", "Inhalt", "Eingang", "Category")
N_OCTOBER, N_NOVEMBER = 80, 6
GROUPS = ("Physik", "Mathematik")


def catalogue(month):
    """A catalogue as a library system exports it: semicolons, German names of columns, Windows line ends."""
    some = documents()[:N_OCTOBER] if month == 10 else documents()[-N_NOVEMBER:]
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=";")
    writer.writerow(HEADER)
    for place, one in enumerate(some):
        group = GROUPS["math" in one.labels[0]]
        writer.writerow([f"{month}/{place:03}", one.title, one.text, f"{place % 9 + 1:02}.{month}.23", group])
    return file.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    for month in (10, 11):
        (folder / f"{month}.csv").write_text(catalogue(month), newline="")
    columns = ("--id-column", "Signatur", "--title-column", "Titel", "--text-column", "Inhalt", "--date-column",
               "Eingang", "--dates", "day-first")  # fmt: skip
    done = run("grow", folder / "10.csv", "-o", folder / "library.topiary", *columns, "--topics", 3, "--quiet")
    assert "years of two digits read as 1950 to 2049" in run("show", folder / "library.topiary").stdout, done
    return folder / "library.topiary"


def run(*arguments, code=0):
    done = CliRunner().invoke(app, [*map(str, arguments)], env={"NO_COLOR": "1", "TOPIARIST_NO_HEADINGS": "true"})
    assert done.exit_code == code, f"{done.stdout}\n{done.stderr}"
    return done


def find(folder, query):
    return {one["id"]: one for one in json.loads(run("find", folder, query, "-n", 100, "--json").stdout)["hits"]}


def test_learned_category_and_next_month_are_found(folder):
    client = TestClient(explorer(str(folder)), base_url="http://127.0.0.1")
    (offered,) = client.get("/categories.json").json()["columns"]
    assert offered["name"] == "Category"
    learned = run(*offered["command"].split()[1:]).stdout
    assert "Labels are taken from the column Category." in learned
    filed = json.loads(run("file", folder, folder.parent / "11.csv", "--add", "--json").stdout)["filed"]
    last = documents()[-N_NOVEMBER:]
    assert [(one["id"], one["title"]) for one in filed] == [
        (f"11/{place:03}", one.title) for place, one in enumerate(last)
    ]
    assert {label for one in filed for label in one["labels"]} <= {*GROUPS}
    mathematics = {f"11/{place:03}" for place, one in enumerate(last) if "math" in one.labels[0]}
    assert set(find(folder, "Category:Mathematik since:2023-11")) == mathematics
    assert set(find(folder, "date:2023-11-04")) == {"11/003"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"Inhalt": 1}', "no column Titel"),
        ('{"a": 1}', "no column Inhalt"),
        ('"x"', "expected a JSON object, found “x”"),
        ('{"Signatur": "1", "Titel": "t", "Inhalt": 1, "Eingang": ""}', "expected text in Inhalt, found a number"),
    ],
)
def test_rows_without_text_are_refused(folder, tmp_path, line, said):
    (tmp_path / "new.jsonl").write_text(f"{line}\n")
    with Collection.open(folder) as collection:
        before = len(collection)
    done = CliRunner().invoke(app, ["file", str(folder), str(tmp_path / "new.jsonl"), "--add"])
    assert done.exit_code in (2, 3)
    assert said in done.stderr
    with Collection.open(folder) as collection:
        assert len(collection) == before
