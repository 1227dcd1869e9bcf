"""What documents can be grouped by can be learned from: on the command line, in Python and on the pages."""

import html
import json
import shlex

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from tests.grown import documents
from topiarist import Collection, Recipe
from topiarist.cli.commands import app
from topiarist.text.documents import Document
from topiarist.web.http.server import explorer

N_DOCS = 60


def grown(folder, **columns):
    """A collection whose documents have columns and no labels."""

    def cells(row):
        return tuple((name, f"{value}{row % 3}") for name, value in columns.items())

    every = documents()[:N_DOCS]
    some = [Document(one.id, one.text, one.title, columns=cells(row)) for row, one in enumerate(every)]
    Collection.grow(some, folder, Recipe(topics=2, headings=False)).close()
    return folder


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    return grown(tmp_path_factory.mktemp("one") / "notes.topiary", label="desk", place="room")


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    return grown(tmp_path_factory.mktemp("two") / "my notes.topiary", Category="desk", tags="room")


def run(*arguments, code=0):
    done = CliRunner().invoke(app, [*map(str, arguments)], env={"NO_COLOR": "1"})
    assert done.exit_code == code, f"{done.stdout}\n{done.stderr}"
    return done


def test_only_label_column_is_learned_from_and_said(one):
    said = run("learn", one).stdout
    assert said.startswith(
        "Labels are taken from the column label.\n3 categories, one a document, learned from 60 documents."
    )
    run("shape", one, "--undo")


def test_any_grouping_is_learned_from_by_its_name(one):
    assert "place" in run("groups", one).stdout
    learned = json.loads(run("learn", one, "--from-column", "Place", "--json").stdout)
    assert (learned["column"], learned["n_categories"], learned["n_labelled"]) == ("place", 3, N_DOCS)
    with Collection.open(one) as collection:
        assert collection.categories.names == ("room0", "room1", "room2")
        assert collection.learn(column="label").column == "label"
        collection.undo()
        collection.undo()
    wrong = run("learn", one, "--from-column", "plaec", code=2).stderr
    assert "there is no column 'plaec'; documents can be grouped by: label, place" in wrong
    run("learn", one, "--from-column", "place", "--labels", "labels.csv", code=2)


def test_several_label_columns_are_listed_with_commands(two):
    refused = run("learn", two, code=2).stderr
    assert "no document has labels, and 2 columns may hold them: Category (3 different), tags (3 different)" in refused
    command = next(line for line in refused.splitlines() if "Try: " in line).split("Try: Run ")[1].split(" or ")[0]
    typed = shlex.split(command)
    assert typed == ["topiarist", "learn", str(two), "--from-column", "Category"]
    run(*typed[1:])
    run("shape", two, "--undo")


def test_a_separator_divides_the_values_of_a_column(tmp_path):
    folder = grown(tmp_path / "parts.topiary", label="a;b")
    learned = json.loads(run("learn", folder, "--separator", ";", "--json").stdout)
    assert (learned["several"], learned["n_categories"]) == (True, 4)


def test_rare_labels_of_a_label_column_are_learned(tmp_path):
    some = documents()[:N_DOCS]
    rows = [Document(one.id, one.text, columns=(("labels", f"l{row % 20}"),)) for row, one in enumerate(some)]
    Collection.grow(rows, tmp_path / "rare.topiary", Recipe(topics=2, headings=False)).close()
    assert json.loads(run("learn", tmp_path / "rare.topiary", "--json").stdout)["column"] == "labels"


def test_judged_labels_do_not_hide_the_column(one):
    from topiarist.collection.classify.judgements import ACCEPT, Judgements

    with Collection.open(one) as collection:
        with collection.folder.writing() as generation:
            Judgements(generation.database).judge(0, ACCEPT, ("desk1",), expected=0)
        quality = collection.learn()
        assert (quality.column, quality.n_labelled) == ("label", N_DOCS)
        collection.undo()
        with collection.folder.writing() as generation:
            Judgements(generation.database).undo_last(0, expected=1)


@pytest.mark.parametrize("page", ["/categories", "/compare"])
def test_pages_list_label_columns_with_commands(two, page):
    client = TestClient(explorer(str(two)), base_url="http://127.0.0.1")
    body = client.get(f"{page}.json").json()
    assert body["sentence"] == "No document has a label."
    commands = [one["command"] for one in body["columns"]]
    assert [one["name"] for one in body["columns"]] == ["Category", "tags"]
    shown = html.unescape(client.get(page).text)
    assert all(command in shown for command in commands)
    assert f'href="{page}"' in client.get("/").text
    assert client.get(body["columns"][1]["address"]).status_code == 200
    run(*shlex.split(commands[1])[1:])
    run("shape", two, "--undo")
