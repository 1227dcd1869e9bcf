"""One story: the terminal, the page of the model and problems.csv tell the same numbers, which lead to documents."""

import csv
import json
import shutil

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from tests.collection.test_languages import bilingual
from topiarist.cli.commands import app
from topiarist.collection.collection import Collection
from topiarist.collection.describe.account import build_account, write_problem_list
from topiarist.collection.grow.recipe import Recipe
from topiarist.text.documents import Document
from topiarist.web.http.server import explorer


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Documents of two languages, some without a date, with a footer or twice; and a file that cannot be read."""
    place = tmp_path_factory.mktemp("account")
    (place / "pile").mkdir()
    every = bilingual(40)
    with open(place / "pile" / "rows.jsonl", "w", encoding="utf-8") as file:
        for number, one in enumerate([*every, *every[:3]]):
            footer = "\nThis message is confidential and meant for nobody but its reader." if number % 3 == 0 else ""
            date = {} if number < 7 else {"date": f"2024-01-{number % 28 + 1:02d}"}
            file.write(json.dumps({"id": number, "text": f"{one.text}\nIts end.{footer}", **date}) + "\n")
        file.write(json.dumps({"id": "odd", "text": "12 34 xyzzy plugh"}) + "\n")
    (place / "pile" / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    done = CliRunner().invoke(
        app,
        ["grow", str(place / "pile"), "--topics", "3", "-o", str(place / "c.topiary")],
        env={"TOPIARIST_MAX_FAILURES": "50"},
    )
    assert done.exit_code == 0, done.stderr
    return place


def test_everybody_tells_the_same(place):
    folder = str(place / "c.topiary")
    with Collection.open(folder) as collection:
        account = build_account(collection)
    told = {one.what: one.number for one in account if one.what != "language"}
    assert told == {
        "documents": 124, "read": 124, "left_out": 1, "repeated": 123, "copies": 3, "undated": 8,
    }  # fmt: skip
    languages = {one.query: one.number for one in account if one.what == "language"}
    assert languages == {'language:"English"': 83, 'language:"German"': 40, "language:none": 1}
    shown = json.loads(CliRunner().invoke(app, ["show", folder, "--json"]).stdout)
    assert [(one["what"], one["number"], one["said"], one["query"]) for one in shown["account"]] == [
        (one.what, one.number, one.said, one.query) for one in account
    ]
    plain = CliRunner().invoke(app, ["show", folder]).stdout
    assert all(one.said in plain for one in account)
    with open(place / "c.topiary" / "problems.csv", encoding="utf-8", newline="") as file:
        rows = [row["reason"] for row in csv.DictReader(file) if row["source"] == "(collection)"]
    assert rows == [one.said for one in account]
    with TestClient(explorer(folder), base_url="http://127.0.0.1") as client:
        page = client.get("/model.json").json()
        assert [(one["what"], one["number"], one["said"]) for one in page["account"]] == [
            (one.what, one.number, one.said) for one in account
        ]
        assert all(one["address"] for one in page["account"])
        found = {one["said"]: client.get(one["address"].replace("/search?", "/search.json?"))
                 for one in page["account"] if one["address"].startswith("/search")}  # fmt: skip
        assert len(found) >= 3
        for one in page["account"]:
            if one["said"] in found:
                assert found[one["said"]].json()["total"] == one["number"], one
        number = page["lines"][0][1]
        assert client.get(page["line_searches"][0].replace("/search?", "/search.json?")).json()["total"] == number
        assert client.get("/model").status_code == 200


def test_the_table_of_problems_tells_of_the_collection_as_it_is(place, tmp_path):
    shutil.copytree(place / "c.topiary", tmp_path / "c.topiary")
    path = tmp_path / "c.topiary" / "problems.csv"

    def agrees(collection):
        with path.open(encoding="utf-8", newline="") as file:
            rows = [(row["source"], row["reason"]) for row in csv.DictReader(file)]
        account = [("(collection)", one.said) for one in build_account(collection)]
        assert rows[-len(account) :] == account
        assert sum(reason.endswith(", counted once") for _, reason in rows) == len(collection.copies)
        return rows

    with Collection.open(tmp_path / "c.topiary") as collection:
        before = agrees(collection)
        collection.add([Document("new", collection.documents.get(0).text)])
        assert ("new", "a copy of 0, counted once") in agrees(collection)
        collection.undo()
        assert agrees(collection) == before
        collection.remove(["8", "0"])
        assert "122 documents" in str(agrees(collection))
        collection.undo()
        assert agrees(collection) == before


def test_an_addition_begins_the_table_where_the_grow_had_nothing_to_tell(tmp_path):
    with Collection.grow(bilingual(40), tmp_path / "c.topiary", Recipe(topics=3)) as collection:
        path = tmp_path / "c.topiary" / "problems.csv"
        write_problem_list(collection)
        assert not path.exists()
        collection.add([Document("new", collection.documents.get(0).text)])
        assert path.read_text().splitlines()[1].startswith('new,"a copy of')
        collection.undo()
        assert not path.exists()


def test_documents_without_a_date_or_a_value_are_found(place):
    with Collection.open(place / "c.topiary") as collection:
        assert collection.search("date:none", 20).total == 8
        assert not collection.search("date:none", 20).remarks
        assert collection.search("-date:none", 20).total == 116
        assert collection.search("language:none", 20).total == 1
