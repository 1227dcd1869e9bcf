"""Validation of counts: finite, non-negative matrices of documents × words, as canonical CSR."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr, Matrix
from topiarist.counts.scratch import ENTRIES_PER_RUN, iterate_arrays, release_pages, split_entries
from topiarist.errors import InputError

ENTRIES_PER_SUM = 1 << 21  # entries that are added together
EXACT_IN_FLOAT32 = 2**24
MIN_COUNT = 1e-20  # shares of smaller counts vanish, and objectives decrease
MAX_TOTAL = 2.0**53  # sum of all counts that double precision represents exactly


def check_counts(X: Matrix, *, name: str = "X", min_docs: int = 1, min_words: int = 1) -> Csr:
    """Return ``X`` as canonical CSR (rows sorted, no duplicates, no stored zeros) of float32 or float64.

    Any array-like, data frame or sparse matrix is accepted. float32 and float64 keep their type, and integers become
    float32 if that is exact. The input never changes; it is shared if it already has the canonical form. Raises
    ``InputError`` (a ``ValueError``) for other input.
    """
    from sklearn.utils import check_array

    try:
        checked = check_array(
            X,
            accept_sparse="csr",
            dtype=_choose_dtype(X),
            ensure_all_finite=False,
            ensure_min_samples=min_docs,
            ensure_min_features=min_words,
            input_name=name,
        )
    except ValueError as error:
        raise InputError(
            f"{name} cannot be used as counts: {error}",
            hint="Give a documents × words matrix of numbers with at least one document and one word.",
        ) from error
    matrix = csr_array(checked)
    if matrix.data.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(_choose_float_type(matrix.data))
    _check_values(matrix, name)
    return _make_canonical(matrix, shared=_shares_memory(matrix, X))


def _choose_dtype(X: Matrix) -> Any:
    """Return the type for ``check_array``; None if a sparse matrix can hold the numbers."""
    dtype = getattr(X, "dtype", None)
    kind = getattr(dtype, "kind", "O")
    if kind == "f" and dtype not in (np.float32, np.float64):
        return np.float32 if dtype == np.float16 else np.float64
    return None if kind in "fiub" else "numeric"


def _choose_float_type(data: Array) -> type[np.floating[Any]]:
    """Return the smaller float type that holds whole-number data exactly."""
    if data.dtype.kind not in "iub":
        return np.float64
    largest = max(int(data.max(initial=0)), -int(data.min(initial=0)))
    return np.float32 if largest <= EXACT_IN_FLOAT32 else np.float64


def _check_values(matrix: Csr, name: str) -> None:
    """Raise InputError unless all stored values are finite, not negative, and zero or large enough to divide by."""
    data = matrix.data
    with np.errstate(all="ignore"):
        sums = [(part.sum(dtype=np.float64), part.min()) for (part,) in iterate_arrays(data)]
        if sum(total for total, _ in sums) <= MAX_TOTAL and all(smallest >= MIN_COUNT for _, smallest in sums):
            return  # the sum is NaN or infinite if a value is
    faults = (
        (np.isnan(data), f"Input {name} contains NaN", "replace missing values by 0"),
        (np.isinf(data), f"Input {name} contains infinity (inf)", "look for a division by zero before this"),
        (data > MAX_TOTAL, f"Input {name} contains a number too large to be a count", "divide by a constant"),
        (data < 0, f"Negative values in data passed to {name}", "raw counts or tf-idf, not centred features"),
        (
            (data > 0) & (data < MIN_COUNT),
            f"Input {name} contains a number too small to be a count, under {MIN_COUNT:g}",
            "Multiply by a constant, or use 0.",
        ),
    )
    for wrong, message, hint in faults:
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            row = int(np.searchsorted(matrix.indptr, first, side="right")) - 1
            raise InputError(
                f"{message}: counts must be finite, at least 0 and at most {MAX_TOTAL:g}, but {wrong.sum()} of "
                f"{data.size} values are not, the first ({data[first]}) at row {row}, column {matrix.indices[first]}",
                hint=hint,
            )
    if data.sum(dtype=np.float64) <= MAX_TOTAL:  # stored zeros
        return
    raise InputError(
        f"the counts of {name} add up to more than {MAX_TOTAL:g}, beyond which they are not exact",
        hint="Divide them by a constant.",
    )


def _shares_memory(matrix: Csr, X: object) -> bool:
    """Return whether a change of ``matrix`` in place could change the caller's ``X``."""
    if not sparse.issparse(X):
        return False
    return not hasattr(X, "indptr") or any(
        np.may_share_memory(getattr(matrix, part), getattr(X, part)) for part in ("data", "indices", "indptr")
    )


def _make_canonical(matrix: Csr, *, shared: bool) -> Csr:
    """Return the matrix with sorted rows, no duplicates, no stored zeros and 32-bit indices."""
    if not _is_canonical(matrix) or any(part.min() == 0 for (part,) in iterate_arrays(matrix.data)):  # none is negative
        if shared:
            matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return compact_indices(matrix)


def _is_canonical(matrix: Csr) -> bool:
    """Return whether the columns of each row increase, and mark the matrix if they do."""
    if len(matrix.indices) < ENTRIES_PER_RUN:
        return bool(matrix.has_canonical_format)
    ends = matrix.indptr
    for rows, entries in split_entries(ends):
        columns = matrix.indices[entries]
        falls = np.flatnonzero(columns[1:] <= columns[:-1]) + 1 + entries.start
        if not np.isin(falls, ends[rows.start : rows.stop + 1]).all():
            return False
        release_pages(matrix.indices)
    matrix.has_canonical_format = True
    return True


def compact_indices(matrix: Csr) -> Csr:
    """Return the matrix with 32-bit indices if they fit; values are shared with the argument.

    A new matrix is marked as canonical, which is not checked.
    """
    largest = max(*matrix.shape, int(matrix.indptr[-1]))
    if matrix.indices.dtype == np.int32 and matrix.indptr.dtype == np.int32:
        return matrix
    if largest > np.iinfo(np.int32).max:
        return matrix
    parts = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
    smaller: Csr = csr_array(parts, shape=matrix.shape)
    smaller.has_canonical_format = True
    return smaller


def to_smallest_type(ends: Array) -> Array:
    """Return row ends in 32 bits if they fit."""
    return ends.astype(np.int32) if ends[-1] <= np.iinfo(np.int32).max else ends


def count_tokens(counts: Csr) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the number of tokens n(i) of each document."""
    totals, ends = np.zeros(counts.shape[0]), counts.indptr
    for rows, entries in split_entries(ends):  # without a copy of all counts in double precision
        starts = ends[rows] - entries.start
        filled = np.flatnonzero(np.diff(ends[rows.start : rows.stop + 1]))
        if len(filled):
            totals[rows.start + filled] = np.add.reduceat(counts.data[entries], starts[filled], dtype=np.float64)
        release_pages(counts.data)
    return totals


def count_all_tokens(counts: Csr) -> float:
    """Return the number of tokens of all documents."""
    return math.fsum(float(part.sum(dtype=np.float64)) for (part,) in iterate_arrays(counts.data))


def compute_document_frequency(counts: Csr) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the number of documents with each word, for counts without stored zeros."""
    frequency = np.zeros(counts.shape[1], np.int64)
    for (columns,) in iterate_arrays(counts.indices):  # ``bincount`` converts its input to eight bytes
        frequency += np.bincount(columns, minlength=counts.shape[1])
    return frequency


def sum_columns(counts: Csr) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the sum of each column in double precision.

    SciPy adds single precision in single precision, with an error of a thousand in ten million documents.
    """
    totals = np.zeros(counts.shape[1])
    for columns, times in iterate_arrays(
        counts.indices, counts.data, size=ENTRIES_PER_SUM
    ):  # ``bincount`` doubles their size
        totals += np.bincount(columns, weights=times, minlength=counts.shape[1])
    return totals
