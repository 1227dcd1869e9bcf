"""GGM, its hierarchy and LSI as people meet them: scikit-learn's laws, planted clusters, words, pictures, bad input."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline

from topiarist import GGM, LSI, Corpus, MixtureHierarchy
from topiarist.counts import CountSettings
from topiarist.errors import InputError, UsageError
from topiarist.models.gaussian import selection
from topiarist.text.documents import Document


def planted(seed=0, n=300, d=4, k=3, apart=5.0):
    rng = np.random.default_rng(seed)
    means = apart * rng.normal(size=(k, d))
    which = rng.integers(0, k, n)
    return means[which] + rng.normal(size=(n, d)), which, means


@pytest.mark.parametrize("assignment", ["soft", "hard"])
@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_fit_recovers_planted_clusters(covariance, assignment):
    points, which, means = planted()
    model = GGM(covariance=covariance, assignment=assignment, random_state=0).fit(points)
    assert adjusted_rand_score(which, model.labels_) > 0.95
    assert not model.degenerate_
    assert min(model.aic_curve_, key=model.aic_curve_.get) == len(model.component_prior_)
    nearest = np.abs(model.component_mean_[:, None] - means).sum(axis=-1).min(axis=0)
    assert nearest.max() < 1.0
    np.testing.assert_array_equal(model.predict(points), model.labels_)


def nested(seed):
    """Three groups of three clusters: near each other within a group, far between groups."""
    rng, angle = np.random.default_rng(seed), 2 * np.pi * np.arange(3) / 3
    around = np.column_stack([np.cos(angle), np.sin(angle)])
    centres = (35.0 * around[:, None] + 8.0 * around).reshape(9, 2)
    return np.vstack([centre + rng.normal(size=(60, 2)) for centre in centres]), np.repeat(np.arange(9), 60)


@pytest.mark.parametrize("seed", range(12))
def test_nested_clusters_are_told_apart_as_scikit_learn_does(seed):
    points, which = nested(seed)
    model = GGM(9, random_state=seed).fit(points)
    assert model.score(points) > GaussianMixture(9, n_init=3, random_state=seed).fit(points).score(points) - 0.01
    assert adjusted_rand_score(which, model.labels_) > 0.99
    assert not model.degenerate_


def test_pairs_far_apart_are_told_apart():
    rng = np.random.default_rng(0)
    points = np.concatenate([centre + 0.05 * rng.normal(size=50) for centre in (0, 1, 100, 101)])[:, None]
    found = {
        start: np.sort(GGM(4, start=start, condition_limit=1e10, random_state=0).fit(points).component_mean_.ravel())
        for start in ("auto", "overall")
    }
    np.testing.assert_allclose(found["auto"], [0, 1, 100, 101], atol=0.05)
    assert not np.allclose(found["overall"], [0, 1, 100, 101], atol=0.05)  # the paper's start stays what it is


def test_labels_guide_shared_components_from_a_wide_start():
    points, which, _ = planted(3, n=120)
    given, wide = (GGM(3, start=start, random_state=0).fit(points, which) for start in ("auto", "overall"))
    narrow = GGM(3, start="clusters", random_state=0).fit(points, which)
    np.testing.assert_array_equal(given.history_, wide.history_)
    assert given.history_[0] != narrow.history_[0]


def test_densities_are_those_of_scikit_learn():
    points, _, _ = planted(1)
    model = GGM(3, random_state=0).fit(points)
    other = GaussianMixture(3)
    other.weights_, other.means_, other.covariances_ = (
        model.component_prior_, model.component_mean_, model.component_covariance_,
    )  # fmt: skip
    other.precisions_cholesky_ = np.linalg.cholesky(np.linalg.inv(model.component_covariance_))
    np.testing.assert_allclose(model.score_samples(points), other.score_samples(points), rtol=1e-9)
    np.testing.assert_allclose(model.component_given_example(points), other.predict_proba(points), atol=1e-9)


def test_unlabelled_examples_help():
    points, which, _ = planted(2, n=400, d=6, apart=1.5)
    rng = np.random.default_rng(0)
    gains = []
    for seed in range(8):
        order = rng.permutation(400)
        labels = np.full(200, -1)
        labels[:20] = which[order[:20]]
        rest = order[200:]
        errors = [
            (GGM(unlabelled_weight=weight, random_state=seed).fit(points[order[:200]], labels).predict(points[rest])
             != which[rest]).mean()
            for weight in (0.0, 0.5)
        ]  # fmt: skip
        gains.append(errors[0] - errors[1])
    assert np.mean(gains) > 0.02


def test_labels_may_be_words_and_components_shared_or_own():
    points, which, _ = planted(3)
    names = np.array(["red", "green", "blue"], dtype=object)[which]
    names[50:] = -1
    own = GGM(random_state=0).fit(points, names)
    assert own.classes_.tolist() == ["blue", "green", "red"]
    assert set(own.class_given_component_.ravel()) == {0.0, 1.0}
    shared = GGM(3, random_state=0).fit(points, names)
    for model in (own, shared):
        truth = np.array(["red", "green", "blue"], dtype=object)[which]
        assert (model.predict(points) == truth).mean() > 0.95
        np.testing.assert_allclose(model.predict_proba(points).sum(axis=1), 1)
        plain = (model.component_given_example(points) @ model.class_given_component_) ** model.sharpness_
        np.testing.assert_allclose(model.predict_proba(points), plain / plain.sum(axis=1, keepdims=True), atol=1e-12)
    assert len(GGM(6, components="own", random_state=0).fit(points, names).component_prior_) == 6


def test_enough_labels_share_a_covariance_and_few_learn_from_the_unlabelled():
    points, which, _ = planted(5)
    few, enough = (np.where(np.arange(300) < n, which, -1) for n in (7, 8))
    fits = [GGM(random_state=0).fit(points, labels) for labels in (few, enough)]
    assert [(fit.covariance_, fit.unlabelled_weight_) for fit in fits] == [("full", 1.0), ("shared", 0.1)]
    together = GGM(3, random_state=0).fit(points, enough)
    assert (together.covariance_, together.unlabelled_weight_) == ("full", 1.0)
    assert GGM(max_components=3, random_state=0).fit(points).covariance_ == "full"
    asked = GGM(covariance="full", unlabelled_weight=0.5, random_state=0).fit(points, which)
    assert (asked.covariance_, asked.unlabelled_weight_) == ("full", 0.5)


def test_weight_and_number_by_cross_validation():
    points, which, _ = planted(4, n=150)
    labels = np.where(np.arange(150) < 30, which, -1)
    model = GGM(unlabelled_weight="cv", random_state=0).fit(points, labels)
    assert model.unlabelled_weight_ in {weight for weight, _ in model.cv_}
    both = GGM("cv", unlabelled_weight="cv", max_components=4, random_state=0).fit(points, labels)
    assert len(both.component_prior_) >= 3
    alone = GGM("cv", max_components=5, random_state=0).fit(points)
    assert 3 <= len(alone.component_prior_) <= 5


def test_threads_and_scales_change_nothing():
    points, which, _ = planted(5, n=6000)
    labels = np.where(np.arange(6000) < 30, which, -1)
    one, three = (GGM(random_state=1, n_threads=n).fit(points, labels) for n in (1, 3))
    np.testing.assert_array_equal(one.component_covariance_, three.component_covariance_)
    factor = np.array([1e6, 1.0, 1e-3, 1.0])
    scaled = GGM(random_state=1).fit(points * factor + 7, labels)
    assert (scaled.predict(points * factor + 7) == one.predict(points)).mean() > 0.999


def test_the_order_of_examples_changes_nothing_but_chance():
    points, which, _ = planted(5, n=600)
    labels = np.where(np.arange(600) < 30, which, -1)
    order = np.random.default_rng(3).permutation(600)
    one = GGM(split=None, n_components=3, components="own", random_state=1).fit(points, labels)
    other = GGM(split=None, n_components=3, components="own", random_state=1).fit(points[order], labels[order])
    np.testing.assert_allclose(other.component_mean_, one.component_mean_, rtol=1e-6)
    np.testing.assert_allclose(other.component_covariance_, one.component_covariance_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(one.predict_proba(points[order]), one.predict_proba(points)[order], atol=1e-12)
    drawn = [GGM(random_state=1).fit(*given) for given in ((points, labels), (points[order], labels[order]))]
    assert (drawn[0].predict(points) == drawn[1].predict(points)).mean() > 0.99


UNLABELLED = {
    "None in a list": lambda names, none: [None if gone else name for name, gone in zip(names, none, strict=True)],
    "-1 in a list": lambda names, none: [-1 if gone else name for name, gone in zip(names, none, strict=True)],
    "text -1": lambda names, none: np.where(none, "-1", names),
    "text -1 as object": lambda names, none: np.where(none, "-1", names).astype(object),
    "pandas texts": lambda names, none: pandas_of(names, none, "string"),
}


def pandas_of(names, none, dtype):
    pandas = pytest.importorskip("pandas")
    return pandas.Series([None if gone else name for name, gone in zip(names, none, strict=True)], dtype=dtype)


@pytest.mark.parametrize("way", UNLABELLED)
def test_every_way_to_give_no_label_is_understood(way):
    points, which, _ = planted(3, n=90)
    names = np.array(["red", "green", "blue"])[which]
    given = UNLABELLED[way](names, np.arange(90) >= 40)
    model = GGM(random_state=0).fit(points, given)
    assert model.classes_.tolist() == ["blue", "green", "red"]
    np.testing.assert_array_equal(model.predict(points), GGM(random_state=0).fit(
        points, np.where(np.arange(90) < 40, names, None)).predict(points))  # fmt: skip
    assert model.score(points, given) == pytest.approx((model.predict(points) == names)[:40].mean())


@pytest.mark.parametrize("missing", ["category", "nan"])
def test_labels_that_are_not_numbers_are_refused(missing):
    points, which, _ = planted(3, n=90)
    names = [None if row > 40 else "rgb"[label] for row, label in enumerate(which)]
    given = pandas_of(names, np.arange(90) > 40, "category") if missing == "category" else [
        np.nan if name is None else name for name in names
    ]  # fmt: skip
    with pytest.raises(InputError, match="NaN, which is not a missing label") as error:
        GGM(random_state=0).fit(points, given)
    assert "−1 or None" in error.value.hint


def test_scores_leave_out_what_has_no_label_and_say_what_is_wrong():
    points, which, _ = planted(3, n=90)
    model = GGM(random_state=0).fit(points, which)
    half = np.where(np.arange(90) < 30, which, -1)
    weight = np.arange(90.0)
    right = model.predict(points) == which
    assert model.score(points, half) == pytest.approx(right[:30].mean())
    assert model.score(points, half, weight) == pytest.approx(np.average(right[:30], weights=weight[:30]))
    alone = GGM(3, random_state=0).fit(points)
    with pytest.raises(InputError, match="got labels such as 'g'"):
        alone.score(points, np.array(list("rgb"))[which])
    assert alone.score(points, alone.labels_) == 1.0
    assert np.isfinite(alone.score(points))


def test_without_labels_components_are_the_classes():
    points, _, _ = planted(3)
    model = GGM(3, random_state=0).fit(points)
    assert model.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(model.class_given_component_, np.eye(3))
    np.testing.assert_array_equal(model.classes_[model.predict_proba(points).argmax(axis=1)], model.predict(points))
    np.testing.assert_array_equal(model.predict_proba(points), model.component_given_example(points))


def n_parameters(model, own=False):
    k, d = model.component_mean_.shape
    shapes = {"full": k * d * (d + 1) // 2, "shared": d * (d + 1) // 2}
    classes = 1 if own or model.unlabelled_ else len(model.classes_)
    return shapes[model.covariance_] + k * (d + classes) - 1


@pytest.mark.parametrize("scale", [1.0, np.array([100.0, 1.0, 1e-4, 1.0])])
def test_criterion_curve_and_history_agree(scale):
    points, which, _ = planted(6)
    points = points * scale
    alone = GGM(random_state=0, max_components=5).fit(points)
    few = np.where(np.arange(300) < 40, which, -1)
    shared = GGM(3, unlabelled_weight=0.5, random_state=0).fit(points, few)
    own = GGM(6, components="own", unlabelled_weight=0.5, random_state=0).fit(points, few)
    for model in (alone, shared, own):
        k = len(model.component_prior_)
        assert model.aic_ == pytest.approx(n_parameters(model, own=model is own) - model.history_[-1])
        assert model.aic_ == pytest.approx(model.aic_curve_[2 if model is own else k])
        assert len(model.history_) == model.n_iter_ + 1 + 5
    assert alone.history_[-1] == pytest.approx(alone.score_samples(points).sum())
    assert min(alone.aic_curve_, key=alone.aic_curve_.get) == len(alone.component_prior_)


def test_the_curve_has_only_numbers_that_classes_have_examples_for():
    points, which, _ = planted(6, d=2)
    six = np.where(np.arange(300) < 6, which, -1)
    assert GGM(random_state=0).fit(points, six).aic_curve_ == {}
    many = GGM(random_state=0, covariance="full").fit(points, which)
    assert 1 in many.aic_curve_
    assert np.isfinite(list(many.aic_curve_.values())).all()


def test_features_that_only_round_are_constant():
    rng = np.random.default_rng(0)
    varying = rng.normal(size=(50, 2)) * 1e-9
    for constant in (0.1, 1e9):
        model = GGM(2, random_state=0).fit(np.column_stack([varying, np.full(50, constant)]))
        assert model._frame.scale[2] == 1.0
        assert model._frame.scale[0] == pytest.approx(1e-9, rel=0.5)


def test_points_very_far_away_have_an_answer():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for covariance in ("full", "shared"):
            points = np.random.default_rng(0).normal(size=(40, 2)) * 1e-60
            model = GGM(2, covariance=covariance, random_state=0).fit(points)
            assert np.isfinite(model.predict_proba([[1e99, -1e99]])).all()
            assert np.isfinite(model.score_samples([[1e99, -1e99]])).all()


@pytest.mark.parametrize(
    ("points", "options"),
    [
        (np.repeat(np.random.default_rng(0).normal(size=(2, 3)), 10, axis=0), {}),
        (np.random.default_rng(0).normal(size=(5, 40)), {"n_components": "cv", "covariance": "shared"}),
    ],
)
def test_no_warning_of_arithmetic_reaches_people(points, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GGM(random_state=0, **options).fit(points).predict_proba(points)


def test_one_interruption_ends_cross_validation_and_keeps_the_best(monkeypatch):
    points, which, _ = planted(4, n=150)
    labels = np.where(np.arange(150) < 30, which, -1)
    run, calls = selection.search_mixtures, []

    def stopping(*given, **options):
        calls.append(given)
        if len(calls) == 13:  # in the third fold of the third weight
            raise KeyboardInterrupt
        return run(*given, **options)

    monkeypatch.setattr(selection, "search_mixtures", stopping)
    model = GGM(3, unlabelled_weight="cv", random_state=0).fit(points, labels)
    assert len(calls) == 13
    assert [weight for weight, _ in model.cv_] == [0.0, 0.1]
    assert model.unlabelled_weight_ == min(model.cv_, key=model.cv_.get)[0]
    assert not model.converged_
    np.testing.assert_allclose(model.predict_proba(points).sum(axis=1), 1)
    calls[:] = [None] * 12
    with pytest.raises(KeyboardInterrupt):  # before there is anything to keep
        GGM(3, unlabelled_weight="cv", random_state=0).fit(points, labels)


def test_a_data_frame_goes_through_everything_without_a_warning():
    pandas = pytest.importorskip("pandas")
    points = planted(4, n=90)[0]
    frame = pandas.DataFrame(points, columns=list("abcd"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GGM(3, random_state=0).fit(frame)
        assert model.feature_names_in_.tolist() == list("abcd")
        tree = MixtureHierarchy("confusion", n_samples=500, random_state=0).fit(model)
        assert len(tree.assign(frame).cluster) == len(model.predict(frame)) == 90
        tree.prototypes(frame)


def test_an_assignment_is_a_cluster_and_a_level_and_knows_its_probability():
    points, _, _ = planted(3)
    tree = MixtureHierarchy().fit(GGM(3, random_state=0).fit(points))
    found = tree.assign(points)
    cluster, level = found
    np.testing.assert_array_equal(cluster, found.cluster)
    np.testing.assert_array_equal(level, found.level)
    np.testing.assert_allclose(found.probability, tree.node_given_example(points)[np.arange(300), cluster])


def test_a_hierarchy_keeps_its_mixture_when_that_is_fitted_anew():
    points, _, _ = planted(3)
    model = GGM(3, random_state=0).fit(points)
    tree = MixtureHierarchy().fit(model)
    before = tree.node_given_example(points)
    model.fit(points[:50] * 3)
    np.testing.assert_array_equal(tree.node_given_example(points), before)


@pytest.mark.parametrize(
    ("points", "labels"),
    [
        (np.random.default_rng(0).normal(size=(5, 30)), None),  # fewer examples than dimensions
        (np.random.default_rng(0).normal(size=(12, 30)), [0, 1] * 6),
        (np.random.default_rng(0).normal(size=(20, 2)), [0, 1] + [1] * 18),  # a class with one example
        (np.random.default_rng(0).normal(size=(20, 2)), [0, 1] + [-1] * 18),
        (np.ones((10, 3)), None),  # constant features
        (np.column_stack([np.ones(30), np.random.default_rng(0).normal(size=30)]), None),
        (np.random.default_rng(0).normal(size=(20, 2)), [-1] * 20),  # all unlabelled
        (np.random.default_rng(0).normal(size=(20, 2)), [4] * 20),  # all one class
        (np.repeat(np.random.default_rng(0).normal(size=(3, 2)), 20, axis=0), None),  # three points, twenty times
        (np.zeros((1, 2)), None),
        (np.random.default_rng(0).normal(size=(20, 2)) * 1e-20, None),
    ],
)
@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_poor_data_has_an_answer(points, labels, covariance):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GGM(covariance=covariance, random_state=0).fit(points, labels)
        predicted = model.predict_proba(points)
        for k in range(len(model.component_prior_)):
            np.linalg.cholesky(model.component_covariance_[k])
    np.testing.assert_allclose(predicted.sum(axis=1), 1)
    assert np.isfinite(model.score_samples(points)).all()


def test_a_cluster_is_refused_before_anything_is_computed():
    class Cluster:
        client = None

        def total(self, function, blocks, local):
            raise AssertionError

    with pytest.raises(UsageError, match="on a cluster"):
        GGM(executor=Cluster()).fit(np.eye(4))


def test_wrong_data_says_so():
    with pytest.raises(ValueError, match="NaN"):
        GGM().fit(np.array([[1.0, np.nan], [0.0, 1.0]]))
    with pytest.raises(InputError, match="expected 3 labels"):
        GGM().fit(np.eye(3), [0, 1])
    with pytest.raises(UsageError, match="expected a fitted GGM"):
        MixtureHierarchy().fit(GGM())
    model = GGM(random_state=0).fit(*planted(n=60)[:2])
    with pytest.raises(UsageError, match="of_class to be one of"):
        MixtureHierarchy(of_class="x").fit(model)
    with pytest.raises(UsageError, match="either lsi, or X and counts"):
        MixtureHierarchy().fit(model).keywords(["a"])


SUBJECTS = {
    "sea": "ship harbour sail wind wave captain",
    "kitchen": "bread oven flour butter salt baker",
    "court": "judge law trial lawyer verdict jury",
}


GENERAL = ("and", "the", "of", "in", "people", "day")


def corpus_of(n=120, seed=0):
    rng = np.random.default_rng(seed)
    documents, labels = [], []
    for number in range(n):
        subject = list(SUBJECTS)[number % 3]
        words = [
            *rng.choice(SUBJECTS[subject].split(), 12),
            *rng.choice(["and", "the", "of", "in", "people", "day"], 8),
        ]
        documents.append(Document(str(number), " ".join(words)))
        labels.append(subject)
    return Corpus.from_documents(documents, CountSettings()), np.array(labels)


@pytest.fixture(scope="module")
def shaped():
    corpus, labels = corpus_of()
    lsi = LSI(3, weighting="counts", random_state=0)
    points = lsi.fit_transform(corpus.counts)
    return corpus, labels, lsi, points, GGM(3, random_state=0).fit(points)


def test_keywords_of_components_by_inverse_document_frequency():
    corpus, labels = corpus_of()
    lsi = LSI(3, random_state=0)
    points = lsi.fit_transform(corpus.counts)
    model = GGM(3, random_state=0).fit(points)
    plain = MixtureHierarchy().fit(model).keywords(corpus.vocabulary.words, lsi=lsi, n=6, plain=True)
    for component in range(3):
        subject = labels[model.labels_ == component][0]
        assert set(plain[component]) == set(SUBJECTS[subject].split())


@pytest.mark.parametrize("measure", ["modified_l2", "l2", "confusion", "kl"])
def test_a_hierarchy_tells_levels_words_and_prototypes(shaped, measure):
    corpus, labels, lsi, points, model = shaped
    tree = MixtureHierarchy(measure, random_state=0).fit(model)
    assert tree.linkage_.shape == (2, 4)
    assert len(tree.tree_) == 5
    nodes = tree.node_given_example(points)
    np.testing.assert_allclose(nodes[:, 4], 1)
    np.testing.assert_allclose(nodes[:, :3].sum(axis=1), 1)
    found = tree.assign(points, 0.9)
    assert (found.level == 1).mean() > 0.9
    assert (found.probability > 0.9).all()
    assert all(len(chosen) == 1 for chosen in tree.sample_clusters(points[:10]))
    assert tree.clusters_at(1) == [0, 1, 2]
    assert tree.clusters_at(3) == [4]
    typical = tree.prototypes(points, 4)
    words = corpus.vocabulary.words
    ways = (tree.keywords(words, lsi=lsi, n=4), tree.keywords(words, X=points, counts=corpus.counts, n=4))
    for leaf in range(3):
        subject = labels[typical[leaf][0]]
        assert (labels[typical[leaf]] == subject).all()
        for told in ways:
            assert len(set(told[leaf]) & set(SUBJECTS[subject].split())) >= 3
    assert len(typical[4]) == 4
    plain = tree.keywords(words, lsi=lsi, n=3, plain=True)
    assert all(len(row) == 3 for row in plain)


def test_small_components_stay_in_the_hierarchy_of_all():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(6000, 1)), 50 + 0.1 * rng.normal(size=(5, 1))])
    model = GGM(2, random_state=0).fit(points)
    assert model.component_prior_.min() < 1e-3
    tree = MixtureHierarchy().fit(model)
    assert tree.components_.tolist() == [0, 1]
    assert tree.assign([[50.0]]).cluster[0] == model.component_prior_.argmin()


def test_the_hierarchy_of_a_class_has_its_components_only(shaped):
    _, labels, _, points, _ = shaped
    model = GGM(6, components="own", random_state=0).fit(points, labels)
    tree = MixtureHierarchy(of_class="sea").fit(model)
    place = model.classes_.tolist().index("sea")
    assert model.class_given_component_[tree.components_, place].min() > 0
    assert tree.weight_.sum() == pytest.approx(1)
    assert tree.assign(points).cluster.max() < len(tree.tree_)


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def boxes(texts):
    return [text.get_window_extent() for text in texts]


def test_a_dendrogram_has_every_merge_and_its_words_stay_inside(shaped, pyplot):
    corpus, _, lsi, _, model = shaped
    tree = MixtureHierarchy().fit(model)
    words = tree.keywords(corpus.vocabulary.words, lsi=lsi, n=3)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4))
    ax = tree.dendrogram(left, words=words)
    figure.canvas.draw()
    assert ax is left
    assert len(ax.lines) == 3 * len(tree.linkage_)
    assert [text.get_text().split("\n")[0] for text in ax.texts] == [words[node][0] for node in (3, 4)]
    assert all(text.get_bbox_patch() is not None for text in ax.texts)  # no line goes through them
    told = {label.get_text() for label in ax.get_yticklabels()}
    assert any(words[0][0] in label and f"({tree.weight_[0]:.0%})" in label for label in told)
    assert max(box.x1 for box in boxes(ax.texts)) < right.get_window_extent().x0
    assert min(box.x0 for box in boxes(ax.get_yticklabels())) >= 0
    with pytest.raises(InputError, match="5 nodes, got 1"):
        tree.dendrogram(words=[["a"]])


def test_lsi_drops_rare_words():
    corpus, labels = corpus_of()
    lsi = LSI(3, min_count=60, random_state=0).fit(corpus.counts)
    totals = np.asarray(corpus.counts.sum(axis=0)).ravel()
    np.testing.assert_array_equal(lsi.kept_, totals >= 60)
    assert (lsi.word_factors_[~lsi.kept_] == 0).all()
    points = lsi.transform(corpus.counts)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1)
    plain = LSI(3, min_count=60, unit_length=False, random_state=0).fit_transform(corpus.counts)
    np.testing.assert_allclose(plain / np.linalg.norm(plain, axis=1, keepdims=True), points)
    with pytest.raises(InputError, match="no word occurs 1000000 times"):
        LSI(min_count=10**6).fit(corpus.counts)
    classifier = make_pipeline(LSI(3), GGM(random_state=0)).fit(corpus.counts, labels)
    assert classifier.score(corpus.counts, labels) > 0.95


def test_lsi_never_makes_all_points_the_same():
    corpus = corpus_of()[0]
    with pytest.raises(UsageError, match="n_dimensions=1 with unit_length=True"):
        LSI(1).fit(corpus.counts)
    assert np.ptp(LSI(1, unit_length=False, random_state=0).fit_transform(corpus.counts)) > 0.1
    with pytest.warns(UserWarning, match="span at most 3"):
        assert LSI(8, random_state=0).fit_transform(corpus.counts[:3]).shape == (3, 3)
