"""Labels of documents in all accepted forms, and the nodes of labels in a tree."""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array, csr_matrix, sparray
from sklearn.metrics import accuracy_score
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from topiarist.arrays import Array, ArrayLike, Csr, DTypeLike, Unchecked
from topiarist.errors import InputError
from topiarist.text.spelling import format_proposals
from topiarist.trees.tree import Tree

NO_CLASS = -1
AS_INDICATOR = "sklearn.preprocessing.MultiLabelBinarizer().fit_transform(y), a 0/1 matrix with a column for each label"
AS_UNLABELLED = "−1 or None for a document without a label"


@dataclass(frozen=True)
class Labels:
    """Class of each document; a document with several labels has several entries."""

    classes: Array  # (n_classes,) as they were given, sorted
    rows: Array  # the document of each entry
    of_row: Array  # the number of its class, −1 where there is no label

    def select(self, places: Array) -> Labels:
        return Labels(self.classes, self.rows[places], self.of_row[places])


@dataclass(frozen=True)
class NamedColumns:
    """Indicator matrix with named columns, as in a data frame."""

    matrix: Array
    columns: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        n_docs, n_labels = self.matrix.shape
        return n_docs, n_labels

    @property
    def ndim(self) -> int:
        return self.matrix.ndim

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.array(self.matrix, dtype=dtype, copy=copy)


def read_labels(y: Unchecked, n_docs: int) -> Labels:
    """Return labels from one label for each document (−1 or None for none), or from an indicator matrix.

    The columns of a data frame give the labels; otherwise they are the numbers of the columns.
    """
    if y is None:
        raise InputError(
            "fitting a categoriser requires y to be passed, but the target y is None",
            hint=f"Pass a label for each document, with {AS_UNLABELLED}.",
        )
    if sparse.issparse(y) or (getattr(y, "ndim", 0) == 2 and y.shape[1] != 1):
        return _read_indicator(y, n_docs)
    _refuse_lists(y)
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] != 1:
        return _read_indicator(labels, n_docs)
    known_labels, is_missing = _split_labels(labels, n_docs, warn=True)
    classes, numbers = np.unique(known_labels, return_inverse=True)
    of_row = np.full(n_docs, NO_CLASS)
    of_row[~is_missing] = numbers
    return _check_classes(Labels(classes, np.arange(n_docs), of_row))


def select_labelled(y: Unchecked, n_docs: int) -> tuple[Array, Array]:
    """Return the labels of labelled documents, and which documents have one."""
    if sparse.issparse(y):
        raise InputError("expected a label for each document to score, got a matrix", hint=f"Pass {AS_UNLABELLED}.")
    _refuse_lists(y)
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] != 1:
        raise InputError(
            f"expected a label for each document to score, got a matrix of shape {labels.shape}",
            hint=f"Pass {AS_UNLABELLED}.",
        )
    known_labels, is_missing = _split_labels(labels, n_docs)
    return known_labels, ~is_missing


def compute_accuracy(y: Unchecked, predicted: Array, sample_weight: ArrayLike | None) -> float:
    """Return the share of labelled documents whose label is predicted."""
    labels, is_labelled = select_labelled(y, len(predicted))
    weight = None if sample_weight is None else np.asarray(sample_weight)[is_labelled]
    return float(accuracy_score(labels, predicted[is_labelled], sample_weight=weight))


def _split_labels(labels: Array, n_docs: int, *, warn: bool = False) -> tuple[Array, Array]:
    """Return the known labels, and which documents have none. Raise InputError without a label."""
    labels = column_or_1d(labels, warn=warn)
    check_consistent_length(labels, np.empty(n_docs))
    is_missing = is_label_missing(labels)
    _refuse_nan(labels)
    known_labels = labels[~is_missing]
    if not len(known_labels):
        raise InputError(f"expected labelled documents, got {n_docs} without a label", hint="Label some documents.")
    if labels.dtype == object:
        known_labels = _unify_type(known_labels)
    if known_labels.dtype.kind == "S":
        raise InputError("expected whole numbers or texts as labels, got bytes", hint="Pass [l.decode() for l in y].")
    try:
        check_classification_targets(known_labels)
    except ValueError as error:
        raise InputError(f"y cannot be used as class labels: {error}", hint="Use whole numbers or texts.") from error
    return known_labels, is_missing


def is_label_missing(y: Array) -> Array:
    """Return for each document whether it has no label: −1, ``"-1"`` or None."""
    if y.dtype.kind in "if":
        return np.asarray(y == NO_CLASS)
    if y.dtype.kind == "U":
        return np.asarray(y == str(NO_CLASS))
    return np.array([_is_missing(label) or label in (NO_CLASS, str(NO_CLASS)) for label in y], dtype=bool)


def _is_missing(label: object) -> bool:
    return label is None or type(label).__name__ == "NAType"


def _refuse_lists(y: Unchecked) -> None:
    """Raise InputError for lists of labels that are no indicator matrix."""
    if isinstance(y, np.ndarray) and y.dtype != object:
        return
    if isinstance(y, Iterable) and any(isinstance(label, list | tuple | set | frozenset) for label in y):
        if not isinstance(y, np.ndarray) and _is_indicator(y):
            return
        raise InputError(
            f"expected a label for each document, got lists: {reprlib.repr(y)}", hint=f"Pass {AS_INDICATOR}."
        )


def _is_indicator(y: Unchecked) -> bool:
    """Return whether lists are the rows of a 0/1 matrix, or of a single column."""
    try:
        rows = np.asarray(y)
    except ValueError:
        return False
    return bool(rows.ndim == 2 and (rows.shape[1] == 1 or (rows.dtype.kind in "iufb" and np.isin(rows, (0, 1)).all())))


def _refuse_nan(y: Array) -> None:
    """Raise InputError if a label is NaN."""
    missing = np.isnan(y) if y.dtype.kind == "f" else [False]
    if y.dtype == object:
        missing = [not _is_missing(label) and label != label for label in y]
    if np.any(missing):
        raise InputError("y contains NaN, which is not a missing label", hint=f"Pass {AS_UNLABELLED}.")


def _unify_type(labels: Array) -> Array:
    """Return objects as an array of one type; raise InputError if texts and numbers are mixed."""
    texts = [isinstance(label, str) for label in labels]
    if any(texts) and not all(texts):
        raise InputError(
            f"expected labels of one kind, got {reprlib.repr(labels.tolist())}", hint="Pass [str(l) for l in y]."
        )
    return labels if all(texts) else np.array(labels.tolist())


def _read_indicator(y: Unchecked, n_docs: int) -> Labels:
    """Return labels with one entry for each label of a document, and one entry for a document without labels."""
    names = getattr(y, "columns", None)
    indicator: Any = y if sparse.issparse(y) else _to_numbers(y)
    if indicator.ndim != 2 or indicator.shape[0] != n_docs:
        raise InputError(
            f"expected labels of {n_docs} documents, got a matrix of shape {indicator.shape}",
            hint="Pass one row for each document.",
        )
    matrix = to_binary(sparse.coo_array(indicator))
    rows, columns = matrix.nonzero()
    classes = np.arange(matrix.shape[1]) if names is None else np.asarray(names)
    empty = np.setdiff1d(np.arange(len(classes)), columns)
    if len(empty):
        raise InputError(
            f"no document has the label {classes[empty[0]]!r}", hint="Pass y[:, y.any(axis=0)], without empty columns."
        )
    order = np.argsort(classes, kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    unlabelled_rows = np.setdiff1d(np.arange(n_docs), rows)
    of_row = np.concatenate([places[columns], np.full(len(unlabelled_rows), NO_CLASS)])
    return _check_classes(Labels(classes[order], np.concatenate([rows, unlabelled_rows]), of_row))


def _to_numbers(y: Unchecked) -> Array:
    """Return a matrix of labels as numbers; raise InputError for other values."""
    try:
        return np.asarray(y, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"expected a matrix of 0 and 1, got {reprlib.repr(y)}", hint=f"Pass {AS_INDICATOR}."
        ) from error


def _check_classes(labels: Labels) -> Labels:
    """Return the labels; raise InputError unless they have at least two classes."""
    if len(labels.classes) < 2:
        raise InputError(
            f"expected labels of at least two classes, got one class: {labels.classes[0]!r}",
            hint="Add documents of another class. The value −1 counts as no label.",
        )
    return labels


def find_class_nodes(tree: Tree | None, classes: Array) -> tuple[Tree, tuple[int, ...]]:
    """Return a tree and the node of each class; warn of leaves without a class."""
    if tree is None:
        names = [str(label) for label in classes]
        flat = Tree((-1, *[0] * len(names)), ("", *names))
        return flat, tuple(range(1, len(flat)))
    if not isinstance(tree, Tree):
        raise InputError(f"tree must be a topiarist.Tree or None, got {tree!r}", hint="Pass Tree.from_paths([...]).")
    nodes = tuple(_find_label_node(tree, str(label)) for label in classes)
    if len(set(nodes)) < len(nodes):
        repeated_node = next(node for node in nodes if nodes.count(node) > 1)
        raise InputError(
            f"expected a node for each label, got two labels for {tree.names[repeated_node]!r}",
            hint="Use one spelling of the name.",
        )
    missing_leaves = set(tree.leaves) - {step for node in nodes for step in (node, *tree.descendants(node))}
    if missing_leaves:
        leaf_names = ", ".join(repr(tree.names[leaf]) for leaf in sorted(missing_leaves)[:5])
        warnings.warn(
            f"{len(missing_leaves)} leaves of the tree have no labelled document and are never an answer: {leaf_names}"
            f"{' …' if len(missing_leaves) > 5 else ''}",
            UserWarning,
            stacklevel=4,
        )
    return tree, nodes


def _find_label_node(tree: Tree, label: str) -> int:
    """Return the node with the name or path of a label; raise InputError if it is missing."""
    try:
        return tree.find(label)
    except InputError as error:
        leaves = [tree.names[leaf] for leaf in tree.leaves]
        raise InputError(
            f"the label {label!r} is not in the tree: {error.message}",
            hint=f"Use names or paths of nodes as labels. {format_proposals(label, leaves)}",
        ) from error


INDICATOR = "Pass sklearn.preprocessing.MultiLabelBinarizer().fit_transform(labels) for lists of labels."
NO_LABEL = "Leave such documents out: keep = np.asarray(Y.sum(axis=1)).ravel() > 0; X[keep], Y[keep]."


@dataclass(frozen=True)
class LabelMatrix:
    """Labels of documents as a matrix, and the form in which predictions are returned."""

    matrix: Any  # csr_array (n_docs, n_labels) of ones
    classes: Any
    form: str  # "single", "dense", "matrix" or "array": one label each, or the kind of indicator


def to_label_format(selected: Csr, form: str) -> Any:
    """Return selected labels (non-zero entries) as whole numbers, sparse if the labels were sparse."""
    indicator = csr_array((np.ones(selected.nnz, np.int64), selected.indices, selected.indptr), shape=selected.shape)
    return csr_matrix(indicator) if form == "matrix" else indicator if form == "array" else indicator.toarray()


def read_label_matrix(y: Unchecked, n_docs: int) -> LabelMatrix:
    """Return labels in any accepted form as a matrix; raise InputError for other forms."""
    if y is None:
        raise InputError(
            "requires y to be passed, but the target y is None: PMM learns from labelled documents", hint=INDICATOR
        )
    names = getattr(y, "columns", None)
    if sparse.issparse(y):
        return _make_label_matrix(y, "array" if isinstance(y, sparray) else "matrix", None, n_docs)
    array = _to_array(y)
    if array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1 and not _zeros_and_ones(array)):
        return _make_single_labels(array, n_docs)
    if array.ndim != 2:
        raise InputError(f"expected labels as documents × labels, got an array of {array.ndim} axes", hint=INDICATOR)
    if not _zeros_and_ones(array):
        _check_missing(array)
        raise InputError(
            "expected an indicator matrix (documents × labels) of 0 and 1, got other values"
            f", the first {_first_other(array)!r}",
            hint=INDICATOR,
        )
    return _make_label_matrix(csr_array(array.astype(np.int64)), "dense", names, n_docs)


def _to_array(y: Unchecked) -> Any:
    """Return labels as an array; raise InputError for lists of different lengths."""
    try:
        array = np.asarray(y)
    except ValueError:
        array = np.empty(0, object)
    is_ragged = array.dtype == object and (
        array.size == 0 or any(isinstance(of, list | tuple | set) for of in array.flat)
    )
    if is_ragged or (array.ndim == 1 and any(isinstance(of, list | tuple | set | frozenset) for of in array.tolist())):
        raise InputError(
            "expected an indicator matrix (documents × labels) of 0 and 1, got a list of label lists",
            hint=INDICATOR,
        )
    return array


def _zeros_and_ones(array: Array) -> bool:
    return array.dtype.kind in "biuf" and bool(np.isin(array, (0, 1)).all())


def _first_other(array: Array) -> Any:
    flat = array.ravel().tolist()
    return next((value for value in flat if value not in (0, 1)), flat[0])


def _check_missing(array: Array) -> None:
    """Raise InputError if a label is NaN or infinite."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        kind = "NaN" if np.isnan(array).any() else "infinity"
        raise InputError(
            f"Input y contains {kind}", hint="Use 1 for a label and 0 for no label, and leave out unknown documents."
        )


def _check_length(n_rows: int, n_docs: int) -> None:
    """Raise InputError unless labels and documents are equal in number."""
    if n_rows != n_docs:
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: {n_docs} documents in X, {n_rows} in y",
            hint="Pass one row of labels for each document.",
        )


def to_binary(indicator: sparse.coo_array[Any] | Csr) -> Any:
    """Return a copy of a sparse indicator matrix by rows, with a one for each label."""
    _check_missing(indicator.data)
    if not _zeros_and_ones(indicator.data):
        raise InputError(
            f"expected an indicator matrix of 0 and 1, got other values, the first {_first_other(indicator.data)!r}",
            hint=INDICATOR,
        )
    matrix = csr_array(indicator.astype(np.int64))
    matrix.eliminate_zeros()
    matrix.data[:] = 1
    return matrix


def _make_label_matrix(labels: Unchecked, form: str, names: ArrayLike | None, n_docs: int) -> LabelMatrix:
    """Return a checked indicator matrix; warn of empty labels; raise InputError for empty rows."""
    if labels.ndim != 2:
        raise InputError(f"expected labels as documents × labels, got an array of {labels.ndim} axis", hint=INDICATOR)
    _check_length(labels.shape[0], n_docs)
    matrix = to_binary(labels.tocoo(copy=False))
    if matrix.shape[1] == 0:
        raise InputError("expected at least one label, got an indicator matrix without columns", hint=INDICATOR)
    unlabelled_rows = np.flatnonzero(np.diff(matrix.indptr) == 0)
    if len(unlabelled_rows):
        raise InputError(
            f"expected at least one label for each document, got none for {len(unlabelled_rows)} of {n_docs}, the "
            f"first in row {unlabelled_rows[0]}",
            hint=NO_LABEL,
        )
    classes = np.arange(matrix.shape[1]) if names is None else np.asarray(names)
    empty = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]) == 0)
    if len(empty):
        label_names = ", ".join(str(classes[label]) for label in empty[:5])
        warnings.warn(
            f"{len(empty)} of {matrix.shape[1]} labels have no documents and will never be predicted: {label_names}"
            f"{' …' * (len(empty) > 5)}",
            stacklevel=4,
        )
    return LabelMatrix(matrix, classes, form)


def _make_single_labels(array: Array, n_docs: int) -> LabelMatrix:
    """Return an indicator matrix of one label per document."""
    _check_missing(array)
    try:
        flat = column_or_1d(array, warn=True)
        check_classification_targets(flat)
        classes, numbers = np.unique(flat, return_inverse=True)
    except (TypeError, ValueError) as error:
        raise InputError(f"y cannot be used as labels: {error}", hint=INDICATOR) from error
    _check_length(len(numbers), n_docs)
    matrix = csr_array((np.ones(n_docs, np.int64), numbers, np.arange(n_docs + 1)), shape=(n_docs, len(classes)))
    return LabelMatrix(matrix, classes, "single")
