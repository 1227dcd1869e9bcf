"""Sweeps over the components that documents use: the whole sweeps at rows with zeros, and every telling the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import counts, simplex_rows
from topiarist.kernels import Active, load
from topiarist.kernels.shard import Side, Tiles

REFERENCE, _ = TELLINGS = [load("reference"), load("compiled")]
TOLERANCE = {np.float64: 1e-12, np.float32: 1e-5}


def planted(matrix, seed, width=None, dtype=np.float64):
    """Rows in which about a third is used, as arrays and as lists; and words."""
    rng = np.random.default_rng(seed)
    width = width or int(rng.integers(1, 40))
    rows = simplex_rows(rng, matrix.shape[0], width) * (rng.random((matrix.shape[0], width)) < 0.3)
    rows[np.arange(len(rows)), rng.integers(width, size=len(rows))] += 0.1
    rows = (rows / rows.sum(axis=1, keepdims=True)).astype(dtype)
    words = np.ascontiguousarray(simplex_rows(rng, width, matrix.shape[1]).T).astype(dtype)
    if rng.random() < 0.5:  # a word that no component can produce
        words[rng.integers(matrix.shape[1])] = 0
    return rows, lists(rows), words


def lists(rows):
    sizes = np.count_nonzero(rows, axis=1)
    ends = np.append(0, np.cumsum(-(-sizes // 8)))
    components, values = np.zeros((ends[-1], 8), np.uint16), np.zeros((ends[-1], 8), rows.dtype)
    for d, row in enumerate(rows):
        used = np.flatnonzero(row)
        components.reshape(-1)[8 * ends[d] :][: len(used)] = used
        values.reshape(-1)[8 * ends[d] :][: len(used)] = row[used]
    return Active(ends, components, values)


def whole(active, width):
    rows = np.zeros((len(active.ends) - 1, width))
    for d in range(len(rows)):
        lanes = slice(active.ends[d], active.ends[d + 1])
        np.add.at(rows[d], active.components[lanes].ravel(), active.values[lanes].ravel())
    return rows


def swept(kernels, matrix, active, words, size):
    """Document counts as lists, mixtures by word, and word counts."""
    tiles = Tiles.of(Side.of(matrix, words.dtype), matrix.shape[1], size)
    out, mixture = np.full_like(active.values, np.nan), np.full(matrix.nnz, np.nan, words.dtype)
    for t, indptr in enumerate(tiles.indptr):
        part = active._replace(ends=active.ends[tiles.starts[t] : tiles.starts[t + 1] + 1])
        kernels.active_document_counts(indptr, tiles.indices, tiles.data, part, words, out, mixture)
    word_count = np.full_like(words, np.nan)
    kernels.active_word_counts(
        tiles.indptr, tiles.starts, tiles.indices, tiles.data, mixture, active, words, word_count
    )
    return active._replace(values=out), mixture, word_count


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("telling", TELLINGS, ids=lambda kernels: kernels.name)
@given(matrix=counts(max_docs=12, max_words=20), seed=st.integers(0, 10**6), size=st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_sweeps_are_the_whole_sweeps_at_rows_with_zeros(telling, dtype, matrix, seed, size):
    rows, active, words = planted(matrix, seed, dtype=dtype)
    exact_rows, exact_words = rows.astype(np.float64), words.astype(np.float64)
    expected, mixture = np.empty_like(exact_rows), np.empty(matrix.nnz)
    REFERENCE.document_counts(matrix.indptr, matrix.indices, matrix.data, exact_rows, exact_words, expected, mixture)
    tiles = Tiles.of(Side.of(matrix), matrix.shape[1], size)
    word_count = np.empty_like(exact_words)
    REFERENCE.word_counts(tiles.indptr, tiles.starts, tiles.indices, tiles.data, exact_words, exact_rows, word_count)
    found, mixtures, found_words = swept(telling, matrix, active, words, size)
    close = {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype] * 1e-2}
    np.testing.assert_allclose(whole(found, rows.shape[1]), expected, **close)
    np.testing.assert_allclose(found_words, word_count, **close)
    np.testing.assert_allclose(np.sort(mixtures), np.sort(mixture), rtol=TOLERANCE[dtype])


def test_long_columns_are_added_run_by_run():
    """More documents with a word than a run holds."""
    rng = np.random.default_rng(0)
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(rng.poisson(2.0, (3 * 256 + 7, 3)).astype(np.float64))
    _, active, words = planted(matrix, 1, width=20)
    slow, fast = (swept(kernels, matrix, active, words, 300) for kernels in TELLINGS)
    np.testing.assert_allclose(fast[2], slow[2], rtol=1e-12)
    np.testing.assert_allclose(fast[0].values, slow[0].values, rtol=1e-12)


@given(matrix=counts(max_docs=8, max_words=12), seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_gains_and_who_comes_back_agree(matrix, seed):
    rows, active, words = planted(matrix, seed)
    results = []
    for kernels in TELLINGS:
        every = np.full(rows.shape, np.nan)
        kernels.active_gains(matrix.indptr, matrix.indices, matrix.data, active, words, every)
        out, gains = np.full((len(rows), 8), 9, np.uint16), np.full((len(rows), 8), np.nan)
        kernels.active_entrants(matrix.indptr, matrix.indices, matrix.data, active, words, 1.05, out, gains)
        results.append((every, gains, out))
    np.testing.assert_allclose(results[1][0], results[0][0], rtol=1e-12)
    np.testing.assert_allclose(results[1][1], results[0][1], rtol=1e-12)
    for d in range(len(rows)):
        some = results[1][2][d][results[1][1][d] > 0]
        assert not rows[d, some].any()
        assert len(set(some.tolist())) == len(some)


@given(matrix=counts(max_docs=8, max_words=6), seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_keeping_and_normalising_agree(matrix, seed):
    rows, active, _ = planted(matrix, seed)
    rng = np.random.default_rng(seed)
    before = active.values * rng.uniform(0.5, 1.5, active.values.shape)
    least, ahead = rng.uniform(0, 0.2, len(rows)), active.values * 2
    kept = []
    for kernels in TELLINGS:
        sizes = np.zeros(len(rows), np.int64)
        kernels.count_used(active, before, least, sizes)
        ends = np.append(0, np.cumsum(-(-sizes // 8)))
        out = Active(ends, np.full((ends[-1], 8), 7, np.uint16), np.full((ends[-1], 8), np.nan))
        kernels.keep_used(active, before, least, ahead, out)
        values = out.values.copy()
        kernels.normalise_active(ends, values, values)
        kept.append((sizes, out.ends, out.components, out.values, values))
    for slow, fast in zip(*kept, strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-14)
    wanted = np.where(
        (rows >= least[:, None]) | (whole(active._replace(values=before), rows.shape[1]) <= rows), rows, 0
    )
    np.testing.assert_array_equal(whole(Active(*kept[1][1:4]), rows.shape[1]), 2 * wanted)


@pytest.mark.parametrize("telling", TELLINGS, ids=lambda kernels: kernels.name)
def test_a_document_of_nothing_keeps_what_it_had(telling):
    counts, before = np.zeros((2, 8)), np.full((2, 8), 0.125)
    counts[1, 3] = 2.0
    telling.normalise_active(np.array([0, 1, 2]), counts, before)
    np.testing.assert_array_equal(counts[0], before[0])
    assert counts[1, 3] == 1.0
