"""Words that are spelt nearly so: all at once, and the same as one after the other."""

import random

import numpy as np
import pytest

from topiarist.collection.search.words import near_spellings
from topiarist.collection.search.words.near_spellings import NearSpellings, compute_edit_distances, suggest_words
from topiarist.text.spelling import compute_edit_distance

WORDS = {
    "bank": 9,
    "galaxie": 1,
    "galaxy": 30,
    "galley": 4,
    "neural": 900,
    "numerals": 3,
    "résumé": 5,
    "telescope": 7,
    "банк": 5,
}


def known(words=WORDS):
    return NearSpellings.of(tuple(words), np.array(list(words.values())))


def some_words(number, seed):
    draw = random.Random(seed)
    return sorted({"".join(draw.choices("abcdé", k=draw.randint(1, 7))) for _ in range(number)})


def test_the_words_that_are_near_are_just_those_of_few_edits(monkeypatch):
    monkeypatch.setattr(near_spellings, "WORDS_PER_BLOCK", 50)  # in several rounds
    words = some_words(300, 1)
    made = NearSpellings.of(words, np.ones(len(words), int))
    for word in [one for one in some_words(60, 2) if one.isascii()]:
        plain = {one: one.replace("é", "e") for one in words}
        most = min(2, max(len(word) - 1, 1))
        near = {
            one: compute_edit_distance(word, plain[one])
            for one in words
            if 0 < compute_edit_distance(word, plain[one]) <= most
        }
        assert {one: away for one, (away, _) in made.near(word).items()} == near


def test_distances_side_by_side_are_those_of_one_after_the_other():
    words = some_words(200, 3)
    for word in some_words(20, 4):
        found = compute_edit_distances(word, words).tolist()
        assert [min(one, 3) for one in found] == [compute_edit_distance(word, other) for other in words]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("Galaxi", ["galaxy"]),  # a word of hardly any document is no better guess
        ("nueral", ["neural", "numerals"]),
        ("eural", ["neural"]),
        ("telescpoe", ["telescope"]),
        ("eurals", []),  # the first letter and another one are seldom both wrong
        ("resumes", ["résumé"]),
        ("банка", ["банк"]),
        ("bank", []),
        ("qqqq", []),
        ("!", []),
        ("考古", []),
        ("x" * 10**6, []),
    ],
)
def test_words_are_suggested_by_few_edits_and_how_frequent_they_are(word, meant):
    assert suggest_words(word, [known()]) == meant


def test_rare_words_are_offered_where_nothing_else_is_near_and_parts_are_counted_together():
    rare = {"galaxie": 1, "galley": 1}
    assert suggest_words("galaxi", [known(rare)]) == ["galaxie"]
    parts = [known({"galaxie": 2, "galaxia": 2}), known({"galaxia": 2})]
    assert suggest_words("galaxi", parts) == ["galaxia"]
    assert suggest_words("galaxi", []) == []
    assert suggest_words("galaxi", [known({})]) == []


def test_accents_are_compared_on_request():
    words = {"naive": 30, "native": 40}
    assert suggest_words("naïve", [known(words)]) == ["native"]
    compared = NearSpellings.of(tuple(words), np.array(list(words.values())), accents=True)
    assert suggest_words("naïve", [compared]) == ["naive", "native"]
