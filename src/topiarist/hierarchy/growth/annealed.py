"""Splits by annealing, as in the papers: every class is doubled, and the temperature decides which doubles part.

While it is warm, EM makes doubles alike again, and they are joined. Below a critical temperature they part, and stay.
When nothing parts any more, the next temperature comes. To leave the saddle between two doubles EM needs some thirty
steps on which it gains next to nothing: the species must not stop earlier (``Steps``).

**Critical temperatures**: where a collection that is one class begins to part in two. Let x_d = (n_d − N_d p) / √p be
what is peculiar about document *d*: its counts less those expected of its length N_d, p being the collection's words.
Two classes that are nearly alike differ more after an EM step, or less, in the direction of the leading axis of these
residuals. Warmer than critical every difference fades; colder than that the classes part. Both figures are for a flat
model. Where the parent stays as a topic above the halves, they part only later: a leaf with the share *s* of its path
does at *s* times the critical temperature (CAM), or at the inverse temperature 1 / (1 + σ√s) (HPLSA).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from topiarist.arrays import Array
from topiarist.hierarchy.growth.loop import Proposal, Stage, Trial
from topiarist.hierarchy.growth.parts import Parts, Split
from topiarist.models.engine import tables

HPLSA_GRID = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
JUST_ABOVE = 1.01
NOTHING = 1e-14  # residuals of no more than rounding: all documents are alike


def hplsa_schedule(start: float = 0.3) -> tuple[float, ...]:
    """Inverse temperatures from ``start`` in tenths to 0.8, then in twentieths to 1.

    Nothing parts below the critical one (``critical_inverse_temperature``): that is a quicker start.
    """
    if not 0 < start <= 1:
        raise ValueError(f"an inverse temperature to start from lies above 0 and not above 1, not at {start}")
    return (start, *(beta for beta in HPLSA_GRID if beta > start * (1 + 1e-9)))


def cam_schedule(critical: float, factor: float = 0.9, coldest: float = 1.0) -> tuple[float, ...]:
    """Inverse temperatures: from just above the critical temperature, falling by a factor, to the coldest."""
    if not (0 < factor < 1 and coldest > 0):
        raise ValueError(f"temperatures fall by a factor below 1 to one above 0, not by {factor} to {coldest}")
    temperatures, now = [], critical * JUST_ABOVE
    while now > coldest:
        temperatures.append(now)
        now *= factor
    return tuple(1.0 / temperature for temperature in (*temperatures, coldest))


@dataclass
class Annealed:
    """Proposes to double every class at each inverse temperature of a schedule.

    ``reason`` is "reached" (``n_classes``, or ``max_classes``, and the schedule is over), "heldout" (unseen tokens
    became less likely at two temperatures in turn; never where ``n_classes`` is given), or "exhausted" (the schedule is
    over before).
    """

    schedule: Sequence[float]
    doc_weights: Array  # what P(i|α) is in proportion to, beside P(α|i): lengths for HPLSA, ones for CAM
    n_classes: int | None = None
    max_classes: int = 512
    least_divergence: float = 0.1  # total variation between the documents of two doubles that have parted
    fewest: float = 3.0  # expected documents of a half
    rise: float = 0.001  # of the held-out perplexity from one temperature to the next, that counts
    reason: str = ""
    _place: int = 0  # in the schedule
    _settled: bool = False  # nothing parts any more at this temperature
    _curve: list[float] = field(default_factory=list)  # the criterion at the end of each temperature
    _before: float = np.inf  # the criterion before the last proposal

    def propose(self, stage: Stage) -> Proposal | None:
        """See ``growth.Proposer``."""
        if self.n_classes is None and stage.criterion > self._before * (1 + self.rise):
            self._settled = True  # unseen tokens are less likely than before: no more doubling at this temperature
        self._before = stage.criterion
        if self._settled:
            self._curve.append(stage.criterion)
            self._place, self._settled = self._place + 1, False
        if self.n_classes is None and self._rose_twice():
            self.reason = "heldout"
            return None
        if self._place >= len(self.schedule):
            self.reason = "reached" if stage.parts.n_classes >= self._limit else "exhausted"
            return None
        return Proposal(self._doubles(stage.parts), self.schedule[self._place])

    def refused(self, trial: Trial) -> tuple[int, ...]:
        """Doubles that are still alike, or of which one is nearly empty; where there are too many, those worth least.

        Worth is the share of the collection times the divergence.
        """
        worth = self._worth(trial)
        order = sorted(np.flatnonzero(worth > 0).tolist(), key=lambda number: (-worth[number], number))
        before = trial.before.parts.n_classes
        kept = set(order[: self._limit - before])
        self._settled = not kept or before + len(kept) >= self._limit
        return tuple(number for number in range(len(trial.pairs)) if number not in kept)

    def memory(self) -> dict[str, Any]:
        """See ``growth.Proposer``."""
        return {"place": self._place, "settled": self._settled, "curve": self._curve, "before": self._before}

    def remember(self, memory: Mapping[str, Any]) -> None:
        """See ``growth.Proposer``."""
        self._place, self._settled = int(memory["place"]), bool(memory["settled"])
        self._curve, self._before = list(map(float, memory["curve"])), float(memory["before"])

    @property
    def _limit(self) -> int:
        return self.n_classes or self.max_classes

    def _doubles(self, parts: Parts) -> tuple[Split, ...]:
        if parts.n_classes >= self._limit:
            return ()
        return tuple(Split(index) for index, size in enumerate(parts.sizes()) if size >= 2 * self.fewest)

    def _worth(self, trial: Trial) -> Array:
        """Of each pair that has parted; zero for those that have not."""
        if not trial.pairs:
            return np.zeros(0)
        first, second = map(list, zip(*trial.pairs, strict=True))
        rows, sizes = tables.at_home(trial.after.parts.class_given_doc), trial.after.parts.sizes()
        count = np.maximum(self.doc_weights @ rows, 1e-300)
        divergence = np.array([
            self.doc_weights @ np.abs(rows[:, one] / count[one] - rows[:, other] / count[other]) / 2
            for one, other in trial.pairs
        ])  # fmt: skip
        parted = (divergence > self.least_divergence) & (np.minimum(sizes[first], sizes[second]) >= self.fewest)
        worth: Array = np.where(parted, (count[first] + count[second]) * divergence, 0.0)
        return worth

    def _rose_twice(self) -> bool:
        recent = self._curve[-3:]
        return len(recent) == 3 and all(later > earlier * (1 + self.rise) for earlier, later in pairwise(recent))


def critical_inverse_temperature(counts: Any) -> float:
    """β of the first split of flat PLSA: 1 / (1 + σ), σ the second singular value of n(i,j) / √(n_i n_j).

    It lies between ½ (two kinds of documents without a common word) and 1 (all documents alike).
    """
    lengths = np.asarray(counts.sum(axis=1), np.float64).ravel()
    weights = 1.0 / np.where(lengths > 0, lengths, 1.0)
    return 1.0 / (1.0 + float(np.sqrt(_leading_eigenvalue(counts, weights))))


def critical_temperature(counts: Any) -> float:
    """T of the first split of flat clustering (CAM of one level): the top eigenvalue of (1/N) Σ_d x_d x_dᵀ.

    The counts are those that the model sees: weighted ones where documents have an effective length.
    """
    return _leading_eigenvalue(counts, np.ones(counts.shape[0]))


def _leading_eigenvalue(counts: Any, weights: Array) -> float:
    """Of (1/N) Σ_d weights_d x_d x_dᵀ: each product with it is two sweeps over the non-zeros."""
    matrix = csr_array(counts, dtype=np.float64)
    matrix = matrix[:, np.flatnonzero(matrix.sum(axis=0) > 0)]
    n_docs, n_words = matrix.shape
    total = float(matrix.sum())
    if min(n_docs, n_words) < 2:
        return 0.0
    by_word = matrix.T.tocsr()
    lengths, root = matrix.sum(axis=1), np.sqrt(matrix.sum(axis=0) / total)
    scale = np.sqrt(weights / total)

    def by_docs(values: Array) -> Array:
        vector = values.ravel()
        residual: Array = scale * (matrix @ (vector / root) - lengths * (root @ vector))
        return residual

    def by_words(values: Array) -> Array:
        vector = scale * values.ravel()
        residual: Array = (by_word @ vector) / root - root * (lengths @ vector)
        return residual

    fewer = min(n_docs, n_words)

    def square(values: Array) -> Array:
        return by_words(by_docs(values)) if fewer == n_words else by_docs(by_words(values))

    start = np.random.default_rng(0).standard_normal(fewer)
    if np.linalg.norm(square(start)) <= NOTHING * np.linalg.norm(start) * max(1.0, float((weights * lengths).max())):
        return 0.0
    operator = LinearOperator((fewer, fewer), matvec=square, dtype=np.float64)
    return max(0.0, float(eigsh(operator, 1, v0=start, return_eigenvectors=False)[0]))
