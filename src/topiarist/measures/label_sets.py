"""Labels as numbers, and figures about sets of labels. Public by the name ``topiarist.metrics``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from topiarist.errors import InputError

Numbers = np.ndarray[Any, np.dtype[np.integer[Any]]]

INDICATOR = "an indicator matrix, documents × labels, of 0 and 1: MultiLabelBinarizer().fit_transform(labels)"


def example_f1(labels_true: Any, labels_pred: Any, sample_weight: Any = None) -> float:
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


def _indicator(labels: Any, name: str) -> Any:
    try:
        sparse = bool(issparse(labels))
        matrix = csr_array(labels if sparse else np.asarray(labels))
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an indicator matrix: {error}", hint=INDICATOR) from error
    if matrix.ndim != 2 or 0 in matrix.shape or matrix.dtype.kind not in "biuf":
        raise InputError(
            f"{name} must be an indicator matrix, got {matrix.dtype} of shape {matrix.shape}", hint=INDICATOR
        )
    if not np.isin(matrix.data, (0, 1)).all():
        raise InputError(f"{name} must hold nothing but 0 and 1", hint=INDICATOR)
    return matrix.astype(np.float64)


def label_numbers(labels: Any, name: str, n_docs: int | None = None) -> Numbers:
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
