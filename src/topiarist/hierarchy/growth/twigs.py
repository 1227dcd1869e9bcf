"""Twigs: what grew below the first branches of a tree, kept as it grew while headings are built over the branches.

The first splits of a growing tree are its worst: each divides everything, and the tree above a few dozen branches is
chance. Later splits divide what belongs together already, and merging hundreds of small leaves anew knows less than
these splits did: a leaf of twenty documents is a noisy witness. So headings are built over the first branches, of
which each speaks for hundreds of documents; what is below a branch keeps the order in which it grew, and becomes
multiway by the costs of its own merges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from topiarist.arrays import Array
from topiarist.hierarchy.growth.merges import Merges, multiway, weighted_entropy
from topiarist.hierarchy.tree import Tree

BRANCHES = 48  # that headings are built over; leaves, where a tree has no more than these


def first_branches(tree: Tree, number: int = BRANCHES) -> tuple[int, ...]:
    """The leaves that a growing tree had when it had ``number`` of them: children come after the nodes they part."""
    seen = {tree.root}
    for node in sorted((v for v in range(len(tree)) if not tree.is_leaf(v)), key=lambda v: min(tree.children(v))):
        if len(seen) >= number:
            break
        seen.remove(node)
        seen.update(tree.children(node))
    return tuple(sorted(seen))


def below(tree: Tree, branch: int, class_nodes: Sequence[int]) -> list[int]:
    """The classes under a branch."""
    return [number for number, node in enumerate(class_nodes) if branch in tree.path(node)]


def twig(tree: Tree, branch: int, joint: dict[int, Array], weights: dict[int, float]) -> tuple[Tree, tuple[int, ...]]:
    """What is below a branch as a multiway tree, and the old nodes of its first nodes, which are its leaves.

    ``joint`` and ``weights`` have P(w, leaf) and P(leaf) of every leaf of the old tree.
    """
    inner, leaves, waiting = list[int](), list[int](), [branch]
    while waiting:
        node = waiting.pop()
        (leaves if tree.is_leaf(node) else inner).append(node)
        waiting += tree.children(node)
    place = {leaf: number for number, leaf in enumerate(leaves)}
    words, size = {leaf: joint[leaf] for leaf in leaves}, {leaf: weights[leaf] for leaf in leaves}
    pairs, costs = list[tuple[int, int]](), list[float]()
    for node in reversed(inner):
        first, *others = tree.children(node)
        words[node], size[node], place[node] = words[first], size[first], place[first]
        for other in others:
            union, total = words[node] + words[other], size[node] + size[other]
            three = weighted_entropy(
                np.stack([union, words[node], words[other]]), np.array([total, size[node], size[other]])
            )
            costs.append(max(float(three[0] - three[1] - three[2]), 0.0))
            pairs.append((place[node], place[other]))
            words[node], size[node], place[node] = union, total, len(leaves) + len(pairs) - 1
    return multiway(Merges(tuple(pairs), tuple(costs))), tuple(leaves)


def hung(
    upper: Tree, places: Sequence[int], tree: Tree, branches: Sequence[int], class_nodes: Sequence[int], joint: Any
) -> tuple[Tree, tuple[int, ...]]:
    """The upper tree with the twig of each branch below its place, and where each class is then."""
    number = {node: one for one, node in enumerate(class_nodes)}
    words = {node: joint[one] for node, one in number.items()}
    weights = {node: float(joint[one].sum()) for node, one in number.items()}
    parents, nodes = list(upper.parents), [0] * len(class_nodes)
    for branch, place in zip(branches, places, strict=True):
        if tree.is_leaf(branch):
            nodes[number[branch]] = place
            continue
        own, leaves = twig(tree, branch, words, weights)
        others = [node for node in range(len(own)) if node != own.root]
        new = {own.root: place} | {node: len(parents) + one for one, node in enumerate(others)}
        parents += [new[own.parents[node]] for node in others]
        for one, leaf in enumerate(leaves):
            nodes[number[leaf]] = new[one]
    return Tree(tuple(parents)), tuple(nodes)
