"""Start parameters for a given tree: documents are distributed from the root down by their vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from topiarist.arrays import Array
from topiarist.models.halves import split_in_two_means
from topiarist.trees.growth.parts import HALF_CERTAINTY, GrowthState
from topiarist.trees.tree import Tree


def place_documents(
    tree: Tree,
    classes: Sequence[int],
    vectors: Array,
    estimate_words: Callable[[Array], Array],
    rng: np.random.Generator,
) -> GrowthState:
    """Return start parameters for a tree of known shape, with a class at each of some nodes.

    ``estimate_words(documents)`` returns the word distribution of some documents. A node has the words of the
    documents under it, the weights on every path are equal, and a document has a share of 0.9 in its leaf.
    """
    under = distribute_documents(tree, vectors, rng)
    shares = np.full((len(vectors), len(classes)), (1 - HALF_CERTAINTY) / max(1, len(classes) - 1))
    for number, node in enumerate(classes):
        if tree.is_leaf(node):
            shares[under[node], number] = HALF_CERTAINTY
    shares /= shares.sum(axis=1, keepdims=True)
    words = np.stack([estimate_words(under[node]) for node in range(len(tree))])
    mask = tree.path_mask(classes)
    mix = mask / mask.sum(axis=1, keepdims=True)
    return GrowthState(tree, tuple(classes), np.ascontiguousarray(words), mix, shares.astype(words.dtype))


def distribute_documents(tree: Tree, vectors: Array, rng: np.random.Generator) -> list[Array]:
    """Return the documents under each node. The documents of a node form as many groups as it has children.

    The largest group goes to the child with the most leaves, and each child gets at least as many as it has leaves.
    """
    under: list[Array] = [np.empty(0, np.int64)] * len(tree)
    under[tree.root] = np.arange(len(vectors))
    for node in tree.depth_first():
        children = sorted(tree.children(node), key=lambda child: -len(tree.leaves_under(child)))
        if not children:
            continue
        groups = _split_into_groups(vectors, under[node], len(children), rng)
        needs = [len(tree.leaves_under(child)) for child in children]
        for child, group in zip(
            children, _fill_small_groups(sorted(groups, key=len, reverse=True), needs), strict=True
        ):
            under[child] = group
    return under


def _split_into_groups(vectors: Array, documents: Array, number: int, rng: np.random.Generator) -> list[Array]:
    """Divide documents into ``number`` groups; split the group with the largest gain repeatedly."""
    groups = [documents]
    while len(groups) < number:
        halves = [split_in_two_means(vectors[group], int(rng.integers(2**63))) for group in groups]
        best = max(range(len(groups)), key=lambda place: (halves[place][0], len(groups[place])))
        side = halves[best][1]
        if side is None:  # identical vectors: split by number
            best = max(range(len(groups)), key=lambda place: len(groups[place]))
            side = np.arange(len(groups[best])) < len(groups[best]) // 2
        whole = groups.pop(best)
        groups += [whole[side], whole[~side]]
    return groups


def _fill_small_groups(groups: list[Array], needs: list[int]) -> list[Array]:
    """Return groups with documents moved from the largest to those below their minimum size."""
    groups = list(groups)
    for place, need in enumerate(needs):
        while len(groups[place]) < need:
            spare = [len(group) - min_size for group, min_size in zip(groups, needs, strict=True)]
            giver = max(range(len(groups)), key=lambda other: spare[other])
            if spare[giver] <= 0:
                break
            moved = min(need - len(groups[place]), spare[giver])
            groups[place] = np.concatenate([groups[place], groups[giver][-moved:]])
            groups[giver] = groups[giver][:-moved]
    return groups
