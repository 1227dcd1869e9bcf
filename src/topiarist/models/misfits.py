"""Documents that are unusual: their likelihood, what is usual for their length, and a bounded memory of misfits.

Short documents scatter more than long ones, so a document is compared with those of about its length (``Usual``): it is
unusual below a limit. In a collection, of which nearly all documents belong, the limit is a low quantile. In a stream
it is ``FAR`` times as far below the median of recent documents as their lower quartile is: these two hardly move when
one document in ten is strange, as a low quantile itself would.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy.sparse import csr_array, vstack

from topiarist.arrays import Csr, Floats
from topiarist.counts.split import completion_split
from topiarist.counts.validation import token_counts
from topiarist.counts.weighting import shortened
from topiarist.kernels import load
from topiarist.models.engine import SMALLEST_MIXTURE, Side
from topiarist.models.engine.host import Engine

FAR = 3.9  # about one abstract in a hundred; with normal tails, which end sooner, one document in two hundred
FEWEST_TOKENS = 5  # scored tokens: of fewer nothing can be said
FEWEST_DOCUMENTS = 50  # of a length, before anything of a stream is called unusual
LENGTHS = 24  # classes of length in a stream: each twice as long as the one before
UNUSUAL = 0.01  # the share of a collection's own documents that would be called unusual
LENGTHS_OF_MANY, MANY = 12, 200  # classes of length in a collection, and documents of one that tell what is usual
REMEMBERED = 2048  # scores of each class of length
KEPT = 2000  # documents that fit badly
LIFETIME = 20.0  # batches in which the chance to be kept falls to a third


@dataclass(frozen=True)
class Scores:
    """Of each document: its log-likelihood per scored token, and how many those are."""

    log_likelihood: Floats  # NaN where no token was scored
    tokens: Floats

    @property
    def mean(self) -> float:
        """Per token of all documents; NaN where there is none."""
        total = self.tokens.sum()
        return float(np.nansum(self.log_likelihood * self.tokens) / total) if total else float("nan")


class Folds(Protocol):
    """A model that can place documents, and say how probable words are in each class."""

    @property
    def engine(self) -> Engine:
        """Where it computes."""

    def class_word_table(self, shared: Any) -> Floats:
        """P(w|class), a row for each word."""

    def fold_in(self, shared: Any, rows: Side, /) -> Floats:
        """P(class|d)."""


def completion_scores(
    model: Folds, shared: object, counts: Csr, effective_length: float | None = None, seed: int = 0
) -> Scores:
    """Half of each document's tokens place it, the other half are scored."""
    observed, hidden = completion_split(counts, seed=seed)
    return hidden_scores(model, shared, observed, hidden, effective_length)


def hidden_scores(
    model: Folds, shared: object, observed: Csr, hidden: Csr, effective_length: float | None = None
) -> Scores:
    """Observed tokens place documents, wherever the model computes; hidden ones are scored on the host."""
    words = model.class_word_table(shared)
    rows = model.fold_in(shared, Side.of(shortened(observed, effective_length), words.dtype))
    return scored(model.engine, hidden, model.engine.to_host(rows), model.engine.to_host(words))


def scored(engine: Engine, counts: Csr, rows: Floats, words: Floats) -> Scores:
    """The likelihood of the tokens of each document: ``rows`` has its classes, ``words`` P(word|class) by words."""
    side, kernels = Side.of(counts, words.dtype), load("compiled")  # a few documents: the host's work
    mixture = np.empty(len(side.data), words.dtype)

    def piece(part: slice) -> None:
        indptr = side.indptr[part.start : part.stop + 1]
        kernels.mixtures(indptr, side.indices, rows[part], words, mixture[indptr[0] : indptr[-1]])

    engine.threads.map(piece, side.pieces)
    logs = side.data * np.log(np.maximum(mixture, SMALLEST_MIXTURE).astype(np.float64))
    total = np.diff(np.concatenate([[0.0], np.cumsum(logs)])[side.indptr])
    tokens = token_counts(counts)
    return Scores(np.where(tokens > 0, total / np.where(tokens > 0, tokens, 1.0), np.nan), tokens)


@dataclass(frozen=True)
class Usual:
    """The value below which a document of some length is unusual, for each class of length.

    The value is the likelihood per word that is known, or the share of words that are: a text in another language may
    have one usual word, and nothing else that anybody has counted.
    """

    limits: tuple[float, ...]
    ANYTHING: ClassVar[tuple[float, ...]] = (-1e9,) * LENGTHS_OF_MANY  # where nobody has measured

    @classmethod
    def of(cls, values: Floats, tokens: Floats) -> Usual:
        """What is usual among the documents of a collection; a length of which there are few is judged by all."""
        known = np.isfinite(values)
        everyone = float(np.quantile(values[known], UNUSUAL)) if known.any() else -np.inf
        limits, kinds = [], _length_classes(tokens, LENGTHS_OF_MANY)
        for kind in range(LENGTHS_OF_MANY):
            own = values[known & (kinds == kind)]
            limits.append(float(np.quantile(own, UNUSUAL)) if len(own) >= MANY else everyone)
        return cls(tuple(limit if np.isfinite(limit) else cls.ANYTHING[0] for limit in limits))

    def below(self, values: Floats, tokens: Floats) -> Any:
        """Which documents lie below the limit of their length."""
        return values < np.array(self.limits)[_length_classes(tokens, len(self.limits))]

    def unusual(self, values: Floats, tokens: Floats) -> Any:
        """Which documents fit worse than nearly all others of their length, or have no word."""
        return self.below(values, tokens) | ~np.isfinite(values)


def _length_classes(tokens: Floats, number: int) -> Any:
    """The class of length of each document: each is twice as long as the one before."""
    return np.minimum(np.log2(np.maximum(tokens, 1.0)).astype(np.int64), number - 1)


@dataclass(frozen=True)
class RecentScores:
    """The last scores of a stream's documents, by class of length; very short documents tell nothing."""

    scores: tuple[Floats, ...] = (np.empty(0),) * LENGTHS

    @property
    def usual(self) -> Usual:
        """The limits that they set; none as long as too few of a length have come."""
        limits = []
        for known in self.scores:
            median, quartile = np.quantile(known, (0.5, 0.25)) if len(known) >= FEWEST_DOCUMENTS else (-np.inf, 0.0)
            limits.append(float(median - FAR * (median - quartile)) if np.isfinite(median) else -np.inf)
        return Usual(tuple(limits))

    def unusual(self, new: Scores) -> Any:
        """Which documents fit badly."""
        return (new.tokens >= FEWEST_TOKENS) & self.usual.below(new.log_likelihood, new.tokens)

    def joined(self, new: Scores) -> RecentScores:
        """After these documents."""
        kinds = np.where(new.tokens >= FEWEST_TOKENS, _length_classes(new.tokens, LENGTHS), -1)
        return RecentScores(
            tuple(
                np.concatenate([known, new.log_likelihood[kinds == kind]])[-REMEMBERED:]
                for kind, known in enumerate(self.scores)
            )
        )


@dataclass(frozen=True)
class Misfits:
    """A sample of the documents that fitted badly, newer ones preferred.

    Each document draws a number that grows with its batch; those with the largest are kept (weighted sampling with a
    reservoir: P. S. Efraimidis and P. G. Spirakis, Information Processing Letters 97, 2006). The weight of a document
    is e^(batch / ``LIFETIME``).
    """

    counts: Csr | None = None
    keys: Floats = field(default_factory=lambda: np.empty(0))
    seed: int = 0

    def __len__(self) -> int:
        return len(self.keys)

    def joined(self, documents: Csr, batch: int) -> Misfits:
        """After these documents of a batch."""
        if documents.shape[0] == 0:
            return self
        rng = np.random.default_rng((self.seed, batch))
        keys = np.concatenate([self.keys, batch / LIFETIME + rng.gumbel(size=documents.shape[0])])
        parts = [documents] if self.counts is None else [self.counts, documents]
        together = vstack(parts, format="csr") if len(parts) > 1 else csr_array(documents)
        if len(keys) > KEPT:
            kept = np.sort(np.argpartition(-keys, KEPT)[:KEPT])
            keys, together = keys[kept], together[kept]
        return replace(self, counts=together, keys=keys)

    def wider(self, n_words: int) -> Misfits:
        """With more words."""
        if self.counts is None:
            return self
        parts = (self.counts.data, self.counts.indices, self.counts.indptr)
        return replace(self, counts=csr_array(parts, shape=(self.counts.shape[0], n_words)))
