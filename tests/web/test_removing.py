"""Removing documents from a page: asked before, gone everywhere, undone exactly; and nobody without the token."""

import re
from urllib.parse import quote

from tests.web.test_writing import ID, client  # noqa: F401


def removed(client, **told):  # noqa: F811
    return client.put_form("/remove", **told)


def test_a_document_is_removed_after_a_question_and_undo_brings_it_back(client):  # noqa: F811
    page = client.get(f"/doc/{ID}").text
    assert re.search(r'action="[^"]*/remove"', page)
    number = len(client.view.collection)
    title = client.get(f"/doc/{ID}.json").json()["title"]
    question = removed(client, document=ID, back="/")
    assert question.status_code == 200
    assert "Remove 1 document?" in question.text
    assert title in question.text
    assert len(client.view.collection) == number
    assert removed(client, document=ID, sure="1", back="/").status_code == 200
    assert len(client.view.collection) == number - 1
    assert client.get(f"/doc/{ID}").status_code == 404
    assert not any(hit["document"]["id"] == ID for hit in client.get("/search.json?q=bail&by=words").json()["hits"])
    assert "1 document removed" in client.get("/").text
    assert client.put_form("/undo", back="/").status_code == 200
    assert client.get(f"/doc/{ID}").status_code == 200
    assert len(client.view.collection) == number


def test_all_hits_of_a_search_by_words_are_removed_together(client):  # noqa: F811
    number = len(client.view.collection)
    found = client.get("/search.json?q=bail&by=words").json()
    assert found["removable"]
    assert not client.get("/search.json?q=bail").json()["removable"]
    assert "Remove all" in client.get("/search?q=bail&by=words").text
    total = found["total"]
    assert f"Remove {total:,} documents?" in removed(client, query="bail", back=f"/search?q={quote('bail')}").text
    assert removed(client, query="bail", sure="1", back="/").status_code == 200
    assert len(client.view.collection) == number - total
    assert client.get("/search.json?q=bail&by=words").json()["total"] == 0


def test_what_somebody_saw_before_is_asked_again(client):  # noqa: F811
    state = client.view.mark
    assert removed(client, query="bail", sure="1").status_code == 200
    late = removed(client, document=ID, sure="1", state=state)
    assert late.status_code == 409
    assert "Documents were removed" in late.text
    assert client.post("/remove", data={"document": "x", "state": state}).status_code == 403


def test_nothing_is_removed_for_its_place_in_an_order(client):  # noqa: F811
    topic = client.view.shape.topics[1]
    refused = removed(client, query=f"like:{ID}", topic=str(topic), back="/")
    assert refused.status_code == 422
    assert "ranks all documents" in refused.text
