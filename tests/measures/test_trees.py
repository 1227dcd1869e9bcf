"""The best node of a label: by hand, and against a look at every node."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import trees
from tests.work import assert_linear
from topiarist import metrics
from topiarist.errors import InputError, UsageError
from topiarist.hierarchy import Tree


def f_at_every_node(tree, nodes, sets, label):
    """F of a label at each node that has documents, by counting."""
    having = {doc for doc, own in enumerate(sets) if label in own}
    found = {}
    for node in range(len(tree)):
        under = {doc for doc, home in enumerate(nodes) if node in tree.path(home)}
        if under:
            found[node] = 2 * len(under & having) / (len(under) + len(having))
    return found


@given(trees(), st.data())
@settings(max_examples=150, deadline=None)
def test_the_best_node_is_best_of_all_nodes(tree, data):
    nodes = data.draw(st.lists(st.integers(0, len(tree) - 1), min_size=1, max_size=12))
    sets = [tuple(data.draw(st.sets(st.sampled_from("xyz")))) for _ in nodes]
    if not any(sets):
        with pytest.raises(InputError, match="got none that has any"):
            metrics.best_nodes(tree, nodes, sets)
        return
    found = metrics.best_nodes(tree, nodes, sets)
    assert set(found) == {label for own in sets for label in own}
    for label, best in found.items():
        everywhere = f_at_every_node(tree, nodes, sets, label)
        assert best.f1 == pytest.approx(max(everywhere.values()), rel=1e-12)
        assert everywhere[best.node] == pytest.approx(best.f1, rel=1e-12)
        assert best.f1 == pytest.approx(2 * best.precision * best.recall / (best.precision + best.recall), rel=1e-12)
    macro = np.mean([best.f1 for best in found.values()])
    assert metrics.tree_f1(tree, nodes, sets, average="macro") == pytest.approx(macro, rel=1e-12)


def test_a_label_may_be_an_inner_node():
    tree = Tree.balanced(2, 2)  # leaves 3 4 under 1, leaves 5 6 under 2
    best = metrics.best_nodes(tree, [3, 4, 5, 6], ["x", "x", "y", "z"])
    assert (best["x"].node, best["y"].node, best["z"].node) == (1, 5, 6)
    assert metrics.tree_f1(tree, [3, 4, 5, 6], ["x", "x", "y", "z"]) == 1.0
    mixed = [3, 4, 5, 6], ["x", "y", "x", "y"]
    assert metrics.tree_f1(tree, *mixed) == pytest.approx(2 / 3)
    assert metrics.best_nodes(tree, *mixed)["x"] == metrics.BestNode(3, pytest.approx(2 / 3), 1.0, 0.5, 2)


def test_large_labels_count_more_unless_asked_otherwise():
    tree, nodes, labels = Tree.star(2), [1, 1, 1, 2, 2], ["x", "x", "x", "y", "x"]
    of_y = 2 * 1 / (2 + 1)
    found = metrics.best_nodes(tree, nodes, labels)
    assert (found["x"].node, found["y"].node) == (0, 2)  # at node 1 x has 6/7
    assert found["x"].f1 == pytest.approx(8 / 9)
    assert metrics.tree_f1(tree, nodes, labels) == pytest.approx((4 * 8 / 9 + of_y) / 5)
    assert metrics.tree_f1(tree, nodes, labels, average="macro") == pytest.approx((8 / 9 + of_y) / 2)


@pytest.mark.parametrize("n_labels", [20, 7000])
def test_the_work_for_a_chain_grows_with_its_nodes_and_no_faster(n_labels):
    rng = np.random.default_rng(3)

    def chain(n_docs):
        return n_docs, (Tree(tuple(range(-1, n_docs - 1))), rng.integers(n_labels, size=n_docs).tolist())

    def score(tree, labels):
        assert 0 < metrics.tree_f1(tree, np.arange(len(labels)), labels) < 0.7

    assert_linear(score, chain(5_000), chain(20_000), slack=1.5)


def test_wrong_input_is_refused():
    with pytest.raises(UsageError, match="one of weighted, macro, got 'micro'"):
        metrics.tree_f1(Tree.star(2), [1, 2], ["x", "y"], average="micro")
    with pytest.raises(InputError, match="each of the 1 labels"):
        metrics.best_nodes(Tree.star(2), [1, 2], ["x"])
    with pytest.raises(InputError, match="a label, or a tuple of labels, for each document"):
        metrics.best_nodes(Tree.star(2), [1], [([],)])
