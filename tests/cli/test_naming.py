"""``topiarist name``: candidates, picks, and proposals of a fake program and a fake server."""

import json
import shlex
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from topiarist.collection.collection import Collection
from topiarist.collection.shape import language_model

COUNTING = """\
import pathlib, sys
asked = pathlib.Path("asked.txt")
before = asked.read_text(encoding="utf-8") if asked.exists() else ""
number = before.count("Name one topic")
asked.write_text(before + sys.stdin.buffer.read().decode(), encoding="utf-8")
print(f'"Proposal {number}"')
"""


@pytest.fixture
def program(path):
    """``program(source)``: the words of a command that runs it, in the folder of the test."""

    def made(source):
        file = path.parent / "answers.py"
        file.write_text(source)
        return shlex.join([sys.executable, str(file)])

    return made


def names(typed):
    return {topic["id"]: topic["name"] for topic in typed("tree", "--json")["topics"]}


def steps(typed):
    return typed("shape", "--log", "--json")


def test_candidates_are_listed_and_picked(typed):
    before = names(typed)
    found = typed("name", "--json")["topics"]
    assert {one["id"] for one in found} == before.keys() - {0}
    several = [one for one in found if len(one["candidates"]) > 1]
    assert len(several) > 1
    assert all(one["named_by"] == "words" for one in found)
    done = typed("name")
    for one in found:
        assert all(candidate in done.stdout for candidate in one["candidates"])
    assert "--pick" in done.stderr
    picks = {one["id"]: one["candidates"][1] for one in several[:2]}
    told = typed("name", *(word for topic in picks for word in ("--pick", f"{topic}=2")))
    assert "2 topics renamed" in told.stdout
    assert {topic: names(typed)[topic] for topic in picks} == picks
    assert len(steps(typed)) == 2
    typed("shape", "--undo")
    assert names(typed) == before


def test_a_wrong_pick_renames_nothing(typed):
    before = names(typed)
    first, second, *_ = (one["id"] for one in typed("name", "--json")["topics"])
    typed("name", "--pick", f"{first}=2", "--pick", f"{second}=99", code=2)
    assert names(typed) == before


def test_proposals_are_shown_and_renamed_only_if_asked(typed, program, path):
    before, with_program = names(typed), program(COUNTING)
    done = typed("name", "--with", with_program)
    assert f"{before[1]} → Proposal 0" in done.stdout
    assert f"{len(before) - 1} proposals, nothing renamed yet" in done.stdout
    assert names(typed) == before
    assert len(steps(typed)) == 1
    (path.parent / "asked.txt").unlink()
    found = typed("name", "--with", with_program, "--apply", "--json")
    assert found["applied"]
    assert all(not one["refused"] and one["name"] == before[one["id"]] for one in found["proposals"])
    assert names(typed) == {0: before[0], **{one["id"]: one["proposal"] for one in found["proposals"]}}
    assert len(steps(typed)) == 2
    typed("shape", "--undo")
    assert names(typed) == before


def test_a_tree_that_is_shaped_meanwhile_costs_no_other_proposal(typed, program, path):
    before = names(typed)
    gone, kept = sorted(before)[-2:]
    shaping = f"""
if number == 0:
    from topiarist.collection.collection import Collection
    from topiarist.collection.shape import Merge
    with Collection.open({str(path)!r}) as collection:
        collection.shape([Merge(({kept}, {gone}))], refit=False)
"""
    found = typed("name", "--with", program(COUNTING + shaping), "--apply", "--json", code=1)
    by_topic = {one["id"]: one for one in found["proposals"]}
    assert by_topic[gone]["refused"] == "the topic was removed while names were proposed"
    others = {id: one["proposal"] for id, one in by_topic.items() if id != gone}
    assert all(others.values())
    assert {id: name for id, name in names(typed).items() if id} == others


def test_a_prompt_has_words_titles_and_what_is_around(typed, program, path):
    done = typed("name", "--with", program(COUNTING), "--verbose")
    asked = (path.parent / "asked.txt").read_text(encoding="utf-8").split("Name one topic")[1:]
    with Collection.open(path) as collection:
        node = collection.tree.nodes[1]
        title = collection.documents.load_many(node.rows[:1], texts=False)[0].title
    topics = typed("tree", "--json")["topics"][1:]
    assert len(asked) == len(topics)
    assert all(one in done.stderr for one in asked)
    assert ", ".join(node.words[:10]) in asked[0]
    assert node.names[1] in asked[0]
    assert " ".join(title.split())[:100] in asked[0]
    order = {one["id"]: number for number, one in enumerate(topics)}
    for prompt, one in zip(asked, topics, strict=True):
        if one["parent"] in order:
            assert f"Headings above it: Proposal {order[one['parent']]}\n" in prompt
        before = [f"Proposal {order[other['id']]}" for other in topics if other["parent"] == one["parent"]]
        assert all(name in prompt for name in before[: before.index(f"Proposal {order[one['id']]}")])


def test_what_was_seen_can_be_kept_and_applied(typed, program, path):
    done = typed("name", "--with", program(COUNTING), "-o", "names.json", "--topic", 1)
    kept = json.loads((path.parent / "names.json").read_text(encoding="utf-8"))
    assert kept[0] == {"rename": {"topic": 1, "name": "Proposal 0"}}
    assert "names.json" in done.stderr
    typed("shape", "names.json")
    assert names(typed)[1] == "Proposal 0"
    typed("name", "--with", program(COUNTING), "-o", "names.json", code=2)
    typed("name", "--with", program(COUNTING), "-o", "names.yaml", code=2)


def test_names_of_people_are_left_alone(typed, program):
    typed("shape", "rename", 1, "Mine")
    found = typed("name", "--with", program(COUNTING), "--json")["proposals"]
    assert 1 not in [one["id"] for one in found]
    again = typed("name", "--with", program(COUNTING), "--all", "--json")["proposals"]
    assert {one["id"] for one in again} == {one["id"] for one in found} | {1}
    assert "(named by a person)" in typed("name").stdout


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("raise SystemExit(3)", "exit code 3"),
        ("", "empty"),
        ("print('x' * 100)", "100 characters"),
        ("print('\\x1b[2J\\x07')", "empty"),
        ("import time; time.sleep(600)", "longer than 0.3 seconds"),
    ],
)
def test_a_bad_answer_leaves_the_name(typed, program, source, why):
    before = names(typed)
    hasty = 0.3 if "sleep" in source else 60
    done = typed("name", "--with", program(source), "--timeout", hasty, "--apply", code=1)
    assert f"   1  {before[1]}  stays: " in done.stdout
    assert why in done.stdout
    assert names(typed) == before
    assert len(steps(typed)) == 1


def test_one_answer_for_all_names_no_siblings_the_same(typed, program):
    found = typed("name", "--with", program("print('Stuff')"), "--apply", "--json", code=1)["proposals"]
    with_name = [one for one in found if one["proposal"]]
    assert with_name
    assert len({tuple(one["path"][:-1]) for one in with_name}) == len(with_name)
    assert {one["refused"] for one in found} <= {
        "", "a sibling has this name", "its heading has this name"
    }  # fmt: skip


def test_a_server_on_this_machine(typed):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()
            content = {"content": f"**Proposal {len(asked)}**\nI chose this because …"}
            self.wfile.write(json.dumps({"choices": [{"message": content}]}).encode())

        def log_message(self, *_):
            pass

    asked = []
    with HTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = threading.Thread(target=serving.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{serving.server_address[1]}/v1"
        typed("name", "--at", url, "--model", "small", "--apply")
        serving.shutdown()
        thread.join()
    assert {one["model"] for one in asked} == {"small"}
    assert [*names(typed).values()][1:] == [f"Proposal {number}" for number in range(1, len(asked) + 1)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--apply"], "--apply needs --with"),
        (["--all"], "--all needs --with"),
        (["--with", "x", "--at", "http://127.0.0.1"], "cannot be used together"),
        (["--with", "x", "--pick", "1=1"], "cannot be used together"),
        (["--model", "x"], "--model requires a server"),
        (["--pick", "1=1", "--topic", "1"], "--topic cannot be used with --pick"),
        (["--at", "http://192.0.2.1"], "would leave it"),
        (["--with", "no-such-program-here"], "no program called"),
    ],
)
def test_what_does_not_go_together_is_said_and_nothing_is_asked(typed, words, message):
    assert message in typed("name", *words, code=2).stderr


def test_nothing_is_asked_unless_somebody_says_whom(typed, monkeypatch):
    def asked(*_):
        raise AssertionError("somebody was asked")

    for kind in (language_model.NamingProgram, language_model.NamingServer):
        monkeypatch.setattr(kind, "ask", asked)
    typed("name")
    typed("name", "--pick", "1=1")
    typed("tree")
