"""Agreement of clusters, label sets and rankings with given labels, public in ``topiarist.metrics``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from topiarist.arrays import Array, ArrayLike, Csr, Floats, Integers, Matrix
from topiarist.errors import InputError, UsageError

INDICATOR_HINT = "Pass a 0/1 matrix, documents × labels, such as MultiLabelBinarizer().fit_transform(labels)."


def example_f1(labels_true: Matrix, labels_pred: Matrix, sample_weight: ArrayLike | None = None) -> float:
    """Return the mean over documents of 2|y∩ŷ| / (|y|+|ŷ|), the agreement of predicted label sets; 1 is agreement.

    Both are indicator matrices, dense or sparse. A document without labels in either counts 1. ``sample_weight`` is the
    weight of each document; None weights all equally.
    """
    true, predicted = _check_indicator(labels_true, "labels_true"), _check_indicator(labels_pred, "labels_pred")
    if true.shape != predicted.shape:
        raise InputError(
            f"labels_true and labels_pred must have the same shape, got {true.shape} and {predicted.shape}",
            hint=INDICATOR_HINT,
        )
    n_both = np.asarray((true * predicted).sum(axis=1)).ravel()
    total = np.asarray(true.sum(axis=1) + predicted.sum(axis=1)).ravel()
    f1_of_documents = np.where(total > 0, 2 * n_both / np.maximum(total, 1), 1.0)
    if sample_weight is None:
        return float(np.mean(f1_of_documents))
    weights = np.asarray(sample_weight, np.float64)
    if weights.shape != f1_of_documents.shape or not weights.sum() > 0:
        raise InputError(
            f"sample_weight must have a number for each of {len(f1_of_documents)} documents and a sum above 0, "
            f"got shape {weights.shape}",
            hint="Pass None for equal weights.",
        )
    return float(np.average(f1_of_documents, weights=weights))


def _check_indicator(labels: Matrix, name: str) -> Any:
    """Return labels as a sparse matrix of 0 and 1; raise InputError for other values."""
    try:
        sparse = bool(issparse(labels))
        matrix = csr_array(labels if sparse else np.asarray(labels))  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an indicator matrix: {error}", hint=INDICATOR_HINT) from error
    if matrix.ndim != 2 or 0 in matrix.shape or matrix.dtype.kind not in "biuf":
        raise InputError(
            f"{name} must be an indicator matrix, got {matrix.dtype} of shape {matrix.shape}", hint=INDICATOR_HINT
        )
    if not np.isin(matrix.data, (0, 1)).all():
        raise InputError(f"{name} must hold only 0 and 1", hint=INDICATOR_HINT)
    return matrix.astype(np.float64)


def number_labels(labels: ArrayLike, name: str, n_docs: int | None = None) -> Integers:
    """Return labels of any kind as numbers from 0 on."""
    try:
        array = np.asarray(labels)
        missing = array.dtype.kind == "f" and bool(np.isnan(array).any())
        if array.ndim == 1 and len(array) > 0 and len(array) == (n_docs or len(array)) and not missing:
            return np.unique(array, return_inverse=True)[1]
        description = "NaN" if missing else f"shape {array.shape}"
    except (TypeError, ValueError) as error:
        description = f"labels that cannot be compared: {error}"
    documents = "each document" if n_docs is None else f"each of the {n_docs} documents"
    raise InputError(
        f"{name} must hold one label for {documents}, got {description}", hint="Pass a list of numbers or texts."
    )


def gini(posterior: ArrayLike, labels: ArrayLike) -> tuple[float, float]:
    """Return Gini indices (G_l, G_α): the spread of labels over clusters, and of clusters over labels. 0 is agreement.

    ``posterior`` is P(α|d), documents × clusters, or the one cluster of each document. G_l is the mean over labels of 1
    - Σ_α P(α|l)², G_α the mean over clusters of 1 - Σ_l P(l|α)². A cluster without documents is excluded.
    """
    numbers = number_labels(labels, "labels")
    counts = _count_together(numbers, _check_posterior(posterior, len(numbers)))
    return _compute_spread(counts), _compute_spread(counts.T)


def purity(labels_pred: ArrayLike, labels_true: ArrayLike) -> float:
    """Return the share of the documents with the most frequent label of their cluster; 1 without mixed clusters."""
    numbers = number_labels(labels_true, "labels_true")
    clusters = number_labels(labels_pred, "labels_pred", len(numbers))
    return float(_count_together(numbers, _make_memberships(clusters)).max(axis=0).sum()) / len(numbers)


def _compute_spread(counts: Floats) -> float:
    """Return the mean over rows of 1 - Σ share²."""
    total = counts.sum(axis=1, keepdims=True)
    share = counts[total[:, 0] > 0] / total[total > 0][:, None]
    return float((1 - (share**2).sum(axis=1)).mean())


def _count_together(labels: Integers, memberships: Csr | Floats) -> Floats:
    """Return the number or shares of documents with each label (row) in each cluster (column)."""
    counts = _make_memberships(labels).T @ memberships
    return counts if isinstance(counts, np.ndarray) else counts.toarray()


def _make_memberships(numbers: Integers) -> Any:
    """Return a matrix with a one in the column of each document's number."""
    return csr_array((np.ones(len(numbers)), numbers, np.arange(len(numbers) + 1)))


def _check_posterior(posterior: ArrayLike, n_docs: int) -> Any:
    """Return P(α|d), or a membership matrix for one cluster per document."""
    array = np.asarray(posterior)
    if array.ndim == 1:
        return _make_memberships(number_labels(array, "posterior", n_docs))
    if array.ndim != 2 or len(array) != n_docs or array.dtype.kind not in "biuf":
        raise InputError(
            f"posterior must be P(α|d), {n_docs} documents × clusters, or one cluster for each of the documents; "
            f"got {array.dtype} of shape {array.shape}",
            hint="Pass a row for each label.",
        )
    rows = array.astype(np.float64)
    is_invalid = ~((rows >= 0).all(axis=1) & (np.abs(rows.sum(axis=1) - 1) < 1e-3))
    if is_invalid.any():
        row = int(is_invalid.argmax())
        raise InputError(
            f"the rows of posterior must be probabilities that sum to one, got {rows[row].sum():g} in row {row}",
            hint="Pass posterior / posterior.sum(axis=1, keepdims=True).",
        )
    return rows


def interpolated_precision(relevance: ArrayLike, scores: ArrayLike, *, levels: ArrayLike | None = None) -> float:
    """Return the interpolated average precision of rankings at fixed recall levels.

    ``relevance`` marks the documents (columns) relevant to each query (rows), ``scores`` are those of a system; a
    single query can be one-dimensional. The precision at a recall level is the highest at that recall or a higher one.
    The result is its mean over the levels (default 0.1, 0.2 … 0.9) and over the queries with a relevant document. Of
    equal scores the first document comes first.
    """
    relevant, all_scores = np.atleast_2d(np.asarray(relevance)), np.atleast_2d(np.asarray(scores, dtype=np.float64))
    recalls = np.arange(1, 10) / 10 if levels is None else np.atleast_1d(np.asarray(levels, dtype=np.float64))
    if relevant.shape != all_scores.shape or relevant.ndim != 2:
        raise InputError(
            "relevance and scores must have one shape, queries × documents, "
            f"got {relevant.shape} and {all_scores.shape}",
            hint="Pass a row for each query.",
        )
    if np.isnan(all_scores).any():
        raise InputError("scores must be numbers, got NaN", hint="Pass -inf for documents that were not found.")
    if not len(recalls) or not ((recalls > 0) & (recalls <= 1)).all():
        raise UsageError(
            f"levels must be recalls above 0 and at most 1, got {levels!r}",
            hint="Pass levels such as (0.25, 0.5, 0.75).",
        )
    precisions = [
        _interpolate_precision(row > 0, score, recalls)
        for row, score in zip(relevant, all_scores, strict=True)
        if (row > 0).any()
    ]
    if not precisions:
        raise InputError("no query has a relevant document", hint="Omit such queries.")
    return float(np.mean(precisions))


def _interpolate_precision(relevant: Array, scores: Floats, levels: Floats) -> float:
    """Return the mean interpolated precision at levels of recall, for one label."""
    hits = np.cumsum(relevant[np.argsort(-scores, kind="stable")])
    precision = hits / np.arange(1, len(hits) + 1)
    best = np.maximum.accumulate(precision[::-1])[::-1]  # at this rank or later
    needed = np.ceil(levels * hits[-1] - 1e-9)
    return float(best[np.searchsorted(hits, needed)].mean())
