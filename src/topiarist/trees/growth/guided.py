"""Splits by geometry: the leaf whose documents gain most from being two groups is split first.

Documents are vectors of latent semantic indexing. 2-means divides the documents of each leaf, and the drop of the
squared error is the gain of the split. EM then corrects the division. Growth ends when none of the last trees
predicts held-out tokens significantly better: by more than the standard error of the difference, which is paired over
documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from topiarist.arrays import Array
from topiarist.models.engine import tables
from topiarist.models.halves import split_groups
from topiarist.trees.growth.loop import Proposal, Stage, Trial, compute_standard_error
from topiarist.trees.growth.parts import GrowthState, Split

MAX_LEAVES_ONE_BY_ONE = 32  # beyond it, one leaf in four is split at a time
LEAVES_PER_SPLIT = 4
MIN_LEAVES_WITHOUT_GAIN = 4  # leaves that may be added without a gain
MIN_GAIN = 0.001  # nats per token: smaller gains are not worth a leaf, even if significant
ROUNDS_PER_LEAF, SPARE_ROUNDS = 3, 20  # limits of rounds: EM may empty leaves as fast as they are added
SplitGroups = Callable[[Any, list[Array], list[int], float], list[tuple[float, Array | None]]]


class ReferenceTree(NamedTuple):
    """The last tree that was significantly better than the one before it."""

    round: int
    n_leaves: int
    score: float
    by_document: Array  # held-out likelihood

    def is_beaten_by(self, stage: Stage) -> bool:
        """Return whether a tree is better by more than the standard error and by at least ``MIN_GAIN``."""
        error = compute_standard_error(stage.by_document, self.by_document)
        return stage.score - self.score > max(error, MIN_GAIN)


@dataclass
class GuidedProposer:
    """Proposer of the splits with the largest gains: one at a time up to 32 leaves, then one leaf in four.

    ``reason`` is "reached" (``n_classes``, or ``max_classes``), "heldout" (splits no longer pay), or "exhausted"
    (no leaf can be split).
    """

    vectors: Any  # (n_docs, dimensions), rows of length one, or zero for a document without words
    rng: np.random.Generator
    n_classes: int | None = None
    max_classes: int = 512
    patience: float = 0.3  # leaves without a gain, as a share of those of the reference tree
    min_documents: float = 3.0  # expected documents of a half
    halves: SplitGroups = split_groups  # divides many groups of points
    reason: str = ""
    _unsplittable: set[str] = field(default_factory=set)  # names of leaves that are one group
    _rounds: int = 0
    _reference: ReferenceTree | None = None

    def propose(self, stage: Stage) -> Proposal | None:
        """Propose the splits with the largest gains; see ``loop.Proposer``."""
        parts = stage.parts
        self._rounds += 1
        if parts.n_classes >= (self.n_classes or self.max_classes):
            self.reason = "reached"
            return None
        if self.n_classes is None and self._has_stopped_improving(stage):
            self.reason = "heldout"
            return None
        splits = self._choose_best_splits(parts)
        if not splits or self._rounds > ROUNDS_PER_LEAF * (self.n_classes or self.max_classes) + SPARE_ROUNDS:
            self.reason = "exhausted"
            return None
        return Proposal(splits, stage.inverse_temperature)

    def find_rejected_splits(self, trial: Trial) -> tuple[int, ...]:
        """Return splits with a half that EM left nearly empty. Their leaves are not tried again."""
        sizes = trial.after_stage.parts.sizes()
        rejected = tuple(n for n, (a, b) in enumerate(trial.pairs) if min(sizes[a], sizes[b]) < self.min_documents)
        parts = trial.before_stage.parts
        self._unsplittable.update(parts.tree.names[parts.class_nodes[trial.pairs[number][0]]] for number in rejected)
        return rejected

    def export_state(self) -> dict[str, Any]:
        """Return the state as plain JSON data; see ``loop.Proposer``."""
        mark = None if self._reference is None else list(self._reference)
        return {"whole": sorted(self._unsplittable), "rounds": self._rounds, "mark": mark}

    def restore_state(self, state: Mapping[str, Any]) -> None:
        """Restore an exported state; see ``loop.Proposer``."""
        self._unsplittable, self._rounds = set(state["whole"]), int(state["rounds"])
        self._reference = None if state["mark"] is None else ReferenceTree(*state["mark"])

    def _has_stopped_improving(self, stage: Stage) -> bool:
        """Return whether recent leaves did not improve the tree; keep a better tree as reference."""
        if self._reference is None or self._reference.is_beaten_by(stage):
            self._reference = ReferenceTree(self._rounds, stage.parts.n_classes, stage.score, stage.by_document)
        n_rounds = self._rounds - self._reference.round  # rounds whose leaves EM empties count half
        in_vain = max(stage.parts.n_classes - self._reference.n_leaves, n_rounds // 2)
        return in_vain >= max(MIN_LEAVES_WITHOUT_GAIN, self.patience * self._reference.n_leaves)

    def _choose_best_splits(self, parts: GrowthState) -> tuple[Split, ...]:
        """Return the splits of leaves into two groups of documents with the largest gain."""
        class_of = tables.find_largest_columns(parts.class_given_doc)
        order = np.argsort(
            class_of.astype(np.uint16) if parts.n_classes < 1 << 16 else class_of, kind="stable"
        )  # by radix
        groups = np.split(order, np.searchsorted(class_of[order], np.arange(1, parts.n_classes)))
        open_ = [c for c in range(parts.n_classes) if parts.tree.names[parts.class_nodes[c]] not in self._unsplittable]
        seeds = self.rng.integers(2**63, size=parts.n_classes)
        halves = self.halves(self.vectors, [groups[c] for c in open_], seeds[open_].tolist(), self.min_documents)
        gains = [(gain, c, side) for c, (gain, side) in zip(open_, halves, strict=True) if side is not None]
        room = (self.n_classes or self.max_classes) - parts.n_classes
        number = min(room, 1 if parts.n_classes < MAX_LEAVES_ONE_BY_ONE else parts.n_classes // LEAVES_PER_SPLIT)
        best = sorted(gains, key=lambda entry: (-entry[0], entry[1]))[:number]
        return tuple(Split(c, (groups[c][side], groups[c][~side])) for _, c, side in best)
