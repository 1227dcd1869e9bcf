"""Searches that people keep: saved, asked again, listed, let go; in the browser, in exports, and after a new grow."""

import json

from starlette.testclient import TestClient
from typer.testing import CliRunner

from tests.grown import documents
from topiarist.app.cli.commands import app
from topiarist.app.explorer.web.server import explorer
from topiarist.collection import Collection, Recipe, SavedSearch, save_search, saved_searches


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
    typed("find", "--save", "x", code=2)
    typed("find", "stars", "--saved", "dark", code=2)
    typed("export", "-o", "searches.jsonl", "--what", "searches")
    rows = [json.loads(line) for line in (path.parent / "searches.jsonl").read_text().splitlines()]
    assert [(row["name"], row["matching"]) for row in rows] == [("bright", None), ("dark", first["total"])]
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
        assert [one.name for one in saved_searches(collection)] == ["secret", "stars"]
        collection.remove([some[0].id], forget=True)
        assert [one.name for one in saved_searches(collection)] == ["stars"]
    with Collection.grow(some, folder, recipe, force=True) as again:
        assert saved_searches(again) == (SavedSearch("stars", "stars", "words"),)
    assert CliRunner().invoke(app, ["find", str(folder), "--saved", "stars"]).exit_code in (0, 1)
