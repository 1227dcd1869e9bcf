"""Probabilistic latent semantic analysis. Equations (P1)-(P5): docs/models/plsa.md

Documents *i*, words *j*, components *k*: P(j|i) = Σ_k P(k|i) P(j|k). The word distributions are shared; the mixing
proportions P(k|i) belong to the documents and travel with their rows. P(i) and P(k) follow from them and the lengths
of the documents, so the joint model (P1) needs no parameters of its own for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topiarist.arrays import ArrayLike, Dtype, Floats, Move
from topiarist.kernels import Folding
from topiarist.kernels.shard import Shard, Side, aligned_empty
from topiarist.models.em import State
from topiarist.models.engine.host import Engine, row_pieces
from topiarist.scale.blocks import BlockFile
from topiarist.store.array_files import EvenRows, handles

BRIEF = (10, 1e-3)  # steps and tolerance: a batch's documents need not be at their optimum to show the way


@dataclass(frozen=True)
class Params:
    """What the model knows about words."""

    word_given_component: Floats  # P(j|k)  (n_components, n_words); stored word by word, as the sweeps read it

    def __post_init__(self) -> None:
        if self.word_given_component.ndim != 2 or not self.by_word.flags.c_contiguous:
            raise ValueError("word_given_component must be the transpose of a C-contiguous (words, components) array")

    @classmethod
    def of(cls, word_given_component: ArrayLike) -> Params:
        """From any array of the right shape; copied only where the sweeps could not read it."""
        return cls(np.ascontiguousarray(np.asarray(word_given_component).T).T)

    def moved(self, move: Move) -> Params:
        """The same elsewhere: on a device, or back."""
        return Params(move(self.by_word).T)

    @property
    def n_components(self) -> int:
        """How many there are."""
        return len(self.word_given_component)

    @property
    def by_word(self) -> Floats:
        """(n_words, n_components)."""
        return self.word_given_component.T


@dataclass(frozen=True)
class Stats:
    """Expected counts of a block, additive over blocks."""

    word_component_count: Floats  # (n_words, n_components)
    objective: float  # log-likelihood of the block's tokens, plus the log-prior of its documents' proportions

    def __add__(self, other: Stats) -> Stats:
        return Stats(self.word_component_count + other.word_component_count, self.objective + other.objective)

    def __iadd__(self, other: Stats) -> Stats:
        """The same bits where these ones are: no new memory, and rows stay on cache lines."""
        count = self.word_component_count
        count += other.word_component_count
        return Stats(count, self.objective + other.objective)


@dataclass(frozen=True)
class Plsa:
    """The model as the EM loop sees it. Smoothing is a Dirichlet concentration minus one (P4)."""

    engine: Engine
    word_smoothing: float = 0.0
    component_smoothing: float = 0.0

    def e_step(
        self, shared: Params, block: Shard, local: Floats, inverse_temperature: float = 1.0
    ) -> tuple[Stats, Floats]:
        """(P2) and the document half of (P3): nothing of size non-zeros × components is ever formed."""
        own = self.engine.power(local, inverse_temperature)
        words = self.engine.power(shared.by_word, inverse_temperature)
        doc_count, word_count, log_likelihood = self.engine.expected_counts(block, own, words)
        objective = log_likelihood / inverse_temperature + self._log_prior(local, self.component_smoothing)
        return Stats(word_count, objective), self.engine.normalise_rows(doc_count, self.component_smoothing)

    def m_step(self, stats: Stats) -> Params:
        """The word half of (P3), with the prior of (P4)."""
        return Params(self.engine.normalise_columns(stats.word_component_count, self.word_smoothing).T)

    def log_prior(self, shared: Params) -> float:
        """(P4), for the word distributions."""
        return self._log_prior(shared.by_word, self.word_smoothing)

    def _log_prior(self, array: Floats, smoothing: float) -> float:
        return smoothing * self.engine.sum_of_logs(array) if smoothing else 0.0

    def extrapolate(self, old: State, new: State, stride: float) -> State:
        """See ``em``: both kinds of parameters go on in the direction of the last step."""
        words = self.engine.look_ahead(old.shared.by_word, new.shared.by_word, stride)
        local = tuple(self.ahead(before, after, stride) for before, after in zip(old.local, new.local, strict=True))
        return State(Params(self.engine.normalise_columns(words, 0.0).T), local)

    def ahead(self, before: Floats, after: Floats, stride: float) -> Floats:
        """The same for the rows of one block."""
        return self.engine.normalise_rows(self.engine.look_ahead(before, after, stride), 0.0)

    def fold_in(self, shared: Params, rows: Side, inverse_temperature: float = 1.0) -> Floats:
        """(P5): P(k|d) of each document for fixed P(j|k), from a uniform start: the same answer in any company."""
        words = self.engine.power(shared.by_word, inverse_temperature)
        return folded_in(self.engine, rows, words, self.component_smoothing, inverse_temperature)

    def log_likelihood(self, shared: Params, rows: Side, local: Floats) -> float:
        """Σ n log P(j|i), untempered."""
        return self.engine.log_likelihood(rows, local, shared.by_word)

    def class_word_table(self, shared: Params) -> Floats:
        """P(j|k), (n_words, n_components)."""
        return shared.by_word

    def stream_stats(self, shared: Params, block: Shard) -> Stats:
        """See ``online.Learner``."""
        rows = folded_in(self.engine, block.rows, shared.by_word, self.component_smoothing, 1.0, BRIEF)
        return replace(self, component_smoothing=0.0).e_step(shared, block, rows)[0]


def folded_in(
    engine: Engine,
    rows: Side,
    words: Floats,
    smoothing: float,
    inverse_temperature: float,
    patience: tuple[int, float] | None = None,
) -> Floats:
    """Mixing proportions of each document for fixed, already tempered ``words`` (words, components).

    Single precision is for large collections: there a row may be a thousandth from its optimum, which costs
    less than 0.0001 nats a token. In double precision it is a millionth. ``patience``: other steps and tolerance.
    """
    start = engine.uniform_rows(rows.n_rows, words.shape[1], words.dtype)
    usual = (100, 1e-3) if words.dtype == np.float32 else (1000, 1e-6)
    return engine.fold_in(rows, start, words, Folding(smoothing, inverse_temperature, *(patience or usual)))


def initial(
    shards: Sequence[Shard | BlockFile], n_components: int, rng: np.random.Generator, word_smoothing: float = 0.0
) -> State:
    """A start for each component: half the words of one document drawn at random, half those of the collection.

    Started so, EM needs about two thirds of the steps that it needs from disturbed word frequencies, and ends higher.
    Every word is disturbed as well, so that two equal documents do not start two equal components. With smoothing, a
    word that never occurs has some probability from the start: the prior forbids zero.
    """
    dtype = shards[0].rows.data.dtype
    frequency = np.asarray(sum(shard.word_totals() for shard in shards)) + word_smoothing
    by_word = aligned_empty((len(frequency), n_components), dtype)
    by_word[:] = (frequency / frequency.sum())[:, None]
    for component, (indices, data) in enumerate(drawn_documents(shards, n_components, rng)):
        by_word[indices, component] += data / data.sum()
    total = np.zeros(n_components)
    for rows in row_pieces(by_word):
        by_word[rows] *= 0.5 + rng.random(by_word[rows].shape, dtype=np.float32)
        total += by_word[rows].sum(axis=0, dtype=np.float64)
    by_word /= total.astype(dtype)
    return State(Params(by_word.T), even_local(shards, n_components, dtype))


def even_local(shards: Sequence[Shard | BlockFile], n_components: int, dtype: Dtype) -> tuple[Any, ...]:
    """Uniform rows for each block; those of a block that is a file are made where it is opened."""
    return tuple(
        EvenRows(shard.shape[0], n_components, dtype.str)
        if isinstance(shard, BlockFile) or any(handles(shard))
        else shard.uniform_rows(n_components)
        for shard in shards
    )


def drawn_documents(
    shards: Sequence[Shard | BlockFile], number: int, rng: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """The words and counts of documents drawn without replacement from those that have any."""
    ends = np.cumsum([np.count_nonzero(np.diff(shard.rows.indptr)) for shard in shards])
    which, filled, side = -1, np.empty(0, np.int64), shards[0].rows
    for choice in rng.choice(ends[-1], number, replace=number > ends[-1]):
        if which != (here := int(np.searchsorted(ends, choice, side="right"))):
            which, side = here, shards[here].rows
            filled = np.flatnonzero(np.diff(side.indptr))
        row = filled[choice - ends[which]]
        span = slice(side.indptr[row], side.indptr[row + 1])
        yield side.indices[span], side.data[span].astype(np.float64)
