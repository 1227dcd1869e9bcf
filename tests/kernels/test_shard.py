"""Cuts cover every row once, whatever the counts look like."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from topiarist.kernels import shard
from topiarist.kernels.shard import CountsView, Shard, cut_evenly


@given(st.lists(st.integers(0, 40_000), min_size=1, max_size=200), st.integers(1, 64))
def test_slices_cover_every_row_once(lengths, pieces):
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    cuts = cut_evenly(indptr, pieces)
    assert cuts[0] == 0
    assert cuts[-1] == len(lengths)
    assert (np.diff(cuts) > 0).all()
    assert len(cuts) - 1 <= max(1, min(pieces, indptr[-1] // shard.MIN_SLICE_NONZEROS))


def test_cut_evenly_balances_work():
    indptr = np.arange(0, 64 * shard.MIN_SLICE_NONZEROS + 1, 16)
    work = np.diff(indptr[cut_evenly(indptr)])
    assert work.max() <= work.min() + 16


def test_shard_has_both_orders():
    matrix = csr_matrix(np.array([[0, 2, 1], [3, 0, 0]]))
    shard_of_matrix = Shard.from_matrix(matrix, np.float32)
    assert shard_of_matrix.shape == (2, 3)
    assert shard_of_matrix.rows.data.tolist() == [2, 1, 3]
    assert shard_of_matrix.words.starts.tolist() == [0, 2]
    assert shard_of_matrix.words.indptr.tolist() == [[0, 1, 2, 3]]
    assert shard_of_matrix.words.data.tolist() == [3, 2, 1]
    assert shard_of_matrix.words.indices.tolist() == [1, 0, 0]
    assert shard_of_matrix.rows.data.dtype == shard_of_matrix.words.data.dtype == np.float32
    assert shard_of_matrix.word_totals().tolist() == [3, 2, 1]


def test_tiles_cover_documents_and_shrink_with_components(monkeypatch):
    monkeypatch.setattr(shard, "MIN_TILE_DOCUMENTS", 2)
    monkeypatch.setattr(shard, "TILE_BYTES", 800)
    matrix = csr_matrix(np.random.default_rng(0).poisson(1.0, (25, 6)))
    small_tiles = Shard.from_matrix(matrix, np.float64, n_components=10)
    assert small_tiles.words.starts.tolist() == [0, 10, 20, 25]
    assert len(Shard.from_matrix(matrix, np.float32, n_components=10).words.starts) == 3
    dense = np.zeros((25, 6))
    for start, ends in zip(small_tiles.words.starts, small_tiles.words.indptr, strict=False):
        for word in range(6):
            span = slice(ends[word], ends[word + 1])
            dense[start + small_tiles.words.indices[span], word] = small_tiles.words.data[span]
    assert np.array_equal(dense, matrix.toarray())
    assert np.array_equal(small_tiles.word_totals(), matrix.toarray().sum(axis=0))


@given(st.integers(1, 40))
def test_word_slices_cover_every_word_once(number):
    matrix = csr_matrix(np.random.default_rng(0).poisson(1.0, (30, 50)))
    pieces = Shard.from_matrix(matrix).words.slices(number)
    assert [word for piece in pieces for word in range(50)[piece]] == list(range(50))


def test_counts_view_shares_data_of_equal_type():
    matrix = csr_matrix(np.eye(3, dtype=np.float32))
    side = CountsView.from_matrix(matrix, np.float32)
    assert np.shares_memory(side.data, matrix.data)
    assert np.shares_memory(side.indices, matrix.indices)
    assert not np.shares_memory(CountsView.from_matrix(matrix, np.float64).data, matrix.data)


def test_allocate_aligned_starts_at_cache_line():
    for shape in ((3, 5), (1000, 64), (0, 4)):
        array = shard.allocate_aligned(shape, np.float32)
        assert array.shape == shape
        assert array.size == 0 or array.ctypes.data % 64 == 0
