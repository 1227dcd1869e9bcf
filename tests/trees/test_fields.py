"""Tests of names from fields of knowledge."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist.counts import word_vectors
from topiarist.errors import InputError
from topiarist.trees import Tree
from topiarist.trees.naming import fields
from topiarist.trees.naming.names import name_nodes
from topiarist.trees.naming.presence import compute_presence

TREE = Tree((-1, 0, 1, 1, 0, 4, 4))
LEAVES = (2, 3, 5, 6)
SUBJECTS = [
    "hockey goal puck rink team playoff league stick",
    "tennis racket serve match set tournament court doubles",
    "physician patient hospital disease treatment clinical diagnosis surgery",
    "church faith prayer priest bible worship religious gospel",
]
FILLING = ["report", "number", "place", "week", "reason", "matter", "question", "point", "answer", "letter"]
GIBBERISH = ["zqx" + "".join(letters) for letters in zip("abcdefgh", "hgfedcba", strict=True)]


def make_collection(subjects=tuple(SUBJECTS), each=60, seed=0):
    """Return shares, counts and vocabulary of documents with ten words of their leaf and six of all."""
    rng = np.random.default_rng(seed)
    words = [subject.split() if isinstance(subject, str) else subject for subject in subjects]
    vocabulary = sorted({word for some in words for word in some} | set(FILLING))
    column = {word: place for place, word in enumerate(vocabulary)}
    counts, shares = np.zeros((each * 4, len(vocabulary))), np.zeros((each * 4, 4))
    for row in range(each * 4):
        leaf = row % 4
        shares[row, leaf] = 1.0
        for word in [*rng.choice(words[leaf], 10), *rng.choice(FILLING, 6)]:
            counts[row, column[word]] += 1
    return csr_array(shares), csr_array(counts), vocabulary


def find_names(collection, listed=None):
    shares, counts, vocabulary = collection
    return fields.find_field_names(TREE, LEAVES, shares, counts, vocabulary, listed or fields.load_fields())


def test_bundled_fields_are_unique_and_have_vectors():
    bundled = fields.load_fields()
    assert len(bundled.names) == len({name.casefold() for name in bundled.names}) > 800
    assert bundled.unknown == ()
    assert np.allclose(np.linalg.norm(bundled.vectors, axis=1), 1)
    assert all(parent < row for row, parent in enumerate(bundled.parents))


def test_fields_name_planted_subjects():
    names = find_names(make_collection())
    best = [names[leaf][0] for leaf in LEAVES]
    assert best[0] == "hockey"
    assert best[1] == "tennis"
    assert best[2] in ("medicine", "surgery", "hospitals")
    assert best[3] in ("religion", "Christianity", "prayer")


def test_heading_takes_the_field_above_its_children():
    assert find_names(make_collection())[1][0] == "sports"


def test_heading_of_unrelated_children_has_no_field():
    assert find_names(make_collection())[4] == ()


def test_best_fields_differ_and_siblings_share_no_word():
    names = find_names(make_collection((SUBJECTS[0], SUBJECTS[0], SUBJECTS[2], SUBJECTS[2])))
    best = [some[0] for some in names if some]
    assert len(best) == len(set(best))
    for parent in (0, 1, 4):
        words = [word for child in TREE.children(parent) for word in " ".join(names[child][:1]).split()]
        assert len(words) == len(set(words))


def test_unknown_words_give_no_field():
    shares, counts, _ = make_collection()
    unknown = [f"zq{'abcdefghijklmnopqrstuvwxyz'[place % 26]}xv{place}" for place in range(counts.shape[1])]
    assert find_names((shares, counts, unknown)) == [()] * len(TREE)


def test_fields_do_not_depend_on_blocks(monkeypatch):
    once = find_names(make_collection())
    monkeypatch.setattr(fields, "BLOCK", 7)
    assert find_names(make_collection()) == once


def test_field_list_of_a_user_names_topics():
    listed = fields.parse_fields(
        "# sections\nArena: hockey puck\nRacquet games: tennis racket\nWard: patient hospital\n"
    )
    names = find_names(make_collection(), listed)
    assert [names[leaf][:1] for leaf in LEAVES[:3]] == [("Arena",), ("Racquet games",), ("Ward",)]


def test_parse_fields_reads_indentation():
    listed = fields.parse_fields("sport\n  hockey: puck\n    NHL: puck\n  tennis\n\nlaw\n")
    assert listed.names == ("sport", "hockey", "NHL", "tennis", "law")
    assert listed.parents == (-1, 0, 1, 0, -1)
    assert fields.parse_fields("Qxzyv\nlaw").unknown == ("Qxzyv",)


def test_parse_fields_rejects_an_empty_list():
    with pytest.raises(InputError, match="fields"):
        fields.parse_fields("# only a comment\n")


@pytest.mark.parametrize(
    ("setting", "language", "n_fields"), [("auto", "en", 800), ("auto", "de", 0), ("none", "en", 0), ("law", "de", 1)]
)
def test_choose_fields_by_setting_and_language(setting, language, n_fields):
    chosen = fields.choose_fields(setting, language)
    assert (0 if chosen is None else len(chosen.names)) >= n_fields
    assert (chosen is None) == (n_fields == 0)


def test_names_by_field_come_before_names_by_words():
    shares, counts, vocabulary = make_collection()
    of_fields = find_names((shares, counts, vocabulary))
    names = name_nodes(compute_presence(TREE, LEAVES, shares, counts), vocabulary, LEAVES, fields=of_fields)
    assert [names[node].name for node in (1, 2, 3)] == ["sports", "hockey", "tennis"]
    assert all(len(names[leaf].candidates) > len(of_fields[leaf]) for leaf in LEAVES)
    assert names[4].name.count(", ") == 1


def test_document_vectors_are_unit_rows_or_zero():
    known = word_vectors.load_word_vectors()
    columns, rows = known.select(["galaxy", "zqxv", "telescope"])
    assert columns.tolist() == [0, 2]
    vectors = known.vectors_of(rows)
    assert vectors[0] @ vectors[1] > 0.4
    embedded = word_vectors.embed_documents(csr_array(np.array([[2, 1], [0, 0]])), vectors, np.ones(2))
    assert np.allclose(np.linalg.norm(embedded, axis=1), [1, 0])
