"""Splits by annealing: every class is doubled, and the temperature decides which doubles separate.

While it is warm, EM makes doubles identical again, and they are joined. Below a critical temperature they separate.
When no more doubles separate, the next temperature follows. EM needs some thirty steps with almost no gain to leave
the saddle between two doubles: the model must not stop earlier (``Steps``).

**Critical temperatures** are those at which a collection of one class begins to split in two. Let x_d = (n_d − N_d p)
/ √p be the residuals of document *d*: its counts less those expected of its length N_d, where p is the word
distribution of the collection. An EM step enlarges or reduces the difference of two similar classes in the direction
of the leading axis of these residuals. Above the critical temperature every difference fades; below it the classes
separate. Both figures are for a flat model. If the parent stays as a topic above the halves, and a leaf has the share
*s* of its path, they separate at the same temperature in CAM. There a step multiplies the difference by 1 − s + s·T_c/T.
In HPLSA they separate later, at β = 1 / (1 + σ√t), with the tempered share t = s^β / (s^β + (1−s)^β) of the leaf.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import TINY, Array
from topiarist.models.engine import tables
from topiarist.trees.growth.loop import Proposal, Stage, Trial
from topiarist.trees.growth.parts import GrowthState, Split

HPLSA_GRID = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
START_FACTOR = 1.01
MIN_RESIDUAL = 1e-14  # smaller residuals are rounding: all documents are identical


def hplsa_schedule(start: float = 0.3) -> tuple[float, ...]:
    """Return inverse temperatures from ``start`` in tenths to 0.8, then in twentieths to 1.

    No classes separate below the critical one (``critical_inverse_temperature``), which is a faster start.
    """
    if not 0 < start <= 1:
        raise ValueError(f"expected an inverse temperature above 0 and at most 1, got {start}")
    return (start, *(beta for beta in HPLSA_GRID if beta > start * (1 + 1e-9)))


def cam_schedule(critical: float, factor: float = 0.9, coldest: float = 1.0) -> tuple[float, ...]:
    """Return inverse temperatures from just above the critical temperature, falling by a factor, to the coldest."""
    if not (0 < factor < 1 and coldest > 0):
        raise ValueError(f"temperatures fall by a factor below 1 to one above 0, not by {factor} to {coldest}")
    temperatures, now = [], critical * START_FACTOR
    while now > coldest:
        temperatures.append(now)
        now *= factor
    return tuple(1.0 / temperature for temperature in (*temperatures, coldest))


@dataclass
class AnnealedProposer:
    """Proposer that doubles every class at each inverse temperature of a schedule.

    ``reason`` is "reached" (``n_classes``, or ``max_classes`` at the end of the schedule), "heldout" (held-out tokens
    became less likely at two successive temperatures; never with ``n_classes``), or "exhausted" (the schedule ended
    earlier).
    """

    schedule: Sequence[float]
    doc_weights: Array  # P(i|α) is proportional to these times P(α|i): lengths for HPLSA, ones for CAM
    n_classes: int | None = None
    max_classes: int = 512
    min_divergence: float = 0.1  # total variation between the documents of two separate doubles
    min_documents: float = 3.0  # expected documents of a half
    min_rise: float = 0.001  # relative rise of the held-out perplexity that counts
    reason: str = ""
    _position: int = 0  # index in the schedule
    _is_settled: bool = False  # no more doubles separate at this temperature
    _curve: list[float] = field(default_factory=list)  # the criterion at the end of each temperature
    _last_criterion: float = np.inf  # the criterion before the last proposal

    def propose(self, stage: Stage) -> Proposal | None:
        """Propose to double all classes at the current temperature; see ``loop.Proposer``."""
        if self.n_classes is None and stage.criterion > self._last_criterion * (1 + self.min_rise):
            self._is_settled = True  # unseen tokens are less likely than before: no more doubling at this temperature
        self._last_criterion = stage.criterion
        if self._is_settled:
            self._curve.append(stage.criterion)
            self._position, self._is_settled = self._position + 1, False
        if self.n_classes is None and self._rose_twice():
            self.reason = "heldout"
            return None
        if self._position >= len(self.schedule):
            self.reason = "reached" if stage.parts.n_classes >= self._limit else "exhausted"
            return None
        return Proposal(self._list_doubles(stage.parts), self.schedule[self._position])

    def find_rejected_splits(self, trial: Trial) -> tuple[int, ...]:
        """Return identical or nearly empty doubles, and the least worthy ones beyond the limit of classes.

        Growth is settled if none is accepted or the limit is reached. The worth of a pair is its share of the
        collection times its divergence.
        """
        worth = self._compute_worth(trial)
        order = sorted(np.flatnonzero(worth > 0).tolist(), key=lambda number: (-worth[number], number))
        n_before = trial.before_stage.parts.n_classes
        accepted = set(order[: self._limit - n_before])
        self._is_settled = not accepted or n_before + len(accepted) >= self._limit
        return tuple(number for number in range(len(trial.pairs)) if number not in accepted)

    def export_state(self) -> dict[str, Any]:
        """Return the state as plain JSON data; see ``loop.Proposer``."""
        return {
            "place": self._position,
            "settled": self._is_settled,
            "curve": self._curve,
            "before": self._last_criterion,
        }

    def restore_state(self, state: Mapping[str, Any]) -> None:
        """Restore an exported state; see ``loop.Proposer``."""
        self._position, self._is_settled = int(state["place"]), bool(state["settled"])
        self._curve, self._last_criterion = list(map(float, state["curve"])), float(state["before"])

    @property
    def _limit(self) -> int:
        return self.n_classes or self.max_classes

    def _list_doubles(self, parts: GrowthState) -> tuple[Split, ...]:
        if parts.n_classes >= self._limit:
            return ()
        return tuple(Split(index) for index, size in enumerate(parts.sizes()) if size >= 2 * self.min_documents)

    def _compute_worth(self, trial: Trial) -> Array:
        """Return the worth of each pair; zero for pairs that did not separate."""
        if not trial.pairs:
            return np.zeros(0)
        first, second = map(list, zip(*trial.pairs, strict=True))
        rows, sizes = tables.to_numpy(trial.after_stage.parts.class_given_doc), trial.after_stage.parts.sizes()
        count = np.maximum(self.doc_weights @ rows, TINY)
        divergence = np.array([
            self.doc_weights @ np.abs(rows[:, left] / count[left] - rows[:, right] / count[right]) / 2
            for left, right in trial.pairs
        ])  # fmt: skip
        is_separate = (divergence > self.min_divergence) & (
            np.minimum(sizes[first], sizes[second]) >= self.min_documents
        )
        worth: Array = np.where(is_separate, (count[first] + count[second]) * divergence, 0.0)
        return worth

    def _rose_twice(self) -> bool:
        recent = self._curve[-3:]
        return len(recent) == 3 and all(later > earlier * (1 + self.min_rise) for earlier, later in pairwise(recent))


def critical_inverse_temperature(counts: Any) -> float:
    """Return β of the first split of flat PLSA: 1 / (1 + σ), σ the second singular value of n(i,j) / √(n_i n_j).

    It is between ½ (two groups of documents without a common word) and 1 (all documents identical).
    """
    lengths = np.asarray(counts.sum(axis=1), np.float64).ravel()
    weights = 1.0 / np.where(lengths > 0, lengths, 1.0)
    return 1.0 / (1.0 + float(np.sqrt(_compute_leading_eigenvalue(counts, weights))))


def critical_temperature(counts: Any) -> float:
    """Return T of the first split of flat clustering (CAM of one level): the top eigenvalue of (1/N) Σ_d x_d x_dᵀ.

    Pass the counts that the model uses: weighted ones if documents have an effective length.
    """
    return _compute_leading_eigenvalue(counts, np.ones(counts.shape[0]))


def _compute_leading_eigenvalue(counts: Any, weights: Array) -> float:
    """Return the top eigenvalue of (1/N) Σ_d weights_d x_d x_dᵀ; each product is two sweeps over the non-zeros."""
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

    size = min(n_docs, n_words)

    def square(values: Array) -> Array:
        return by_words(by_docs(values)) if size == n_words else by_docs(by_words(values))

    start = np.random.default_rng(0).standard_normal(size)
    if np.linalg.norm(square(start)) <= MIN_RESIDUAL * np.linalg.norm(start) * max(
        1.0, float((weights * lengths).max())
    ):
        return 0.0
    from scipy.sparse.linalg import LinearOperator, eigsh  # slow to load

    operator = LinearOperator((size, size), matvec=square, dtype=np.float64)
    return max(0.0, float(eigsh(operator, 1, v0=start, return_eigenvectors=False)[0]))
