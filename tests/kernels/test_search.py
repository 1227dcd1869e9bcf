"""Tests that both backends of the search kernels agree, for all documents and for blocks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import counts, simplex_rows
from topiarist.kernels import load
from topiarist.kernels.search import STRETCH, Postings, QueryVectors, Runs

FAST, SLOW = load("compiled"), load("reference")


def case(matrix, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    n_docs, n_words = matrix.shape
    by_word = matrix.tocsc()
    postings = Postings(by_word.indptr.astype(np.int64), by_word.indices.astype(np.int32), by_word.data.astype(dtype))
    words = np.sort(rng.choice(n_words, rng.integers(1, n_words + 1), replace=False)).astype(np.int64)
    meet, mixture = (rng.random((len(words), 3)).astype(dtype) for _ in range(2))
    mixture[rng.integers(len(words))] *= rng.integers(2)  # a word that the model cannot produce
    query = QueryVectors(
        words, meet, mixture, rng.random(3).astype(dtype) if rng.random() < 0.7 else np.empty(0, dtype)
    )
    rows, topical = simplex_rows(rng, n_docs, 3).astype(dtype), simplex_rows(rng, n_docs, 3).astype(dtype)
    return postings, query, rows, topical, rng.random((n_docs, 2))


@given(matrix=counts(), seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_scores_match_reference(matrix, seed):
    postings, query, rows, topical, scales = case(matrix, seed)
    fast, slow, pieces = np.zeros(len(rows)), np.zeros(len(rows)), np.zeros(len(rows))
    FAST.score_by_kernel(postings, query, rows, topical, scales, 0, fast)
    SLOW.score_by_kernel(postings, query, rows, topical, scales, 0, slow)
    np.testing.assert_allclose(fast, slow, rtol=1e-12)
    for start in range(0, len(rows), 3):
        span = slice(start, min(start + 3, len(rows)))
        FAST.score_by_kernel(postings, query, rows[span], topical[span], scales[span], start, pieces[span])
    np.testing.assert_array_equal(pieces, fast)
    pieces[:] = 0
    for start in range(0, len(rows), 3):
        span = slice(start, min(start + 3, len(rows)))
        SLOW.score_by_kernel(postings, query, rows[span], topical[span], scales[span], start, pieces[span])
    np.testing.assert_allclose(pieces, slow, rtol=1e-12)


@given(matrix=counts(), seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_word_scores_and_lengths_match_reference(matrix, seed):
    postings, query, rows, _, scales = case(matrix, seed)
    rng = np.random.default_rng(seed)
    fast, slow = np.zeros(len(rows)), np.zeros(len(rows))
    for kernels, out in ((FAST, fast), (SLOW, slow)):
        kernels.score_words(postings, query.words, np.ones(len(query.words)), scales[:, 0] + 0.1, 0, out)
    np.testing.assert_allclose(fast, slow, rtol=1e-12)
    other, squares = simplex_rows(rng, matrix.shape[1], 3), simplex_rows(rng, matrix.shape[1], 3)
    other[rng.integers(len(other))] *= rng.integers(2)
    for kernels, out in ((FAST, fast), (SLOW, slow)):
        kernels.lexical_lengths(matrix.indptr, matrix.indices, matrix.data, rows, other, squares, out)
    np.testing.assert_allclose(fast, slow, rtol=1e-12)


@given(matrix=counts(), seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_path_lengths_match_reference(matrix, seed):
    rng = np.random.default_rng(seed)
    n_docs, n_words = matrix.shape
    rows = simplex_rows(rng, n_docs, 4) ** rng.integers(1, 12)  # high powers leave classes that hold next to nothing
    rows /= rows.sum(axis=1, keepdims=True)
    mix = simplex_rows(rng, 4, 6) * (rng.random((4, 6)) < 0.6)
    words = simplex_rows(rng, n_words, 6)
    words[rng.integers(n_words)] *= rng.integers(2)
    fast, slow = np.zeros(n_docs), np.zeros(n_docs)
    for kernels, out in ((FAST, fast), (SLOW, slow)):
        kernels.path_lengths(matrix.indptr, matrix.indices, matrix.data, rows, words @ mix.T, mix, words, out)
    np.testing.assert_allclose(fast, slow, rtol=1e-6)


@given(matrix=counts(), seed=st.integers(0, 10**6), times=st.sampled_from([1, 40]))
@settings(max_examples=40, deadline=None)
def test_count_cooccurrences_matches_matrix_product(matrix, seed, times):
    by_word, rng = matrix.tocsc(), np.random.default_rng(seed)
    words = rng.integers(0, matrix.shape[1], times * rng.integers(1, 4)).astype(np.int64)  # more than 64, some twice
    fast, slow = np.zeros((2, len(words), len(words)), np.int64)
    for kernels, out in ((FAST, fast), (SLOW, slow)):
        kernels.count_cooccurrences(by_word.indptr.astype(np.int64), by_word.indices, words, matrix.shape[0], out)
    np.testing.assert_array_equal(fast, slow)
    has = (matrix.toarray() > 0)[:, words].astype(int)
    np.testing.assert_array_equal(slow, has.T @ has)


def test_count_cooccurrences_across_blocks():
    from topiarist.kernels.search.compiled import LISTED_DOCUMENTS

    n_docs = 2 * LISTED_DOCUMENTS + 5
    docs = np.concatenate([np.arange(0, n_docs, 2), np.arange(0, n_docs, 3)]).astype(np.int32)
    ends = np.array([0, len(range(0, n_docs, 2)), len(docs)], np.int64)
    out = np.zeros((2, 2), np.int64)
    FAST.count_cooccurrences(ends, docs, np.arange(2), n_docs, out)
    n_both, two, three = (len(range(0, n_docs, step)) for step in (6, 2, 3))
    assert out.tolist() == [[two, n_both], [n_both, three]]


def runs_of(matrix, rng):
    """The columns of counts as runs, some of them as forms of one word."""
    by_word = matrix.tocsc()
    docs, times = by_word.indices.astype(np.int32), np.minimum(by_word.data, 255).astype(np.uint8)
    starts, stops = (ends.astype(np.int64) for ends in (by_word.indptr[:-1], by_word.indptr[1:]))
    words = np.cumsum(np.append(0, rng.random(matrix.shape[1] - 1) < 0.6)).astype(np.int64)
    return Runs(docs, times, starts, stops, words)


@given(matrix=counts(), seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_add_word_scores_sums_all_forms(matrix, seed):
    rng, n_docs = np.random.default_rng(seed), matrix.shape[0]
    runs = runs_of(matrix, rng)
    weights, norms = rng.random(runs.words[-1] + 1), rng.random(n_docs).astype(np.float32) + 0.1
    base, cut = rng.random(n_docs).astype(np.float32), int(rng.integers(n_docs + 1))
    sums_of_parts = []
    for kernels in (FAST, SLOW):
        out, sums = np.zeros(n_docs, np.float32), np.zeros((2, 4))
        for part, scores in zip((slice(0, cut), slice(cut, n_docs)), sums, strict=True):
            peaks = np.zeros(-(-len(out[part]) // STRETCH), np.float32)
            kernels.add_word_scores(
                runs, weights, norms[part], part.start, base[part], STRETCH, out[part], peaks, scores
            )
            stretches = range(0, len(out[part]), STRETCH)
            assert peaks.tolist() == [out[part][start : start + STRETCH].max() for start in stretches]
        sums_of_parts.append((out, sums.sum(axis=0)))
    for fast, slow in zip(*sums_of_parts, strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-5)
    assert sums_of_parts[0][1][3] == matrix.nnz
    assert sums_of_parts[0][1][0] == np.count_nonzero(sums_of_parts[0][0] > 0)


def test_add_word_scores_across_blocks():
    from topiarist.kernels.search.compiled import ROWS_PER_PASS

    n_docs = 2 * ROWS_PER_PASS + 5
    docs = [np.arange(step, n_docs, step, dtype=np.int32) for step in (2, 3, 5)]
    ends = np.cumsum([0, *map(len, docs)])
    runs = Runs(np.concatenate(docs), np.ones(ends[-1], np.uint8), ends[:-1], ends[1:], np.array([0, 0, 1]))
    norms, empty, out = np.ones(n_docs, np.float32), np.zeros(n_docs, np.float32), np.empty(n_docs, np.float32)
    sums = np.zeros(4)
    FAST.add_word_scores(
        runs, np.array([1.0, 4.0]), norms, 0, empty, STRETCH, out, np.zeros(n_docs // STRETCH + 1, np.float32), sums
    )
    numbers = np.arange(n_docs)
    counts_of_word = (numbers % 2 == 0).astype(float) + (numbers % 3 == 0)
    expected = counts_of_word / (counts_of_word + 1) + 2.0 * (numbers % 5 == 0)
    expected[0] = 0
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    assert sums[3] == ends[-1]


@pytest.mark.parametrize("docs", [[-3, 1], [1, 9], [1 << 30, 2]])
def test_add_word_scores_ignores_invalid_documents(docs):
    runs = Runs(
        np.array(docs, np.int32), np.ones(2, np.uint8), np.array([0]), np.array([2]), np.array([0])
    )  # fmt: skip
    out, sums, single = np.zeros(5, np.float32), np.zeros(4), np.ones(5, np.float32)
    for kernels in (FAST, SLOW):
        peaks = np.zeros(1, np.float32)
        kernels.add_word_scores(runs, np.ones(1), single, 0, np.zeros(5, np.float32), STRETCH, out, peaks, sums)
        assert sums[3] < 2


def test_unpack_rows_matches_reference():
    byte_rows = np.random.default_rng(0).integers(0, 256, (50, 7)).astype(np.uint8)
    byte_rows[3] = 0
    fast, slow = np.ones((2, *byte_rows.shape), np.float32)
    FAST.unpack_rows(byte_rows, fast)
    SLOW.unpack_rows(byte_rows, slow)
    np.testing.assert_allclose(fast, slow, rtol=1e-6)
    assert not fast[3].any()


def test_score_half_vectors_reads_every_number():
    halves = np.arange(1 << 16, dtype=np.uint16)
    finite = halves[np.isfinite(halves.view(np.float16))][:, None]
    for weight in (1.0, -0.37, 1e-3):
        fast, slow = np.zeros(len(finite), np.float32), np.zeros(len(finite), np.float32)
        for kernels, out in ((FAST, fast), (SLOW, slow)):
            kernels.score_half_vectors(finite, np.array([weight], np.float32), out)
        np.testing.assert_array_equal(fast, slow)


def test_score_half_vectors_matches_reference_in_slices():
    rng = np.random.default_rng(0)
    halves = rng.standard_normal((50, 67)).astype(np.float16).view(np.uint16)
    halves[3] = 0
    direction = rng.standard_normal(67).astype(np.float32)
    fast, slow, pieces = (np.ones(50, np.float32) for _ in range(3))
    FAST.score_half_vectors(halves, direction, fast)
    SLOW.score_half_vectors(halves, direction, slow)
    FAST.score_half_vectors(halves[:20], direction, pieces[:20])
    FAST.score_half_vectors(halves[20:], direction, pieces[20:])
    np.testing.assert_allclose(fast, slow, atol=1e-5)
    np.testing.assert_array_equal(pieces, fast)
    assert fast[3] == 0.0


def test_score_byte_vectors_matches_reference():
    rng = np.random.default_rng(0)
    places = rng.integers(-127, 128, (50, 100)).astype(np.int8)
    direction = rng.standard_normal(100).astype(np.float32)
    fast, slow = (np.ones(50, np.float32) for _ in range(2))
    FAST.score_byte_vectors(places, direction, fast)
    SLOW.score_byte_vectors(places, direction, slow)
    np.testing.assert_allclose(fast, slow, rtol=1e-4, atol=1e-3)


def test_scores_ignore_documents_outside_block():
    docs = np.array([-3, 1, -1, 7, 900, 2, -(2**31)], np.int32)  # of one word, in no order, some of nobody
    postings = Postings(np.array([0, len(docs)], np.int64), docs, np.ones(len(docs)))
    rows, query = np.ones((4, 1)), QueryVectors(np.array([0]), np.ones((1, 1)), np.ones((1, 1)), np.empty(0))
    for start in (0, 1, 2):
        memory = np.zeros(64)
        FAST.score_by_kernel(postings, query, rows, rows, np.ones((4, 2)), start, memory[30:34])
        FAST.score_words(postings, np.array([0]), np.ones(1), np.ones(4), start, memory[30:34])
        assert not memory[:30].any()
        assert not memory[34:].any()
