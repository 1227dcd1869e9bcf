"""HPLSA as people meet it: scikit-learn's laws, grown and given trees, its special cases, bad input."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from tests.estimators.test_cam import planted
from topiarist import HPLSA, PLSA, Tree

OPTIONS = [{}, {"topic_mix": "heldout"}, {"topic_mix": "uniform"}]


@pytest.mark.parametrize("options", OPTIONS)
def test_a_planted_tree_is_found(options):
    counts, leaf = planted(length=80)
    model = HPLSA(random_state=0, **options).fit(counts)
    assert 4 <= len(model.tree_.leaves) <= 5
    assert adjusted_rand_score(leaf, model.labels_) > 0.9
    assert model.curve_.chosen == len(model.tree_.leaves)


@pytest.mark.parametrize("options", [*OPTIONS, {"growth": "annealed"}, {"variant": "cem"}, {"variant": "sem"}])
def test_what_is_learned_is_a_model(options):
    counts, _ = planted(100)
    model = HPLSA(4, random_state=0, max_iter=20, **options).fit(counts)
    mask = model.tree_.path_mask(model.class_nodes_)
    for rows in (model.word_given_topic_, model.topic_given_class_, model.class_given_doc_, model.doc_given_class_):
        np.testing.assert_allclose(rows.sum(axis=1), 1)
    assert (model.topic_given_class_[~mask] == 0).all()
    assert model.class_prior_.sum() == pytest.approx(1)
    np.testing.assert_array_equal(model.transform(counts), model.class_given_doc_)
    joint = model.class_prior_[:, None] * model.doc_given_class_
    np.testing.assert_allclose((joint / joint.sum(axis=0)).T, model.class_given_doc_, atol=1e-12)


@pytest.mark.parametrize("options", [*OPTIONS, {"variant": "cem"}])
def test_the_last_run_never_falls(options):
    counts, _ = planted(100)
    history = HPLSA(4, random_state=0, **options).fit(counts).history_
    assert (np.diff(history) >= -1e-9 * np.abs(history[:-1])).all()


def test_a_given_tree_with_classes_at_its_leaves_or_everywhere():
    counts, leaf = planted(length=80)
    tree = Tree.from_paths(["all/left/a", "all/left/b", "all/right/c", "all/right/d"])
    leaves = HPLSA(tree=tree, random_state=0).fit(counts)
    assert leaves.tree_ is tree
    assert leaves.class_nodes_ == tree.leaves
    assert adjusted_rand_score(leaf, leaves.labels_) > 0.95
    everywhere = HPLSA(tree=tree, class_nodes="all", random_state=0).fit(counts)
    assert everywhere.class_given_doc_.shape == (counts.shape[0], len(tree))
    np.testing.assert_allclose(everywhere.topic_given_class_.sum(axis=1), 1)


def test_a_flat_model_is_plsa():
    """With classes that share nothing but a root nobody uses, HPLSA is PLSA: same optimum from the same start."""
    counts, _ = planted(120)
    flat = HPLSA(tree=Tree.star(4), random_state=0, word_smoothing=0.0, tol=1e-9, max_iter=400).fit(counts)
    plsa = PLSA(4, random_state=0, n_init=5, tol=1e-9, max_iter=400).fit(counts)
    assert flat.score(counts) == pytest.approx(plsa.score(counts), abs=2e-3)


def test_variants_do_what_they_say():
    counts, leaf = planted(length=80)
    fits = {
        variant: HPLSA(4, variant=variant, random_state=0, max_iter=30).fit(counts) for variant in ("em", "cem", "sem")
    }
    for fit in fits.values():
        assert adjusted_rand_score(leaf, fit.labels_) > 0.9
    assert not np.array_equal(fits["em"].word_given_topic_, fits["cem"].word_given_topic_)
    again = HPLSA(4, variant="sem", random_state=0, max_iter=30).fit(counts)
    np.testing.assert_array_equal(again.word_given_topic_, fits["sem"].word_given_topic_)
    assert (np.diff(fits["sem"].history_) < 0).any()


def test_a_schedule_is_followed():
    counts, _ = planted(100)
    warm = HPLSA(4, growth="annealed", schedule=(0.3, 0.4), random_state=0)
    with pytest.warns(UserWarning, match="The tree has 1 leaves instead of n_classes=4"):
        assert warm.fit(counts).inverse_temperature_ == 0.4


def test_degenerate_piles():
    assert len(HPLSA(random_state=0).fit(np.tile([3.0, 1, 0, 2], (30, 1))).tree_.leaves) == 1
    assert HPLSA(random_state=0).fit(np.arange(1, 31, dtype=float)[:, None]).word_given_topic_.tolist() == [[1.0]]
    assert HPLSA(random_state=0).fit(np.array([[2.0, 1.0]])).class_given_doc_.tolist() == [[1.0]]
