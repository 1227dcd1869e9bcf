"""Words of texts with repeated lines."""

import numpy as np

from topiarist.collection.describe.text_levels import mark_uncounted


def test_words_of_repeated_lines_have_no_column():
    rng = np.random.default_rng(0)
    starts = np.cumsum(rng.integers(1, 9, 500)).tolist()
    tokens = [("word", start, start + 1, number) for number, start in enumerate(starts)]
    edges = np.sort(rng.choice(starts[-1], 80, replace=False)).tolist()
    repeated = list(zip(edges[::2], edges[1::2], strict=True))
    expected = [
        (word, start, end, None if any(first <= start < last for first, last in repeated) else column)
        for word, start, end, column in tokens
    ]
    assert list(mark_uncounted(tokens, repeated)) == expected
    assert {column is None for *_, column in expected} == {True, False}
