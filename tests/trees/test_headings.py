"""The upper tree that is built from leaves, and views of it."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.strategies import simplex_rows, trees
from tests.work import peak
from topiarist.errors import InputError
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.kernels.shard import Shard
from topiarist.models.engine.host import Engine
from topiarist.trees import Tree, edits, views
from topiarist.trees.growth import headings as heads
from topiarist.trees.growth import merges as merging
from topiarist.trees.growth.parts import GrowthState

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
def test_merge_cost_is_information_loss(n_leaves, seed):
    rng = np.random.default_rng(seed)
    words, weights = simplex_rows(rng, n_leaves, 9) + 1e-3, rng.uniform(0.1, 1, n_leaves)
    words /= words.sum(1, keepdims=True)
    merges = merging.merge_leaves(words, weights)
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
def test_build_headings_finds_planted_groups(n_groups):
    words, weights, group = planted(n_groups, 4, seed=n_groups)
    headings = heads.arrange_leaves(words, weights)
    tree = headings.tree
    under = {frozenset(tree.leaves_under(node)) for node in range(len(tree))}
    for number in range(n_groups):
        assert frozenset(headings.leaf_nodes[leaf] for leaf in np.flatnonzero(group == number)) in under
    seen = views.select_view(tree, headings.gains, n_groups)
    assert all(len(tree.leaves_under(node)) % 4 == 0 for node in seen)


def test_select_groups_allows_two_distinct_groups():
    merges = merging.Merges(((0, 1), (2, 3), (4, 5)), (0.3, 0.3, 1.0))
    assert merging.select_groups(merges) == [[0, 1], [2, 3]]
    closer = merging.Merges(merges.pairs, (0.5, 0.3, 1.0))
    assert merging.select_groups(closer) == [[0], [1], [2, 3]]
    assert merging.select_groups(merging.Merges((), ())) == [[0]]


@settings(max_examples=30)
@given(st.integers(1, 30), st.integers(0, 10**6))
def test_arrange_leaves_bounds_children(n_leaves, seed):
    rng = np.random.default_rng(seed)
    headings = heads.arrange_leaves(simplex_rows(rng, n_leaves, 12), rng.uniform(0.1, 1, n_leaves))
    tree = headings.tree
    assert sorted(headings.leaf_nodes) == sorted(tree.leaves)
    inner = [len(tree.children(node)) for node in range(len(tree)) if not tree.is_leaf(node)]
    assert all(2 <= number <= 8 for number in inner)
    dissolved = heads.dissolve_headings(headings, [0] * len(tree))
    assert all(len(dissolved.tree.children(node)) <= 8 for node in range(len(dissolved.tree)))
    assert sorted(dissolved.leaf_nodes) == sorted(dissolved.tree.leaves)
    if n_leaves <= 8:
        assert len(dissolved.tree) == n_leaves + (n_leaves > 1)


def test_exchange_leaves_reduces_loss():
    words, weights, group = planted(3, 4)
    wrong = group.copy()
    wrong[np.flatnonzero(group == 0)[0]] = 1
    groups = [np.flatnonzero(wrong == number).tolist() for number in range(3)]
    assert merging.exchange_leaves(words, weights, groups) == sorted(
        np.flatnonzero(group == n).tolist() for n in range(3)
    )
    alone = [[leaf] for leaf in range(len(words))]
    assert merging.exchange_leaves(words, weights, alone) == alone


def test_headings_need_shared_words():
    tree, leaves = Tree((-1, 0, 1, 1, 0, 4, 4)), (2, 3, 5, 6)
    #                     common to 2 and 3, one's own, everybody's
    presence = np.array([[5, 4, 9, 0, 5], [4, 6, 0, 0, 5], [0, 0, 0, 9, 5], [0, 0, 0, 0, 5]], float)
    assert heads.count_shared_words(presence, np.full(4, 10.0), tree, leaves) == (0, 2, 0, 0, 0, 0, 0)
    headings = heads.dissolve_headings(
        heads.Headings(tree, leaves, (3.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0)), (0, 2, 0, 0, 0, 0, 0)
    )
    assert headings.tree.parents == (-1, 0, 1, 1, 0, 0)
    assert headings.leaf_nodes == (2, 3, 4, 5)


def tables_of(counts):
    shard = Shard.from_matrix(csr_array(counts.astype(np.float32)), np.float32, 4)
    return lambda parts: HOST.class_tables(shard, parts.class_given_doc)


def test_apply_headings_yields_start_for_em():
    words, _, _ = planted(3, 3)
    rng = np.random.default_rng(0)
    shares = np.repeat(np.eye(9, dtype=np.float32), 20, axis=0)
    counts = np.stack([rng.multinomial(40, words[leaf]) for leaf in range(9) for _ in range(20)])
    grown = Tree.star(9)
    mix = np.full((9, 10), 0.0)
    mix[:, 0], mix[range(9), range(1, 10)] = 0.4, 0.6
    parts = GrowthState(grown, grown.leaves, np.vstack([words.mean(0), words]).astype(np.float32), mix, shares)
    headed = heads.add_headings(parts, tables_of(counts))
    assert len(headed.tree.children(headed.tree.root)) == 3
    np.testing.assert_allclose(headed.word_given_node.sum(1), 1, atol=1e-4)
    np.testing.assert_allclose(headed.node_given_class.sum(1), 1, atol=1e-6)
    assert not headed.node_given_class[~headed.path_mask].any()
    assert headed.word_given_node.min() > 0
    assert headed.class_given_doc is shares
    one = GrowthState(Tree.star(2), (1, 2), parts.word_given_node[:3], mix[:2, :3], shares[:, :2])
    assert heads.add_headings(one, tables_of(counts)) is one


@given(trees(max_nodes=60), st.integers(0, 10**6))
def test_large_headings_follow_rule(tree, seed):
    tree = Tree(tree.parents)
    own = np.random.default_rng(seed).integers(0, 9, len(tree)) * np.array([tree.is_leaf(v) for v in range(len(tree))])
    sizes = (own @ tree.path_mask(range(len(tree)))).tolist()
    large = views.select_large_headings(tree, sizes)
    if len(tree.leaves) <= 12:
        assert large == ()
    seen = edits.collapse(tree, large)
    assert tuple(seen.origin[leaf] for leaf in sorted(seen.tree.leaves)) == tuple(sorted(tree.leaves))
    level = seen.tree.children(seen.tree.root)
    assert len(level) <= max(12, len(tree.children(tree.root)))
    for place in level:
        node = seen.origin[place]
        opened = len(level) - 1 + len(tree.children(node))
        small = sizes[node] <= sizes[tree.root] / 4 or tree.is_leaf(node)
        assert small or opened > 12 or len(tree.leaves) <= 12
    assert all(sizes[node] > sizes[tree.root] / 4 for node in large)
    for node in large:
        assert tree.parents[node] == tree.root or tree.parents[node] in large


def test_large_headings_open_largest_first():
    star = [1] * 4 + [2] * 4 + [3] * 6  # three headings of four, four and six leaves
    tree = Tree((-1, 0, 0, 0, *star))
    sizes = [100, 45, 30, 25, *(1,) * 14]
    assert views.select_large_headings(tree, sizes) == (1, 2)  # a quarter is not more than a quarter
    sizes = [100, 30, 30, 40, *(1,) * 14]
    assert views.select_large_headings(tree, sizes) == (1, 3)  # the second heading would make 14 topics
    assert views.select_large_headings(Tree((-1, *(parent + 1 for parent in tree.parents))), [100, *sizes], 1) == (2, 4)


def test_coarse_view_is_the_first_level():
    tree = Tree((-1, *(0,) * 9, *(1,) * 4, *(2,) * 4))
    gain = [1.0, 0.9, 0.8, *(0.0,) * 15]
    assert views.select_views(tree, gain)["coarse"] == tuple(range(1, 10))
    wide = Tree((-1, *(0,) * 30))
    assert views.select_views(wide, [1.0, *(0.0,) * 30])["coarse"] == (0,)


@given(trees(), st.integers(0, 10**6))
def test_views_are_nested_and_complete(tree, seed):
    gain = np.random.default_rng(seed).uniform(0, 1, len(tree)).tolist()
    before = None
    for number in range(1, len(tree.leaves) + 1):
        seen = views.select_view(tree, gain, number)
        assert len(seen) <= number
        assert sorted(leaf for node in seen for leaf in tree.leaves_under(node)) == sorted(tree.leaves)
        if before is not None:
            assert all(any(old in tree.path(node) for old in before) for node in seen)
        before = seen
    assert sorted(views.select_view(tree, gain, len(tree.leaves))) == sorted(tree.leaves) or any(
        len(tree.children(node)) == 1 for node in range(len(tree))
    )
    assert list(views.select_views(tree, gain)) == ["coarse", "normal", "fine"]


def test_view_of_large_tree_is_lazy():
    """A given hierarchy may have thousands of topics, and pages ask for views of it."""
    n_nodes = 2**13 - 1
    tree = Tree((-1, *((node - 1) // 2 for node in range(1, n_nodes))))
    gain = [1 / (1 + node) for node in range(n_nodes)]
    assert len(views.select_view(tree, gain, 20)) == 20
    assert peak(views.select_view, tree, gain, 20) < 100_000
    assert peak(views.select_views, tree, gain) < 100_000


def test_views_and_counts_reject_empty_arguments():
    with pytest.raises(InputError, match="at least 1 node"):
        views.select_view(Tree.single(), [0.0], 0)
    with pytest.raises(InputError, match="leaves × words"):
        merging.smooth_counts(np.zeros((2, 3)))


def test_build_multiway_tree_from_any_merges():
    pairs = ((0, 1), (2, 3), (4, 5), (6, 7), (9, 8))  # ((0 1) (2 3)) and (4 5)
    tree = merging.build_multiway_tree(merging.Merges(pairs, (1.0, 1.0, 1.0, 8.0, 10.0)))
    assert tree.leaves == (0, 1, 2, 3, 4, 5)
    assert [sorted(tree.leaves_under(child)) for child in tree.children(tree.root)] == [[0, 1], [2, 3], [4, 5]]
    insisting = merging.build_multiway_tree(merging.Merges(pairs, (1.0, 1.0, 1.0, 3.0, 10.0)))
    assert sorted(sorted(insisting.leaves_under(child)) for child in insisting.children(insisting.root)) == [
        [0, 1, 2, 3], [4, 5]
    ]  # fmt: skip
    assert len(merging.build_multiway_tree(merging.Merges((), ()))) == 1
    many = tuple((0 if step == 0 else 11 + step, step + 1) for step in range(11))
    flat = merging.build_multiway_tree(merging.Merges(many, tuple(10.0 + step for step in range(11))))
    assert max(len(flat.children(node)) for node in range(len(flat))) == 8


@pytest.mark.parametrize("n_classes", [3, 80])
def test_class_tables_sum_words_of_documents(n_classes):
    rng = np.random.default_rng(0)
    counts = csr_array(rng.poisson(0.4, (60, 25)).astype(float))
    shares = rng.dirichlet(np.full(n_classes, 0.02), 60)  # most classes hold nothing of a document
    tokens, presence = HOST.class_tables(Shard.from_matrix(counts, np.float64, 4), shares)
    np.testing.assert_allclose(tokens, shares.T @ counts.toarray(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(presence, shares.T @ (counts.toarray() > 0), rtol=0, atol=1e-12)


def list_levels(tree, node):
    """Yield every way to open headings below a node, the node itself first."""
    yield (node,)
    if not tree.is_leaf(node):
        for parts in itertools.product(*(list(list_levels(tree, child)) for child in tree.children(node))):
            yield tuple(itertools.chain(*parts))


@settings(max_examples=60)
@given(tree=trees(max_nodes=9), number=st.integers(1, 8), seed=st.integers(0, 99))
def test_select_siblings_finds_most_even_level(tree, number, seed):
    leaf_sizes = np.random.default_rng(seed).integers(1, 50, len(tree))
    sizes = [int(leaf_sizes[list(tree.leaves_under(node))].sum()) for node in range(len(tree))]
    nodes = views.select_siblings(tree, sizes, number)
    levels = [level for level in list_levels(tree, tree.root) if len(tree) == 1 or level != (tree.root,)]
    fitting = [level for level in levels if len(level) <= number]
    if not fitting:
        assert set(nodes) == set(tree.children(tree.root))
        return
    count = max(map(len, fitting))
    assert len(nodes) == count
    least = min(sum(sizes[node] ** 2 for node in level) for level in fitting if len(level) == count)
    assert sum(sizes[node] ** 2 for node in nodes) == least
    assert tuple(sorted(nodes)) in {tuple(sorted(level)) for level in fitting}


def test_many_leaves_share_column_of_uninformative_words(monkeypatch):
    words, weights, _ = planted(3, 4)
    words[:, 7] += 1.0  # frequent, and as frequent in all leaves
    words /= words.sum(1, keepdims=True)
    assert merging.select_informative_words(words, weights) is words
    monkeypatch.setattr(merging, "MIN_WORDS", 10)
    monkeypatch.setattr(merging, "MAX_TABLE_SIZE", 15 * len(words) ** 2)
    selected = merging.select_informative_words(words, weights)
    assert selected.shape == (12, 16)
    np.testing.assert_allclose(selected.sum(1), 1.0)
    mean = weights @ words / weights.sum()
    information = weights @ (words * np.log(words / mean))
    best = np.sort(np.argsort(-information)[:15])
    assert 7 not in best
    np.testing.assert_array_equal(selected[:, :-1], words[:, best])
    monkeypatch.setattr(merging, "MIN_WORDS", 20)
    assert merging.select_informative_words(words, weights).shape == (12, 21)


def test_leaf_without_tokens_is_merged_at_no_cost():
    counts = np.array([[9.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 2.0, 8.0]])
    words, weights = merging.smooth_counts(counts)
    assert weights.tolist() == [0.5, 0.0, 0.5]
    np.testing.assert_allclose(words[1], counts.sum(0) / 20)
    merges = merging.merge_leaves(words, weights)
    assert merges.pairs[0] == (0, 1)
    assert merges.costs[0] == 0.0 < merges.costs[1]
    headings = heads.arrange_leaves(words, weights)
    assert sorted(headings.leaf_nodes) == sorted(headings.tree.leaves)
    assert np.isfinite(headings.gains).all()
    with pytest.raises(InputError, match="with tokens in them"):
        merging.smooth_counts(np.zeros((2, 3)))
