"""A search is parsed once and asked once, whoever shows something of it."""

from collections import Counter

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from topiarist.app.cli.commands import app
from topiarist.app.explorer import addresses
from topiarist.app.explorer.web.server import explorer
from topiarist.collection.find.index.segments import Segment
from topiarist.store.fulltext import Index
from topiarist.text import query

QUERY = "court judge"


@pytest.fixture
def asked(monkeypatch):
    """How often the query is parsed, and how often each index is asked for it."""
    times = Counter()

    def count(owner, name, key):
        known = getattr(owner, name)

        def counted(*given, **options):
            times[key] += 1
            return known(*given, **options)

        monkeypatch.setattr(owner, name, counted)

    parse = query.parse

    def parsed(text, *given, **options):
        times["parsed"] += text == QUERY
        return parse(text, *given, **options)

    for module in (
        "app.explorer.query_limits",
        "app.explorer.pages.narrowing",
        "collection.find.search",
        "store.fulltext",
    ):
        monkeypatch.setattr(f"topiarist.{module}.parse", parsed)
    for name in ("ranked", "search", "rows"):
        count(Index, name, "by words")
    count(Segment, "by_meaning", "by meaning")
    return times


@pytest.mark.parametrize("by", ["words", "meaning", "both"])
def test_a_search_page_its_tree_and_its_files_ask_once(folder, asked, by):
    client = TestClient(explorer(folder), base_url="http://127.0.0.1")
    shown = client.get(addresses.search(QUERY, by=by))
    assert shown.status_code == 200
    once = {"parsed": 1, "by words" if by == "words" else "by meaning": 1}
    assert +asked == once
    page = client.get(addresses.as_json(addresses.search(QUERY, by=by, page=2))).json()
    assert page["paging"]["page"] == 2
    narrowed = client.get(addresses.as_json(page["branches"][0]["address"])).json()
    assert 0 < narrowed["total"] <= page["total"]
    assert client.get(page["exports"][0]["address"]).status_code == 200
    assert +asked == once


@pytest.mark.parametrize("by", ["words", "meaning", "both"])
def test_find_asks_once(folder, asked, by):
    done = CliRunner().invoke(app, ["find", folder, QUERY, "--by", by, "--json"])
    assert '"matching"' in done.stdout
    assert +asked == {"parsed": 1, "by words" if by == "words" else "by meaning": 1}
