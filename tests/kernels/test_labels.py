"""The verbs for labels: both backends have the same signatures and the same answers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topiarist.kernels import load
from topiarist.kernels.labels import EXCLUDED_WEIGHT

FIRST, SECOND = load("reference"), load("compiled")


@given(st.integers(0, 10**6), st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_label_kernels_match_reference(seed, size):
    rng = np.random.default_rng(seed)
    ends = np.sort(np.append([0, size], rng.integers(0, size + 1, 3)))
    stored, default = rng.random(size), rng.random(4)
    stored[ends[1] : ends[2]] = default[1] = 0  # a label of nothing
    answers = []
    for verbs in (FIRST, SECOND):
        copies, rest = stored.copy(), default.copy()
        verbs.normalise_labels(ends, 0, 4, copies, rest, size + 3)
        for label in range(4):
            width = ends[label + 1] - ends[label]
            assert copies[ends[label] : ends[label + 1]].sum() + (size + 3 - width) * rest[label] == pytest.approx(1)
        out = np.empty(size)
        answers.append((copies, rest, verbs.extrapolate_change(stored, copies, 1.7, out), out))
        assert verbs.extrapolate_change(stored, copies, 1.7, np.empty(0)) == answers[-1][2]
    for slow, fast in zip(*answers, strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-12)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@given(seed=st.integers(0, 10**6), second=st.booleans())
@settings(max_examples=20, deadline=None)
def test_choose_labels_matches_reference_with_weights(kind, seed, second):
    rng = np.random.default_rng(seed)
    n_words, n_labels = 12, int(rng.integers(1, 6))
    counts = (rng.poisson(0.7, (5, n_words)) * rng.choice([1, 1.5, 9], (5, n_words))).astype(kind)
    indices, indptr = np.nonzero(counts)[1].astype(np.int32), np.append(0, np.cumsum((counts > 0).sum(axis=1)))
    bias = rng.uniform(0.2, 0.8, (n_labels, n_labels))
    bias = bias / (bias + bias.T) if second else np.empty((0, 0))
    worth = rng.normal(size=n_labels)
    worth[1:][rng.random(n_labels - 1) < 0.3] = EXCLUDED_WEIGHT
    words = np.ascontiguousarray(rng.dirichlet(np.full(n_words, 0.5), n_labels).T)
    answers = []
    for verbs in (FIRST, SECOND):
        ranks, gains = np.full((5, n_labels), -1, np.int32), np.full((5, n_labels), np.nan)
        verbs.choose_labels(indptr.astype(np.int32), indices, counts[counts > 0], words, bias, worth, ranks, gains)
        answers.append((ranks, gains))
    np.testing.assert_array_equal(answers[0][0], answers[1][0])
    np.testing.assert_allclose(answers[0][1], answers[1][1], rtol=1e-9, atol=1e-9)
