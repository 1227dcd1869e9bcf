"""Likelihood of documents, and the limits below which a document of a length is an outlier.

Short documents vary more than long ones, so a document is compared with those of about its length (``LengthLimits``).
The limit is a low quantile, because nearly all documents of a collection belong to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from topiarist.arrays import Csr, Floats
from topiarist.counts.split import completion_split
from topiarist.counts.validation import count_tokens
from topiarist.counts.weighting import shorten_documents
from topiarist.kernels import load
from topiarist.models.engine import SMALLEST_MIXTURE, CountsView
from topiarist.models.engine.host import Engine

OUTLIER_SHARE = 0.01  # of the collection's documents are outliers
N_LENGTH_CLASSES = 12
MIN_DOCUMENTS = 200  # of a length class with its own limit


@dataclass(frozen=True)
class Scores:
    """Log-likelihood per scored token of each document, and the number of scored tokens."""

    log_likelihood: Floats  # NaN where no token was scored
    tokens: Floats

    @property
    def mean(self) -> float:
        """Mean over all scored tokens; NaN without tokens."""
        total = self.tokens.sum()
        return float(np.nansum(self.log_likelihood * self.tokens) / total) if total else float("nan")


class FoldingModel(Protocol):
    """Interface of a model that folds in documents and has the word probabilities of its classes."""

    @property
    def engine(self) -> Engine:
        """Engine that computes the model."""

    def class_word_table(self, shared: Any) -> Floats:
        """Return P(w|class), with a row for each word."""

    def fold_in(self, shared: Any, rows: CountsView, /) -> Floats:
        """Return P(class|d)."""


def completion_scores(
    model: FoldingModel, shared: object, counts: Csr, effective_length: float | None = None, seed: int = 0
) -> Scores:
    """Return the scores of half of each document's tokens; the other half is folded in.

    Documents are folded in on the engine of the model and scored on the host.
    """
    observed, hidden = completion_split(counts, seed=seed)
    words = model.class_word_table(shared)
    rows = model.fold_in(shared, CountsView.from_matrix(shorten_documents(observed, effective_length), words.dtype))
    return score_tokens(model.engine, hidden, model.engine.to_host(rows), model.engine.to_host(words))


def score_tokens(engine: Engine, counts: Csr, rows: Floats, words: Floats) -> Scores:
    """Return the likelihood of each document's tokens; ``rows`` has its classes, ``words`` P(word|class) by word."""
    side, kernels = CountsView.from_matrix(counts, words.dtype), load("compiled")  # few documents: computed on the host
    mixture = np.empty(len(side.data), words.dtype)

    def compute_mixtures(part: slice) -> None:
        indptr = side.indptr[part.start : part.stop + 1]
        kernels.mixtures(indptr, side.indices, rows[part], words, mixture[indptr[0] : indptr[-1]])

    engine.threads.map(compute_mixtures, side.slices)
    logs = side.data * np.log(np.maximum(mixture, SMALLEST_MIXTURE).astype(np.float64))
    total = np.diff(np.concatenate([[0.0], np.cumsum(logs)])[side.indptr])
    tokens = count_tokens(counts)
    return Scores(np.where(tokens > 0, total / np.where(tokens > 0, tokens, 1.0), np.nan), tokens)


@dataclass(frozen=True)
class LengthLimits:
    """Value below which a document is an outlier, for each class of length.

    The value is the likelihood per known word, or the share of known words. A text in another language can have one
    common word and no other known word.
    """

    limits: tuple[float, ...]
    NO_LIMITS: ClassVar[tuple[float, ...]] = (-1e9,) * N_LENGTH_CLASSES  # without measured limits

    @classmethod
    def from_scores(cls, values: Floats, tokens: Floats) -> LengthLimits:
        """Compute the limits of a collection; a class with few documents has the common limit."""
        is_finite = np.isfinite(values)
        common_limit = float(np.quantile(values[is_finite], OUTLIER_SHARE)) if is_finite.any() else -np.inf
        limits, length_classes = [], _get_length_classes(tokens, N_LENGTH_CLASSES)
        for length_class in range(N_LENGTH_CLASSES):
            class_values = values[is_finite & (length_classes == length_class)]
            limits.append(
                float(np.quantile(class_values, OUTLIER_SHARE)) if len(class_values) >= MIN_DOCUMENTS else common_limit
            )
        return cls(tuple(limit if np.isfinite(limit) else cls.NO_LIMITS[0] for limit in limits))

    def is_below(self, values: Floats, tokens: Floats) -> Any:
        """Return which documents are below the limit of their length."""
        return values < np.array(self.limits)[_get_length_classes(tokens, len(self.limits))]

    def is_outlier(self, values: Floats, tokens: Floats) -> Any:
        """Return which documents fit worse than nearly all others of their length, or have no known word."""
        return self.is_below(values, tokens) | ~np.isfinite(values)


def _get_length_classes(tokens: Floats, number: int) -> Any:
    """Return the class of length of each document; each class is twice as long as the previous one."""
    return np.minimum(np.log2(np.maximum(tokens, 1.0)).astype(np.int64), number - 1)
