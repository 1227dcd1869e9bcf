"""Edits as people write them."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiarist.collection.shape import (
    Branch,
    Delete,
    Describe,
    Forget,
    Group,
    Ignore,
    Merge,
    Move,
    Pin,
    Rename,
    Seed,
    Split,
    Unite,
    Unpin,
)
from topiarist.collection.shape.edit_language import (
    describe_edit,
    encode_edit,
    format_edit,
    list_topics_in_edit,
    parse_edit,
    parse_edit_line,
    parse_edit_words,
    read_edits,
    replace_topic_names,
)
from topiarist.errors import UsageError

WRITTEN = """
- rename: {topic: oil, name: Energy}
- describe: {topic: 4, note: "what: it is"}
- merge: {topics: [court, police], name: Justice}
- group: {topics: [court, 5, bail], name: Justice}
- split: {topic: Energy, into: 3}
- split: {topic: oil, others: [gas, 4]}
- move: {topic: bail, under: Justice}
- delete: {topic: misc, below: true}
- pin: {documents: [a.txt, 7], topic: Energy}
- unpin: {documents: b}
- seed: {topic: Energy, words: [oil, natural gas]}
- ignore: {words: forwarded}
- unite: {words: [colour, color]}
- forget: {words: [oil, color]}
"""
EDITS = (
    Rename("oil", "Energy"), Describe(4, "what: it is"), Merge(("court", "police"), "Justice"),
    Group(("court", 5, "bail"), "Justice"), Split("Energy", 3), Split("oil", 2, ("gas", 4)),
    Move("bail", "Justice"), Delete("misc", below=True), Pin(("a.txt", "7"), "Energy"), Unpin(("b",)),
    Seed("Energy", ("oil", "natural gas")), Ignore(("forwarded",)), Unite(("colour", "color")),
    Forget(("oil", "color")),
)  # fmt: skip


def test_edits_as_pages_say_them():
    assert list(map(describe_edit, EDITS)) == [
        "rename oil to “Energy”", "write a note about 4", "merge court and police as “Justice”",
        "put court, 5 and bail under a new heading “Justice”", "split Energy in 3", "split oil, gas and 4 in 2 each",
        "move bail under Justice", "delete misc and its subtopics", "pin 2 documents to Energy", "unpin b",
        "assign oil and natural gas to Energy", "ignore the word forwarded", "count color as colour",
        "forget the edits of oil and color",
    ]  # fmt: skip
    assert describe_edit(Merge(("a", "b", "c"))) == "merge a, b and c"
    assert describe_edit(Branch("Energy", "Wind", ("a.txt",))) == "add “Wind” under Energy with a.txt"


@pytest.mark.parametrize(
    "edit",
    [
        Group(("a b", "5"), "c d"), Split("a", 3, ("b", "7")), Split("a", 4), Seed("a b", ("c", "d e")),
        Ignore(("a", "b c")), Unite(("a b", "ab", "a-b")), Forget(("a",)),
    ],
)  # fmt: skip
def test_what_is_written_down_can_be_typed_again(edit):
    assert parse_edit_line(format_edit(edit)) == edit


def test_the_topics_that_a_group_and_a_split_speak_of():
    assert list_topics_in_edit(Group(("a", 5), "x")) == ("a", 5)
    assert list_topics_in_edit(Split("a", 2, ("b",))) == ("a", "b")
    assert list_topics_in_edit(Seed("a", ("b",))) == ("a",)
    assert not any(map(list_topics_in_edit, (Unite(("a", "b")), Ignore(("a",)), Forget(("a",)))))


@pytest.mark.parametrize("line", ["unite colour = color", "unite colour=color", "unite colour =color"])
def test_two_spellings_with_or_without_blanks(line):
    assert parse_edit_line(line) == Unite(("colour", "color"))


@pytest.mark.parametrize(
    "line", ["unite colour", "unite colour =", "unite = color", "seed a b", "seed a with", "ignore"]
)
def test_words_that_are_missing(line):
    with pytest.raises(UsageError, match="cannot be used with"):
        parse_edit_line(line)
    assert replace_topic_names(Group(("a", 5), "x"), {"a": "all", "5": "five"}, numbers=False) == Group(
        ("all", "five"), "x"
    )
    assert replace_topic_names(Split("a", 2, (5,)), {"a": "all", "5": "five"}) == Split("all", 2, (5,))


def test_yaml_and_json_say_the_same():
    assert read_edits(WRITTEN) == EDITS
    assert read_edits(json.dumps([encode_edit(edit) for edit in EDITS]), format="json") == EDITS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected a list of edits, got NoneType"),
        ("just words", "expected a list of edits, got str"),
        ("- [1, 2", r"cannot be read as YAML \(line 1\)"),
        ("- renam: {topic: a, name: b}", r"edit 1: there is no edit called 'renam'\n  Try: Choose 'rename'"),
        ("- rename: {topic: a}", "edit 1: rename needs its part 'name'"),
        ("- rename: {topic: a, name: b, colour: red}", "edit 1: rename has no part called 'colour'"),
        ("- rename: {topic: a, name: [b]}", r"edit 1: name: expected str, got \['b'\]"),
        ("- rename: {topic: true, name: b}", "edit 1: topic: expected str or int, got True"),
        ("- split: {topic: a, into: many}", "edit 1: into: expected int, got 'many'"),
        ("- rename: oil", "edit 1: expected the parts of rename, got 'oil'"),
        ("- merge: {topics: [{a: b}]}", "edit 1: topics: expected a list of names"),
        ("- rename: {topic: !!python/object/apply:os.system [ls], name: b}", "cannot be read as YAML"),
    ],
)
def test_what_is_wrong_is_said(text, said):
    with pytest.raises(UsageError, match=said):
        read_edits(text)


def test_json_that_is_none_or_too_deep_is_said():
    with pytest.raises(UsageError, match="cannot be read as JSON"):
        read_edits("{", format="json")
    with pytest.raises(UsageError, match="nested too deeply"):
        read_edits("[" * 100_000, format="json")


@given(st.text(max_size=60))
def test_any_text_is_edits_or_a_clear_error(text):
    with suppress(UsageError):
        assert read_edits(text)


@pytest.mark.parametrize(
    ("words", "edit"),
    [
        ("rename oil Energy and more", Rename("oil", "Energy and more")),
        ("describe oil a note", Describe("oil", "a note")),
        ("merge court police", Merge(("court", "police"))),
        ("merge court police bail as Justice", Merge(("court", "police", "bail"), "Justice")),
        ("group court police bail as Justice", Group(("court", "police", "bail"), "Justice")),
        ("group 5 6 as Justice", Group(("5", "6"), "Justice")),
        ("split oil", Split("oil")),
        ("split oil gas", Split("oil", 2, ("gas",))),
        ("split oil into 3", Split("oil", 3)),
        ("split 4 5 6 into 3", Split("4", 3, ("5", "6"))),
        ("split oil 4", Split("oil", 4)),
        ("move bail under law", Move("bail", "law")),
        ("move bail law", Move("bail", "law")),
        ("delete misc", Delete("misc")),
        ("delete misc below", Delete("misc", below=True)),
        ("pin a b to oil", Pin(("a", "b"), "oil")),
        ("unpin a b", Unpin(("a", "b"))),
        ("branch New under law with a b", Branch("law", "New", ("a", "b"))),
    ],
)
def test_words_of_a_command(words, edit):
    assert parse_edit_words(words.split()) == edit
    assert parse_edit(encode_edit(edit)) == edit


@pytest.mark.parametrize(
    "words", ["rename oil", "merge a", "group a b", "group a as b", "split a b 3", "move a", "delete", "pin a", "unpin"]
)
def test_words_that_are_no_edit_say_how_it_goes(words):
    with pytest.raises(UsageError, match=f"Try: Write {words.split()[0]} "):
        parse_edit_words(words.split())


def test_an_unknown_command_is_told_the_nearest():
    with pytest.raises(UsageError, match=r"no edit called 'remame'\n  Try: Choose 'rename'"):
        parse_edit_words(["remame", "a", "b"])


def test_aliases_of_aliases_are_not_written_out():
    """Forty lines that would be a message of gigabytes."""
    bomb = "\n".join(["- &a0 [x, x]", *(f"- &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))])
    with pytest.raises(UsageError) as caught:
        read_edits(bomb)
    assert len(str(caught.value)) < 500
    deep = "x: &a0 [x, x]\n" + "".join(f"b{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
    with pytest.raises(UsageError) as caught:
        read_edits(deep + "pin: {documents: *a39, topic: 1}")
    assert len(str(caught.value)) < 500
