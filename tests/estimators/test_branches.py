"""A stream that outgrows its tree: the drift is seen, a branch is proposed, adopted, and filled."""

import numpy as np
import pytest

from topiarist import CAM, HPLSA, Tree
from topiarist.hierarchy.branches import Wanted

OWN = 8
PLANTED = Tree((-1, 0, 0, 1, 1, 2, 2, 2))
ESTIMATORS = [HPLSA(4, random_state=0, topic_mix="heldout"), CAM(4, random_state=0)]


def world(seed, n_docs=6000, share=0.15):
    """Documents of four leaves in two branches; from the middle on some of a fifth leaf, under the second branch."""
    rng = np.random.default_rng(seed)
    words = np.full((8, 8 * OWN), 0.1 / (8 * OWN))
    for node in range(8):
        words[node, node * OWN : (node + 1) * OWN] += 0.9 * rng.dirichlet(np.full(OWN, 5.0))
    words /= words.sum(axis=1, keepdims=True)
    mix = PLANTED.path_mask() / 3
    classes = rng.integers(4, size=n_docs)
    classes[(np.arange(n_docs) >= n_docs // 2) & (rng.random(n_docs) < share)] = 4
    return np.array([rng.multinomial(60, mix[c] @ words) for c in classes]), classes


def streamed(estimator, counts, upto=4200):
    model = type(estimator)(**estimator.get_params()).fit(counts[:400])
    for start in range(400, upto, 200):
        model.partial_fit(counts[start : start + 200])
    return model


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("seed", [2, 3])  # of seed 1 HPLSA takes words of the branch for the new ones
def test_a_new_topic_is_noticed_proposed_adopted_and_filled(estimator, seed):
    counts, classes = world(seed)
    model = streamed(estimator, counts)
    (alarm,) = model.drift().alarms
    assert 13 <= alarm <= 17  # the 14th batch of the stream is the first with the new topic
    quiet, loud = (np.mean([one.misfits for one in part]) for part in (model.stream_[:13], model.stream_[13:]))
    assert loud > 2 * quiet
    (proposal,) = model.propose_branches()
    assert set(proposal.words) == set(range(7 * OWN, 8 * OWN))
    assert proposal.gain > 0.2
    here = model.predict(counts[classes == 2])[0], model.predict(counts[classes == 3])[0]  # of the same branch
    assert proposal.parent in {model.tree_.parents[model.tree_.leaves[leaf]] for leaf in here}
    n_nodes = len(model.tree_)
    assert model.adopt(proposal, "new") is model
    assert model.tree_.names[n_nodes] == "new"
    assert model.propose_branches() == ()
    for start in range(4200, 5400, 200):
        model.partial_fit(counts[start : start + 200])
    found = np.array(model.tree_.leaves)[model.predict(counts[5400:])]
    np.testing.assert_array_equal(found == n_nodes, classes[5400:] == 4)
    assert model.tree_model_.class_prior[model.tree_.leaves.index(n_nodes)] == pytest.approx(0.15, abs=0.06)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_stationary_stream_proposes_nothing(estimator, seed):
    model = streamed(estimator, world(seed, share=0.0)[0])
    assert not model.drift().drifted
    assert model.propose_branches() == ()


def test_a_proposal_can_be_adopted_after_new_words_came():
    counts, _ = world(0)
    model = streamed(ESTIMATORS[0], counts)
    (proposal,) = model.propose_branches(3, Wanted(documents=30))
    assert len(proposal.words) == 3
    model.extend_words(counts.shape[1] + 5).adopt(proposal)
    np.testing.assert_allclose(model.word_given_topic_.sum(axis=1), 1, rtol=1e-6)
    model.partial_fit(np.pad(counts[4200:4400], ((0, 0), (0, 5))))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_a_leaf_takes_its_share_of_what_was_counted(estimator):
    counts, _ = world(0)
    model = streamed(estimator, counts)
    (proposal,) = model.propose_branches()
    before, n_nodes = model._stream.stats, len(model.tree_)
    tokens, prior = model._word_totals(before).sum(), model.tree_model_.class_prior.copy()
    model.extend_words(counts.shape[1] + 3).adopt(proposal)
    after = model._stream.stats
    words = next(value for name, value in vars(after).items() if "word" in name)
    old = next(value for name, value in vars(before).items() if "word" in name)
    assert model._word_totals(after).sum() == pytest.approx(tokens)
    assert words[-1].sum() == pytest.approx(tokens * proposal.share * proposal.path_weights[-1])
    assert not words[:, -3:].any()
    others = [node for node in range(n_nodes) if node not in model.tree_.path(proposal.parent)]
    np.testing.assert_allclose(words[others, :-3], old[others] * (1 - proposal.share))
    place = model.tree_.leaves.index(n_nodes)
    assert model.tree_model_.class_prior[place] == pytest.approx(proposal.share)
    np.testing.assert_allclose(np.delete(model.tree_model_.class_prior, place), prior * (1 - proposal.share))
    shares = after.class_topic_count.sum(axis=1) if isinstance(model, HPLSA) else after.cluster_count
    np.testing.assert_allclose(shares / shares.sum(), model.tree_model_.class_prior)


def test_the_share_of_misfits_is_that_since_they_are_collected(monkeypatch):
    counts, _ = world(0)
    model = streamed(ESTIMATORS[1], counts)
    (proposal,) = model.propose_branches()
    n_before = len(model.adopt(proposal).stream_)
    for start in range(4200, 5000, 200):
        model.partial_fit(counts[start : start + 200])
    asked = []
    monkeypatch.setattr(
        "topiarist.estimators.tree.tree_streams.propose_branches",
        lambda *given, share, **others: asked.append(share) or (),
    )
    model.propose_branches()
    shares = [record.misfits for record in model.stream_]
    assert asked == [pytest.approx(np.mean(shares[n_before:]))]
    assert asked[0] < 0.5 * np.mean(shares[-20:])  # with those that led to the leaf


def test_a_tree_that_has_seen_no_stream_proposes_nothing():
    counts, _ = world(0, 400, share=0.0)
    assert HPLSA(4, random_state=0).fit(counts).propose_branches() == ()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_two_hundred_stationary_batches_give_no_alarm(estimator, seed):
    counts, _ = world(seed, 8300, share=0.0)
    model = type(estimator)(**estimator.get_params()).fit(counts[:300])
    for start in range(300, 8300, 40):
        model.partial_fit(counts[start : start + 40])
    assert len(model.stream_) == 200
    assert not model.drift().drifted
    figures = [record.log_likelihood for record in model.stream_]
    assert np.mean(figures[-50:]) > np.mean(figures[:50]) - 0.01
    assert np.mean([record.misfits for record in model.stream_[10:]]) < 0.015
    assert model.propose_branches() == ()
