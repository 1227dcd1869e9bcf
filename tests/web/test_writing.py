"""Changing a collection from its pages: told before, undone after, and never over somebody else's change."""

import html
import re
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from tests.web.clients import HERE, ID, edit, leaf
from tests.web.conftest import documents
from topiarist.collection.collection import Collection
from topiarist.collection.grow.recipe import Recipe
from topiarist.collection.shape.edits import Rename
from topiarist.storage import facts
from topiarist.storage.sealed_folder import lock_folder
from topiarist.web import session as sessions
from topiarist.web.forms import posts, uploads
from topiarist.web.http import safety


def test_a_name_is_kept_and_taken_back(writer):
    topic = leaf(writer)
    before = writer.view.names
    assert edit(writer, "rename", topic, name="Bail & <b>bonds</b>").status_code == 200
    page = writer.get(f"/topic/{topic}.json").json()
    assert page["topic"]["name"] == "Bail & <b>bonds</b>"
    assert page["topic"]["named"]
    assert "<b>bonds" not in writer.get(f"/topic/{topic}").text
    assert writer.put_form("/undo", state=writer.view.mark).status_code == 200
    assert writer.view.names == before


def test_a_change_of_just_now_is_told_at_the_top_and_an_old_one_below(writer, monkeypatch):
    first, second = writer.view.tree.leaves[:2]
    topics, names = writer.view.shape.topics, writer.view.names
    edit(writer, "merge", topics[first], other=topics[second])
    said = f"Last change: merge {names[first]} and {names[second]} "
    top, below = html.unescape(writer.get("/tree").text).split('<div class="columns">')
    assert said in top
    assert 'action="/undo"' in top
    assert "Last change" not in below
    monkeypatch.setattr(sessions, "RECENT", timedelta(0))
    top, below = html.unescape(writer.get("/tree").text).split('<div class="columns">')
    assert "Last change" not in top
    assert said in below
    writer.put_form("/undo")
    assert writer.get("/model.json").json()["history"][0]["what"] == f"undo: merge {names[first]} and {names[second]}"


def test_learned_categories_are_forgotten_after_a_question_only(writer):
    answer = writer.put_form("/undo", back="/tree")
    assert "<h1>Forget the learned categories?</h1>" in answer.text
    assert writer.view.collection.categories is not None
    assert writer.put_form("/undo", back="/tree", sure="1").url.path == "/tree"
    assert writer.view.collection.categories is None


def test_undo_of_second_learning_restores_earlier_categories(writer):
    earlier = writer.view.collection.state.parts["categories"]
    with Collection.open(writer.app.state.session.folder) as collection:
        collection.learn(holdout=0)
    assert writer.view.collection.state.parts["categories"] != earlier
    assert "<h1>Restore the earlier categories?</h1>" in writer.put_form("/undo").text
    assert writer.put_form("/undo", sure="1").status_code == 200
    assert writer.view.collection.state.parts["categories"] == earlier


def test_what_an_edit_would_change_is_told_before(writer):
    view = writer.view
    one, two = leaf(writer), leaf(writer, 1)
    number = view.number
    page = writer.get(f"/shape.json?edit=merge&topic={one}&other={two}&ready=1").json()
    assert writer.view.number == number
    changes = {change["topic"]: change for change in page["changes"]}
    first, second = view.names[view.shape.node(one)], view.names[view.shape.node(two)]
    assert changes[second]["said"] == "gone"
    assert changes[first]["after"] == pytest.approx(changes[first]["before"] + changes[second]["before"], abs=1)
    assert page["refits"]
    wrong = writer.get(f"/shape.json?edit=move&topic=0&other={one}&ready=1").json()
    assert wrong["problem"]
    assert not wrong["ready"]


@pytest.mark.parametrize(
    "kind", ["merge", "group", "split", "move", "delete", "describe", "pin", "seed", "ignore", "unite"]
)
def test_every_edit_can_be_made_and_undone(writer, kind):
    view = writer.view
    topic, state = leaf(writer), writer.view.collection.state
    values = {
        "merge": {"other": leaf(writer, 1)}, "group": {"others": [leaf(writer, 1), leaf(writer, -1)], "name": "Ours"},
        "move": {"other": leaf(writer, -1)}, "split": {"into": 2},
        "describe": {"note": "all about bail"}, "pin": {"other": leaf(writer, -1), "document": ID},
        "seed": {"other": leaf(writer), "words": "court, judge"}, "ignore": {"words": "court"},
        "unite": {"words": "court, judge"},
    }.get(kind, {})  # fmt: skip
    assert edit(writer, kind, topic, **values).status_code == 200
    assert writer.view.number != view.number
    for path in ("/", "/tree", "/model"):
        assert writer.get(path).status_code == 200
    assert writer.get(f"/topic/{topic}").status_code == (404 if kind == "delete" else 200)
    assert writer.put_form("/undo", state=writer.view.mark).status_code == 200
    assert writer.view.collection.state == state


def test_new_parts_of_a_split_are_said_to_wait_for_the_fit(writer):
    topic = leaf(writer)
    edit(writer, "split", topic, into="2")
    page = writer.get(f"/topic/{topic}.json").json()
    assert [(one["documents"], one["waiting"]) for one in page["subtopics"]] == [(0, True)] * 2
    assert writer.get(f"/topic/{topic}").text.count('<td class="own">filled at the next fit<') == 2
    part = writer.get(page["subtopics"][0]["address"]).text
    assert '<p class="sentence">New: filled at the next fit.</p>' in part
    assert "no document lies under" not in part
    assert not any(one["waiting"] for one in writer.get("/topic/0.json").json()["subtopics"])


def test_the_partner_of_a_merge_is_asked_for_before_the_name_of_both(writer):
    text = writer.get(f"/shape?edit=merge&topic={leaf(writer)}").text
    assert text.index('name="others"') < text.index('id="name"')


def test_topics_are_grouped_from_a_form_and_seen_before_a_fit(writer):
    view, topics = writer.view, [leaf(writer, place) for place in (0, 1, -1)]
    assert f"edit=group&amp;topic={topics[0]}" in writer.get(f"/topic/{topics[0]}").text
    form = writer.get(f"/shape?edit=group&topic={topics[0]}").text
    assert re.search(r'<select id="other" name="others" multiple', form)
    asked = f"edit=group&topic={topics[0]}&others={topics[1]}&others={topics[2]}&name=Ours&ready=1"
    page = writer.get(f"/shape.json?{asked}").json()
    new = next(change for change in page["changes"] if change["topic"] == "Ours")
    sizes = [view.sizes[view.shape.node(topic)] for topic in topics]
    assert new["after"] == pytest.approx(sum(sizes), abs=2)
    assert "filled at" not in new["said"]
    text = writer.get(f"/shape?{asked}").text
    hidden = re.findall(r'type="hidden" name="others" value="(\d+)"', text)
    assert hidden == [str(topic) for topic in topics[1:]] * 2, "with a fit, and without"
    assert writer.view.number == view.number
    edit(writer, "group", topics[0], others=hidden[:2], name="Ours")
    now = writer.view.shape
    heading = now.find("Ours")
    assert {now.topics[child] for child in now.tree.children(now.node(heading))} == set(topics)
    shown = writer.get(f"/topic/{heading}.json").json()
    assert shown["topic"]["documents"] == new["after"]
    assert shown["topic"]["words"]
    assert not shown["topic"]["waiting"]
    assert "Last change: put " in html.unescape(writer.get("/tree").text)


def test_words_are_chosen_from_the_page_of_a_word(writer):
    topic, page = leaf(writer), writer.get("/word?word=court")
    for kind in ("seed", "ignore", "unite"):
        assert f"/shape?edit={kind}&amp;words=court" in page.text
    assert "edit=forget" not in page.text
    assert f"edit=seed&amp;other={topic}" in writer.get(f"/topic/{topic}").text
    form = writer.get("/shape?edit=seed&words=court").text
    assert re.search(r'<select id="other" name="other">', form)
    assert 'name="words" value="court"' in form
    asked = writer.get(f"/shape.json?edit=seed&words=Court,judge&other={topic}&ready=1").json()
    assert asked["ready"]
    assert asked["refits"]
    assert ["“court” is in" in use for use in asked["uses"]] == [True, False]
    edit(writer, "seed", None, words="Court, judge", other=topic)
    assert writer.view.shape.seeds == {topic: ("court", "judge")}
    said = writer.get("/word.json?word=court").json()
    assert said["said"][0]["text"] == "Seed word of"
    assert said["said"][0]["address"] == f"/topic/{topic}"
    assert "edit=forget&amp;words=court" in writer.get("/word?word=court").text
    assert writer.get(f"/topic/{topic}.json").json()["seeds"] == ["court", "judge"]
    assert "cannot be ignored" in writer.get("/shape.json?edit=ignore&words=court").json()["problem"]
    edit(writer, "forget", None, words="court")
    edit(writer, "ignore", None, words="court")
    text = writer.get("/word?word=court").text
    assert "Ignored by the tree" in text
    assert "edit=seed" not in text
    assert writer.get("/word.json?word=court").json()["homes"] == []
    assert writer.get("/search.json?q=court").json()["total"] > 0


def test_words_that_cannot_be_meant_are_asked_for_again(writer):
    for asked, said in (
        ("seed&words=court", "the other topic is missing"), ("seed&other=1", "the words are missing"),
        ("ignore&words=cort", "is not in the vocabulary. Try: Use 'court'"), ("unite&words=court", "two spellings"),
    ):  # fmt: skip
        page = writer.get(f"/shape.json?edit={asked}&ready=1").json()
        assert said.lower() in page["problem"].lower()
        assert not page["ready"]


def test_a_heading_without_a_name_or_topics_is_asked_for_again(writer):
    for more, said in (("", "the other topics are missing"), (f"&others={leaf(writer, 1)}", "needs a name")):
        page = writer.get(f"/shape.json?edit=group&topic={leaf(writer)}{more}&ready=1").json()
        assert said in page["problem"].lower()
        assert not page["ready"]


def test_several_topics_are_merged_from_a_form(writer):
    one, *others = (leaf(writer, place) for place in (0, 1, -1))
    edit(writer, "merge", one, others=others)
    assert not {*others} & {*writer.view.shape.topics}


def test_a_group_that_came_too_late_is_shown_with_all_its_topics(writer):
    state, topics = writer.view.mark, [leaf(writer, place) for place in (0, 1, -1)]
    edit(writer, "describe", topics[0], note="meanwhile")
    answer = writer.put_form("/shape", edit="group", topic=topics[0], others=topics[1:], name="Ours", state=state)
    assert answer.status_code == 409
    assert re.findall(r'name="others" value="(\d+)"', answer.text) == [str(topic) for topic in topics[1:]]


def test_a_fit_runs_beside_the_pages(writer):
    topic = leaf(writer)
    edit(writer, "split", topic, into="2", refit="1")
    assert writer.get("/").status_code == 200
    until = time.monotonic() + 60
    while writer.get("/job.json").json()["running"] and time.monotonic() < until:
        assert writer.get(f"/topic/{topic}").status_code == 200
        time.sleep(0.2)
    job = writer.get("/job.json").json()
    assert (job["phase"], job["running"], job["error"], job["left"]) == ("done", False, "", None)
    assert job["iteration"] == job["about"] > 0
    page = writer.get(f"/topic/{topic}.json").json()
    assert len(page["subtopics"]) == 2
    assert sum(one["documents"] for one in page["subtopics"]) == page["topic"]["documents"]
    assert not page["pending"]


def test_two_windows_do_not_overwrite_each_other(writer, copied):
    topic, old = leaf(writer), writer.view.mark
    with Collection.open(copied) as other:
        other.shape([Rename(topic, "Theirs")])
    answer = writer.put_form("/shape", edit="rename", topic=topic, name="Mine", state=old)
    assert answer.status_code == 409
    assert "Theirs" in answer.text
    assert "Mine" in answer.text
    assert writer.get(f"/topic/{topic}.json").json()["topic"]["name"] == "Theirs"
    edit(writer, "rename", topic, name="Mine")
    assert writer.get(f"/topic/{topic}.json").json()["topic"]["name"] == "Mine"
    assert writer.put_form("/undo", state=old).status_code == 409
    assert writer.put_form("/undo", state="").status_code == 422
    assert writer.get(f"/topic/{topic}.json").json()["topic"]["name"] == "Mine"


def test_of_simultaneous_edits_one_is_made(writer):
    topic, state = leaf(writer), writer.view.mark
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(
            lambda number: writer.put_form("/shape", edit="rename", topic=topic, name=f"N{number}", state=state),
            range(4),
        ))  # fmt: skip
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]


def test_a_form_of_a_collection_that_was_grown_anew_changes_nothing(writer, copied):
    topic, state = leaf(writer), writer.view.mark
    Collection.grow(documents(120), copied, Recipe(topics=4), force=True).close()
    before = writer.view.names
    answer = writer.put_form("/shape", edit="rename", topic=topic, name="Mine", state=state)
    assert answer.status_code == 409
    assert "grown again" in answer.text
    assert writer.put_form("/read", topic=topic, state=state).status_code == 409
    assert writer.put_form("/tag", document=ID, tag="mine", state=state).status_code == 409
    assert writer.put_form("/undo", state=state).status_code == 409
    assert writer.put_form("/refit", state=state).status_code == 409
    assert writer.view.names == before
    assert not writer.view.collection.marks.read()
    assert not writer.view.collection.marks.tags()


def test_a_mark_of_a_document_that_may_be_another_is_repeated_by_one_button(writer, copied):
    state = writer.view.mark
    Collection.grow(documents(120), copied, Recipe(topics=4), force=True).close()
    title = writer.get(f"/doc.json?id={ID}").json()["title"]
    answer = writer.put_form("/tag", document=ID, tag="mine", state=state, back="/model")
    assert answer.status_code == 409
    assert "The collection was grown again" in answer.text
    assert f"the document {title}" in answer.text
    form = answer.text.split("<main")[1].split('<form class="one"')[1].split("</form>")[0]
    values = dict(re.findall(r'name="([^"]+)" value="([^"]*)"', form))
    assert values["state"] == writer.view.mark
    assert writer.put_form(re.search('action="([^"]+)"', form)[1], **values).url.path == "/model"
    assert writer.get(f"/doc.json?id={ID}").json()["tags"] == ["mine"]
    gone = writer.put_form("/read", document="wire/law/bail/396.txt", state=state)
    assert gone.status_code == 409
    assert "the document no longer exists" in gone.text
    assert "as it is now</button>" not in gone.text
    edit(writer, "rename", leaf(writer), name="Another name")
    old = f"{writer.view.mark.rpartition(':')[0]}:1"
    assert writer.put_form("/read", document=ID, state=old).status_code == 200  # a name is no other document


def test_a_client_that_is_no_browser_is_answered_as_data(writer):
    topic, headers = leaf(writer), {"Origin": HERE, safety.TOKEN: writer.app.state.session.token}

    def post(path, **values):
        return writer.post(path, json={"state": writer.view.mark, **values}, headers=headers)

    assert post("/shape", edit="rename", topic=topic, name="Mine", back="/tree").json() == {
        "done": True, "to": "/tree", "question": "",
    }  # fmt: skip
    asked = post("/read", topic=0).json()
    assert (asked["done"], asked["question"]) == (False, "Mark all 400 read?")
    assert post("/read", topic=0, sure=True).json()["done"]
    assert writer.get("/topic/0.json").json()["read"] == 400
    changed = post("/shape", edit="rename", topic=topic, name="Mine", state="nothing:1")
    assert (changed.status_code, changed.json()["title"]) == (409, "The collection was grown again")
    placed = post("/new", text="The suspect was granted bail; surety, bond, custody, remand.").json()
    assert len(placed["filed"]) == 1
    assert post("/keep", key=placed["key"]).json()["done"]
    assert len(writer.view.collection) == 401
    for wrong in ({"topic": "x"}, {"topic": 10**9}, {"topic": -1}, {"show": "none"}, {"sure": "perhaps"}):
        answer = post("/read", **wrong)
        assert (answer.status_code, answer.json()["status"]) == (422, 422)
    assert writer.post("/read", content="{", headers={**headers, "Content-Type": "application/json"}).status_code == 422
    assert writer.post("/read", json=[], headers=headers).status_code == 422


def test_what_was_typed_while_somebody_writes_is_not_lost(writer, copied, monkeypatch):
    monkeypatch.setattr(posts, "PATIENCE", 0.1)
    topic = leaf(writer)
    answer = writer.put_form("/new", text="The suspect was granted bail; surety, bond, custody, remand.")
    key = answer.text.split('name="key" value="')[1].split('"')[0]
    with lock_folder(Path(copied), "copy"):
        answer = edit(writer, "rename", topic, name="A long name that somebody typed")
        assert answer.status_code == 503
        assert 'value="A long name that somebody typed"' in answer.text
        assert "Your input is kept" in answer.text
        answer = writer.put_form("/keep", key=key)
        assert answer.status_code == 503
        assert "nothing was stored" in answer.text.lower()
    assert writer.put_form("/keep", key=key).status_code == 200
    assert len(writer.view.collection) == 401


def test_a_search_is_saved_replaced_and_deleted_from_its_page(writer):
    topic = leaf(writer)
    page = writer.get("/search", params={"q": "bail", "by": "words", "topic": topic}).text
    form = page.split('action="/save_search"')[1].split("</form>")[0]
    told = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
    assert (told["query"], told["by"], told["topic"]) == ("bail", "words", str(topic))
    assert writer.put_form("/save_search", **{**told, "name": "<b>Bail</b>"}).status_code == 200
    page = writer.get("/search", params={"q": ""}).text
    assert "&lt;b&gt;Bail&lt;/b&gt;" in page
    assert "<b>Bail" not in page
    asked = writer.put_form("/save_search", name="<B>bail</b>", query="bond", by="both")
    assert "Replace the saved search" in asked.text
    saved = writer.get("/search.json?q=bail").json()["saved"]
    assert [(one["name"], one["title"]) for one in saved] == [("<b>Bail</b>", "")]
    assert f"topic={topic}" in saved[0]["address"]
    with writer.view.collection.folder.writing() as generation:  # as if the tree had been edited since
        known = facts.settings(generation.database)["saved_searches"]
        facts.change_settings(generation.database, {"saved_searches": [{**known[0], "topic": "977"}]})
    assert writer.get("/search.json?q=bail").json()["saved"][0]["title"] == "topic 977 no longer exists: all topics"
    assert "(topic 977 no longer exists: all topics)" in writer.get("/search?q=bail").text
    assert "Delete the saved search" in writer.put_form("/delete_search", name="<b>Bail</b>").text
    assert writer.put_form("/delete_search", name="<b>Bail</b>", sure="1").status_code == 200
    assert writer.get("/search.json?q=bail").json()["saved"] == []
    assert writer.post("/save_search", data={"name": "x", "query": "y", "state": writer.view.mark}).status_code == 403


def test_dates_that_may_be_either_are_asked_for_before_documents_are_filed(writer):
    table = "text,date\nthe judge grants bail before the trial,05/06/2026\nthe court hears the appeal,07/08/2026\n"
    page = writer.put_form("/new", files=[("files", ("new.csv", table.encode(), "text/csv"))])
    key = re.search(r'name="key" value="([^"]+)"', page.text)[1]
    assert "First part of dates such as 05/06/2026" in page.text
    assert "tells whether the day or the month comes first" in writer.put_form("/keep", key=key).text
    assert writer.put_form("/keep", key=key, dates="month-first").status_code == 200
    assert writer.view.collection.documents.get(writer.view.n_docs - 1).date == "2026-07-08"


def test_brought_files_keep_their_names_and_ids(writer):
    rows = b'{"id": "report-7", "title": "Seven", "text": "oil barrel crude"}\n{"id": "x", "text": "bail bond"}\n'
    files = [("files", ("wire report (2).txt", b"oil barrel crude refinery price", "text/plain")),
             ("files", ("wire report (2).txt", b"tennis serve racket volley ace", "text/plain")),
             ("files", ("rows.jsonl", rows, "application/json")),
             ("files", ("broken.pdf", b"%PDF-1.4 nothing", "application/pdf"))]  # fmt: skip
    answer = writer.put_form("/new", files=files)
    assert tempfile.gettempdir() not in answer.text
    key = answer.text.split('name="key" value="')[1].split('"')[0]
    assert writer.put_form("/keep", key=key).status_code == 200
    kept = {one.id: one for one in writer.view.collection.documents.iterate() if not one.id.startswith("wire/")}
    assert set(kept) == {"wire report (2).txt", "wire report (2).txt#2", "report-7", "x"}
    assert kept["wire report (2).txt"].source == "wire report (2).txt"
    assert kept["report-7"].title == "Seven"
    assert kept["report-7"].source == "rows.jsonl"


def test_only_so_many_documents_can_be_brought(writer, monkeypatch):
    monkeypatch.setattr(uploads, "MAX_DOCUMENTS", 3)
    rows = b"".join(b'{"id": "%d", "text": "oil barrel crude"}\n' % number for number in range(9))
    answer = writer.put_form("/new", files=[("files", ("rows.jsonl", rows, "application/json"))])
    assert "3 documents to file" in answer.text
    assert "first 3 documents" in answer.text


def test_the_question_before_many_marks_asks_for_the_same(writer):
    answer = writer.put_form("/tag", topic=0, tag="{all} of it", show="here", back="/tree")
    form = answer.text.split("<main")[1].split('<form class="one"')[1].split("</form>")[0]
    values = {name: html.unescape(value) for name, value in re.findall(r'name="([^"]+)" value="([^"]*)"', form)}
    assert {name: values[name] for name in ("topic", "tag", "show", "back", "sure", "state")} == {
        "topic": "0", "tag": "{all} of it", "show": "here", "back": "/tree", "sure": "1", "state": writer.view.mark,
    }  # fmt: skip
    assert writer.put_form("/tag", **values).url.path == "/tree"
    assert writer.view.collection.marks.tags() == {"{all} of it": 400}


def test_tags_and_read_marks_of_documents(writer):
    view = writer.view
    topic = view.shape.topics[view.assigned_nodes[view.collection.documents.row_of(ID)]]
    writer.put_form("/tag", document=ID, tag="to do")
    writer.put_form("/read", document=ID)
    page = writer.get(f"/doc.json?id={ID}").json()
    assert page["tags"] == ["to do"]
    assert page["read"]
    whole = {"topic": topic, "state": writer.view.mark}
    asked = writer.put_form("/read", **whole)
    assert "read?</h1>" in asked.text
    assert "Cancel" in asked.text
    assert writer.get(f"/topic/{topic}.json").json()["read"] == 1
    writer.put_form("/tag", tag="all of it", sure="1", **whole)
    writer.put_form("/read", sure="1", **whole)
    assert "Mark all unread" in writer.get(f"/topic/{topic}").text
    assert 'aria-label="Remove the tag to do"' in writer.get(f"/doc?id={ID}").text
    for path in (f"/topic/{topic}", f"/doc?id={ID}"):  # a browser ends a paragraph where a form begins
        assert not re.search(r"<p\b[^>]*>(?:(?!</p>).)*<form", writer.get(path).text, re.DOTALL)
    page = writer.get(f"/topic/{topic}.json").json()
    assert page["read"] == page["paging"]["total"]
    assert writer.get(f"/topic/{topic}.json?show=unread").json()["paging"]["total"] == 0
    assert writer.get(f"/topic/{topic}.json?show=tagged").json()["paging"]["total"] == page["paging"]["total"]
    assert writer.get('/search.json?q=tag:"to do"').json()["total"] == 1
    assert "My tags" in writer.get("/model").text
    assert "Tag to do (1)" in writer.get("/").text
    writer.put_form("/untag", tag="all of it", sure="1", **whole)
    writer.put_form("/read", unread="1", sure="1", **whole)
    assert writer.get(f"/topic/{topic}.json").json()["read"] == 0
    assert writer.get(f"/topic/{topic}.json?show=tagged").json()["paging"]["total"] == 1
    writer.put_form("/untag", document=ID, tag="to do")
    writer.put_form("/read", document=ID, unread="1")
    page = writer.get(f"/doc.json?id={ID}").json()
    assert (page["tags"], page["read"]) == ([], False)
    assert writer.put_form("/tag", document=ID, tag=" ").status_code == 422


def test_new_documents_are_placed_and_stored_only_when_somebody_says_so(writer):
    files = [("files", ("a.txt", b"oil barrel crude refinery price output pipeline", "text/plain")),
             ("files", ("b.xyz", b"\x00\x01", "application/octet-stream"))]  # fmt: skip
    answer = writer.put_form("/new", text="The suspect was granted bail; surety, bond, custody, remand.", files=files)
    assert answer.status_code == 200, answer.text[:300]
    assert "2 documents to file" in answer.text
    assert len(writer.view.collection) == 400
    key = answer.text.split('name="key" value="')[1].split('"')[0]
    assert "undo the last three additions" in answer.text
    answer = writer.put_form("/keep", key=key)
    assert answer.url.path == "/new"
    assert "2 documents filed" in answer.text
    stored = writer.get(f"/new.json?{answer.url.query.decode()}").json()["stored"]
    assert [one["id"] for one in stored] == ["pasted", "a.txt"]
    for one in stored:
        assert f'href="{one["address"]}"' in answer.text
        assert f'href="{one["path"][-1]["address"]}"' in answer.text
    assert len(writer.view.collection) == 402
    for forged in ("first=0&filed=400", "first=402&filed=9", "first=999999999&filed=999999999"):
        assert writer.get(f"/new.json?{forged}").json()["stored"] == []
    assert writer.get("/search.json?q=surety+granted&by=words").json()["total"] == 1
    assert writer.put_form("/keep", key=key).status_code == 409


def test_what_was_pasted_stays_in_the_form_and_an_empty_form_says_what_is_missing(writer):
    answer = writer.put_form("/new", text=" ")
    assert answer.status_code == 400
    assert 'role="alert">No text found. Paste a text or choose a file.<' in answer.text
    assert 'id="pasted"' in answer.text
    text = "\n\n</textarea><b>Crude oil</b>" + " barrel refinery" * 20
    answer = writer.put_form("/new", text=text)
    box = re.search(r'<textarea id="pasted"[^>]*>\n(.*?)</textarea>', answer.text, re.DOTALL)
    assert html.unescape(box[1]) == text
    title = re.search(r'<tbody>\s*<tr><th scope="row" dir="auto">([^<]*)', answer.text)[1].strip()
    assert title.endswith((" barrel …", " refinery …"))
    assert len(html.unescape(title)) <= 120
