"""Categorisers as people meet them: scikit-learn's laws, golden cases, trees, levels, labels, bad input."""

import json
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, learning_curve
from sklearn.preprocessing import MultiLabelBinarizer

from topiarist import CAM, HPLC, HPLSA, PLC, PMM, HierarchicalMixture, Tree, metrics
from topiarist.errors import InputError, UsageError

GOLDEN = json.loads((Path(__file__).parents[1] / "fixtures" / "categorisers.json").read_text())
TRAIN, LABELS, TEST = (np.array(GOLDEN[name]) for name in ("train", "labels", "test"))
GOLDEN_TREE = Tree(tuple(GOLDEN["parent"]), ("", "left", "right", "0", "1", "2"))
PLAIN = {"smoothing": 0.0, "effective_length": None, "tol": 0.0}


def planted(n_docs=120, n_words=40, length=30, seed=0):
    """Documents of four classes under two parents: words of everybody, of the parent, and of the class."""
    rng = np.random.default_rng(seed)
    tree = Tree.from_paths(["all/left/a", "all/left/b", "all/right/c", "all/right/d"])
    words = rng.dirichlet(np.full(n_words, 0.15), len(tree))
    mask = tree.path_mask()
    mix = mask * np.where(np.array(tree.depths) == 0, 0.5, 0.25)
    labels = rng.integers(4, size=n_docs)
    names = np.array([tree.names[leaf] for leaf in tree.leaves])
    counts = np.stack([rng.multinomial(length, row) for row in (mix @ words)[labels]])
    return counts, names[labels], tree


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("plc", PLC(**PLAIN)),
        ("plc", HPLC(**PLAIN)),
        ("nb", HierarchicalMixture(**{**PLAIN, "smoothing": 0.5})),
        ("hplc_uniform_5it", HPLC(GOLDEN_TREE, topic_mix="uniform", max_iter=5, **PLAIN)),
        ("hplc_ml_5it", HPLC(GOLDEN_TREE, topic_mix="ml", max_iter=5, **PLAIN)),
        (
            "himi_uniform_5it",
            HierarchicalMixture(GOLDEN_TREE, topic_mix="uniform", max_iter=5, **{**PLAIN, "smoothing": 0.5}),
        ),
        ("hacm_5it", HierarchicalMixture(GOLDEN_TREE, topic_mix="ml", max_iter=5, **{**PLAIN, "smoothing": 0.5})),
    ],
)
def test_fit_matches_golden_cases(name, model):
    model.fit(TRAIN, LABELS)
    np.testing.assert_allclose(model.class_prior_, GOLDEN[name]["pa"], atol=1e-12)
    np.testing.assert_allclose(model.components_, GOLDEN[name]["pja"], atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(TEST), GOLDEN[name]["posterior"], atol=1e-8)


@pytest.mark.parametrize("options", [{}, PLAIN, {"calibrate": True}, {"smoothing": "cv"}])
def test_plc_is_hplc_without_a_hierarchy(options):
    """Exactly, in two ways: no tree, and a flat one under maximum likelihood."""
    counts, labels, _ = planted()
    flat = Tree.from_paths(["all/a", "all/b", "all/c", "all/d"])
    plc = PLC(**options).fit(counts, labels)
    for other in (HPLC(**options), HPLC(flat, topic_mix="ml", **options)):
        other.fit(counts, labels)
        np.testing.assert_array_equal(other.predict_proba(counts), plc.predict_proba(counts))
        np.testing.assert_array_equal(other.word_given_topic_, plc.word_given_topic_)


def test_maximum_likelihood_on_any_tree_tends_to_plc():
    counts, labels, tree = planted()
    plc = PLC(**PLAIN).fit(counts, labels)
    ml = HPLC(tree, topic_mix="ml", max_iter=3000, **PLAIN).fit(counts, labels)
    np.testing.assert_allclose(ml.predict_proba(counts), plc.predict_proba(counts), atol=2e-3)


@pytest.mark.parametrize("kind", [HPLC, HierarchicalMixture])
@pytest.mark.parametrize("mix", ["heldout", "uniform", "ml"])
@pytest.mark.parametrize("beta", [1.0, 0.7])
def test_what_is_learned_is_a_model(kind, mix, beta):
    counts, labels, tree = planted()
    model = kind(tree, topic_mix=mix, inverse_temperature=beta).fit(counts, labels)
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    for rows in (model.word_given_topic_, model.topic_given_class_, model.predict_proba(counts)):
        np.testing.assert_allclose(rows.sum(axis=1), 1)
    assert (model.topic_given_class_[~tree.path_mask(model.class_nodes_)] == 0).all()
    assert model.class_prior_.sum() == pytest.approx(1)
    assert (np.diff(model.history_) >= -1e-9 * np.abs(model.history_[:-1])).all()
    assert model.score(counts, labels) > 0.85


def test_the_tree_helps_small_samples():
    gains = []
    for seed in range(5):
        counts, labels, tree = planted(400, n_words=300, length=40, seed=seed)
        small = np.arange(400) < 24
        scores = [
            model.fit(counts[small], labels[small]).score(counts[~small], labels[~small])
            for model in (HPLC(tree), PLC())
        ]
        gains.append(scores[0] - scores[1])
    assert np.mean(gains) > 0


def test_threads_and_company_change_nothing():
    counts, labels, tree = planted()
    one, three = (HPLC(tree, n_threads=n, unlabelled_weight=0.5) for n in (1, 3))
    some = [label if place % 3 else None for place, label in enumerate(labels)]
    told = [model.fit(counts, some).predict_proba(counts) for model in (one, three)]
    np.testing.assert_array_equal(*told)
    alone = np.concatenate([one.predict_proba(row[None]) for row in counts[:20]])
    np.testing.assert_array_equal(alone, told[0][:20])


def test_single_precision_is_near_the_limit():
    rng = np.random.default_rng(0)
    common = rng.dirichlet(np.full(900, 0.05))
    words = 0.7 * common + 0.3 * rng.dirichlet(np.full(900, 0.05), 20)
    labels = np.arange(400) % 20
    counts = np.stack([rng.multinomial(rng.integers(20, 400), words[label]) for label in labels])
    for smoothing in (0.01, 0.1):
        single, exact = (
            HPLC(dtype=dtype, smoothing=smoothing).fit(counts[:200], labels[:200]).predict_proba(counts[200:])
            for dtype in ("float32", "float64")
        )
        assert np.abs(single - exact).max() < 0.01


def test_classes_at_inner_nodes():
    counts, labels, tree = planted()
    labels = np.where(np.isin(labels, ["c", "d"]), "right", labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = HPLC(tree).fit(counts, labels)
    assert [tree.names[node] for node in model.class_nodes_] == ["a", "b", "right"]
    assert model.score(counts, labels) > 0.9
    assert set(model.predict_path(counts, 0.0)) <= set(model.class_nodes_)


def test_filing_at_the_deepest_certain_level():
    counts, labels, tree = planted(300)
    model = HPLC(tree, calibrate=True).fit(counts[:150], labels[:150])
    nodes = model.node_posterior(counts)
    np.testing.assert_allclose(nodes[:, tree.root], 1)
    for node, parent in enumerate(tree.parents):
        if parent >= 0:
            assert (nodes[:, node] <= nodes[:, parent] + 1e-12).all()
    filed = model.predict_path(counts, 0.8)
    assert (nodes[np.arange(len(filed)), filed] > 0.8).all()
    deeper = [max((nodes[d, child] for child in tree.children(filed[d])), default=0) for d in range(len(filed))]
    assert (np.array(deeper) <= 0.8).all()
    assert model.paths(filed[:1])[0][0] == "all"
    curve = model.level_curve(counts[150:], labels[150:], rho=(0.0, 0.5, 0.9, 0.999))
    assert curve.coverage[0] == 1
    assert curve.accuracy[0] == pytest.approx(model.score(counts[150:], labels[150:]))
    assert (np.diff(curve.coverage) <= 0).all()
    assert curve.accuracy[-1] >= curve.accuracy[0]
    assert "accuracy" in str(curve)


@pytest.mark.parametrize("grown", [HPLSA(4, random_state=0, max_iter=10), CAM(4, random_state=0)])
def test_grown_trees_file_too(grown):
    counts, _, _ = planted()
    grown.fit(counts)
    filed = grown.predict_path(counts, 0.5)
    assert filed.shape == (len(counts),)
    posterior = grown.node_posterior(counts)
    assert (posterior[np.arange(len(filed)), filed] > 0.5).all()
    assert (grown.predict_path(counts, 1.0) == grown.tree_.root).all()


def test_unlabelled_documents_help():
    counts, labels, tree = planted(600, n_words=300, length=25, seed=3)
    few = [label if place < 16 else None for place, label in enumerate(labels)]
    scores = {
        weight: HPLC(tree, unlabelled_weight=weight).fit(counts, few).score(counts[16:], labels[16:])
        for weight in (0.0, 0.2)
    }
    assert scores[0.2] > scores[0.0]
    chosen = HPLC(tree, unlabelled_weight="cv").fit(counts, few)
    assert chosen.unlabelled_weight_ > 0
    assert chosen.score(counts[16:], labels[16:]) > scores[0.0]
    alone = HPLC(tree).fit(counts[:16], labels[:16])
    without = HPLC(tree, unlabelled_weight=0).fit(counts, few)
    np.testing.assert_array_equal(alone.predict_proba(counts), without.predict_proba(counts))


@pytest.mark.parametrize("mark", [None, -1, "-1"])
def test_marks_of_unlabelled_documents(mark):
    counts, labels, tree = planted()
    some = [label if place % 2 else mark for place, label in enumerate(labels)]
    model = HPLC(tree).fit(counts, some)
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    numbers = np.where(np.arange(len(labels)) % 2, np.searchsorted(["a", "b", "c", "d"], labels), -1)
    assert HPLC().fit(counts, numbers).classes_.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "given",
    [
        [np.str_("a"), "b", None] * 40,
        np.array([np.str_("a"), "b", None] * 40, object),
        pd.Series(["a", "b", pd.NA] * 40, dtype="string"),
        pd.Series(["a", "b", pd.NA] * 40, dtype=object),
        pd.Series([0, 1, pd.NA] * 40, dtype=object),
    ],
)
def test_labels_of_many_kinds(given):
    counts, _, _ = planted()
    model = PLC().fit(counts, given)
    plain = PLC().fit(counts, [0, 1, -1] * 40)
    assert model.classes_.tolist() in (["a", "b"], [0, 1])
    np.testing.assert_array_equal(model.predict_proba(counts), plain.predict_proba(counts))
    assert model.score(counts, given) == plain.score(counts, [0, 1, -1] * 40)


@pytest.mark.parametrize("mark", [None, -1])
def test_documents_without_a_label_are_not_scored(mark):
    counts, labels, tree = planted()
    known = np.arange(len(labels)) % 2 == 1
    weights = np.random.default_rng(0).random(len(labels))
    some = [label if here else mark for label, here in zip(labels, known, strict=True)]
    model = HPLC(tree).fit(counts, some)
    labels[:20] = labels[1:21]  # so that not all are right
    some = [label if here else mark for label, here in zip(labels, known, strict=True)]
    right = model.predict(counts[known]) == labels[known]
    assert 0.5 < right.mean() < 1
    assert model.score(counts, some) == pytest.approx(right.mean())
    assert model.score(counts, np.array(some, object)[:, None]) == pytest.approx(right.mean())
    assert model.score(counts, some, weights) == pytest.approx(np.average(right, weights=weights[known]))
    with pytest.raises(InputError, match="120 without a label"):
        model.score(counts, [mark] * len(labels))
    with pytest.raises(InputError, match="a label for each document to score"):
        model.score(counts, np.eye(4)[np.arange(len(labels)) % 4])
    search = GridSearchCV(HPLC(tree), {"unlabelled_weight": [0.0, 0.2]}, cv=3).fit(counts, np.array(some, object))
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_several_labels_are_so_many_documents():
    counts, labels, _ = planted()
    sets = [{label, "a"} if place % 5 == 0 else {label} for place, label in enumerate(labels)]
    binarizer = MultiLabelBinarizer()
    indicator = binarizer.fit_transform(sets)
    rows, columns = indicator.nonzero()
    wanted = PLC(unlabelled_weight=0).fit(counts[rows], binarizer.classes_[columns])
    for y in (
        pd.DataFrame(indicator, columns=binarizer.classes_),
        csr_matrix(indicator),
        indicator,
        indicator.tolist(),
    ):
        model = PLC(unlabelled_weight=0).fit(counts, y)
        np.testing.assert_allclose(model.predict_proba(counts), wanted.predict_proba(counts), atol=1e-12)
    indicator[:10] = 0
    rows, columns = indicator.nonzero()
    alone = PLC(unlabelled_weight=0).fit(counts[rows], binarizer.classes_[columns])
    without, helped = (PLC(unlabelled_weight=weight).fit(counts, indicator) for weight in (0.0, 0.2))
    np.testing.assert_allclose(without.predict_proba(counts), alone.predict_proba(counts), atol=1e-12)
    extra = 0.2 * np.minimum(counts[:10].sum(axis=1), 40).sum()  # a document without any label is unlabelled
    assert helped.class_tokens_.sum() == pytest.approx(without.class_tokens_.sum() + extra)


@pytest.mark.parametrize("kind", [csr_matrix, csr_array, coo_array])
def test_a_sparse_matrix_of_labels_is_only_read(kind):
    """Zeros that are stored, labels that are said twice and arrays that must not be written to change nothing."""
    counts, labels, _ = planted()
    wanted = np.eye(4, dtype=int)[np.searchsorted(["a", "b", "c", "d"], labels)]
    rows, columns = wanted.nonzero()
    twice = np.tile(rows, 2), np.tile(columns, 2)
    given = coo_array((np.ones(len(rows) * 2, int), twice), shape=wanted.shape)
    if kind is not coo_array:
        order = np.argsort(twice[0], kind="stable")
        indptr = np.arange(len(rows) + 1) * 2
        given = kind((np.ones(len(order), int), twice[1][order], indptr), shape=wanted.shape)
        given.indices[1], given.data[1] = 3 - given.indices[0], 0
    arrays = [given.data, *((given.row, given.col) if kind is coo_array else (given.indices, given.indptr))]
    for array in arrays:
        array.flags.writeable = False
    before = [array.copy() for array in arrays]
    np.testing.assert_array_equal(PLC().fit(counts, given).class_tokens_, PLC().fit(counts, wanted).class_tokens_)
    np.testing.assert_array_equal(
        PMM().fit(counts, given).word_given_label_, PMM().fit(counts, wanted).word_given_label_
    )
    assert given.nnz == 2 * len(rows)
    for array, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_calibration_brings_probabilities_to_what_they_say():
    counts, labels, tree = planted(800, n_words=200, length=25, seed=1)
    train = np.arange(800) < 200
    errors = {}
    for kind in (HPLC, HierarchicalMixture):
        for calibrate in (False, True):
            model = kind(tree, calibrate=calibrate).fit(counts[train], labels[train])
            told = model.predict_proba(counts[~train])
            right = model.classes_[told.argmax(axis=1)] == labels[~train]
            errors[kind.__name__, calibrate] = metrics.calibration_error(told.max(axis=1), right)
    assert errors["HPLC", True] < errors["HPLC", False] / 2
    assert max(errors["HPLC", True], errors["HierarchicalMixture", True]) < 0.05
    plain, calibrated = (HPLC(tree, calibrate=c).fit(counts[train], labels[train]) for c in (False, True))
    np.testing.assert_array_equal(plain.predict(counts), calibrated.predict(counts))
    assert calibrated.sharpness_ != 1
    wrapped = CalibratedClassifierCV(HPLC(tree), cv=3).fit(counts[train], labels[train])
    assert wrapped.predict_proba(counts).shape == (800, 4)


def of_two_lengths(n_docs=900, seed=1):
    """Documents whose words come in bursts, a third of them very long: words of one document are not independent."""
    rng = np.random.default_rng(seed)
    _, _, tree = planted(4)
    words = rng.dirichlet(np.full(200, 0.15), len(tree))
    classes = (tree.path_mask() * np.where(np.array(tree.depths) == 0, 0.6, 0.2)) @ words
    numbers, lengths = np.arange(n_docs) % 4, np.where(rng.random(n_docs) < 1 / 3, 400, 12)
    bursts = [rng.dirichlet(20.0 * classes[number] + 1e-3) for number in numbers]
    counts = np.stack([rng.multinomial(length, own) for length, own in zip(lengths, bursts, strict=True)])
    return counts, np.array([tree.names[leaf] for leaf in tree.leaves])[numbers], tree


@pytest.mark.parametrize("kind", [PLC, HPLC, HierarchicalMixture])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_repeated_document_is_never_less_certain(kind, dtype):
    counts, labels, tree = of_two_lengths(300)
    own = {} if kind is PLC else {"tree": tree}
    model = kind(calibrate=True, dtype=dtype, **own).fit(counts, labels)
    assert model.half_length_ >= 0
    before = model.predict_proba(counts[:80])
    for times in (2, 10, 640):
        after = model.predict_proba(counts[:80] * times)
        np.testing.assert_array_equal(after.argmax(axis=1), before.argmax(axis=1))
        assert (after.max(axis=1) >= before.max(axis=1)).all()
        before = after
    raw = HPLC(tree).fit(counts, labels)  # the erratum of (13): there a long document tends to all classes alike
    assert raw.predict_proba(counts[:80] * 640).max(axis=1).mean() < raw.predict_proba(counts[:80]).max(axis=1).mean()


@pytest.mark.parametrize("kind", [HPLC, HierarchicalMixture])
def test_calibration_holds_at_every_length(kind):
    counts, labels, tree = of_two_lengths()
    train = np.arange(len(labels)) < 400
    model = kind(tree, calibrate=True).fit(counts[train], labels[train])
    rows = model.predict_proba(counts[~train])
    certain, right = rows.max(axis=1), model.classes_[rows.argmax(axis=1)] == labels[~train]
    long = counts[~train].sum(axis=1) > 12
    for part in (long, ~long):
        assert abs(certain[part].mean() - right[part].mean()) < 0.05


def test_few_documents_are_not_calibrated():
    with pytest.warns(UserWarning, match="certainties are not calibrated. Expected at least 20 .* got 6"):
        model = HPLC(calibrate=True).fit(COUNTS, ABC)
    np.testing.assert_array_equal(model.predict_proba(COUNTS), HPLC().fit(COUNTS, ABC).predict_proba(COUNTS))
    assert (model.sharpness_, model.floor_, model.half_length_) == (1.0, 0.0, None)


def test_calibration_passes_over_classes_of_one_document():
    counts, labels, _ = planted()
    labels = labels.astype(object)
    labels[:5] = ["only", "first", "second", "third", "fourth"]
    model = HPLC(calibrate=True).fit(counts, labels)
    assert model.half_length_ is not None
    assert model.predict_proba(counts[5:]).max(axis=1).mean() > 0.7


def test_scikit_learn_chooses():
    counts, labels, tree = planted()
    grid = {"topic_mix": ["heldout", "uniform"], "smoothing": [0.01, 0.1]}
    search = GridSearchCV(HPLC(tree), grid, cv=3).fit(counts, labels)
    assert search.best_score_ > 0.8
    _, _, scores = learning_curve(
        HPLC(tree), counts, labels, train_sizes=[0.3, 1.0], cv=3, shuffle=True, random_state=0
    )
    assert scores.shape == (2, 3)


def total(reason):
    return sum(evidence.weight for evidence in (*reason.for_it, *reason.against))


def test_the_steps_to_a_class_with_others_below_it_end_with_staying_there():
    counts, labels, tree = planted()
    labels = np.where(np.arange(len(labels)) % 3 == 0, "left", labels)
    labels = np.where(np.arange(len(labels)) % 7 == 0, "all", labels)
    model = HPLC(tree).fit(counts, labels)
    for name in ("left", "all"):
        row = int(model.predict_proba(counts)[:, model.classes_.tolist().index(name)].argmax())
        told = model.explain(counts[row], n_words=counts.shape[1], n_labels=1)
        assert told.labels[0].name == name
        assert told.levels[-1].name == f"{name} itself"
        assert told.levels[-1].probability == pytest.approx(told.labels[0].probability)
        assert sum(total(step) for step in told.levels) == pytest.approx(total(told.labels[0]))


def test_reasons_of_a_mixture_are_the_odds_of_its_classes():
    counts, labels, tree = planted()
    model = HierarchicalMixture(tree, effective_length=10.0).fit(counts, labels)
    told = model.explain(counts[0], n_words=counts.shape[1], n_labels=4)
    sizes = dict(zip(model.classes_, model.class_prior_, strict=True))
    said = [total(label) + np.log(sizes[label.name]) for label in told.labels]
    odds = np.log([label.probability for label in told.labels])
    np.testing.assert_allclose(np.diff(said), np.diff(odds), rtol=1e-6)
    assert {evidence.times for evidence in told.labels[0].for_it} <= set(counts[0].astype(float))


def test_reasons():
    counts, labels, tree = planted()
    model = HPLC(tree).fit(counts, labels)
    words = [f"word{place}" for place in range(counts.shape[1])]
    told = model.explain(counts[0], words=words, n_words=counts.shape[1])
    assert told.labels[0].name == model.predict(counts[:1])[0]
    assert told.labels[0].probability == pytest.approx(model.predict_proba(counts[:1]).max())
    assert [step.name for step in told.levels] == list(tree.path_names(tree.find(told.labels[0].name))[1:])
    assert sum(total(step) for step in told.levels) == pytest.approx(total(told.labels[0]))
    assert "word" in str(told)
    for row in (counts[:1], counts[0].tolist(), [counts[0].tolist()], csr_array(counts)[0], csr_matrix(counts)[0]):
        assert str(model.explain(row, words=words, n_words=counts.shape[1])) == str(told)
    with pytest.raises(InputError, match="the names of 40 words, got 3"):
        model.explain(counts[0], words=words[:3])
    strange = np.zeros(counts.shape[1])
    assert "No word of the document is known" in str(model.explain(strange))


def test_a_document_without_known_words_gets_the_prior():
    counts, labels, tree = planted()
    counts = np.hstack([counts, np.zeros((len(counts), 1), int)])
    strange = np.zeros((2, counts.shape[1]))
    strange[1, -1] = 5
    for kind, calibrate in product((HPLC, HierarchicalMixture), (False, True)):
        model = kind(tree, calibrate=calibrate).fit(counts, labels)
        assert (model.sharpness_ != 1) == calibrate
        np.testing.assert_allclose(model.predict_proba(strange), np.tile(model.class_prior_, (2, 1)))
        assert model.without_known_words(strange).tolist() == [True, True]
        assert not model.without_known_words(counts).any()


COUNTS = np.arange(24).reshape(6, 4) % 5
ABC = ["a", "b", "a", "b", "a", "b"]


@pytest.mark.parametrize(
    ("options", "X", "y", "error", "message"),
    [
        ({}, COUNTS, None, InputError, "requires y to be passed"),
        ({}, COUNTS, [["a"], ["a", "b"], [], ["b"], ["a"], ["b"]], InputError, "MultiLabelBinarizer"),
        ({}, COUNTS, ["a"] * 6, InputError, "at least two classes, got one class: .*'a'"),
        ({}, COUNTS, [-1] * 6, InputError, "6 without a label"),
        ({}, COUNTS, [0.0, np.nan, 1, 0, 1, 0], InputError, "y contains NaN"),
        ({}, COUNTS, [0.5, 1.2, 1, 0, 1, 0], InputError, "Unknown label type"),
        ({}, COUNTS, ["a", "b"], ValueError, "inconsistent numbers of samples"),
        ({}, COUNTS, np.full((6, 2), 3), InputError, "indicator matrix of 0 and 1"),
        ({}, COUNTS, np.tile([1, 0, 1], (6, 1)), InputError, r"no document has the label .*1"),
        ({}, COUNTS, np.ones((5, 2)), InputError, "labels of 6 documents"),
        ({}, COUNTS, np.array(["a", 1, "a", 1, "a", 1.5], dtype=object), InputError, "labels of one kind"),
        ({}, COUNTS, np.array([["a", "b"]] * 6), InputError, "expected a matrix of 0 and 1, got array"),
        ({}, COUNTS, np.array([b"a", b"b"] * 3), InputError, "got bytes"),
        ({}, COUNTS, [b"a", None, b"b"] * 2, InputError, "got bytes"),
        ({}, COUNTS, pd.Series([0, 1, pd.NA] * 2, dtype="Int64"), InputError, "y contains NaN"),
        ({}, COUNTS, csr_array(COUNTS)[0], InputError, "labels of 6 documents"),
        ({}, -COUNTS, ABC, InputError, "Negative values"),
        ({}, COUNTS * np.nan, ABC, InputError, "NaN"),
        ({}, COUNTS[:, 0], ABC, InputError, "cannot be used as counts"),
        ({}, COUNTS * np.array([[1], [0]] * 3), ABC, InputError, "the class .*'b'.* has no document with words"),
        ({"tree": Tree.from_paths(["r/a", "r/c"])}, COUNTS, ABC, InputError, "label 'b' is not in the tree"),
        ({"tree": Tree.from_paths(["r/x/b", "r/y/b", "r/a"])}, COUNTS, ABC, InputError, "which 2 have"),
        ({"tree": "r/a"}, COUNTS, ABC, InputError, "topiarist.Tree or None"),
    ],
)
def test_bad_input_says_what_was_expected(options, X, y, error, message):
    with pytest.raises(error, match=message):
        HPLC(**options).fit(X, y)


def test_leaves_without_documents_are_named():
    with pytest.warns(UserWarning, match="1 leaves of the tree have no labelled document .* 'c'"):
        HPLC(Tree.from_paths(["r/a", "r/b", "r/c"])).fit(COUNTS, ABC)


def test_wrong_questions():
    model = HPLC().fit(COUNTS, ABC)
    with pytest.raises(UsageError, match="rho must be a number"):
        model.predict_path(COUNTS, 1.5)
    with pytest.raises(InputError, match="expected one document, got 6"):
        model.explain(COUNTS)
    with pytest.raises(InputError, match="no class is called 'z'"):
        model.level_curve(COUNTS, ["z"] * 6)
    with pytest.raises(ValueError, match="features"):
        model.predict(COUNTS[:, :2])
