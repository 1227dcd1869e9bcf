"""One speller: words by few edits and how frequent they are, names by the letters that they share."""

from bisect import bisect_left

import pytest

from topiarist.text.spelling import alike, corrections, proposed

WORDS = {"bank": 9, "galaxie": 1, "galaxy": 30, "galley": 4, "neural": 900, "numerals": 3, "telescope": 7, "банк": 5}


def between(first, last):
    words = sorted(WORDS)
    return [(word, WORDS[word]) for word in words[bisect_left(words, first) : bisect_left(words, last)]]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("galaxi", ["galaxy"]),  # a word of hardly any document is no better guess
        ("telescpoe", ["telescope"]),
        ("elescope", ["telescope"]),
        ("банка", ["банк"]),
        ("nueral", ["neural", "numerals"]),
        ("qqqq", []),
        ("x" * 10**6, []),
    ],
)
def test_words_are_corrected_by_few_edits(word, meant):
    assert corrections(word, between) == meant


def test_rare_words_are_offered_where_nothing_else_is_near(monkeypatch):
    monkeypatch.delitem(WORDS, "galaxy")
    assert corrections("galaxi", between) == ["galaxie"]


def test_names_are_proposed_by_the_letters_that_they_share():
    ways = ("words", "meaning", "both")
    assert alike("meanin", ways) == ["meaning"]
    assert proposed("meanin", ways) == "'meaning'"
    assert proposed("xyz", ["", *ways], 2) == "'words', 'meaning'"
