"""Copies and repeated lines on the pages."""

import pytest
from starlette.testclient import TestClient

from tests.grown import documents, piled, piled_documents, piled_once  # noqa: F401
from topiarist.web import addresses
from topiarist.web.http.server import explorer


@pytest.fixture
def get(piled):  # noqa: F811
    asked = TestClient(explorer(str(piled)), base_url="http://127.0.0.1")
    return lambda address: asked.get(address)


def test_the_page_lists_each_kind_with_its_copies(get):
    page = get("/duplicates.json").json()
    assert page["sentence"].startswith("18 duplicates or near-duplicates of 9 originals.")
    assert [len(group["copies"]) for group in page["groups"]] == [4, 4, 4, 1, 1, 1, 1, 1, 1]
    one = get("/duplicates.json?id=copy/0.txt").json()
    assert [group["id"] for group in one["groups"]] == [piled_documents()[0].id]
    shown = get("/duplicates").text
    assert "identical</td>" in shown
    words = page["groups"][-1]["copies"][0]["only_original"]
    assert f"only here: other, other · only in the original: {words}" in " ".join(shown.split())


def test_a_document_says_what_it_is_a_copy_of_and_greys_what_is_not_counted(get):
    page = get(addresses.document(piled_documents()[1].id)).text
    assert '<span class="uncounted" title="repeated line, not counted"' in page
    assert "4 duplicates</a> of this document" in page
    assert "Duplicate of <a" in get(addresses.document("copy/4.txt")).text


def test_the_pieces_of_a_greyed_text_are_the_text(get):
    document = piled_documents()[1]
    page = get(addresses.as_json(addresses.document(document.id))).json()
    assert "".join(piece["text"] for piece in page["pieces"]) == document.text
    grey = [piece["text"] for piece in page["pieces"] if piece["kind"] == "uncounted"]
    assert [text.split()[0] for text in grey] == ["Home", "Its"]
    assert page["uncounted"] == 5


def test_lists_are_folded(get):
    page = get("/topic/0.json").json()
    assert page["paging"]["total"] == 200
    assert page["heading"].endswith("; 18 duplicates not listed")
    words = " ".join(documents()[0].text.split()[3:8])
    found = get(addresses.as_json(addresses.search(words, by="words"))).json()
    assert found["hits"][0]["document"]["copies"] == 4
    assert found["total"] - found["folded"] == found["paging"]["total"] == len(found["hits"])
    assert "4 duplicates</a>" in get(addresses.search(words)).text


def test_the_model_page_tells_the_same(get):
    page = get("/model").text
    assert "5 lines that documents share are not counted, in 218 documents" in page
    assert "18 documents are copies or near-copies of 9 others" in page
