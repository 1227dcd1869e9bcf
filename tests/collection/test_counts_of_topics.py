"""One count of topics (leaves) and headings (nodes above them) in every command, file and page."""

import csv
import json

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from tests.collection.test_first_level import labelled_documents
from topiarist.cli.commands import app
from topiarist.collection.collection import Collection
from topiarist.collection.describe.collection_facts import load_facts
from topiarist.collection.describe.notebook_cards import collection_card, tree_card
from topiarist.web.http.server import explorer
from topiarist.web.report import report


def invoke(*arguments):
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """The folder of a collection, the output of ``grow``, and the numbers of its topics and headings."""
    folder = tmp_path_factory.mktemp("counts")
    documents = [{"id": one.id, "text": one.text, "title": one.title} for one in labelled_documents()]
    source, path = folder / "deep.jsonl", folder / "deep.topiary"
    source.write_text("\n".join(map(json.dumps, documents)), "utf-8")
    printed = invoke("grow", source, "-o", path, "--topics", "24")
    with Collection.open(path) as collection:
        tree = collection.outline.tree
        parents = set(tree.parents)
        n_topics = sum(node not in parents for node in range(len(tree)))
        return path, printed, n_topics, len(tree) - n_topics - 1


def find_count(text, topics, headings):
    return f"{topics} topics and {headings} heading" in text or f"{topics} topics under {headings} heading" in text


def test_topics_and_headings_have_one_count(grown):
    path, printed, topics, headings = grown
    assert headings > 1
    assert find_count(printed, topics, headings)
    assert f"{topics} topics · {headings} headings" in printed
    assert find_count(invoke("tree", path), topics, headings)
    body = json.loads(invoke("tree", path, "--json"))
    assert (body["leaves"], body["headings"], body["facts"]["topics"], body["facts"]["headings"]) == (
        topics, headings, topics, headings
    )  # fmt: skip
    assert f"{topics} topics · {headings} headings" in invoke("evaluate", path)
    body = json.loads(invoke("evaluate", path, "--json"))
    assert (body["n_leaves"], body["n_headings"]) == (topics, headings)
    with Collection.open(path) as collection:
        facts, tree = load_facts(collection), collection.tree
        assert (facts.topics, facts.headings) == (topics, headings)
        assert (tree.to_dict()["n_leaves"], tree.to_dict()["n_headings"]) == (topics, headings)
        assert f"{topics} topics, {headings} headings" in repr(tree)
        for card in (collection_card(collection), tree_card(tree)):
            assert f"topics: <b>{topics}</b>" in card
            assert f"headings: <b>{headings}</b>" in card


def test_topics_and_headings_have_one_count_in_files(grown, tmp_path):
    path, _, topics, headings = grown
    for name in ("tree.json", "topics.csv"):
        what = name.split(".")[0]
        written = json.loads(invoke("export", path, "-o", tmp_path / name, "--what", what, "--json"))
        assert (written["topics"], written["headings"]) == (topics, headings)
    with open(tmp_path / "topics.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    above = {row["parent"] for row in rows if row["parent"]}
    assert sum(row["id"] not in above for row in rows) == topics
    assert sum(bool(row["parent"]) and row["id"] in above for row in rows) == headings
    report(path, tmp_path / "report.html")
    assert find_count((tmp_path / "report.html").read_text("utf-8"), topics, headings)


def test_topics_and_headings_have_one_count_on_pages(grown):
    path, _, topics, headings = grown
    client = TestClient(explorer(str(path)), base_url="http://127.0.0.1")
    overview = client.get("/index.json").json()
    assert overview["topics"] == topics
    assert find_count(overview["sentence"], topics, headings)
    assert find_count(client.get("/model.json").json()["sentence"], topics, headings)
    assert client.get("/tree.json").json()["sentence"].startswith(f"{topics} topics under")
    closed = client.get("/index.json?view=icicle&detail=coarse").json()["shown"]
    assert sum(block["below"] or not block["topic"] for block in closed if block["level"]) <= topics
