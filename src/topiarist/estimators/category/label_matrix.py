"""Labels as people give them: an indicator matrix, dense or sparse, or one label for each document."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix, issparse, sparray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from topiarist.errors import InputError

INDICATOR = "MultiLabelBinarizer().fit_transform(labels) from sklearn.preprocessing makes one of lists of labels"
NO_LABEL = "leave such documents out: keep = np.asarray(Y.sum(axis=1)).ravel() > 0; X[keep], Y[keep]"


@dataclass(frozen=True)
class Labels:
    """Which document has which label, and the form in which predictions go back."""

    matrix: Any  # csr_array (n_docs, n_labels) of ones
    classes: Any
    form: str  # "single", "dense", "matrix" or "array": one label each, or the kind of indicator


def given_back(chosen: Any, form: str) -> Any:
    """Chosen labels (anything but zero) as whole numbers: sparse where labels came sparse, else dense."""
    ones = csr_array((np.ones(chosen.nnz, np.int64), chosen.indices, chosen.indptr), shape=chosen.shape)
    return csr_matrix(ones) if form == "matrix" else ones if form == "array" else ones.toarray()


def read_labels(y: Any, n_docs: int) -> Labels:
    """Labels of any of the forms above, checked; what is none of them raises ``InputError``."""
    if y is None:
        raise InputError(
            "requires y to be passed, but the target y is None: PMM learns from labelled documents", hint=INDICATOR
        )
    names, sparse = getattr(y, "columns", None), bool(issparse(y))
    if sparse:
        return _indicator(y, "array" if isinstance(y, sparray) else "matrix", None, n_docs)
    array = _rectangle(y)
    if array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1 and not _zeros_and_ones(array)):
        return _single(array, n_docs)
    if array.ndim != 2:
        raise InputError(f"expected labels as documents × labels, got an array of {array.ndim} axes", hint=INDICATOR)
    if not _zeros_and_ones(array):
        _check_missing(array)
        raise InputError(
            "expected an indicator matrix (documents × labels) of 0 and 1, got other values"
            f", the first {_first_other(array)!r}",
            hint=INDICATOR,
        )
    return _indicator(csr_array(array.astype(np.int64)), "dense", names, n_docs)


def _rectangle(y: Any) -> Any:
    try:
        array = np.asarray(y)
    except ValueError:
        array = np.empty(0, object)
    ragged = array.dtype == object and (array.size == 0 or any(isinstance(of, list | tuple | set) for of in array.flat))
    if ragged or (array.ndim == 1 and any(isinstance(of, list | tuple | set | frozenset) for of in array.tolist())):
        raise InputError(
            "expected an indicator matrix (documents × labels) of 0 and 1, got a list of label lists",
            hint=INDICATOR,
        )
    return array


def _zeros_and_ones(array: Any) -> bool:
    return array.dtype.kind in "biuf" and bool(np.isin(array, (0, 1)).all())


def _first_other(array: Any) -> Any:
    flat = array.ravel().tolist()
    return next((value for value in flat if value not in (0, 1)), flat[0])


def _check_missing(array: Any) -> None:
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        kind = "NaN" if np.isnan(array).any() else "infinity"
        raise InputError(f"Input y contains {kind}", hint="a label is there (1) or not (0); leave out what is unknown")


def _check_length(found: int, n_docs: int) -> None:
    if found != n_docs:
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: {n_docs} documents in X, {found} in y",
            hint="one row of labels for each document",
        )


def ones_of(given: Any) -> Any:
    """A sparse indicator matrix as one of its own, by rows: a one for each label, however often it was said."""
    _check_missing(given.data)
    if not _zeros_and_ones(given.data):
        raise InputError(
            f"expected an indicator matrix of 0 and 1, got other values, the first {_first_other(given.data)!r}",
            hint=INDICATOR,
        )
    matrix = csr_array(given.astype(np.int64))
    matrix.eliminate_zeros()
    matrix.data[:] = 1
    return matrix


def _indicator(given: Any, form: str, names: Any, n_docs: int) -> Labels:
    if given.ndim != 2:
        raise InputError(f"expected labels as documents × labels, got an array of {given.ndim} axis", hint=INDICATOR)
    _check_length(given.shape[0], n_docs)
    matrix = ones_of(given.tocoo(copy=False))
    if matrix.shape[1] == 0:
        raise InputError("expected at least one label, got an indicator matrix without columns", hint=INDICATOR)
    bare = np.flatnonzero(np.diff(matrix.indptr) == 0)
    if len(bare):
        raise InputError(
            f"expected at least one label for each document, got none for {len(bare)} of {n_docs}, the first in row "
            f"{bare[0]}",
            hint=NO_LABEL,
        )
    classes = np.arange(matrix.shape[1]) if names is None else np.asarray(names)
    empty = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]) == 0)
    if len(empty):
        listed = ", ".join(str(classes[label]) for label in empty[:5])
        warnings.warn(
            f"{len(empty)} of {matrix.shape[1]} labels have no documents and will never be predicted: {listed}"
            f"{' …' * (len(empty) > 5)}",
            stacklevel=4,
        )
    return Labels(matrix, classes, form)


def _single(array: Any, n_docs: int) -> Labels:
    _check_missing(array)
    try:
        flat = column_or_1d(array, warn=True)
        check_classification_targets(flat)
        classes, numbers = np.unique(flat, return_inverse=True)
    except (TypeError, ValueError) as error:
        raise InputError(f"y cannot be used as labels: {error}", hint=INDICATOR) from error
    _check_length(len(numbers), n_docs)
    matrix = csr_array((np.ones(n_docs, np.int64), numbers, np.arange(n_docs + 1)), shape=(n_docs, len(classes)))
    return Labels(matrix, classes, "single")
