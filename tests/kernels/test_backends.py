"""Tests that compiled kernels match the reference."""

import inspect
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import counts, simplex_rows
from topiarist import kernels
from topiarist.kernels import Folding, load
from topiarist.kernels.shard import CountsView, Tiles

REFERENCE = load("reference")
KERNELS = list(REFERENCE.functions)
BACKENDS = [load("compiled")]


def factors(matrix, seed, dtype=np.float64, width=None):
    rng = np.random.default_rng(seed)
    width = width or int(rng.integers(1, 9))
    row_factor = simplex_rows(rng, matrix.shape[0], width).astype(dtype)
    column_factor = np.ascontiguousarray(simplex_rows(rng, width, matrix.shape[1]).T).astype(dtype)
    if rng.random() < 0.5:  # a word that no component can produce
        column_factor[rng.integers(matrix.shape[1])] = 0
    return row_factor, column_factor


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda kernels: kernels.name)
@pytest.mark.parametrize("verb", KERNELS)
def test_same_signature(backend, verb):
    fast = getattr(backend, verb)
    expected = list(inspect.signature(getattr(REFERENCE, verb)).parameters)
    assert list(inspect.signature(getattr(fast, "py_func", fast)).parameters) == expected
    assert len(expected) <= 9


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda kernels: kernels.name)
@given(matrix=counts(max_docs=6, max_words=30), seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_document_counts_and_mixtures_match_reference(backend, matrix, seed):
    row_factor, column_factor = factors(matrix, seed)
    results = []
    for verbs in (REFERENCE, backend):
        out, mixture = np.zeros_like(row_factor), np.full(matrix.nnz, np.nan)
        verbs.document_counts(matrix.indptr, matrix.indices, matrix.data, row_factor, column_factor, out, mixture)
        mixture_only = np.full(matrix.nnz, np.nan)
        verbs.mixtures(matrix.indptr, matrix.indices, row_factor, column_factor, mixture_only)
        np.testing.assert_allclose(np.maximum(mixture_only, 1e-30), mixture, rtol=1e-13)
        results.append((out, mixture))
    np.testing.assert_allclose(results[1][0], results[0][0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(results[1][1], results[0][1], rtol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda kernels: kernels.name)
@given(matrix=counts(max_docs=12, max_words=6), seed=st.integers(0, 10**6), size=st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_word_counts_match_reference(backend, matrix, seed, size):
    row_factor, column_factor = factors(matrix, seed)
    tiles = Tiles.from_rows(CountsView.from_matrix(matrix), matrix.shape[1], size)
    results = []
    for verbs in (REFERENCE, backend):
        out = np.full_like(column_factor, np.nan)
        verbs.word_counts(tiles.indptr, tiles.starts, tiles.indices, tiles.data, column_factor, row_factor, out)
        results.append(out)
    np.testing.assert_allclose(results[1], results[0], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("backend", [REFERENCE, *BACKENDS], ids=lambda kernels: kernels.name)
def test_sweeps_match_formula(backend):
    rng = np.random.default_rng(3)
    dense = rng.poisson(1.0, (4, 7)).astype(float)
    dense[2] = 0
    row_factor, column_factor = simplex_rows(rng, 4, 3), np.ascontiguousarray(simplex_rows(rng, 3, 7).T)
    expected = np.zeros_like(row_factor)
    for i in range(4):
        for j in range(7):
            expected[i] += dense[i, j] * row_factor[i] * column_factor[j] / (row_factor[i] @ column_factor[j])
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(dense)
    out, mixture = np.full_like(row_factor, np.nan), np.empty(matrix.nnz)
    backend.document_counts(matrix.indptr, matrix.indices, matrix.data, row_factor, column_factor, out, mixture)
    np.testing.assert_allclose(out, expected, rtol=1e-13)
    np.testing.assert_allclose(out.sum(axis=1), dense.sum(axis=1), rtol=1e-13)
    for size in (4, 3, 1):  # by words, in one tile or in several
        tiles = Tiles.from_rows(CountsView.from_matrix(matrix), 7, size)
        words = np.full_like(column_factor, np.nan)
        backend.word_counts(tiles.indptr, tiles.starts, tiles.indices, tiles.data, column_factor, row_factor, words)
        np.testing.assert_allclose(
            words, column_factor * ((dense / (row_factor @ column_factor.T)).T @ row_factor), rtol=1e-13
        )


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda kernels: kernels.name)
@pytest.mark.parametrize(
    "folding", [Folding(), Folding(0.3), Folding(0.0, 0.6), Folding(0.1, 0.8, 3), Folding(0, 1, 1)]
)
def test_fold_in_matches_reference(backend, folding):
    rng = np.random.default_rng(5)
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(rng.poisson(0.7, (12, 20)) * (rng.random((12, 1)) > 0.2), dtype=float)
    row_factor, column_factor = factors(matrix, 2, width=5)
    slow, fast = row_factor.copy(), row_factor.copy()
    tempered_columns = column_factor**folding.inverse_temperature
    REFERENCE.fold_in(matrix.indptr, matrix.indices, matrix.data, slow, tempered_columns, folding)
    backend.fold_in(matrix.indptr, matrix.indices, matrix.data, fast, tempered_columns, folding)
    np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fast.sum(axis=1), 1.0, rtol=1e-12)


def test_fold_in_reaches_optimum_of_plain_em():
    rng = np.random.default_rng(6)
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(rng.poisson(1.5, (10, 30)), dtype=float)
    row_factor, column_factor = factors(matrix, 4, width=4)
    column_factor[column_factor == 0] = 1e-3
    plain = row_factor.copy()
    for _ in range(20_000):
        mixture = np.einsum("ik,jk->ij", plain, column_factor)
        plain = plain * ((matrix.toarray() / mixture) @ column_factor) + 0.2
        plain /= plain.sum(axis=1, keepdims=True)
    fast = row_factor.copy()
    load().fold_in(matrix.indptr, matrix.indices, matrix.data, fast, column_factor, Folding(0.2, 1.0, 10_000, 1e-12))
    np.testing.assert_allclose(fast, plain, atol=1e-9)


@pytest.mark.parametrize("backend", [REFERENCE, *BACKENDS], ids=lambda kernels: kernels.name)
def test_document_counts_accept_slice_of_rows(backend):
    rng = np.random.default_rng(7)
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(rng.poisson(1.0, (9, 11)), dtype=float)
    row_factor, column_factor = factors(matrix, 8, width=3)
    all_rows, part = np.zeros_like(row_factor), np.zeros((4, 3))
    mixture, piece = np.empty(matrix.nnz), np.empty(matrix.indptr[7] - matrix.indptr[3])
    backend.document_counts(matrix.indptr, matrix.indices, matrix.data, row_factor, column_factor, all_rows, mixture)
    backend.document_counts(
        matrix.indptr[3:8], matrix.indices, matrix.data, row_factor[3:7], column_factor, part, piece
    )
    assert np.array_equal(part, all_rows[3:7])
    assert np.array_equal(piece, mixture[matrix.indptr[3] : matrix.indptr[7]])


def test_word_counts_sum_long_columns_precisely():
    """A word in 300,000 documents: summed in single precision alone it would be wrong in the fourth digit."""
    rng = np.random.default_rng(9)
    n_docs, width = 300_000, 3
    indptr, starts = np.array([[0, n_docs]]), np.array([0, n_docs])
    indices = np.arange(n_docs, dtype=np.int32)
    data = np.ones(n_docs, np.float32)
    word, docs = np.full((1, width), 1e-3, np.float32), simplex_rows(rng, n_docs, width).astype(np.float32)
    single, double = np.zeros((1, width), np.float32), np.zeros((1, width))
    BACKENDS[0].word_counts(indptr, starts, indices, data, word, docs, single)
    wide = (values.astype(float) for values in (data, word, docs))
    BACKENDS[0].word_counts(indptr, starts, indices, *wide, double)
    np.testing.assert_allclose(single, double, rtol=2e-7)


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda kernels: kernels.name)
def test_extrapolate_matches_reference_and_stays_positive(backend):
    rng = np.random.default_rng(10)
    old, new = simplex_rows(rng, 5, 4), simplex_rows(rng, 5, 4)
    slow, fast = np.empty_like(new), np.empty_like(new)
    REFERENCE.extrapolate(old, new, 3.0, slow)
    backend.extrapolate(old, new, 3.0, fast)
    np.testing.assert_allclose(fast, slow, rtol=1e-14)
    assert (fast >= new / 2).all()
    assert (fast == new / 2).any()


@pytest.mark.parametrize("backend", [REFERENCE, *BACKENDS], ids=lambda kernels: kernels.name)
def test_weighted_sum_adds_in_double_precision(backend):
    weights, values = np.ones(10**6, np.float32), np.full(10**6, 0.1, np.float32)
    assert backend.weighted_sum(weights, values) == pytest.approx(10**6 * float(np.float32(0.1)), rel=1e-12)


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda kernels: kernels.name)
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_normalisation_matches_reference(backend, smoothing):
    counts = np.random.default_rng(11).random((6, 11))
    counts[2], counts[:, 4] = 0, 0
    slow, fast = counts.copy(), counts.copy()
    REFERENCE.normalise_rows(slow, smoothing)
    backend.normalise_rows(fast, smoothing)
    np.testing.assert_allclose(fast, slow, rtol=1e-13)
    np.testing.assert_allclose(fast.sum(axis=1), 1.0, rtol=1e-13)
    sums = np.empty((2, 11))
    REFERENCE.column_sums(counts, sums[0])
    backend.column_sums(counts, sums[1])
    np.testing.assert_allclose(sums[1], sums[0], rtol=1e-13)
    slow, fast = counts.copy(), counts.copy()
    REFERENCE.scale_columns(slow, smoothing, sums[0])
    backend.scale_columns(fast, smoothing, sums[0])
    np.testing.assert_allclose(fast, slow, rtol=1e-13)


@pytest.mark.parametrize("backend", [REFERENCE, *BACKENDS], ids=lambda kernels: kernels.name)
@pytest.mark.parametrize("smallest", [1e-3, 1e-37, 1e-200])
def test_sum_of_logs(backend, smallest):
    array = np.random.default_rng(12).uniform(smallest, 10 * smallest, (5, 19))
    assert backend.sum_of_logs(array) == pytest.approx(np.log(array).sum(), rel=1e-13)
    array[3, 3] = 0
    assert backend.sum_of_logs(array) == -np.inf


@pytest.mark.parametrize("backend", [REFERENCE, *BACKENDS], ids=lambda kernels: kernels.name)
@given(matrix=counts(max_docs=8, max_words=9))
@settings(max_examples=30, deadline=None)
def test_transpose_matches_scipy(backend, matrix):
    expected = matrix.tocsc()
    ends = np.zeros(matrix.shape[1] + 1, np.int64)
    backend.tally(matrix.indices, ends[1:])
    np.cumsum(ends, out=ends)
    indices, data = np.zeros(matrix.nnz, np.uint16), np.zeros(matrix.nnz)
    backend.transpose(matrix.indptr, matrix.indices, matrix.data, ends[:-1].copy(), indices, data)
    assert np.array_equal(ends, expected.indptr)
    assert np.array_equal(indices, expected.indices)
    assert np.array_equal(data, expected.data)


@pytest.mark.parametrize("group", kernels.GROUPS)
def test_load_warns_and_returns_reference_without_numba(monkeypatch, group):
    monkeypatch.setitem(sys.modules, f"topiarist.kernels.{group}.compiled", None)
    monkeypatch.delattr(f"topiarist.kernels.{group}.compiled", raising=False)
    kernels._load_functions.cache_clear()  # as in a new process
    try:
        with pytest.warns(UserWarning, match="numba cannot be imported") as warnings:
            record = load("compiled")
    finally:
        kernels._load_functions.cache_clear()
    assert [warning.filename for warning in warnings] == [__file__]
    assert record.name == "reference"
    assert list(record.functions) == KERNELS
    assert not any(hasattr(function, "py_func") for function in record.functions.values())


def test_load_returns_one_record_by_name():
    assert pickle.loads(pickle.dumps(load())) is load("compiled")
    assert (load().name, REFERENCE.name) == ("compiled", "reference")
    with pytest.raises(ValueError, match="'compiled' or 'reference'"):
        load("magic")
    with pytest.raises(AttributeError, match="'magic'"):
        load().magic  # noqa: B018
