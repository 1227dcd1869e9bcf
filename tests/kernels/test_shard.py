"""Cuts cover every row once, whatever the counts look like."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from topiarist.kernels import shard
from topiarist.kernels.shard import Shard, Side, even_cuts


@given(st.lists(st.integers(0, 40_000), min_size=1, max_size=200), st.integers(1, 64))
def test_pieces_cover_every_row_once(lengths, pieces):
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    cuts = even_cuts(indptr, pieces)
    assert cuts[0] == 0
    assert cuts[-1] == len(lengths)
    assert (np.diff(cuts) > 0).all()
    assert len(cuts) - 1 <= max(1, min(pieces, indptr[-1] // shard.SMALLEST_PIECE))


def test_pieces_are_even():
    indptr = np.arange(0, 64 * shard.SMALLEST_PIECE + 1, 16)
    work = np.diff(indptr[even_cuts(indptr)])
    assert work.max() <= work.min() + 16


def test_shard_indexes_both_ways():
    matrix = csr_matrix(np.array([[0, 2, 1], [3, 0, 0]]))
    both = Shard.of(matrix, np.float32)
    assert both.shape == (2, 3)
    assert both.rows.data.tolist() == [2, 1, 3]
    assert both.words.starts.tolist() == [0, 2]
    assert both.words.indptr.tolist() == [[0, 1, 2, 3]]
    assert both.words.data.tolist() == [3, 2, 1]
    assert both.words.indices.tolist() == [1, 0, 0]
    assert both.rows.data.dtype == both.words.data.dtype == np.float32
    assert both.word_totals().tolist() == [3, 2, 1]


def test_tiles_cover_the_documents_and_shrink_with_the_number_of_components(monkeypatch):
    monkeypatch.setattr(shard, "SMALLEST_TILE", 2)
    monkeypatch.setattr(shard, "TILE_BYTES", 800)
    matrix = csr_matrix(np.random.default_rng(0).poisson(1.0, (25, 6)))
    few = Shard.of(matrix, np.float64, n_components=10)
    assert few.words.starts.tolist() == [0, 10, 20, 25]
    assert len(Shard.of(matrix, np.float32, n_components=10).words.starts) == 3
    dense = np.zeros((25, 6))
    for start, ends in zip(few.words.starts, few.words.indptr, strict=False):
        for word in range(6):
            here = slice(ends[word], ends[word + 1])
            dense[start + few.words.indices[here], word] = few.words.data[here]
    assert np.array_equal(dense, matrix.toarray())
    assert np.array_equal(few.word_totals(), matrix.toarray().sum(axis=0))


@given(st.integers(1, 40))
def test_pieces_of_words_cover_every_word_once(number):
    matrix = csr_matrix(np.random.default_rng(0).poisson(1.0, (30, 50)))
    pieces = Shard.of(matrix).words.pieces(number)
    assert [word for piece in pieces for word in range(50)[piece]] == list(range(50))


def test_what_has_the_right_type_is_shared():
    matrix = csr_matrix(np.eye(3, dtype=np.float32))
    side = Side.of(matrix, np.float32)
    assert np.shares_memory(side.data, matrix.data)
    assert np.shares_memory(side.indices, matrix.indices)
    assert not np.shares_memory(Side.of(matrix, np.float64).data, matrix.data)


def test_aligned_arrays_begin_on_a_cache_line():
    for shape in ((3, 5), (1000, 64), (0, 4)):
        array = shard.aligned_empty(shape, np.float32)
        assert array.shape == shape
        assert array.size == 0 or array.ctypes.data % 64 == 0
