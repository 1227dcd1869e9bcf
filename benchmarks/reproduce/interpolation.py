"""Growing with a split of one's own: tokens to learn from, tokens to decide with, tokens to report on.

A cluster of few documents has never seen most words, so P(w|d) is interpolated with the unigram: λ P(w) + (1−λ) P(w|d).
λ is fitted by EM on the tokens to decide with, which also judge every tree on the way. Nothing is learned from the
tokens to report on, neither words nor levels nor λ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from topiarist.counts.split import split_tokens
from topiarist.kernels.shard import CountsView
from topiarist.models import cam
from topiarist.models.engine.host import Engine
from topiarist.trees.growth.loop import GrowingModel, Proposal, Proposer, Rules, Stage, Trial, grow
from topiarist.trees.growth.parts import GrowthState

SHARES = (0.8, 0.1, 0.1)
TOLERANCE = 0.01  # a smaller tree is as good if its perplexity is within this of the best
UNSEEN = 0.5  # added to the count of each word of the unigram


@dataclass(frozen=True)
class Task:
    """The three parts of a collection's tokens, and the unigram of the first."""

    engine: Engine
    training: Any
    heldout: Any
    test: Any
    unigram: np.ndarray

    @classmethod
    def of(cls, engine: Engine, counts: Any, seed: int) -> Task:
        """Split the tokens of every document."""
        training, heldout, test = split_tokens(counts, SHARES, seed=seed)
        words = np.asarray(training.sum(axis=0), np.float64).ravel() + UNSEEN
        return cls(engine, training, heldout, test, words / words.sum())

    def judged(self, parts: GrowthState) -> tuple[float, float]:
        """Return the held-out perplexity, interpolated, and the best λ."""
        own, other = self._probabilities(parts, self.heldout), self.unigram[self.heldout.indices]
        weight = fitted_weight(own, other, self.heldout.data)
        return perplexity(weight * other + (1 - weight) * own, self.heldout.data), weight

    def reported(self, parts: GrowthState) -> tuple[float, float]:
        """Return the test perplexity, with the λ of the held-out tokens."""
        weight = self.judged(parts)[1]
        own, other = self._probabilities(parts, self.test), self.unigram[self.test.indices]
        return perplexity(weight * other + (1 - weight) * own, self.test.data), weight

    def unigram_perplexity(self) -> float:
        """Return the test perplexity of the unigram alone."""
        return perplexity(self.unigram[self.test.indices], self.test.data)

    def _probabilities(self, parts: GrowthState, counts: Any) -> np.ndarray:
        """P(w|d) of each non-zero; P(c|d) comes from the tokens to learn from."""
        sizes = parts.sizes()
        shared = cam.Params(parts.word_given_node, parts.node_given_class, sizes / sizes.sum())
        words = cam.Cam(self.engine, parts.path_mask).class_word_table(shared)
        documents = np.ascontiguousarray(parts.class_given_doc, words.dtype)
        side, out = CountsView.from_matrix(counts, words.dtype), np.empty(counts.nnz, words.dtype)

        def piece(rows: slice) -> None:
            indptr = side.indptr[rows.start : rows.stop + 1]
            here = out[indptr[0] : indptr[-1]]
            self.engine.kernels.mixtures(indptr, side.indices, documents[rows], words, here)

        self.engine.threads.map(piece, side.slices)
        return out.astype(np.float64)


def fitted_weight(own: np.ndarray, other: np.ndarray, counts: np.ndarray) -> float:
    """Return the share of ``other`` that makes tokens most likely, by EM."""
    weight, total = 0.3, float(counts.sum(dtype=np.float64))
    for _ in range(100):
        share = weight * other / (weight * other + (1 - weight) * own)
        before, weight = weight, float((counts * share).sum(dtype=np.float64)) / total
        if abs(weight - before) < 1e-5:
            break
    return weight


def perplexity(probabilities: np.ndarray, counts: np.ndarray) -> float:
    """Return exp of the mean surprise of a token."""
    return math.exp(-float((counts * np.log(probabilities)).sum(dtype=np.float64)) / float(counts.sum()))


@dataclass
class Watching:
    """A proposer that judges every tree it is shown and remembers those that may be taken, at several limits of size.

    The loop's own record judges without interpolation, and forgets what it thinks is worse.
    """

    inner: Proposer
    judge: Callable[[GrowthState], tuple[float, float]]
    limits: tuple[int, ...]
    curve: list[tuple[int, float]] = field(default_factory=list)
    kept: dict[int, list[tuple[float, Stage]]] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        """Why there are no more proposals."""
        return self.inner.reason

    def propose(self, stage: Stage) -> Proposal | None:
        """See ``growth.Proposer``."""
        value, leaves = self.judge(stage.parts)[0], stage.parts.n_classes
        self.curve.append((leaves, value))
        for limit in self.limits:
            if leaves <= limit:
                seen = [*self.kept.get(limit, []), (value, stage)]
                most = min(one[0] for one in seen) * (1 + TOLERANCE)
                self.kept[limit] = [one for one in seen if one[0] <= most]
        return self.inner.propose(stage)

    def find_rejected_splits(self, trial: Trial) -> tuple[int, ...]:
        """See ``growth.Proposer``."""
        return self.inner.find_rejected_splits(trial)

    def best(self, limit: int) -> Stage:
        """Return the tree with the lowest held-out perplexity."""
        return min(self.kept[limit], key=lambda one: one[0])[1]

    def smallest(self, limit: int) -> Stage:
        """Return the smallest tree within one per cent of that."""
        return min(self.kept[limit], key=lambda one: (one[1].parts.n_classes, one[0]))[1]


def watched(task: Task, species: GrowingModel, proposer: Proposer, limits: tuple[int, ...]) -> Watching:
    """Grow until nothing more is proposed, with every tree judged on the way; the loop's own choice is not used."""
    watching = Watching(proposer, task.judged, limits)
    grow(species, watching, Rules(n_classes=max(limits), negligible=0.0))
    return watching
