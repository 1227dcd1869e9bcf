"""Searches that people keep: saved, asked again, listed, let go; in the browser, in exports, and after a new grow."""

import json

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from tests.grown import NoteCollector, documents
from topiarist.cli.commands import app
from topiarist.collection.collection import Collection
from topiarist.collection.grow.pipeline import grow_collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.grow.state import GrowOptions
from topiarist.collection.search.saved_searches import SavedSearch, delete_search, list_saved_searches, save_search
from topiarist.errors import UsageError
from topiarist.storage import facts
from topiarist.storage.review_table import ReviewTable
from topiarist.web.http.server import explorer


def test_a_search_is_saved_asked_again_listed_and_deleted(typed, path):
    first = typed("find", '"dark matter"', "--by", "words", "--save", "dark", "--json")
    assert typed("find", "--saved", "Dark", "--json")["hits"] == first["hits"]
    typed("find", "stars", "--save", "bright", "--topic", 1)
    assert typed("find", "--list-saved", "--json")["saved"] == [
        {"name": "bright", "query": "stars", "by": "both", "topic": "1"},
        {"name": "dark", "query": '"dark matter"', "by": "words", "topic": ""},
    ]
    assert '"dark matter"' in typed("find", "--list-saved").stdout
    assert "in place of the one before" in typed("find", "galaxies", "--save", "bright").stderr
    assert "dark" in typed("find", "--saved", "drak", code=2).stderr
    stars = typed("find", "--saved", "bright", "--json")["total"]
    typed("find", "--save", "x", code=2)
    typed("find", "stars", "--saved", "dark", code=2)
    typed("export", "-o", "searches.jsonl", "--what", "searches")
    rows = [json.loads(line) for line in (path.parent / "searches.jsonl").read_text().splitlines()]
    assert [(row["name"], row["matching"]) for row in rows] == [("bright", stars), ("dark", first["total"])]
    with TestClient(explorer(str(path)), base_url="http://127.0.0.1") as client:
        page = client.get("/search.json?q=stars").json()
        assert [one["name"] for one in page["saved"]] == ["bright", "dark"]
        assert client.get(page["saved"][1]["address"].replace("?", ".json?", 1)).json()["total"] == first["total"]
        assert "Saved searches" in client.get("/search?q=").text
    typed("find", "--delete-saved", "dark")
    assert [one["name"] for one in typed("find", "--list-saved", "--json")["saved"]] == ["bright"]
    typed("find", "--delete-saved", "dark", code=2)


def test_saved_searches_survive_a_new_grow_and_a_removal_but_not_forgetting_what_they_quote(tmp_path):
    some, folder, recipe = documents()[:60], tmp_path / "c.topiary", Recipe(topics=2, headings=False)
    with Collection.grow(some, folder, recipe) as collection:
        quoted = " ".join(some[0].text.split()[:6])
        save_search(collection, SavedSearch("stars", "stars", "words"))
        save_search(collection, SavedSearch("secret", f'"{quoted}"', "words"))
        collection.remove([some[1].id])
        assert [one.name for one in list_saved_searches(collection)] == ["secret", "stars"]
        collection.remove([some[0].id], forget=True)
        assert [one.name for one in list_saved_searches(collection)] == ["stars"]
    with Collection.grow(some, folder, recipe, force=True) as again:
        assert list_saved_searches(again) == (SavedSearch("stars", "stars", "words"),)
    assert CliRunner().invoke(app, ["find", str(folder), "--saved", "stars"]).exit_code in (0, 1)


def test_saved_searches_keep_to_the_topic_that_is_the_same_in_a_new_tree_or_say_that_it_is_gone(tmp_path):
    some, folder, recipe = documents()[:80], tmp_path / "c.topiary", Recipe(topics=3, headings=False)
    with Collection.grow(some, folder, recipe) as collection:
        topics = [collection.outline.topics[leaf] for leaf in collection.outline.tree.leaves]
        collection.shape([f"merge {topics[0]} {topics[1]}"])  # other numbers than a tree that is grown anew
        kept = collection.outline.topics[collection.outline.tree.leaves[0]]
        save_search(collection, SavedSearch("here", "model", "words", str(kept)))
        save_search(collection, SavedSearch("gone", "model", "words", str(kept)))
        save_search(collection, SavedSearch("inside", f"model topic:{kept} -topic:977", "words"))
        with pytest.raises(UsageError):
            save_search(collection, SavedSearch("nowhere", "model", "words", "977"))
        before = collection.search("model", 100, by="words", topic=kept).total
        with collection.folder.writing() as generation:  # as if the tree had been edited since
            found = [one.to_dict() for one in list_saved_searches(collection)]
            facts.change_settings(generation.database, {"saved_searches": [{**found[0], "topic": "977"}, *found[1:]]})
    asked = CliRunner().invoke(app, ["find", str(folder), "--saved", "gone"])
    assert "topic 977 no longer exists: all topics" in asked.stderr
    collector = NoteCollector()
    with grow_collection(some, folder, recipe, GrowOptions(reporter=collector), force=True) as again:
        gone, here, inside = list_saved_searches(again)
        assert (gone.topic, gone.lost) == ("", "977")
        if here.topic:
            assert again.search("model", 100, by="words", topic=here.topic).total >= before / 2
            assert (inside.query, inside.lost) == (f"model topic:{here.topic}", "977")
        else:
            assert here.lost
            assert inside.query == "model"
        assert any(one.startswith("Asked everywhere now, for the topic") for one in collector.notes)


def test_undo_of_a_removal_keeps_searches_and_reviews_of_since(path):
    with Collection.open(path) as collection:
        ids = collection.documents.ids()
        save_search(collection, SavedSearch("old", "stars"))
        collection.remove(ids[:2])
        save_search(collection, SavedSearch("new", "galaxies"))
        delete_search(collection, "old")
        with collection.folder.writing() as generation:
            table = ReviewTable(generation.database)
            table.begin("wanted", 7)
            table.append("wanted", 5, "yes", "first", 498)
        collection.undo()
        assert [one.name for one in list_saved_searches(collection)] == ["new"]
        (entry,) = ReviewTable(collection.generation.database).entries("wanted")
        assert collection.documents.get(entry.row).id == ids[7]
