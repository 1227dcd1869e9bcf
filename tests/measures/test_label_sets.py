"""Figures about sets of labels: against the definition, and against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_matrix, csr_array
from sklearn.metrics import f1_score

from topiarist.errors import InputError
from topiarist.metrics import example_f1


def test_by_hand():
    true = [[1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 0]]
    found = [[1, 0, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0]]
    assert example_f1(true, found) == pytest.approx((2 / 3 + 1 + 0 + 1) / 4)


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_is_scikit_learns_for_every_kind_of_matrix(seed):
    rng = np.random.default_rng(seed)
    true, found = (rng.random((2, 7, 4)) < 0.4).astype(int)
    expected = f1_score(true, found, average="samples", zero_division=1)
    assert example_f1(true, found) == pytest.approx(expected)
    assert example_f1(csr_array(true), csc_matrix(found)) == pytest.approx(expected)
    assert example_f1(true.astype(bool), found.astype(float)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("true", "found", "message"),
    [
        ([[1, 0]], [[1, 0, 0]], "must have the same shape"),
        ([[1, 2]], [[1, 0]], "nothing but 0 and 1"),
        ([[1, np.nan]], [[1, 0]], "nothing but 0 and 1"),
        ([["a"]], [["b"]], "must be an indicator matrix"),
        ([1, 0], [1, 0], "must be an indicator matrix"),
        ([[1], [1, 0]], [[1], [0]], "must be an indicator matrix"),
    ],
)
def test_what_is_not_an_indicator_is_refused(true, found, message):
    with pytest.raises(InputError, match=message) as caught:
        example_f1(true, found)
    assert "MultiLabelBinarizer" in caught.value.hint
