"""A tree of terms by contexts: a term with two senses lies in two leaves, others in one."""

import json

import numpy as np
import pytest

from tests.tasks.test_library_catalogue import run
from topiarist.collection.collection import Collection
from topiarist.collection.describe import term_tree
from topiarist.collection.describe.term_tree import count_contexts, grow_term_tree
from topiarist.collection.grow.recipe import Recipe
from topiarist.errors import InputError, MissingError
from topiarist.text.documents import Document

N_SUBJECTS, N_WORDS, SENSES = 25, 10, (3, 17)
WORDS = [[f"{consonant}{vowel}{'abcdefghij'[number]}o" for number in range(N_WORDS)]
         for consonant in "bdfgk" for vowel in "aeiou"]  # fmt: skip


def planted_documents():
    rng, result = np.random.default_rng(0), []
    for number in range(500):
        subject = number % N_SUBJECTS
        words = rng.choice([*WORDS[subject], *(["bank"] * 2 if subject in SENSES else [])], 24)
        result.append(Document(f"d{number}", " ".join(words)))
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("terms") / "terms.topiary"
    Collection.grow(planted_documents(), folder, Recipe(topics=5, headings=False)).close()
    return folder


@pytest.fixture(scope="module")
def terms(folder):
    with Collection.open(folder) as collection:
        return grow_term_tree(collection, N_SUBJECTS)


def test_contexts_match_counted_windows(folder):
    with Collection.open(folder) as collection:
        columns = np.array(
            [collection.counting.vocabulary.columns[word] for word in ("bank", WORDS[3][0], WORDS[0][0])]
        )
        counts = count_contexts(collection, columns).toarray()
    expected = 0
    for document in planted_documents():
        words = document.text.split()
        for place, word in enumerate(words):
            near = words[max(0, place - 10) : place] + words[place + 1 : place + 11]
            expected += near.count(WORDS[3][0]) if word == "bank" else 0
    assert counts[0, 1] == counts[1, 0] == min(expected, 50)
    assert counts[0, 2] == 0
    assert not counts.diagonal().any()


def test_contexts_are_equal_with_small_batches(folder, monkeypatch):
    with Collection.open(folder) as collection:
        columns = np.arange(50)
        expected = count_contexts(collection, columns).toarray()
        batches, add_pairs = [], term_tree._add_pairs

        def add(contexts, firsts, seconds):
            batches.append(sum(map(len, firsts)))
            return add_pairs(contexts, firsts, seconds)

        monkeypatch.setattr(term_tree, "_add_pairs", add)
        monkeypatch.setattr(term_tree, "MAX_PAIRS", 1_000)
        np.testing.assert_array_equal(count_contexts(collection, columns).toarray(), expected)
    assert len(batches) > 5
    assert max(batches) < 2_000


def test_too_many_groups_name_their_limit(folder):
    with Collection.open(folder) as collection, pytest.raises(InputError, match="251 terms are too few") as error:
        grow_term_tree(collection, 126)
    assert error.value.hint == "Use at most 125 groups."


def test_shares_sum_to_one_and_threads_change_no_bit(folder, terms):
    np.testing.assert_allclose(terms.shares.sum(axis=1), 1.0, rtol=1e-6)
    assert set(terms.terms) == {"bank"}.union(*WORDS)
    with Collection.open(folder) as collection:
        again = grow_term_tree(collection, N_SUBJECTS, n_threads=1)
    np.testing.assert_array_equal(again.shares, terms.shares)


def test_term_with_two_senses_is_in_two_leaves(terms):
    senses = terms.find_senses("bank")
    assert len(senses) == 2
    found = set()
    for leaf, share in senses:
        assert share > 0.25
        (subject,) = {number for number, words in enumerate(WORDS) if set(terms.list_terms(leaf, 6)) & set(words)}
        found.add(subject)
    assert found == set(SENSES)
    alone = [terms.find_senses(word)[0][1] for words in WORDS for word in words]
    assert np.mean(np.array(alone) > 0.9) > 0.9
    with pytest.raises(MissingError, match="'banc' is no frequent term"):
        terms.find_senses("banc")


def test_command_lists_groups_and_senses(folder):
    body = json.loads(run("terms", folder, "--leaves", N_SUBJECTS, "--json").stdout)
    (bank,) = [one for one in body["terms"] if one["term"] == "bank"]
    assert len(bank["senses"]) == 2
    shown = run("terms", folder, "bank", "--leaves", N_SUBJECTS).stdout
    assert shown.startswith("bank\n")
    assert len(shown.splitlines()) == 3
    assert "251 terms" in run("terms", folder, "--leaves", N_SUBJECTS).stdout
    assert "no frequent term" in run("terms", folder, "banc", code=2).stderr
