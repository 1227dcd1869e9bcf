"""One speller: words by few edits and how frequent they are, names by the letters that they share."""

import pytest

from topiarist.text.spelling import alike, corrections, proposed

WORDS = {"bank": 9, "galaxie": 1, "galaxy": 30, "galley": 4, "neural": 900, "numerals": 3, "telescope": 7, "банк": 5}


def looked_up(letter, others):
    return [one for one in WORDS.items() if one[0].startswith(letter) or one[0] in others]


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
    assert corrections(word, looked_up) == meant


def test_rare_words_are_offered_where_nothing_else_is_near(monkeypatch):
    monkeypatch.delitem(WORDS, "galaxy")
    assert corrections("galaxi", looked_up) == ["galaxie"]


def test_names_are_proposed_by_the_letters_that_they_share():
    ways = ("words", "meaning", "both")
    assert alike("meanin", ways) == ["meaning"]
    assert proposed("meanin", ways) == "'meaning'"
    assert proposed("xyz", ["", *ways], 2) == "'words', 'meaning'"
