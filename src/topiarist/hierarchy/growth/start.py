"""A start for a given tree: documents are dealt out from the root down, by where they lie in latent space."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from topiarist.arrays import Array
from topiarist.hierarchy.growth.parts import CERTAIN, Parts
from topiarist.hierarchy.tree import Tree
from topiarist.models.halves import two_means


def placed(
    tree: Tree, classes: Sequence[int], vectors: Array, words_of: Callable[[Array], Array], rng: np.random.Generator
) -> Parts:
    """Parameters for a tree of which only the shape is known, with a class at each of some nodes.

    ``words_of(documents)`` gives the words of some documents as a distribution. A node speaks as the documents under it
    do, every path is even, and a document is nearly sure of the leaf it was dealt to.
    """
    under = dealt(tree, vectors, rng)
    shares = np.full((len(vectors), len(classes)), (1 - CERTAIN) / max(1, len(classes) - 1))
    for place, node in enumerate(classes):
        if tree.is_leaf(node):
            shares[under[node], place] = CERTAIN
    shares /= shares.sum(axis=1, keepdims=True)
    words = np.stack([words_of(under[node]) for node in range(len(tree))])
    mask = tree.path_mask(classes)
    mix = mask / mask.sum(axis=1, keepdims=True)
    return Parts(tree, tuple(classes), np.ascontiguousarray(words), mix, shares.astype(words.dtype))


def dealt(tree: Tree, vectors: Array, rng: np.random.Generator) -> list[Array]:
    """The documents under each node. A node's documents part into as many groups as it has children.

    The largest group goes to the child with the most leaves, and each child gets at least as many as it has leaves.
    """
    under: list[Array] = [np.empty(0, np.int64)] * len(tree)
    under[tree.root] = np.arange(len(vectors))
    for node in tree.depth_first():
        children = sorted(tree.children(node), key=lambda child: -len(tree.leaves_under(child)))
        if not children:
            continue
        groups = _groups(vectors, under[node], len(children), rng)
        needs = [len(tree.leaves_under(child)) for child in children]
        for child, group in zip(children, _evened(sorted(groups, key=len, reverse=True), needs), strict=True):
            under[child] = group
    return under


def _groups(vectors: Array, documents: Array, number: int, rng: np.random.Generator) -> list[Array]:
    """Documents in so many groups: the group that gains most is divided until there are enough."""
    groups = [documents]
    while len(groups) < number:
        found = [two_means(vectors[group], int(rng.integers(2**63))) for group in groups]
        best = max(range(len(groups)), key=lambda place: (found[place][0], len(groups[place])))
        side = found[best][1]
        if side is None:  # nothing tells them apart
            best = max(range(len(groups)), key=lambda place: len(groups[place]))
            side = np.arange(len(groups[best])) < len(groups[best]) // 2
        whole = groups.pop(best)
        groups += [whole[side], whole[~side]]
    return groups


def _evened(groups: list[Array], needs: list[int]) -> list[Array]:
    """Groups of at least the needed sizes where there are enough documents: the largest ones give some away."""
    groups = list(groups)
    for place, need in enumerate(needs):
        while len(groups[place]) < need:
            spare = [len(group) - least for group, least in zip(groups, needs, strict=True)]
            giver = max(range(len(groups)), key=lambda other: spare[other])
            if spare[giver] <= 0:
                break
            moved = min(need - len(groups[place]), spare[giver])
            groups[place] = np.concatenate([groups[place], groups[giver][-moved:]])
            groups[giver] = groups[giver][:-moved]
    return groups
