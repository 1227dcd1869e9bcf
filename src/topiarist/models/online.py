"""PLSA from a stream: stepwise EM over batches of documents. Equations (P3), (P5): docs/models/plsa.md

Instead of all documents' expected counts, a running average of batches' expected counts, in which a batch enters with
weight ρ = (1 + tokens before it / its own tokens)^-0.6: (t + 1)^-0.6 for the t-th of equal batches. Early batches are
forgotten, late ones change little, and a small batch changes less than a large one. The average is kept per token, as
the joint distribution P(j, k).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from topiarist.kernels import Folding
from topiarist.kernels.shard import Shard, uniform_rows
from topiarist.models.engine import Floats
from topiarist.models.plsa import Params, Plsa

SMALLEST_SMOOTHING = 0.01  # a word that has not come yet must be able to come
FORGETTING = 0.6  # between 0.5 and 1, or the average would not settle
FIRST_STEPS = 50  # of ordinary EM on the first batch
DOCUMENT_STEPS = 10  # a batch's documents need not be at their optimum to show the way


@dataclass(frozen=True)
class Stream:
    """What has been learned so far."""

    word_component: Floats  # P(j, k)  (n_words, n_components)
    batches: int
    tokens: float

    def params(self, model: Plsa) -> Params:
        """The word distributions that the average stands for; smoothing counts against all tokens seen."""
        counts = self.word_component * self.word_component.dtype.type(max(self.tokens, 1.0))
        return Params(model.engine.normalise_columns(counts, smoothing(model.word_smoothing)).T)


def smoothing(word_smoothing: float) -> float:
    """The pseudo-count of a word in a stream."""
    return word_smoothing or SMALLEST_SMOOTHING


def absorb(model: Plsa, stream: Stream, params: Params, batch: Shard) -> tuple[Stream, float]:
    """Learn from a batch: the stream after it, and the batch's log-likelihood before anything was learned from it."""
    words = params.by_word
    folding = Folding(model.component_smoothing, 1.0, DOCUMENT_STEPS, 1e-3)
    start = uniform_rows(batch.shape[0], words.shape[1], words.dtype)
    local = model.engine.fold_in(batch.rows, start, words, folding)
    count = model.engine.word_counts(batch, words, local)
    log_likelihood = model.engine.log_likelihood(batch.rows, local, words)
    tokens = float(batch.rows.data.sum(dtype="float64"))
    if tokens == 0:
        return stream, 0.0
    rate = words.dtype.type((1.0 + stream.tokens / tokens) ** -FORGETTING)
    count *= rate / words.dtype.type(tokens)
    count += (1 - rate) * stream.word_component
    return replace(
        stream, word_component=count, batches=stream.batches + 1, tokens=stream.tokens + tokens
    ), log_likelihood
