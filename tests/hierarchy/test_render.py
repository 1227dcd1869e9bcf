"""The tree in a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import trees
from topiarist.errors import InputError
from topiarist.hierarchy import Tree
from topiarist.hierarchy.tree_text import columns, printable, shortened

NEWS = Tree.from_paths(["news/sport/tennis", "news/sport/golf", "news/world", "news/arts/golf"])


def test_branches_are_drawn():
    assert NEWS.render().splitlines() == [
        "news",
        "├─ sport",
        "│  ├─ tennis",
        "│  └─ golf",
        "├─ world",
        "└─ arts",
        "   └─ golf",
    ]


def test_plain_letters_for_plain_terminals():
    tree = Tree.from_paths(["/café/thé", "/café/日本", "/naïve"])
    assert tree.render(ascii=True).splitlines() == [
        "(root)",
        "|- cafe",
        "|  |- the",
        "|  `- ??",
        "`- naive",
    ]


def test_hidden_nodes_are_counted():
    assert NEWS.render(depth=1).splitlines() == [
        "news",
        "├─ sport",
        "│  └─ … 2 more",
        "├─ world",
        "└─ arts",
        "   └─ … 1 more",
    ]
    assert NEWS.render(depth=0, ascii=True) == "news\n`- ... 6 more"
    assert NEWS.render(depth=9) == NEWS.render()


def test_labels_come_from_a_function():
    assert NEWS.render(lambda node: f"{node}!", depth=0).startswith("0!\n")


@given(trees(), st.text(max_size=40), st.integers(16, 40), st.booleans())
def test_no_line_is_too_wide_and_nothing_moves_the_cursor(tree, text, width, ascii):
    shown = tree.render(lambda node: text, width=width, ascii=ascii)
    lines = shown.split("\n")
    assert len(lines) == len(tree)
    assert all(columns(line) <= width for line in lines)
    assert all(c.isprintable() or c in "\u200c\u200d" for line in lines for c in line)
    assert shown.isascii() or not ascii


def test_a_deep_tree_keeps_room_for_its_labels():
    lines = Tree(range(-1, 99)).render(lambda node: f"label {node}", width=30).splitlines()
    assert lines[-1].startswith("… ")
    assert lines[-1].endswith("└─ label 99")
    assert max(map(columns, lines)) <= 30


def test_long_labels_end_in_an_ellipsis():
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abcdefg", 6) == "abcde…"
    assert shortened("日本語日本語", 6) == "日本…"
    assert shortened("日本語", 6) == "日本語"
    assert shortened("e\u0301te\u0301", 3) == "e\u0301te\u0301"
    assert columns("日本 e\u0301") == 6


def test_control_characters_never_reach_the_terminal():
    assert printable("a\x1b[31mred\nline\ttab\u202eevil\ud800") == "a\ufffd[31mred line tab\ufffdevil\ufffd"
    assert printable("می\u200cخواهم") == "می\u200cخواهم"


def test_impossible_wishes_are_refused():
    with pytest.raises(InputError, match="expected a depth of at least 0, got -1"):
        NEWS.render(depth=-1)
    with pytest.raises(InputError, match="expected a width of at least 16 columns, got 3"):
        NEWS.render(width=3)
