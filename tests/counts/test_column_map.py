import numpy as np
from scipy.sparse import csr_array

from topiarist.counts.column_map import ColumnMap, without_columns
from topiarist.counts.vocabulary import Vocabulary

WORDS = Vocabulary.of(("color", "colour", "grey", "red"))
COUNTS = csr_array(np.array([[1, 2, 0, 1], [0, 0, 3, 0], [4, 0, 0, 0], [0, 0, 0, 0]]))


def test_nothing_said_is_the_same_object():
    assert ColumnMap.of(WORDS, (), {}).apply(COUNTS) is COUNTS
    assert ColumnMap.of(WORDS, ["unknown"], {"unknown": "red", "red": "unknown"}).apply(COUNTS) is COUNTS


def test_united_words_add_up_and_ignored_ones_are_gone():
    map = ColumnMap.of(WORDS, ["grey"], {"color": "colour"})
    found = map.apply(COUNTS)
    assert found.toarray().tolist() == [[0, 3, 0, 1], [0, 0, 0, 0], [0, 4, 0, 0], [0, 0, 0, 0]]
    assert found.nnz == 3
    assert COUNTS.toarray()[0].tolist() == [1, 2, 0, 1]
    assert [map.column(column) for column in (None, 0, 1, 2, 3)] == [None, 1, 1, None, 3]


def test_ignoring_a_word_ignores_its_spellings():
    assert ColumnMap.of(WORDS, ["colour"], {"color": "colour"}).apply(COUNTS).toarray()[:, :2].sum() == 0


def test_columns_left_out():
    assert without_columns(COUNTS, np.array([], int)) is COUNTS
    assert without_columns(COUNTS, np.array([0, 3])).toarray()[0].tolist() == [0, 2, 0, 0]
