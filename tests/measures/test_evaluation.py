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
from tests.measures.test_topic_quality import purity_of_all_pairs
from topiarist import metrics
from topiarist.errors import InputError
from topiarist.hierarchy import Tree
from topiarist.measures.evaluation import evaluate
from topiarist.measures.placed_documents import Placed

some = settings(max_examples=100, deadline=None)


@st.composite
def labelled(draw):
    placed = draw(placements())
    size = st.integers(0, 3)
    return placed, [tuple(draw(st.permutations("xyz"))[: draw(size)]) for _ in range(placed.n_docs)]


@given(labelled())
@some
def test_figures_are_those_of_their_definitions(both):
    placed, labels = both
    found = evaluate(placed, labels)
    assert (found.n_docs, found.n_leaves, found.depth) == (placed.n_docs, len(placed.tree.leaves), placed.tree.depth)
    rows = [row for row, own in enumerate(labels) if own]
    if not rows:
        assert found.labelled is None
        return
    homes, first, sets = placed.homes[rows], [labels[row][0] for row in rows], [labels[row] for row in rows]
    against = found.labelled
    assert (against.n_docs, against.n_labels) == (len(rows), len({label for own in sets for label in own}))
    if len(set(first)) > 1:
        assert against.nmi == pytest.approx(normalized_mutual_info_score(first, homes), abs=1e-12)
        assert against.rand == pytest.approx(adjusted_rand_score(first, homes))
        assert against.homogeneity == pytest.approx(homogeneity_score(first, homes), abs=1e-12)
        assert against.completeness == pytest.approx(completeness_score(first, homes), abs=1e-12)
    else:
        assert against.nmi is against.rand is against.homogeneity is against.completeness is None
    assert against.purity == pytest.approx(purity_of_all_pairs(placed.tree, homes.tolist(), first))
    assert against.f1_weighted == pytest.approx(metrics.tree_f1(placed.tree, homes, sets))
    assert against.f1_macro == pytest.approx(metrics.tree_f1(placed.tree, homes, sets, average="macro"))
    if any(len(own) > 1 for own in sets):
        names = MultiLabelBinarizer().fit([tuple("xyz")])
        guessed = [
            [label for label, best in against.best.items() if best.node in placed.tree.path(home)] for home in homes
        ]
        expected = f1_score(names.transform(sets), names.transform(guessed), average="samples", zero_division=1)
        assert against.example_f1 == pytest.approx(expected)
    else:
        assert against.example_f1 is None
    assert found.hard_to_place == pytest.approx(np.mean(placed.shares.max(axis=1).toarray() <= 0.5))


@given(labelled(), st.integers(0, 99))
@some
def test_numbers_and_order_change_nothing(both, seed):
    placed, labels = both
    other, number = renumbered(placed, seed)
    known = dict(zip(placed.ids, labels, strict=True))
    found = evaluate(placed, labels).to_dict()
    again = evaluate(other, [known[name] for name in other.ids]).to_dict()
    best, best_again = ((one["labelled"] or {}).pop("best", []) for one in (found, again))
    for one in best:
        one["node"] = number[one["node"]]
    assert best == best_again
    for one, two in ((found, again), (found.pop("labelled") or {}, again.pop("labelled") or {})):
        assert one == {name: value if value is None else pytest.approx(value) for name, value in two.items()}


def test_a_perfect_tree():
    tree = Tree.from_paths(["all/news/home", "all/news/abroad", "all/sport"])
    homes = ["home"] * 5 + ["abroad"] * 4 + ["sport"] * 3
    found = evaluate(under(tree, homes), [(name,) for name in homes]).labelled
    exact = (found.nmi, found.rand, found.homogeneity, found.completeness, found.purity, found.f1_macro)
    assert exact == pytest.approx((1,) * 6)
    assert {label: tree.names[best.node] for label, best in found.best.items()} == {name: name for name in homes}
    coarse = [("sport" if name == "sport" else "news",) for name in homes]
    assert evaluate(under(tree, homes), homes).labelled == found  # a text is one label
    found = evaluate(under(tree, homes), coarse).labelled
    assert (found.purity, found.f1_weighted, found.homogeneity) == pytest.approx((1, 1, 1))
    assert found.completeness < 1  # news is in two leaves, but in one node
    assert tree.names[found.best["news"].node] == "news"


def test_several_labels_along_a_path_are_found():
    tree = Tree.from_paths(["all/news/home", "all/news/abroad", "all/sport"])
    homes = ["home"] * 5 + ["abroad"] * 4 + ["sport"] * 3
    labels = [("news", name) if name != "sport" else ("sport",) for name in homes]
    found = evaluate(under(tree, homes), labels).labelled
    assert (found.example_f1, found.f1_macro) == (1.0, 1.0)
    labels[0] = ("sport",)
    assert 0.8 < evaluate(under(tree, homes), labels).labelled.example_f1 < 1


def test_words_are_judged_below_the_root():
    tree = Tree.star(2)
    words = np.array([[0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0, 0], [0, 0, 0.4, 0.6]])
    counts = np.array([[1, 1, 0, 0], [2, 1, 0, 0], [0, 0, 1, 3], [0, 0, 0, 1]])
    placed = at(tree, [1, 1, 2, 2])
    found = evaluate(placed, counts=counts, word_given_node=words, perplexity=1234.5)
    assert found.coherence == pytest.approx(metrics.npmi_coherence(words[1:], counts).mean())
    assert found.diversity == metrics.topic_diversity(words[1:], top_n=10)
    assert (found.perplexity, found.labelled) == (1234.5, None)
    given = evaluate(placed, counts=counts, word_given_node=words, coherence=0.25, diversity=0.75)
    assert (given.coherence, given.diversity) == (0.25, 0.75)
    assert evaluate(placed, word_given_node=words).coherence is None
    assert evaluate(at(Tree.single(), [0]), word_given_node=words[:1]).diversity == 1.0


def test_hard_to_place():
    shares = np.array([[0.5, 0.5], [0.9, 0.1], [0.0, 0.0], [0.3, 0.7]])
    placed = Placed(Tree.star(2), (1, 2), shares, list("abcd"))
    assert evaluate(placed).hard_to_place == 0.5
    assert evaluate(placed, certain=0.8).hard_to_place == 0.75
    assert evaluate(Placed(Tree.star(2), (1, 2), np.zeros((0, 2)), [])).hard_to_place == 0.0


def test_lines_and_json():
    tree = Tree.from_paths(["all/news/home", "all/news/abroad", "all/sport"])
    homes = ["home"] * 5 + ["abroad"] * 4 + ["sport"] * 3
    labels = [(name, "all") for name in homes[:-1]] + [()]
    found = evaluate(under(tree, homes), labels, perplexity=1790.4)
    lines = found.lines()
    assert lines[0] == "12 documents · 3 leaves · depth 2"
    assert "perplexity (seen)      1,790" in lines
    assert "against 4 labels of 11 documents" in lines
    assert "NMI                    1.000" in lines
    assert "1.000      1.000   1.000          5  home  →  news ▸ home" in lines
    assert "1.000      1.000   1.000         11  all  →  all" in lines
    assert found.lines(1)[-1] == "… and 3 more"
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["labelled"]["best"][1] == {
        "label": "home", "node": tree.find("home"), "f1": 1.0, "precision": 1.0, "recall": 1.0, "size": 5,
        "path": ["all", "news", "home"],
    }  # fmt: skip
    assert evaluate(under(tree, homes)).to_dict()["labelled"] is None
    assert plain["labelled"]["purity"] == pytest.approx(1)
    assert evaluate(under(tree, homes), perplexity=math.inf).to_dict()["perplexity_of_seen_documents"] is None


def test_wrong_input_is_refused():
    placed = at(Tree.star(2), [1, 2])
    with pytest.raises(InputError, match="the labels of each of 2 documents, got 1"):
        evaluate(placed, [("x",)])
    with pytest.raises(InputError, match=r"words for each of 3 nodes, got an array of shape \(2, 4\)"):
        evaluate(placed, word_given_node=np.ones((2, 4)))
