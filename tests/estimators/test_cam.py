"""CAM as people meet it: scikit-learn's laws, grown and given trees, what it says about documents, bad input."""

import json
import warnings
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix, vstack
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from tests.oracles import clusters
from topiarist import CAM, Corpus, Tree
from topiarist.estimators.common import stored_counts
from topiarist.estimators.tree import fitted_tree
from topiarist.estimators.tree.fitted_tree import fold_in
from topiarist.models.engine.host import Engine
from topiarist.text.demo import demo_documents
from topiarist.trees import select_node_words
from topiarist.trees.growth.annealed import AnnealedProposer

GOLDEN = json.loads((Path(__file__).parents[1] / "fixtures" / "cam_em.json").read_text())


def planted(n_docs=240, seed=0, length=40, groups=(0, 0, 1, 1)):
    """Documents of four leaves in two branches: words of all, of each branch, of each leaf."""
    rng = np.random.default_rng(seed)
    leaf = rng.integers(len(groups), size=n_docs)
    n_words = 20 + 20 * 2 + 20 * len(groups)
    words = np.zeros((len(groups), n_words))
    for place, branch in enumerate(groups):
        words[place, :20] = 0.4 / 20
        words[place, 20 + 20 * branch : 40 + 20 * branch] = 0.3 / 20
        words[place, 60 + 20 * place : 80 + 20 * place] = 0.3 / 20
    counts = np.stack([rng.multinomial(length, words[place]) for place in leaf])
    return csr_matrix(counts.astype(float)), leaf


@pytest.fixture(scope="module")
def grown():
    counts, leaf = planted()
    return CAM(random_state=0).fit(counts), counts, leaf


def test_a_few_words_are_read_by_themselves_to_the_same_bits(grown, monkeypatch):
    model, counts, _ = grown
    few = csr_matrix(([2.0, 1.0, 1.0], ([0, 0, 1], [130, 7, 25])), shape=(2, counts.shape[1]))
    asked, climbed = [], Engine.sum_along_paths
    monkeypatch.setattr(Engine, "sum_along_paths", lambda *given: asked.append(given[1].shape[1]) or climbed(*given))
    rows = model.transform(few)
    monkeypatch.setattr(stored_counts, "MAX_WORD_RATIO", len(model.components_[0]) + 1)  # never few
    np.testing.assert_array_equal(rows, model.transform(few))
    assert asked == [3, counts.shape[1]]
    monkeypatch.undo()
    np.testing.assert_array_equal(rows, model.transform(vstack([few, counts]))[:2])


def test_a_planted_tree_is_found(grown):
    model, _, leaf = grown
    assert len(model.tree_.leaves) == 4
    assert adjusted_rand_score(leaf, model.labels_) > 0.98
    branch = [model.tree_.path(node)[1] for node in model.tree_.leaves]
    of_leaf = {int(leaf[d]): branch[model.labels_[d]] for d in range(len(leaf))}
    assert model.tree_.depth == 1 or (of_leaf[0] == of_leaf[1] and of_leaf[2] == of_leaf[3])


def test_headings_are_built_unless_they_are_not_wanted():
    counts, _ = planted()
    with_headings, without = (CAM(4, headings=wanted, random_state=0).fit(counts) for wanted in (True, False))
    assert with_headings.tree_.depth == 2
    assert len(without.tree_.leaves) == 4
    np.testing.assert_allclose(with_headings.word_given_node_.sum(axis=1), 1, atol=1e-4)
    np.testing.assert_allclose(with_headings.node_given_cluster_.sum(axis=1), 1, atol=1e-6)


def test_what_is_learned_is_a_model(grown):
    model, counts, _ = grown
    mask = model.tree_.path_mask()
    np.testing.assert_allclose(model.word_given_node_.sum(axis=1), 1)
    np.testing.assert_allclose(model.node_given_cluster_.sum(axis=1), 1)
    np.testing.assert_allclose(model.cluster_given_doc_.sum(axis=1), 1)
    assert (model.node_given_cluster_[~mask] == 0).all()
    assert model.labels_.tolist() == model.cluster_given_doc_.argmax(axis=1).tolist()
    np.testing.assert_array_equal(model.transform(counts), model.cluster_given_doc_)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1)


def test_documents_one_by_one_or_shuffled_get_the_same_answer(grown):
    model, counts, _ = grown
    np.testing.assert_array_equal(
        np.vstack([model.transform(counts[d]) for d in range(5)]), model.transform(counts[:5])
    )
    order = np.random.default_rng(0).permutation(counts.shape[0])
    np.testing.assert_array_equal(model.transform(counts[order]), model.transform(counts)[order])


def test_the_last_run_never_falls(grown):
    model, _, _ = grown
    assert (np.diff(model.history_) >= -1e-9 * np.abs(model.history_[:-1])).all()
    assert len(model.history_) == model.n_iter_ + 1


def test_the_curve_says_how_the_leaves_were_chosen(grown):
    model, _, _ = grown
    curve = model.curve_
    within = curve.criterion <= 1.01 * curve.criterion.min()
    assert curve.chosen == curve.n_leaves[within].min() == len(model.tree_.leaves)
    assert model.grown_ in ("heldout", "exhausted")
    axes = curve.plot()
    assert axes.get_xlabel()


def test_as_many_leaves_as_asked_for():
    counts, _ = planted(100)
    for number in (1, 2, 7):
        model = CAM(number, random_state=0).fit(counts)
        assert model.cluster_given_doc_.shape == (100, number) == (100, len(model.tree_.leaves))


def test_a_given_tree_is_kept():
    counts, leaf = planted()
    tree = Tree.from_paths(["all/left/a", "all/left/b", "all/right/c", "all/right/d"])
    model = CAM(tree=tree, random_state=0).fit(counts)
    assert model.tree_ is tree
    assert model.curve_ is None
    assert model.grown_ == "given"
    assert adjusted_rand_score(leaf, model.labels_) > 0.98
    sides = model.labels_ // 2
    assert adjusted_rand_score(leaf // 2, sides) > 0.95


def test_effective_length_is_used_and_can_be_chosen():
    counts, _ = planted(120, length=200)
    soft, sharp = (CAM(4, effective_length=length, random_state=0).fit(counts) for length in (5, None))
    assert soft.cluster_given_doc_.max(axis=1).mean() < sharp.cluster_given_doc_.max(axis=1).mean()
    chosen = CAM(4, effective_length="heldout", random_state=0).fit(counts)
    assert chosen.effective_length_ in (15.0, 35.0, 100.0, None)


def test_general_words_stay_high_and_special_words_low():
    corpus = Corpus.from_documents(islice(demo_documents(), 3000))
    model = CAM(random_state=0).fit(corpus.counts)
    frequency = np.asarray((corpus.counts > 0).mean(axis=0)).ravel()
    depths = np.array(model.tree_.depths)
    words = select_node_words(model.tree_, model.word_given_node_, 20, words=corpus.vocabulary.words)
    by_depth = [
        np.mean([frequency[words[node]].mean() for node in np.flatnonzero(depths == depth)])
        for depth in range(model.tree_.depth + 1)
    ]
    assert model.tree_.depth >= 2
    assert (np.diff(by_depth) < 0).all()
    for node in range(len(depths)):
        above = {word for ancestor in model.tree_.ancestors(node) for word in words[ancestor][:10]}
        assert len(above & set(words[node][:10])) <= 2


def demo(n_docs):
    return Corpus.from_documents(islice(demo_documents(), n_docs)).counts


def test_few_documents_have_few_leaves():
    """Levels that held-out tokens choose are charged for, or every further leaf would seem to predict them better."""
    model = CAM(random_state=0).fit(demo(200))
    curve = model.curve_
    assert 2 <= len(model.tree_.leaves) <= 10
    assert (curve.criterion[1:] > curve.perplexity[1:]).all()
    assert curve.criterion[0] == curve.perplexity[0]  # one node chooses nothing


def test_real_documents_part_into_as_many_leaves_as_asked_for():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        model = CAM(30, random_state=0).fit(demo(1500))
    found = len(model.tree_.leaves)
    assert (model.cluster_given_doc_.sum(axis=0) > 0.5).all()
    if found < 30:
        assert f"n_clusters=30, but only {found} leaves keep documents" in str(said[0].message)
    else:
        assert (found, said) == (30, [])


def test_threads_of_the_linear_algebra_change_nothing():
    counts, fits = demo(2000), []
    for limit in (1, 2):
        with threadpool_limits(limit):
            fits.append(CAM(random_state=0).fit(counts))
    assert fits[0].tree_ == fits[1].tree_
    np.testing.assert_array_equal(fits[0].word_given_node_, fits[1].word_given_node_)


@pytest.mark.parametrize("given_tree", [None, Tree.balanced(2, 2)])
def test_without_levels_it_is_a_mixture_of_multinomials(given_tree):
    counts, leaf = planted(length=80)
    counts = counts + np.random.default_rng(1).poisson(0.2, counts.shape)  # no word is impossible anywhere
    counts = csr_matrix(counts.astype(float))
    model = CAM(
        None if given_tree else 4, tree=given_tree, levels=False, effective_length=None, word_smoothing=0.0,
        root_smoothing=0.0, tol=0.0, max_iter=200, random_state=0,
    ).fit(counts)  # fmt: skip
    leaves = list(model.tree_.leaves)
    np.testing.assert_array_equal(model.node_given_cluster_, np.eye(len(model.tree_))[leaves])
    words = model.word_given_node_[leaves]
    np.testing.assert_allclose(model.components_, words)
    assert adjusted_rand_score(leaf, model.labels_) > 0.98
    dense = counts.toarray()
    posterior, prior, again = clusters.multinomial_mixture_step(dense, model.cluster_prior_, words)
    np.testing.assert_allclose(model.cluster_given_doc_, posterior, atol=1e-9)
    np.testing.assert_allclose(model.cluster_prior_, prior, atol=1e-6)  # a fixed point of that mixture's EM
    np.testing.assert_allclose(words, again, atol=1e-6)
    predicted = posterior @ words
    wanted = (dense[dense > 0] * np.log(predicted[dense > 0])).sum() / dense.sum()
    assert model.score(counts) == pytest.approx(wanted, rel=1e-9)
    assert (CAM(4, random_state=0).fit(counts).node_given_cluster_ > 0).sum() > 4  # which levels are not


def test_annealed_growth_goes_through_the_temperatures(monkeypatch):
    import topiarist.estimators.tree.preparation as module

    made = []

    def spied(*arguments, **options):
        made.append(AnnealedProposer(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(module, "AnnealedProposer", spied)
    counts, leaf = planted()
    model = CAM(4, growth="annealed", random_state=0).fit(counts)
    (proposer,) = made
    assert proposer._position == len(proposer.schedule)
    assert (np.diff(proposer.schedule) > 0).all()
    assert len(set(model.curve_.n_leaves.tolist())) < len(model.curve_.n_leaves)
    assert adjusted_rand_score(leaf, model.labels_) > 0.95
    assert model.temperature_ == 1.0


def test_levels_of_words_are_probabilities(grown):
    model, counts, _ = grown
    levels = model.word_levels(counts)
    np.testing.assert_allclose(levels.probabilities.sum(axis=1), 1)
    assert levels.levels.tolist() == levels.probabilities.argmax(axis=1).tolist()
    words, level, _ = levels.document(3)
    assert len(words) == len(level) == counts[3].nnz


@pytest.fixture(scope="module")
def golden():
    """An estimator with the parameters of the golden case after five steps at T = 1."""
    case = next(c for c in GOLDEN["after5"] if c["T"] == 1 and c["fit_pac"] == "heldout")
    model = CAM(effective_length=None)
    counts = np.array(GOLDEN["train"])
    model.fit(counts)
    model.tree_ = Tree(tuple(GOLDEN["parent"]))
    model.word_given_node_ = np.ascontiguousarray(case["pwa"])
    model.node_given_cluster_, model.cluster_prior_ = np.array(case["pac"]), np.array(case["pc"])
    model.effective_length_ = None
    return model, counts, case


def test_golden_posteriors(golden):
    model, counts, case = golden
    posterior = model.transform(counts)
    np.testing.assert_allclose(posterior, case["posterior"], atol=1e-9)
    np.testing.assert_allclose(posterior @ model.components_, case["predictive"], atol=1e-9)
    np.testing.assert_allclose(model.node_given_doc(counts), case["node_posterior"], atol=1e-9)


def test_readings_equal_their_definitions(golden):
    model, counts, _ = golden
    mix, words, posterior = model.node_given_cluster_, model.word_given_node_, model.transform(counts)
    depths = np.array(model.tree_.depths)
    levels, ghosts, share = model.word_levels(counts), model.ghost_words(counts, 3), model.node_given_doc(counts)
    for d in range(len(counts)):
        found, _, probability = levels.document(d)
        for w, row in zip(found, probability, strict=True):
            wanted = np.zeros(depths.max() + 1)
            for c in range(len(mix)):
                joint = mix[c] * words[:, w]
                np.add.at(wanted, depths, posterior[d, c] * joint / joint.sum())
            np.testing.assert_allclose(row, wanted, atol=1e-9)
        for level in range(depths.max() + 1):
            score = posterior[d] @ (mix * (depths == level)) @ words
            score[counts[d] > 0] = -1
            best = [w for w in np.argsort(-score, kind="stable")[:3] if score[w] > 0]
            assert ghosts[d, level][ghosts[d, level] >= 0].tolist() == best
    best = model.prototypes(counts, 2)
    for node in range(len(depths)):
        assert share[best[node], node].tolist() == np.sort(share[:, node])[::-1][:2].tolist()


def test_a_pile_of_nothing_to_tell_apart():
    same = np.tile([3.0, 1, 0, 2], (30, 1))
    model = CAM(random_state=0).fit(same)
    assert len(model.tree_.leaves) == 1
    assert model.grown_ in ("exhausted", "heldout")
    assert len(CAM(3, random_state=0).fit(same).tree_.leaves) == 3  # who asks for three gets three
    one_word = CAM(random_state=0).fit(np.arange(1, 31, dtype=float)[:, None])
    assert np.isfinite(one_word.history_).all()
    assert one_word.word_given_node_.tolist() == [[1.0]]
    with pytest.warns(UserWarning, match="The tree has 1 leaves instead of n_clusters=3"):
        assert len(CAM(3, random_state=0).fit(np.full((30, 1), 50.0)).tree_.leaves) == 1
    one_document = CAM(random_state=0).fit(np.array([[2.0, 1.0]]))
    assert one_document.cluster_given_doc_.tolist() == [[1.0]]


def test_empty_documents_and_words_that_never_occur():
    counts, _ = planted(80)
    padded = csr_matrix(np.pad(counts.toarray(), ((0, 3), (0, 4))))
    model = CAM(4, random_state=0).fit(padded)
    assert np.isfinite(model.cluster_given_doc_).all()
    assert np.isfinite(model.node_given_doc(padded)).all()
    np.testing.assert_allclose(model.node_given_doc(padded).sum(axis=1), 1)
    np.testing.assert_allclose(model.cluster_given_doc_[-1], model.cluster_prior_)


def test_ctrl_c_keeps_the_best_tree(monkeypatch):
    from topiarist.trees.growth.growing_models import CamGrowingModel

    counts, _ = planted()
    fitted, calls = CamGrowingModel.fit, []

    def impatient(self, *arguments, **options):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return fitted(self, *arguments, **options)

    monkeypatch.setattr(CamGrowingModel, "fit", impatient)
    model = CAM(random_state=0).fit(counts)
    assert model.stopped_ == model.grown_ == "interrupted"
    assert len(model.tree_.leaves) == 3
    np.testing.assert_allclose(model.transform(counts).sum(axis=1), 1)


def test_a_large_tree_is_content_with_twenty_steps():
    counts = np.random.default_rng(1).poisson(0.5, (300, 60))
    for tree, steps in ((Tree.balanced(2, 6), 20), (Tree.balanced(2, 5), 26)):
        model = CAM(tree=tree, max_iter=26, tol=0.0, random_state=0).fit(counts)
        assert (model.n_iter_, model.stopped_) == (steps, "max_iter")


def test_documents_of_the_fit_are_not_folded_in_again(monkeypatch):
    counts = csr_array(np.random.default_rng(0).poisson(0.6, (60, 25)))
    told, sample = np.flatnonzero(np.arange(60) % 7), np.array([3, 7, 8, 35, 59])
    model = CAM(3, random_state=0).fit(counts[told])
    whole = fold_in(model, counts, sample)
    asked = []
    monkeypatch.setattr(
        fitted_tree, "compute_posterior", lambda model, some, _: (asked.append(some.shape[0]), model.transform(some))[1]
    )
    monkeypatch.setattr(fitted_tree, "BLOCK_DOCUMENTS", 13)
    some = fold_in(model, counts, sample, training=told)
    assert sum(asked) == 60 - len(told), "the others alone"
    np.testing.assert_allclose(some.shares.toarray(), whole.shares.toarray(), atol=1e-6)
    np.testing.assert_allclose(some.sampled, whole.sampled, atol=1e-6)
