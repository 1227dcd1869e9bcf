"""Parametric mixtures: a document with several labels mixes their words. Equations (M1)-(M6): docs/models/pmm.md

Labels *l*, words *i*, documents *n* with label sets y_n: P(x|y) ∝ Π_i φ_i(y)^x_i with φ(y) = Σ_l c_l(y) θ_l. In PMM1
all labels of a set have equal weight, c_l = 1/|y|. In PMM2 pairs of labels have a bias, see ``member_weights``.

**Storage.** All words that never occur with label l have the same probability in every step, because (M4) gives them
only the pseudo-count of the prior. So θ is stored for labels and words that occur together, with one number for all
other words of each label. Memory and time grow with the non-zeros, not with labels × words.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from topiarist.arrays import Floats, Integers
from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels.labels import LabelSetCounts
from topiarist.kernels.shard import cut_evenly
from topiarist.models.em import AdditiveStats, State
from topiarist.models.engine.host import Engine
from topiarist.models.labels.label_sets import Block, CountsByLabelSet, Pattern


def member_weights(block: Block, bias: Floats) -> Floats:
    """(M1), (M2): return c for each label of each set; without biases all labels of a set have equal weight.

    Over ordered pairs, φ(y) = Σ_lm h_l h_m (α_lm θ_l + α_ml θ_m) looks quadratic in labels for every word. Collapsed it
    is φ(y) = Σ_l c_l θ_l with c_l = 2 h_l Σ_m h_m α_lm: pairs determine a few weights of each label set, and the words
    are those of PMM1. Only pairs of labels that occur together are visited.
    """
    sizes = np.diff(block.sets.member_ends)[block.sets.owners].astype(np.float64)
    if not len(bias):
        return np.asarray(1.0 / sizes)
    labels, members = block.sets.labels, block.pair_members
    others = np.bincount(members, bias[labels[members], block.pair_labels], len(labels))
    return 2.0 * (0.5 + others) / sizes**2


def pair_counts(block: Block, bias: Floats, sums: Floats) -> Floats:
    """(M5): return S_lm = α_lm Σ_n h_nl h_nm A_nl, zero for pairs that never occur together."""
    n_labels, members = len(bias), block.pair_members
    sizes = np.diff(block.sets.member_ends)[block.sets.owners].astype(np.float64)
    pairs = block.sets.labels[members] * n_labels + block.pair_labels
    total = np.bincount(pairs, (sums / sizes**2)[members], n_labels * n_labels)
    return bias * total.reshape(n_labels, n_labels)


def compute_bias(pair_count: Floats, smoothing: float) -> Floats:
    """(M5): return α_lm from the counts of both directions; ½ without counts."""
    total = pair_count + pair_count.T + smoothing
    is_positive = total > 0
    return np.where(is_positive, (pair_count + smoothing / 2) / np.where(is_positive, total, 1.0), 0.5)


SLICE_NUMBERS = 1 << 18  # numbers in a slice; for fewer, a thread costs more than the work


@dataclass(frozen=True)
class Params:
    """Word probabilities θ and biases α of labels.

    ``stored`` has θ at the places of a ``Pattern``, ``default`` the probability of any other word of each label.
    """

    stored: Floats  # (n_places,)
    default: Floats  # (n_labels,)
    bias: Floats  # α (n_labels, n_labels); (0, 0) in PMM1

    def __post_init__(self) -> None:
        if self.stored.ndim != 1 or self.default.ndim != 1 or self.bias.shape not in ((0, 0), (len(self.default),) * 2):
            raise ValueError("expected flat arrays of θ, and a square α of labels, or an empty one")

    @classmethod
    def of(cls, word_given_label: Floats, pattern: Pattern, bias: Floats | None = None) -> Params:
        """Create from a dense θ (labels × words) that is equal for all words that never occur with a label."""
        theta = np.asarray(word_given_label, np.float64)
        stored = theta[pattern.owners, pattern.words]
        rest = 1.0 - np.bincount(pattern.owners, stored, pattern.n_labels)
        default = np.maximum(rest, 0.0) / np.maximum(pattern.n_unseen, 1)
        return cls(stored, default, np.empty((0, 0)) if bias is None else np.asarray(bias, np.float64))

    def by_word(self, pattern: Pattern) -> Floats:
        """Return dense θ with a row for each word, (n_words, n_labels)."""
        words: Floats = np.tile(self.default, (pattern.n_words, 1))
        words[pattern.words, pattern.owners] = self.stored
        return words


@dataclass(frozen=True)
class Stats(AdditiveStats):
    """Expected counts of a block, additive over blocks."""

    count: Floats  # Σ_n x g at each place (n_places,)
    pair_count: Floats  # S of (M5) (n_labels, n_labels); (0, 0) in PMM1
    objective: float  # Σ x log φ of the block


@dataclass(frozen=True)
class Pmm:
    """Parametric mixture for the EM loop. Smoothing parameters are ξ − 1 and ζ − 1 of (M3)."""

    engine: Engine
    pattern: Pattern
    single_label_counts: Floats  # of documents with one label
    order: int = 1
    word_smoothing: float = 1.0
    bias_smoothing: float = 1.0

    def e_step(
        self, shared: Params, block: Block, local: Floats, inverse_temperature: float = 1.0
    ) -> tuple[Stats, Floats]:
        """Compute (M4), and (M5) in PMM2: first by label set, then by label, each writing its own results."""
        sets, label_kernels, threads = block.sets, self.engine.kernels, self.engine.threads
        weights = member_weights(block, shared.bias)
        ratios, sums, count = np.empty(len(sets.data)), np.empty(len(sets.labels)), np.zeros(len(shared.stored))
        mixtures = np.empty(len(sets.data))

        def by_set(piece: slice) -> float:
            label_kernels.set_ratios(sets, piece.start, piece.stop, weights, shared.stored, mixtures, ratios, sums)
            span = slice(sets.ends[piece.start], sets.ends[piece.stop])
            logs = np.log(mixtures[span], out=mixtures[span])
            return float(self.engine.kernels.weighted_sum(sets.data[span], logs))

        def by_label(piece: slice) -> None:
            label_kernels.label_counts(sets, piece.start, piece.stop, weights, shared.stored, ratios, count)

        log_likelihood = sum(threads.map(by_set, _slice_rows(sets.ends)))
        threads.map(by_label, _slice_rows(_compute_label_work(sets)))
        pairs = pair_counts(block, shared.bias, sums) if self.order == 2 else np.empty((0, 0))
        return Stats(count, pairs, log_likelihood), local

    def m_step(self, stats: Stats) -> Params:
        """(M4), (M5): normalise counts and pseudo-counts."""
        stored = np.add(stats.count, self.single_label_counts, out=stats.count)
        stored += self.word_smoothing
        bias = compute_bias(stats.pair_count, self.bias_smoothing) if self.order == 2 else stats.pair_count
        return self.normalise(stored, np.full(self.pattern.n_labels, self.word_smoothing), bias)

    def normalise(self, stored: Floats, default: Floats, bias: Floats) -> Params:
        """Scale the words of each label to sum one, in place; an empty label becomes uniform."""
        ends, n_words, label_kernels = self.pattern.ends, self.pattern.n_words, self.engine.kernels

        def by_label(piece: slice) -> None:
            label_kernels.normalise_labels(ends, piece.start, piece.stop, stored, default, n_words)

        self.engine.threads.map(by_label, _slice_rows(ends))
        return Params(stored, default, bias)

    def log_prior(self, shared: Params) -> float:
        """Return the prior of (M3), plus the log-likelihood of documents with one label, which depends on θ only."""

        def compute_slice(span: slice) -> float:
            logs = np.log(np.maximum(shared.stored[span], SMALLEST_MIXTURE))
            return float(self.engine.kernels.weighted_sum(self.single_label_counts[span] + self.word_smoothing, logs))

        total = sum(self.engine.threads.map(compute_slice, _slice_places(shared.stored)))
        if self.word_smoothing:
            rest = np.log(np.maximum(shared.default, SMALLEST_MIXTURE))
            total += self.word_smoothing * float(self.pattern.n_unseen @ rest)
        if self.order == 2 and self.bias_smoothing:
            total += self.bias_smoothing * float(np.log(np.maximum(shared.bias, SMALLEST_MIXTURE)).sum())
        return total

    def extrapolate(self, old: State, new: State, stride: float) -> State:
        """Extrapolate words and biases along the last step, for ``em``."""
        old_shared, new_shared = old.shared, new.shared
        extrapolated_params = Params(
            np.empty_like(new_shared.stored), np.empty_like(new_shared.default), np.empty_like(new_shared.bias)
        )
        self._extrapolate_parameters(old_shared, new_shared, stride, extrapolated_params)
        total = extrapolated_params.bias + extrapolated_params.bias.T
        return State(
            self.normalise(
                extrapolated_params.stored,
                extrapolated_params.default,
                np.divide(extrapolated_params.bias, total, out=total),
            ),
            new.local,
        )

    def extrapolate_rows(self, old_rows: Floats, new_rows: Floats, stride: float) -> Floats:
        """Return the rows unchanged: rows of a block have no parameters."""
        return new_rows

    def movement(self, old: State, new: State) -> float:
        """Return the size of a step: the largest change of any θ or α."""
        empty = np.empty(0)
        return self._extrapolate_parameters(old.shared, new.shared, 1.0, Params(empty, empty, np.empty((0, 0))))

    def turns_back(self, state: State, step: State, last_step: State) -> bool:
        """Return whether the step of a state points against the direction from the last step."""
        current, new, previous = state.shared, step.shared, last_step.shared
        scalar = self.engine.kernels.weighted_sum

        def compute_slice(part: slice) -> float:
            return float(scalar(new.stored[part] - current.stored[part], new.stored[part] - previous.stored[part]))

        product = sum(self.engine.threads.map(compute_slice, _slice_places(new.stored)))
        return product + float(scalar((new.bias - current.bias).ravel(), (new.bias - previous.bias).ravel())) < 0

    def _extrapolate_parameters(self, old: Params, new: Params, stride: float, out: Params) -> float:
        """Extrapolate the parameters into ``out``; return the largest change of an entry."""
        label_kernels = self.engine.kernels

        def extrapolate_slice(span: slice) -> float:
            return float(label_kernels.extrapolate_change(old.stored[span], new.stored[span], stride, out.stored[span]))

        changes = self.engine.threads.map(extrapolate_slice, _slice_places(new.stored))
        changes.append(label_kernels.extrapolate_change(old.default, new.default, stride, out.default))
        changes.append(label_kernels.extrapolate_change(old.bias.ravel(), new.bias.ravel(), stride, out.bias.ravel()))
        return max(changes)


def _slice_places(flat: Floats) -> list[slice]:
    """Return slices of a flat array that are worth a thread."""
    return [slice(start, start + SLICE_NUMBERS) for start in range(0, len(flat), SLICE_NUMBERS)]


def _slice_rows(ends: Integers) -> list[slice]:
    """Return slices of sets or labels with about equally many numbers."""
    return [slice(a, b) for a, b in pairwise(cut_evenly(ends, int(ends[-1]) // SLICE_NUMBERS).tolist())]


def _compute_label_work(sets: LabelSetCounts) -> Any:
    """Return the cumulative number of lookups of the members up to each label."""
    lengths = np.diff(sets.ends)[sets.owners[sets.by_label]]
    return np.append(0, np.cumsum(lengths))[sets.label_ends]


def create_start(model: Pmm, data: CountsByLabelSet) -> State:
    """Create a deterministic start: words of a document divided equally among its labels, all biases ½."""
    n_labels = data.pattern.n_labels
    bias = np.full((n_labels, n_labels), 0.5) if model.order == 2 else np.empty((0, 0))
    stored = data.single_label_counts + data.shared + model.word_smoothing
    return make_state(model.normalise(stored, np.full(n_labels, model.word_smoothing), bias), data)


def make_state(shared: Params, data: CountsByLabelSet) -> State:
    """Return the state of the EM loop with these parameters."""
    return State(shared, (np.empty(0),) * len(data.blocks))
