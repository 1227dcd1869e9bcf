"""Assignment of documents to the deepest node that is certain enough, and the accuracy of this.

The posterior of a node is the sum of the posteriors of the classes at and below it. It never rises on the way down
and is one at the root. The functions take plain arrays: ``posterior`` (documents × classes) and the node of each
class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.arrays import Array
from topiarist.errors import InputError
from topiarist.trees.tree import Tree


def node_posterior(tree: Tree, class_nodes: Sequence[int], posterior: Any) -> Array:
    """Return P(node | document), (documents, nodes): the sum over the classes at and below each node."""
    values = np.asarray(posterior, np.float64)
    if values.ndim != 2 or values.shape[1] != len(class_nodes):
        raise InputError(
            f"expected a posterior of {len(class_nodes)} classes, got an array of shape {values.shape}",
            hint="Pass the output of predict_proba or transform.",
        )
    used = np.flatnonzero(values.any(axis=0))  # skip unused classes: small batches use few of many
    mask = tree.path_mask(np.asarray(class_nodes, np.intp)[used].tolist())
    nodes: Array = np.minimum(values[:, used] @ mask.astype(np.float64), 1.0)  # rounded sums may exceed 1
    return nodes


def deepest_certain(tree: Tree, nodes: Any, rho: float) -> Array:
    """Return for each document the deepest node whose posterior exceeds ``rho``, otherwise the root.

    Of two nodes of equal depth, the likelier one is returned. From ``rho`` = 0.5 on, all nodes above it lie on one
    path.
    """
    values = np.asarray(nodes, np.float64)
    certain = values > rho
    depths = np.array(tree.depths)
    depth = np.where(certain, depths, -1).max(axis=1, initial=-1)
    candidates = np.where(certain & (depths == depth[:, None]), values, -1.0)
    nodes_of_documents: Array = np.where(depth < 0, tree.root, candidates.argmax(axis=1))
    return nodes_of_documents


@dataclass(frozen=True)
class LevelCurve:
    """Accuracy and coverage of an assignment for each threshold ``rho``."""

    rho: Array
    accuracy: Array  # share of documents assigned to their class or above it
    coverage: Array  # share of documents assigned to a class, not above
    class_accuracy: Array  # share of these that is at the true class; NaN if there are none
    depth: Array  # mean depth of the assigned nodes

    def __str__(self) -> str:
        lines = ["  rho  accuracy  coverage  at a class: right  mean depth"]
        rows = zip(self.rho, self.accuracy, self.coverage, self.class_accuracy, self.depth, strict=True)
        lines += [f"{r:5.2f}  {a:8.3f}  {c:8.3f}  {k:17.3f}  {d:10.2f}" for r, a, c, k, d in rows]
        return "\n".join(lines)


RHOS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def level_curve(
    tree: Tree, class_nodes: Sequence[int], posterior: Any, true_nodes: Any, rho: Sequence[float] = RHOS
) -> LevelCurve:
    """Compute accuracy and coverage when documents are assigned to the deepest node whose posterior exceeds ρ.

    ``true_nodes`` has the true node of each document. An assignment to this node or to one above it is correct.
    """
    truth = np.asarray(true_nodes)
    nodes = node_posterior(tree, class_nodes, posterior)
    if truth.shape != (len(nodes),) or truth.dtype.kind not in "iu":
        raise InputError(
            f"expected the true node of each of {len(nodes)} documents, got {truth.dtype} of shape {truth.shape}",
            hint="Pass [tree.find(label) for label in y].",
        )
    is_on_path = tree.path_mask(truth.tolist()) if len(truth) else np.zeros((0, len(tree)), bool)
    is_class_node = np.zeros(len(tree), bool)
    is_class_node[list(class_nodes)] = True
    depths, rows = np.array(tree.depths), np.arange(len(truth))
    columns = []
    for limit in rho:
        assigned_nodes = deepest_certain(tree, nodes, limit)
        at_class = is_class_node[assigned_nodes]
        right = float((assigned_nodes == truth)[at_class].mean()) if at_class.any() else np.nan
        columns.append((is_on_path[rows, assigned_nodes].mean(), at_class.mean(), right, depths[assigned_nodes].mean()))
    return LevelCurve(np.array(rho, float), *np.array(columns).T)


def calibration_error(probability: Any, right: Any, bins: int = 15) -> float:
    """Return the expected calibration error: the mean distance between certainties and observed accuracy.

    ``probability`` has the certainty of each answer, and ``right`` whether it was correct. The distance is computed
    in bins of equal width; each bin is weighted by its number of answers.
    """
    probabilities, correct = np.asarray(probability, np.float64), np.asarray(right, np.float64)
    if probabilities.ndim != 1 or probabilities.shape != correct.shape:
        raise InputError(
            f"expected a probability and a truth for each answer, got shapes {probabilities.shape} and {correct.shape}",
            hint="Pass proba.max(axis=1) and classes[proba.argmax(axis=1)] == y.",
        )
    bin_of = np.minimum((probabilities * bins).astype(int), bins - 1)
    size = np.bincount(bin_of, minlength=bins)
    gap = np.abs(np.bincount(bin_of, correct, bins) - np.bincount(bin_of, probabilities, bins))
    return float(gap.sum() / max(1, size.sum()))
