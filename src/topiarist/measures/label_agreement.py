"""How well clusters, sets of labels and rankings agree with given labels. Public as ``topiarist.metrics``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from topiarist.arrays import Array, ArrayLike, Csr, Floats, Integers, Matrix
from topiarist.errors import InputError, UsageError

INDICATOR = "an indicator matrix, documents × labels, of 0 and 1: MultiLabelBinarizer().fit_transform(labels)"


def example_f1(labels_true: Matrix, labels_pred: Matrix, sample_weight: ArrayLike | None = None) -> float:
    """The mean over documents of 2|y∩ŷ| / (|y|+|ŷ|): how well sets of labels are predicted. 1 is agreement.

    Both are indicator matrices, dense or sparse. A document without labels in either counts 1: nothing was missed.
    ``sample_weight`` says how much each document counts; None: all alike.
    """
    true, found = _indicator(labels_true, "labels_true"), _indicator(labels_pred, "labels_pred")
    if true.shape != found.shape:
        raise InputError(
            f"labels_true and labels_pred must have the same shape, got {true.shape} and {found.shape}", hint=INDICATOR
        )
    both = np.asarray((true * found).sum(axis=1)).ravel()
    total = np.asarray(true.sum(axis=1) + found.sum(axis=1)).ravel()
    each = np.where(total > 0, 2 * both / np.maximum(total, 1), 1.0)
    if sample_weight is None:
        return float(np.mean(each))
    weights = np.asarray(sample_weight, np.float64)
    if weights.shape != each.shape or not weights.sum() > 0:
        raise InputError(
            f"sample_weight must have a number for each of {len(each)} documents and a sum above 0, got shape"
            f" {weights.shape}",
            hint="None, so that all documents count alike",
        )
    return float(np.average(each, weights=weights))


def _indicator(labels: Matrix, name: str) -> Any:
    try:
        sparse = bool(issparse(labels))
        matrix = csr_array(labels if sparse else np.asarray(labels))  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an indicator matrix: {error}", hint=INDICATOR) from error
    if matrix.ndim != 2 or 0 in matrix.shape or matrix.dtype.kind not in "biuf":
        raise InputError(
            f"{name} must be an indicator matrix, got {matrix.dtype} of shape {matrix.shape}", hint=INDICATOR
        )
    if not np.isin(matrix.data, (0, 1)).all():
        raise InputError(f"{name} must hold nothing but 0 and 1", hint=INDICATOR)
    return matrix.astype(np.float64)


def label_numbers(labels: ArrayLike, name: str, n_docs: int | None = None) -> Integers:
    """Labels of any kind as numbers from 0 on."""
    try:
        array = np.asarray(labels)
        missing = array.dtype.kind == "f" and bool(np.isnan(array).any())
        if array.ndim == 1 and len(array) > 0 and len(array) == (n_docs or len(array)) and not missing:
            return np.unique(array, return_inverse=True)[1]
        came = "NaN" if missing else f"shape {array.shape}"
    except (TypeError, ValueError) as error:
        came = f"labels that cannot be compared: {error}"
    wanted = "each document" if n_docs is None else f"each of the {n_docs} documents"
    raise InputError(f"{name} must hold one label for {wanted}, got {came}", hint="a list of numbers or of texts")


def gini(posterior: ArrayLike, labels: ArrayLike) -> tuple[float, float]:
    """Gini indices (G_l, G_α): how far labels spread over clusters, and clusters over labels. 0 is agreement.

    ``posterior`` is P(α|d), documents × clusters, or the one cluster of each document. G_l is the mean over labels of
    1 - Σ_α P(α|l)², G_α the mean over clusters of 1 - Σ_l P(l|α)². A cluster without documents is left out.
    """
    numbers = label_numbers(labels, "labels")
    together = _together(numbers, _memberships(posterior, len(numbers)))
    return _spread(together), _spread(together.T)


def purity(labels_pred: ArrayLike, labels_true: ArrayLike) -> float:
    """The share of the documents that have the most frequent label of their cluster: 1 when no cluster is mixed."""
    numbers = label_numbers(labels_true, "labels_true")
    clusters = label_numbers(labels_pred, "labels_pred", len(numbers))
    return float(_together(numbers, _one_each(clusters)).max(axis=0).sum()) / len(numbers)


def _spread(counts: Floats) -> float:
    """The mean over rows of 1 - Σ share²."""
    total = counts.sum(axis=1, keepdims=True)
    share = counts[total[:, 0] > 0] / total[total > 0][:, None]
    return float((1 - (share**2).sum(axis=1)).mean())


def _together(labels: Integers, memberships: Csr | Floats) -> Floats:
    """How many documents, or parts of such, each label (row) has in each cluster (column)."""
    together = _one_each(labels).T @ memberships
    return together if isinstance(together, np.ndarray) else together.toarray()


def _one_each(numbers: Integers) -> Any:
    """Each document wholly in the class of its number."""
    return csr_array((np.ones(len(numbers)), numbers, np.arange(len(numbers) + 1)))


def _memberships(posterior: ArrayLike, n_docs: int) -> Any:
    """P(α|d) as it came, or from the one cluster of each document."""
    array = np.asarray(posterior)
    if array.ndim == 1:
        return _one_each(label_numbers(array, "posterior", n_docs))
    if array.ndim != 2 or len(array) != n_docs or array.dtype.kind not in "biuf":
        raise InputError(
            f"posterior must be P(α|d), {n_docs} documents × clusters, or one cluster for each of the documents; "
            f"got {array.dtype} of shape {array.shape}",
            hint="a row for each label",
        )
    rows = array.astype(np.float64)
    wrong = ~((rows >= 0).all(axis=1) & (np.abs(rows.sum(axis=1) - 1) < 1e-3))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"the rows of posterior must be probabilities that sum to one, got {rows[row].sum():g} in row {row}",
            hint="posterior / posterior.sum(axis=1, keepdims=True)",
        )
    return rows


def interpolated_precision(relevance: ArrayLike, scores: ArrayLike, *, levels: ArrayLike | None = None) -> float:
    """Interpolated average precision of rankings: how many of the first documents are relevant, at settled recalls.

    ``relevance`` says which documents (columns) are relevant to which query (rows), ``scores`` what a system gave them;
    a single query may be one-dimensional. The precision at a recall level is the highest at that recall or a higher
    one; the answer is its mean over the levels (0.1, 0.2 … 0.9 unless given) and over the queries with a relevant
    document. Of equal scores the first document comes first.
    """
    right, given = np.atleast_2d(np.asarray(relevance)), np.atleast_2d(np.asarray(scores, dtype=np.float64))
    wanted = np.arange(1, 10) / 10 if levels is None else np.atleast_1d(np.asarray(levels, dtype=np.float64))
    if right.shape != given.shape or right.ndim != 2:
        raise InputError(
            f"relevance and scores must have one shape, queries × documents; got {right.shape} and {given.shape}",
            hint="a row for each query",
        )
    if np.isnan(given).any():
        raise InputError("scores must be numbers, got NaN", hint="-inf for documents that were not found")
    if not len(wanted) or not ((wanted > 0) & (wanted <= 1)).all():
        raise UsageError(f"levels must be recalls above 0 and at most 1, got {levels!r}", hint="(0.25, 0.5, 0.75)")
    judged = [_interpolated(row > 0, score, wanted) for row, score in zip(right, given, strict=True) if (row > 0).any()]
    if not judged:
        raise InputError("no query has a relevant document", hint="leave such queries out")
    return float(np.mean(judged))


def _interpolated(relevant: Array, scores: Floats, levels: Floats) -> float:
    hits = np.cumsum(relevant[np.argsort(-scores, kind="stable")])
    precision = hits / np.arange(1, len(hits) + 1)
    best = np.maximum.accumulate(precision[::-1])[::-1]  # at this rank or any later one
    needed = np.ceil(levels * hits[-1] - 1e-9)
    return float(best[np.searchsorted(hits, needed)].mean())
