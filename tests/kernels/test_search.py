"""Both tellings of the arithmetic of similarity say the same, and score blocks as they score all."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import counts, simplex_rows
from topiarist.kernels import search
from topiarist.kernels.search import Postings, Wanted

FAST, SLOW = search.load("compiled"), search.load("reference")


def case(matrix, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    n_docs, n_words = matrix.shape
    by_word = matrix.tocsc()
    postings = Postings(by_word.indptr.astype(np.int64), by_word.indices.astype(np.int32), by_word.data.astype(dtype))
    words = np.sort(rng.choice(n_words, rng.integers(1, n_words + 1), replace=False)).astype(np.int64)
    meet, mixture = (rng.random((len(words), 3)).astype(dtype) for _ in range(2))
    mixture[rng.integers(len(words))] *= rng.integers(2)  # a word that the model cannot produce
    wanted = Wanted(words, meet, mixture, rng.random(3).astype(dtype) if rng.random() < 0.7 else np.empty(0, dtype))
    rows, topical = simplex_rows(rng, n_docs, 3).astype(dtype), simplex_rows(rng, n_docs, 3).astype(dtype)
    return postings, wanted, rows, topical, rng.random((n_docs, 2))


def test_each_telling_is_what_it_is_called():
    assert (FAST.name, SLOW.name) == ("compiled", "reference")
    assert not hasattr(SLOW.score_words, "py_func")


@pytest.mark.parametrize("verb", [name for name in search.SearchKernels._fields if name != "name"])
def test_same_signature(verb):
    wanted = list(inspect.signature(getattr(SLOW, verb)).parameters)
    assert list(inspect.signature(getattr(FAST, verb).py_func).parameters) == wanted


@given(matrix=counts(), seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_scores_agree(matrix, seed):
    postings, wanted, rows, topical, scales = case(matrix, seed)
    fast, slow, pieces = np.zeros(len(rows)), np.zeros(len(rows)), np.zeros(len(rows))
    FAST.score_meaning(postings, wanted, rows, topical, scales, 0, fast)
    SLOW.score_meaning(postings, wanted, rows, topical, scales, 0, slow)
    np.testing.assert_allclose(fast, slow, rtol=1e-12)
    for start in range(0, len(rows), 3):
        here = slice(start, min(start + 3, len(rows)))
        FAST.score_meaning(postings, wanted, rows[here], topical[here], scales[here], start, pieces[here])
    np.testing.assert_array_equal(pieces, fast)
    pieces[:] = 0
    for start in range(0, len(rows), 3):
        here = slice(start, min(start + 3, len(rows)))
        SLOW.score_meaning(postings, wanted, rows[here], topical[here], scales[here], start, pieces[here])
    np.testing.assert_allclose(pieces, slow, rtol=1e-12)


@given(matrix=counts(), seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_words_and_lengths_agree(matrix, seed):
    postings, wanted, rows, _, scales = case(matrix, seed)
    rng = np.random.default_rng(seed)
    fast, slow = np.zeros(len(rows)), np.zeros(len(rows))
    for kernels, out in ((FAST, fast), (SLOW, slow)):
        kernels.score_words(postings, wanted.words, np.ones(len(wanted.words)), scales[:, 0] + 0.1, 0, out)
    np.testing.assert_allclose(fast, slow, rtol=1e-12)
    other, squares = simplex_rows(rng, matrix.shape[1], 3), simplex_rows(rng, matrix.shape[1], 3)
    other[rng.integers(len(other))] *= rng.integers(2)
    for kernels, out in ((FAST, fast), (SLOW, slow)):
        kernels.lexical_lengths(matrix.indptr, matrix.indices, matrix.data, rows, other, squares, out)
    np.testing.assert_allclose(fast, slow, rtol=1e-12)


def test_every_number_of_half_precision_is_read():
    halves = np.arange(1 << 16, dtype=np.uint16)
    finite = halves[np.isfinite(halves.view(np.float16))][:, None]
    for weight in (1.0, -0.37, 1e-3):
        fast, slow = np.zeros(len(finite), np.float32), np.zeros(len(finite), np.float32)
        for kernels, out in ((FAST, fast), (SLOW, slow)):
            kernels.score_vectors(finite, np.array([weight], np.float32), out)
        np.testing.assert_array_equal(fast, slow)


def test_vectors_score_alike_in_both_tellings_and_in_pieces():
    rng = np.random.default_rng(0)
    halves = rng.standard_normal((50, 67)).astype(np.float16).view(np.uint16)
    halves[3] = 0
    direction = rng.standard_normal(67).astype(np.float32)
    fast, slow, pieces = (np.ones(50, np.float32) for _ in range(3))
    FAST.score_vectors(halves, direction, fast)
    SLOW.score_vectors(halves, direction, slow)
    FAST.score_vectors(halves[:20], direction, pieces[:20])
    FAST.score_vectors(halves[20:], direction, pieces[20:])
    np.testing.assert_allclose(fast, slow, atol=1e-5)
    np.testing.assert_array_equal(pieces, fast)
    assert fast[3] == 0.0


def test_places_score_alike_in_both_tellings():
    rng = np.random.default_rng(0)
    places = rng.integers(-127, 128, (50, 100)).astype(np.int8)
    direction = rng.standard_normal(100).astype(np.float32)
    fast, slow = (np.ones(50, np.float32) for _ in range(2))
    FAST.score_places(places, direction, fast)
    SLOW.score_places(places, direction, slow)
    np.testing.assert_allclose(fast, slow, rtol=1e-4, atol=1e-3)


def test_documents_that_a_damaged_file_names_are_passed_over():
    docs = np.array([-3, 1, -1, 7, 900, 2, -(2**31)], np.int32)  # of one word, in no order, some of nobody
    postings = Postings(np.array([0, len(docs)], np.int64), docs, np.ones(len(docs)))
    rows, wanted = np.ones((4, 1)), Wanted(np.array([0]), np.ones((1, 1)), np.ones((1, 1)), np.empty(0))
    for start in (0, 1, 2):
        memory = np.zeros(64)
        FAST.score_meaning(postings, wanted, rows, rows, np.ones((4, 2)), start, memory[30:34])
        FAST.score_words(postings, np.array([0]), np.ones(1), np.ones(4), start, memory[30:34])
        assert not memory[:30].any()
        assert not memory[34:].any()
