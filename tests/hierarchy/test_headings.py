"""The upper tree that is built from leaves, and views of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.strategies import simplex_rows, trees
from tests.work import peak
from topiarist.errors import InputError
from topiarist.hierarchy import Tree, views
from topiarist.hierarchy.growth import headings as heads
from topiarist.hierarchy.growth import merges as merging
from topiarist.hierarchy.growth.parts import Parts
from topiarist.kernels import load
from topiarist.kernels.shard import Shard
from topiarist.models.engine.host import Engine
from topiarist.scale.threads import Threads

HOST = Engine(load("compiled"), Threads(1))


def planted(n_groups, n_leaves, seed=0, n_words=60):
    """Leaves in groups: a fifth of a leaf's words are the group's, a tenth its own; leaves in an order of chance."""
    rng = np.random.default_rng(seed)
    common = simplex_rows(rng, 1, n_words)[0]
    groups, own = simplex_rows(rng, n_groups, n_words) ** 3, simplex_rows(rng, n_groups * n_leaves, n_words) ** 3
    group = rng.permutation(np.repeat(np.arange(n_groups), n_leaves))
    words = 0.4 * common + 0.5 * groups[group] / groups[group].sum(1, keepdims=True)
    words = words + 0.1 * own / own.sum(1, keepdims=True)
    return words / words.sum(1, keepdims=True), rng.uniform(0.5, 1.5, len(group)), group


def loss(words, weights):
    mean = weights @ words / weights.sum()
    return float((weights[:, None] * words * np.log(words / mean)).sum())


@given(st.integers(2, 7), st.integers(0, 10**6))
def test_a_merge_costs_the_information_that_the_union_loses(n_leaves, seed):
    rng = np.random.default_rng(seed)
    words, weights = simplex_rows(rng, n_leaves, 9) + 1e-3, rng.uniform(0.1, 1, n_leaves)
    words /= words.sum(1, keepdims=True)
    merges = merging.merged(words, weights)
    members = [[leaf] for leaf in range(n_leaves)]
    for (first, second), cost in zip(merges.pairs, merges.costs, strict=True):
        both = members[first] + members[second]
        parts = sum(loss(words[one], weights[one]) for one in (members[first], members[second]))
        assert cost == pytest.approx(loss(words[both], weights[both]) - parts, abs=1e-9)
        members.append(both)
    assert sorted(members[-1]) == list(range(n_leaves))
    assert sum(merges.costs) == pytest.approx(loss(words, weights), abs=1e-9)
    cheapest = min(loss(words[[i, j]], weights[[i, j]]) for i in range(n_leaves) for j in range(i))
    assert merges.costs[0] == pytest.approx(cheapest, abs=1e-9)


@pytest.mark.parametrize("n_groups", [3, 4, 5])
def test_planted_groups_are_the_headings(n_groups):
    words, weights, group = planted(n_groups, 4, seed=n_groups)
    headings = heads.arranged(words, weights)
    tree = headings.tree
    under = {frozenset(tree.leaves_under(node)) for node in range(len(tree))}
    for number in range(n_groups):
        assert frozenset(headings.leaf_nodes[leaf] for leaf in np.flatnonzero(group == number)) in under
    seen = views.view(tree, headings.gains, n_groups)
    assert all(len(tree.leaves_under(node)) % 4 == 0 for node in seen)


def test_two_groups_that_differ_more_than_all_within_them_are_two():
    merges = merging.Merges(((0, 1), (2, 3), (4, 5)), (0.3, 0.3, 1.0))
    assert merging.groups_of(merges) == [[0, 1], [2, 3]]
    closer = merging.Merges(merges.pairs, (0.5, 0.3, 1.0))
    assert merging.groups_of(closer) == [[0], [1], [2, 3]]
    assert merging.groups_of(merging.Merges((), ())) == [[0]]


@settings(max_examples=30)
@given(st.integers(1, 30), st.integers(0, 10**6))
def test_no_node_has_more_than_eight_children_or_a_single_one(n_leaves, seed):
    rng = np.random.default_rng(seed)
    headings = heads.arranged(simplex_rows(rng, n_leaves, 12), rng.uniform(0.1, 1, n_leaves))
    tree = headings.tree
    assert sorted(headings.leaf_nodes) == sorted(tree.leaves)
    inner = [len(tree.children(node)) for node in range(len(tree)) if not tree.is_leaf(node)]
    assert all(2 <= number <= 8 for number in inner)
    dissolved = heads.dissolved(headings, [0] * len(tree))
    assert all(len(dissolved.tree.children(node)) <= 8 for node in range(len(dissolved.tree)))
    assert sorted(dissolved.leaf_nodes) == sorted(dissolved.tree.leaves)
    if n_leaves <= 8:
        assert len(dissolved.tree) == n_leaves + (n_leaves > 1)


def test_leaves_change_over_to_where_less_is_lost():
    words, weights, group = planted(3, 4)
    wrong = group.copy()
    wrong[np.flatnonzero(group == 0)[0]] = 1
    groups = [np.flatnonzero(wrong == number).tolist() for number in range(3)]
    assert merging.exchanged(words, weights, groups) == sorted(np.flatnonzero(group == n).tolist() for n in range(3))
    alone = [[leaf] for leaf in range(len(words))]
    assert merging.exchanged(words, weights, alone) == alone


def test_a_heading_is_kept_if_most_of_it_has_words_in_common():
    tree, leaves = Tree((-1, 0, 1, 1, 0, 4, 4)), (2, 3, 5, 6)
    #                     common to 2 and 3, one's own, everybody's
    presence = np.array([[5, 4, 9, 0, 5], [4, 6, 0, 0, 5], [0, 0, 0, 9, 5], [0, 0, 0, 0, 5]], float)
    assert heads.shared_words(presence, np.full(4, 10.0), tree, leaves) == (0, 2, 0, 0, 0, 0, 0)
    headings = heads.dissolved(heads.Headings(tree, leaves, (3.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0)), (0, 2, 0, 0, 0, 0, 0))
    assert headings.tree.parents == (-1, 0, 1, 1, 0, 0)
    assert headings.leaf_nodes == (2, 3, 4, 5)


def tables_of(counts):
    shard = Shard.of(csr_array(counts.astype(np.float32)), np.float32, 4)
    return lambda parts: HOST.class_tables(shard, parts.class_given_doc)


def test_grown_parameters_under_headings_are_a_start_for_em():
    words, _, _ = planted(3, 3)
    rng = np.random.default_rng(0)
    shares = np.repeat(np.eye(9, dtype=np.float32), 20, axis=0)
    counts = np.stack([rng.multinomial(40, words[leaf]) for leaf in range(9) for _ in range(20)])
    grown = Tree.star(9)
    mix = np.full((9, 10), 0.0)
    mix[:, 0], mix[range(9), range(1, 10)] = 0.4, 0.6
    parts = Parts(grown, grown.leaves, np.vstack([words.mean(0), words]).astype(np.float32), mix, shares)
    headed = heads.headed(parts, tables_of(counts))
    assert len(headed.tree.children(headed.tree.root)) == 3
    np.testing.assert_allclose(headed.word_given_node.sum(1), 1, atol=1e-4)
    np.testing.assert_allclose(headed.node_given_class.sum(1), 1, atol=1e-6)
    assert not headed.node_given_class[~headed.path_mask].any()
    assert headed.word_given_node.min() > 0
    assert headed.class_given_doc is shares
    one = Parts(Tree.star(2), (1, 2), parts.word_given_node[:3], mix[:2, :3], shares[:, :2])
    assert heads.headed(one, tables_of(counts)) is one


@given(trees(), st.integers(0, 10**6))
def test_views_are_nested_and_hold_every_leaf_once(tree, seed):
    gain = np.random.default_rng(seed).uniform(0, 1, len(tree)).tolist()
    before = None
    for number in range(1, len(tree.leaves) + 1):
        seen = views.view(tree, gain, number)
        assert len(seen) <= number
        assert sorted(leaf for node in seen for leaf in tree.leaves_under(node)) == sorted(tree.leaves)
        if before is not None:
            assert all(any(old in tree.path(node) for old in before) for node in seen)
        before = seen
    assert sorted(views.view(tree, gain, len(tree.leaves))) == sorted(tree.leaves) or any(
        len(tree.children(node)) == 1 for node in range(len(tree))
    )
    assert list(views.views(tree, gain)) == ["coarse", "normal", "fine"]


def test_a_view_of_a_large_tree_looks_at_no_more_than_it_shows():
    """A given hierarchy may have thousands of topics, and pages ask for views of it."""
    n_nodes = 2**13 - 1
    tree = Tree((-1, *((node - 1) // 2 for node in range(1, n_nodes))))
    gain = [1 / (1 + node) for node in range(n_nodes)]
    assert len(views.view(tree, gain, 20)) == 20
    assert peak(views.view, tree, gain, 20) < 100_000
    assert peak(views.views, tree, gain) < 100_000


def test_a_view_needs_a_node_and_counts_need_tokens():
    with pytest.raises(InputError, match="at least 1 node"):
        views.view(Tree.single(), [0.0], 0)
    with pytest.raises(InputError, match="leaves × words"):
        merging.smoothed(np.zeros((2, 3)))


def test_merges_by_any_measure_become_a_multiway_tree():
    pairs = ((0, 1), (2, 3), (4, 5), (6, 7), (9, 8))  # ((0 1) (2 3)) and (4 5)
    tree = merging.multiway(merging.Merges(pairs, (1.0, 1.0, 1.0, 8.0, 10.0)))
    assert tree.leaves == (0, 1, 2, 3, 4, 5)
    assert [sorted(tree.leaves_under(child)) for child in tree.children(tree.root)] == [[0, 1], [2, 3], [4, 5]]
    insisting = merging.multiway(merging.Merges(pairs, (1.0, 1.0, 1.0, 3.0, 10.0)))
    assert sorted(sorted(insisting.leaves_under(child)) for child in insisting.children(insisting.root)) == [
        [0, 1, 2, 3], [4, 5]
    ]  # fmt: skip
    assert len(merging.multiway(merging.Merges((), ()))) == 1
    many = tuple((0 if step == 0 else 11 + step, step + 1) for step in range(11))
    flat = merging.multiway(merging.Merges(many, tuple(10.0 + step for step in range(11))))
    assert max(len(flat.children(node)) for node in range(len(flat))) == 8


@pytest.mark.parametrize("n_classes", [3, 80])
def test_words_of_classes_are_added_up_whether_there_are_few_or_many(n_classes):
    rng = np.random.default_rng(0)
    counts = csr_array(rng.poisson(0.4, (60, 25)).astype(float))
    shares = rng.dirichlet(np.full(n_classes, 0.02), 60)  # most classes hold nothing of a document
    tokens, presence = HOST.class_tables(Shard.of(counts, np.float64, 4), shares)
    np.testing.assert_allclose(tokens, shares.T @ counts.toarray(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(presence, shares.T @ (counts.toarray() > 0), rtol=0, atol=1e-12)
