"""FisherKernel as people meet it: scikit-learn's laws, classifiers, models of every kind, bad input."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_info

from tests.estimators.test_cam import planted
from tests.oracles import similarity
from topiarist import CAM, HPLC, HPLSA, PLC, PLSA, PMM, FisherKernel, HierarchicalMixture, Tree
from topiarist.errors import InputError, UsageError
from topiarist.estimators.similarity.lenses import make_kernel_view
from topiarist.execution import BlockStore
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.models.engine.host import Engine
from topiarist.models.fisher import scores

LEAVES = np.array(["a", "b", "c", "d"])
TREE = Tree.from_paths(["all/left/a", "all/left/b", "all/right/c", "all/right/d"])


def models_of(counts, leaf):
    return {
        "sizes": (1, 4),
        "PLSA": [PLSA(4, random_state=0, word_smoothing=0.01).fit(counts)],
        "HPLSA": [HPLSA(tree=TREE, random_state=0).fit(counts)],
        "CAM": [CAM(tree=TREE, random_state=0).fit(counts)],
        "HPLC": [HPLC(TREE).fit(counts, LEAVES[leaf])],
        "HierarchicalMixture": [HierarchicalMixture(TREE).fit(counts, LEAVES[leaf])],
        "several": [1, PLSA(3, random_state=0), CAM(tree=TREE, random_state=0).fit(counts)],
    }


@pytest.mark.parametrize("normalise", ["parts", "total", None])
@pytest.mark.parametrize("kind", ["sizes", "PLSA", "HPLSA", "CAM", "HPLC", "HierarchicalMixture", "several"])
def test_features_and_kernel_agree(kind, normalise):
    counts, leaf = planted(60)
    parts = ("topical", "lexical", "plain", *(() if kind in ("sizes", "PLSA") else ("levels",)))
    kernel = FisherKernel(models_of(counts, leaf)[kind], parts=parts, normalise=normalise, random_state=0).fit(counts)
    features, new = kernel.transform(counts), kernel.transform(counts[:7])
    square = kernel.kernel(counts)
    size = np.abs(square).max()
    np.testing.assert_allclose((features @ features.T).toarray(), square, atol=1e-10 * size)
    np.testing.assert_allclose((new @ features.T).toarray(), kernel(counts[:7], counts), atol=1e-10 * size)
    assert features.shape[1] == len(kernel.get_feature_names_out())
    assert np.linalg.eigvalsh(square).min() > -1e-10 * size


def test_anything_with_classes_and_topics_is_a_model():
    """A stranger is taken for a mixture, where a document has one class: the same as CAM."""
    counts, _ = planted(60)
    known = CAM(tree=TREE, random_state=0, effective_length=None).fit(counts)
    stranger = type("Stranger", (), {})()
    stranger.word_given_topic_, stranger.topic_given_class_ = known.word_given_node_, known.node_given_cluster_
    stranger.class_prior_ = known.cluster_prior_
    square = FisherKernel([stranger], parts=("topical", "lexical", "levels")).fit(counts).kernel(counts)
    same = FisherKernel([known], parts=("topical", "lexical", "levels")).fit(counts).kernel(counts)
    np.testing.assert_allclose(square, same, atol=1e-10)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["PLSA", "tempered", "HPLSA", "CAM", "HPLC", "HierarchicalMixture", "PLC"])
def test_documents_are_read_as_the_model_reads_them(kind, dtype):
    counts, leaf = planted(60)
    if kind in ("HPLC", "HierarchicalMixture"):
        model = {"HPLC": HPLC, "HierarchicalMixture": HierarchicalMixture}[kind](TREE, dtype=dtype)
    else:
        model = {
            "PLSA": PLSA(4, random_state=0, word_smoothing=0.01, dtype=dtype),
            "tempered": PLSA(4, random_state=0, inverse_temperature=0.8, dtype=dtype),
            "HPLSA": HPLSA(tree=TREE, random_state=0, dtype=dtype),
            "CAM": CAM(tree=TREE, random_state=0, dtype=dtype),
            "PLC": PLC(dtype=dtype),
        }[kind]
    model.fit(counts, LEAVES[leaf])
    said = model.transform(counts) if hasattr(model, "transform") else model.predict_proba(counts)
    engine = Engine(load(), Threads(1))
    lens = make_kernel_view(model, dtype)
    assert lens.one_class == (kind in ("CAM", "HierarchicalMixture"))
    # single precision sums paths in another order, and a row stops a thousandth before its optimum
    np.testing.assert_allclose(
        scores.read_rows(engine, lens, csr_array(counts)), said, atol=1e-5 if dtype == "float64" else 2e-3
    )


@pytest.mark.parametrize("kind", ["HPLC", "HierarchicalMixture"])
def test_categorisers_are_the_literal_sums(kind):
    """In a mixture on a tree a document has one class, in HPLC each token has its own."""
    counts, leaf = planted(60)
    model = {"HPLC": HPLC, "HierarchicalMixture": HierarchicalMixture}[kind](TREE).fit(counts, LEAVES[leaf])
    some = np.asarray(counts.toarray() if hasattr(counts, "toarray") else counts)[:5]
    rows, mix, words = model.predict_proba(some), model.topic_given_class_, model.word_given_topic_
    one_class = kind == "HierarchicalMixture"
    pairs = [(i, n) for i in range(5) for n in range(5)]
    wanted = {
        "topical": [similarity.topical(rows[i], rows[n], model.class_prior_) for i, n in pairs],
        "lexical": [similarity.lexical(some[i], some[n], rows[i], rows[n], mix, words, one_class) for i, n in pairs],
        "levels": [similarity.levels(some[i], some[n], rows[i], rows[n], mix, words, one_class) for i, n in pairs],
    }
    for part, values in wanted.items():
        kernel = FisherKernel([model], parts=(part,), normalise=None)
        square = np.reshape(values, (5, 5))
        np.testing.assert_allclose(kernel(some), square, atol=1e-10 * max(1, np.abs(square).max()), err_msg=part)


def test_models_that_learn_from_labels_are_given_them():
    """Documents without a label join in."""
    counts, leaf = planted(80)
    labels = np.where(np.arange(80) < 40, LEAVES[leaf], "-1")
    kernel = FisherKernel([1, HPLC(TREE, unlabelled_weight=0.5)], random_state=0).fit(counts, labels)
    alone = HPLC(TREE, unlabelled_weight=0.5).fit(counts, labels)
    np.testing.assert_array_equal(kernel.models_[1].word_given_topic_, alone.word_given_topic_)
    fewer = HPLC(TREE).fit(counts[:40], LEAVES[leaf[:40]])
    assert not np.allclose(fewer.word_given_topic_, alone.word_given_topic_)
    with pytest.raises(UsageError, match="learns from labels, and y is None"):
        FisherKernel([HPLC(TREE)]).fit(counts)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"parts": ("topical",)}, {"parts": ("lexical",)}),
        ({"parts": ("lexical",)}, {"parts": ("lexical", "plain")}),
        ({"normalise": "parts"}, {"normalise": "total"}),
        ({"normalise": None}, {"normalise": "total"}),
        ({"information": "identity"}, {"information": "diagonal"}),
        ({"information": "hofmann"}, {"information": "diagonal"}),
        ({"inverse_temperature": 1.0}, {"inverse_temperature": 0.5}),
        ({"word_smoothing": 0.0}, {"word_smoothing": 0.5}),
        ({"heldout_fraction": None}, {"heldout_fraction": 0.3}),
        ({"models": (4,)}, {"models": (1, 4)}),
        ({"n_init": 1}, {"n_init": 5}),
    ],
)
def test_every_option_matters(one, other):
    counts, _ = planted(60)
    plain = {"models": (4,), "random_state": 0, "max_iter": 20}
    first, second = (FisherKernel(**(plain | options)).fit(counts).kernel(counts) for options in (one, other))
    assert not np.allclose(first, second)


def test_classifiers_use_it():
    """Labelled and unlabelled documents teach the models; few labelled ones teach the classifier."""
    counts, leaf = planted(200, length=60)
    kernel = FisherKernel((1, 4), random_state=0).fit(counts)
    train, test = np.arange(12), np.arange(12, 200)
    sure = SVC(kernel=kernel, C=10).fit(counts[train], leaf[train]).score(counts[test], leaf[test])
    assert sure > 0.95
    features = kernel.transform(counts)
    linear = LinearSVC(C=10).fit(features[train], leaf[train])
    assert linear.score(features[test], leaf[test]) > 0.95
    near = KNeighborsClassifier(1, metric="cosine").fit(features[train], leaf[train])
    assert near.score(features[test], leaf[test]) > 0.95
    piped = make_pipeline(FisherKernel((1, 4), random_state=0), LinearSVC()).fit(counts, leaf)
    assert piped.score(counts, leaf) > 0.95


def test_fitted_models_outlive_a_clone():
    """So that cross-validation of a classifier does not fit them again and again, nor to fewer documents."""
    counts, leaf = planted(80, length=60)
    kernel = FisherKernel((1, 4), random_state=0).fit(counts)
    ready = FisherKernel(kernel.models_)
    assert clone(ready).models[1] is kernel.models_[1]
    np.testing.assert_array_equal(ready(counts), kernel.kernel(counts))
    assert cross_val_score(SVC(kernel=ready, C=10), counts, leaf, cv=3).mean() > 0.9


@pytest.mark.parametrize("information", ["identity", "diagonal", "hofmann"])
def test_a_frozen_kernel_is_not_fitted_again(information):
    """As a classifier of scikit-learn clones its kernel, which would be unfitted then."""
    counts, leaf = planted(80, length=60)
    kernel = FisherKernel((1, 4), information=information, random_state=0).fit(counts)
    frozen = kernel.frozen()
    assert clone(SVC(kernel=frozen)).kernel is frozen
    np.testing.assert_array_equal(frozen(counts[:5], counts), kernel.kernel(counts[:5], counts))
    assert cross_val_score(SVC(kernel=frozen, C=10), counts, leaf, cv=3, error_score="raise").mean() > 0.9
    assert repr(frozen).startswith("FisherKernel(")
    assert repr(frozen).endswith(".frozen()")
    with pytest.raises(NotFittedError):
        FisherKernel().frozen()


def test_fitted_models_need_no_fit():
    counts, _ = planted(40)
    models = FisherKernel((1, 3), random_state=0).fit(counts).models_
    fitted, ready = FisherKernel(models).fit(counts), FisherKernel(models)
    np.testing.assert_array_equal(ready.kernel(counts), fitted.kernel(counts))
    np.testing.assert_array_equal(ready.transform(counts).toarray(), fitted.transform(counts).toarray())
    assert ready.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()
    assert ready.frozen()(counts).shape == (40, 40)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"normalise": "rows"}, "normalise must be"),
        ({"parts": ("topics",)}, "parts must be some of"),
        ({"parts": ("levels",)}, "no model has one"),
        ({"information": "diagonal"}, "information='diagonal' was set after the fit"),
    ],
)
def test_options_that_change_later_are_checked_when_they_are_used(changes, message):
    counts, _ = planted(40)
    kernel = FisherKernel((1, 2), random_state=0).fit(counts).set_params(**changes)
    for use in (kernel.transform, kernel.kernel, kernel):
        with pytest.raises(UsageError, match=message):
            use(counts)


@pytest.mark.parametrize("stranger", [KMeans(2), PMM(), NMF(2)], ids=lambda model: type(model).__name__)
def test_models_of_other_kinds_are_found_out_before_anything_is_fitted(stranger, monkeypatch):
    monkeypatch.setattr(PLSA, "fit", lambda *_: pytest.fail("it was fitted"))
    counts, _ = planted(40)
    kinds = "PLSA, HPLSA, CAM, PLC, HPLC, HierarchicalMixture"
    with pytest.raises(UsageError, match=rf"models of the kinds {kinds}, .* got {type(stranger).__name__}\("):
        FisherKernel([64, stranger]).fit(counts)


def test_threads_that_share_a_kernel_leave_other_libraries_alone():
    counts, _ = planted(60)
    kernel = FisherKernel((1, 3), random_state=0, n_threads=1).fit(counts)
    before = [(one["internal_api"], one["num_threads"]) for one in threadpool_info() if one["user_api"] == "blas"]
    with ThreadPoolExecutor(6) as pool:
        squares = list(pool.map(lambda _: kernel.kernel(counts), range(24)))
    after = [(one["internal_api"], one["num_threads"]) for one in threadpool_info() if one["user_api"] == "blas"]
    assert after == before
    assert all(np.array_equal(square, squares[0]) for square in squares)


def test_features_have_names():
    counts, _ = planted(30)
    tree = CAM(tree=TREE, random_state=0).fit(counts)
    kernel = FisherKernel([2, tree], parts=("topical", "lexical", "levels", "plain"), random_state=0).fit(counts)
    names = kernel.get_feature_names_out([f"w{number}" for number in range(counts.shape[1])])
    assert len(set(names)) == len(names) == kernel.transform(counts).shape[1]
    for name in ("0.plsa2.topical.1", "0.plsa2.lexical.w3.1", "1.cam4.topical.3", "plain.w0"):
        assert name in names
    empty = np.zeros((1, counts.shape[1]))
    empty[0, 3] = 1
    found = kernel.transform(empty).indices
    assert all(".lexical.w3." in name or name == "plain.w3" or ".lexical." not in name for name in names[found])


def test_too_many_features_have_no_names(monkeypatch):
    counts, _ = planted(30)
    kernel = FisherKernel((2,), random_state=0).fit(counts)
    monkeypatch.setattr("topiarist.estimators.similarity.fisher_kernel.MAX_NAMES", 10)
    with pytest.raises(UsageError, match="expected at most 10 features to name"):
        kernel.get_feature_names_out()


def test_where_no_token_can_be_held_out_that_is_said():
    counts = np.eye(6) * np.arange(1, 7)[:, None].clip(max=1)
    with pytest.warns(UserWarning, match="temper 2 topics"):
        kernel = FisherKernel((1, 2), random_state=0).fit(counts)
    assert kernel.models_[1].inverse_temperature_ == 1.0


def test_sizes_limited_by_documents_with_words():
    counts = np.vstack([np.eye(6) + 1, np.zeros((2, 6))])
    with pytest.warns(UserWarning, match="n_components is 6"):
        kernel = FisherKernel(random_state=0).fit(counts)
    assert [model.n_components for model in kernel.models_] == [1, 6]
    assert np.isfinite(kernel.kernel(counts)).all()
    with pytest.warns(UserWarning, match="got 1: n_components is 1"):
        FisherKernel((2,)).fit(counts[:1])
    with pytest.raises(InputError, match="words"):
        FisherKernel().fit(counts[6:])


def test_other_errors_of_a_fit_are_not_taken_for_too_few_tokens(monkeypatch):
    def fail(*_):
        raise InputError("something else")

    monkeypatch.setattr(PLSA, "fit", fail)
    with pytest.raises(InputError, match="something else"):
        FisherKernel((2,)).fit(planted(40)[0])


def test_dense_and_sparse_counts_are_the_same():
    counts, _ = planted(40)
    kernel = FisherKernel((3,), random_state=0).fit(counts)
    dense = counts.toarray() if hasattr(counts, "toarray") else counts
    np.testing.assert_array_equal(kernel.kernel(dense), kernel.kernel(csr_matrix(dense)))


def test_documents_without_words_are_nobodys_neighbour_by_words():
    counts, _ = planted(40)
    kernel = FisherKernel((3,), parts=("lexical", "plain"), random_state=0).fit(counts)
    empty = np.zeros((1, counts.shape[1]))
    assert not kernel.kernel(empty, counts).any()
    assert kernel.transform(empty).nnz == 0


def test_models_of_another_vocabulary_are_refused():
    counts, _ = planted(40)
    model = PLSA(2, random_state=0).fit(counts[:, :-1])
    with pytest.raises(InputError, match=r"the models know .* words, the counts have"):
        FisherKernel([model]).fit(counts)
    with pytest.raises(InputError, match="the models know"):
        FisherKernel([model, PLSA(2, random_state=0).fit(counts)])(counts)


def test_the_diagonal_needs_documents():
    counts, _ = planted(40)
    kernel = FisherKernel([PLSA(2, random_state=0).fit(counts)], information="diagonal")
    for use in (kernel, kernel.kernel, kernel.transform):
        with pytest.raises(UsageError, match="requires documents"):
            use(counts)


def test_stores_are_refused_with_advice(tmp_path):
    counts, _ = planted(40)
    store = BlockStore.write(tmp_path / "store", counts)
    with pytest.raises(UsageError, match="fitting a FisherKernel needs counts in memory"):
        FisherKernel((2,)).fit(store)
