"""A tree of topics as lines of text."""

import pytest

from topiarist.trees import Tree
from topiarist.trees.tree_text import TextFormat, count_columns, format_lines

TREE = Tree((-1, 0, 0, 1, 1), ("Everything", "oil · barrel", "court · judge", "opec · quota", "pipe · steel"))
WORDS = [("the", "of"), ("oil", "barrel", "crude"), ("court", "judge"), ("opec", "quota"), ("pipe", "steel", "line")]
SIZES = (12000, 8000, 4000, 7500, 500)


def shown(tree=TREE, words=WORDS, sizes=SIZES, **form):
    return [str(line) for line in format_lines(tree, words, sizes, TextFormat(**form))]


def test_format_lines_aligns_words_and_sizes():
    assert shown() == [
        "Everything: the · of       12,000",
        "├─ oil · barrel · crude     8,000",
        "│  ├─ opec · quota          7,500",
        "│  └─ pipe · steel · line     500",
        "└─ court · judge            4,000",
    ]


def test_format_lines_omits_words_without_room():
    assert shown(width=28) == [
        "Everything: the · of  12,000",
        "├─ oil · barrel        8,000",
        "│  ├─ opec · quota     7,500",
        "│  └─ pipe · steel       500",
        "└─ court · judge       4,000",
    ]


@pytest.mark.parametrize("width", [16, 20, 25, 40, 80])
def test_format_lines_respects_width(width):
    long = [("the",), ("oberlandesgericht", "x"), ("東京都庁舎", "東京"), ("q",), ("pipe", "steel", "line")]
    assert max(map(count_columns, shown(words=long, sizes=(9,) * 5, width=width))) <= width


def test_format_lines_shortens_first_word():
    tree = Tree((-1, 0), ("Everything", "oberlandesgericht"))
    assert shown(tree, [("the",), ("oberlandesgericht",)], (8000, 8000), width=24) == [
        "Everything: the    8,000",
        "└─ oberlandesger…  8,000",
    ]


def test_format_lines_limits_words_levels_and_signs():
    assert shown(n_words=1, depth=1, ascii=True) == [
        "Everything: the  12,000",
        "|- oil, barrel    8,000",
        "|  `- ... 2 more",
        "`- court, judge   4,000",
    ]


def test_format_lines_puts_name_before_words():
    tree = Tree((-1, 0), ("all", "Sport"))
    assert shown(tree, [(), ("goal", "match")], (3, 3)) == ["all                     3", "└─ Sport: goal · match  3"]


def test_format_lines_shows_name_starting_like_word():
    tree = Tree((-1, 0), ("all", "sports"))
    assert shown(tree, [(), ("sport", "match")], (3, 3)) == [
        "all                       3",
        "└─ sports: sport · match  3",
    ]


def test_format_lines_does_not_repeat_first_word():
    """Whoever types it reads it here: the second word of a name need not be the second word of the topic."""
    tree = Tree((-1, 0), ("all", "goal · cup final"))
    assert shown(tree, [(), ("goal", "match", "cup")], (3, 3)) == [
        "all                                3",
        "└─ goal · cup final · match · cup  3",
    ]


def test_format_lines_escapes_control_characters():
    assert "\x1b" not in shown(words=[("\x1b[2J",), *WORDS[1:]])[0]
