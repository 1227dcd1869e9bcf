"""Headings: the upper tree built from the leaves, and views of it that show as much as somebody wants to see.

A tree that grows by splitting has good leaves and an upper part that is chance. Here the upper part is built from
below. The two clusters whose union loses least information about words are merged, again and again: the loss is
(w_i + w_j) · JS(P_i, P_j) with w the clusters' shares of the tokens and P their word distributions (agglomerative
information bottleneck). From the root down this binary tree becomes a multiway one: a node takes in the dearest merge
among its children while that costs at least 0.6 of its own, and has 3 to 8 children. Then leaves change over to the
child where they lose less, and what is below each child is merged anew. A heading is kept if it can be *named*: if
words are telling in the children that hold its documents, not in one of them. Others dissolve into their parents.

A tree of hundreds of leaves gets its headings over its first branches (``twigs``): small leaves are noisy witnesses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array
from topiarist.hierarchy import edits
from topiarist.hierarchy.growth.merges import (
    FEWEST,
    MOST,
    OPENED,
    exchanged,
    groups_of,
    merged,
    smoothed,
    told_apart,
    weighted_entropy,
)
from topiarist.hierarchy.growth.parts import Parts
from topiarist.hierarchy.growth.twigs import below, first_branches, hung
from topiarist.hierarchy.tree import Tree
from topiarist.models.engine import tables

WORDS = 1 << 12  # that are looked at together
SHARED_WORDS = 2  # telling words that make a heading
TELLING = 2.0  # times as many documents as elsewhere have a telling word
SEEN = 0.05  # share of a child's documents that have a word which is to tell something of it
COVERED = 2 / 3  # of a heading's documents are in children of which its words tell
POSSIBLE = 1e-12  # the least probability of a word at the start: a prior forbids none
OWN_SHARE = 0.3  # of a leaf's words that its headings take over at the start of EM


@dataclass(frozen=True)
class Headings:
    """A tree over leaves, the node of each leaf, and what each node's children tell (see ``gains``)."""

    tree: Tree
    leaf_nodes: tuple[int, ...]
    gains: tuple[float, ...]


def arranged(word_given_leaf: Any, weights: Any, *, share: float = OPENED, most: int = MOST) -> Headings:
    """The multiway tree over leaves, from the root down: each node's leaves are merged anew, divided, exchanged."""
    table, weights = tables.doubles(word_given_leaf), np.asarray(weights, np.float64)
    words = tables.at_home(table)
    parents, leaf_nodes = list[int](), [0] * len(words)
    waiting = [(list(range(len(words))), -1)]
    while waiting:
        leaves, parent = waiting.pop()
        node = len(parents)
        parents.append(parent)
        if len(leaves) == 1:
            leaf_nodes[leaves[0]] = node
            continue
        own = tables.beside(table, told_apart(words[leaves], weights[leaves]))
        groups = groups_of(merged(own, weights[leaves]), share=share, most=most)
        groups = exchanged(own, weights[leaves], groups)
        waiting += [([leaves[one] for one in group], node) for group in reversed(groups)]
    tree = Tree(tuple(parents))
    return Headings(tree, tuple(leaf_nodes), gains(tree, leaf_nodes, words, weights))


def shared_words(presence: Any, sizes: Any, tree: Tree, leaf_nodes: Sequence[int]) -> tuple[int, ...]:
    """How many words are telling for each node as a whole; 0 for leaves and the root.

    ``presence`` (leaves × words) is how many of a leaf's ``sizes`` documents have a word. A word is telling in a child
    if a share of at least 0.05 of its documents have it, twice the share of the documents outside the node; and for
    the node if it is in children with two thirds of its documents, and in more than one.
    """
    have, documents = _under(tree, leaf_nodes, tables.doubles(presence), np.asarray(sizes, np.float64))
    have = tables.at_home(have)
    found = [0] * len(tree)
    for node in range(len(tree)):
        below = list(tree.children(node))
        if not below or node == tree.root:
            continue
        elsewhere = outside(have[tree.root], documents[tree.root], have[node], documents[node])
        share = have[below] / np.maximum(documents[below], 1e-12)[:, None]
        telling = (share >= SEEN) & (share >= TELLING * elsewhere)
        covered = documents[below] @ telling
        found[node] = int(np.count_nonzero((covered >= COVERED * documents[node]) & (telling.sum(axis=0) > 1)))
    return tuple(found)


def outside(all_have: Array, n_all: float, have: Array, n_here: float) -> Array:
    """The share of the other documents that have each word, with half a document of doubt."""
    share: Array = (np.maximum(all_have - have, 0.0) + 0.5) / (max(n_all - n_here, 0.0) + 1.0)
    return share


def dissolved(headings: Headings, shared: Sequence[int], *, enough: int = SHARED_WORDS, most: int = MOST) -> Headings:
    """Without headings that cannot be named, the cheapest first, as long as nothing has more than ``most`` children."""
    tree, costs = headings.tree, headings.gains
    inner = [node for node in range(len(tree)) if not tree.is_leaf(node) and node != tree.root]
    above, count = list(tree.parents), [len(tree.children(node)) for node in range(len(tree))]
    gone = set[int]()
    for node in sorted((node for node in inner if shared[node] < enough), key=lambda node: (costs[node], node)):
        parent = above[node]
        while parent in gone:
            parent = above[parent]
        if count[parent] + count[node] - 1 <= most:
            gone.add(node)
            count[parent] += count[node] - 1
    edit = edits.collapse(tree, gone)
    places = {old: new for new, old in enumerate(edit.origin)}
    plain = Tree(edit.tree.parents)
    return Headings(plain, tuple(places[leaf] for leaf in headings.leaf_nodes), tuple(costs[v] for v in edit.origin))


def built(counts: Any, presence: Any, sizes: Any) -> Headings:
    """The headings of leaves: from their counts of words (leaves × words), and how many documents have each word."""
    return _named(arranged(*smoothed(counts)), presence, sizes)


def built_over_branches(tree: Tree, class_nodes: Sequence[int], counts: Any, presence: Any, sizes: Any) -> Headings:
    """Headings over the first branches of a grown tree, with what grew below them (see ``twigs``).

    Of a tree with no more leaves than that, headings over its leaves, which are ``class_nodes``.
    """
    branches = first_branches(tree)
    if len(branches) == len(class_nodes):
        return built(counts, presence, sizes)
    spoken = tables.row_sums(counts, [below(tree, branch, class_nodes) for branch in branches])
    upper = arranged(*smoothed(spoken))
    words, weights = smoothed(counts)
    joint = tables.at_home(tables.scaled(words, weights))
    whole, nodes = hung(upper.tree, upper.leaf_nodes, tree, branches, class_nodes, joint)
    return _named(Headings(whole, nodes, gains(whole, nodes, words, weights)), presence, sizes)


def _named(headings: Headings, presence: Any, sizes: Any) -> Headings:
    """Without the headings that cannot be named."""
    return dissolved(headings, shared_words(presence, sizes, headings.tree, headings.leaf_nodes))


def headed(parts: Parts, class_tables: Callable[[Parts], tuple[Any, Any]]) -> Parts:
    """Grown parameters with headings built over their leaves, as a start for EM; a few leaves need none.

    ``class_tables`` as ``Engine`` has them. Where documents are a sample, each counts for as many as it stands for.
    """
    if parts.n_classes <= FEWEST:
        return parts
    counts, presence = class_tables(parts)
    if parts.each != 1.0:
        counts, presence = counts * parts.each, presence * parts.each
    headings = built_over_branches(parts.tree, parts.class_nodes, counts, presence, parts.sizes())
    return with_headings(parts, headings, counts)


def with_headings(parts: Parts, headings: Headings, counts: Any) -> Parts:
    """The leaves of grown parameters under new headings, as a start for EM.

    A heading speaks as all that is below it, the root as before. Of what a leaf did not leave to the root, headings
    take a part together, each the same.
    """
    tree, nodes = headings.tree, headings.leaf_nodes
    words, weights = smoothed(counts)
    spoken, total = _under(tree, nodes, tables.scaled(words, weights), weights)
    spoken = tables.parted(spoken, np.maximum(total, 1e-300))
    word_given_node = tables.possible(spoken, POSSIBLE, parts.word_given_node.dtype)
    own = tables.rows(parts.word_given_node, [parts.tree.root])
    mask = tree.path_mask(nodes)
    mix = np.zeros(mask.shape)
    for row, leaf in enumerate(nodes):
        between = list(tree.path(leaf)[1:-1])
        root = float(parts.node_given_class[row, parts.tree.root]) if leaf != tree.root else 0.0
        root = min(root, 0.9)
        taken = OWN_SHARE if between else 0.0
        mix[row, between] = (1.0 - root) * taken / max(len(between), 1)
        mix[row, tree.root] += root
        mix[row, leaf] += (1.0 - root) * (1.0 - taken)
    return replace(
        parts, tree=tree, class_nodes=nodes, word_given_node=tables.with_row(word_given_node, tree.root, own),
        node_given_class=(mix / mix.sum(axis=1, keepdims=True)).astype(parts.node_given_class.dtype),
    )  # fmt: skip


def gains(tree: Tree, class_nodes: Sequence[int], word_given_class: Any, weights: Any) -> tuple[float, ...]:
    """What a reader learns by seeing a node's children instead of the node; 0 for leaves.

    It is the information about a word of the node that merging its children loses, in nats, for each node more that
    comes into sight, times the root of the node's share of the tokens: a small topic may be as clear as a large one.
    """
    weights = np.asarray(weights, np.float64)
    weights = weights / max(weights.sum(), 1e-300)
    entropy, total = _entropies(tree, class_nodes, word_given_class, weights)
    found = [0.0] * len(tree)
    for node in range(len(tree)):
        below = list(tree.children(node))
        if len(below) > 1:
            loss = max(float(entropy[node] - entropy[below].sum()), 0.0)
            found[node] = loss / max(float(total[node]), 1e-300) ** 0.5 / (len(below) - 1)
    return tuple(found)


def _entropies(tree: Tree, class_nodes: Sequence[int], words: Any, weights: Array) -> tuple[Array, Array]:
    """The weighted entropy of the words under each node, and its weight."""
    if not isinstance(words, np.ndarray):  # a table of a device
        joint, total = _under(tree, class_nodes, tables.scaled(tables.doubles(words), weights), weights)
        return weighted_entropy(joint, total), total
    under = csr_array(tree.path_mask(class_nodes).T.astype(np.float64))
    total = under @ weights
    entropy = weighted_entropy(np.zeros((len(tree), 0)), total)
    for start in range(0, words.shape[1], WORDS):  # nodes × words are never whole in memory
        joint = under @ (words[:, start : start + WORDS].astype(np.float64) * weights[:, None])
        entropy += weighted_entropy(joint, np.zeros(len(tree)))
    return entropy, total


def _under(tree: Tree, leaf_nodes: Sequence[int], rows: Any, sizes: Array) -> tuple[Any, Array]:
    """Sums over the leaves under each node."""
    mask = tree.path_mask(leaf_nodes)
    return tables.under(mask, rows), mask.astype(np.float64).T @ sizes
