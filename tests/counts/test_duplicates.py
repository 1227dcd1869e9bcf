"""Copies and near-copies are found, whatever the order and the chunks, and replies that quote are none."""

from __future__ import annotations

import random

import numpy as np
import pytest

from topiarist.counts import duplicates as module
from topiarist.counts.chunks import tokenise
from topiarist.counts.corpus import Corpus
from topiarist.counts.duplicates import (
    Duplicates,
    compute_signatures,
    compute_text_signatures,
    find_different_words,
    find_duplicates,
)
from topiarist.counts.settings import CountSettings, PhraseSettings
from topiarist.text.documents import Document
from topiarist.text.tokens import Tokenizer

WORDS = [
    f"{a}{b}{c}" for a in "bdfgklmnprst" for b in ("a", "e", "io", "u", "ei") for c in ("rt", "st", "nd", "lk", "x")
]


def texts(number: int, length: int = 80) -> list[str]:
    chance = random.Random(0)
    return [" ".join(["Dear", *chance.choices(WORDS, k=length)]) for _ in range(number)]


def changed(text: str, share: float, seed: int) -> str:
    words, chance = text.split(), random.Random(seed)
    for place in chance.sample(range(1, len(words)), int(share * len(words))):
        words[place] = chance.choice(WORDS)
    return " ".join(words)


def found(every: list[str], first: int = 0) -> Duplicates:
    return find_duplicates(compute_text_signatures(every), lambda rows: [every[row] for row in rows], first)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.05])
def test_find_duplicates_finds_changed_copies(share: float) -> None:
    every = texts(60)
    every += [changed(every[row], share, row) for row in range(60)]
    copies = found(every)
    right = copies.find_originals(120)[60:] == np.arange(60)
    assert right.mean() >= 0.95
    assert (copies.originals == copies.rows - 60).all()
    assert ((copies.shared == 1.0) == (share == 0.0)).all()


@pytest.mark.parametrize("share", [0.1, 0.2])
def test_papers_with_most_words_in_common_are_two(share: float) -> None:
    every = texts(40)
    assert len(found([*every, *(changed(text, share, row) for row, text in enumerate(every))])) == 0


LETTER = (
    "Dear {name},\nwe write to you again about the invoice {number} of {day}. It is not paid yet. Please pay the sum to our "
    "account within two weeks, or we shall have to charge interest and the cost of a lawyer. Please call us if you have "
    "any question about the invoice, or if you have paid in the meantime. With kind regards, your bank"
)
NAMES = ["Meier", "Schulz", "Kaya", "Novak"]


def test_letters_with_other_names_numbers_or_dates_are_documents() -> None:
    letters = [LETTER.format(name=f"Mr {name}", number=7, day="March 5") for name in NAMES]
    letters += [LETTER.format(name="Mr Meier", number=number, day="March 5") for number in range(8, 60)]
    letters += [LETTER.format(name="Mr Meier", number=7, day=day) for day in ("May 5", "5 mars", "June 5")]
    assert len(found(letters)) == 0
    assert found([*letters, letters[2], letters[30]]).groups == {2: [len(letters)], 30: [len(letters) + 1]}
    assert found([*letters, letters[30]], len(letters)).groups == {30: [len(letters)]}  # one signature, 52 texts
    reworded = letters[3].replace("any question", "some question")
    copies = found([*letters, reworded])
    assert copies.groups == {3: [len(letters)]}
    assert 0.95 <= copies.shared[0] < 1
    assert (find_different_words(letters[3], reworded), find_different_words(reworded, letters[3])) == (
        ["any"],
        ["some"],
    )
    lower = [letter.lower() for letter in (letters[3], reworded)]  # any of the words may be a name
    assert len(found(lower)) == 0


def test_find_duplicates_ignores_other_texts() -> None:
    every = texts(200)
    replies = [f"{text} {' '.join(random.Random(7).choices(WORDS, k=60))}" for text in every[:50]]
    assert len(found([*every, *replies])) == 0


def test_many_copies_form_one_group() -> None:
    one, *others = texts(20)
    every = [one, *others[:5], *[one] * 30, *others[5:]]
    copies = found(every)
    assert copies.groups == {0: list(range(6, 36))}
    assert copies.n_originals == 1
    assert copies.find_first_documents(len(every)).sum() == 20


def test_short_texts_are_copies_only_if_they_are_the_same() -> None:
    copies = found(["no comment at all", "no comment", "no comment at all", "No comment!", "", ""])
    assert dict(zip(copies.rows.tolist(), copies.originals.tolist(), strict=True)) == {2: 0, 3: 1}


@pytest.mark.parametrize(
    ("text", "other"),
    [("वह मुझे बाज़ार में मिला था", "वह मुझे बाज़ार में मेला था"), ("ป่า", "ป้า")],
)
def test_texts_that_differ_in_vowel_signs_are_no_copies(text: str, other: str) -> None:
    copies = module.find_duplicates(np.zeros((3, module.N_HASHES), np.uint32), lambda rows: [text, other, text])
    assert list(zip(copies.rows.tolist(), copies.originals.tolist(), strict=True)) == [(2, 0)]
    assert find_different_words(text, other)
    assert not find_different_words(text, text)


def test_only_new_copies_are_told_of_new_texts() -> None:
    every = texts(10)
    every += [every[3], every[4]]
    assert found(every, 11).rows.tolist() == [11]


def test_minima_do_not_depend_on_chunks_and_counting_makes_the_same_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    every = [*texts(30), "", "one"]
    whole = compute_text_signatures(every)
    monkeypatch.setattr(module, "CHARACTERS", 500)
    np.testing.assert_array_equal(compute_text_signatures(every), whole)
    np.testing.assert_array_equal(compute_signatures(tokenise(every, Tokenizer())), whole)
    for phrases in (None, PhraseSettings()):
        minima: list[np.ndarray] = []
        settings = CountSettings(min_documents=1, phrases=phrases)
        Corpus.from_documents([Document(str(n), text) for n, text in enumerate(every)], settings, minima=minima)
        np.testing.assert_array_equal(np.concatenate(minima), whole)


def test_minima_agree_as_often_as_the_sets_do() -> None:
    """The share of minima that agree estimates |A ∩ B| / |A ∪ B|, without a bias."""
    one = texts(1, length=400)[0]
    estimates, truth = [], []
    for seed in range(40):
        other = changed(one, 0.2, seed)
        minima = compute_text_signatures([one, other])
        pairs = [set(zip([*t.split(), ""], [*t.split()[1:], "", ""], strict=False)) for t in (one, other)]
        estimates.append((minima[0] == minima[1]).mean())
        truth.append(len(pairs[0] & pairs[1]) / len(pairs[0] | pairs[1]))
    assert abs(np.mean(estimates) - np.mean(truth)) < 0.03
