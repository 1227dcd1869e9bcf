"""What counts must be: a finite, non-negative matrix of documents × words, as canonical CSR."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr, Matrix
from topiarist.counts.room import PIECE, entry_runs, let_go, pieces
from topiarist.errors import InputError

FEW = 1 << 21  # entries that are added up together
EXACT_IN_FLOAT32 = 2**24
SMALLEST = 1e-20  # a count: of what is much less nothing is left where shares of it are taken, and objectives fall
LARGEST_TOTAL = 2.0**53  # of all counts together: beyond it double precision cannot count


def check_counts(X: Matrix, *, name: str = "X", min_docs: int = 1, min_words: int = 1) -> Csr:
    """Return ``X`` as canonical CSR (rows sorted, no duplicates, no stored zeros) of float32 or float64.

    Any array-like, data frame or sparse matrix is accepted. float32 and float64 keep their type, whole
    numbers become float32 where that is exact. The input is never changed; it is shared where it already has
    the wanted form. What is not a matrix of counts raises ``InputError`` (a ``ValueError``).
    """
    from sklearn.utils import check_array

    try:
        checked = check_array(
            X,
            accept_sparse="csr",
            dtype=_wanted_type(X),
            ensure_all_finite=False,
            ensure_min_samples=min_docs,
            ensure_min_features=min_words,
            input_name=name,
        )
    except ValueError as error:
        raise InputError(
            f"{name} cannot be used as counts: {error}",
            hint="give a documents × words matrix of numbers with at least one document and one word",
        ) from error
    matrix = csr_array(checked)
    if matrix.data.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(_float_type(matrix.data))
    _check_values(matrix, name)
    return _canonical(matrix, shared=_shares_memory(matrix, X))


def _wanted_type(X: Matrix) -> Any:
    """Return what ``check_array`` should convert to: nothing for numbers that a sparse matrix can hold."""
    dtype = getattr(X, "dtype", None)
    kind = getattr(dtype, "kind", "O")
    if kind == "f" and dtype not in (np.float32, np.float64):
        return np.float32 if dtype == np.float16 else np.float64
    return None if kind in "fiub" else "numeric"


def _float_type(data: Array) -> type[np.floating[Any]]:
    """Return the smaller float type that holds whole-number data exactly."""
    if data.dtype.kind not in "iub":
        return np.float64
    largest = max(int(data.max(initial=0)), -int(data.min(initial=0)))
    return np.float32 if largest <= EXACT_IN_FLOAT32 else np.float64


def _check_values(matrix: Csr, name: str) -> None:
    """Raise unless all stored values are finite, not negative, and nought or large enough to be divided by."""
    data = matrix.data
    with np.errstate(all="ignore"):
        told = [(part.sum(dtype=np.float64), part.min()) for (part,) in pieces(data)]
        if sum(total for total, _ in told) <= LARGEST_TOTAL and all(least >= SMALLEST for _, least in told):
            return  # one sum answers for all values: it is NaN or infinite as soon as one of them is
    faults = (
        (np.isnan(data), f"Input {name} contains NaN", "replace missing values by 0"),
        (np.isinf(data), f"Input {name} contains infinity (inf)", "look for a division by zero before this"),
        (data > LARGEST_TOTAL, f"Input {name} contains a number too large to be a count", "divide by a constant"),
        (data < 0, f"Negative values in data passed to {name}", "raw counts or tf-idf, not centred features"),
        (
            (data > 0) & (data < SMALLEST),
            f"Input {name} contains a number too small to be a count, under {SMALLEST:g}",
            "multiply by a constant, or put 0",
        ),
    )
    for wrong, message, hint in faults:
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            row = int(np.searchsorted(matrix.indptr, first, side="right")) - 1
            raise InputError(
                f"{message}: counts must be finite, at least 0 and at most {LARGEST_TOTAL:g}, but {wrong.sum()} of "
                f"{data.size} values are not, the first ({data[first]}) at row {row}, column {matrix.indices[first]}",
                hint=hint,
            )
    if data.sum(dtype=np.float64) <= LARGEST_TOTAL:  # noughts that are stored
        return
    raise InputError(
        f"the counts of {name} add up to more than {LARGEST_TOTAL:g}, beyond which they are not exact",
        hint="divide them by a constant",
    )


def _shares_memory(matrix: Csr, X: object) -> bool:
    """Tell whether changing ``matrix`` in place could change the caller's ``X``."""
    if not sparse.issparse(X):
        return False
    return not hasattr(X, "indptr") or any(
        np.may_share_memory(getattr(matrix, part), getattr(X, part)) for part in ("data", "indices", "indptr")
    )


def _canonical(matrix: Csr, *, shared: bool) -> Csr:
    """Return the matrix with sorted rows, no duplicates, no stored zeros and 32-bit indices."""
    if not _in_order(matrix) or any(part.min() == 0 for (part,) in pieces(matrix.data)):  # none is negative
        if shared:
            matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return compact_indices(matrix)


def _in_order(matrix: Csr) -> bool:
    """Whether the columns of every row rise; SciPy would look at a matrix in files as a whole."""
    if len(matrix.indices) < PIECE:
        return bool(matrix.has_canonical_format)
    ends = matrix.indptr
    for rows, own in entry_runs(ends):
        columns = matrix.indices[own]
        falls = np.flatnonzero(columns[1:] <= columns[:-1]) + 1 + own.start
        if not np.isin(falls, ends[rows.start : rows.stop + 1]).all():
            return False
        let_go(matrix.indices)
    matrix.has_canonical_format = True
    return True


def compact_indices(matrix: Csr) -> Csr:
    """Return the matrix with 32-bit indices, unless it is too large for them."""
    largest = max(*matrix.shape, int(matrix.indptr[-1]))
    if matrix.indices.dtype == np.int32 and matrix.indptr.dtype == np.int32:
        return matrix
    if largest > np.iinfo(np.int32).max:
        return matrix
    parts = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
    smaller: Csr = csr_array(parts, shape=matrix.shape)
    smaller.has_canonical_format = True
    return smaller


def token_counts(counts: Csr) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the number of tokens n(i) of each document."""
    totals, ends = np.zeros(counts.shape[0]), counts.indptr
    for rows, own in entry_runs(ends):  # without a copy of all counts in double precision
        starts = ends[rows] - own.start
        filled = np.flatnonzero(np.diff(ends[rows.start : rows.stop + 1]))
        if len(filled):
            totals[rows.start + filled] = np.add.reduceat(counts.data[own], starts[filled], dtype=np.float64)
        let_go(counts.data)
    return totals


def grand_total(counts: Csr) -> float:
    """Return how many tokens there are."""
    return math.fsum(float(part.sum(dtype=np.float64)) for (part,) in pieces(counts.data))


def document_frequency(counts: Csr) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return in how many documents each word occurs (of counts without stored zeros)."""
    found = np.zeros(counts.shape[1], np.int64)
    for (columns,) in pieces(counts.indices):  # ``bincount`` makes numbers of eight bytes of all that it is given
        found += np.bincount(columns, minlength=counts.shape[1])
    return found


def column_totals(counts: Csr) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the sum of each column: how often a word occurs in all documents, how many documents a class has.

    In double precision: SciPy adds single precision in single, and of ten million documents a thousand too many.
    """
    found = np.zeros(counts.shape[1])
    for columns, times in pieces(counts.indices, counts.data, size=FEW):  # each is made twice as wide
        found += np.bincount(columns, weights=times, minlength=counts.shape[1])
    return found
