"""In how many documents two words meet, against a count by hand."""

import numpy as np
from scipy.sparse import csr_array

from topiarist.models.word_meetings import Cooccurrence


def test_count_pairs_counts_documents_once():
    counts = csr_array(np.array([[2, 0, 1], [1, 3, 0], [0, 0, 0], [5, 1, 1]]))
    meetings = Cooccurrence.from_counts(counts)
    assert meetings.n_docs == 4
    assert meetings.count_pairs([0, 1, 2]).tolist() == [[3, 2, 2], [2, 2, 1], [2, 1, 2]]
    assert meetings.count_pairs([2, 0]).tolist() == [[2, 2], [2, 3]], "in the order that is asked for"
    assert meetings.count_pairs([]).shape == (0, 0)
