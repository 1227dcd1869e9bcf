"""Headings: the upper tree, built from the leaves of a grown tree.

The upper part of a tree that grows by splitting is unreliable, but its leaves are good. So the upper part is built
from the leaves. The two clusters whose union loses least information about words are merged, again and again: the
loss is (w_i + w_j) · JS(P_i, P_j) with w the clusters' shares of the tokens and P their word distributions
(agglomerative information bottleneck). From the root down, this binary tree becomes a multiway one: a node absorbs
the most expensive merge among its children while this costs at least 0.6 of its own, and has 3 to 8 children. Then
leaves move to the child where they lose less, and the leaves of each child are merged again. A heading is kept if it
can be *named*: if words are informative in the children with most of its documents, not in a single one. Other
headings dissolve into their parents.

A tree of hundreds of leaves gets its headings over its first branches (``multiway``), because small leaves are noisy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import TINY, Array
from topiarist.models.engine import tables
from topiarist.trees import edits
from topiarist.trees.growth.merges import (
    MAX_CHILDREN,
    MIN_CHILDREN,
    OPEN_MERGE_RATIO,
    compute_weighted_entropy,
    exchange_leaves,
    merge_leaves,
    select_groups,
    select_informative_words,
    smooth_counts,
)
from topiarist.trees.growth.multiway import attach_branches, find_first_branches, list_classes_below
from topiarist.trees.growth.parts import GrowthState
from topiarist.trees.tree import Tree

WORDS_PER_BLOCK = 1 << 12  # processed at once
MIN_SHARED_WORDS = 2  # informative words that a heading needs
MIN_SHARE_RATIO = 2.0  # share of documents with an informative word, relative to the share outside
MIN_CHILD_SHARE = 0.05  # of a child's documents that have an informative word
MIN_COVERED_SHARE = 2 / 3  # of a heading's documents, in children for which its words are informative
MIN_PROBABILITY = 1e-12  # of a word at the start: a prior forbids none
HEADINGS_SHARE = 0.3  # share of a leaf's words that its headings get at the start of EM


@dataclass(frozen=True)
class Headings:
    """A tree over leaves, the node of each leaf, and the gain of opening each node (see ``compute_gains``)."""

    tree: Tree
    leaf_nodes: tuple[int, ...]
    gains: tuple[float, ...]


def arrange_leaves(
    word_given_leaf: Any, weights: Any, *, share: float = OPEN_MERGE_RATIO, max_children: int = MAX_CHILDREN
) -> Headings:
    """Build the multiway tree over leaves from the root down: merge, divide and exchange the leaves of each node."""
    table, weights = tables.to_double(word_given_leaf), np.asarray(weights, np.float64)
    words = tables.to_numpy(table)
    parents, leaf_nodes = list[int](), [0] * len(words)
    waiting = [(list(range(len(words))), -1)]
    while waiting:
        leaves, parent = waiting.pop()
        node = len(parents)
        parents.append(parent)
        if len(leaves) == 1:
            leaf_nodes[leaves[0]] = node
            continue
        leaf_words = tables.to_device_of(table, select_informative_words(words[leaves], weights[leaves]))
        groups = select_groups(merge_leaves(leaf_words, weights[leaves]), share=share, max_children=max_children)
        groups = exchange_leaves(leaf_words, weights[leaves], groups)
        waiting += [([leaves[leaf] for leaf in group], node) for group in reversed(groups)]
    tree = Tree(tuple(parents))
    return Headings(tree, tuple(leaf_nodes), compute_gains(tree, leaf_nodes, words, weights))


def count_shared_words(presence: Any, sizes: Any, tree: Tree, leaf_nodes: Sequence[int]) -> tuple[int, ...]:
    """Return the number of words that are informative for each node as a whole; 0 for leaves and the root.

    ``presence`` (leaves × words) has the documents of a leaf with a word, of ``sizes`` documents. A word is
    informative in a child if at least 0.05 of its documents have it, twice the share outside the node. It is
    informative for the node if it is so in children with two thirds of its documents, and in more than one.
    """
    have, documents = _sum_under(tree, leaf_nodes, tables.to_double(presence), np.asarray(sizes, np.float64))
    have = tables.to_numpy(have)
    numbers = [0] * len(tree)
    for node in range(len(tree)):
        children = list(tree.children(node))
        if not children or node == tree.root:
            continue
        outside_share = compute_share_outside(have[tree.root], documents[tree.root], have[node], documents[node])
        share = have[children] / np.maximum(documents[children], 1e-12)[:, None]
        is_informative = (share >= MIN_CHILD_SHARE) & (share >= MIN_SHARE_RATIO * outside_share)
        covered_documents = documents[children] @ is_informative
        numbers[node] = int(
            np.count_nonzero(
                (covered_documents >= MIN_COVERED_SHARE * documents[node]) & (is_informative.sum(axis=0) > 1)
            )
        )
    return tuple(numbers)


def compute_share_outside(all_have: Array, n_all: float, have: Array, n_here: float) -> Array:
    """Return the share of the other documents that have each word, smoothed by half a document."""
    share: Array = (np.maximum(all_have - have, 0.0) + 0.5) / (max(n_all - n_here, 0.0) + 1.0)
    return share


def dissolve_headings(
    headings: Headings, shared: Sequence[int], *, min_words: int = MIN_SHARED_WORDS, max_children: int = MAX_CHILDREN
) -> Headings:
    """Remove headings with too few shared words, the cheapest first, up to ``max_children`` children per node."""
    tree, costs = headings.tree, headings.gains
    inner = [node for node in range(len(tree)) if not tree.is_leaf(node) and node != tree.root]
    parents, count = list(tree.parents), [len(tree.children(node)) for node in range(len(tree))]
    dissolved = set[int]()
    for node in sorted((node for node in inner if shared[node] < min_words), key=lambda node: (costs[node], node)):
        parent = parents[node]
        while parent in dissolved:
            parent = parents[parent]
        if count[parent] + count[node] - 1 <= max_children:
            dissolved.add(node)
            count[parent] += count[node] - 1
    edit = edits.collapse(tree, dissolved)
    places = {old: new for new, old in enumerate(edit.origin)}
    new_tree = Tree(edit.tree.parents)
    return Headings(new_tree, tuple(places[leaf] for leaf in headings.leaf_nodes), tuple(costs[v] for v in edit.origin))


def build_headings(counts: Any, presence: Any, sizes: Any) -> Headings:
    """Build headings over leaves from their word counts and document frequencies (leaves × words)."""
    return _keep_nameable(arrange_leaves(*smooth_counts(counts)), presence, sizes)


def build_headings_over_branches(
    tree: Tree, class_nodes: Sequence[int], counts: Any, presence: Any, sizes: Any
) -> Headings:
    """Build headings over the first branches of a grown tree, with the subtrees below them (see ``multiway``).

    In a smaller tree, headings are built over its leaves, which are ``class_nodes``.
    """
    branches = find_first_branches(tree)
    if len(branches) == len(class_nodes):
        return build_headings(counts, presence, sizes)
    branch_counts = tables.row_sums(counts, [list_classes_below(tree, branch, class_nodes) for branch in branches])
    upper = arrange_leaves(*smooth_counts(branch_counts))
    words, weights = smooth_counts(counts)
    joint = tables.to_numpy(tables.scale_rows(words, weights))
    full_tree, nodes = attach_branches(upper.tree, upper.leaf_nodes, tree, branches, class_nodes, joint)
    return _keep_nameable(Headings(full_tree, nodes, compute_gains(full_tree, nodes, words, weights)), presence, sizes)


def _keep_nameable(headings: Headings, presence: Any, sizes: Any) -> Headings:
    return dissolve_headings(headings, count_shared_words(presence, sizes, headings.tree, headings.leaf_nodes))


def add_headings(parts: GrowthState, class_tables: Callable[[GrowthState], tuple[Any, Any]]) -> GrowthState:
    """Return grown parameters with headings over their leaves, as a start for EM; up to 3 leaves need none.

    ``class_tables`` is the method of ``Engine``. In a sample, each document counts for as many as it represents.
    """
    if parts.n_classes <= MIN_CHILDREN:
        return parts
    counts, presence = class_tables(parts)
    if parts.documents_per_row != 1.0:
        counts, presence = counts * parts.documents_per_row, presence * parts.documents_per_row
    headings = build_headings_over_branches(parts.tree, parts.class_nodes, counts, presence, parts.sizes())
    return apply_headings(parts, headings, counts)


def apply_headings(parts: GrowthState, headings: Headings, counts: Any) -> GrowthState:
    """Return the leaves of grown parameters under new headings, as a start for EM.

    A heading has the words of everything below it, and the root keeps its words. Headings share 0.3 of the weight
    that a leaf did not leave to the root.
    """
    tree, nodes = headings.tree, headings.leaf_nodes
    words, weights = smooth_counts(counts)
    node_words, total = _sum_under(tree, nodes, tables.scale_rows(words, weights), weights)
    node_words = tables.divide_rows(node_words, np.maximum(total, TINY))
    word_given_node = tables.normalise_with_minimum(node_words, MIN_PROBABILITY, parts.word_given_node.dtype)
    root_words = tables.take_rows(parts.word_given_node, [parts.tree.root])
    mask = tree.path_mask(nodes)
    mix = np.zeros(mask.shape)
    for row, leaf in enumerate(nodes):
        headings_above = list(tree.path(leaf)[1:-1])
        root = float(parts.node_given_class[row, parts.tree.root]) if leaf != tree.root else 0.0
        root = min(root, 0.9)
        headings_share = HEADINGS_SHARE if headings_above else 0.0
        mix[row, headings_above] = (1.0 - root) * headings_share / max(len(headings_above), 1)
        mix[row, tree.root] += root
        mix[row, leaf] += (1.0 - root) * (1.0 - headings_share)
    return replace(
        parts, tree=tree, class_nodes=nodes, word_given_node=tables.replace_row(word_given_node, tree.root, root_words),
        node_given_class=(mix / mix.sum(axis=1, keepdims=True)).astype(parts.node_given_class.dtype),
    )  # fmt: skip


def compute_gains(tree: Tree, class_nodes: Sequence[int], word_given_class: Any, weights: Any) -> tuple[float, ...]:
    """Return how informative it is to see a node's children instead of the node; 0 for leaves.

    The gain is the information about a word of the node that merging its children loses, in nats, for each additional
    visible node, times the root of the node's share of the tokens: a small topic may be as clear as a large one.
    """
    weights = np.asarray(weights, np.float64)
    weights = weights / max(weights.sum(), TINY)
    entropy, total = _compute_entropies(tree, class_nodes, word_given_class, weights)
    gains = [0.0] * len(tree)
    for node in range(len(tree)):
        children = list(tree.children(node))
        if len(children) > 1:
            loss = max(float(entropy[node] - entropy[children].sum()), 0.0)
            gains[node] = loss / max(float(total[node]), TINY) ** 0.5 / (len(children) - 1)
    return tuple(gains)


def _compute_entropies(tree: Tree, class_nodes: Sequence[int], words: Any, weights: Array) -> tuple[Array, Array]:
    """Return the weighted entropy of the words under each node, and its weight."""
    if not isinstance(words, np.ndarray):  # a table of a device
        joint, total = _sum_under(tree, class_nodes, tables.scale_rows(tables.to_double(words), weights), weights)
        return compute_weighted_entropy(joint, total), total
    under = csr_array(tree.path_mask(class_nodes).T.astype(np.float64))
    total = under @ weights
    entropy = compute_weighted_entropy(np.zeros((len(tree), 0)), total)
    for start in range(0, words.shape[1], WORDS_PER_BLOCK):  # bounds the memory: never all nodes × words
        joint = under @ (words[:, start : start + WORDS_PER_BLOCK].astype(np.float64) * weights[:, None])
        entropy += compute_weighted_entropy(joint, np.zeros(len(tree)))
    return entropy, total


def _sum_under(tree: Tree, leaf_nodes: Sequence[int], rows: Any, sizes: Array) -> tuple[Any, Array]:
    """Return the sums over the leaves under each node."""
    mask = tree.path_mask(leaf_nodes)
    return tables.sum_under_mask(mask, rows), mask.astype(np.float64).T @ sizes
