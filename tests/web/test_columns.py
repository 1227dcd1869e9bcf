"""Columns and dates on the pages: ways to narrow, what is known of a document, what is said of dates."""

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from tests.web.conftest import documents
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.web import addresses
from topiarist.web.http.server import explorer

CITIES = ("Bern", "<b>Zürich</b>", "New York")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Documents with a number, a category and a date of their own, and dates with the day first."""
    path = tmp_path_factory.mktemp("columns") / "tickets.topiary"
    found = [
        replace(
            one, date=f"{place % 28 + 1:02}/0{place % 9 + 1}/{2023 + place % 2}" if place % 7 else "soon",
            columns=(("price", f"{place / 4}"), ("city", CITIES[place % 3]), ("closed", f"{2020 + place % 3}-05-01")),
        )
        for place, one in enumerate(documents(120))
    ]  # fmt: skip
    Collection.grow(found, path, Recipe(topics=4)).close()
    return TestClient(explorer(str(path)), base_url="http://127.0.0.1")


def asked(client, address):
    path, _, query = address.partition("?")
    return client.get(f"{path}.json?{query}").json()


def test_columns_narrow_and_every_way_leaves_as_many_as_it_says(client):
    page = asked(client, addresses.search("-nothing"))
    kinds = {one["kind"]: one["ways"] for one in page["narrow"]}
    assert {"year", "price", "city", "closed"} <= set(kinds)
    assert len(kinds["price"]) == 5
    assert sum(way["documents"] for way in kinds["price"]) == 120  # ranges hold every document once
    assert [way["name"] for way in kinds["closed"]] == ["2020", "2021", "2022"]
    for name in ("price", "city", "closed"):
        for way in kinds[name]:
            narrowed = asked(client, way["address"])
            assert narrowed["total"] == way["documents"], way
            assert narrowed["chips"][-1]["name"].startswith(f"{name} ")
            assert asked(client, narrowed["chips"][-1]["address"])["total"] == 120


def test_a_filter_by_date_says_how_many_have_none(client):
    page = asked(client, addresses.search("since:2024"))
    assert 0 < page["total"] < 120
    assert page["notes"] == [
        "18 documents have no date (including 18 with an unreadable date): no filter by date finds them."
    ]


def test_a_misspelt_column_is_said(client):
    assert "Did you mean price:?" in asked(client, addresses.search("pirce:10"))["notes"][0]


def test_the_page_of_a_document_has_its_columns_and_what_they_say_is_text(client):
    hit = asked(client, addresses.search("city:bern price:0.75"))["hits"][0]["document"]
    page = asked(client, hit["address"])
    assert page["given_date"] == "04/04/2024"
    assert page["date"] == "2024-04-04"
    assert {one["name"]: one["values"][0]["name"] for one in page["columns"]} == {
        "price": "0.75", "city": "Bern", "closed": "2020-05-01",
    }  # fmt: skip
    assert asked(client, page["columns"][1]["values"][0]["address"])["total"] == 40
    other = asked(client, addresses.search("price:0.25"))["hits"][0]["document"]
    assert "<b>Zürich</b>" not in client.get(other["address"]).text


def test_the_model_page_tells_columns_and_dates(client):
    said = asked(client, "/model")["known"]
    assert (
        said[0]
        == "Columns: price (number, 0 to 29.75), city (category, 3 different), closed (date, 2020-05-01 to 2022-05-01)."
    )
    assert "day-first" in said[1]
    assert said[2] == "18 documents have a date that could not be read (such as “soon”)."


def test_what_is_downloaded_has_columns_at_the_end(client):
    lines = client.get("/export.csv", params={"q": "price:0.75"}).text.splitlines()
    assert lines[0].split(",")[7:] == ["tags", "read", "date_given", "passage_notes", "price", "city", "closed"]
    assert lines[1].split(",")[-7:] == ["", "False", "04/04/2024", "", "0.75", "Bern", "2020-05-01"]
