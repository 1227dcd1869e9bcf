"""The mathematics of Fisher kernels: golden cases, literal sums, features and matrix agree, laws."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.oracles import similarity, trees
from tests.strategies import counts, simplex_rows
from topiarist.estimators.similarity.lenses import make_kernel_view
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.models.engine.host import Engine
from topiarist.models.fisher import matrix as fisher_matrix
from topiarist.models.fisher import scores as fisher
from topiarist.models.fisher.scores import KernelView

FIXTURES = Path(__file__).parents[1] / "fixtures"
FLAT = json.loads((FIXTURES / "fisher_flat.json").read_text())
TREE = json.loads((FIXTURES / "fisher.json").read_text())
ENGINE = Engine(load(), Threads(2))
TELLINGS = {name: Engine(load(name), Threads(1)) for name in ("reference", "compiled")}


def matrix(lens, X, rows, parts, normalise=None, kernels="compiled"):
    result = [fisher_matrix.make_term(TELLINGS[kernels], lens, X, rows, part) for part in parts]
    return fisher_matrix.compute_matrix(TELLINGS[kernels], (X, result), (X, result), normalise)


def by_features(lens, X, rows, parts, normalise=None):
    result = [fisher_matrix.make_term(ENGINE, lens, X, rows, part) for part in parts]
    features = fisher_matrix.compute_features(result, X, normalise)
    return (features @ features.T).toarray()


def random_case(matrix_, seed, *, tree, one_class):
    """A lens on some words, and rows for the documents; some words are impossible in some topics."""
    rng = np.random.default_rng(seed)
    n_docs, n_words = matrix_.shape
    mask = trees.random_tree(rng, 5, 3) if tree else np.eye(3, dtype=bool)
    words = simplex_rows(rng, mask.shape[1], n_words)
    if rng.random() < 0.5 and not one_class and n_words > 1:
        words[rng.integers(len(words)), rng.integers(n_words)] = 0
        words /= words.sum(axis=1, keepdims=True)
    mix = np.where(mask, rng.random(mask.shape) + 0.1, 0)
    mix /= mix.sum(axis=1, keepdims=True)
    prior = simplex_rows(rng, 1, len(mask))[0]
    lens = KernelView(np.ascontiguousarray(words.T), mix if tree else None, prior, one_class=one_class)
    return lens, simplex_rows(rng, n_docs, len(mask)), words, mix


@pytest.mark.parametrize("kernels", TELLINGS)
@pytest.mark.parametrize("normalise", ["none", "parts", "total"])
@pytest.mark.parametrize("parts", [("topical",), ("lexical",), ("topical", "lexical")], ids="+".join)
def test_flat_kernels_match_golden_case(kernels, normalise, parts):
    X, rows = csr_array(np.array(FLAT["counts"])), np.array(FLAT["component_given_doc"])
    by_word = np.ascontiguousarray(np.array(FLAT["word_given_component"]).T)
    lens, how = KernelView(by_word, None, np.array(FLAT["component_prior"])), None if normalise == "none" else normalise
    golden = FLAT[f"{normalise}:{'+'.join(parts)}"]
    np.testing.assert_allclose(matrix(lens, X, rows, parts, how, kernels), golden, atol=1e-10)
    np.testing.assert_allclose(by_features(lens, X, rows, parts, how), golden, atol=1e-10)


@pytest.mark.parametrize(("part", "golden"), [("topical", "k1"), ("lexical", "k2"), ("levels", "k3")])
def test_tree_kernels_match_golden_case(part, golden):
    X, known = csr_array(np.array(TREE["counts"])), {name: np.array(value) for name, value in TREE["params"].items()}
    rows = known["pa"] * known["pia"]
    rows /= rows.sum(axis=1, keepdims=True)
    lens = KernelView(np.ascontiguousarray(known["pjv"].T), known["pva"], known["pa"])
    np.testing.assert_allclose(matrix(lens, X, rows, (part,)), TREE[golden], atol=1e-10)
    np.testing.assert_allclose(by_features(lens, X, rows, (part,)), TREE[golden], atol=1e-10)


def test_mixture_levels_match_golden_case():
    X, known = csr_array(np.array(TREE["counts"])), {name: np.array(value) for name, value in TREE["params"].items()}
    lens = KernelView(np.ascontiguousarray(known["pjv"].T), known["pva"], known["pa"], one_class=True)
    rows = fisher.read_rows(ENGINE, lens, X)
    np.testing.assert_allclose(rows, TREE["nb_posterior"], atol=1e-10)
    np.testing.assert_allclose(matrix(lens, X, rows, ("levels",)), TREE["k3_nb_sqrt"], atol=1e-10)


@given(
    X=counts(max_docs=5, max_words=6),
    seed=st.integers(0, 10**6),
    tree=st.booleans(),
    one_class=st.booleans(),
    kernels=st.sampled_from(sorted(TELLINGS)),
)
@settings(max_examples=80, deadline=None)
def test_features_and_matrix_match_literal_sums(X, seed, tree, one_class, kernels):
    X = csr_array(X)
    lens, rows, words, mix = random_case(X, seed, tree=tree, one_class=one_class and tree)
    dense = X.toarray()
    filled = dense.any(axis=1)  # a document without words is like none, whatever row it is given
    pairs = [(i, n) for i in range(len(dense)) for n in range(len(dense))]
    literal = {
        "topical": [similarity.topical(rows[i], rows[n], lens.class_prior) for i, n in pairs],
        "lexical": [
            similarity.lexical(dense[i], dense[n], rows[i], rows[n], mix, words, lens.one_class) for i, n in pairs
        ],
    }
    if tree:
        literal["levels"] = [
            similarity.levels(dense[i], dense[n], rows[i], rows[n], mix, words, lens.one_class) for i, n in pairs
        ]
    for part, values in literal.items():
        expected = np.reshape(values, (len(dense), len(dense))) * np.outer(filled, filled)
        size = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(matrix(lens, X, rows, (part,), None, kernels), expected, atol=1e-10 * size)
        np.testing.assert_allclose(by_features(lens, X, rows, (part,)), expected, atol=1e-10 * size)


@pytest.mark.parametrize("one_class", [False, True])
@pytest.mark.parametrize("normalise", ["parts", "total", None])
def test_kernel_matrix_positive_semidefinite(one_class, normalise):
    X = csr_array(np.random.default_rng(1).poisson(0.7, (30, 40)).astype(float))
    lens, rows, *_ = random_case(X, 1, tree=True, one_class=one_class)
    for kind in fisher.KINDS:
        seen = fisher.add_information(lens, X, rows, kind)
        square = matrix(seen, X, rows, ("topical", "lexical", "levels"), normalise)
        np.testing.assert_allclose(square, square.T, atol=1e-10 * np.abs(square).max())
        assert np.linalg.eigvalsh((square + square.T) / 2).min() > -1e-10 * np.abs(square).max()
        if normalise == "parts":
            np.testing.assert_allclose(np.diag(square), 3.0)
        if normalise == "total":
            np.testing.assert_allclose(np.diag(square), 1.0)


@given(
    X=counts(max_docs=6, max_words=7, min_filled=2),
    seed=st.integers(0, 10**6),
    one_class=st.booleans(),
    kind=st.sampled_from(["diagonal", "hofmann"]),
)
@settings(max_examples=60, deadline=None)
def test_information_kernels_match_literal_sums(X, seed, one_class, kind):
    """(F6): scores divided by the root of their mean square, over tokens or over documents, a tenth from the model."""
    X = csr_array(X)
    lens, rows, words, mix = random_case(X, seed, tree=True, one_class=one_class)
    seen, dense = fisher.add_information(lens, X, rows, kind), X.toarray()
    filled = np.flatnonzero(dense.any(axis=1))
    senses = [similarity.sense(dense[i], rows[i], mix, words, one_class) for i in range(len(dense))]
    p_hat = dense / np.maximum(dense.sum(axis=1, keepdims=True), 1)
    if one_class or kind == "hofmann":
        shown = sum((p_hat[i][:, None] * senses[i]) ** 2 for i in filled) / len(filled)
        of_classes, scores = (rows[filled] ** 2).mean(axis=0), rows
    else:
        shown = sum(dense[i][:, None] / X.sum() * senses[i] ** 2 for i in filled)
        joint = rows[:, None, :] * similarity.word_given_class(mix, words).T
        tokens = joint / joint.sum(axis=2, keepdims=True)  # P(α|d,j)
        of_classes = np.einsum("dj,dja->a", dense / X.sum(), tokens**2)
        scores = np.einsum("dj,dja->da", p_hat, tokens)
    joint = words.T * (lens.class_prior @ mix)
    expected = (joint + np.outer(joint.sum(axis=1), lens.class_prior @ mix)) / 2
    information = fisher.blend_information(shown, expected)
    of_classes = fisher.blend_information(of_classes, lens.class_prior)
    lexical = [
        np.divide(p_hat[i][:, None] * senses[i], np.sqrt(information), out=np.zeros_like(information),
                  where=information > 0)
        for i in range(len(dense))
    ]  # fmt: skip
    topical = scores * dense.any(axis=1)[:, None] / np.sqrt(of_classes)
    for part, wanted in {
        "lexical": np.array([[(a * b).sum() for b in lexical] for a in lexical]),
        "topical": topical @ topical.T,
    }.items():
        size = max(1, wanted.max())
        np.testing.assert_allclose(matrix(seen, X, rows, (part,)), wanted, atol=1e-9 * size, err_msg=part)
        np.testing.assert_allclose(by_features(seen, X, rows, (part,)), wanted, atol=1e-9 * size, err_msg=part)


@pytest.mark.parametrize("kind", ["diagonal", "hofmann"])
@pytest.mark.parametrize("one_class", [False, True])
def test_new_documents_have_similar_kernel_size(kind, one_class):
    """A sense that the documents of the fit hardly have would otherwise weigh 1e9 times as much as any other."""
    rng = np.random.default_rng(0)
    words = np.full((2, 12), 1e-6)
    words[0, :6] = words[1, 6:] = 1 / 6
    words /= words.sum(axis=1, keepdims=True)
    reading = {"effective_length": 2.0, "one_class": True} if one_class else {"smoothing": 1e-3}
    lens = KernelView(np.ascontiguousarray(words.T), np.eye(2), np.array([0.5, 0.5]), **reading)
    inside = csr_array(np.kron(np.eye(2), rng.integers(1, 5, (20, 6))).astype(float))
    outside = csr_array(rng.integers(1, 5, (20, 12)).astype(float))
    seen = fisher.add_information(lens, inside, fisher.read_rows(ENGINE, lens, inside), kind)
    norms = []
    for X in (inside, outside):
        features = fisher.score_words(seen, X, fisher.read_rows(ENGINE, lens, X))
        norms.append(np.sqrt(features.multiply(features).sum(axis=1)))
    assert norms[1].max() < 10 * norms[0].max()


def test_features_and_products_share_guard():
    """A word that is next to impossible in a topic is so everywhere, or the kernel is no product of its features."""
    rng = np.random.default_rng(3)
    words = simplex_rows(rng, 3, 8)
    words[0, 2], words[1, 3], words[:, 5] = 1e-31, 1e-200, 1e-40
    model = type("Stranger", (), {})()
    model.components_, model.component_prior_ = words, np.ones(3) / 3
    lens, X, rows = make_kernel_view(model), csr_array(rng.poisson(1.0, (9, 8)).astype(float)), simplex_rows(rng, 9, 3)
    for seen in (lens, *(fisher.add_information(lens, X, rows, kind) for kind in ("diagonal", "hofmann"))):
        for kernels in TELLINGS:
            square = matrix(seen, X, rows, ("lexical",), None, kernels)
            np.testing.assert_allclose(by_features(seen, X, rows, ("lexical",)), square, rtol=1e-10)


def test_view_of_one_class_requires_mix():
    with pytest.raises(ValueError, match=r"P\(topic\|class\)"):
        KernelView(np.ones((4, 2)) / 4, None, np.ones(2) / 2, one_class=True)


def test_expected_rows_match_em_step():
    X = csr_array(np.random.default_rng(2).poisson(1.0, (8, 12)).astype(float))
    lens, rows, words, mix = random_case(X, 4, tree=True, one_class=False)
    expected = fisher.compute_expected_rows(ENGINE, lens, X, rows)
    classes = similarity.word_given_class(mix, words)
    p_hat = X.toarray() / X.sum(axis=1)[:, None]
    for d in range(8):
        posterior = rows[d][:, None] * classes
        np.testing.assert_allclose(expected[d], (posterior / posterior.sum(axis=0)) @ p_hat[d], atol=1e-12)
    assert not np.allclose(expected, rows)


def test_single_topic_gives_weighted_word_product():
    X = csr_array(np.random.default_rng(3).poisson(1.0, (6, 9)).astype(float))
    frequency = X.sum(axis=0) / X.sum()
    one = KernelView(np.ascontiguousarray(frequency[:, None]), None, np.ones(1))
    p_hat = X.toarray() / X.sum(axis=1)[:, None]
    ones = np.ones((6, 1))
    weighted = p_hat @ np.diag(np.where(frequency > 0, 1 / np.where(frequency > 0, frequency, 1), 0)) @ p_hat.T
    np.testing.assert_allclose(matrix(one, X, ones, ("lexical",)), weighted, atol=1e-12)
    np.testing.assert_allclose(
        matrix(fisher_matrix.make_plain_view(9), X, ones, ("lexical",)), p_hat @ p_hat.T, atol=1e-12
    )


def test_read_rows_ignores_unused_words():
    X = csr_array(np.random.default_rng(5).poisson(0.4, (12, 30)).astype(float))
    lens, *_ = random_case(X, 6, tree=True, one_class=False)
    for seen in (lens, replace(lens, one_class=True, effective_length=3.0), replace(lens, inverse_temperature=0.7)):
        complete = fisher.read_rows(ENGINE, seen, X)
        for d in range(12):
            columns = X[[d]].indices
            single = csr_array(X[[d]].toarray()[:, columns]) if len(columns) else X[[d]]
            row = fisher.read_rows(ENGINE, seen.select_words(columns) if len(columns) else seen, single)
            np.testing.assert_allclose(row[0], complete[d], atol=1e-9)


def test_kernel_independent_of_threads():
    X = csr_array(np.random.default_rng(7).poisson(0.7, (40, 60)).astype(float))
    lens, rows, *_ = random_case(X, 8, tree=True, one_class=False)
    results = []
    for n_threads in (1, 3):
        engine = Engine(load(), Threads(n_threads))
        result = [fisher_matrix.make_term(engine, lens, X, rows, part) for part in ("topical", "lexical")]
        results.append(fisher_matrix.compute_matrix(engine, (X, result), (X, result), "parts"))
    np.testing.assert_array_equal(*results)
