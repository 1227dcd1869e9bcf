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
    [(documents, by_word)] = both.tiles
    assert documents == slice(0, 2)
    assert by_word.data.tolist() == [3, 2, 1]
    assert by_word.indices.tolist() == [1, 0, 0]
    assert both.rows.data.dtype == by_word.data.dtype == np.float32
    assert both.word_totals().tolist() == [3, 2, 1]


def test_tiles_cover_the_documents_and_shrink_with_the_number_of_components(monkeypatch):
    monkeypatch.setattr(shard, "SMALLEST_TILE", 2)
    monkeypatch.setattr(shard, "TILE_BYTES", 800)
    matrix = csr_matrix(np.random.default_rng(0).poisson(1.0, (25, 6)))
    few = Shard.of(matrix, np.float64, n_components=10)
    assert [(tile.start, tile.stop) for tile, _ in few.tiles] == [(0, 10), (10, 20), (20, 25)]
    assert len(Shard.of(matrix, np.float32, n_components=10).tiles) == 2
    dense = np.vstack([csr_like(side, tile).toarray().T for tile, side in few.tiles])
    assert np.array_equal(dense, matrix.toarray())


def csr_like(side, tile):
    return csr_matrix((side.data, side.indices, side.indptr), shape=(side.n_rows, tile.stop - tile.start))


def test_what_has_the_right_type_is_shared():
    matrix = csr_matrix(np.eye(3, dtype=np.float32))
    side = Side.of(matrix, np.float32)
    assert np.shares_memory(side.data, matrix.data)
    assert np.shares_memory(side.indices, matrix.indices)
    assert not np.shares_memory(Side.of(matrix, np.float64).data, matrix.data)


def test_aligned_arrays_begin_on_a_cache_line():
    for make in (shard.aligned_empty, shard.aligned_zeros):
        for shape in ((3, 5), (1000, 64), (0, 4)):
            array = make(shape, np.float32)
            assert array.shape == shape
            assert array.size == 0 or array.ctypes.data % 64 == 0
    assert not shard.aligned_zeros((50, 50), np.float64).any()
