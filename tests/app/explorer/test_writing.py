"""Changing a collection from its pages: told before, undone after, and never over somebody else's change."""

import time

import pytest
from starlette.testclient import TestClient

from topiarist.app.explorer.server import explorer
from topiarist.files.collection import Collection
from topiarist.tasks.shape.edits import Rename

HERE = "http://127.0.0.1"
ID = "wire/law/bail/000.txt"


class Writer(TestClient):
    def put_form(self, path, **form):
        token = self.app.state.desk.token
        files = form.pop("files", None)
        return self.post(path, data={"token": token, **form}, files=files, headers={"Origin": HERE})

    @property
    def view(self):
        return self.app.state.desk.view()


@pytest.fixture
def client(copied):
    return Writer(explorer(copied), base_url=HERE)


def edit(client, kind, topic, **values):
    return client.put_form("/shape", edit=kind, topic=topic, state=client.view.number, **values)


def leaf(client, place=0):
    return client.view.shape.topics[client.view.tree.leaves[place]]


def test_a_name_is_kept_and_taken_back(client):
    topic = leaf(client)
    before = client.view.names
    assert edit(client, "rename", topic, name="Bail & <b>bonds</b>").status_code == 200
    page = client.get(f"/topic/{topic}.json").json()
    assert page["topic"]["name"] == "Bail & <b>bonds</b>"
    assert page["topic"]["named"]
    assert "<b>bonds" not in client.get(f"/topic/{topic}").text
    assert client.put_form("/undo", state=client.view.number).status_code == 200
    assert client.view.names == before


def test_what_an_edit_would_change_is_told_before(client):
    view = client.view
    one, two = leaf(client), leaf(client, 1)
    number = view.number
    page = client.get(f"/shape.json?edit=merge&topic={one}&other={two}&ready=1").json()
    assert client.view.number == number
    changes = {change["topic"]: change for change in page["changes"]}
    first, second = view.names[view.shape.node(one)], view.names[view.shape.node(two)]
    assert changes[second]["said"] == "gone"
    assert changes[first]["after"] == pytest.approx(changes[first]["before"] + changes[second]["before"], abs=1)
    assert page["refits"]
    wrong = client.get(f"/shape.json?edit=move&topic=0&other={one}&ready=1").json()
    assert wrong["problem"]
    assert not wrong["ready"]


@pytest.mark.parametrize("kind", ["merge", "split", "move", "delete", "describe", "pin"])
def test_every_edit_can_be_made_and_undone(client, kind):
    view = client.view
    topic, state = leaf(client), client.view.collection.state
    values = {
        "merge": {"other": leaf(client, 1)}, "move": {"other": leaf(client, -1)}, "split": {"into": 2},
        "describe": {"note": "all about bail"}, "pin": {"other": leaf(client, -1), "document": ID},
    }.get(kind, {})  # fmt: skip
    assert edit(client, kind, topic, **values).status_code == 200
    assert client.view.number != view.number
    for path in ("/", f"/topic/{topic}", "/tree", "/model"):
        assert client.get(path).status_code in (200, 404)
    assert client.put_form("/undo", state=client.view.number).status_code == 200
    assert client.view.collection.state == state


def test_a_fit_runs_beside_the_pages(client):
    topic = leaf(client)
    edit(client, "split", topic, into="2", refit="1")
    assert client.get("/").status_code == 200
    until = time.monotonic() + 60
    while client.get("/job.json").json()["running"] and time.monotonic() < until:
        assert client.get(f"/topic/{topic}").status_code == 200
        time.sleep(0.2)
    assert client.get("/job.json").json() == {"running": False, "seconds": pytest.approx(30, abs=30), "error": ""}
    page = client.get(f"/topic/{topic}.json").json()
    assert len(page["subtopics"]) == 2
    assert sum(one["documents"] for one in page["subtopics"]) == page["topic"]["documents"]
    assert not page["pending"]


def test_two_windows_do_not_overwrite_each_other(client, copied):
    topic, old = leaf(client), client.view.number
    with Collection.open(copied) as other:
        other.shape([Rename(topic, "Theirs")])
    answer = client.put_form("/shape", edit="rename", topic=topic, name="Mine", state=old)
    assert answer.status_code == 409
    assert "Theirs" in answer.text
    assert "Mine" in answer.text
    assert client.get(f"/topic/{topic}.json").json()["topic"]["name"] == "Theirs"
    edit(client, "rename", topic, name="Mine")
    assert client.get(f"/topic/{topic}.json").json()["topic"]["name"] == "Mine"
    assert client.put_form("/undo", state=old).status_code == 404


def test_tags_and_read_marks(client):
    topic = leaf(client)
    client.put_form("/tag", document=ID, tag="to do")
    client.put_form("/read", document=ID)
    page = client.get(f"/doc.json?id={ID}").json()
    assert page["tags"] == ["to do"]
    assert page["read"]
    client.put_form("/tag", topic=topic, tag="all of it")
    client.put_form("/read", topic=topic)
    page = client.get(f"/topic/{topic}.json").json()
    assert page["read"] == page["paging"]["total"]
    assert client.get(f"/topic/{topic}.json?show=unread").json()["paging"]["total"] == 0
    assert client.get(f"/topic/{topic}.json?show=tagged").json()["paging"]["total"] == page["paging"]["total"]
    assert client.get('/search.json?q=tag:"to do"').json()["total"] == 1
    assert "My tags" in client.get("/").text
    client.put_form("/untag", document=ID, tag="to do")
    client.put_form("/read", document=ID, unread="1")
    page = client.get(f"/doc.json?id={ID}").json()
    assert (page["tags"], page["read"]) == ([], False) or page["tags"] == ["all of it"]
    assert client.put_form("/tag", document=ID, tag=" ").status_code == 404


def test_new_documents_are_placed_and_stored_only_when_somebody_says_so(client):
    files = [("files", ("a.txt", b"oil barrel crude refinery price output pipeline", "text/plain")),
             ("files", ("b.xyz", b"\x00\x01", "application/octet-stream"))]  # fmt: skip
    answer = client.put_form("/new", text="The suspect was granted bail; surety, bond, custody, remand.", files=files)
    assert answer.status_code == 200, answer.text[:300]
    assert "2 documents to file" in answer.text
    assert len(client.view.collection) == 400
    key = answer.text.split('name="key" value="')[1].split('"')[0]
    assert client.put_form("/keep", key=key).status_code == 200
    assert len(client.view.collection) == 402
    assert client.get("/search.json?q=surety+granted").json()["total"] == 1
    assert client.put_form("/keep", key=key).status_code == 404
    assert client.put_form("/new", text=" ").status_code == 400
