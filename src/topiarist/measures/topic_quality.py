"""How good are topics? Perplexity, coherence, diversity. Public as ``topiarist.metrics``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from topiarist.arrays import ArrayLike, Csr, Floats, Matrix
from topiarist.counts.split import completion_split
from topiarist.counts.validation import check_counts
from topiarist.errors import InputError, UsageError
from topiarist.models.engine import Side, load_kernels
from topiarist.models.word_meetings import WordMeetings
from topiarist.scale.threads import Threads


class Completes(Protocol):
    """A fitted model that places documents."""

    components_: Floats

    def transform(self, X: Csr) -> Floats:
        """P(k|d)."""


def perplexity(model: Completes, X: Matrix, *, random_state: int = 0) -> float:
    """Perplexity by document completion: exp(-mean log P(word | document)) over the unseen half of each document.

    The tokens of each document are dealt into two halves (from ``random_state``). ``model.transform`` sees the first
    half, the second is scored under Σ_k P(k|d) P(w|k). Words that no component can produce are left out of both; a word
    that the model could produce, but not in this document, makes the perplexity infinite (and a warning says so).
    """
    return completion_perplexity(model.components_, model.transform, check_counts(X), random_state)


def completion_perplexity(
    components: Floats, fold_in: Callable[[Csr], Floats], counts: Csr, random_state: int = 0
) -> float:
    """``perplexity`` of word distributions with a function that finds a document's components."""
    words = _rows_to_one(components)
    if words.shape[1] != counts.shape[1]:
        raise InputError(
            f"the model knows {words.shape[1]} words, X has {counts.shape[1]} columns",
            hint="count with the vocabulary of the model",
        )
    observed, hidden = completion_split(known_counts(words, counts), seed=random_state)
    tokens = float(hidden.data.sum(dtype=np.float64))
    if tokens == 0:
        raise InputError(
            "perplexity needs documents of at least two tokens that the model knows; none came",
            hint="score more documents, or longer ones",
        )
    by_word = np.ascontiguousarray(words.T)
    mixing = np.ascontiguousarray(_rows_to_one(fold_in(observed)), dtype=by_word.dtype)
    probability = _probabilities(Side.of(hidden, by_word.dtype), mixing, by_word)
    if not probability.all():
        warnings.warn(
            f"{np.count_nonzero(probability == 0)} words have probability zero in their document: infinite perplexity. "
            "Try word_smoothing=0.01, component_smoothing=0.05.",
            stacklevel=3,
        )
        return float(np.inf)
    return float(np.exp(-np.dot(hidden.data, np.log(probability.astype(np.float64))) / tokens))


def known_counts(word_given_component: Floats, counts: Csr) -> Any:
    """The counts without words that no component can produce."""
    known = word_given_component.max(axis=0) > 0
    if known.all():
        return counts
    kept = counts.copy()
    kept.data[~known[kept.indices]] = 0
    kept.eliminate_zeros()
    return kept


def _probabilities(side: Side, own: Floats, other: Floats) -> Floats:
    """Σ_k own[i,k] other[j,k] for each non-zero."""
    out = np.empty(len(side.data), own.dtype)
    kernels = load_kernels("compiled")
    with Threads() as threads:

        def piece(rows: slice) -> None:
            indptr = side.indptr[rows.start : rows.stop + 1]
            kernels.mixtures(indptr, side.indices, own[rows], other, out[indptr[0] : indptr[-1]])

        threads.map(piece, side.pieces)
    return out


def npmi_coherence(topics: ArrayLike, X: Matrix, *, top_n: int = 10) -> Floats:
    """Normalised pointwise mutual information of each topic's ``top_n`` words, averaged over their pairs.

    ``topics`` is a topics × words array (``components_``) or a list of lists of column numbers. P(v, w) is the share of
    the documents of ``X`` that hold both words. A pair that never meets counts -1, one that always meets 1.
    """
    counts = check_counts(X)
    meetings = WordMeetings.of(counts)
    return np.array([_coherence(meetings.among(top) / counts.shape[0]) for top in _top_words(topics, top_n)])


def _coherence(together: Floats) -> float:
    """Mean over pairs of words; ``together`` has the share of the documents that hold both."""
    first, second = np.triu_indices(together.shape[0], 1)
    alone = np.diag(together)
    return float(_npmi(together[first, second], alone[first], alone[second]).mean())


def _npmi(joint: Floats, first: Floats, second: Floats) -> Floats:
    meet = (joint > 0) & (joint < 1)
    safe = np.where(meet, joint, 0.5)
    apart = np.where(meet, first * second, 0.5)
    value = np.log(safe / apart) / -np.log(safe)
    return np.where(meet, value, np.where(joint > 0, 1.0, -1.0))


def topic_diversity(topics: ArrayLike, *, top_n: int = 25) -> float:
    """The share of different words among the ``top_n`` words of all topics: 1 when no two topics share one."""
    tops = np.concatenate(_top_words(topics, top_n))
    return len(np.unique(tops)) / len(tops)


def _top_words(topics: ArrayLike, top_n: int) -> list[Any]:
    if top_n < 2:
        raise UsageError(f"top_n must be at least 2, got {top_n}", hint="10")
    if isinstance(topics, list | tuple) and all(np.asarray(topic).dtype.kind in "iu" for topic in topics):
        tops = [np.asarray(topic, dtype=np.int64)[:top_n] for topic in topics]
    else:
        array = np.asarray(topics)
        if array.ndim != 2 or 0 in array.shape:
            raise InputError(f"topics must be a topics × words array, got shape {array.shape}", hint="components_")
        tops = list(np.argsort(-array, axis=1, kind="stable")[:, :top_n])
    if any(len(top) < 2 for top in tops) or not tops:
        raise InputError("each topic needs at least two words", hint="a larger vocabulary, or a larger top_n")
    return tops


def _rows_to_one(array: ArrayLike) -> Floats:
    array = np.asarray(array, dtype=None if np.asarray(array).dtype == np.float32 else np.float64)
    total = array.sum(axis=1, keepdims=True, dtype=np.float64).astype(array.dtype)
    uniform = np.full_like(array, 1.0 / array.shape[1])
    return np.where(total > 0, array / np.where(total > 0, total, 1), uniform)
