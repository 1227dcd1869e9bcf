"""A review from its first page to the sentence that says one may stop, by forms and data, and by whoever is faster."""

import pytest
from starlette.testclient import TestClient

from tests.collection.classify.test_review import judged
from topiarist.collection.classify.judgements import MOVE
from topiarist.collection.collection import Collection
from topiarist.collection.review.relevance_model import compute_features
from topiarist.collection.review.review import Review
from topiarist.web.http.server import explorer

HERE = "http://127.0.0.1"


@pytest.fixture
def app(copied):
    return TestClient(explorer(copied), base_url=HERE, follow_redirects=False)


def shown(app, **ask):
    return app.get("/review.json", params={"label": "wanted", **ask}).json()


def said(app, answer, page, **more):
    """What a page would post."""
    session = app.app.state.session
    token, state = session.token, session.view().mark
    body = {"review": page["label"], "does": answer, "number": page["number"], "state": state, "query": page["query"]}
    body |= {name: page[name] for name in ("target", "confidence")}
    body |= {"document": page["next"]["id"]} if page["next"] and answer != "undo" else {}
    return app.post("/review", json={**body, **more}, headers={"x-topiarist-token": token, "Origin": HERE})


def is_wanted(page):
    return page["next"]["id"].startswith("wire/law/bail")


def test_a_review_goes_on_until_one_may_stop(app, copied):
    page = shown(app, query="bail", target=0.8, confidence=0.8)
    assert page["next"]["drawn"] == "most probably relevant"
    assert any(marked for _, marked in page["next"]["text"])
    assert not page["enough"]
    for _ in range(400):
        if page["enough"]:
            break
        answer = said(app, "y" if is_wanted(page) else "n", page)
        assert answer.status_code == 200
        assert answer.json()["to"] == "/review?label=wanted&query=bail&target=0.8&confidence=0.8"
        page = shown(app, query="bail", target=0.8, confidence=0.8)
    assert page["enough"]
    assert (
        "with 80% confidence. You can stop" in app.get("/review?label=wanted&query=bail&target=0.8&confidence=0.8").text
    )
    with Collection.open(copied) as collection:
        found = collection.documents.labelled_rows("wanted")
        every = [id for id in collection.documents.ids() if id.startswith("wire/law/bail")]
        assert len(found) == page["progress"]["found"] > 0.8 * len(every)
        kept = Review(collection, "wanted", query="bail", target=0.8, confidence=0.8).progress
        assert kept.judged == page["progress"]["judged"]
        assert kept.unfound_most == page["progress"]["unfound_most"]
        assert kept.drawn_at_random == page["progress"]["drawn_at_random"] > 0
    begun = app.get("/review.json").json()["begun"]
    assert [one["label"] for one in begun] == ["wanted"]
    assert f"{kept.found:,} relevant" in begun[0]["said"]


def test_skip_undo_and_what_was_skipped(app):
    first = shown(app, query="bail")
    said(app, "skip", first)
    page = shown(app, query="bail")
    assert page["progress"]["skipped"] == 1
    assert page["next"]["id"] != first["next"]["id"]
    assert page["last_said"] == "skipped"
    again = shown(app, query="bail", id=first["next"]["id"])
    assert again["next"]["drawn"] == "skipped before"
    said(app, "y", again)
    page = shown(app, query="bail")
    assert (page["progress"]["skipped"], page["progress"]["found"]) == (0, 1)
    late = shown(app, query="bail", id=first["next"]["id"])
    assert "already judged" in late["notes"][0]
    said(app, "undo", page)
    said(app, "undo", shown(app, query="bail"))
    assert shown(app, query="bail") == {**first, "number": shown(app, query="bail")["number"]}


def test_a_label_that_others_gave_stays_and_the_page_says_so(app, copied):
    page = shown(app)
    with Collection.open(copied) as collection:
        row = collection.documents.row_of(page["next"]["id"])
        Review(collection, "wanted").answer(row, "y", "given")
    assert shown(app)["progress"]["found"] == 1
    alone = said(app, "undo", shown(app)).json()["to"]
    assert "undone" not in alone
    assert "keeps the label" not in app.get(alone).text
    said(app, "y", shown(app, id=page["next"]["id"]))
    with Collection.open(copied) as collection:  # somebody else says so too
        judged(collection, row, MOVE, "wanted", "also")
    address = said(app, "undo", shown(app)).json()["to"]
    assert "undone=" in address
    assert "keeps the label wanted from its source or from a later judgement." in app.get(address).text
    assert "keeps the label" not in app.get("/review?label=wanted&undone=nobody").text


def test_who_is_slower_changes_nothing(app, copied):
    page = shown(app)
    assert said(app, "y", page).status_code == 200
    late = said(app, "n", page)
    assert late.status_code == 409
    assert "another window" in late.json()["message"]
    with Collection.open(copied) as collection:  # as the command line does
        review = Review(collection, "wanted")
        row, drawn = review.next()
        review.answer(row, "n", drawn)
    assert shown(app)["progress"]["judged"] == 2
    assert said(app, "y", shown(app), state="g-0000000000000000:1").status_code == 409


def test_how_a_document_was_drawn_is_not_for_the_page_to_say(app, copied):
    page = shown(app)
    assert page["next"]["drawn"] == "random"
    with Collection.open(copied) as collection:
        other = next(id for id in collection.documents.ids() if id != page["next"]["id"])
    said(app, "n", page, document=other)
    assert shown(app)["progress"]["drawn_at_random"] == 0
    said(app, "n", shown(app))
    assert shown(app)["progress"]["drawn_at_random"] == 1


def test_nothing_is_written_where_it_may_not_be(copied):
    app = TestClient(explorer(copied, read_only=True), base_url=HERE)
    page = app.get("/review?label=wanted")
    assert "This explorer is read-only" in page.text
    assert "data-judge" not in page.text
    assert app.post("/review", json={"review": "wanted"}, headers={"Origin": HERE}).status_code == 403


@pytest.mark.parametrize("wrong", [{"does": "perhaps"}, {"review": ""}, {"target": 2}, {"document": ""}])
def test_what_makes_no_sense_is_refused(app, wrong):
    answer = said(app, "y", shown(app), **wrong)
    assert answer.status_code in (400, 422)
    assert shown(app)["progress"]["judged"] == 0


def test_a_review_is_not_begun_anew_for_each_judgement(app, monkeypatch):
    from topiarist.collection.review import review

    shown(app)
    calls = []
    monkeypatch.setattr(review, "compute_features", lambda *given: calls.append(given) or compute_features(*given))
    for _ in range(3):
        said(app, "n", shown(app))
    assert not calls
    shown(app, target=0.8)
    assert len(calls) == 1
