"""Cuts cover every row once, whatever the counts look like."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from topiarist.kernels import shard
from topiarist.kernels.shard import Shard, even_cuts


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
    assert both.columns.data.tolist() == [3, 2, 1]
    assert both.columns.indices.tolist() == [1, 0, 0]
    assert both.rows.data.dtype == both.columns.data.dtype == np.float32
