"""Subtrees below the first branches of a tree, kept in the order of growth under new headings.

The first splits of a growing tree are its worst: each divides everything, so that the tree above a few dozen branches
is unreliable. Later splits divide related documents, and are better than merging hundreds of small leaves: a leaf of
twenty documents is noisy. So headings are built over the first branches, which have hundreds of documents each. The
subtree below a branch keeps its order of growth, and becomes multiway by the costs of its own merges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from topiarist.arrays import Array
from topiarist.trees.growth.merges import Merges, build_multiway_tree, compute_weighted_entropy
from topiarist.trees.tree import Tree

MAX_BRANCHES = 48  # under the headings; leaves, in a tree without more


def find_first_branches(tree: Tree, number: int = MAX_BRANCHES) -> tuple[int, ...]:
    """Return the leaves that a growing tree had when it had ``number`` leaves; children have higher numbers."""
    branches = {tree.root}
    for node in sorted((v for v in range(len(tree)) if not tree.is_leaf(v)), key=lambda v: min(tree.children(v))):
        if len(branches) >= number:
            break
        branches.remove(node)
        branches.update(tree.children(node))
    return tuple(sorted(branches))


def list_classes_below(tree: Tree, branch: int, class_nodes: Sequence[int]) -> list[int]:
    """Return the classes under a branch."""
    return [number for number, node in enumerate(class_nodes) if branch in tree.path(node)]


def convert_to_multiway(
    tree: Tree, branch: int, joint: dict[int, Array], weights: dict[int, float]
) -> tuple[Tree, tuple[int, ...]]:
    """Return the subtree below a branch as a multiway tree, and the old nodes of its leaves, which come first.

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
            three = compute_weighted_entropy(
                np.stack([union, words[node], words[other]]), np.array([total, size[node], size[other]])
            )
            costs.append(max(float(three[0] - three[1] - three[2]), 0.0))
            pairs.append((place[node], place[other]))
            words[node], size[node], place[node] = union, total, len(leaves) + len(pairs) - 1
    return build_multiway_tree(Merges(tuple(pairs), tuple(costs))), tuple(leaves)


def attach_branches(
    upper: Tree, places: Sequence[int], tree: Tree, branches: Sequence[int], class_nodes: Sequence[int], joint: Any
) -> tuple[Tree, tuple[int, ...]]:
    """Attach the subtree of each branch to the upper tree; return the tree and the node of each class.

    ``branches`` are nodes of ``tree`` and ``places`` the leaves of ``upper`` that they replace. ``class_nodes`` are the
    nodes of the classes in ``tree``, and ``joint`` has a row of word probabilities for each class.
    """
    number = {node: number_of_class for number_of_class, node in enumerate(class_nodes)}
    words = {node: joint[number_of_class] for node, number_of_class in number.items()}
    weights = {node: float(joint[number_of_class].sum()) for node, number_of_class in number.items()}
    parents, nodes = list(upper.parents), [0] * len(class_nodes)
    for branch, place in zip(branches, places, strict=True):
        if tree.is_leaf(branch):
            nodes[number[branch]] = place
            continue
        subtree, leaves = convert_to_multiway(tree, branch, words, weights)
        others = [node for node in range(len(subtree)) if node != subtree.root]
        new = {subtree.root: place} | {
            node: len(parents) + number_of_class for number_of_class, node in enumerate(others)
        }
        parents += [new[subtree.parents[node]] for node in others]
        for number_of_class, leaf in enumerate(leaves):
            nodes[number[leaf]] = new[number_of_class]
    return Tree(tuple(parents)), tuple(nodes)
