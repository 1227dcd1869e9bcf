"""Labels as people give them: one for each document, none, or several; and where in a tree they are."""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array, csr_matrix, sparray
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from topiarist.arrays import Array, ArrayLike, Csr, DTypeLike, Unchecked
from topiarist.errors import InputError
from topiarist.hierarchy.tree import Tree
from topiarist.text.spelling import proposed

UNLABELLED = -1
AS_INDICATOR = "sklearn.preprocessing.MultiLabelBinarizer().fit_transform(y), a 0/1 matrix with a column for each label"
AS_UNLABELLED = "−1 or None for a document without a label"


@dataclass(frozen=True)
class Labels:
    """Which class each document has; a document with several labels is there several times."""

    classes: Array  # (n_classes,) as they were given, sorted
    rows: Array  # the document of each entry
    of_row: Array  # the number of its class, −1 where there is no label

    def only(self, places: Array) -> Labels:
        """Some entries."""
        return Labels(self.classes, self.rows[places], self.of_row[places])


@dataclass(frozen=True)
class NamedColumns:
    """A 0/1 matrix whose columns have names, as those of a data frame have."""

    matrix: Array
    columns: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Documents and labels."""
        n_docs, n_labels = self.matrix.shape
        return n_docs, n_labels

    @property
    def ndim(self) -> int:
        """Always two."""
        return self.matrix.ndim

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.array(self.matrix, dtype=dtype, copy=copy)


def read_labels(y: Unchecked, n_docs: int) -> Labels:
    """Labels of documents: a label each (−1 or None for none), or a 0/1 matrix with a column for each label.

    The columns of a data frame have names, which are the labels; otherwise labels are the numbers of the columns.
    """
    if y is None:
        raise InputError(
            "fitting a categoriser requires y to be passed, but the target y is None", hint=f"a label, {AS_UNLABELLED}"
        )
    if sparse.issparse(y) or (getattr(y, "ndim", 0) == 2 and y.shape[1] != 1):
        return _several(y, n_docs)
    _refuse_lists(y)
    given = np.asarray(y)
    if given.ndim == 2 and given.shape[1] != 1:
        return _several(given, n_docs)
    known, without = _each(given, n_docs, warn=True)
    classes, numbers = np.unique(known, return_inverse=True)
    of_row = np.full(n_docs, UNLABELLED)
    of_row[~without] = numbers
    return _enough(Labels(classes, np.arange(n_docs), of_row))


def labels_to_score(y: Unchecked, n_docs: int) -> tuple[Array, Array]:
    """The labels that there are, and which documents have one, of labels that may be missing (−1 or None)."""
    if sparse.issparse(y):
        raise InputError("expected a label for each document to score, got a matrix", hint=AS_UNLABELLED)
    _refuse_lists(y)
    given = np.asarray(y)
    if given.ndim == 2 and given.shape[1] != 1:
        raise InputError(
            f"expected a label for each document to score, got a matrix of shape {given.shape}", hint=AS_UNLABELLED
        )
    known, without = _each(given, n_docs)
    return known, ~without


def _each(given: Array, n_docs: int, *, warn: bool = False) -> tuple[Array, Array]:
    """The labels that there are, as an array of one type, and which documents have none."""
    given = column_or_1d(given, warn=warn)
    check_consistent_length(given, np.empty(n_docs))
    without = _without_label(given)
    _refuse_nan(given)
    known = given[~without]
    if not len(known):
        raise InputError(
            f"expected labelled documents, got {n_docs} without a label", hint="some documents with labels"
        )
    if given.dtype == object:
        known = _plain(known)
    if known.dtype.kind == "S":
        raise InputError("expected whole numbers or texts as labels, got bytes", hint="[l.decode() for l in y]")
    try:
        check_classification_targets(known)
    except ValueError as error:
        raise InputError(f"y cannot be used as class labels: {error}", hint="whole numbers or texts") from error
    return known, without


def _without_label(y: Array) -> Array:
    if y.dtype.kind in "if":
        return np.asarray(y == UNLABELLED)
    if y.dtype.kind == "U":
        return np.asarray(y == str(UNLABELLED))
    return np.array([_is_missing(label) or label in (UNLABELLED, str(UNLABELLED)) for label in y], dtype=bool)


def _is_missing(label: object) -> bool:
    """None, or what pandas has in its place, which cannot be compared with anything."""
    return label is None or type(label).__name__ == "NAType"


def _refuse_lists(y: Unchecked) -> None:
    if isinstance(y, np.ndarray) and y.dtype != object:
        return
    if isinstance(y, Iterable) and any(isinstance(label, list | tuple | set | frozenset) for label in y):
        if not isinstance(y, np.ndarray) and _is_indicator(y):
            return
        raise InputError(f"expected a label for each document, got lists: {reprlib.repr(y)}", hint=AS_INDICATOR)


def _is_indicator(y: Unchecked) -> bool:
    """Lists that are the rows of a 0/1 matrix, or of a single column."""
    try:
        rows = np.asarray(y)
    except ValueError:
        return False
    return bool(rows.ndim == 2 and (rows.shape[1] == 1 or (rows.dtype.kind in "iufb" and np.isin(rows, (0, 1)).all())))


def _refuse_nan(y: Array) -> None:
    missing = np.isnan(y) if y.dtype.kind == "f" else [False]
    if y.dtype == object:
        missing = [not _is_missing(label) and label != label for label in y]
    if np.any(missing):
        raise InputError("y contains NaN; a missing label must be said so", hint=AS_UNLABELLED)


def _plain(labels: Array) -> Array:
    """Objects as an array of one type, if they have one."""
    texts = [isinstance(label, str) for label in labels]
    if any(texts) and not all(texts):
        raise InputError(
            f"expected labels of one kind, got {reprlib.repr(labels.tolist())}", hint="[str(l) for l in y]"
        )
    return labels if all(texts) else np.array(labels.tolist())


def _several(y: Unchecked, n_docs: int) -> Labels:
    """Each document once for each of its labels, and once if it has none."""
    names = getattr(y, "columns", None)
    given: Any = y if sparse.issparse(y) else _numbers(y)
    if given.ndim != 2 or given.shape[0] != n_docs:
        raise InputError(
            f"expected labels of {n_docs} documents, got a matrix of shape {given.shape}", hint="a row each"
        )
    matrix = ones_of(sparse.coo_array(given))
    rows, columns = matrix.nonzero()
    classes = np.arange(matrix.shape[1]) if names is None else np.asarray(names)
    empty = np.setdiff1d(np.arange(len(classes)), columns)
    if len(empty):
        raise InputError(
            f"no document has the label {classes[empty[0]]!r}", hint="y[:, y.any(axis=0)], without empty columns"
        )
    order = np.argsort(classes, kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    bare = np.setdiff1d(np.arange(n_docs), rows)
    of_row = np.concatenate([places[columns], np.full(len(bare), UNLABELLED)])
    return _enough(Labels(classes[order], np.concatenate([rows, bare]), of_row))


def _numbers(y: Unchecked) -> Array:
    try:
        return np.asarray(y, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"expected a matrix of 0 and 1, got {reprlib.repr(y)}", hint=AS_INDICATOR) from error


def _enough(labels: Labels) -> Labels:
    if len(labels.classes) < 2:
        raise InputError(
            f"expected labels of at least two classes, got one class: {labels.classes[0]!r}",
            hint="documents of another class; −1 counts as no label",
        )
    return labels


def class_nodes(tree: Tree | None, classes: Array) -> tuple[Tree, tuple[int, ...]]:
    """The tree, and the node of each class: the one of the same name, or at the end of the path that the label is."""
    if tree is None:
        names = [str(label) for label in classes]
        flat = Tree((-1, *[0] * len(names)), ("", *names))
        return flat, tuple(range(1, len(flat)))
    if not isinstance(tree, Tree):
        raise InputError(f"tree must be a topiarist.Tree or None, got {tree!r}", hint="Tree.from_paths([...])")
    nodes = tuple(_node(tree, str(label)) for label in classes)
    if len(set(nodes)) < len(nodes):
        twice = next(node for node in nodes if nodes.count(node) > 1)
        raise InputError(
            f"expected a node for each label, got two labels for {tree.names[twice]!r}", hint="one spelling of it"
        )
    bare = set(tree.leaves) - {step for node in nodes for step in (node, *tree.descendants(node))}
    if bare:
        some = ", ".join(repr(tree.names[leaf]) for leaf in sorted(bare)[:5])
        warnings.warn(
            f"{len(bare)} leaves of the tree have no labelled document and are never an answer: {some}"
            f"{' …' if len(bare) > 5 else ''}",
            UserWarning,
            stacklevel=4,
        )
    return tree, nodes


def _node(tree: Tree, label: str) -> int:
    try:
        return tree.find(label)
    except InputError as error:
        leaves = [tree.names[leaf] for leaf in tree.leaves]
        raise InputError(
            f"the label {label!r} is not in the tree: {error.message}",
            hint=f"labels are names of nodes, or paths: {proposed(label, leaves)}",
        ) from error


INDICATOR = "MultiLabelBinarizer().fit_transform(labels) from sklearn.preprocessing makes one of lists of labels"
NO_LABEL = "leave such documents out: keep = np.asarray(Y.sum(axis=1)).ravel() > 0; X[keep], Y[keep]"


@dataclass(frozen=True)
class LabelMatrix:
    """Which document has which label, and the form in which predictions go back."""

    matrix: Any  # csr_array (n_docs, n_labels) of ones
    classes: Any
    form: str  # "single", "dense", "matrix" or "array": one label each, or the kind of indicator


def given_back(chosen: Csr, form: str) -> Any:
    """Chosen labels (anything but zero) as whole numbers: sparse where labels came sparse, else dense."""
    ones = csr_array((np.ones(chosen.nnz, np.int64), chosen.indices, chosen.indptr), shape=chosen.shape)
    return csr_matrix(ones) if form == "matrix" else ones if form == "array" else ones.toarray()


def read_label_matrix(y: Unchecked, n_docs: int) -> LabelMatrix:
    """Labels of any of these forms, checked; what is none of them raises ``InputError``."""
    if y is None:
        raise InputError(
            "requires y to be passed, but the target y is None: PMM learns from labelled documents", hint=INDICATOR
        )
    names = getattr(y, "columns", None)
    if sparse.issparse(y):
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


def _rectangle(y: Unchecked) -> Any:
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


def _zeros_and_ones(array: Array) -> bool:
    return array.dtype.kind in "biuf" and bool(np.isin(array, (0, 1)).all())


def _first_other(array: Array) -> Any:
    flat = array.ravel().tolist()
    return next((value for value in flat if value not in (0, 1)), flat[0])


def _check_missing(array: Array) -> None:
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        kind = "NaN" if np.isnan(array).any() else "infinity"
        raise InputError(f"Input y contains {kind}", hint="a label is there (1) or not (0); leave out what is unknown")


def _check_length(found: int, n_docs: int) -> None:
    if found != n_docs:
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: {n_docs} documents in X, {found} in y",
            hint="one row of labels for each document",
        )


def ones_of(given: sparse.coo_array[Any] | Csr) -> Any:
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


def _indicator(given: Unchecked, form: str, names: ArrayLike | None, n_docs: int) -> LabelMatrix:
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
    return LabelMatrix(matrix, classes, form)


def _single(array: Array, n_docs: int) -> LabelMatrix:
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
