"""Perplexity, coherence and diversity: by hand, against scikit-learn's models; agreement with labels: by counting."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.sparse import csr_matrix
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.metrics import normalized_mutual_info_score

from tests.oracles import textbook
from tests.strategies import trees
from tests.work import promptly
from topiarist import PLSA, metrics
from topiarist.counts import completion_split
from topiarist.errors import InputError, UsageError
from topiarist.trees import Tree

GOLDEN = json.loads((Path(__file__).parents[1] / "fixtures" / "metrics.json").read_text())


class Fixed:
    """A model whose mixing proportions do not depend on the document."""

    def __init__(self, words, mixing):
        self.components_, self.mixing = np.asarray(words, float), np.asarray(mixing, float)

    def transform(self, X):
        return np.tile(self.mixing, (X.shape[0], 1))


def test_perplexity_of_uniform_model():
    counts = np.random.default_rng(0).poisson(3.0, (20, 7))
    assert metrics.perplexity(Fixed(np.ones((2, 7)), [0.3, 0.7]), counts) == pytest.approx(7.0, rel=1e-12)


def test_perplexity_matches_formula():
    rng = np.random.default_rng(1)
    counts = rng.poisson(2.0, (15, 6))
    model = Fixed(rng.random((3, 6)), [0.2, 0.5, 0.3])
    _, hidden = completion_split(csr_matrix(counts.astype(float)), seed=4)
    word = model.mixing @ (model.components_ / model.components_.sum(axis=1, keepdims=True))
    dense = hidden.toarray()
    expected = np.exp(-(dense * np.log(word)).sum() / dense.sum())
    assert metrics.perplexity(model, counts, random_state=4) == pytest.approx(expected, rel=1e-12)


def test_perplexity_scores_second_half():
    """A model that merely remembers what it saw cannot cheat: the other half is scored."""

    class Remembers(Fixed):
        def transform(self, X):
            self.seen = X.toarray()
            return super().transform(X)

    counts = np.full((5, 4), 10)
    model = Remembers(np.ones((1, 4)), [1.0])
    metrics.perplexity(model, counts)
    assert (model.seen.sum(axis=1) == 20).all()


def test_perplexity_accepts_scikit_learn_models():
    data = textbook.planted(np.random.default_rng(2), 200, 40, 4)[0]
    theirs = LatentDirichletAllocation(4, random_state=0, max_iter=20).fit(data)
    ours = PLSA(4, random_state=0).fit(data)
    assert ours.perplexity(data) == metrics.perplexity(ours, data)
    assert metrics.perplexity(ours, data) < metrics.perplexity(theirs, data) * 1.05


def test_perplexity_excludes_impossible_words_only():
    counts = np.array([[4, 4, 4], [4, 4, 4]])
    never = Fixed([[0.5, 0.5, 0.0]], [1.0])
    assert metrics.perplexity(never, counts) == pytest.approx(2.0)
    not_here = Fixed([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], [1.0, 0.0])
    with pytest.warns(UserWarning, match="probability zero in their document"):
        assert metrics.perplexity(not_here, counts) == np.inf


def test_perplexity_rejects_unusable_documents():
    model = Fixed(np.ones((1, 3)), [1.0])
    with pytest.raises(InputError, match="expected X with 3 columns"):
        metrics.perplexity(model, np.ones((2, 4)))
    with pytest.raises(InputError, match="at least two tokens"):
        metrics.perplexity(model, np.eye(3))


def test_coherence_matches_hand_computed_value():
    counts = np.array([[1, 1, 0], [2, 1, 0], [0, 0, 1], [1, 0, 0]])
    joint, first, second = 2 / 4, 3 / 4, 2 / 4
    expected = np.log(joint / (first * second)) / -np.log(joint)
    assert metrics.npmi_coherence([[0, 1]], counts)[0] == pytest.approx(expected)
    assert metrics.npmi_coherence([[0, 2]], counts)[0] == -1.0
    three = metrics.npmi_coherence([[0, 1, 2]], counts)[0]
    assert three == pytest.approx((expected - 1 - 1) / 3)


def test_coherence_ranks_planted_topics_above_random_words():
    data, _, words = textbook.planted(np.random.default_rng(3), 400, 60, 4, length=30)
    rng = np.random.default_rng(0)
    mixed = [rng.permutation(60)[:10].tolist() for _ in range(4)]
    assert metrics.npmi_coherence(words, data).min() > metrics.npmi_coherence(mixed, data).max()


def test_coherence_accepts_rows_or_columns():
    rng = np.random.default_rng(4)
    counts, topics = rng.poisson(1.0, (30, 12)), rng.random((3, 12))
    tops = [np.argsort(-row)[:5].tolist() for row in topics]
    by_row = metrics.npmi_coherence(topics, counts, top_n=5)
    np.testing.assert_allclose(metrics.npmi_coherence(tops, counts, top_n=5), by_row)
    np.testing.assert_allclose(metrics.npmi_coherence(list(topics), counts, top_n=5), by_row)


def test_coherence_accepts_word_in_every_document():
    counts = np.array([[1, 1], [1, 1]])
    assert metrics.npmi_coherence([[0, 1]], counts)[0] == 1.0


def test_diversity():
    assert metrics.topic_diversity([[0, 1], [2, 3]]) == 1.0
    assert metrics.topic_diversity([[0, 1], [0, 1]]) == 0.5
    assert metrics.topic_diversity(np.array([[9, 8, 0, 0], [0, 0, 8, 9]]), top_n=2) == 1.0


def test_topic_metrics_reject_wrong_topics():
    with pytest.raises(InputError, match="topics × words array, got shape"):
        metrics.topic_diversity(np.ones(3))
    with pytest.raises(UsageError, match="top_n must be at least 2"):
        metrics.topic_diversity(np.eye(3), top_n=1)
    with pytest.raises(InputError, match="at least two words"):
        metrics.npmi_coherence([[0]], np.eye(3))


def test_label_agreement_matches_golden_case():
    posterior, labels = np.array(GOLDEN["posterior"]), GOLDEN["labels"]
    hard = posterior.argmax(axis=1)
    assert metrics.gini(posterior, labels) == pytest.approx(GOLDEN["gini"], rel=1e-12)
    assert metrics.gini(hard, labels) == pytest.approx(GOLDEN["gini_hard"], rel=1e-12)
    assert metrics.gini(np.eye(4)[hard], labels) == pytest.approx(GOLDEN["gini_hard"], rel=1e-12)
    with_an_empty_one = np.eye(5)[hard]
    assert metrics.gini(with_an_empty_one, labels) == pytest.approx(GOLDEN["gini_hard_zero"], rel=1e-12)
    assert metrics.purity(hard, labels) == GOLDEN["purity"]
    assert normalized_mutual_info_score(labels, hard) == pytest.approx(GOLDEN["nmi"], rel=1e-12)


def test_gini_matches_sum_over_pairs():
    rng = np.random.default_rng(5)
    posterior, labels = rng.dirichlet(np.ones(4), 30).astype(np.float32), rng.integers(3, size=30)
    cluster_given_label = np.array([posterior[labels == label].mean(axis=0) for label in range(3)])
    label_given_cluster = np.array([np.bincount(labels, column) / column.sum() for column in posterior.T])
    for result, shares in zip(metrics.gini(posterior, labels), (cluster_given_label, label_given_cluster), strict=True):
        pairs = [
            (share[a] * share[b]) for share in shares for a in range(len(share)) for b in range(len(share)) if a != b
        ]
        assert result == pytest.approx(sum(pairs) / len(shares), rel=1e-6)


def test_label_agreement_extremes():
    labels = ["x", "x", "y", "y"]
    assert metrics.gini([7, 7, 3, 3], labels) == (0.0, 0.0)
    assert metrics.gini(np.full((4, 2), 0.5), labels) == (0.5, 0.5)
    assert metrics.gini([0, 1, 2, 3], labels) == (0.5, 0.0)
    assert metrics.purity(["b", "b", "a", "a"], labels) == 1.0
    assert metrics.purity([0, 0, 0, 0], labels) == 0.5
    assert metrics.purity([0, 0, 0, 1], ["x", "x", "y", "y"]) == 0.75


def test_label_agreement_rejects_wrong_labels():
    with pytest.raises(InputError, match=r"P\(α\|d\), 3 documents × clusters, .* got float64 of shape \(2, 2\)"):
        metrics.gini(np.eye(2), [0, 1, 1])
    with pytest.raises(InputError, match="sum to one, got 2 in row 1"):
        metrics.gini([[0.5, 0.5], [1.0, 1.0]], [0, 1])
    with pytest.raises(InputError, match="sum to one, got nan in row 0"):
        metrics.gini([[np.nan, 0.5], [0.5, 0.5]], [0, 1])
    with pytest.raises(
        InputError, match=r"posterior must hold one label for each of the 3 documents, got shape \(2,\)"
    ):
        metrics.gini([0, 1], [0, 1, 1])
    with pytest.raises(
        InputError, match=r"labels_pred must hold one label for each of the 1 documents, got shape \(2,\)"
    ):
        metrics.purity([0, 1], [0])
    with pytest.raises(InputError, match=r"labels_true must hold one label for each document, got shape \(0,\)"):
        metrics.purity([], [])
    with pytest.raises(InputError, match=r"got shape \(2, 1\)"):
        metrics.gini([0, 1], [[0], [1]])
    with pytest.raises(InputError, match="got NaN"):
        metrics.purity([0, 1], [1.0, np.nan])
    with pytest.raises(InputError, match="cannot be compared"):
        metrics.purity([0, 1], np.array(["a", None], object))


def purity_of_all_pairs(tree, nodes, labels):
    """Every pair by itself: its lowest common ancestor, the documents under it, the share of the label among them."""
    purities = []
    for one, other in combinations(range(len(nodes)), 2):
        if labels[one] == labels[other]:
            shared = [node for node in tree.path(nodes[one]) if node in tree.path(nodes[other])]
            under = [labels[doc] for doc, node in enumerate(nodes) if shared[-1] in tree.path(node)]
            purities.append(under.count(labels[one]) / len(under))
    return sum(purities) / len(purities) if purities else None


@given(trees(), st.data())
@settings(max_examples=150, deadline=None)
def test_dendrogram_purity_matches_mean_over_pairs(tree, data):
    leaves = data.draw(st.sampled_from([tree.leaves, range(len(tree))]))  # documents may also sit further up
    nodes = data.draw(st.lists(st.sampled_from(leaves), min_size=1, max_size=12))
    labels = data.draw(st.lists(st.sampled_from("xyz"), min_size=len(nodes), max_size=len(nodes)))
    expected = purity_of_all_pairs(tree, nodes, labels)
    if expected is None:
        with pytest.raises(InputError, match="two documents with the same label"):
            metrics.dendrogram_purity(tree, nodes, labels)
    else:
        assert metrics.dendrogram_purity(tree, nodes, labels) == pytest.approx(expected, rel=1e-12)


def test_dendrogram_purity_matches_hand_computed_value():
    tree = Tree.balanced(2, 2)  # leaves 3 4 under 1, leaves 5 6 under 2
    assert metrics.dendrogram_purity(tree, [3, 4, 5, 6], ["x", "x", "y", "y"]) == 1.0
    assert metrics.dendrogram_purity(tree, [3, 4, 5, 6], ["x", "y", "x", "y"]) == 0.5
    assert metrics.dendrogram_purity(tree, [3, 3, 3, 6], ["x", "x", "lone", "also lone"]) == pytest.approx(2 / 3)
    assert metrics.dendrogram_purity(Tree.single(), [0, 0], [1, 1]) == 1.0


def test_dendrogram_purity_of_a_linkage():
    rng = np.random.default_rng(6)
    labels = rng.integers(3, size=60)
    points = np.eye(3)[labels] * 10 + rng.normal(size=(60, 3))
    apart = Tree.from_linkage(linkage(points, "average"))
    assert metrics.dendrogram_purity(apart, np.arange(60), labels) == 1.0
    nodes = rng.permutation(60)
    mixed = metrics.dendrogram_purity(apart, nodes, labels)
    assert mixed == pytest.approx(purity_of_all_pairs(apart, nodes.tolist(), labels.tolist()), rel=1e-12)
    assert mixed < 0.6


@pytest.mark.parametrize("shape", ["random", "chain"])
@pytest.mark.parametrize("n_labels", [20, 7000])
def test_dendrogram_purity_scales(shape, n_labels):
    rng, n_docs = np.random.default_rng(7), 20_000
    waiting, merges = list(range(n_docs)), []
    for made in range(n_docs, 2 * n_docs - 1):
        place = int(rng.integers(len(waiting))) if shape == "random" else -1
        waiting[place], waiting[-1] = waiting[-1], waiting[place]
        one, place = waiting.pop(), int(rng.integers(len(waiting)))
        merges.append((one, waiting[place], 1.0, 2.0))
        waiting[place], waiting[-1] = waiting[-1], made
    tree, labels = Tree.from_linkage(merges), rng.integers(n_labels, size=n_docs)
    with promptly():  # sums over all pairs of documents would take hours
        result = metrics.dendrogram_purity(tree, np.arange(n_docs), labels)
    assert 0.9 / n_labels < result < 0.2


def test_dendrogram_purity_rejects_invalid_nodes():
    tree = Tree.star(2)
    with pytest.raises(InputError, match=r"a topiarist\.trees\.Tree, got list"):
        metrics.dendrogram_purity([-1, 0, 0], [1, 2], [0, 0])
    with pytest.raises(InputError, match=r"each of the 2 labels, got int64 of shape \(3,\)"):
        metrics.dendrogram_purity(tree, np.array([1, 2, 1], np.int64), [0, 0])
    with pytest.raises(InputError, match="got float64 of shape"):
        metrics.dendrogram_purity(tree, [1.0, 2.0], [0, 0])
    with pytest.raises(InputError, match="nodes from 0 to 2, got 3"):
        metrics.dendrogram_purity(tree, [1, 3], [0, 0])
    with pytest.raises(InputError, match="got 2 documents and as many labels"):
        metrics.dendrogram_purity(tree, [1, 2], ["x", "y"])


def test_interpolated_precision_matches_hand_computed_value():
    relevance, scores = [1, 0, 1, 0, 0], [5.0, 4, 3, 2, 1]  # precision 1 at recall 1/2, 2/3 at recall 1
    assert metrics.interpolated_precision(relevance, scores, levels=[0.5]) == 1.0
    assert metrics.interpolated_precision(relevance, scores, levels=[1.0]) == pytest.approx(2 / 3)
    assert metrics.interpolated_precision(relevance, scores) == pytest.approx((5 * 1 + 4 * 2 / 3) / 9)
    late = [0, 1, 1, 1]  # the highest precision is at the end
    assert metrics.interpolated_precision(late, [4.0, 3, 2, 1], levels=[0.3]) == pytest.approx(3 / 4)
    twice = metrics.interpolated_precision([relevance, relevance, [0] * 5], [scores, scores, scores])
    assert twice == pytest.approx(metrics.interpolated_precision(relevance, scores))
    assert metrics.interpolated_precision([0, 1], [1.0, 1.0], levels=[1.0]) == 0.5  # of equal scores the first


def test_interpolated_precision_matches_trec_eval():
    import ir_measures
    from ir_measures import IPrec

    rng = np.random.default_rng(0)
    relevance, scores = np.zeros((6, 60), bool), rng.permutation(6 * 60).reshape(6, 60).astype(float)
    for row in relevance:  # ten relevant documents: every level is a whole number of them, and nothing is rounded
        row[rng.choice(60, 10, replace=False)] = True
    names = [IPrec @ (level / 10) for level in range(1, 10)]
    judged = [ir_measures.Qrel(str(q), str(d), 1) for q, d in zip(*np.nonzero(relevance), strict=True)]
    ranked = [ir_measures.ScoredDoc(str(q), str(d), scores[q, d]) for q in range(6) for d in range(60)]
    expected = np.mean(list(ir_measures.calc_aggregate(names, judged, ranked).values()))
    assert metrics.interpolated_precision(relevance, scores) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 0], [1.0, 2, 3]), "relevance and scores must have one shape"),
        (([1, 0], [1.0, np.nan]), "got NaN"),
        (([0, 0], [1.0, 2.0]), "no query has a relevant document"),
        (([1, 0], [1.0, 2.0], [0.0]), "levels must be recalls above 0"),
        (([1, 0], [1.0, 2.0], []), "levels must be recalls above 0"),
    ],
)
def test_interpolated_precision_rejects_invalid_scores(arguments, message):
    relevance, scores, *levels = arguments
    with pytest.raises(ValueError, match=message):
        metrics.interpolated_precision(relevance, scores, levels=levels[0] if levels else None)
