"""Counts that are looked at in pieces are as if they were looked at in one go."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import counts
from topiarist.counts import scratch
from topiarist.counts.chunks import CountChunk, merge_chunks
from topiarist.counts.pruning import build_vocabulary, select_words


@given(matrix=counts(), seed=st.integers(0, 10**6), rows=st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_columns_and_sums_of_pieces(matrix, seed, rows):
    keep = np.random.default_rng(seed).random(matrix.shape[1]) < 0.6
    words = tuple(f"w{column:03}" for column in range(matrix.shape[1]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scratch, "ROWS_PER_RUN", rows)
        patch.setattr(scratch, "ENTRIES_PER_RUN", rows)
        vocabulary = build_vocabulary(matrix, words)
        chosen, fewer = select_words(matrix, vocabulary, keep)
    dense = matrix.toarray()
    np.testing.assert_array_equal(vocabulary.document_frequency, (dense > 0).sum(axis=0))
    np.testing.assert_array_equal(vocabulary.totals, dense.sum(axis=0).astype(np.int64))
    np.testing.assert_array_equal(chosen.toarray(), dense[:, keep])
    assert fewer.words == tuple(np.array(words)[keep])
    assert chosen.has_sorted_indices


def test_chunks_are_let_go_when_they_have_their_place():
    def chunk(words, lengths, indices, data):
        return CountChunk(words, np.array(lengths), np.array(indices, np.int32), np.array(data, np.int32))

    chunks = [chunk(["a", "c"], [2, 0], [0, 1], [3, 1]), chunk(["b"], [1], [0], [2]), chunk([], [0], [], [])]
    found, words = merge_chunks(chunks)
    assert words == ("a", "b", "c")
    np.testing.assert_array_equal(found.toarray(), [[3, 0, 1], [0, 0, 0], [0, 2, 0], [0, 0, 0]])
    assert chunks == []
    nothing, no_words = merge_chunks([])
    assert (nothing.shape, no_words) == ((0, 0), ())
