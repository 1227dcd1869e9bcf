"""What is shown when something is missing, empty, too small, or broken."""

import html
import os
import random
import re
import sqlite3
from datetime import datetime

import pytest
from starlette.testclient import TestClient

from tests.web.conftest import documents
from topiarist.collection.collection import Collection
from topiarist.collection.file.additions import MAX_UNDOABLE_ADDITIONS
from topiarist.collection.file.arrivals import add_documents
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.shape.edits import Delete
from topiarist.errors import UsageError
from topiarist.storage import edit_log
from topiarist.text.documents import Document
from topiarist.web import addresses
from topiarist.web.http.server import current_view, explorer
from topiarist.web.pages import overview

HERE = "http://127.0.0.1"


def test_an_unknown_page_says_so_in_the_frame(client):
    for path, status, said in (
        ("/nothing", 404, "Page not found"), ("/topic/4711", 404, "Topic 4711 never existed in this collection"),
        ("/doc/nowhere", 404, "There is no document"), ("/topic/0?special=7", 422, "less than or equal to 1"),
        ("/shape?edit=rename", 422, "Expected a topic"), ("/export.csv?topic=4711", 404, "Topic 4711 never"),
    ):  # fmt: skip
        answer = client.get(path)
        assert answer.status_code == status
        assert said in answer.text
        assert 'id="tree"' in answer.text
        data = client.get(path, headers={"Accept": "application/json"}).json()
        assert data["status"] == status


def test_a_mistyped_document_proposes_the_nearest(client):
    assert "bail/000.txt" in client.get("/doc/wire%2Flaw%2Fbail%2F00.txt").text


def test_a_topic_that_is_gone_tells_where_its_documents_are(copied):
    client = TestClient(explorer(copied), base_url=HERE)
    view = client.app.state.session.view()
    leaf = view.tree.leaves[0]
    topic, name = view.shape.topics[leaf], view.names[leaf]
    with Collection.open(copied) as collection:
        collection.shape([Delete(topic)], refit=False)
    page = client.get(f"/topic/{topic}.json").json()
    assert page["title"] == "This topic no longer exists"
    deleted = edit_log.history(view.collection.generation.database, limit=1)[0].time
    moment = datetime.fromisoformat(deleted).astimezone()
    assert f"Topic “{name}” was removed at {moment:%H:%M} (" in page["message"]
    assert "delete" in page["message"].lower()
    answer = client.get(f"/topic/{topic}")
    assert answer.text.count('action="/undo"') == 1
    assert page["links"][0]["name"] == view.names[view.tree.parents[leaf]]
    for number in range(MAX_UNDOABLE_ADDITIONS + 1):  # after which earlier states are forgotten
        with Collection.open(copied) as collection:
            for _ in add_documents(collection, [Document(f"new {number}", "oil barrel crude price")]):
                pass
    page = client.get(f"/topic/{topic}.json").json()
    assert page["title"] == "Topic not found"
    assert "are not available" in page["message"]


def test_messages_name_topics_and_never_tell_a_number_alone(copied):
    client = TestClient(explorer(copied), base_url=HERE)
    view = client.app.state.session.view()
    above = view.tree.children(view.tree.root)[0]
    below = view.tree.children(above)[0]
    names, topics = view.names, view.shape.topics
    page = client.get(f"/shape.json?edit=merge&topic={topics[above]}&other={topics[below]}&ready=1").json()
    assert f"Delete “{names[below]}”" in page["problem"]
    assert "#" not in page["problem"]
    page = client.get(f"/shape.json?edit=merge&topic={topics[above]}&other=4711&ready=1").json()
    assert page["problem"] == "Topic 4711 never existed in this collection. Try: Choose an existing topic."
    session, leaf = client.app.state.session, view.tree.leaves[0]
    with Collection.open(copied) as collection:
        collection.shape([Delete(topics[leaf])], refit=False)
    form = {"token": session.token, "state": session.view().mark, "topic": topics[leaf]}
    answer = client.post("/read", data=form, headers={"Origin": HERE})
    assert answer.status_code == 404
    assert f"Topic “{names[leaf]}” was removed at " in answer.text


def test_a_fault_of_ours_has_a_number_and_no_text(client, monkeypatch):
    def broken(view, ask):
        raise RuntimeError("secret text of a document")

    monkeypatch.setattr(overview, "write_sentence", lambda view: broken(view, None))
    answer = client.get("/")
    assert answer.status_code == 500
    number = re.search(r"<code>([0-9a-f]{8})</code>", answer.text)[1]
    path = re.findall(r"<code>([^<]+)</code>", answer.text)[1]
    assert os.stat(path).st_mode & 0o777 == 0o600
    with open(path) as file:
        written = file.read()
    assert number in written
    assert "secret" not in answer.text + written
    details = re.search(r'<pre id="details"[^>]*>(.*?)</pre>', answer.text, re.DOTALL)[1]
    assert html.unescape(details) in written
    assert details.startswith(number)
    assert "Copy details" in answer.text


def test_details_are_copied_by_one_button(page, served, monkeypatch):
    monkeypatch.setattr(overview, "write_sentence", lambda view: 1 / 0)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(served.address)
    page.click("text=Copy details")
    page.wait_for_selector("text=Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator("#details").text_content()
    assert "ZeroDivisionError (topiarist" in copied


def test_a_request_under_way_while_the_collection_is_grown_anew_is_answered(copied):
    app = explorer(copied)
    client, old = TestClient(app, base_url=HERE), app.state.session.view()
    with Collection.grow(documents(120), copied, Recipe(topics=4), force=True) as grown, grown.folder.writing():
        pass  # the next writer sweeps the old generation away
    for path in ("/", "/topic/0", "/index.json", "/search?q=court&by=meaning"):
        app.dependency_overrides[current_view] = lambda: old
        assert client.get(path).status_code == 200, path
    assert client.get("/index.json").json()["documents"] == 120


def test_an_empty_list_offers_to_clear_the_filter(client):
    text = client.get("/topic/0?show=tagged").text
    assert "No documents" in text
    assert "Show all documents" in text


def test_no_collection_is_an_error_in_words(tmp_path):
    with pytest.raises(UsageError, match="no collection"):
        explorer(str(tmp_path / "nowhere"))


def grown(tmp_path, given, **recipe):
    Collection.grow(given, tmp_path / "small.topiary", Recipe(min_documents=1, **recipe)).close()
    return TestClient(explorer(str(tmp_path / "small.topiary")), base_url=HERE)


SCRIPTS = [
    ["新しい", "文書", "世界", "時間", "学校", "電車", "天気", "音楽", "料理", "旅行"],
    ["שלום", "עולם", "טוב", "ספר", "בית", "ילד", "מים", "אור", "דרך", "לחם"],
    ["जीवन", "एक", "यात्रा", "पानी", "घर", "किताब", "रास्ता", "सूरज", "दिन", "रात"],
    ["สวัสดี", "ชาวโลก", "อาหาร", "บ้าน", "หนังสือ", "ถนน", "ดนตรี", "โรงเรียน", "เวลา", "อากาศ"],
]
CHANCE, WORDS = random.Random(3), [f"w{number}x" for number in range(40)]
SMALL = {
    "two": [Document("a", "one lonely text"), Document("b", "another text about football")],
    "few": documents(12),
    "chance": [Document(str(number), " ".join(CHANCE.choices(WORDS, k=12))) for number in range(60)],
    "scripts": [
        Document(str(number), " ".join(CHANCE.choices(words, k=12))) for number, words in enumerate(SCRIPTS * 15)
    ],
}


FEW = "Too few"
NOTICES = {"two": FEW, "few": FEW, "chance": "No split", "scripts": ""}


@pytest.mark.parametrize("name", SMALL)
def test_small_and_odd_collections_have_all_pages(tmp_path, name):
    client = grown(tmp_path, SMALL[name])
    page = client.get("/index.json").json()
    said = NOTICES[name]
    assert (said in page["notice"]) if said else page["notice"] == ""
    assert page["documents"] == len(SMALL[name])
    assert len(page["listed"]) == (min(len(SMALL[name]), 50) if said else 0)
    assert bool(page["blocks"]) == (name == "scripts")
    id = SMALL[name][0].id
    for path in ("/", "/topic/0", "/search?q=text", "/search?q=text&by=meaning", addresses.document(id), "/tree",
                 "/model", "/compare", "/categories", "/new"):  # fmt: skip
        assert client.get(path).status_code == 200, path
    pieces = client.get(addresses.as_json(addresses.document(id))).json()["pieces"]
    assert "".join(piece["text"] for piece in pieces) == SMALL[name][0].text


def test_a_file_that_was_left_out_is_said_to_be(tmp_path):
    client = grown(tmp_path, SMALL["scripts"])
    with sqlite3.connect(client.app.state.session.view().collection.generation.database.path) as connection:
        problems = [("/texts/in/empty.txt", "no text"), ("/texts/in/b.pdf", "locked")]
        connection.executemany("INSERT INTO problems (source, reason) VALUES (?, ?)", problems)
    answer = client.get(addresses.document("in/empty.txt"))
    assert answer.status_code == 404
    assert "No text in this file." in answer.text
    assert "not read: locked" in client.get(addresses.document("b.pdf")).text
    assert "left out" not in client.get(addresses.document("mpty.txt")).text


def test_overview_of_mixture_names_its_topics(tmp_path):
    client = grown(tmp_path, documents(180), model="ggm", topics=6)
    assert not re.search(r">#?\d+</span>\s*<span class=\"count\"", client.get("/").text)
