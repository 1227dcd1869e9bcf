"""Headings over the first branches of a tree, with what grew below them."""

import numpy as np
import pytest

from topiarist.trees import edits
from topiarist.trees.growth.headings import build_headings, build_headings_over_branches
from topiarist.trees.growth.multiway import (
    MAX_BRANCHES,
    attach_branches,
    convert_to_multiway,
    find_first_branches,
    list_classes_below,
)
from topiarist.trees.tree import Tree


def grown(n_leaves: int, seed: int = 0) -> Tree:
    """A tree that grew by splitting one leaf after the other."""
    rng, tree = np.random.default_rng(seed), Tree.single()
    while len(tree.leaves) < n_leaves:
        tree = edits.split(tree, int(rng.choice(tree.leaves))).tree
    return tree


def spoken(n_leaves: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).gamma(0.2, 100, (n_leaves, 60))


def under(tree: Tree, node: int, places) -> set[int]:
    return {number for number, place in enumerate(places) if node in tree.path(place)}


def test_first_branches_are_leaves_of_younger_tree():
    young = grown(12, seed=3)
    old = young
    for leaf in (young.leaves[2], young.leaves[2], young.leaves[5]):
        node = leaf if old.is_leaf(leaf) else old.children(leaf)[0]
        old = edits.split(old, node).tree
    assert find_first_branches(old, 12) == tuple(sorted(young.leaves))
    assert find_first_branches(old, 100) == tuple(sorted(old.leaves))


def test_small_tree_gets_headings_over_leaves():
    tree, counts = grown(MAX_BRANCHES), spoken(MAX_BRANCHES)
    presence, sizes = np.minimum(counts, 20), np.full(MAX_BRANCHES, 20.0)
    over = build_headings_over_branches(tree, tree.leaves, counts, presence, sizes)
    assert over == build_headings(counts, presence, sizes)


def test_attach_branches_keeps_all_leaves_together():
    n_leaves = MAX_BRANCHES + 60
    tree, counts = grown(n_leaves), spoken(n_leaves)
    branches = find_first_branches(tree)
    upper = Tree((-1, *[0] * len(branches)))
    whole, nodes = attach_branches(upper, range(1, len(upper)), tree, branches, tree.leaves, counts / counts.sum())
    assert sorted(nodes) == sorted(whole.leaves)
    for branch, place in zip(branches, range(1, len(upper)), strict=True):
        assert under(whole, place, nodes) == set(list_classes_below(tree, branch, tree.leaves))
    assert max(len(whole.children(node)) for node in range(1, len(whole))) <= 8


def test_convert_to_multiway_opens_expensive_merges():
    """Three kinds that parted one after the other hang from one node; two near copies have one of their own."""
    tree = Tree((-1, 0, 0, 1, 1, 3, 3))  # 0 = (1 = (3 = (5, 6), 4), 2)
    words = {5: [30, 0, 0, 1], 6: [30, 0, 0, 0], 4: [0, 30, 0, 0], 2: [0, 0, 30, 0]}
    joint = {leaf: np.array(row) / 121 for leaf, row in words.items()}
    found, leaves = convert_to_multiway(tree, 0, joint, {leaf: float(row.sum()) for leaf, row in joint.items()})
    place = {leaf: number for number, leaf in enumerate(leaves)}
    assert found.parents[place[5]] == found.parents[place[6]] != found.root
    assert found.parents[place[4]] == found.parents[place[2]] == found.root


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_headings_reunite_planted_groups(seed):
    """Four families of forty leaves; the first split of the tree goes right through all of them."""
    rng = np.random.default_rng(seed)
    family = np.repeat(np.arange(4), 40)
    tree, owner = edits.split(Tree.single(), 0).tree, {}
    for half in (1, 2):
        ends = [half]
        while len(ends) < 4:
            end = ends.pop(0)
            tree = edits.split(tree, end).tree
            ends += tree.children(end)
        owner |= dict(zip(ends, range(4), strict=True))
    while len(tree.leaves) < 160:
        ends = [leaf for leaf in tree.leaves if sum(owner[o] == owner[leaf] for o in tree.leaves) < 40]
        leaf = int(rng.choice(ends))
        tree = edits.split(tree, leaf).tree
        owner |= dict.fromkeys(tree.children(leaf), owner[leaf])
    family = np.array([owner[leaf] for leaf in tree.leaves])
    words = np.full((4, 80), 0.2)
    for one in range(4):
        words[one, 20 * one : 20 * one + 20] = 5.0
    counts = rng.poisson(words[family] * rng.gamma(1.0, 1.0, (160, 80))).astype(float)
    headings = build_headings_over_branches(tree, tree.leaves, counts, np.minimum(counts, 9), np.full(160, 9.0))
    top = headings.tree.children(headings.tree.root)
    found = [under(headings.tree, node, headings.leaf_nodes) for node in top]
    assert sorted(sorted(one) for one in found) == sorted(sorted(np.flatnonzero(family == one)) for one in range(4))
