"""Do clusters agree with labels? Offered by ``topiarist.metrics``; definitions: docs/reference/metrics.md"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.errors import InputError
from topiarist.measures.label_sets import Numbers, label_numbers
from topiarist.models.engine.host import Floats


def gini(posterior: Any, labels: Any) -> tuple[float, float]:
    """Gini indices (G_l, G_α): how far labels spread over clusters, and clusters over labels. 0 is agreement.

    ``posterior`` is P(α|d), documents × clusters, or the one cluster of each document. G_l is the mean over labels of
    1 - Σ_α P(α|l)², G_α the mean over clusters of 1 - Σ_l P(l|α)². A cluster without documents is left out.
    """
    numbers = label_numbers(labels, "labels")
    together = _together(numbers, _memberships(posterior, len(numbers)))
    return _spread(together), _spread(together.T)


def purity(labels_pred: Any, labels_true: Any) -> float:
    """The share of the documents that have the most frequent label of their cluster: 1 when no cluster is mixed."""
    numbers = label_numbers(labels_true, "labels_true")
    clusters = label_numbers(labels_pred, "labels_pred", len(numbers))
    return float(_together(numbers, _one_each(clusters)).max(axis=0).sum()) / len(numbers)


def _spread(counts: Floats) -> float:
    """The mean over rows of 1 - Σ share²."""
    total = counts.sum(axis=1, keepdims=True)
    share = counts[total[:, 0] > 0] / total[total > 0][:, None]
    return float((1 - (share**2).sum(axis=1)).mean())


def _together(labels: Numbers, memberships: Any) -> Floats:
    """How many documents, or parts of such, each label (row) has in each cluster (column)."""
    together = _one_each(labels).T @ memberships
    counts: Floats = together if isinstance(together, np.ndarray) else together.toarray()
    return counts


def _one_each(numbers: Numbers) -> Any:
    """Each document wholly in the class of its number."""
    return csr_array((np.ones(len(numbers)), numbers, np.arange(len(numbers) + 1)))


def _memberships(posterior: Any, n_docs: int) -> Any:
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
