"""The words that describe nodes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import simplex_rows, trees
from tests.work import assert_linear
from topiarist.errors import InputError
from topiarist.trees import Tree, select_node_words
from topiarist.trees.words import is_variant


@given(trees(), st.integers(0, 10**6), st.integers(1, 5))
def test_select_node_words_equals_brute_force(tree, seed, n_words):
    probabilities = simplex_rows(np.random.default_rng(seed), len(tree), 14)
    chosen = select_node_words(tree, probabilities, n_words)
    for node in range(len(tree)):
        own = probabilities[node]
        above = np.maximum(probabilities[tree.parents[node]], probabilities[tree.root])
        scores = own if node == tree.root else own * np.log(own / above)
        kept = [all(probabilities[child][w] <= 2 * own[w] for child in tree.children(node)) for w in range(14)]
        scores = np.where(kept, scores, 0)
        used = {word for ancestor in tree.ancestors(node) for word in chosen[ancestor].tolist()}
        ranked = [w for w in sorted(range(14), key=lambda w: -scores[w]) if w not in used and scores[w] > 0][:n_words]
        if len(ranked) < 3:
            ranked += [w for w in sorted(range(14), key=lambda w: -own[w]) if w not in used and w not in ranked]
            ranked = ranked[: min(3, n_words)]
        assert chosen[node].tolist() == ranked


def test_absence_above_alone_does_not_win():
    tree = Tree.star(1)
    probabilities = np.array([[0.90, 0.10, 0.0], [0.0, 0.95, 0.05]])
    assert select_node_words(tree, probabilities, 1)[1].tolist() == [1]


def test_empty_words_describe_nodes_last():
    tree = Tree.star(2)
    probabilities = np.array(
        [[0.60, 0.10, 0.02, 0.02, 0.13, 0.13], [0.05, 0.5, 0.2, 0.1, 0.1, 0.05], [0.1, 0.8, 0.03, 0.03, 0.02, 0.02]]
    )
    empty = np.array([True, True, False, False, False, False])
    usual, chosen = select_node_words(tree, probabilities, 2), select_node_words(tree, probabilities, 2, is_empty=empty)
    assert chosen[0].tolist() == usual[0].tolist()  # the root may have them: they are its language
    assert 0 in chosen[0]
    assert 1 in usual[1]
    assert 1 not in chosen[1]
    assert 2 in chosen[1]
    every = select_node_words(tree, probabilities, 3, is_empty=np.ones(6, bool))
    assert len(every[1]) == 3  # where there are no others they are better than none


def test_equal_words_keep_their_order():
    chosen = select_node_words(Tree.star(1), np.full((2, 100), 0.01), 4)
    assert [words.tolist() for words in chosen] == [
        [0, 1, 2, 3],
        [4, 5, 6],
    ]  # where nothing stands out, three probable words


def test_variants_and_phrase_parts_are_not_repeated():
    words = ["model", "models", "neural network", "neural", "networks", "training", "train", "image"]
    probabilities = np.array([[0.24, 0.22, 0.2, 0.12, 0.1, 0.06, 0.04, 0.02]])
    assert select_node_words(Tree.single(), probabilities, 8, words=words)[0].tolist() == [0, 2, 5, 7]
    assert select_node_words(Tree.single(), probabilities, 8)[0].tolist() == list(range(8))


def test_variants_of_inherited_words_are_skipped():
    tree = Tree.star(1)
    probabilities = np.array([[0.90, 0.04, 0.03, 0.03], [0.10, 0.5, 0.3, 0.1]])
    words = ["model", "models", "image", "galaxy"]
    assert select_node_words(tree, probabilities, 1, words=words)[1].tolist() == [2]
    assert select_node_words(tree, probabilities, 1)[1].tolist() == [1]


@pytest.mark.parametrize(
    ("word", "said", "same"),
    [
        ("models", "model", True),
        ("company", "companies", True),
        ("learning", "learn", True),
        ("games", "game", True),
        ("neural", "neural network", True),
        ("networks", "neural network", True),
        ("neural networks", "neural network", True),
        ("neural network", "neural", False),
        ("news", "new", False),
        ("plant", "plan", False),
        ("market", "marker", False),
        ("general", "generic", False),
        ("train", "trait", False),
        ("机器", "机场", False),
    ],
)
def test_is_variant(word, said, same):
    assert is_variant(word.split(), said.split()) is same


def test_words_expected_less_than_twice_are_skipped():
    tree = Tree.star(1)
    probabilities = np.array([[0.89, 0.1, 0.01], [0.3, 0.4, 0.3]])
    counts = np.array([80.0, 40, 20])

    def best(*weights):
        return select_node_words(tree, probabilities, 1, node_weight=weights, count=counts)[1].tolist()

    assert select_node_words(tree, probabilities, 1)[1].tolist() == [2]
    assert best(0.5, 0.5) == best(30, 30) == [2]
    assert best(0.96, 0.04) == best(9.6, 0.4) == [1]  # of 5.6 tokens at the leaf, 1.7 and 2.2
    assert best(1.0, 0.0) == []  # no evidence at all
    with pytest.raises(InputError, match="node_weight and count together"):
        select_node_words(tree, probabilities, node_weight=[1, 1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.full((3, 4), 0.25),), "one row for each of 2 nodes, got the shape (3, 4)"),
        ((np.full((2, 4), 0.5),), "expected rows that sum to one, got 2 for node 0"),
        ((np.full((2, 4), np.nan),), "expected rows that sum to one, got nan for node 0"),
        ((np.array([[1.5, -0.5], [0.5, 0.5]]),), "expected probabilities, got -0.5"),
        ((np.full((2, 4), 0.25), 0), "expected at least 1 word per node, got 0"),
    ],
)
def test_select_node_words_rejects_non_probabilities(arguments, message):
    with pytest.raises(InputError) as raised:
        select_node_words(Tree.star(1), *arguments)
    assert message in raised.value.message


def test_select_node_words_rejects_mismatched_arguments():
    probabilities = np.full((2, 4), 0.25)
    with pytest.raises(InputError, match="expected 4 words"):
        select_node_words(Tree.star(1), probabilities, words=["a"])
    with pytest.raises(InputError, match="not all 0, as node_weight"):
        select_node_words(Tree.star(1), probabilities, node_weight=[0, 0], count=[1, 1, 1, 1])
    with pytest.raises(InputError, match="as count"):
        select_node_words(Tree.star(1), probabilities, node_weight=[1, 0], count=[1])


def test_select_node_words_takes_linear_time():
    tree = Tree.balanced(2, 5)

    def vocabulary(n_words):
        probabilities = np.random.default_rng(0).gamma(0.1, size=(len(tree), n_words)).astype(np.float32)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return n_words, (probabilities, [f"word{number}" for number in range(n_words)])

    assert_linear(lambda rows, words: select_node_words(tree, rows, words=words), vocabulary(5_000), vocabulary(50_000))
