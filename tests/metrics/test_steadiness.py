"""How much of each topic comes back: 1 for the same tree, as counted by hand for others, nothing for the root."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist.errors import InputError
from topiarist.metrics.node_matching import compute_stability, describe_stability
from topiarist.metrics.placed_documents import DocumentAssignments
from topiarist.trees.tree import Tree

TREE = Tree((-1, 0, 0, 1, 1), names=("all", "left", "right", "one", "two"))
CLASSES = (3, 4, 2)


def placed(classes, tree=TREE, class_nodes=CLASSES):
    shares = csr_array(np.eye(len(class_nodes))[np.asarray(classes)])
    return DocumentAssignments(tree, class_nodes, shares, [str(row) for row in range(len(classes))])


HERE = placed([0, 0, 0, 1, 1, 1, 2, 2, 2, 2])


def test_stability_of_equal_tree():
    result = compute_stability(HERE, [HERE, HERE])
    assert np.isnan(result[0])
    assert result[1:].tolist() == [1, 1, 1, 1]


def test_stability_matches_hand_computed_means():
    other = placed([0, 0, 1, 1, 1, 1, 2, 2, 2, 0])
    result = compute_stability(HERE, [other])
    assert result.tolist()[1:] == pytest.approx([6 / 7, 3 / 4, 2 / 4, 3 / 4])
    assert compute_stability(HERE, [HERE, other])[3] == pytest.approx((1 + 2 / 4) / 2)


def test_stability_independent_of_node_numbers():
    flat = Tree((-1, 0, 0), names=("all", "b", "a"))
    result = compute_stability(HERE, [placed([0, 0, 0, 0, 0, 0, 1, 1, 1, 1], flat, (1, 2))])
    assert result.tolist()[1:] == pytest.approx([1, 1, 0.5, 0.5])


def test_stability_undefined_for_empty_topic():
    assert np.isnan(compute_stability(placed([0, 0, 2, 2]), [placed([0, 0, 2, 2])])[4])


def test_stability_low_for_random_topics():
    rng = np.random.default_rng(0)
    trees = [placed(rng.integers(0, 3, 600)) for _ in range(4)]
    assert np.nanmax(compute_stability(trees[0], trees[1:])[2:]) < 0.5


def test_describe_stability():
    assert [describe_stability(share) for share in (1, 0.75, 0.74, 0.5, 0.49)] == [
        "steady", "steady", "mixed", "mixed", "may be chance"
    ]  # fmt: skip


def test_stability_requires_other_trees():
    with pytest.raises(InputError, match="got none"):
        compute_stability(HERE, [])
