"""What is accepted as counts, what is refused, and in which words."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from topiarist.counts import check_counts
from topiarist.errors import InputError

DENSE = [[0, 2, 0], [1, 0, 3]]


@pytest.mark.parametrize(
    "X",
    [
        DENSE,
        np.array(DENSE),
        np.array(DENSE, dtype=np.uint8),
        np.array(DENSE, dtype=object),
        sparse.csr_matrix(DENSE),
        sparse.csc_array(DENSE),
        sparse.coo_array(np.array(DENSE)),
    ],
)
def test_any_matrix_becomes_canonical_csr(X: Any) -> None:
    counts = check_counts(X)
    assert isinstance(counts, sparse.csr_array)
    assert counts.toarray().tolist() == DENSE
    assert counts.has_canonical_format
    assert counts.nnz == 3
    assert counts.dtype in (np.float32, np.float64)
    assert counts.indices.dtype == np.int32


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("float32", "float32"),
        ("float64", "float64"),
        ("int64", "float32"),
        ("float16", "float32"),
        ("bool", "float32"),
    ],
)
def test_float_types_are_kept_and_whole_numbers_become_float32(dtype: str, expected: str) -> None:
    assert check_counts(np.array(DENSE).astype(dtype)).dtype == expected
    assert check_counts(sparse.csr_array(np.array(DENSE).astype("float32"))).dtype == np.float32


def test_numbers_too_large_for_float32_stay_exact() -> None:
    assert check_counts([[2**24 + 1, 0]]).toarray()[0, 0] == 2**24 + 1


def test_duplicates_and_stored_zeros_go_and_the_input_stays() -> None:
    X = sparse.csr_matrix((np.array([1.0, 2.0, 0.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    counts = check_counts(X)
    assert counts.toarray().tolist() == [[0, 3], [0, 0]]
    assert counts.nnz == 1
    assert X.nnz == 3
    assert X.data.tolist() == [1, 2, 0]


def test_a_canonical_matrix_is_not_copied() -> None:
    X = sparse.csr_array(np.array(DENSE, dtype=np.float32))
    assert np.shares_memory(check_counts(X).data, X.data)


@pytest.mark.parametrize("wrap", [np.array, sparse.csr_array])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, r"Input X contains NaN: .* 1 of 3 values are not, the first \(nan\) at row 1, column 2"),
        (np.inf, r"Input X contains infinity \(inf\): .* at row 1, column 2"),
        (-1.0, r"Negative values in data passed to X: .* the first \(-1.0\) at row 1, column 2"),
    ],
)
def test_values_that_are_no_counts(wrap: Any, value: float, message: str) -> None:
    X = np.array(DENSE, dtype=float)
    X[1, 2] = value
    with pytest.raises(InputError, match=message):
        check_counts(wrap(X))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(3), "Expected 2D array, got 1D array"),
        (np.ones((2, 2, 2)), "dim 3"),
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.empty((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
        (np.ones((2, 2)) * 1j, "Complex data not supported"),
        ([["tree", "leaf"]], "cannot be used as counts"),
    ],
)
def test_what_is_no_matrix_of_numbers(X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_counts(X)


def test_what_cannot_be_counted_exactly_is_refused() -> None:
    assert check_counts([[2.0**52, 1.0]]).shape == (1, 2)
    with pytest.raises(InputError, match="too large to be a count"):
        check_counts([[1e308, 1e308]])
    for small in (5e-324, 1e-300, 9e-21):
        with pytest.raises(InputError, match=r"too small to be a count, under 1e-20.*at row 0, column 1"):
            check_counts([[1.0, small]])
    assert check_counts(sparse.csr_array(([0.0, 1e-20], ([0, 0], [0, 1])), shape=(1, 2))).nnz == 1
    with pytest.raises(InputError, match="add up to more than"):
        check_counts([[2.0**52, 2.0**52, 2.0**52]])
