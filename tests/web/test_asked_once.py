"""A request parses its query once, tokenises it once and ranks documents once."""

from collections import Counter

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from topiarist.cli.commands import app
from topiarist.collection.search import search
from topiarist.collection.search.index.kernel_scorer import KernelScorer
from topiarist.collection.search.index.segments import Segment
from topiarist.collection.search.words import word_scorer
from topiarist.storage import fulltext
from topiarist.storage.fulltext import Index
from topiarist.text import query
from topiarist.text.tokens import Tokenizer
from topiarist.web import addresses, narrowing, query_limits
from topiarist.web.http.server import explorer

QUERY = "court judge"
ONCE = {
    "words": {"parsed": 1, "tokenised": 2, "full text": 1, "words": 1},
    "meaning": {"parsed": 1, "tokenised": 2, "ranked": 1, "kernel": 1},
    "both": {"parsed": 1, "tokenised": 2, "ranked": 1, "kernel": 1, "words": 2},
}
"""``tokenised`` counts words, and ``words`` the passes over posting lists: for the query, and for added words."""


@pytest.fixture
def times(monkeypatch):
    """Numbers of parses, tokenised words of the query, and rankings."""
    times = Counter()

    def count(owner, name, key):
        known = getattr(owner, name)

        def counted(*given, **options):
            times[key] += 1
            return known(*given, **options)

        monkeypatch.setattr(owner, name, counted)

    parse, tokenise = query.parse, Tokenizer.__call__

    def parsed(text, *given, **options):
        times["parsed"] += text == QUERY
        return parse(text, *given, **options)

    def tokenised(self, text):
        times["tokenised"] += sum(word in QUERY.split() for word in text.split()) if len(text) <= len(QUERY) else 0
        return tokenise(self, text)

    for module in (query_limits, narrowing, search, fulltext):
        monkeypatch.setattr(module, "parse", parsed)
    monkeypatch.setattr(Tokenizer, "__call__", tokenised)
    count(Index, "mask_matches", "full text")
    count(Segment, "by_meaning", "kernel")
    count(word_scorer, "sum_words", "words")
    count(word_scorer.WordScorer, "score_rows", "words")
    count(KernelScorer, "score_all", "ranked")
    return times


@pytest.mark.parametrize("by", ["words", "meaning", "both"])
def test_search_page_tree_and_files_rank_once(folder, times, by):
    client = TestClient(explorer(folder), base_url="http://127.0.0.1")
    shown = client.get(addresses.search(QUERY, by=by))
    assert shown.status_code == 200
    assert +times == ONCE[by]
    page = client.get(addresses.as_json(addresses.search(QUERY, by=by, page=2))).json()
    assert page["paging"]["page"] == 2
    narrowed = client.get(addresses.as_json(page["branches"][0]["address"])).json()
    assert 0 < narrowed["total"] <= page["total"]
    assert client.get(page["exports"][0]["address"]).status_code == 200
    assert +times == ONCE[by]


@pytest.mark.parametrize("by", ["words", "meaning", "both"])
def test_find_ranks_once(folder, times, by):
    done = CliRunner().invoke(app, ["find", folder, QUERY, "--by", by, "--json"])
    assert '"matching"' in done.stdout
    assert +times == ONCE[by]
