"""Metrics of topics: perplexity, coherence and diversity, public in ``topiarist.metrics``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from topiarist.arrays import ArrayLike, Csr, Floats, Matrix
from topiarist.counts.split import completion_split
from topiarist.counts.validation import check_counts
from topiarist.errors import InputError, UsageError
from topiarist.execution.threads import Threads
from topiarist.models.engine import CountsView, load_kernels
from topiarist.models.word_meetings import Cooccurrence


class CompletionModel(Protocol):
    """Interface of a fitted model that folds in documents."""

    components_: Floats

    def transform(self, X: Csr) -> Floats:
        """Return P(k|d)."""


def perplexity(model: CompletionModel, X: Matrix, *, random_state: int = 0) -> float:
    """Return the perplexity by document completion: exp(-mean log P(word | document)) over half of each document.

    The tokens of each document are divided into two halves (by ``random_state``). ``model.transform`` gets the first
    half, the second is scored under Σ_k P(k|d) P(w|k). Words that no component can produce are excluded from both. A
    word that the model can produce, but not in this document, makes the perplexity infinite, with a warning.
    """
    return completion_perplexity(model.components_, model.transform, check_counts(X), random_state)


def completion_perplexity(
    components: Floats, fold_in: Callable[[Csr], Floats], counts: Csr, random_state: int = 0
) -> float:
    """Return ``perplexity`` of word distributions, with a function that folds in documents."""
    words = _normalise_rows(components)
    if words.shape[1] != counts.shape[1]:
        raise InputError(
            f"expected X with {words.shape[1]} columns, the words of the model, got {counts.shape[1]}",
            hint="Count with the vocabulary of the model.",
        )
    observed, hidden = completion_split(keep_known_words(words, counts), seed=random_state)
    tokens = float(hidden.data.sum(dtype=np.float64))
    if tokens == 0:
        raise InputError(
            "expected documents of at least two tokens that the model knows, got none",
            hint="Score more documents, or longer ones.",
        )
    by_word = np.ascontiguousarray(words.T)
    mixing = np.ascontiguousarray(_normalise_rows(fold_in(observed)), dtype=by_word.dtype)
    probability = _compute_probabilities(CountsView.from_matrix(hidden, by_word.dtype), mixing, by_word)
    if not probability.all():
        warnings.warn(
            f"{np.count_nonzero(probability == 0)} words have probability zero in their document: infinite perplexity. "
            "Try word_smoothing=0.01, component_smoothing=0.05.",
            stacklevel=3,
        )
        return float(np.inf)
    return float(np.exp(-np.dot(hidden.data, np.log(probability.astype(np.float64))) / tokens))


def keep_known_words(word_given_component: Floats, counts: Csr) -> Any:
    """Return the counts without words that no component can produce."""
    is_known = word_given_component.max(axis=0) > 0
    if is_known.all():
        return counts
    known_counts = counts.copy()
    known_counts.data[~is_known[known_counts.indices]] = 0
    known_counts.eliminate_zeros()
    return known_counts


def _compute_probabilities(side: CountsView, row_factor: Floats, column_factor: Floats) -> Floats:
    """Return Σ_k row_factor[i,k] column_factor[j,k] for each non-zero."""
    out = np.empty(len(side.data), row_factor.dtype)
    kernels = load_kernels("compiled")
    with Threads() as threads:

        def compute_slice(rows: slice) -> None:
            indptr = side.indptr[rows.start : rows.stop + 1]
            kernels.mixtures(indptr, side.indices, row_factor[rows], column_factor, out[indptr[0] : indptr[-1]])

        threads.map(compute_slice, side.slices)
    return out


def npmi_coherence(topics: ArrayLike, X: Matrix, *, top_n: int = 10) -> Floats:
    """Return the normalised pointwise mutual information of each topic's ``top_n`` words, averaged over their pairs.

    ``topics`` is a topics × words array (``components_``) or a list of lists of column numbers. P(v, w) is the share of
    the documents of ``X`` with both words. A pair that never occurs together counts -1, one that always does 1.
    """
    counts = check_counts(X)
    cooccurrence = Cooccurrence.from_counts(counts)
    return np.array(
        [_compute_coherence(cooccurrence.count_pairs(top) / counts.shape[0]) for top in _list_top_words(topics, top_n)]
    )


def _compute_coherence(joint: Floats) -> float:
    """Return the mean over pairs of words; ``joint`` has the share of the documents with both."""
    first, second = np.triu_indices(joint.shape[0], 1)
    marginal = np.diag(joint)
    return float(_compute_npmi(joint[first, second], marginal[first], marginal[second]).mean())


def _compute_npmi(joint: Floats, first: Floats, second: Floats) -> Floats:
    is_defined = (joint > 0) & (joint < 1)
    safe = np.where(is_defined, joint, 0.5)
    product = np.where(is_defined, first * second, 0.5)
    value = np.log(safe / product) / -np.log(safe)
    return np.where(is_defined, value, np.where(joint > 0, 1.0, -1.0))


def topic_diversity(topics: ArrayLike, *, top_n: int = 25) -> float:
    """Return the share of different words among the ``top_n`` words of all topics; 1 without common words."""
    tops = np.concatenate(_list_top_words(topics, top_n))
    return len(np.unique(tops)) / len(tops)


def _list_top_words(topics: ArrayLike, top_n: int) -> list[Any]:
    if top_n < 2:
        raise UsageError(f"top_n must be at least 2, got {top_n}", hint="Pass 10.")
    if isinstance(topics, list | tuple) and all(np.asarray(topic).dtype.kind in "iu" for topic in topics):
        tops = [np.asarray(topic, dtype=np.int64)[:top_n] for topic in topics]
    else:
        array = np.asarray(topics)
        if array.ndim != 2 or 0 in array.shape:
            raise InputError(
                f"topics must be a topics × words array, got shape {array.shape}", hint="Pass components_."
            )
        tops = list(np.argsort(-array, axis=1, kind="stable")[:, :top_n])
    if any(len(top) < 2 for top in tops) or not tops:
        raise InputError("each topic needs at least two words", hint="Use a larger vocabulary, or increase top_n.")
    return tops


def _normalise_rows(array: ArrayLike) -> Floats:
    array = np.asarray(array, dtype=None if np.asarray(array).dtype == np.float32 else np.float64)
    total = array.sum(axis=1, keepdims=True, dtype=np.float64).astype(array.dtype)
    uniform = np.full_like(array, 1.0 / array.shape[1])
    return np.where(total > 0, array / np.where(total > 0, total, 1), uniform)
