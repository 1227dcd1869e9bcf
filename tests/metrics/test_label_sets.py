"""Figures about sets of labels: against the definition, and against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_matrix, csr_array
from sklearn.metrics import f1_score

from topiarist.errors import InputError
from topiarist.metrics import example_f1


def test_example_f1_matches_hand_computed_value():
    true = [[1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 0]]
    result = [[1, 0, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0]]
    assert example_f1(true, result) == pytest.approx((2 / 3 + 1 + 0 + 1) / 4)


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_example_f1_matches_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    true, result = (rng.random((2, 7, 4)) < 0.4).astype(int)
    expected = f1_score(true, result, average="samples", zero_division=1)
    assert example_f1(true, result) == pytest.approx(expected)
    assert example_f1(csr_array(true), csc_matrix(result)) == pytest.approx(expected)
    assert example_f1(true.astype(bool), result.astype(float)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("true", "result", "message"),
    [
        ([[1, 0]], [[1, 0, 0]], "must have the same shape"),
        ([[1, 2]], [[1, 0]], "only 0 and 1"),
        ([[1, np.nan]], [[1, 0]], "only 0 and 1"),
        ([["a"]], [["b"]], "must be an indicator matrix"),
        ([1, 0], [1, 0], "must be an indicator matrix"),
        ([[1], [1, 0]], [[1], [0]], "must be an indicator matrix"),
    ],
)
def test_example_f1_rejects_other_matrices(true, result, message):
    with pytest.raises(InputError, match=message) as caught:
        example_f1(true, result)
    assert "MultiLabelBinarizer" in caught.value.hint
