"""Laws of every public estimator: scikit-learn's checks, threads, and errors that name the wrong option."""

import warnings

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.estimators.test_cam import planted
from topiarist import (
    CAM,
    GGM,
    HPLC,
    HPLSA,
    LSI,
    PLC,
    PLSA,
    PMM,
    CategoryLearner,
    FisherKernel,
    HierarchicalMixture,
    Tree,
)
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.estimators.gaussian.gaussian_tree import GaussianTree

SEMI_SUPERVISED = "−1 means that a document has no label, as in scikit-learn's semi-supervised estimators"
NO_LABELS = "some documents of this check have no label; a document of PMM has at least one, and the error says so"
STREAM = "without a tree a stream cannot begin; test_tree_streams runs it with one"
MULTILABEL = {
    "check_classifiers_multilabel_representation_invariance": NO_LABELS,
    "check_classifiers_multilabel_output_format_predict": NO_LABELS,
    "check_classifiers_multilabel_output_format_predict_proba": NO_LABELS,
    "check_classifiers_multilabel_output_format_decision_function": NO_LABELS,
}
FAILURES = {
    PMM: MULTILABEL,
    CategoryLearner: {
        **MULTILABEL,
        "check_classifiers_classes": SEMI_SUPERVISED,
        "check_classifiers_multilabel_output_format_predict_proba": "its documents include some without a label",
        "check_decision_proba_consistency": "its numbers are negative, and counts are not",
    },
    **{kind: {"check_classifiers_classes": SEMI_SUPERVISED} for kind in (PLC, HPLC, HierarchicalMixture, GGM)},
    **{kind: {"check_n_features_in_after_fitting": STREAM} for kind in (CAM, HPLSA)},
}
CHECKED = [
    PLSA(2, max_iter=20),
    PLSA(2, online=True, max_iter=5),
    CAM(max_iter=5, random_state=0),
    CAM(2, max_iter=5, random_state=0, effective_length=None),
    HPLSA(max_iter=5, random_state=0),
    HPLSA(2, max_iter=5, topic_mix="heldout", random_state=0),
    PLC(),
    HPLC(),
    HierarchicalMixture(),
    HPLC(smoothing="cv", calibrate=True),
    PMM(),
    PMM(2, label_prior="calibrated"),
    CategoryLearner(),
    GGM(random_state=0, max_components=3),
    GGM(2, n_init=1, covariance="shared", random_state=0),
    GGM("cv", n_init=1, max_components=2, max_iter=20, covariance="shared", random_state=0),
    GaussianTree(2, random_state=0),
    GaussianTree(max_components=3, random_state=0),
    LSI(2, random_state=0),
    FisherKernel(max_iter=5, random_state=0),
]
STAR, WIDE = Tree.star(3), Tree.star(30)


@parametrize_with_checks(CHECKED, expected_failed_checks=lambda estimator: FAILURES.get(type(estimator), {}))
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # identical documents, few documents, unknown words
        check(estimator)


@pytest.mark.parametrize(
    "make",
    [
        lambda n: CAM(random_state=3, n_threads=n),
        lambda n: HPLSA(random_state=3, n_threads=n),
        lambda n: PLSA(4, random_state=3, n_threads=n, max_iter=30, dtype="float32"),
        lambda n: FisherKernel((1, 4), random_state=3, n_threads=n),
    ],
)
def test_threads_do_not_change_bits(make, monkeypatch):
    monkeypatch.setattr("topiarist.kernels.shard.MIN_SLICE_NONZEROS", 100)
    counts = planted(100)[0]
    fits = [make(n).fit(counts) for n in (1, 2, 3)]
    answers = [fit.kernel(counts) if isinstance(fit, FisherKernel) else fit.transform(counts) for fit in fits]
    for other, answer in zip(fits[1:], answers[1:], strict=True):
        np.testing.assert_array_equal(answer, answers[0])
        assert getattr(other, "tree_", None) == getattr(fits[0], "tree_", None)
        for name in ("components_", "history_"):
            np.testing.assert_array_equal(*(np.hstack(getattr(fit, name, [0])) for fit in (other, fits[0])))


ANNEALED = {"growth": "annealed"}
WRONG_OPTIONS = [
    (PLSA(0), UsageError, "n_components must be a whole number of at least 1, got 0"),
    (PLSA(2.5), UsageError, "n_components must be a whole number of at least 1, got 2.5"),
    (PLSA(50), InputError, r"n_components=50 needs .* documents with words, got 20 \(n_samples=20\)"),
    (PLSA(2, inverse_temperature=0), UsageError, "inverse_temperature must be a number between 0.01 and 1, got 0"),
    (PLSA(2, inverse_temperature="cold"), UsageError, "inverse_temperature must be a number .* got 'cold'"),
    (PLSA(2, word_smoothing=-1), UsageError, "word_smoothing must be a number of at least 0, got -1"),
    (PLSA(2, component_smoothing=np.nan), UsageError, "component_smoothing must be a number of at least 0, got nan"),
    (PLSA(2, heldout_fraction=1.5), UsageError, "heldout_fraction must be a number between 0.001 and 0.9, got 1.5"),
    (PLSA(2, n_threads=0), UsageError, "n_threads must be a whole number of at least 1, got 0"),
    (PLSA(2, dtype="int8"), UsageError, "dtype must be 'float32', 'float64' or None, got 'int8'"),
    (PLSA(2, device="tpu"), UsageError, "device must be one of 'cpu', 'cuda'; got 'tpu'"),
    (PLSA(2, executor="dask"), UsageError, "executor must be None or an object with a method total"),
    (CAM(0), UsageError, "n_clusters must be a whole number of at least 1"),
    (CAM(50), InputError, "n_clusters=50 needs at least as many documents with words, got 20"),
    (CAM(growth="wild"), UsageError, "growth must be one of 'guided', 'annealed'"),
    (CAM(effective_length=0.5), UsageError, "effective_length must be a number"),
    (CAM(tree="root"), InputError, "tree must be a topiarist.Tree or None"),
    (CAM(4, tree=STAR), InputError, "contradicts the given tree, which has 3 leaves"),
    (CAM(tree=WIDE), InputError, "the given tree has 30 leaves, which need at least as many documents"),
    (CAM(heldout_fraction=1.0), UsageError, "heldout_fraction must be a number between 0.001 and 0.9"),
    (HPLSA(0), UsageError, "n_classes must be a whole number of at least 1"),
    (HPLSA(50), InputError, "n_classes=50 needs at least as many documents with words, got 20"),
    (HPLSA(class_nodes="some"), UsageError, "class_nodes must be one of 'leaves', 'all'"),
    (HPLSA(topic_mix="best"), UsageError, "topic_mix must be one of 'ml', 'uniform', 'heldout'"),
    (HPLSA(variant="vem"), UsageError, "variant must be one of 'em', 'cem', 'sem'"),
    (HPLSA(schedule=(0.5, 2.0), **ANNEALED), UsageError, "schedule must be a number between 0.01 and 1"),
    (HPLSA(schedule=(0.5, 1.0)), UsageError, "schedule is for annealed growth only"),
    (HPLSA(schedule=(0.5, 1.0), tree=STAR, **ANNEALED), UsageError, "schedule is for annealed growth only"),
    (HPLSA(schedule=(), **ANNEALED), UsageError, "schedule must be a sequence of inverse temperatures"),
    (HPLSA(schedule=0.5, **ANNEALED), UsageError, "schedule must be a sequence of inverse temperatures"),
    (HPLSA(class_nodes="all"), UsageError, "class_nodes='all' needs a given tree"),
    (HPLSA(tree=WIDE), InputError, "the given tree has 30 leaves, which need at least as many documents"),
    (GGM(0), UsageError, "n_components must be a whole number of at least 1"),
    (GGM(50), InputError, "n_components=50 needs at least as many examples, got 20"),
    (GGM(covariance="tied"), UsageError, "covariance must be one of 'auto', 'full', 'shared'; got"),
    (GGM(split=1.0), UsageError, "split must be a number between 0.01 and 0.99"),
    (GGM(unlabelled_weight=2), UsageError, "unlabelled_weight must be a number between 0 and 1"),
    (GGM(condition_limit=1.0), UsageError, "condition_limit must be a number"),
    (GGM(5, components="own"), UsageError, "needs a multiple of 2 components"),
    (GGM(device="cuda"), UsageError, "device must be one of 'cpu'"),
    (PMM(3), UsageError, "order must be one of 1, 2; got 3"),
    (PMM(word_prior=0.5), UsageError, "word_prior must be a number of at least 1, got 0.5"),
    (PMM(bias_prior="much"), UsageError, "bias_prior must be a number of at least 1, got 'much'"),
    (PMM(label_prior="uniform"), UsageError, "label_prior must be one of None, 'calibrated'; got 'uniform'"),
    (PMM(max_iter=0), UsageError, "max_iter must be a whole number of at least 1, got 0"),
    (PMM(tol=-1), UsageError, "tol must be a number of at least 0, got -1"),
    (PMM(device="tpu"), UsageError, "device must be one of 'cpu'"),
    (HPLC(topic_mix="best"), UsageError, "topic_mix must be one of"),
    (HPLC(smoothing=-1), UsageError, "smoothing must be a number"),
    (HPLC(unlabelled_weight="much"), UsageError, "unlabelled_weight must be a number"),
    (HPLC(effective_length=0), UsageError, "effective_length must be a number"),
    (HPLC(calibrate="yes"), UsageError, "calibrate must be True or False"),
    (HPLC(inverse_temperature=2), UsageError, "inverse_temperature must be a number between"),
    (CategoryLearner(unlabelled_weight=2), UsageError, "unlabelled_weight must be a number between 0 and 1"),
    (CategoryLearner(generative_weight="much"), UsageError, "generative_weight must be a number between 0 and 1"),
    (FisherKernel(()), UsageError, "models must be sizes such as"),
    (FisherKernel((0,)), UsageError, "a size in models must be a whole number of at least 1"),
    (FisherKernel(("many",)), UsageError, "got 'many' among them"),
    (FisherKernel(2.5), UsageError, "got 2.5"),
    (FisherKernel(parts=("topics",)), UsageError, "parts must be some of"),
    (FisherKernel(parts=()), UsageError, "parts must be some of"),
    (FisherKernel(parts=3), UsageError, "parts must be some of"),
    (FisherKernel(normalise="rows"), UsageError, "normalise must be"),
    (FisherKernel(information="full"), UsageError, "information must be"),
    (FisherKernel(parts=("levels",)), UsageError, "'levels' compares the levels of trees, and no model has one"),
    (
        FisherKernel([CAM(tree=STAR)], parts=("levels",), information="diagonal"),
        UsageError,
        "no information='diagonal'",
    ),
]


@pytest.mark.parametrize(("estimator", "error", "message"), WRONG_OPTIONS)
def test_error_names_wrong_option(estimator, error, message):
    counts = np.random.default_rng(0).poisson(2.0, (20, 5)) + 1.0
    with pytest.raises(error, match=message):
        estimator.fit(counts, [0, 1] * 10)


@pytest.mark.parametrize("estimator", [PLSA(2), PMM()])
def test_missing_device_is_an_error(estimator, monkeypatch):
    monkeypatch.setattr("numba.cuda.is_available", lambda: False)
    with pytest.raises(ResourceError, match="device='cuda' needs an NVIDIA GPU"):
        estimator.set_params(device="cuda").fit(np.eye(3) + 1, [0, 1, 0])


@pytest.mark.parametrize("estimator", [PLSA(4), PMM(), HPLC()])
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda x: x * np.nan, "contains NaN"),
        (lambda x: np.where(x > 3, np.inf, x), "contains infinity"),
        (lambda x: x - 5, "Negative values in data"),
        (lambda x: x[0], "cannot be used as counts"),
        (lambda x: x.astype(str), "cannot be used as counts"),
    ],
)
def test_error_names_fault_of_counts(estimator, spoil, message):
    counts = np.random.default_rng(0).poisson(2.0, (20, 5)).astype(float)
    with pytest.raises(InputError, match=message) as caught:
        estimator.fit(spoil(counts), [0, 1] * 10)
    assert caught.value.hint
