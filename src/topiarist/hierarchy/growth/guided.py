"""Splits proposed by geometry: the leaf whose documents gain most from being two groups instead of one.

Documents are vectors of latent semantic indexing. 2-means divides the documents of each leaf; the drop of the squared
error says what the division is worth. EM then repairs what geometry got wrong. Growing ends when the last few leaves
no longer pay with held-out tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from topiarist.arrays import Array
from topiarist.hierarchy.growth.loop import Proposal, Stage, Trial
from topiarist.hierarchy.growth.parts import Parts, Split

MAX_ROUNDS = 30
ROUNDS, SPARE_ROUNDS = 3, 20  # for each leaf: EM may empty leaves as fast as they come
Map = Callable[[Callable[[int], Any], list[int]], list[Any]]


@dataclass
class Guided:
    """Proposes the most rewarding splits, one at a time until there are 32 leaves, then about three in a hundred.

    ``reason`` is "reached" (``n_classes``, or ``max_classes``), "heldout" (splits no longer pay), or "exhausted"
    (no leaf can be split).
    """

    vectors: Array  # (n_docs, dimensions), rows of length one, or zero for a document without words
    rng: np.random.Generator
    n_classes: int | None = None
    max_classes: int = 512
    least_gain: float = 0.01  # of each leaf, as a share of all that the tree has gained in held-out likelihood
    window: int = 4
    fewest: float = 3.0  # expected documents of a half
    workers: Map = field(default=lambda function, items: [function(item) for item in items])
    reason: str = ""
    _whole: set[str] = field(default_factory=set)  # leaves that proved to be one group, by their names
    _curve: list[tuple[int, float]] = field(default_factory=list)

    def propose(self, stage: Stage) -> Proposal | None:
        """See ``growth.Proposer``."""
        parts = stage.parts
        self._curve.append((parts.n_classes, stage.score))
        if parts.n_classes >= (self.n_classes or self.max_classes):
            self.reason = "reached"
            return None
        if self.n_classes is None and self._no_longer_pays():
            self.reason = "heldout"
            return None
        splits = self._best_splits(parts)
        if not splits or len(self._curve) > ROUNDS * (self.n_classes or self.max_classes) + SPARE_ROUNDS:
            self.reason = "exhausted"
            return None
        return Proposal(splits, stage.inverse_temperature)

    def refused(self, trial: Trial) -> tuple[int, ...]:
        """Splits of which EM left one half nearly empty. Their leaves are not tried again."""
        sizes = trial.after.parts.sizes()
        refused = tuple(n for n, (a, b) in enumerate(trial.pairs) if min(sizes[a], sizes[b]) < self.fewest)
        before = trial.before.parts
        self._whole.update(before.tree.names[before.class_nodes[trial.pairs[number][0]]] for number in refused)
        return refused

    def memory(self) -> dict[str, Any]:
        """See ``growth.Proposer``."""
        return {"whole": sorted(self._whole), "curve": self._curve}

    def remember(self, memory: Mapping[str, Any]) -> None:
        """See ``growth.Proposer``."""
        self._whole, self._curve = set(memory["whole"]), [(int(k), float(value)) for k, value in memory["curve"]]

    def _no_longer_pays(self) -> bool:
        leaves, heldout = self._curve[-1]
        earlier = [(k, value) for k, value in self._curve if k <= leaves - self.window]
        if not earlier:
            return False
        k, value = earlier[-1]
        return heldout - value < self.least_gain * (leaves - k) * (heldout - self._curve[0][1])

    def _best_splits(self, parts: Parts) -> tuple[Split, ...]:
        own = parts.class_given_doc.argmax(axis=1)
        order = np.argsort(own, kind="stable")
        groups = np.split(order, np.searchsorted(own[order], np.arange(1, parts.n_classes)))
        open_ = [c for c in range(parts.n_classes) if parts.tree.names[parts.class_nodes[c]] not in self._whole]
        seeds = self.rng.integers(2**63, size=parts.n_classes)
        found = self.workers(lambda c: two_means(self.vectors[groups[c]], int(seeds[c]), self.fewest), open_)
        gains = [(gain, c, side) for c, (gain, side) in zip(open_, found, strict=True) if side is not None]
        room = (self.n_classes or self.max_classes) - parts.n_classes
        number = min(room, 1 + parts.n_classes // 32)
        best = sorted(gains, key=lambda entry: (-entry[0], entry[1]))[:number]
        return tuple(Split(c, (groups[c][side], groups[c][~side])) for _, c, side in best)


def two_means(vectors: Array, seed: int, fewest: float = 1.0, starts: int = 3) -> tuple[float, Array | None]:
    """The drop of the squared error when vectors are divided in two, and who is on the first side (None: no division).

    The first start cuts along the longest axis of the cloud, the others between two vectors drawn at random.
    """
    best: tuple[float, Array | None] = (0.0, None)
    if len(vectors) < 2 * fewest:
        return best
    rng = np.random.default_rng(seed)
    mean = vectors.mean(axis=0)
    for start in range(starts):
        if start == 0:
            centred = vectors - mean
            axis = np.linalg.eigh((centred.T @ centred).astype(np.float64))[1][:, -1].astype(vectors.dtype)
            side = centred @ axis > 0
        else:
            one, other = rng.choice(len(vectors), 2, replace=False)
            side = _nearer(vectors, vectors[one], vectors[other])
        gain, side = _settled(vectors, side)
        smaller = min(np.count_nonzero(side), np.count_nonzero(~side))
        if gain > best[0] and smaller >= fewest and math.isfinite(gain):
            best = (gain, side)
    return best


def _settled(vectors: Array, side: Array) -> tuple[float, Array]:
    """Lloyd's algorithm for two means: each round is two products of the vectors with one other."""
    total = vectors.sum(axis=0, dtype=np.float64)
    for _ in range(MAX_ROUNDS):
        n_first = int(np.count_nonzero(side))
        if n_first in (0, len(side)):
            return 0.0, side
        first = side.astype(vectors.dtype) @ vectors / n_first
        second = ((total - first * n_first) / (len(side) - n_first)).astype(vectors.dtype)
        new = _nearer(vectors, first, second)
        if (new == side).all():
            break
        side = new
    gap = (first - second).astype(np.float64)
    return n_first * (len(side) - n_first) / len(side) * float(gap @ gap), side


def _nearer(vectors: Array, first: Array, second: Array) -> Array:
    """Whether each vector is nearer to the first point than to the second."""
    nearer: Array = vectors @ (first - second) > (first @ first - second @ second) / 2
    return nearer
