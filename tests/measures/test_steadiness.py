"""How much of each topic comes back: 1 for the same tree, as counted by hand for others, nothing for the root."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist.errors import InputError
from topiarist.hierarchy.tree import Tree
from topiarist.measures.placed_documents import Placed
from topiarist.measures.steadiness import in_words, steadiness

TREE = Tree((-1, 0, 0, 1, 1), names=("all", "left", "right", "one", "two"))
CLASSES = (3, 4, 2)


def placed(classes, tree=TREE, class_nodes=CLASSES):
    shares = csr_array(np.eye(len(class_nodes))[np.asarray(classes)])
    return Placed(tree, class_nodes, shares, [str(row) for row in range(len(classes))])


HERE = placed([0, 0, 0, 1, 1, 1, 2, 2, 2, 2])


def test_the_same_tree_comes_back_whole_and_the_root_says_nothing():
    found = steadiness(HERE, [HERE, HERE])
    assert np.isnan(found[0])
    assert found[1:].tolist() == [1, 1, 1, 1]


def test_shares_are_those_counted_by_hand_and_means_over_trees():
    other = placed([0, 0, 1, 1, 1, 1, 2, 2, 2, 0])
    found = steadiness(HERE, [other])
    assert found.tolist()[1:] == pytest.approx([6 / 7, 3 / 4, 2 / 4, 3 / 4])
    assert steadiness(HERE, [HERE, other])[3] == pytest.approx((1 + 2 / 4) / 2)


def test_the_numbers_of_nodes_and_the_form_of_the_other_tree_do_not_matter():
    flat = Tree((-1, 0, 0), names=("all", "b", "a"))
    found = steadiness(HERE, [placed([0, 0, 0, 0, 0, 0, 1, 1, 1, 1], flat, (1, 2))])
    assert found.tolist()[1:] == pytest.approx([1, 1, 0.5, 0.5])


def test_a_topic_without_documents_is_not_judged():
    assert np.isnan(steadiness(placed([0, 0, 2, 2]), [placed([0, 0, 2, 2])])[4])


def test_documents_of_chance_come_back_less_than_half():
    rng = np.random.default_rng(0)
    trees = [placed(rng.integers(0, 3, 600)) for _ in range(4)]
    assert np.nanmax(steadiness(trees[0], trees[1:])[2:]) < 0.5


def test_it_is_said_in_words():
    assert [in_words(share) for share in (1, 0.75, 0.74, 0.5, 0.49)] == [
        "steady", "steady", "mixed", "mixed", "may be chance"
    ]  # fmt: skip


def test_without_other_trees_it_is_refused():
    with pytest.raises(InputError, match="got none"):
        steadiness(HERE, [])
