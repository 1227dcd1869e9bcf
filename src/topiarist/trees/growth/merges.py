"""Agglomerative merging of leaves by information loss.

The loss of a union is (w_i + w_j) · JS(P_i, P_j) with w the clusters' shares of the tokens and P their word
distributions (agglomerative information bottleneck).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.arrays import TINY, Array
from topiarist.errors import InputError
from topiarist.models.engine import tables
from topiarist.trees.tree import Tree

PSEUDO_TOKENS = 50.0  # of the collection's words in every leaf: rare words of small leaves are noise
OPEN_MERGE_RATIO = 0.6  # of the cost above: a merge of at least this share gets no node of its own
MIN_CHILDREN, MAX_CHILDREN = 3, 8  # children
CHEAP_MERGE_RATIO = 0.4  # of the cost above: below it, fewer than three children are allowed
MAX_ROUNDS = 20  # of exchanging leaves between headings
MIN_GAIN = 1e-9  # nats per token: less is rounding
MAX_TABLE_SIZE = 1e8  # pairs of leaves × words; beyond it, uninformative words share one column
MIN_WORDS = 2000  # separate columns for any number of leaves


@dataclass(frozen=True)
class Merges:
    """Pairs of merged clusters, numbered as in SciPy (cluster n + i is the result of merge i), with their costs."""

    pairs: tuple[tuple[int, int], ...]
    costs: tuple[float, ...]  # nats for each token of the collection


def smooth_counts(counts: Any, pseudo_tokens: float = PSEUDO_TOKENS) -> tuple[Array, Array]:
    """Return P(w) of each leaf, smoothed by tokens of the collection, and each leaf's share of the tokens."""
    counts = counts if hasattr(counts, "memory") else np.asarray(counts, np.float64)
    total = tables.column_totals(counts)
    if counts.ndim != 2 or not total.sum() > 0:
        raise InputError(f"expected counts of leaves × words with tokens in them, got the shape {counts.shape}")
    tokens = tables.row_totals(counts)
    words = tables.blend(counts, pseudo_tokens * total / total.sum(), tokens + pseudo_tokens)
    return words, tokens / tokens.sum()


def merge_leaves(word_given_leaf: Any, weights: Any) -> Merges:
    """Merge leaves: always the two whose union loses least information about words; of equal pairs the first."""
    words, weights = tables.to_double(word_given_leaf), np.asarray(weights, np.float64)
    n_leaves, later = len(words), np.zeros(max(len(words) - 1, 0))
    leaves = tables.scale_rows(words, weights)
    clusters = tables.append_rows(leaves, np.zeros((len(later), words.shape[1])))  # P(w, cluster)
    size = np.concatenate([weights, later])
    entropy = np.concatenate([compute_weighted_entropy(leaves, weights), later])
    cost = np.full((len(size), len(size)), np.inf)
    live, pairs, costs = np.zeros(len(size), bool), list[tuple[int, int]](), list[float]()
    for new in range(len(size)):
        if new >= n_leaves:
            first, second = divmod(int(cost.argmin()), len(size))
            pairs.append((second, first))
            costs.append(float(cost[first, second]))
            tables.sum_into_row(clusters, new, [first, second])
            size[new] = size[first] + size[second]
            entropy[new] = compute_weighted_entropy(tables.take_rows(clusters, [new]), size[new : new + 1])[0]
            for cluster in (first, second):
                cost[cluster, :] = cost[:, cluster] = np.inf
                live[cluster] = False
        others = np.flatnonzero(live)
        union = _size_entropy(size[others] + size[new]) - tables.union_information(clusters, new, others)
        cost[new, others] = np.maximum(union - entropy[others] - entropy[new], 0.0)
        live[new] = True
    return Merges(tuple(pairs), tuple(costs))


def select_groups(
    merges: Merges,
    *,
    share: float = OPEN_MERGE_RATIO,
    min_children: int = MIN_CHILDREN,
    max_children: int = MAX_CHILDREN,
) -> list[list[int]]:
    """Return the leaves of each child of the root, after undoing the most expensive merges.

    A merge is undone while it costs at least a ``share`` of the last one, up to ``max_children`` children. There are
    fewer than ``min_children`` only if the next merge costs less than 0.4 of the last one. A merge that costs more
    than one above it counts as that one does.
    """
    n_leaves = len(merges.pairs) + 1
    leaves = [[leaf] for leaf in range(n_leaves)]
    for first, second in merges.pairs:
        leaves.append(sorted(leaves[first] + leaves[second]))
    if not merges.pairs:
        return leaves
    return sorted(
        leaves[cluster]
        for cluster in _open_merges(
            merges, compute_cluster_costs(merges), len(leaves) - 1, share, (min_children, max_children)
        )
    )


def compute_cluster_costs(merges: Merges) -> list[float]:
    """Return the cost of each cluster: 0 for leaves, and never less than the cost of a merge below it."""
    cost = [0.0] * (len(merges.pairs) + 1)
    for (first, second), merge_cost in zip(merges.pairs, merges.costs, strict=True):
        cost.append(max(merge_cost, cost[first], cost[second]))
    return cost


def _open_merges(merges: Merges, cost: list[float], cluster: int, share: float, children: tuple[int, int]) -> list[int]:
    """Return the clusters below one after undoing its most expensive merges."""
    n_leaves, (min_children, max_children) = len(merges.pairs) + 1, children
    clusters = list(merges.pairs[cluster - n_leaves])
    while len(clusters) < max_children:
        dearest = max(clusters, key=lambda child: (child >= n_leaves, cost[child], -child))
        ratio = share if len(clusters) >= min_children else CHEAP_MERGE_RATIO
        if dearest < n_leaves or cost[dearest] < ratio * cost[cluster]:
            break
        clusters.remove(dearest)
        clusters += merges.pairs[dearest - n_leaves]
    return clusters


def build_multiway_tree(
    merges: Merges,
    *,
    share: float = OPEN_MERGE_RATIO,
    min_children: int = MIN_CHILDREN,
    max_children: int = MAX_CHILDREN,
) -> Tree:
    """Return the merges as a tree whose nodes have absorbed the most expensive merges below, as in ``select_groups``.

    The leaves are the first nodes, in their order. The merges may be by any measure, such as those of Gaussian
    mixtures.
    """
    n_leaves, cost = len(merges.pairs) + 1, compute_cluster_costs(merges)
    parents, waiting = {n_leaves + len(merges.pairs) - 1: -1}, [n_leaves + len(merges.pairs) - 1]
    while waiting:
        cluster = waiting.pop()
        if cluster >= n_leaves:
            for child in _open_merges(merges, cost, cluster, share, (min_children, max_children)):
                parents[child] = cluster
                waiting.append(child)
    clusters = sorted(parents)
    number = {cluster: place for place, cluster in enumerate(clusters)} | {-1: -1}
    return Tree(tuple(number[parents[cluster]] for cluster in clusters))


def exchange_leaves(words: Any, weights: Array, groups: Sequence[Sequence[int]]) -> list[list[int]]:
    """Move leaves one at a time to the group that loses less information about words.

    This corrects early merges of two clusters that were wrong. No group loses its last leaf.
    """
    n_leaves, numbers = len(words), np.arange(len(groups))
    place = np.zeros(n_leaves, np.int64)
    for number, group in enumerate(groups):
        place[list(group)] = number
    joint = tables.append_rows(
        tables.scale_rows(words, weights), np.zeros((len(groups), words.shape[1]))
    )  # leaves, groups
    for number in range(len(groups)):
        tables.sum_into_row(joint, n_leaves + number, np.flatnonzero(place == number))
    size = np.zeros(len(groups))
    np.add.at(size, place, weights)
    group_information = tables.row_information(tables.take_rows(joint, n_leaves + numbers))
    for _ in range(MAX_ROUNDS):
        moved = False
        for leaf in range(n_leaves):
            current = place[leaf]
            if np.count_nonzero(place == current) < 2:
                continue
            left = tables.difference_information(joint, n_leaves + current, leaf)
            with_leaf = np.where(
                numbers == current, group_information, tables.union_information(joint, leaf, n_leaves + numbers)
            )
            cost_without = np.where(numbers == current, left, group_information)
            sizes = size - weights[leaf] * (numbers == current)
            cost = _size_entropy(sizes + weights[leaf]) - with_leaf - (_size_entropy(sizes) - cost_without)
            best = int(cost.argmin())
            if cost[best] < cost[current] - MIN_GAIN:
                size = sizes
                size[best] += weights[leaf]
                place[leaf], moved = best, True
                group_information[best], group_information[current] = with_leaf[best], left
                for changed in (current, best):
                    tables.sum_into_row(joint, n_leaves + changed, np.flatnonzero(place == changed))
        if not moved:
            break
    return sorted(np.flatnonzero(place == number).tolist() for number in numbers)


def compute_weighted_entropy(joint: Any, total: Array) -> Array:
    """Return Σ_w −P(w, c) log P(w|c) of each cluster."""
    entropy: Array = _size_entropy(total) - tables.row_information(joint)
    return entropy


def _size_entropy(total: Array) -> Array:
    """Return Σ_w P(w, c) log P(c): the contribution of the size of a cluster to its entropy."""
    return np.where(total > 0, total * np.log(np.where(total > 0, total, 1.0)), 0.0)


def select_informative_words(words: Array, weights: Array) -> Array:
    """Return the columns of the most informative words, and one column for all others; all words for few leaves."""
    number = max(MIN_WORDS, int(MAX_TABLE_SIZE / max(len(words), 1) ** 2))
    if number >= words.shape[1]:
        return words
    mean = weights @ words / max(weights.sum(), TINY)
    lift = np.log(np.where(words > 0, words, 1.0) / np.where((mean > 0) & (words > 0), mean, 1.0))
    columns = np.argsort(-(weights @ (words * lift)), kind="stable")[:number]
    selected = words[:, np.sort(columns)]
    return np.hstack([selected, np.maximum(words.sum(axis=1) - selected.sum(axis=1), 0.0)[:, None]])
