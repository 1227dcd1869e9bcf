"""The page of topics over time: its numbers are those of the collection, every one leads to its documents."""

import re

import pytest
from starlette.testclient import TestClient

from tests.planted import EACH, MONTHS, UNDATED, YEAR_ONLY, planted, planted_path, topic_with  # noqa: F401
from topiarist.web.http.server import explorer
from topiarist.web.report import write_report


@pytest.fixture(scope="module")
def client(planted_path):  # noqa: F811
    return TestClient(explorer(str(planted_path)), base_url="http://127.0.0.1")


def test_shares_have_intervals_and_lead_to_their_documents(client):
    page = client.get("/time.json?by=month").json()
    assert [period["documents"] for period in page["periods"]] == [EACH] * MONTHS
    assert page["left_out"] == [
        f"{UNDATED} documents have no date.", f"{YEAR_ONLY} documents have a date without a month.",
    ]  # fmt: skip
    for course in page["courses"]:
        assert all(low <= share <= high for low, share, high in
                   zip(course["lows"], course["shares"], course["highs"], strict=True))  # fmt: skip
        behind = client.get("/search.json" + course["documents"][5].removeprefix("/search")).json()
        assert behind["paging"]["total"] == pytest.approx(course["shares"][5] * EACH, abs=2)


def test_the_burst_is_marked(client, planted):  # noqa: F811
    page = client.get("/time.json?by=month").json()
    (burst,) = page["bursts"]
    assert (burst["topic"]["id"], burst["when"]) == (topic_with(planted, "bail"), "2014-06 to 2014-07")
    assert [course["bursts"] for course in page["courses"] if course["bursts"]] == [[[5, 6]]]
    html = client.get("/time?by=month").text
    assert html.count('class="burst"') == 1


def test_streams_and_curves_are_drawn_here(client):
    html = client.get("/time?by=month").text
    streams = re.search(r'<svg class="streams".*?</g></svg>', html, re.DOTALL)[0]
    assert streams.count("<path") == 3
    assert html.count('<svg class="course') == 3
    assert "style=" not in html.replace('rel="stylesheet"', "")
    assert "<svg" not in client.get("/time?by=year").text.partition("<main")[2]  # one period has no course


def test_what_was_new_in_a_month_is_one_link_away(client, planted):  # noqa: F811
    june = client.get("/time.json?by=month").json()["periods"][5]["new"]
    assert june == "/time?by=month&since=2014-06&until=2014-06#new"
    page = client.get("/time.json?by=month&since=2014-06&until=2014-06").json()
    assert [one["topic"]["id"] for one in page["new"]["more"]] == [topic_with(planted, "bail")]
    change = page["new"]["more"][0]
    behind = client.get("/search.json" + change["documents"].removeprefix("/search")).json()
    assert behind["paging"]["total"] == change["number"]
    assert f"{UNDATED + YEAR_ONLY} documents without an exact date" in client.get("/time?since=2014-06").text


def test_a_topic_has_its_words_in_time(client, planted):  # noqa: F811
    page = client.get(f"/time.json?by=month&topic={topic_with(planted, 'football')}").json()
    assert {word["word"] for word in page["words"]} == {"boycott", "sponsor"}
    behind = client.get("/search.json" + page["words"][0]["address"].removeprefix("/search")).json()
    assert behind["paging"]["total"] > 0


def test_questions_that_make_no_sense_are_told(client):
    assert client.get("/time?by=fortnight").status_code == 422
    assert "expected a date" in client.get("/time?since=soon").text
    assert client.get("/time?topic=4711").status_code == 404


def test_the_way_there_is_beside_the_tree(client):
    assert client.get("/").text.count('href="/time">') == 2  # in the menu, and below where there is no room for it


def test_the_report_has_it_too_but_not_where_words_and_numbers_alone_were_asked_for(planted, tmp_path):  # noqa: F811
    write_report(planted, tmp_path / "one.html")
    text = (tmp_path / "one.html").read_text(encoding="utf-8")
    part = text.partition('<h2 id="time">')[2].partition("<h2")[0]
    assert f"{UNDATED} documents have no date." in part
    assert part.count('<svg class="course') == 3
    assert f'href="#topic-{topic_with(planted, "bail")}"' in part
    assert "<h3>Bursts</h3>" in part
    assert 'href="#top"' not in part  # every link leads to a topic of the report
    write_report(planted, tmp_path / "two.html", "none")
    assert '<h2 id="time">' not in (tmp_path / "two.html").read_text(encoding="utf-8")
