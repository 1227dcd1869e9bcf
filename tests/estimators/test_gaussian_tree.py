"""Counts to a tree by Gaussian mixtures: planted clusters, filing, the number of leaves, files, scikit-learn's laws."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score

from tests.work import peak
from topiarist.errors import UsageError
from topiarist.estimators.gaussian import gaussian_tree
from topiarist.estimators.gaussian.gaussian_tree import GaussianTree
from topiarist.estimators.model_folder import load_model, save_model
from topiarist.estimators.tree.fitted_tree import get_tree_model
from topiarist.trees import select_node_words


def planted(n_docs=300, seed=0, branches=(0, 0, 0, 1, 1, 1)):
    """Documents of six leaves in two branches: words of all, of each branch, of each leaf."""
    rng = np.random.default_rng(seed)
    n_leaves, which = len(branches), rng.integers(0, len(branches), n_docs)
    counts = np.zeros((n_docs, 10 + 20 + 20 * n_leaves), np.int64)
    for doc, leaf in enumerate(which):
        for first, width, tokens in ((0, 10, 15), (10 + 10 * branches[leaf], 10, 25), (30 + 20 * leaf, 20, 40)):
            np.add.at(counts[doc], first + rng.integers(0, width, tokens), 1)
    return csr_array(counts), which


@pytest.fixture(scope="module")
def grown():
    counts, which = planted()
    return counts, which, GaussianTree(random_state=0).fit(counts)


def test_planted_clusters_are_found_and_so_are_their_branches(grown):
    counts, which, model = grown
    assert adjusted_rand_score(which, model.labels_) > 0.95
    assert len(model.class_nodes_) == 6
    assert min(model.aic_curve_, key=model.aic_curve_.get) == 6
    np.testing.assert_array_equal(model.predict(counts), model.labels_)
    tree, root = model.tree_, model.tree_.root
    leaf_of = {which[row]: model.class_nodes_[model.labels_[row]] for row in range(len(which))}
    sides = [{tree.path(leaf_of[leaf])[1] for leaf in own} for own in ((0, 1, 2), (3, 4, 5))]
    assert len(sides[0]) == len(sides[1]) == 1
    assert sides[0] != sides[1]
    assert len(tree.children(root)) == 2


def test_nodes_say_the_words_of_their_place(grown):
    _, which, model = grown
    np.testing.assert_allclose(model.word_given_topic_.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(model.topic_given_class_.sum(axis=1), 1, rtol=1e-5)
    words = select_node_words(model.tree_, model.word_given_topic_, 8)
    for component, node in enumerate(model.class_nodes_):
        leaf = np.bincount(which[model.labels_ == component]).argmax()
        assert {int(word) for word in words[node]} <= set(range(30 + 20 * leaf, 50 + 20 * leaf))


def test_documents_are_filed_as_deep_as_they_are_certain(grown):
    counts, _, model = grown
    nodes = model.node_posterior(counts)
    assert nodes.shape == (300, len(model.tree_))
    np.testing.assert_allclose(nodes[:, model.tree_.root], 1, rtol=1e-6)
    np.testing.assert_allclose(nodes[:, list(model.class_nodes_)], model.transform(counts), atol=1e-9)
    filed = model.predict_path(counts)
    np.testing.assert_array_equal(filed, np.array(model.class_nodes_)[model.labels_])
    assert model.predict_path(np.zeros((1, counts.shape[1]), int)).shape == (1,)


def test_it_is_a_tree_model_as_others_are(grown):
    _, _, model = grown
    fitted = get_tree_model(model)
    assert fitted.tree is model.tree_
    assert tuple(fitted.class_nodes) == model.class_nodes_


def test_it_is_the_same_after_a_file(grown, tmp_path):
    counts, _, model = grown
    save_model(model, tmp_path / "tree")
    again = load_model(tmp_path / "tree")
    np.testing.assert_array_equal(again.transform(counts), model.transform(counts))
    assert again.tree_ == model.tree_
    assert again.aic_curve_ == model.aic_curve_
    np.testing.assert_array_equal(again.predict_path(counts), model.predict_path(counts))


def test_what_explains_little_is_removed_and_zero_keeps_every_merge():
    counts, _ = planted(branches=(0, 1, 2, 3))
    whole = GaussianTree(4, headings=False, negligible=0.0, random_state=0).fit(counts[:, : 30 + 80])
    assert len(whole.tree_) == 7
    short = GaussianTree(4, headings=False, negligible=0.9, random_state=0).fit(counts[:, : 30 + 80])
    assert len(short.tree_) == 5
    assert short.tree_.depth == 1
    assert len(short.hierarchy_.tree_) == 7


def test_a_sample_chooses_as_all_documents_would(monkeypatch):
    counts, _ = planted(1500, seed=1)
    whole = GaussianTree(random_state=0, max_components=12).fit(counts)
    monkeypatch.setattr(gaussian_tree, "SELECTION_DOCUMENTS", 500)
    sampled = GaussianTree(random_state=0, max_components=12).fit(counts)
    assert len(sampled.class_nodes_) == len(whole.class_nodes_) == 6
    assert sampled.aic_curve_[6] == pytest.approx(whole.aic_curve_[6], rel=0.05)
    assert whole.aic_curve_[6] == pytest.approx(whole.ggm_.aic_, rel=0.01)


def test_memory_grows_with_the_documents_and_no_faster():
    def fit(n_docs):
        GaussianTree(random_state=0, max_components=8).fit(planted(n_docs, seed=2)[0])

    fit(500)
    assert peak(fit, 3000) < 1.3 * 4 * peak(fit, 750)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "n_components must be a whole number"),
        ({"n_dimensions": 1}, "n_dimensions must be a whole number of at least 2"),
        ({"measure": "ward"}, "measure must be one of"),
        ({"negligible": 2.0}, "negligible must be a number between 0 and 1"),
        ({"device": "cuda"}, "device must be one of"),
    ],
)
def test_wrong_options_say_so(options, message):
    with pytest.raises(UsageError, match=message):
        GaussianTree(**options).fit(planted(20)[0])


def test_headings_have_three_to_eight_children_over_the_same_leaves():
    rng = np.random.default_rng(0)
    groups = [rng.dirichlet(np.full(60, 0.05)) for _ in range(3)]
    topics = [0.7 * groups[place // 4] + 0.3 * rng.dirichlet(np.full(60, 0.05)) for place in range(12)]
    counts = np.array([rng.multinomial(80, topics[row % 12]) for row in range(480)])
    model = GaussianTree(12, random_state=0).fit(counts)
    plain = GaussianTree(12, headings=False, random_state=0).fit(counts)
    tree = model.tree_
    assert set(model.class_nodes_) == set(tree.leaves) == set(range(12))
    assert max(len(tree.children(node)) for node in range(len(tree))) <= 8
    assert len(tree) < len(model.hierarchy_.tree_)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_allclose(model.word_given_topic_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.topic_given_class_.sum(axis=1), 1.0)
