"""Stepwise EM over batches of documents, for every model. Equations (P3), (H6), (C3): docs/models/

The expected counts of all documents are replaced by a running average over batches. A batch has the weight ρ = (1 +
tokens before it / its own tokens)^-0.6: (t + 1)^-0.6 for the t-th of equal batches. Early batches lose weight, late
ones change little, and a small batch changes less than a large one. The average is stored per token, so memory is that
of the model, for any length of the stream.

A model computes the expected counts of a batch (``stream_stats``) and parameters from counts (``m_step``). Nothing else
here depends on the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from topiarist.arrays import Floats
from topiarist.models.em import Statistics

MIN_SMOOTHING = 0.01  # new words must be possible
FORGETTING = 0.6  # between 0.5 and 1, or the average would not converge
FIRST_STEPS = 50  # of ordinary EM on the first batch
MIN_EXPECTED_COUNT = 0.5  # words expected less often count as new


Params = TypeVar("Params")
Stats = TypeVar("Stats", bound=Statistics)
Batch = TypeVar("Batch", contravariant=True)


class Learner(Protocol[Params, Stats, Batch]):
    """Interface of a model that learns from a stream."""

    def stream_stats(self, shared: Params, block: Batch) -> Stats:
        """Return expected counts of a batch at about optimal rows, with the log-likelihood as objective."""

    def m_step(self, stats: Stats) -> Params:
        """Return the parameters of counts, which are consumed."""


@dataclass(frozen=True)
class BatchRecord:
    """Figures of a batch before the model learned from it."""

    documents: int
    tokens: float
    log_likelihood: float  # nats a token, by document completion; NaN if no token was scored
    new_words: float  # share of the tokens with new words


@dataclass(frozen=True)
class Stream:
    """State of a stream: running average, number of batches and tokens."""

    stats: Any  # expected counts per token, of the model's own kind
    batches: int
    tokens: float

    def params(self, model: Learner[Params, Stats, Batch]) -> Params:
        """Return the parameters of the average; smoothing is relative to all tokens of the stream."""
        tokens = max(self.tokens, 1.0)
        return model.m_step(_map_arrays(lambda values: values * values.dtype.type(tokens), self.stats))


def limit_smoothing(word_smoothing: float) -> float:
    """Return the pseudo-count of a word in a stream, which is never zero."""
    return word_smoothing or MIN_SMOOTHING


def absorb(
    model: Learner[Params, Stats, Batch], stream: Stream, shared: Params, batch: Batch, forgetting: float = FORGETTING
) -> tuple[Stream, float]:
    """Learn from a batch; return the new stream, and the batch's log-likelihood per token before learning.

    With ``forgetting=1`` the batch has its share of all tokens as weight, and no batch loses weight.

    The first batch of a stream has weight one: then this and ``params`` are an EM step. A batch without tokens only
    increases the number of batches; its log-likelihood is NaN, as for a batch with held-out tokens only.
    """
    parts = [float(part.rows.data.sum(dtype=np.float64)) for part in _list_shards(batch)]
    tokens = sum(parts)  # with held-out tokens, so that the weight does not depend on the split
    if tokens == 0:
        return replace(stream, batches=stream.batches + 1), float("nan")
    stats = model.stream_stats(shared, batch)
    rate = (1.0 + stream.tokens / tokens) ** -forgetting
    average = _map_arrays(lambda new, old: _blend(old, new, rate, tokens), stats, stream.stats)
    log_likelihood = stats.objective / parts[0] if parts[0] else float("nan")
    return Stream(average, stream.batches + 1, stream.tokens + tokens), log_likelihood


def expected_counts(words: Floats, weights: Floats, pseudo: Floats | float, tokens: float) -> Floats:
    """Return the counts per token that P(w|a) (nodes, words) and P(a) represent, without the smoothing.

    ``pseudo`` are the pseudo-counts among ``tokens`` tokens: one number, or one for each node and word.
    """
    extra = np.asarray(pseudo, words.dtype) / words.dtype.type(max(tokens, 1.0))
    total = np.asarray(weights, np.float64) + np.broadcast_to(extra, words.shape).sum(axis=1, dtype=np.float64)
    counts: Floats = np.maximum(words * total.astype(words.dtype)[:, None] - extra, 0)
    return counts


def add_words(words: Floats, counts: Floats, n_words: int) -> Floats:
    """Return P(w|a) (nodes, words) with new words of count 0.01 each; ``counts`` are the tokens of each node."""
    n_new = n_words - words.shape[1]
    share = MIN_SMOOTHING / (np.maximum(np.asarray(counts, np.float64), 1.0) + MIN_SMOOTHING * n_new)
    out = np.empty((len(words), n_words), words.dtype)
    out[:, : words.shape[1]] = words * (1.0 - n_new * share)[:, None]
    out[:, words.shape[1] :] = share[:, None]
    return out


def _list_shards(batch: object) -> list[Any]:
    """Return the training tokens, and the held-out tokens if there are any."""
    return [part for part in batch if part is not None] if isinstance(batch, tuple) else [batch]


def _blend(old: Floats, new: Floats, rate: float, tokens: float) -> Floats:
    """Overwrite ``new`` counts with the running average of old and new counts per token; return it."""
    if rate == 1.0:
        new /= new.dtype.type(tokens)
        return new
    new *= new.dtype.type(rate / tokens)
    new += old * old.dtype.type(1.0 - rate)
    return new


def _map_arrays(function: Callable[..., Floats], stats: Stats, *others: Stats) -> Stats:
    """Apply a function to each array of statistics; the objective belongs to a batch and becomes zero.

    Missing arrays, such as directions without vectors, stay missing.
    """
    value: Any = stats
    all_names = [field.name for field in fields(value) if field.name != "objective"]
    names = [name for name in all_names if getattr(stats, name) is not None]
    arrays = {name: function(getattr(stats, name), *(getattr(other, name) for other in others)) for name in names}
    return replace(value, **arrays, objective=0.0)  # type: ignore[no-any-return]
