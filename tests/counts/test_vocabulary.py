"""The vocabulary as a value."""

import pickle

import numpy as np
import pytest

from topiarist.counts import Vocabulary
from topiarist.errors import InputError


def test_look_up_by_word_and_form() -> None:
    vocabulary = Vocabulary(("leaf", "tree"), [2, 1], [3, 1], forms=(("leaf", "leaves"), ("tree",)))
    assert (len(vocabulary), vocabulary[1], list(vocabulary)) == (2, "tree", ["leaf", "tree"])
    assert vocabulary.column("leaves") == 0
    assert vocabulary.column("bush") is None
    assert "leaves" in vocabulary
    assert 3 not in vocabulary


def test_vocabularies_are_compared_by_content() -> None:
    a = Vocabulary(("leaf", "tree"), [2, 1], [3, 1])
    assert a == Vocabulary(("leaf", "tree"), np.array([2, 1]), np.array([3, 1]))
    assert a != Vocabulary(("leaf", "tree"), [2, 2], [3, 1])
    assert a != Vocabulary.of(("leaf", "tree"))
    assert hash(a) == hash(Vocabulary(("leaf", "tree"), [2, 1], [3, 1]))
    a.column("leaf")
    assert pickle.loads(pickle.dumps(a)) == a


def test_frequencies_cannot_be_changed() -> None:
    given = np.array([2, 1])
    vocabulary = Vocabulary(("leaf", "tree"), given, given)
    given[0] = 9
    assert vocabulary.totals.tolist() == [2, 1]
    with pytest.raises(ValueError, match="read-only"):
        vocabulary.totals[0] = 5


def test_selecting_keeps_what_belongs_to_the_words() -> None:
    vocabulary = Vocabulary(("aa", "bb", "cc"), [1, 2, 3], [4, 5, 6], (("aa", "ax"), ("bb",), ("cc",)), ("bb cc",))
    chosen = vocabulary.select(np.array([True, False, True]))
    assert chosen == Vocabulary(("aa", "cc"), [1, 3], [4, 6], (("aa", "ax"), ("cc",)), ("bb cc",))


@pytest.mark.parametrize(
    ("words", "frequency", "forms", "message"),
    [
        (("tree", "leaf"), [1, 1], (), "sorted order, got 'tree' before 'leaf'"),
        (("leaf", "leaf"), [1, 1], (), "got 'leaf' twice"),
        (("leaf",), [1, 1], (), r"expected one document_frequency per word \(1\), got shape \(2,\)"),
        (("leaf", "tree"), [1, 1], (("leaf",),), "expected forms for each of 2 words, got 1"),
    ],
)
def test_faulty_vocabularies(words: tuple[str, ...], frequency: list[int], forms: tuple, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Vocabulary(words, frequency, frequency, forms)
