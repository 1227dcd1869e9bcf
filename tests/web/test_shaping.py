"""Shaping in place: names by a click and a candidate, topics that are ticked, splits that are seen before; one undo."""

import json
import re

import numpy as np
import pytest
from starlette.testclient import TestClient

from tests.web.test_browser import heading, until
from topiarist.collection.collection import Collection
from topiarist.collection.shape.edits import Rename, Split
from topiarist.collection.shape.history import apply_edits, undo_last_step
from topiarist.collection.shape.previews import preview_split
from topiarist.errors import UsageError
from topiarist.web.http.server import explorer


@pytest.fixture
def client(copied):
    return TestClient(explorer(copied), base_url="http://127.0.0.1")


def posted(client, path, **values):
    session = client.app.state.session
    told = {"token": session.token, "state": session.view().mark, **values}
    return client.post(path, data=told, follow_redirects=False, headers={"Origin": "http://127.0.0.1"})


def leaves_of(view):
    return [view.shape.topics[node] for node in view.tree.leaves]


def test_a_name_is_chosen_in_two_acts_without_leaving_the_page(page, changing):
    page.goto(f"{changing.address}/topic/1")
    page.wait_for_selector('[role="tree"]')
    before, address = heading(page), page.url
    page.evaluate("window.same = true")
    page.locator("h1 [data-rename]").click()  # one
    page.wait_for_selector(".naming .chip")
    assert page.evaluate("document.activeElement.matches('.naming input')")
    assert page.locator(".word-chips a").first.is_visible()  # what one names by stays in view
    name = page.locator(".naming .chip").first.inner_text()
    assert name != before
    page.locator(".naming .chip").first.click()  # two
    until(page, f"document.querySelector('h1').textContent.includes({name!r})")
    assert page.evaluate("window.same")
    assert page.url == address
    assert name in page.locator(".tree [aria-current]").inner_text()
    assert "rename" in page.locator(".last").inner_text()
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector("h1")
    assert heading(page) == before
    assert page.problems == []


def test_rename_of_a_changed_topic_offers_both_versions(page, changing):
    page.goto(f"{changing.address}/topic/1")
    page.locator("h1 [data-rename]").click()
    page.wait_for_selector(".naming input")
    session = changing.app.state.session
    with session.writer() as collection:
        apply_edits(collection, [Rename(1, "Theirs")], refit=False)
    page.locator(".naming input").fill("Mine")
    page.keyboard.press("Enter")
    page.wait_for_selector(".naming .notice")
    text = page.locator(".naming .notice").inner_text()
    assert "called Theirs" in text
    assert "Your change:" in text
    page.get_by_role("button", name="Apply my edit").click()
    until(page, "document.querySelector('h1').textContent.includes('Mine')")


def test_failed_request_shows_its_own_reason(page, changing):
    page.goto(f"{changing.address}/topic/1")
    page.wait_for_selector('[role="tree"]')
    reason = json.dumps({"message": "The disk is full", "hint": "Free some space."})
    page.route("**/shape.json?*", lambda route: route.fulfill(status=503, content_type="application/json", body=reason))
    page.locator("h1 [data-rename]").click()
    page.wait_for_selector(".strip.gone")
    assert page.locator(".strip.gone").inner_text() == "The disk is full. Free some space."
    page.unroute("**/shape.json?*")
    page.route("**/shape.json?*", lambda route: route.abort())
    page.locator("h1 [data-rename]").click()
    until(page, "document.querySelector('.strip.gone').textContent.includes('not running any more')")
    page.unroute("**/shape.json?*")
    page.locator("h1 [data-rename]").click()
    page.wait_for_selector(".naming input")
    assert not page.locator(".strip.gone").count()


def test_a_name_is_typed_in_the_picture(page, changing):
    page.goto(changing.address)
    page.wait_for_selector('.picture .name[tabindex="0"]')
    page.locator(".picture .name").nth(1).focus()
    page.keyboard.press("F2")
    page.wait_for_selector(".naming input")
    page.keyboard.type("A name of mine")
    page.keyboard.press("Enter")
    page.wait_for_selector(".picture .given")
    until(page, "document.activeElement.textContent.includes('A name of mine')")
    page.locator(".picture .name").nth(2).focus()
    page.keyboard.press("F2")
    page.wait_for_selector(".naming input")
    page.keyboard.press("Escape")
    until(page, "document.activeElement === document.querySelectorAll('.picture .name')[2]")
    assert page.problems == []


def test_three_topics_are_grouped_in_four_acts_and_one_undo(page, changing):
    view = changing.app.state.session.view()
    some = [view.shape.topics[top] for top in view.tree.leaves[:2]] + [view.shape.topics[view.tree.leaves[-1]]]
    page.goto(f"{changing.address}/?detail=all")
    page.wait_for_selector('.picture .name[tabindex="0"]')
    assert not page.locator(".acts").is_visible()
    for topic in some:
        page.locator(f"#n{topic}").hover()
        page.locator(f'.choose input[value="{topic}"]').click()
        is_ready = topic != some[0]  # one topic cannot be grouped or merged
        assert page.locator(".acts button", has_text="Group").is_enabled() == is_ready
        assert page.locator(".acts button", has_text="Merge").is_enabled() == is_ready
    assert page.locator(".acts .chosen").inner_text() == "3 topics"
    page.locator(".acts button", has_text="Group").click()
    page.wait_for_selector(".last")
    now = changing.app.state.session.view()
    (heading,) = set(now.shape.topics) - set(view.shape.topics)
    below = {now.shape.topics[node] for node in now.tree.children(now.shape.node(heading))}
    assert below == set(some)
    first = [view.names[view.shape.node(topic)].split(" · ")[0] for topic in some]
    assert now.names[now.shape.node(heading)] == ", ".join(first)
    assert now.sizes[now.shape.node(heading)] == pytest.approx(
        sum(view.sizes[view.shape.node(one)] for one in some), abs=2
    )
    page.get_by_role("button", name="Undo").first.click()
    page.wait_for_selector(".picture")
    assert changing.app.state.session.view().shape.topics == view.shape.topics
    assert page.problems == []


def test_ticked_topics_are_merged_or_ignored_without_a_script_too(client):
    view = client.app.state.session.view()
    one, other, *_ = leaves_of(view)
    text = client.get("/").text
    assert f'<input type="checkbox" name="others" value="{one}"' in text
    assert posted(client, "/shape", edit="merge", others=[one, other], back="/").status_code == 303
    now = client.app.state.session.fresh()
    assert one in now.shape.node_of
    assert other not in now.shape.node_of
    posted(client, "/undo")
    assert posted(client, "/shape", edit="ignore", others=[one], back="/").status_code == 303
    words = view.collection.tree.nodes[view.shape.node(one)].words[:5]
    assert set(words) <= set(client.app.state.session.fresh().shape.ignored)
    posted(client, "/undo")
    assert not client.app.state.session.fresh().shape.ignored
    assert posted(client, "/shape", edit="group", others=[one], back="/").status_code in (400, 422)


def test_a_split_is_seen_by_words_and_documents_before_it_is_made(client):
    view = client.app.state.session.view()
    topic = leaves_of(view)[0]
    page = client.get(f"/shape.json?edit=split&topic={topic}&into=3").json()
    assert len(page["parts"]) == 3
    assert [one["chosen"] for one in page["sizes"]].index(True) == 1
    assert sum(part["documents"] for part in page["parts"]) == pytest.approx(view.sizes[view.shape.node(topic)], abs=3)
    text = client.get(f"/shape?edit=split&topic={topic}&into=3").text
    for part in page["parts"]:
        assert part["words"]
        assert all(word in text for word in part["words"])
        assert all(line["snippet"] for line in part["typical"])
    inner = next(view.shape.topics[node] for node in view.tree.depth_first() if not view.tree.is_leaf(node) and node)
    assert "has subtopics" in client.get(f"/shape.json?edit=split&topic={inner}").json()["problem"]


def test_a_fit_begins_with_the_parts_that_were_shown(copied):
    with Collection.open(copied) as collection:
        outline = collection.outline
        topic = outline.topics[outline.tree.leaves[0]]
        parts = preview_split(collection, topic, 2)
        apply_edits(collection, [Split(topic, 2)])
        now = collection.outline
        below = now.tree.children(now.node(topic))
        homes = np.asarray(collection.shares.argmax(axis=1)).ravel()
        classes = [now.class_nodes.index(node) for node in below]
        for part in parts:
            found = {int(homes[row]) for row in part.rows}
            assert len(found) == 1  # typical documents of a part stay together
            assert found <= set(classes)
        with pytest.raises(UsageError, match="has subtopics"):
            preview_split(collection, topic, 2)


def test_an_edit_and_the_fit_that_it_asked_for_are_one_step_to_undo(client):
    view = client.app.state.session.view()
    before, topics = view.mark.rpartition(":")[2], view.shape.topics
    one, other, *_ = leaves_of(view)
    posted(client, "/shape", edit="merge", others=[one, other], refit="1", back="/")
    job = client.app.state.session.job
    for _ in range(600):
        if job.done:
            break
        job_done = re.search("running", client.get("/job.json").text)
        assert job_done
    assert not job.error
    text = client.get("/").text
    assert "Last change: merge" in text
    assert "fitted again" in text
    posted(client, "/undo")
    now = client.app.state.session.fresh()
    assert now.shape.topics == topics
    assert not now.shape.pending
    assert str(now.number) == before
    last = client.app.state.session.find_undoable(now)
    assert last.kind == "learn"  # both are taken back; what is left was before them


def test_a_fit_of_its_own_is_a_step_of_its_own(copied):
    with Collection.open(copied) as collection:
        topic = collection.outline.topics[collection.outline.tree.leaves[0]]
        apply_edits(collection, [Rename(topic, "Mine")], refit=False)
        apply_edits(collection, [])
        assert undo_last_step(collection) == "fitted again"
        assert collection.outline.titles == {topic: "Mine"}


def test_only_possible_edits_of_a_topic_are_offered(client):
    view = client.app.state.session.view()
    leaf, inner = leaves_of(view)[0], view.shape.topics[view.tree.children(view.tree.root)[0]]
    assert client.get(f"/topic/{leaf}.json").json()["edits"] == ["merge", "group", "split"]
    assert client.get(f"/topic/{inner}.json").json()["edits"] == ["merge", "group"]
    assert "edit=split" in client.get(f"/topic/{leaf}").text
    assert "edit=split" not in client.get(f"/topic/{inner}").text
    for topic in view.shape.topics:
        page = client.get(f"/shape.json?edit=rename&topic={topic}").json()
        assert page["current"] not in [one["name"] for one in page["candidates"]]


def test_tree_shows_all_words_and_bars_of_one_scale(client):
    view = client.app.state.session.view()
    text = client.get("/tree?depth=100").text
    for node in view.tree.leaves:
        assert ", ".join(view.collection.tree.nodes[node].words[:4]) in text
    row = client.get("/tree.json?depth=100").json()["row"]
    largest = max(one["topic"]["documents"] for one in row["below"])
    rows = [one for top in row["below"] for one in (top, *top["below"])]
    assert len(rows) > len(row["below"])
    for one in rows:
        assert one["bar"] == pytest.approx(one["topic"]["documents"] / largest, abs=1.5 / largest)
