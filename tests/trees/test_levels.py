"""Levels of certainty: posteriors of nodes, the deepest certain one, curves, calibration."""

import numpy as np
import pytest

from topiarist import Tree
from topiarist.errors import InputError
from topiarist.trees.levels import calibration_error, deepest_certain, level_curve, node_posterior

TREE = Tree.from_paths(["all/left/a", "all/left/b", "all/right"])
NAMES = [TREE.names[leaf] for leaf in TREE.leaves]
POSTERIOR = np.array([[0.95, 0.03, 0.02], [0.5, 0.45, 0.05], [0.3, 0.3, 0.4], [0.0, 0.1, 0.9]])


def filed(rho):
    return [TREE.names[node] for node in deepest_certain(TREE, node_posterior(TREE, TREE.leaves, POSTERIOR), rho)]


def test_node_posterior_sums_classes():
    nodes = node_posterior(TREE, TREE.leaves, POSTERIOR)
    np.testing.assert_allclose(nodes[:, TREE.root], 1)
    np.testing.assert_allclose(nodes[:, TREE.find("left")], POSTERIOR[:, :2].sum(axis=1))
    inner = node_posterior(TREE, (TREE.find("left"), TREE.find("a")), POSTERIOR[:, :2])
    np.testing.assert_allclose(inner[:, TREE.find("left")], POSTERIOR[:, :2].sum(axis=1))


def test_deepest_certain_node():
    assert filed(0.9) == ["a", "left", "all", "all"]
    assert filed(0.89) == ["a", "left", "all", "right"]
    assert filed(0.5) == ["a", "left", "left", "right"]
    assert filed(0.0) == ["a", "a", "a", "b"], "deeper before likelier"
    assert filed(1.0) == ["all"] * 4


def test_level_curve_matches_hand_computed_values():
    truth = [TREE.find(name) for name in ("a", "b", "right", "right")]
    curve = level_curve(TREE, TREE.leaves, POSTERIOR, truth, rho=(0.5, 0.89, 1.0))
    np.testing.assert_allclose(curve.accuracy, [0.75, 1, 1])
    np.testing.assert_allclose(curve.coverage, [0.5, 0.5, 0])
    np.testing.assert_allclose(curve.class_accuracy, [1, 1, np.nan])
    np.testing.assert_allclose(curve.depth, [1.25, 1, 0])
    assert str(curve).count("\n") == 3


def test_calibration_error_matches_hand_computed_values():
    assert calibration_error([0.9] * 10, [1] * 9 + [0]) == pytest.approx(0)
    assert calibration_error([0.9] * 10, [1] * 5 + [0] * 5) == pytest.approx(0.4)
    assert calibration_error([1.0, 0.0], [1, 1]) == pytest.approx(0.5)


def test_levels_reject_wrong_shapes():
    with pytest.raises(InputError, match="expected a posterior of 3 classes"):
        node_posterior(TREE, TREE.leaves, POSTERIOR[:, :2])
    with pytest.raises(InputError, match="true node of each of 4"):
        level_curve(TREE, TREE.leaves, POSTERIOR, ["a", "b", "c", "d"])
    with pytest.raises(InputError, match="a probability and a truth"):
        calibration_error([0.5], [1, 0])
