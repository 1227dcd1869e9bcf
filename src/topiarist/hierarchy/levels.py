"""Filing at the right level: the deepest node that is still certain, and what that is worth.

The posterior of a node is the sum of those of the classes at it and below it, so that it never rises on the way down
and is one at the root. Functions of plain arrays: ``posterior`` (documents × classes), the node of each class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.arrays import Array
from topiarist.errors import InputError
from topiarist.hierarchy.tree import Tree


def node_posterior(tree: Tree, class_nodes: Sequence[int], posterior: Any) -> Array:
    """P(node | document), (documents, nodes): the classes at a node and below it together."""
    values = np.asarray(posterior, np.float64)
    if values.ndim != 2 or values.shape[1] != len(class_nodes):
        raise InputError(
            f"expected a posterior of {len(class_nodes)} classes, got an array of shape {values.shape}",
            hint="predict_proba or transform",
        )
    used = np.flatnonzero(values.any(axis=0))  # few documents have something of few classes: nothing else is multiplied
    mask = tree.path_mask(np.asarray(class_nodes, np.intp)[used].tolist())
    nodes: Array = np.minimum(values[:, used] @ mask.astype(np.float64), 1.0)  # rounded sums may exceed it
    return nodes


def deepest_certain(tree: Tree, nodes: Any, rho: float) -> Array:
    """The deepest node whose posterior exceeds ``rho``, for each document; the likelier of two, the root if none does.

    From ``rho`` = 0.5 on the nodes that exceed it lie on one path.
    """
    values = np.asarray(nodes, np.float64)
    certain = values > rho
    depths = np.array(tree.depths)
    depth = np.where(certain, depths, -1).max(axis=1, initial=-1)
    candidates = np.where(certain & (depths == depth[:, None]), values, -1.0)
    chosen: Array = np.where(depth < 0, tree.root, candidates.argmax(axis=1))
    return chosen


@dataclass(frozen=True)
class LevelCurve:
    """What filing costs and gains as ρ moves; one entry for each ``rho``."""

    rho: Array
    accuracy: Array  # the share of documents filed at their class or above it
    coverage: Array  # the share of documents filed at a class, not above
    class_accuracy: Array  # of those, the share filed at their own class; NaN where there are none
    depth: Array  # the mean depth of the nodes

    def __str__(self) -> str:
        lines = ["  rho  accuracy  coverage  at a class: right  mean depth"]
        rows = zip(self.rho, self.accuracy, self.coverage, self.class_accuracy, self.depth, strict=True)
        lines += [f"{r:5.2f}  {a:8.3f}  {c:8.3f}  {k:17.3f}  {d:10.2f}" for r, a, c, k, d in rows]
        return "\n".join(lines)


RHOS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def level_curve(
    tree: Tree, class_nodes: Sequence[int], posterior: Any, true_nodes: Any, rho: Sequence[float] = RHOS
) -> LevelCurve:
    """Accuracy against coverage when documents are filed at the deepest node whose posterior exceeds ρ.

    ``true_nodes`` are the nodes where the documents belong. A document is filed rightly at its node or above it.
    """
    truth = np.asarray(true_nodes)
    nodes = node_posterior(tree, class_nodes, posterior)
    if truth.shape != (len(nodes),) or truth.dtype.kind not in "iu":
        raise InputError(
            f"expected the true node of each of {len(nodes)} documents, got {truth.dtype} of shape {truth.shape}",
            hint="[tree.find(label) for label in y]",
        )
    above = tree.path_mask(truth.tolist()) if len(truth) else np.zeros((0, len(tree)), bool)
    ends = np.zeros(len(tree), bool)
    ends[list(class_nodes)] = True
    depths, rows = np.array(tree.depths), np.arange(len(truth))
    columns = []
    for limit in rho:
        filed = deepest_certain(tree, nodes, limit)
        at_class = ends[filed]
        right = float((filed == truth)[at_class].mean()) if at_class.any() else np.nan
        columns.append((above[rows, filed].mean(), at_class.mean(), right, depths[filed].mean()))
    return LevelCurve(np.array(rho, float), *np.array(columns).T)


def calibration_error(probability: Any, right: Any, bins: int = 15) -> float:
    """Expected calibration error: how far the share of right answers is from the probability given to them.

    ``probability`` of each answer and whether it was ``right``; the mean over bins of equal width of the distance
    between the share of right answers and their mean probability, each weighing as many answers as it holds.
    """
    given, hits = np.asarray(probability, np.float64), np.asarray(right, np.float64)
    if given.ndim != 1 or given.shape != hits.shape:
        raise InputError(
            f"expected a probability and a truth for each answer, got shapes {given.shape} and {hits.shape}",
            hint="proba.max(axis=1), classes[proba.argmax(axis=1)] == y",
        )
    place = np.minimum((given * bins).astype(int), bins - 1)
    size = np.bincount(place, minlength=bins)
    gap = np.abs(np.bincount(place, hits, bins) - np.bincount(place, given, bins))
    return float(gap.sum() / max(1, size.sum()))
