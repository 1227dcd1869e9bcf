"""Ways to narrow a search: each number is what the search behind it finds, and each condition can be taken away."""

import html
import re
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from starlette.testclient import TestClient

from tests.web.conftest import documents
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.storage.fulltext import Index
from topiarist.storage.marks import Marks
from topiarist.text.dates import get_next_date
from topiarist.text.documents import Document
from topiarist.text.query import Filter, format_phrase, parse
from topiarist.web import addresses, narrowing, query_limits
from topiarist.web.http.server import explorer
from topiarist.web.narrowing import SearchAddress
from topiarist.web.pages import search
from topiarist.web.view import View

ODD = 'say "no", or\u2028not'


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A collection of several kinds of files, with tags, and a label that no query can say."""
    path = tmp_path_factory.mktemp("narrowed") / "mixed.topiary"
    kinds = ("a.pdf", "b.html", "c.html.gz", "folder.d/none")
    found = [
        Document(one.id, one.text, one.title, (ODD,) if number % 50 == 0 else one.labels, kinds[number % 4], one.date)
        for number, one in enumerate(documents(240))
    ]
    with Collection.grow(found, path, Recipe(topics=4)) as collection, collection.folder.writing() as generation:
        marks = Marks(generation.database)
        marks.tag(range(0, 240, 3), "to do")
        marks.tag(range(10), "seen")
    return TestClient(explorer(str(path)), base_url="http://127.0.0.1")


def at(text):
    return SearchAddress(parse(text), text)


def asked(client, address):
    path, _, query = address.partition("?")
    return client.get(f"{path}.json?{query}").json()


@pytest.mark.parametrize("by", ["words", "meaning"])
@pytest.mark.parametrize("query", ["court", "court -goal", "type:html"])
def test_every_way_leaves_as_many_documents_as_it_says(client, query, by):
    page = asked(client, addresses.search(query, by=by))
    kinds = {one["kind"] for one in page["narrow"]}
    assert {"year", "tag", "label"} <= kinds
    assert ("type" in kinds) == (query != "type:html")
    for kind in page["narrow"]:
        for way in kind["ways"]:
            narrowed = asked(client, way["address"])
            if by == "words" or not parse(query).terms:
                assert narrowed["total"] == way["documents"], way
            else:
                assert narrowed["total"] >= way["documents"]  # others are near enough when those are gone
            chips = narrowed["chips"]
            assert asked(client, chips[-1]["address"])["total"] == page["total"]


def test_large_letters_are_small_ones_in_a_query_but_not_beside_it(client, tmp_path):
    path = tmp_path / "mixed.topiary"
    shutil.copytree(client.app.state.session.folder, path)
    with Collection.open(path) as collection, collection.folder.writing() as generation:
        for row, tag in enumerate(('a"b', 'A"b', "plain", "Plain")):
            Marks(generation.database).tag([row, row + 1], tag)
    other = TestClient(explorer(str(path)), base_url="http://127.0.0.1")
    (tags,) = (one for one in asked(other, addresses.search("-nothing"))["narrow"] if one["kind"] == "tag")
    found = {way["name"]: way["documents"] for way in tags["ways"]}
    assert found == {"to do": 80, "seen": 10, "Plain": 3, 'a"b': 2, 'A"b': 2}
    for way in tags["ways"]:
        assert asked(other, way["address"])["total"] == way["documents"], way


def test_one_year_is_divided_into_months_and_one_month_into_nothing(client):
    page = asked(client, addresses.search("date:2003"))
    assert [chip["name"] for chip in page["chips"]] == ["of 2003"]
    (months,) = (one for one in page["narrow"] if one["kind"] == "month")
    assert sum(way["documents"] for way in months["ways"]) <= page["total"]
    assert all(way["name"].startswith("2003-") for way in months["ways"])
    narrowed = asked(client, months["ways"][-1]["address"])
    assert not {one["kind"] for one in narrowed["narrow"]} & {"year", "month"}
    assert any(chip["name"] == f"of {months['ways'][-1]['name']}" for chip in narrowed["chips"])


def test_what_no_query_can_say_is_said_in_the_address(client):
    page = asked(client, addresses.search("-nothing"))
    (way,) = (way for one in page["narrow"] if one["kind"] == "label" for way in one["ways"] if way["name"] == ODD)
    assert "label=" in way["address"]
    narrowed = asked(client, way["address"])
    assert narrowed["total"] == way["documents"] == 5
    assert narrowed["chips"][-1]["name"] == f"labelled {ODD}"
    assert "label=" not in narrowed["chips"][-1]["address"]


def test_hits_lead_to_more_like_them_and_to_others(client):
    page = asked(client, addresses.search("court judge"))
    first = page["hits"][0]
    liked = asked(client, first["like"])
    assert liked["query"] == f"court judge like:{first['document']['id']}"
    assert first["document"]["id"] not in [hit["document"]["id"] for hit in liked["hits"]]
    assert [chip["name"] for chip in liked["chips"]] == [f"like {first['document']['id']}"]
    other = asked(client, liked["hits"][0]["unlike"])
    assert other["query"].endswith(f"-like:{liked['hits'][0]['document']['id']}")
    assert len(other["chips"]) == 2
    assert "more like this" in client.get(addresses.search("court judge")).text
    assert not asked(client, addresses.search("court", by="words"))["hits"][0]["like"]


def test_an_open_quote_does_not_swallow_a_condition():
    address = at('court "open').with_condition(Filter("type", "pdf"))
    assert address == addresses.search('court "open" type:pdf')


def test_a_query_is_never_longer_than_one_may_be():
    long = "court " * 332
    assert at(long).with_condition(Filter("type", "pdf")) == ""
    assert "tag=seen" in at(long).with_condition(Filter("tag", "seen"))


def test_conditions_are_links_that_take_them_away(client):
    text = client.get(addresses.search('court tag:"to do" type:pdf', topic=1)).text
    chips = re.findall(r'<a class="chip tag" href="([^"]*)"[^>]*>(.*?)<span aria-hidden="true">✕', text)
    assert [name.strip() for _, name in chips][1:] == ["tagged to do", "of type pdf"]
    assert [html.unescape(address) for address, _ in chips] == [
        addresses.search('court tag:"to do" type:pdf'), addresses.search("court type:pdf", topic=1),
        addresses.search('court tag:"to do"', topic=1),
    ]  # fmt: skip


def test_of_very_many_some_are_counted_and_that_is_said(client, monkeypatch):
    monkeypatch.setattr(narrowing, "MAX_COUNTED", 50)
    page = asked(client, addresses.search("said"))
    assert page["total"] > 50
    assert all(kind["some"] for kind in page["narrow"])
    years = [way["documents"] for way in page["narrow"][0]["ways"]]
    assert page["narrow"][0]["kind"] == "year"
    assert abs(sum(years) - page["total"]) <= len(years)  # all have a year


@given(some.integers(1, 9998), some.integers(1, 12))
def test_the_date_that_follows_is_later_and_nothing_is_between(year, month):
    name = f"{year:04}"
    assert get_next_date(name) == f"{year + 1:04}"
    later = get_next_date(f"{name}-{month:02}")
    assert f"{name}-{month:02}" < later
    assert later == f"{year + month // 12:04}-{month % 12 + 1:02}"


@pytest.mark.parametrize("date", ["", "9999", "20x4", "2004-13", "2004-00", "٢٠٠٤", "2004-xx"])
def test_what_is_no_date_has_none_that_follows(date):
    assert get_next_date(date) == ""


@pytest.mark.parametrize("words", ["bail", "bail hearing"])
def test_a_phrase_is_read_as_it_was_meant(words):
    (term,) = parse(format_phrase(words)).items
    assert (term.words, term.phrase) == (words, " " in words)
    (condition,) = parse(str(Filter("label", words))).items
    assert condition == Filter("label", words)


def test_a_search_that_was_stopped_says_so_and_can_count_all(folder, monkeypatch):
    known = Index.mask_matches

    def slow(self, *given):
        if query_limits.get_time_limit() < query_limits.COUNTING:
            raise query_limits.StoppedError("stopped")
        return known(self, *given)

    monkeypatch.setattr(Index, "mask_matches", slow)
    client = TestClient(explorer(folder), base_url="http://127.0.0.1")
    page = asked(client, addresses.search("said", by="words"))
    assert (page["total"], page["exact"]) == (0, False)
    assert page["stopped"] == "Counting stopped after 2 s."
    text = client.get(addresses.search("said", by="words")).text
    assert f'<a class="button" href="{html.escape(page["count_all"])}">Count all</a>' in text
    counted = asked(client, page["count_all"])
    assert counted["exact"]
    assert counted["total"] > 50
    assert counted["stopped"] == counted["count_all"] == ""
    assert counted["branches"]
    assert "all=1" in counted["paging"]["next"]
    shown = client.get(page["count_all"]).text
    assert re.search(r'<span class="count">\s*\d+ / \d+', shown)  # the tree has its numbers as well


def test_a_search_without_any_time_says_that_it_was_stopped(folder, monkeypatch):
    def late(*given, **options):
        raise query_limits.StoppedError("stopped")

    monkeypatch.setattr(search, "_load_page", late)
    with Collection.open(folder) as collection:
        page = search.load(View(collection), search.Ask("said"))
        counting = search.load(View(collection), search.Ask("said", all=True))
    assert page.sentence == "The search timed out for “said”."
    assert page.stopped == "Counting stopped after 2 s."
    assert page.count_all == addresses.search("said", all=1)
    assert (counting.stopped, counting.count_all) == ("Counting stopped after 30 s.", "")


def test_a_single_document_needs_no_narrowing(folder):
    with Collection.open(folder) as collection:
        assert narrowing.list_narrowings(View(collection), np.array([3]), at("x")) == ()


@pytest.mark.parametrize(
    ("query", "topic", "said"),
    [
        ("court", None, " documents match “court”"),
        ("court topic:{id}", None, " match “court” under {name}"),
        ("court judge", None, " match “court judge”"),
        ('"said" court topic:{id}', None, ' match “"said" court” under {name}'),
        ("topic:{id}", None, " documents under {name}"),
        ("-topic:{id} tag:seen", None, " not under {name}, tagged seen"),
        ("court date:2003 type:pdf", "id", "“court” under {name}, of 2003, of type pdf"),
        ("court since:2003 until:2004", None, " match “court” since 2003, until 2004"),
        ("court after:2002", None, " match “court” after 2002"),
        ("xyzzy label:law/bail", None, "No document matches “xyzzy” labelled law/bail."),
        ("-", None, "“-” contains no search terms."),
    ],
)
def test_a_query_is_said_in_words_and_topics_by_their_names(client, query, topic, said):
    view = client.app.state.session.view()
    node = max(view.tree.leaves, key=lambda leaf: view.sizes[leaf])
    known = {"id": view.shape.topics[node], "name": view.names[node]}
    page = asked(client, addresses.search(query.format(**known), topic=known["id"] if topic else None))
    assert said.format(**known) in page["sentence"]
    assert page["sentence"].count(known["name"]) <= 1
    for chip in page["chips"]:
        assert not re.search(r"under \d", chip["name"])


def test_reasons_are_shares_of_the_similarity(client):
    page = asked(client, addresses.search("court judge", by="meaning"))
    reasons = page["hits"][0]["why"]
    assert reasons
    assert sum(one["share"] for one in reasons) <= 1.0001
    assert all(one["share"] >= search.MIN_REASON for one in reasons)
    text = client.get(addresses.search("court judge", by="meaning")).text
    assert re.search(r'<td class="count" title="of the similarity">[\d.]+%</td>', text)
