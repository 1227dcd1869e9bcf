"""In how many documents two words meet, against a count by hand."""

import numpy as np
from scipy.sparse import csr_array

from topiarist.models.word_meetings import WordMeetings


def test_documents_with_both_words_are_counted_once():
    counts = csr_array(np.array([[2, 0, 1], [1, 3, 0], [0, 0, 0], [5, 1, 1]]))
    meetings = WordMeetings.of(counts)
    assert meetings.n_docs == 4
    assert meetings.among([0, 1, 2]).tolist() == [[3, 2, 2], [2, 2, 1], [2, 1, 2]]
    assert meetings.among([2, 0]).tolist() == [[2, 2], [2, 3]], "in the order that is asked for"
    assert meetings.among([]).shape == (0, 0)
