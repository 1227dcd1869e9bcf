"""The best node of a label: by hand, and against a look at every node."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import trees
from tests.work import assert_linear
from topiarist import metrics
from topiarist.errors import InputError, UsageError
from topiarist.trees import Tree


def f_at_every_node(tree, nodes, sets, label):
    """F of a label at each node that has documents, by counting."""
    having = {doc for doc, own in enumerate(sets) if label in own}
    result = {}
    for node in range(len(tree)):
        under = {doc for doc, home in enumerate(nodes) if node in tree.path(home)}
        if under:
            result[node] = 2 * len(under & having) / (len(under) + len(having))
    return result


@given(trees(), st.data())
@settings(max_examples=150, deadline=None)
def test_best_nodes_match_exhaustive_search(tree, data):
    nodes = data.draw(st.lists(st.integers(0, len(tree) - 1), min_size=1, max_size=12))
    sets = [tuple(data.draw(st.sets(st.sampled_from("xyz")))) for _ in nodes]
    if not any(sets):
        with pytest.raises(InputError, match="got none that has any"):
            metrics.best_nodes(tree, nodes, sets)
        return
    result = metrics.best_nodes(tree, nodes, sets)
    assert set(result) == {label for own in sets for label in own}
    for label, best in result.items():
        everywhere = f_at_every_node(tree, nodes, sets, label)
        assert best.f1 == pytest.approx(max(everywhere.values()), rel=1e-12)
        assert everywhere[best.node] == pytest.approx(best.f1, rel=1e-12)
        assert best.f1 == pytest.approx(2 * best.precision * best.recall / (best.precision + best.recall), rel=1e-12)
    macro = np.mean([best.f1 for best in result.values()])
    assert metrics.tree_f1(tree, nodes, sets, average="macro") == pytest.approx(macro, rel=1e-12)


def test_best_node_can_be_inner():
    tree = Tree.balanced(2, 2)  # leaves 3 4 under 1, leaves 5 6 under 2
    best = metrics.best_nodes(tree, [3, 4, 5, 6], ["x", "x", "y", "z"])
    assert (best["x"].node, best["y"].node, best["z"].node) == (1, 5, 6)
    assert metrics.tree_f1(tree, [3, 4, 5, 6], ["x", "x", "y", "z"]) == 1.0
    mixed = [3, 4, 5, 6], ["x", "y", "x", "y"]
    assert metrics.tree_f1(tree, *mixed) == pytest.approx(2 / 3)
    assert metrics.best_nodes(tree, *mixed)["x"] == metrics.BestNode(3, pytest.approx(2 / 3), 1.0, 0.5, 2)


def test_tree_f1_weights_labels_by_size():
    tree, nodes, labels = Tree.star(2), [1, 1, 1, 2, 2], ["x", "x", "x", "y", "x"]
    of_y = 2 * 1 / (2 + 1)
    result = metrics.best_nodes(tree, nodes, labels)
    assert (result["x"].node, result["y"].node) == (0, 2)  # at node 1 x has 6/7
    assert result["x"].f1 == pytest.approx(8 / 9)
    assert metrics.tree_f1(tree, nodes, labels) == pytest.approx((4 * 8 / 9 + of_y) / 5)
    assert metrics.tree_f1(tree, nodes, labels, average="macro") == pytest.approx((8 / 9 + of_y) / 2)


@pytest.mark.parametrize("n_labels", [20, 7000])
def test_best_nodes_work_on_chain(n_labels):
    rng = np.random.default_rng(3)

    def chain(n_docs):
        return n_docs, (Tree(tuple(range(-1, n_docs - 1))), rng.integers(n_labels, size=n_docs).tolist())

    def score(tree, labels):
        assert 0 < metrics.tree_f1(tree, np.arange(len(labels)), labels) < 0.7

    assert_linear(score, chain(5_000), chain(20_000), slack=1.5)


def test_wrong_input_raises():
    with pytest.raises(UsageError, match="one of weighted, macro, got 'micro'"):
        metrics.tree_f1(Tree.star(2), [1, 2], ["x", "y"], average="micro")
    with pytest.raises(InputError, match="each of the 1 labels"):
        metrics.best_nodes(Tree.star(2), [1, 2], ["x"])
    with pytest.raises(InputError, match="a label, or a tuple of labels"):
        metrics.best_nodes(Tree.star(2), [1], [([],)])
