"""GGM on vectors of many dimensions, as an encoder gives them: the space, the number, and how sure it may be."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score

from topiarist import GGM, LSI, MixtureHierarchy
from topiarist.errors import UsageError
from topiarist.estimators.gaussian.vector_space import DEFAULT_DIMENSIONS, FEW_LABEL_DIMENSIONS, VectorSpace
from topiarist.estimators.model_folder import load_model, save_model
from topiarist.models.gaussian import certainties


def embedded(seed=0, n=600, k=6, d=96, apart=1.0):
    """Groups in ten of many dimensions, sizes of documents that vary, and a direction that all of them share."""
    rng = np.random.default_rng(seed)
    which = rng.integers(0, k, n)
    inner = apart * rng.normal(size=(k, 10))[which] + 0.5 * rng.standard_t(4, size=(n, 10))
    points = inner @ rng.normal(size=(10, d)) + 0.3 * rng.normal(size=(n, d)) + 3 * rng.normal(size=d)
    return points * rng.uniform(0.8, 1.2, size=(n, 1)), which


@pytest.fixture(scope="module")
def vectors():
    return embedded()


@pytest.fixture(scope="module")
def clusters(vectors):
    return GGM(n_init=2, random_state=0).fit(vectors[0])


def test_the_number_of_groups_is_found_and_not_the_ceiling(vectors, clusters):
    assert clusters.criterion_ == "bic"
    assert 4 <= len(clusters.component_prior_) <= 11
    assert adjusted_rand_score(vectors[1], clusters.labels_) > 0.8
    assert max(clusters.aic_curve_) < 60  # the search ends when numbers get worse
    n, own = len(vectors[0]), len(clusters.component_prior_)
    parameters = {
        size: DEFAULT_DIMENSIONS * (DEFAULT_DIMENSIONS + 1) / 2 + size * (DEFAULT_DIMENSIONS + 1) - 1
        for size in clusters.aic_curve_
    }
    criterion = {size: aic + (np.log(n) / 2 - 1) * parameters[size] for size, aic in clusters.aic_curve_.items()}
    assert min(criterion, key=criterion.get) == own
    assert clusters.aic_ == pytest.approx(clusters.aic_curve_[own])


def test_the_space_is_that_of_leading_directions(vectors, clusters):
    points, _ = vectors
    inside = clusters.space_(points)
    assert inside.shape == (len(points), DEFAULT_DIMENSIONS)
    np.testing.assert_allclose(np.linalg.norm(inside, axis=1), 1)
    np.testing.assert_allclose(clusters.space_.axes.T @ clusters.space_.axes, np.eye(DEFAULT_DIMENSIONS), atol=1e-9)
    np.testing.assert_allclose(clusters.space_(clusters.space_.centre[None]), np.zeros((1, DEFAULT_DIMENSIONS)))
    few = VectorSpace.of(points[:40], DEFAULT_DIMENSIONS)  # fewer examples than features: another way to the same axes
    away = points[:40] - points[:40].mean(axis=0)
    np.testing.assert_allclose(np.abs(few.axes[:, :5].T @ np.linalg.svd(away)[2][:5].T), np.eye(5), atol=1e-6)
    assert clusters.component_mean_.shape[1] == DEFAULT_DIMENSIONS
    assert clusters.n_features_in_ == points.shape[1]
    np.testing.assert_array_equal(clusters.predict(points), clusters.labels_)


def test_words_of_a_mixture_of_many_latent_dimensions():
    rng = np.random.default_rng(0)
    which = np.repeat(np.arange(3), 60)
    counts = csr_array(rng.poisson(np.where(np.arange(120)[None] // 40 == which[:, None], 1.0, 0.05)))
    lsi = LSI(80, random_state=0)
    model = GGM(3, random_state=0).fit(lsi.fit_transform(counts))
    assert adjusted_rand_score(which, model.labels_) > 0.9
    words = MixtureHierarchy("kl").fit(model).keywords([f"w{word:03}" for word in range(120)], lsi=lsi, n=3, plain=True)
    leaves = [{int(word[1:]) // 40 for word in words[leaf]} for leaf in range(3)]
    assert sorted(leaves, key=min) == [{0}, {1}, {2}]


@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_few_and_equal_examples_are_borne(n):
    rng = np.random.default_rng(0)
    for points in (rng.normal(size=(n, 100)), np.ones((n, 100))):
        model = GGM(random_state=0).fit(points)
        assert np.isfinite(model.score_samples(points)).all()
        given = GGM(random_state=0).fit(points, np.arange(n) % 2)
        np.testing.assert_allclose(given.predict_proba(points).sum(axis=1), 1)


def test_features_that_are_few_stay_as_they_are(vectors):
    assert GGM(2, n_init=1, random_state=0).fit(vectors[0][:, :64]).space_ is None
    assert GGM(2, n_init=1, n_dimensions=None, covariance="shared").fit(vectors[0]).space_ is None
    some = GGM(2, n_init=1, n_dimensions=5, random_state=0).fit(vectors[0])
    assert some.component_mean_.shape == (2, 5)
    with pytest.raises(UsageError, match="n_dimensions"):
        GGM(n_dimensions=1).fit(vectors[0])


def test_a_tree_and_a_file_of_a_mixture_of_vectors(vectors, clusters, tmp_path):
    points, _ = vectors
    tree = MixtureHierarchy("kl").fit(clusters)
    np.testing.assert_allclose(tree.node_given_example(points)[:, tree.tree_.root], 1)
    save_model(clusters, tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(points), clusters.predict_proba(points))
    np.testing.assert_array_equal(again.space_.axes, clusters.space_.axes)


def labelled(which, each, seed=0):
    found = np.full(len(which), -1)
    order = np.random.default_rng(seed).permutation(len(which))
    for label in np.unique(which):
        mine = order[which[order] == label][:each]
        found[mine] = label
    return found


def sure(model, points, truth):
    rows = model.predict_proba(points)
    certain = rows.max(axis=1) >= 0.9
    right = model.classes_[rows.argmax(axis=1)] == truth
    return right[certain].mean() if certain.any() else 1.0


@pytest.mark.parametrize("each", [1, 2, 5])
def test_with_few_labels_it_is_right_where_it_is_sure(each):
    honest, plain = [], []
    for seed in range(3):
        points, which = embedded(seed, apart=0.5)
        given = labelled(which[:400], each, seed)
        model = GGM(random_state=0).fit(points[:400], given)
        assert model.component_mean_.shape[1] == FEW_LABEL_DIMENSIONS
        assert model.covariance_ == "shared"
        assert 0.02 <= model.sharpness_ < 1
        as_it_is = GGM(sharpness=1.0, random_state=0).fit(points[:400], given)
        np.testing.assert_array_equal(model.predict(points[400:]), as_it_is.predict(points[400:]))
        honest.append(sure(model, points[400:], which[400:]))
        plain.append(sure(as_it_is, points[400:], which[400:]))
    assert np.mean(honest) >= 0.9
    assert np.mean(plain) < np.mean(honest)


def test_powers_of_certainties_are_those_of_their_logarithms():
    rng = np.random.default_rng(0)
    joint, classes = 5 * rng.normal(size=(5, 20)), rng.dirichlet(np.ones(3), size=5)
    plain = (np.exp(joint).T @ classes) / np.exp(joint).sum(axis=0)[:, None]
    by_class = certainties.class_logarithms(joint, classes)
    np.testing.assert_allclose(certainties.class_shares(by_class), plain)
    np.testing.assert_allclose(certainties.class_shares(by_class, 0.3), plain**0.3 / (plain**0.3).sum(axis=1)[:, None])
    impossible = certainties.class_shares(certainties.class_logarithms(joint, np.eye(5)[:, :3]), 0.5)
    assert np.isfinite(impossible).all()


def test_one_label_of_each_class_has_the_usual_sharpness(vectors):
    points, which = vectors
    model = GGM(random_state=0).fit(points, labelled(which, 1))
    assert model.sharpness_ == certainties.compute_default_power(FEW_LABEL_DIMENSIONS)
