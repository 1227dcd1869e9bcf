"""Probabilistic latent semantic analysis. Equations (P1)-(P5): docs/models/plsa.md

Documents *i*, words *j*, components *k*: P(j|i) = Σ_k P(k|i) P(j|k). The word distributions are shared. The mixing
proportions P(k|i) belong to the documents and are stored with their rows. P(i) and P(k) follow from them and the
lengths of the documents, so the joint model (P1) needs no parameters for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topiarist.arrays import ArrayLike, Dtype, Floats, Move
from topiarist.execution.blocks import BlockFile
from topiarist.kernels import Folding
from topiarist.kernels.shard import CountsView, Shard, allocate_aligned
from topiarist.models.em import AdditiveStats, State
from topiarist.models.engine.host import Engine, slice_rows
from topiarist.storage.array_files import EvenRows, find_handles

BATCH_FOLDING = (10, 1e-3)  # steps and tolerance; the documents of a batch need not be at their optimum


@dataclass(frozen=True)
class Params:
    """Shared parameters: the word distributions of the components."""

    word_given_component: Floats  # P(j|k)  (n_components, n_words); stored word by word, as the sweeps read it

    def __post_init__(self) -> None:
        if self.word_given_component.ndim != 2 or not self.by_word.flags.c_contiguous:
            raise ValueError("word_given_component must be the transpose of a C-contiguous (words, components) array")

    @classmethod
    def of(cls, word_given_component: ArrayLike) -> Params:
        """Create parameters from any array of the right shape; it is copied only if sweeps could not read it."""
        return cls(np.ascontiguousarray(np.asarray(word_given_component).T).T)

    def move_arrays(self, move: Move) -> Params:
        """Return the parameters with every array moved by ``move``."""
        return Params(move(self.by_word).T)

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.word_given_component)

    @property
    def by_word(self) -> Floats:
        """Word distributions as (n_words, n_components)."""
        return self.word_given_component.T


@dataclass(frozen=True)
class Stats(AdditiveStats):
    """Expected counts of a block, additive over blocks."""

    word_component_count: Floats  # (n_words, n_components)
    objective: float  # log-likelihood of the block's tokens, plus the log-prior of its documents' proportions


@dataclass(frozen=True)
class Plsa:
    """PLSA for the EM loop. A smoothing parameter is a Dirichlet concentration minus one (P4)."""

    engine: Engine
    word_smoothing: float = 0.0
    component_smoothing: float = 0.0

    def e_step(
        self, shared: Params, block: Shard, local: Floats, inverse_temperature: float = 1.0
    ) -> tuple[Stats, Floats]:
        """Compute (P2) and the document half of (P3); no array of size non-zeros × components is formed."""
        doc_factor = self.engine.power(local, inverse_temperature)
        words = self.engine.power(shared.by_word, inverse_temperature)
        doc_count, word_count, log_likelihood = self.engine.expected_counts(block, doc_factor, words)
        objective = log_likelihood / inverse_temperature + self._log_prior(local, self.component_smoothing)
        return Stats(word_count, objective), self.engine.normalise_rows(doc_count, self.component_smoothing)

    def m_step(self, stats: Stats) -> Params:
        """Compute the word half of (P3) with the prior of (P4)."""
        return Params(self.engine.normalise_columns(stats.word_component_count, self.word_smoothing).T)

    def log_prior(self, shared: Params) -> float:
        """Return the log-prior (P4) of the word distributions."""
        return self._log_prior(shared.by_word, self.word_smoothing)

    def _log_prior(self, array: Floats, smoothing: float) -> float:
        return smoothing * self.engine.sum_of_logs(array) if smoothing else 0.0

    def extrapolate(self, old: State, new: State, stride: float) -> State:
        """Extrapolate words and proportions along the last step, for ``em``."""
        words = self.engine.extrapolate(old.shared.by_word, new.shared.by_word, stride)
        local = tuple(
            self.extrapolate_rows(old_rows, new_rows, stride)
            for old_rows, new_rows in zip(old.local, new.local, strict=True)
        )
        return State(Params(self.engine.normalise_columns(words, 0.0).T), local)

    def extrapolate_rows(self, old_rows: Floats, new_rows: Floats, stride: float) -> Floats:
        """Extrapolate the rows of one block."""
        return self.engine.normalise_rows(self.engine.extrapolate(old_rows, new_rows, stride), 0.0)

    def fold_in(self, shared: Params, rows: CountsView, inverse_temperature: float = 1.0) -> Floats:
        """(P5): return P(k|d) of each document for fixed P(j|k), independent of the other documents."""
        words = self.engine.power(shared.by_word, inverse_temperature)
        return fold_in_rows(self.engine, rows, words, self.component_smoothing, inverse_temperature)

    def log_likelihood(self, shared: Params, rows: CountsView, local: Floats) -> float:
        """Return Σ n log P(j|i), untempered."""
        return self.engine.log_likelihood(rows, local, shared.by_word)

    def class_word_table(self, shared: Params) -> Floats:
        """Return P(j|k), (n_words, n_components)."""
        return shared.by_word

    def stream_stats(self, shared: Params, block: Shard) -> Stats:
        """Return the statistics of a batch, see ``online.Learner``."""
        rows = fold_in_rows(self.engine, block.rows, shared.by_word, self.component_smoothing, 1.0, BATCH_FOLDING)
        return replace(self, component_smoothing=0.0).e_step(shared, block, rows)[0]


def fold_in_rows(
    engine: Engine,
    rows: CountsView,
    words: Floats,
    smoothing: float,
    inverse_temperature: float,
    steps: tuple[int, float] | None = None,
) -> Floats:
    """Return the mixing proportions of each document for fixed, already tempered ``words`` (words, components).

    Single precision is for large collections: a row can be a thousandth from its optimum, which costs less than 0.0001
    nats a token. In double precision it is a millionth. ``steps`` overrides the maximum number of steps and the
    tolerance.
    """
    start = engine.uniform_rows(rows.n_rows, words.shape[1], words.dtype)
    default_steps = (100, 1e-3) if words.dtype == np.float32 else (1000, 1e-6)
    return engine.fold_in(rows, start, words, Folding(smoothing, inverse_temperature, *(steps or default_steps)))


def create_start(
    shards: Sequence[Shard | BlockFile], n_components: int, rng: np.random.Generator, word_smoothing: float = 0.0
) -> State:
    """Create start values: each component is half a random document and half the collection.

    This start needs about two thirds of the steps of randomly disturbed word frequencies, and ends higher. Every word
    is disturbed as well, so that two equal documents do not start equal components. With smoothing, absent words have
    some probability from the start, because the prior excludes zero.
    """
    dtype = shards[0].rows.data.dtype
    frequency = np.asarray(sum(shard.word_totals() for shard in shards)) + word_smoothing
    by_word = allocate_aligned((len(frequency), n_components), dtype)
    by_word[:] = (frequency / frequency.sum())[:, None]
    for component, (indices, data) in enumerate(draw_documents(shards, n_components, rng)):
        by_word[indices, component] += data / data.sum()
    total = np.zeros(n_components)
    for rows in slice_rows(by_word):
        by_word[rows] *= 0.5 + rng.random(by_word[rows].shape, dtype=np.float32)
        total += by_word[rows].sum(axis=0, dtype=np.float64)
    by_word /= total.astype(dtype)
    return State(Params(by_word.T), create_uniform_rows(shards, n_components, dtype))


def create_uniform_rows(shards: Sequence[Shard | BlockFile], n_components: int, dtype: Dtype) -> tuple[Any, ...]:
    """Create uniform rows for each block; rows of stored blocks are created when they are opened."""
    return tuple(
        EvenRows(shard.shape[0], n_components, dtype.str)
        if isinstance(shard, BlockFile) or any(find_handles(shard))
        else shard.uniform_rows(n_components)
        for shard in shards
    )


def draw_documents(
    shards: Sequence[Shard | BlockFile], number: int, rng: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """Yield the words and counts of random non-empty documents, drawn without replacement."""
    ends = np.cumsum([np.count_nonzero(np.diff(shard.rows.indptr)) for shard in shards])
    block_number, filled, side = -1, np.empty(0, np.int64), shards[0].rows
    for choice in rng.choice(ends[-1], number, replace=number > ends[-1]):
        if block_number != (number_of_choice := int(np.searchsorted(ends, choice, side="right"))):
            block_number, side = number_of_choice, shards[number_of_choice].rows
            filled = np.flatnonzero(np.diff(side.indptr))
        row = filled[choice - ends[block_number]]
        span = slice(side.indptr[row], side.indptr[row + 1])
        yield side.indices[span], side.data[span].astype(np.float64)
