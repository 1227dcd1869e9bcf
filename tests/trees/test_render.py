"""The tree in a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import trees
from topiarist.errors import InputError
from topiarist.trees import Tree
from topiarist.trees.tree_text import count_columns, shorten, to_printable

NEWS = Tree.from_paths(["news/sport/tennis", "news/sport/golf", "news/world", "news/arts/golf"])


def test_render_draws_branches():
    assert NEWS.render().splitlines() == [
        "news",
        "├─ sport",
        "│  ├─ tennis",
        "│  └─ golf",
        "├─ world",
        "└─ arts",
        "   └─ golf",
    ]


def test_render_in_ascii():
    tree = Tree.from_paths(["/café/thé", "/café/日本", "/naïve"])
    assert tree.render(ascii=True).splitlines() == [
        "(root)",
        "|- cafe",
        "|  |- the",
        "|  `- ??",
        "`- naive",
    ]


def test_render_counts_hidden_nodes():
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


def test_render_uses_label_function():
    assert NEWS.render(lambda node: f"{node}!", depth=0).startswith("0!\n")


@given(trees(), st.text(max_size=40), st.integers(16, 40), st.booleans())
def test_render_respects_width_and_control_characters(tree, text, width, ascii):
    shown = tree.render(lambda node: text, width=width, ascii=ascii)
    lines = shown.split("\n")
    assert len(lines) == len(tree)
    assert all(count_columns(line) <= width for line in lines)
    assert all(c.isprintable() or c in "\u200c\u200d" for line in lines for c in line)
    assert shown.isascii() or not ascii


def test_render_leaves_room_in_deep_trees():
    lines = Tree(range(-1, 99)).render(lambda node: f"label {node}", width=30).splitlines()
    assert lines[-1].startswith("… ")
    assert lines[-1].endswith("└─ label 99")
    assert max(map(count_columns, lines)) <= 30


def test_shorten_ends_in_ellipsis():
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abcde…"
    assert shorten("日本語日本語", 6) == "日本…"
    assert shorten("日本語", 6) == "日本語"
    assert shorten("e\u0301te\u0301", 3) == "e\u0301te\u0301"
    assert count_columns("日本 e\u0301") == 6


def test_to_printable_replaces_control_characters():
    assert to_printable("a\x1b[31mred\nline\ttab\u202eevil\ud800") == "a\ufffd[31mred line tab\ufffdevil\ufffd"
    assert to_printable("می\u200cخواهم") == "می\u200cخواهم"


def test_render_rejects_invalid_arguments():
    with pytest.raises(InputError, match="depth of at least 0"):
        NEWS.render(depth=-1)
    with pytest.raises(InputError, match="width of at least 16"):
        NEWS.render(width=3)
