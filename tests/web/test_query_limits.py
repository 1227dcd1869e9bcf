"""Questions that would take long, lead nowhere, or are asked behind a person's back."""

import html
import itertools
import socket
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from topiarist.text.query import parse
from topiarist.web import addresses, query_limits
from topiarist.web.http.server import explorer
from topiarist.web.http.serving import bind_socket
from topiarist.web.query_limits import resolve_query
from topiarist.web.values import PER_PAGE

HERE = "http://127.0.0.1"


def test_nothing_is_looked_for_twice_and_no_single_letter():
    assert str(resolve_query(parse("a* " * 40 + "court court ba* -ba*"))) == "court ba* -ba*"
    assert resolve_query(parse("a*")).read_as
    assert resolve_query(parse("court bail")).read_as == ""


def test_a_search_that_takes_long_is_stopped(client, monkeypatch):
    monkeypatch.setattr(query_limits, "PATIENCE", -1.0)
    monkeypatch.setattr(query_limits, "COUNTING", -1.0)
    monkeypatch.setattr(query_limits, "EXTRA_SECONDS", -1.0)
    monkeypatch.setattr(query_limits, "CLOCK_STEPS", 1)
    page = client.get("/search?q=co*+ba*+the")
    assert page.status_code == 200
    assert "ounting stopped after" in page.text
    assert client.get("/export.csv?q=co*+ba*+the").status_code == 503
    assert client.get(addresses.document("wire/law/bail/000.txt", q="co* ba*", at=3)).status_code == 200
    monkeypatch.undo()
    assert client.get("/search.json?q=court").json()["total"] > 10


def test_all_questions_of_a_page_have_one_deadline(client, monkeypatch):
    view, looks = client.app.state.session.view(), itertools.count()
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
    turned = SimpleNamespace(monotonic=lambda: 0.05 * next(looks))  # a clock that we turn
    monkeypatch.setattr(query_limits, "time", turned)
    taken = []
    with query_limits.limit_page_time(0.5):
        for _ in range(3):
            before = next(looks)
            with (
                pytest.raises(query_limits.StoppedError, match=r"longer than 0\.5 seconds"),
                query_limits.limit_query_time(view.collection),
            ):
                view.collection.generation.database.all(endless)
            taken.append(next(looks) - before)
    assert taken[0] > 8  # the first has all of the time
    assert max(taken[1:]) <= 4  # and the others are stopped at the first look at the clock
    assert query_limits.get_time_limit() == query_limits.PATIENCE


def test_what_was_tagged_since_is_found(copied):
    client = TestClient(explorer(copied), base_url=HERE)
    for number in range(3):
        assert client.get("/search.json?q=tag:mine").json()["total"] == number
        session = client.app.state.session
        form = {"token": session.token, "state": session.view().mark, "tag": "mine"}
        form["document"] = f"wire/law/bail/{6 * number:03}.txt"
        assert client.post("/tag", data=form, headers={"Origin": HERE}, follow_redirects=False).status_code == 303
    found = client.get("/search.json?q=tag:mine").json()
    assert sum(branch["matching"] for branch in found["branches"] if branch["level"] == 1) == 3


@pytest.mark.parametrize(("mode", "status"), [("no-cors", 403), ("cors", 403), ("navigate", 200)])
def test_pages_of_other_sites_may_only_lead_here(client, mode, status):
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode}
    assert client.get("/search?q=court", headers=headers).status_code == status
    assert client.get("/", headers={**headers, "Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_small_answers_are_not_held_back():
    with bind_socket("127.0.0.1", 0) as found:
        assert found.proto == socket.IPPROTO_TCP


def test_a_page_beyond_the_last_is_the_last(client):
    for address, items in (
        ("/search.json?q=court", "hits"), ("/search.json?q=court&by=meaning", "hits"), ("/topic/0.json?", "documents")
    ):  # fmt: skip
        page = client.get(f"{address}&page=999").json()
        paging = page["paging"]
        assert paging["page"] == paging["pages"] == -(-paging["total"] // PER_PAGE)
        assert len(page[items]) == paging["total"] - PER_PAGE * (paging["pages"] - 1)


def test_by_meaning_only_the_most_similar_are_told(client):
    page = client.get("/search.json?q=court&by=meaning").json()
    assert page["total"] == 200
    assert "The 200 documents most similar" in page["sentence"]
    assert len(client.get("/export.txt?q=court&by=meaning").text.splitlines()) == 200


def test_a_list_that_is_gone_is_no_reason_not_to_show_a_document(client):
    id = "wire/law/bail/000.txt"
    for values in ({"topic": 4711}, {"q": "topic:nowhere court"}, {"q": "court", "within": 4711}):
        assert client.get(addresses.document(id, **values)).status_code == 200


@pytest.mark.parametrize("tag", ['the "best" of it', "a b", "tag:x", "-no*", "it's <b>", "{x} {"])
def test_any_tag_leads_to_its_documents(copied, tag):
    client = TestClient(explorer(copied), base_url=HERE)
    session = client.app.state.session
    form = {"token": session.token, "state": session.view().mark, "document": "wire/law/bail/000.txt", "tag": tag}
    client.post("/tag", data=form, headers={"Origin": HERE})
    assert html.escape(addresses.tagged(tag)) in client.get("/").text.replace("&#39;", "&#x27;")
    page = client.get(addresses.as_json(addresses.tagged(tag))).json()
    assert [hit["document"]["id"] for hit in page["hits"]] == ["wire/law/bail/000.txt"]
    assert len(client.get(page["exports"][2]["address"]).text.splitlines()) == 1


def test_labels_narrow_and_go_on(client):
    page = client.get(addresses.as_json(addresses.labelled_documents("law/bail"))).json()
    assert page["total"] == sum(number % 6 == 0 for number in range(400))
    assert page["paging"]["pages"] == 4
    assert client.get(page["paging"]["next"]).status_code == 200
    narrowed = client.get(addresses.as_json(page["branches"][0]["address"])).json()
    assert 0 < narrowed["total"] <= page["total"]
    assert "labelled “law/bail”" in page["sentence"]
