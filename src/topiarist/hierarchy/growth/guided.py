"""Splits proposed by geometry: the leaf whose documents gain most from being two groups instead of one.

Documents are vectors of latent semantic indexing. 2-means divides the documents of each leaf; the drop of the squared
error says what the division is worth. EM then repairs what geometry got wrong. Growing ends when no tree among the last
ones predicts held-out tokens better beyond doubt: by more than the standard error of the difference, which is paired
over documents.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from topiarist.arrays import Array
from topiarist.hierarchy.growth.loop import Proposal, Stage, Trial, standard_error
from topiarist.hierarchy.growth.parts import Parts, Split

MAX_ROUNDS = 30
ONE_BY_ONE = 32  # leaves up to which one is split at a time; from then on one in four
SHARE = 4
FEWEST_WITHOUT_GAIN = 4  # leaves that may come in vain
LEAST_GAIN = 0.001  # nats a token: less is not worth a leaf, however sure it is
ROUNDS, SPARE_ROUNDS = 3, 20  # for each leaf: EM may empty leaves as fast as they come
Map = Callable[[Callable[[int], Any], list[int]], list[Any]]


class Mark(NamedTuple):
    """The last tree that was better beyond doubt than the one before it."""

    round: int
    n_leaves: int
    score: float
    by_document: Array  # held-out likelihood

    def passed_by(self, stage: Stage) -> bool:
        """Whether another tree is better by more than chance explains, and by enough to matter."""
        error = standard_error(stage.by_document, self.by_document)
        return stage.score - self.score > max(error, LEAST_GAIN)


@dataclass
class Guided:
    """Proposes the most rewarding splits, one at a time until there are 32 leaves, then of one leaf in four.

    ``reason`` is "reached" (``n_classes``, or ``max_classes``), "heldout" (splits no longer pay), or "exhausted"
    (no leaf can be split).
    """

    vectors: Array  # (n_docs, dimensions), rows of length one, or zero for a document without words
    rng: np.random.Generator
    n_classes: int | None = None
    max_classes: int = 512
    patience: float = 0.3  # leaves that may come in vain, as a share of those of the last tree that was better
    fewest: float = 3.0  # expected documents of a half
    workers: Map = field(default=lambda function, items: [function(item) for item in items])
    reason: str = ""
    _whole: set[str] = field(default_factory=set)  # leaves that proved to be one group, by their names
    _rounds: int = 0
    _mark: Mark | None = None

    def propose(self, stage: Stage) -> Proposal | None:
        """See ``growth.Proposer``."""
        parts = stage.parts
        self._rounds += 1
        if parts.n_classes >= (self.n_classes or self.max_classes):
            self.reason = "reached"
            return None
        if self.n_classes is None and self._no_longer_pays(stage):
            self.reason = "heldout"
            return None
        splits = self._best_splits(parts)
        if not splits or self._rounds > ROUNDS * (self.n_classes or self.max_classes) + SPARE_ROUNDS:
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
        mark = None if self._mark is None else list(self._mark)
        return {"whole": sorted(self._whole), "rounds": self._rounds, "mark": mark}

    def remember(self, memory: Mapping[str, Any]) -> None:
        """See ``growth.Proposer``."""
        self._whole, self._rounds = set(memory["whole"]), int(memory["rounds"])
        self._mark = None if memory["mark"] is None else Mark(*memory["mark"])

    def _no_longer_pays(self, stage: Stage) -> bool:
        """Whether many leaves have come since the last tree that was better beyond doubt."""
        if self._mark is None or self._mark.passed_by(stage):
            self._mark = Mark(self._rounds, stage.parts.n_classes, stage.score, stage.by_document)
        tried = self._rounds - self._mark.round  # EM may empty leaves as fast as they come: such rounds count half
        in_vain = max(stage.parts.n_classes - self._mark.n_leaves, tried // 2)
        return in_vain >= max(FEWEST_WITHOUT_GAIN, self.patience * self._mark.n_leaves)

    def _best_splits(self, parts: Parts) -> tuple[Split, ...]:
        own = parts.class_given_doc.argmax(axis=1)
        order = np.argsort(own, kind="stable")
        groups = np.split(order, np.searchsorted(own[order], np.arange(1, parts.n_classes)))
        open_ = [c for c in range(parts.n_classes) if parts.tree.names[parts.class_nodes[c]] not in self._whole]
        seeds = self.rng.integers(2**63, size=parts.n_classes)
        found = self.workers(lambda c: two_means(self.vectors[groups[c]], int(seeds[c]), self.fewest), open_)
        gains = [(gain, c, side) for c, (gain, side) in zip(open_, found, strict=True) if side is not None]
        room = (self.n_classes or self.max_classes) - parts.n_classes
        number = min(room, 1 if parts.n_classes < ONE_BY_ONE else parts.n_classes // SHARE)
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
