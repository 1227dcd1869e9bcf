"""Every telling of the kernels says what the reference says."""

import inspect
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import counts, simplex_rows
from topiarist import kernels as room_of_kernels
from topiarist.kernels import Folding, labels, load, search
from topiarist.kernels.shard import Side, Tiles

REFERENCE = load("reference")
VERBS = [name for name in REFERENCE._fields if name != "name"]
TELLINGS = [load("compiled")]


def factors(matrix, seed, dtype=np.float64, width=None):
    rng = np.random.default_rng(seed)
    width = width or int(rng.integers(1, 9))
    own = simplex_rows(rng, matrix.shape[0], width).astype(dtype)
    other = np.ascontiguousarray(simplex_rows(rng, width, matrix.shape[1]).T).astype(dtype)
    if rng.random() < 0.5:  # a word that no component can produce
        other[rng.integers(matrix.shape[1])] = 0
    return own, other


@pytest.mark.parametrize("telling", TELLINGS, ids=lambda kernels: kernels.name)
@pytest.mark.parametrize("verb", VERBS)
def test_same_signature(telling, verb):
    fast = getattr(telling, verb)
    wanted = list(inspect.signature(getattr(REFERENCE, verb)).parameters)
    assert list(inspect.signature(getattr(fast, "py_func", fast)).parameters) == wanted


@pytest.mark.parametrize("telling", TELLINGS, ids=lambda kernels: kernels.name)
@given(matrix=counts(max_docs=6, max_words=30), seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_document_counts_and_mixtures_agree(telling, matrix, seed):
    own, other = factors(matrix, seed)
    results = []
    for kernels in (REFERENCE, telling):
        out, mixture = np.zeros_like(own), np.full(matrix.nnz, np.nan)
        kernels.document_counts(matrix.indptr, matrix.indices, matrix.data, own, other, out, mixture)
        alone = np.full(matrix.nnz, np.nan)
        kernels.mixtures(matrix.indptr, matrix.indices, own, other, alone)
        np.testing.assert_allclose(np.maximum(alone, 1e-30), mixture, rtol=1e-13)
        results.append((out, mixture))
    np.testing.assert_allclose(results[1][0], results[0][0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(results[1][1], results[0][1], rtol=1e-12)


@pytest.mark.parametrize("telling", TELLINGS, ids=lambda kernels: kernels.name)
@given(matrix=counts(max_docs=12, max_words=6), seed=st.integers(0, 10**6), size=st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_word_counts_agree(telling, matrix, seed, size):
    own, other = factors(matrix, seed)
    tiles = Tiles.of(Side.of(matrix), matrix.shape[1], size)
    results = []
    for kernels in (REFERENCE, telling):
        out = np.full_like(other, np.nan)
        kernels.word_counts(tiles.indptr, tiles.starts, tiles.indices, tiles.data, other, own, out)
        results.append(out)
    np.testing.assert_allclose(results[1], results[0], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("telling", [REFERENCE, *TELLINGS], ids=lambda kernels: kernels.name)
def test_both_sweeps_are_the_formula(telling):
    rng = np.random.default_rng(3)
    dense = rng.poisson(1.0, (4, 7)).astype(float)
    dense[2] = 0
    own, other = simplex_rows(rng, 4, 3), np.ascontiguousarray(simplex_rows(rng, 3, 7).T)
    expected = np.zeros_like(own)
    for i in range(4):
        for j in range(7):
            expected[i] += dense[i, j] * own[i] * other[j] / (own[i] @ other[j])
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(dense)
    out, mixture = np.full_like(own, np.nan), np.empty(matrix.nnz)
    telling.document_counts(matrix.indptr, matrix.indices, matrix.data, own, other, out, mixture)
    np.testing.assert_allclose(out, expected, rtol=1e-13)
    np.testing.assert_allclose(out.sum(axis=1), dense.sum(axis=1), rtol=1e-13)
    for size in (4, 3, 1):  # by words, in one tile or in several
        tiles = Tiles.of(Side.of(matrix), 7, size)
        words = np.full_like(other, np.nan)
        telling.word_counts(tiles.indptr, tiles.starts, tiles.indices, tiles.data, other, own, words)
        np.testing.assert_allclose(words, other * ((dense / (own @ other.T)).T @ own), rtol=1e-13)


@pytest.mark.parametrize("telling", TELLINGS, ids=lambda kernels: kernels.name)
@pytest.mark.parametrize(
    "folding", [Folding(), Folding(0.3), Folding(0.0, 0.6), Folding(0.1, 0.8, 3), Folding(0, 1, 1)]
)
def test_fold_in_agrees(telling, folding):
    rng = np.random.default_rng(5)
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(rng.poisson(0.7, (12, 20)) * (rng.random((12, 1)) > 0.2), dtype=float)
    own, other = factors(matrix, 2, width=5)
    slow, fast = own.copy(), own.copy()
    tempered = other**folding.inverse_temperature
    REFERENCE.fold_in(matrix.indptr, matrix.indices, matrix.data, slow, tempered, folding)
    telling.fold_in(matrix.indptr, matrix.indices, matrix.data, fast, tempered, folding)
    np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fast.sum(axis=1), 1.0, rtol=1e-12)


def test_fold_in_finds_the_optimum_that_plain_em_finds():
    rng = np.random.default_rng(6)
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(rng.poisson(1.5, (10, 30)), dtype=float)
    own, other = factors(matrix, 4, width=4)
    other[other == 0] = 1e-3
    plain = own.copy()
    for _ in range(20_000):
        mixture = np.einsum("ik,jk->ij", plain, other)
        plain = plain * ((matrix.toarray() / mixture) @ other) + 0.2
        plain /= plain.sum(axis=1, keepdims=True)
    fast = own.copy()
    load().fold_in(matrix.indptr, matrix.indices, matrix.data, fast, other, Folding(0.2, 1.0, 10_000, 1e-12))
    np.testing.assert_allclose(fast, plain, atol=1e-9)


@pytest.mark.parametrize("telling", [REFERENCE, *TELLINGS], ids=lambda kernels: kernels.name)
def test_a_slice_of_the_rows_needs_no_copy(telling):
    rng = np.random.default_rng(7)
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(rng.poisson(1.0, (9, 11)), dtype=float)
    own, other = factors(matrix, 8, width=3)
    whole, part = np.zeros_like(own), np.zeros((4, 3))
    mixture, piece = np.empty(matrix.nnz), np.empty(matrix.indptr[7] - matrix.indptr[3])
    telling.document_counts(matrix.indptr, matrix.indices, matrix.data, own, other, whole, mixture)
    telling.document_counts(matrix.indptr[3:8], matrix.indices, matrix.data, own[3:7], other, part, piece)
    assert np.array_equal(part, whole[3:7])
    assert np.array_equal(piece, mixture[matrix.indptr[3] : matrix.indptr[7]])


def test_single_precision_adds_long_columns_safely():
    """A word in 300,000 documents: summed in single precision alone it would be wrong in the fourth digit."""
    rng = np.random.default_rng(9)
    n_docs, width = 300_000, 3
    indptr, starts = np.array([[0, n_docs]]), np.array([0, n_docs])
    indices = np.arange(n_docs, dtype=np.int32)
    data = np.ones(n_docs, np.float32)
    word, docs = np.full((1, width), 1e-3, np.float32), simplex_rows(rng, n_docs, width).astype(np.float32)
    single, double = np.zeros((1, width), np.float32), np.zeros((1, width))
    TELLINGS[0].word_counts(indptr, starts, indices, data, word, docs, single)
    wide = (values.astype(float) for values in (data, word, docs))
    TELLINGS[0].word_counts(indptr, starts, indices, *wide, double)
    np.testing.assert_allclose(single, double, rtol=2e-7)


@pytest.mark.parametrize("telling", TELLINGS, ids=lambda kernels: kernels.name)
def test_look_ahead_agrees_and_never_reaches_zero(telling):
    rng = np.random.default_rng(10)
    old, new = simplex_rows(rng, 5, 4), simplex_rows(rng, 5, 4)
    slow, fast = np.empty_like(new), np.empty_like(new)
    REFERENCE.look_ahead(old, new, 3.0, slow)
    telling.look_ahead(old, new, 3.0, fast)
    np.testing.assert_allclose(fast, slow, rtol=1e-14)
    assert (fast >= new / 2).all()
    assert (fast == new / 2).any()


@pytest.mark.parametrize("telling", [REFERENCE, *TELLINGS], ids=lambda kernels: kernels.name)
def test_weighted_sum_adds_in_double_precision(telling):
    weights, values = np.ones(10**6, np.float32), np.full(10**6, 0.1, np.float32)
    assert telling.weighted_sum(weights, values) == pytest.approx(10**6 * float(np.float32(0.1)), rel=1e-12)


@pytest.mark.parametrize("telling", TELLINGS, ids=lambda kernels: kernels.name)
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_normalising_agrees(telling, smoothing):
    counts = np.random.default_rng(11).random((6, 11))
    counts[2], counts[:, 4] = 0, 0
    slow, fast = counts.copy(), counts.copy()
    REFERENCE.normalise_rows(slow, smoothing)
    telling.normalise_rows(fast, smoothing)
    np.testing.assert_allclose(fast, slow, rtol=1e-13)
    np.testing.assert_allclose(fast.sum(axis=1), 1.0, rtol=1e-13)
    sums = np.empty((2, 11))
    REFERENCE.column_sums(counts, sums[0])
    telling.column_sums(counts, sums[1])
    np.testing.assert_allclose(sums[1], sums[0], rtol=1e-13)
    slow, fast = counts.copy(), counts.copy()
    REFERENCE.scale_columns(slow, smoothing, sums[0])
    telling.scale_columns(fast, smoothing, sums[0])
    np.testing.assert_allclose(fast, slow, rtol=1e-13)


@pytest.mark.parametrize("telling", [REFERENCE, *TELLINGS], ids=lambda kernels: kernels.name)
@pytest.mark.parametrize("smallest", [1e-3, 1e-37, 1e-200])
def test_sum_of_logs(telling, smallest):
    array = np.random.default_rng(12).uniform(smallest, 10 * smallest, (5, 19))
    assert telling.sum_of_logs(array) == pytest.approx(np.log(array).sum(), rel=1e-13)
    array[3, 3] = 0
    assert telling.sum_of_logs(array) == -np.inf


@pytest.mark.parametrize("telling", [REFERENCE, *TELLINGS], ids=lambda kernels: kernels.name)
@given(matrix=counts(max_docs=8, max_words=9))
@settings(max_examples=30, deadline=None)
def test_rows_to_columns_as_scipy_does_it(telling, matrix):
    wanted = matrix.tocsc()
    ends = np.zeros(matrix.shape[1] + 1, np.int64)
    telling.tally(matrix.indices, ends[1:])
    np.cumsum(ends, out=ends)
    indices, data = np.zeros(matrix.nnz, np.uint16), np.zeros(matrix.nnz)
    telling.transpose(matrix.indptr, matrix.indices, matrix.data, ends[:-1].copy(), indices, data)
    assert np.array_equal(ends, wanted.indptr)
    assert np.array_equal(indices, wanted.indices)
    assert np.array_equal(data, wanted.data)


@pytest.mark.parametrize(
    ("room", "loaded", "verb"),
    [(None, load, "fold_in"), (labels, labels.load, "choose"), (search, search.load, "score_words")],
)
def test_without_a_compiler_the_reference_is_taken_and_whoever_asked_is_told(monkeypatch, room, loaded, verb):
    module = f"{room.__name__ if room else 'topiarist.kernels.counts'}.compiled"
    monkeypatch.setitem(sys.modules, module, None)
    if room:
        monkeypatch.delattr(room, "compiled", raising=False)
    monkeypatch.setattr(room_of_kernels, "_record", room_of_kernels._record.__wrapped__)  # as in a new process
    with pytest.warns(UserWarning, match="numba cannot be used") as told:
        found = loaded("compiled")
    assert [one.filename for one in told] == [__file__]
    assert found.name == "reference"
    assert not hasattr(getattr(found, verb), "py_func")


def test_unknown_kernels_are_named():
    with pytest.raises(ValueError, match="'compiled', 'reference' or 'cuda', not 'magic'"):
        load("magic")
