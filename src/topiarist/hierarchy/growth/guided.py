"""Splits proposed by geometry: the leaf whose documents gain most from being two groups instead of one.

Documents are vectors of latent semantic indexing. 2-means divides the documents of each leaf; the drop of the squared
error says what the division is worth. EM then repairs what geometry got wrong. Growing ends when no tree among the last
ones predicts held-out tokens better beyond doubt: by more than the standard error of the difference, which is paired
over documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from topiarist.arrays import Array
from topiarist.hierarchy.growth.loop import Proposal, Stage, Trial, standard_error
from topiarist.hierarchy.growth.parts import Parts, Split
from topiarist.models.engine import tables
from topiarist.models.halves import halves_of

ONE_BY_ONE = 32  # leaves up to which one is split at a time; from then on one in four
SHARE = 4
FEWEST_WITHOUT_GAIN = 4  # leaves that may come in vain
LEAST_GAIN = 0.001  # nats a token: less is not worth a leaf, however sure it is
ROUNDS, SPARE_ROUNDS = 3, 20  # for each leaf: EM may empty leaves as fast as they come
Halves = Callable[[Any, list[Array], list[int], float], list[tuple[float, Array | None]]]


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

    vectors: Any  # (n_docs, dimensions), rows of length one, or zero for a document without words
    rng: np.random.Generator
    n_classes: int | None = None
    max_classes: int = 512
    patience: float = 0.3  # leaves that may come in vain, as a share of those of the last tree that was better
    fewest: float = 3.0  # expected documents of a half
    halves: Halves = halves_of  # of many groups of points
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
        own = tables.strongest(parts.class_given_doc)
        order = np.argsort(own.astype(np.uint16) if parts.n_classes < 1 << 16 else own, kind="stable")  # by radix
        groups = np.split(order, np.searchsorted(own[order], np.arange(1, parts.n_classes)))
        open_ = [c for c in range(parts.n_classes) if parts.tree.names[parts.class_nodes[c]] not in self._whole]
        seeds = self.rng.integers(2**63, size=parts.n_classes)
        found = self.halves(self.vectors, [groups[c] for c in open_], seeds[open_].tolist(), self.fewest)
        gains = [(gain, c, side) for c, (gain, side) in zip(open_, found, strict=True) if side is not None]
        room = (self.n_classes or self.max_classes) - parts.n_classes
        number = min(room, 1 if parts.n_classes < ONE_BY_ONE else parts.n_classes // SHARE)
        best = sorted(gains, key=lambda entry: (-entry[0], entry[1]))[:number]
        return tuple(Split(c, (groups[c][side], groups[c][~side])) for _, c, side in best)
