"""Documents that fit badly: what each one's likelihood is, what is usual for its length, and a bounded memory of them.

A document's likelihood per token is that of document completion. Short documents scatter more than long ones, so a
document is compared with those of about its length: it fits badly where it is ``FAR`` times as far below their median
as their lower quartile is. These two hardly move when one document in ten is strange, as a low quantile itself would.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array, vstack

from topiarist.arrays import Csr, Floats
from topiarist.counts.split import completion_split
from topiarist.counts.validation import token_counts
from topiarist.counts.weighting import shortened
from topiarist.kernels import load
from topiarist.kernels.ratios import SMALLEST_MIXTURE
from topiarist.kernels.shard import Side
from topiarist.models.engine.host import Engine

FAR = 3.9  # about one abstract in a hundred; with normal tails, which end sooner, one document in two hundred
FEWEST_TOKENS = 5  # scored tokens: of fewer nothing can be said
FEWEST_DOCUMENTS = 50  # of a length, before anything is called unusual
LENGTHS = 24  # classes of length: each twice as long as the one before
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

    def flat(self, shared: Any) -> Floats:
        """P(w|class), a row for each word."""

    def fold_in(self, shared: Any, rows: Side, /) -> Floats:
        """P(class|d)."""


def completion_scores(
    model: Folds, shared: object, counts: Csr, effective_length: float | None = None, seed: int = 0
) -> Scores:
    """Half of each document's tokens place it, the other half are scored; ``model`` has ``fold_in`` and ``flat``."""
    observed, hidden = completion_split(counts, seed=seed)
    return hidden_scores(model, shared, observed, hidden, effective_length)


def hidden_scores(
    model: Folds, shared: object, observed: Csr, hidden: Csr, effective_length: float | None = None
) -> Scores:
    """Observed tokens place documents, wherever the model computes; hidden ones are scored on the host."""
    words = model.flat(shared)
    rows = model.fold_in(shared, Side.of(shortened(observed, effective_length), words.dtype))
    return _scored(model.engine, hidden, model.engine.to_host(rows), model.engine.to_host(words))


def _scored(engine: Engine, counts: Csr, rows: Floats, words: Floats) -> Scores:
    """The likelihood of the tokens of each document, whose classes are known."""
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
    """The last scores of documents of each class of length."""

    scores: tuple[Floats, ...] = (np.empty(0),) * LENGTHS

    def unusual(self, new: Scores) -> Any:
        """Which documents fit badly; none as long as too few of their length have come."""
        bad = np.zeros(len(new.tokens), bool)
        kinds = _lengths(new)
        for kind in np.unique(kinds[kinds >= 0]):
            known = self.scores[kind]
            if len(known) >= FEWEST_DOCUMENTS:
                median, quartile = np.quantile(known, (0.5, 0.25))
                bad[kinds == kind] = new.log_likelihood[kinds == kind] < median - FAR * (median - quartile)
        return bad

    def joined(self, new: Scores) -> Usual:
        """After these documents."""
        kinds = _lengths(new)
        return Usual(
            tuple(
                np.concatenate([known, new.log_likelihood[kinds == kind]])[-REMEMBERED:]
                for kind, known in enumerate(self.scores)
            )
        )


def _lengths(scores: Scores) -> Any:
    """The class of length of each document, −1 for those that are too short."""
    kinds = np.log2(np.maximum(scores.tokens, 1.0)).astype(np.int64)
    return np.where(scores.tokens >= FEWEST_TOKENS, np.minimum(kinds, LENGTHS - 1), -1)


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
