"""Somebody was faster: what they did since, and what can still be done."""

import re

from tests.web.clients import HERE, edit, leaf


def since(answer):
    assert answer.status_code == 409
    return re.findall(r"<li>(.*?)</li>", answer.text.split("Changes since you opened the page:")[1].split("<h2>")[0])


def test_what_speaks_of_a_topic_that_is_gone_cannot_be_applied(writer):
    one, two, three = (leaf(writer, place) for place in range(3))
    old = writer.view.mark
    edit(writer, "merge", one, other=two)
    wanted = (("rename", {"topic": two, "name": "Mine"}), ("merge", {"topic": three, "other": two}),
              ("pin", {"document": "wire/law/bail/000.txt", "other": two}))  # fmt: skip
    for kind, values in wanted:
        answer = writer.put_form("/shape", edit=kind, state=old, **values)
        assert since(answer)
        assert "Apply my edit" not in answer.text
        assert "Keep the current version" in answer.text
    answer = writer.put_form("/shape", edit="rename", topic=three, name="Mine", state=old)
    assert "Apply my edit" in answer.text


def test_only_what_was_done_after_a_look_is_told_also_after_an_undo(writer):
    topic = leaf(writer)
    edit(writer, "rename", topic, name="First")
    edit(writer, "rename", topic, name="Second")
    writer.put_form("/undo")
    old = writer.view.mark
    edit(writer, "rename", topic, name="Third")
    (said,) = since(writer.put_form("/shape", edit="rename", topic=topic, name="Mine", state=old))
    assert "Third" in said


def test_a_pin_is_shown_against_the_topic_that_it_goes_to(writer):
    topic, old = leaf(writer), writer.view.mark
    edit(writer, "rename", topic, name="Theirs")
    pin = {"edit": "pin", "document": "wire/law/bail/000.txt", "other": topic, "state": old}
    assert "called Theirs" in writer.put_form("/shape", **pin).text
    unpin = writer.put_form("/shape", edit="unpin", document="wire/law/bail/000.txt", state=old)
    assert "the tree after these edits" in unpin.text
    assert "Apply my edit" in unpin.text


def test_programs_get_both_versions_and_can_apply_theirs(writer):
    topic, old = leaf(writer), writer.view.mark
    edit(writer, "rename", topic, name="Theirs")
    form = {"edit": "rename", "topic": topic, "name": "Mine", "state": old}
    headers = {"Origin": HERE, "Accept": "application/json"}
    answer = writer.post("/shape", data={**form, "token": writer.app.state.session.token}, headers=headers)
    assert answer.status_code == 409
    told = answer.json()
    assert "called Theirs" in told["theirs"]
    assert "Mine" in told["yours"]
    assert told["button"] == "Apply my edit"
    assert writer.put_form("/shape", **{**form, "state": told["state"]}).status_code < 400
    assert writer.view.names[writer.view.shape.node(topic)] == "Mine"
