"""Removing documents from a page: asked before, gone everywhere, undone exactly; and nobody without the token."""

import re
from urllib.parse import quote

from tests.web.clients import ID


def removed(writer, **told):
    return writer.put_form("/remove", **told)


def test_a_document_is_removed_after_a_question_and_undo_brings_it_back(writer):
    page = writer.get(f"/doc/{ID}").text
    assert re.search(r'action="[^"]*/remove"', page)
    number = len(writer.view.collection)
    title = writer.get(f"/doc/{ID}.json").json()["title"]
    question = removed(writer, document=ID, back="/")
    assert question.status_code == 200
    assert "Remove 1 document?" in question.text
    assert title in question.text
    assert len(writer.view.collection) == number
    assert removed(writer, document=ID, sure="1", back="/").status_code == 200
    assert len(writer.view.collection) == number - 1
    assert writer.get(f"/doc/{ID}").status_code == 404
    assert not any(hit["document"]["id"] == ID for hit in writer.get("/search.json?q=bail&by=words").json()["hits"])
    assert "1 document removed" in writer.get("/").text
    assert writer.put_form("/undo", back="/").status_code == 200
    assert writer.get(f"/doc/{ID}").status_code == 200
    assert len(writer.view.collection) == number


def test_all_hits_of_a_search_by_words_are_removed_together(writer):
    number = len(writer.view.collection)
    found = writer.get("/search.json?q=bail&by=words").json()
    assert found["removable"]
    assert not writer.get("/search.json?q=bail").json()["removable"]
    assert "Remove all" in writer.get("/search?q=bail&by=words").text
    total = found["total"]
    assert f"Remove {total:,} documents?" in removed(writer, query="bail", back=f"/search?q={quote('bail')}").text
    assert removed(writer, query="bail", sure="1", back="/").status_code == 200
    assert len(writer.view.collection) == number - total
    assert writer.get("/search.json?q=bail&by=words").json()["total"] == 0


def test_what_somebody_saw_before_is_asked_again(writer):
    state = writer.view.mark
    assert removed(writer, query="bail", sure="1").status_code == 200
    late = removed(writer, document=ID, sure="1", state=state)
    assert late.status_code == 409
    assert "Documents were removed" in late.text
    assert writer.post("/remove", data={"document": "x", "state": state}).status_code == 403


def test_nothing_is_removed_for_its_place_in_an_order(writer):
    topic = writer.view.shape.topics[1]
    refused = removed(writer, query=f"like:{ID}", topic=str(topic), back="/")
    assert refused.status_code == 422
    assert "ranks all documents" in refused.text
