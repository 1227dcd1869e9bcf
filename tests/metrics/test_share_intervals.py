"""Shares of topics in groups: intervals that hold the truth as often as they say, whatever the documents tell."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from topiarist.errors import InputError
from topiarist.metrics.share_intervals import (
    compute_beta_interval,
    compute_group_shares,
    compute_known_shares,
    compute_ratios,
    select_discoveries,
)

CLASSES, PERIODS, WORDS = 6, 8, 40


def simulated(rng, documents, length):
    """P(class | document) of documents of so many words, by their own model; their groups, and the true shares."""
    words = rng.dirichlet(np.full(WORDS, 0.2), CLASSES)
    truth = rng.dirichlet(20 * rng.dirichlet(np.full(CLASSES, 2.0)), PERIODS)
    groups = rng.integers(0, PERIODS, documents)
    classes = (rng.random(documents)[:, None] > truth[groups].cumsum(axis=1)[:, :-1]).sum(axis=1)
    counts = rng.multinomial(length, words[classes])
    likelihood = counts @ np.log(np.maximum(words.T, 1e-30))
    likelihood = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    prior = np.full(CLASSES, 1 / CLASSES)
    for _ in range(200):
        posterior = likelihood * prior / (likelihood @ prior)[:, None]
        prior = posterior.mean(axis=0)
    return posterior, groups, truth


MEMBERS = np.column_stack([np.eye(CLASSES), np.arange(CLASSES) < 3])  # six topics, and one that has three of them


@pytest.mark.parametrize(("documents", "length"), [(1_600, 1), (800, 3), (800, 30)])
def test_share_intervals_have_nominal_coverage(documents, length):
    rng, held = np.random.default_rng(0), []
    for _ in range(25):
        posterior, groups, truth = simulated(rng, documents, length)
        result = compute_group_shares(csr_array(posterior), groups, PERIODS, MEMBERS)
        held.append((result.low <= truth @ MEMBERS) & (truth @ MEMBERS <= result.high))
    assert 0.93 <= np.mean(held) <= 0.97


def test_mean_of_posteriors_lacks_coverage():
    """Short documents are pulled towards the whole collection: that is why groups have shares of their own."""
    rng, held = np.random.default_rng(0), []
    for _ in range(20):
        posterior, groups, truth = simulated(rng, 1_600, 1)
        mean = np.stack([posterior[groups == group].mean(axis=0) for group in range(PERIODS)])
        low, high = compute_beta_interval(mean, np.bincount(groups)[:, None].astype(float))
        held.append((low <= truth) & (truth <= high))
    assert np.mean(held) < 0.8


@pytest.mark.parametrize("documents", [60, 600])
def test_mixture_intervals_have_nominal_coverage(documents):
    rng, held = np.random.default_rng(1), []
    for _ in range(100):
        truth = rng.dirichlet(20 * rng.dirichlet(np.full(CLASSES, 2.0)), PERIODS)
        groups = rng.integers(0, PERIODS, documents)
        shares = np.stack([rng.dirichlet(5 * truth[group] + 1e-3) for group in groups])
        expected = (5 * truth + 1e-3) / (5 + CLASSES * 1e-3)
        result = compute_group_shares(csr_array(shares), groups, PERIODS, np.eye(CLASSES), is_mixture=True)
        held.append((result.low <= expected) & (expected <= result.high))
    assert 0.93 <= np.mean(held) <= 0.97


def test_ratio_intervals_have_nominal_coverage():
    rng, held = np.random.default_rng(2), []
    for _ in range(60):
        posterior, groups, truth = simulated(rng, 1_600, 3)
        result = compute_group_shares(csr_array(posterior), groups, PERIODS, np.eye(CLASSES))
        many = compute_ratios(result.group(0), result.group(1))
        held.append((many.low[0] <= truth[0] / truth[1]) & (truth[0] / truth[1] <= many.high[0]))
    assert 0.93 <= np.mean(held) <= 0.97


def test_certain_documents_count_fully():
    shares = csr_array(np.eye(2)[[0, 0, 1, 1, 1, 1]])
    result = compute_group_shares(shares, np.array([0, 0, 0, 1, 1, -1]), 3, np.eye(2))
    np.testing.assert_allclose(result.share[:2], [[2 / 3, 1 / 3], [0, 1]], atol=1e-6)
    np.testing.assert_allclose(result.effective_documents[:2], [[3, 3], [2, 2]], atol=1e-6)
    assert result.documents.tolist() == [3, 2, 0]
    assert (result.high[2] - result.low[2] == 1).all()  # nothing is known of a group without documents
    low, high = compute_beta_interval(np.array([1 / 3]), np.array([3.0]))
    assert (result.low[0, 1], result.high[0, 1]) == pytest.approx((low[0], high[0]))


def test_uniform_posteriors_have_no_information():
    result = compute_group_shares(csr_array(np.full((50, 2), 0.5)), np.zeros(50, int), 1, np.eye(2))
    assert (result.effective_documents < 1e-6).all()
    assert result.high[0, 0] - result.low[0, 0] > 0.99


def test_documents_without_class_have_no_topic():
    result = compute_group_shares(csr_array(np.array([[1.0, 0], [0, 0]])), np.zeros(2, int), 1, np.eye(2))
    np.testing.assert_allclose(result.share, [[0.5, 0.0]])


def test_group_shares_reject_wrong_groups():
    with pytest.raises(InputError, match="expected a group for each of 3 documents"):
        compute_group_shares(csr_array(np.ones((3, 2)) / 2), np.zeros(2, int), 1, np.eye(2))


def test_select_discoveries_limits_false_ones():
    rng, false, messages = np.random.default_rng(0), 0, 0
    for _ in range(200):
        chances = rng.random(100)
        chances[:20] *= 1e-4
        result = select_discoveries(chances)
        false, messages = false + result[20:].sum(), messages + result.sum()
    assert 0 < false / messages < 0.06
    assert not select_discoveries(np.array([0.5, 0.9])).any()


def test_known_shares_have_binomial_intervals():
    result = compute_known_shares(np.array([[3, 0]]), 10)
    assert result.share.tolist() == [[0.3, 0.0]]
    assert result.low[0, 1] == 0
    assert 0.1 < result.high[0, 1] < 0.3
