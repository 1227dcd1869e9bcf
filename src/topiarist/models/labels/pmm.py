"""Parametric mixtures: a document with several labels mixes their words. Equations (M1)-(M6): docs/models/pmm.md

Labels *l*, words *i*, documents *n* with label sets y_n: P(x|y) ∝ Π_i φ_i(y)^x_i with φ(y) = Σ_l c_l(y) θ_l. In PMM1
all labels of a set weigh the same, c_l = 1/|y|; in PMM2 pairs of labels have a bias, see ``pmm2``.

**What is stored.** A word that label l was never seen with has the same probability as every other such word, whatever
step it is: (M4) gives it the prior's pseudo-count alone. So θ is kept where labels and words were seen together, and
one number for all other words of each label: memory and time grow with the non-zeros, not with labels × words.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from topiarist.arrays import Floats, Integers
from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels import labels as kernels
from topiarist.kernels.labels import Sets
from topiarist.kernels.shard import even_cuts
from topiarist.models.em import State
from topiarist.models.engine.host import Engine
from topiarist.models.labels.label_sets import Block, Grouped, Pattern


def member_weights(block: Block, bias: Floats) -> Floats:
    """(M1), (M2): c for each label of each set; without biases all labels of a set weigh the same.

    Over ordered pairs, φ(y) = Σ_lm h_l h_m (α_lm θ_l + α_ml θ_m) looks quadratic in labels for every word. Collapsed
    it is φ(y) = Σ_l c_l θ_l with c_l = 2 h_l Σ_m h_m α_lm: the pairs decide about a few weights of each label set, and
    the words are those of PMM1. Only pairs of labels that occur together are ever visited.
    """
    sizes = np.diff(block.sets.member_ends)[block.sets.owners].astype(np.float64)
    if not len(bias):
        return np.asarray(1.0 / sizes)
    labels, members = block.sets.labels, block.pair_members
    others = np.bincount(members, bias[labels[members], block.pair_labels], len(labels))
    return 2.0 * (0.5 + others) / sizes**2


def pair_counts(block: Block, bias: Floats, sums: Floats) -> Floats:
    """(M5): S_lm = α_lm Σ_n h_nl h_nm A_nl, zero for pairs that never occur together."""
    n_labels, members = len(bias), block.pair_members
    sizes = np.diff(block.sets.member_ends)[block.sets.owners].astype(np.float64)
    pairs = block.sets.labels[members] * n_labels + block.pair_labels
    total = np.bincount(pairs, (sums / sizes**2)[members], n_labels * n_labels)
    return bias * total.reshape(n_labels, n_labels)


def bias_of(pair_count: Floats, smoothing: float) -> Floats:
    """(M5): α_lm from the counts of both directions; ½ where there are none."""
    both = pair_count + pair_count.T + smoothing
    seen = both > 0
    return np.where(seen, (pair_count + smoothing / 2) / np.where(seen, both, 1.0), 0.5)


PIECE = 1 << 18  # numbers in a piece: less is done sooner than handed to a thread, two hundred times a second


@dataclass(frozen=True)
class Params:
    """θ and α. ``seen`` has θ at the places of a ``Pattern``, ``unseen`` that of any other word of each label."""

    seen: Floats  # (n_places,)
    unseen: Floats  # (n_labels,)
    bias: Floats  # α (n_labels, n_labels); (0, 0) in PMM1

    def __post_init__(self) -> None:
        if self.seen.ndim != 1 or self.unseen.ndim != 1 or self.bias.shape not in ((0, 0), (len(self.unseen),) * 2):
            raise ValueError("expected flat arrays of θ, and α as a square of labels or of nothing")

    @classmethod
    def of(cls, word_given_label: Floats, pattern: Pattern, bias: Floats | None = None) -> Params:
        """From a dense θ (labels × words) that is the same for all words that a label was not seen with."""
        theta = np.asarray(word_given_label, np.float64)
        seen = theta[pattern.owners, pattern.words]
        left = 1.0 - np.bincount(pattern.owners, seen, pattern.n_labels)
        unseen = np.maximum(left, 0.0) / np.maximum(pattern.n_unseen, 1)
        return cls(seen, unseen, np.empty((0, 0)) if bias is None else np.asarray(bias, np.float64))

    def by_word(self, pattern: Pattern) -> Floats:
        """Dense θ with a row for each word, (n_words, n_labels)."""
        words: Floats = np.tile(self.unseen, (pattern.n_words, 1))
        words[pattern.words, pattern.owners] = self.seen
        return words


@dataclass(frozen=True)
class Stats:
    """Expected counts of a block, additive over blocks."""

    count: Floats  # Σ_n x g at each place (n_places,)
    pair_count: Floats  # S of (M5) (n_labels, n_labels); (0, 0) in PMM1
    objective: float  # Σ x log φ of the block

    def __add__(self, other: Stats) -> Stats:
        return Stats(self.count + other.count, self.pair_count + other.pair_count, self.objective + other.objective)

    def __iadd__(self, other: Stats) -> Stats:
        """The same bits where these ones are."""
        count = np.add(self.count, other.count, out=self.count)
        pairs = np.add(self.pair_count, other.pair_count, out=self.pair_count)
        return Stats(count, pairs, self.objective + other.objective)


@dataclass(frozen=True)
class Pmm:
    """The model as the EM loop sees it. Smoothing is a Dirichlet concentration minus one: ξ − 1 and ζ − 1 of (M3)."""

    engine: Engine
    pattern: Pattern
    alone: Floats  # counts of the documents with one label: they need no step
    order: int = 1
    word_smoothing: float = 1.0
    bias_smoothing: float = 1.0

    def e_step(
        self, shared: Params, block: Block, local: Floats, inverse_temperature: float = 1.0
    ) -> tuple[Stats, Floats]:
        """(M4), and (M5) in PMM2: first by label set, then by label; each owns what it writes."""
        sets, verbs, threads = block.sets, self._verbs, self.engine.threads
        weights = member_weights(block, shared.bias)
        ratios, sums, count = np.empty(len(sets.data)), np.empty(len(sets.labels)), np.zeros(len(shared.seen))
        mixtures = np.empty(len(sets.data))

        def by_set(piece: slice) -> float:
            verbs.set_ratios(sets, piece.start, piece.stop, weights, shared.seen, mixtures, ratios, sums)
            here = slice(sets.ends[piece.start], sets.ends[piece.stop])
            logs = np.log(mixtures[here], out=mixtures[here])
            return float(self.engine.kernels.weighted_sum(sets.data[here], logs))

        def by_label(piece: slice) -> None:
            verbs.label_counts(sets, piece.start, piece.stop, weights, shared.seen, ratios, count)

        log_likelihood = sum(threads.map(by_set, _pieces(sets.ends)))
        threads.map(by_label, _pieces(_label_work(sets)))
        pairs = pair_counts(block, shared.bias, sums) if self.order == 2 else np.empty((0, 0))
        return Stats(count, pairs, log_likelihood), local

    def m_step(self, stats: Stats) -> Params:
        """(M4), (M5): counts and pseudo-counts to sum one."""
        seen = np.add(stats.count, self.alone, out=stats.count)
        seen += self.word_smoothing
        bias = bias_of(stats.pair_count, self.bias_smoothing) if self.order == 2 else stats.pair_count
        return self.normalised(seen, np.full(self.pattern.n_labels, self.word_smoothing), bias)

    def normalised(self, seen: Floats, unseen: Floats, bias: Floats) -> Params:
        """Each label's words to sum one, in place; a label of nothing has all words alike."""
        ends, n_words, verbs = self.pattern.ends, self.pattern.n_words, self._verbs

        def by_label(piece: slice) -> None:
            verbs.normalise_labels(ends, piece.start, piece.stop, seen, unseen, n_words)

        self.engine.threads.map(by_label, _pieces(ends))
        return Params(seen, unseen, bias)

    def log_prior(self, shared: Params) -> float:
        """The prior of (M3), and the documents with one label: nothing of both changes but θ and α."""

        def piece(here: slice) -> float:
            logs = np.log(np.maximum(shared.seen[here], SMALLEST_MIXTURE))
            return float(self.engine.kernels.weighted_sum(self.alone[here] + self.word_smoothing, logs))

        total = sum(self.engine.threads.map(piece, _places(shared.seen)))
        if self.word_smoothing:
            rest = np.log(np.maximum(shared.unseen, SMALLEST_MIXTURE))
            total += self.word_smoothing * float(self.pattern.n_unseen @ rest)
        if self.order == 2 and self.bias_smoothing:
            total += self.bias_smoothing * float(np.log(np.maximum(shared.bias, SMALLEST_MIXTURE)).sum())
        return total

    def extrapolate(self, old: State, new: State, stride: float) -> State:
        """See ``em``: words and biases go on in the direction of the last step."""
        was, now = old.shared, new.shared
        ahead = Params(np.empty_like(now.seen), np.empty_like(now.unseen), np.empty_like(now.bias))
        self._farthest(was, now, stride, ahead)
        both = ahead.bias + ahead.bias.T
        return State(self.normalised(ahead.seen, ahead.unseen, np.divide(ahead.bias, both, out=both)), new.local)

    def ahead(self, before: Floats, after: Floats, stride: float) -> Floats:
        """The rows of a block have no parameters."""
        return after

    def movement(self, old: State, new: State) -> float:
        """How far a step leads: the largest change of any θ or α."""
        nothing = np.empty(0)
        return self._farthest(old.shared, new.shared, 1.0, Params(nothing, nothing, np.empty((0, 0))))

    def turns_back(self, state: State, step: State, before: State) -> bool:
        """True when the step of a state leads against the way from the step before."""
        here, new, last = state.shared, step.shared, before.shared
        scalar = self.engine.kernels.weighted_sum

        def piece(part: slice) -> float:
            return float(scalar(new.seen[part] - here.seen[part], new.seen[part] - last.seen[part]))

        along = sum(self.engine.threads.map(piece, _places(new.seen)))
        return along + float(scalar((new.bias - here.bias).ravel(), (new.bias - last.bias).ravel())) < 0

    def _farthest(self, old: Params, new: Params, stride: float, ahead: Params) -> float:
        verbs = self._verbs

        def piece(here: slice) -> float:
            return float(verbs.farthest(old.seen[here], new.seen[here], stride, ahead.seen[here]))

        moved = self.engine.threads.map(piece, _places(new.seen))
        moved.append(verbs.farthest(old.unseen, new.unseen, stride, ahead.unseen))
        moved.append(verbs.farthest(old.bias.ravel(), new.bias.ravel(), stride, ahead.bias.ravel()))
        return max(moved)

    @property
    def _verbs(self) -> kernels.LabelKernels:
        return kernels.load(self.engine.kernels.name)


def _places(flat: Floats) -> list[slice]:
    """Pieces of a flat array that are worth a thread."""
    return [slice(start, start + PIECE) for start in range(0, len(flat), PIECE)]


def _pieces(ends: Integers) -> list[slice]:
    """Rows of sets or labels, about equally many numbers in each piece."""
    return [slice(a, b) for a, b in pairwise(even_cuts(ends, int(ends[-1]) // PIECE).tolist())]


def _label_work(sets: Sets) -> Any:
    """Up to each label: how many numbers its members look up."""
    lengths = np.diff(sets.ends)[sets.owners[sets.by_label]]
    return np.append(0, np.cumsum(lengths))[sets.label_ends]


def initial(model: Pmm, data: Grouped) -> State:
    """A start without chance: the words of a document shared evenly among its labels, all biases ½."""
    n_labels = data.pattern.n_labels
    bias = np.full((n_labels, n_labels), 0.5) if model.order == 2 else np.empty((0, 0))
    seen = data.alone + data.shared + model.word_smoothing
    return state(model.normalised(seen, np.full(n_labels, model.word_smoothing), bias), data)


def state(shared: Params, data: Grouped) -> State:
    """Parameters as the loop wants them."""
    return State(shared, (np.empty(0),) * len(data.blocks))
