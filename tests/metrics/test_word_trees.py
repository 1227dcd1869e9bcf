"""Figures about the words of a tree."""

import numpy as np
import pytest

from topiarist import metrics
from topiarist.errors import InputError
from topiarist.trees import Tree

TREE = Tree((-1, 0, 1, 1))
X = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 0]])


def test_parent_child_coherence_matches_hand_computed_value():
    words = [[], [0], [1], [2]]
    # 0 and 1 are in the same half of the documents, 0 and 2 never meet
    assert metrics.parent_child_coherence(TREE, words, X) == pytest.approx((1.0 + -1.0) / 2)
    assert metrics.parent_child_coherence(TREE, [[], [2, 0], [3, 0], []], X) == pytest.approx(
        np.log(0.25 / (0.5 * 0.25)) / -np.log(0.25)
    )


def test_diversity_counts_different_words():
    words = [[9], [0, 1], [1, 2], [3, 4]]
    assert metrics.parent_child_diversity(TREE, words) == pytest.approx((1 + 3 / 4 + 1) / 3)
    assert metrics.sibling_diversity(TREE, words) == 1.0
    assert metrics.sibling_diversity(TREE, [[], [], [1, 2], [2, 1]]) == 0.5
    assert metrics.sibling_diversity(TREE, [[], [], [1, 2], [2, 1]], top_n=1) == 1.0


def test_word_metrics_require_words():
    for figure in (metrics.parent_child_diversity, metrics.sibling_diversity):
        with pytest.raises(InputError, match="got none"):
            figure(TREE, [[]] * 4)
    with pytest.raises(InputError, match="for each of 4 nodes"):
        metrics.sibling_diversity(TREE, [[1]])


def test_name_exam_compares_nodes_of_level():
    shares = np.array([[0.3, 0.3, 0.4], [0.5, 0.4, 0.1], [0.9, 0.05, 0.05], [0.1, 0.8, 0.1]])
    names, words = ["", "apple", "Apple", "pear · plum"], ["apple", "pear", "plum"]
    assert metrics.name_exam(TREE, names, shares, words) == 1.0
    assert metrics.name_exam(TREE, ["", "apple", "pear", "unheard"], shares, words) == pytest.approx(1 / 3)
