"""What held-out documents got: how often labels were right that were given as clearly."""

import numpy as np
import pytest

from topiarist.collection.classify.predictions import HeldOut


def told_once(score, right):
    """Documents that all have the label 0, and got one label each."""
    n, none = len(score), np.empty((len(score), 0))
    every = np.arange(n)
    return HeldOut(np.array([n, n]), np.array([0]), every, every, np.zeros(n, int), every, np.where(right, 0, 1),
                   score, score, none, none, np.array([0]))  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_a_score_that_says_nothing_leaves_what_is_right_on_the_whole(seed):
    rng = np.random.default_rng(seed)
    score, right = rng.random(1_000), rng.random(1_000) < 0.6
    told = told_once(score, right).estimate_precision(score)
    assert told.mean() == pytest.approx(right.mean(), abs=0.02)
    assert np.median(told) == pytest.approx(right.mean(), abs=0.04)
    assert (np.diff(told[np.argsort(score)]) >= 0).all()


def test_a_score_that_says_all_is_followed():
    rng = np.random.default_rng(0)
    score = rng.random(4_000)
    told = told_once(score, rng.random(4_000) < score).estimate_precision(np.array([0.1, 0.5, 0.9]))
    assert told.tolist() == pytest.approx([0.1, 0.5, 0.9], abs=0.06)
