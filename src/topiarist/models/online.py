"""Streams: stepwise EM over batches of documents, for every model. Equations (P3), (H6), (C3): docs/models/

Instead of all documents' expected counts, a running average of batches' expected counts, in which a batch enters with
weight ρ = (1 + tokens before it / its own tokens)^-0.6: (t + 1)^-0.6 for the t-th of equal batches. Early batches are
forgotten, late ones change little, and a small batch changes less than a large one. The average is kept per token, so
memory is that of the model, however long the stream.

A model says what its expected counts of a batch are (``stream_stats``) and what parameters follow from counts
(``m_step``). Nothing else here knows which model it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from topiarist.arrays import Floats
from topiarist.models.em import Statistics

SMALLEST_SMOOTHING = 0.01  # a word that has not come yet must be able to come
FORGETTING = 0.6  # between 0.5 and 1, or the average would not settle
FIRST_STEPS = 50  # of ordinary EM on the first batch
SEEN = 0.5  # a word expected less often than this has not come yet


Params = TypeVar("Params")
Stats = TypeVar("Stats", bound=Statistics)
Batch = TypeVar("Batch", contravariant=True)


class Learner(Protocol[Params, Stats, Batch]):
    """What a stream needs of a model."""

    def stream_stats(self, shared: Params, block: Batch) -> Stats:
        """Expected counts of a batch whose documents are near their optimum; their log-likelihood as objective."""

    def m_step(self, stats: Stats) -> Params:
        """The parameters of counts, which are spent."""


@dataclass(frozen=True)
class Stream:
    """What has been learned so far."""

    stats: Any  # expected counts per token, of the model's own kind
    batches: int
    tokens: float

    def params(self, model: Learner[Params, Stats, Batch]) -> Params:
        """The parameters that the average stands for; smoothing counts against all tokens seen."""
        tokens = max(self.tokens, 1.0)
        return model.m_step(_each(lambda values: values * values.dtype.type(tokens), self.stats))


def smoothing(word_smoothing: float) -> float:
    """The pseudo-count of a word in a stream."""
    return word_smoothing or SMALLEST_SMOOTHING


def absorb(
    model: Learner[Params, Stats, Batch], stream: Stream, shared: Params, batch: Batch, forgetting: float = FORGETTING
) -> tuple[Stream, float]:
    """Learn from a batch: the stream after it, and what a token of the batch had for log-likelihood before.

    With ``forgetting=1`` nothing is forgotten: the batch weighs its share of all tokens.

    The first batch of a stream has the weight one: then this and ``params`` are an EM step. A batch without tokens is
    counted, and nothing else: NaN is its log-likelihood, and that of one whose tokens are all held out.
    """
    parts = [float(part.rows.data.sum(dtype=np.float64)) for part in _shards(batch)]
    tokens = sum(parts)  # held-out ones too: a batch weighs the same, whichever of its tokens teach the words
    if tokens == 0:
        return replace(stream, batches=stream.batches + 1), float("nan")
    stats = model.stream_stats(shared, batch)
    rate = (1.0 + stream.tokens / tokens) ** -forgetting
    average = _each(lambda new, old: _blended(old, new, rate, tokens), stats, stream.stats)
    judged = stats.objective / parts[0] if parts[0] else float("nan")
    return Stream(average, stream.batches + 1, stream.tokens + tokens), judged


def expected_counts(words: Floats, weights: Floats, pseudo: Floats | float, tokens: float) -> Floats:
    """Counts per token that P(w|a) (nodes, words) and P(a) stand for, without what smoothing had added to them.

    ``pseudo`` are the pseudo-counts among ``tokens`` tokens: one number, or one for each node and word.
    """
    extra = np.asarray(pseudo, words.dtype) / words.dtype.type(max(tokens, 1.0))
    total = np.asarray(weights, np.float64) + np.broadcast_to(extra, words.shape).sum(axis=1, dtype=np.float64)
    counts: Floats = np.maximum(words * total.astype(words.dtype)[:, None] - extra, 0)
    return counts


def wider(words: Floats, counts: Floats, n_words: int) -> Floats:
    """P(w|a) (nodes, words) with more words, each as if it had been counted a hundredth of a time among ``counts``.

    ``counts`` are the tokens of each node.
    """
    more = n_words - words.shape[1]
    share = SMALLEST_SMOOTHING / (np.maximum(np.asarray(counts, np.float64), 1.0) + SMALLEST_SMOOTHING * more)
    out = np.empty((len(words), n_words), words.dtype)
    out[:, : words.shape[1]] = words * (1.0 - more * share)[:, None]
    out[:, words.shape[1] :] = share[:, None]
    return out


def _shards(batch: object) -> list[Any]:
    """The tokens that are learned from, and those that are held out where there are such."""
    return [part for part in batch if part is not None] if isinstance(batch, tuple) else [batch]


def _blended(old: Floats, new: Floats, rate: float, tokens: float) -> Floats:
    """The running average, where the new counts are."""
    if rate == 1.0:
        new /= new.dtype.type(tokens)
        return new
    new *= new.dtype.type(rate / tokens)
    new += old * old.dtype.type(1.0 - rate)
    return new


def _each(function: Callable[..., Floats], stats: Stats, *others: Stats) -> Stats:
    """Statistics with a function of each array; the objective belongs to a batch and is left behind.

    An array that is not there, the directions of a stream without vectors, stays away.
    """
    whole: Any = stats
    every = [field.name for field in fields(whole) if field.name != "objective"]
    names = [name for name in every if getattr(stats, name) is not None]
    arrays = {name: function(getattr(stats, name), *(getattr(other, name) for other in others)) for name in names}
    return replace(whole, **arrays, objective=0.0)  # type: ignore[no-any-return]
