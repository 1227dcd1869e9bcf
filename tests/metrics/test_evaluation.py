"""A tree judged with labels and without: perfect trees, trees by hand, and what must not matter."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    adjusted_rand_score,
    completeness_score,
    f1_score,
    homogeneity_score,
    normalized_mutual_info_score,
)
from sklearn.preprocessing import MultiLabelBinarizer

from tests.collection.placements import at, placements, renumbered, under
from tests.metrics.test_topic_quality import purity_of_all_pairs
from topiarist import metrics
from topiarist.errors import InputError
from topiarist.metrics.evaluation import evaluate
from topiarist.metrics.placed_documents import DocumentAssignments
from topiarist.trees import Tree

some = settings(max_examples=100, deadline=None)


@st.composite
def labelled(draw):
    assignments = draw(placements())
    size = st.integers(0, 3)
    return assignments, [tuple(draw(st.permutations("xyz"))[: draw(size)]) for _ in range(assignments.n_docs)]


@given(labelled())
@some
def test_evaluation_figures_match_definitions(both):
    assignments, labels = both
    result = evaluate(assignments, labels)
    assert (result.n_docs, result.n_leaves, result.depth) == (
        assignments.n_docs,
        len(assignments.tree.leaves),
        assignments.tree.depth,
    )
    rows = [row for row, own in enumerate(labels) if own]
    if not rows:
        assert result.labelled is None
        return
    nodes, first, sets = (
        assignments.assigned_nodes[rows],
        [labels[row][0] for row in rows],
        [labels[row] for row in rows],
    )
    against = result.labelled
    assert (against.n_docs, against.n_labels) == (len(rows), len({label for own in sets for label in own}))
    if len(set(first)) > 1:
        assert against.nmi == pytest.approx(normalized_mutual_info_score(first, nodes), abs=1e-12)
        assert against.rand == pytest.approx(adjusted_rand_score(first, nodes))
        assert against.homogeneity == pytest.approx(homogeneity_score(first, nodes), abs=1e-12)
        assert against.completeness == pytest.approx(completeness_score(first, nodes), abs=1e-12)
    else:
        assert against.nmi is against.rand is against.homogeneity is against.completeness is None
    assert against.purity == pytest.approx(purity_of_all_pairs(assignments.tree, nodes.tolist(), first))
    assert against.f1_weighted == pytest.approx(metrics.tree_f1(assignments.tree, nodes, sets))
    assert against.f1_macro == pytest.approx(metrics.tree_f1(assignments.tree, nodes, sets, average="macro"))
    if any(len(own) > 1 for own in sets):
        names = MultiLabelBinarizer().fit([tuple("xyz")])
        guessed = [
            [label for label, best in against.best.items() if best.node in assignments.tree.path(node)]
            for node in nodes
        ]
        expected = f1_score(names.transform(sets), names.transform(guessed), average="samples", zero_division=1)
        assert against.example_f1 == pytest.approx(expected)
    else:
        assert against.example_f1 is None
    assert result.hard_to_place == pytest.approx(np.mean(assignments.shares.max(axis=1).toarray() <= 0.5))


@given(labelled(), st.integers(0, 99))
@some
def test_result_independent_of_node_numbers(both, seed):
    assignments, labels = both
    other, number = renumbered(assignments, seed)
    known = dict(zip(assignments.ids, labels, strict=True))
    result = evaluate(assignments, labels).to_dict()
    repeated = evaluate(other, [known[name] for name in other.ids]).to_dict()
    best, best_again = ((one["labelled"] or {}).pop("best", []) for one in (result, repeated))
    for one in best:
        one["node"] = number[one["node"]]
    assert best == best_again
    for one, two in ((result, repeated), (result.pop("labelled") or {}, repeated.pop("labelled") or {})):
        assert one == {name: value if value is None else pytest.approx(value) for name, value in two.items()}


def test_evaluate_perfect_tree():
    tree = Tree.from_paths(["all/news/home", "all/news/abroad", "all/sport"])
    nodes = ["home"] * 5 + ["abroad"] * 4 + ["sport"] * 3
    result = evaluate(under(tree, nodes), [(name,) for name in nodes]).labelled
    exact = (result.nmi, result.rand, result.homogeneity, result.completeness, result.purity, result.f1_macro)
    assert exact == pytest.approx((1,) * 6)
    assert {label: tree.names[best.node] for label, best in result.best.items()} == {name: name for name in nodes}
    coarse = [("sport" if name == "sport" else "news",) for name in nodes]
    assert evaluate(under(tree, nodes), nodes).labelled == result  # a text is one label
    result = evaluate(under(tree, nodes), coarse).labelled
    assert (result.purity, result.f1_weighted, result.homogeneity) == pytest.approx((1, 1, 1))
    assert result.completeness < 1  # news is in two leaves, but in one node
    assert tree.names[result.best["news"].node] == "news"


def test_evaluate_labels_along_path():
    tree = Tree.from_paths(["all/news/home", "all/news/abroad", "all/sport"])
    nodes = ["home"] * 5 + ["abroad"] * 4 + ["sport"] * 3
    labels = [("news", name) if name != "sport" else ("sport",) for name in nodes]
    result = evaluate(under(tree, nodes), labels).labelled
    assert (result.example_f1, result.f1_macro) == (1.0, 1.0)
    labels[0] = ("sport",)
    assert 0.8 < evaluate(under(tree, nodes), labels).labelled.example_f1 < 1


def test_evaluate_excludes_words_of_root():
    tree = Tree.star(2)
    words = np.array([[0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0, 0], [0, 0, 0.4, 0.6]])
    counts = np.array([[1, 1, 0, 0], [2, 1, 0, 0], [0, 0, 1, 3], [0, 0, 0, 1]])
    assignments = at(tree, [1, 1, 2, 2])
    result = evaluate(assignments, counts=counts, word_given_node=words, perplexity=1234.5)
    assert result.coherence == pytest.approx(metrics.npmi_coherence(words[1:], counts).mean())
    assert result.diversity == metrics.topic_diversity(words[1:], top_n=10)
    assert (result.perplexity, result.labelled) == (1234.5, None)
    given = evaluate(assignments, counts=counts, word_given_node=words, coherence=0.25, diversity=0.75)
    assert (given.coherence, given.diversity) == (0.25, 0.75)
    assert evaluate(assignments, word_given_node=words).coherence is None
    assert evaluate(at(Tree.single(), [0]), word_given_node=words[:1]).diversity == 1.0


def test_evaluate_counts_unassigned_documents():
    shares = np.array([[0.5, 0.5], [0.9, 0.1], [0.0, 0.0], [0.3, 0.7]])
    assignments = DocumentAssignments(Tree.star(2), (1, 2), shares, list("abcd"))
    assert evaluate(assignments).hard_to_place == 0.5
    assert evaluate(assignments, min_certainty=0.8).hard_to_place == 0.75
    assert evaluate(DocumentAssignments(Tree.star(2), (1, 2), np.zeros((0, 2)), [])).hard_to_place == 0.0


def test_evaluation_lines_and_json():
    tree = Tree.from_paths(["all/news/home", "all/news/abroad", "all/sport"])
    nodes = ["home"] * 5 + ["abroad"] * 4 + ["sport"] * 3
    labels = [(name, "all") for name in nodes[:-1]] + [()]
    result = evaluate(under(tree, nodes), labels, perplexity=1790.4)
    lines = result.lines()
    assert lines[0] == "12 documents · 3 topics · 1 heading · depth 2"
    assert "perplexity (seen)      1,790" in lines
    assert "against 4 labels of 11 documents" in lines
    assert "NMI                    1.000" in lines
    assert "1.000      1.000   1.000          5  home  →  news ▸ home" in lines
    assert "1.000      1.000   1.000         11  all  →  all" in lines
    assert result.lines(1)[-1] == "… and 3 more"
    plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert plain["labelled"]["best"][1] == {
        "label": "home", "node": tree.find("home"), "f1": 1.0, "precision": 1.0, "recall": 1.0, "size": 5,
        "path": ["all", "news", "home"],
    }  # fmt: skip
    assert evaluate(under(tree, nodes)).to_dict()["labelled"] is None
    assert plain["labelled"]["purity"] == pytest.approx(1)
    assert evaluate(under(tree, nodes), perplexity=math.inf).to_dict()["perplexity_of_seen_documents"] is None


def test_wrong_input_raises():
    assignments = at(Tree.star(2), [1, 2])
    with pytest.raises(InputError, match="each of 2 documents, got 1"):
        evaluate(assignments, [("x",)])
    with pytest.raises(InputError, match=r"words for each of 3 nodes, got an array of shape \(2, 4\)"):
        evaluate(assignments, word_given_node=np.ones((2, 4)))
