"""Merging leaves by information loss: who goes with whom.

The loss of a union is (w_i + w_j) · JS(P_i, P_j) with w the clusters' shares of the tokens and P their word
distributions (agglomerative information bottleneck).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.arrays import Array
from topiarist.errors import InputError
from topiarist.hierarchy.tree import Tree
from topiarist.models.engine import tables

PSEUDO_TOKENS = 50.0  # of the collection's words in every leaf: rare words of small leaves say little
OPENED = 0.6  # a merge that costs at least this share of the node above it has no node of its own
FEWEST, MOST = 3, 8  # children
INSISTED = 0.4  # with merges cheaper than this the data insist on fewer than three children
ROUNDS = 20  # of exchanging leaves between headings
LEAST_GAIN = 1e-9  # nats for each token: less is rounding
LARGEST_TABLE = 1e8  # pairs of leaves × words; rarer words are one word together where there are more
FEWEST_WORDS = 2000  # that are told apart, however many leaves there are


@dataclass(frozen=True)
class Merges:
    """Who is merged with whom, numbered as SciPy does (cluster n + i is the result of merge i), and what it costs."""

    pairs: tuple[tuple[int, int], ...]
    costs: tuple[float, ...]  # nats for each token of the collection


def smoothed(counts: Any, pseudo_tokens: float = PSEUDO_TOKENS) -> tuple[Array, Array]:
    """P(w) of each leaf with some tokens of the collection, and each leaf's share of the tokens."""
    counts = counts if hasattr(counts, "memory") else np.asarray(counts, np.float64)
    total = tables.column_totals(counts)
    if counts.ndim != 2 or not total.sum() > 0:
        raise InputError(f"expected counts of leaves × words with tokens in them, got the shape {counts.shape}")
    tokens = tables.row_totals(counts)
    words = tables.blended(counts, pseudo_tokens * total / total.sum(), tokens + pseudo_tokens)
    return words, tokens / tokens.sum()


def merged(word_given_leaf: Any, weights: Any) -> Merges:
    """Merge leaves, always the two whose union loses least information about words; of equal pairs the first."""
    words, weights = tables.doubles(word_given_leaf), np.asarray(weights, np.float64)
    n_leaves, later = len(words), np.zeros(max(len(words) - 1, 0))
    leaves = tables.scaled(words, weights)
    clusters = tables.stacked(leaves, np.zeros((len(later), words.shape[1])))  # P(w, cluster)
    size = np.concatenate([weights, later])
    entropy = np.concatenate([weighted_entropy(leaves, weights), later])
    cost = np.full((len(size), len(size)), np.inf)
    live, pairs, costs = np.zeros(len(size), bool), list[tuple[int, int]](), list[float]()
    for new in range(len(size)):
        if new >= n_leaves:
            first, second = divmod(int(cost.argmin()), len(size))
            pairs.append((second, first))
            costs.append(float(cost[first, second]))
            tables.unite(clusters, new, [first, second])
            size[new] = size[first] + size[second]
            entropy[new] = weighted_entropy(tables.rows(clusters, [new]), size[new : new + 1])[0]
            for gone in (first, second):
                cost[gone, :] = cost[:, gone] = np.inf
                live[gone] = False
        others = np.flatnonzero(live)
        union = _of_size(size[others] + size[new]) - tables.union_information(clusters, new, others)
        cost[new, others] = np.maximum(union - entropy[others] - entropy[new], 0.0)
        live[new] = True
    return Merges(tuple(pairs), tuple(costs))


def groups_of(merges: Merges, *, share: float = OPENED, fewest: int = FEWEST, most: int = MOST) -> list[list[int]]:
    """The leaves of each child of the root: the dearest merges undone, and no more.

    A merge is undone while it costs at least a ``share`` of the last one, and there are never more than ``most``
    children. Fewer than ``fewest`` there are where the next merge costs less than 0.4 of the last one: two groups that
    differ so much more than what is in them are two. A merge that costs more than one above it counts as this does.
    """
    n_leaves = len(merges.pairs) + 1
    leaves = [[leaf] for leaf in range(n_leaves)]
    for first, second in merges.pairs:
        leaves.append(sorted(leaves[first] + leaves[second]))
    if not merges.pairs:
        return leaves
    return sorted(leaves[one] for one in _opened(merges, rising(merges), len(leaves) - 1, share, (fewest, most)))


def rising(merges: Merges) -> list[float]:
    """The cost of each cluster: 0 for leaves, and never less than that of a merge below it."""
    cost = [0.0] * (len(merges.pairs) + 1)
    for (first, second), own in zip(merges.pairs, merges.costs, strict=True):
        cost.append(max(own, cost[first], cost[second]))
    return cost


def _opened(merges: Merges, cost: list[float], cluster: int, share: float, children: tuple[int, int]) -> list[int]:
    """The clusters below one when its dearest merges are undone."""
    n_leaves, (fewest, most) = len(merges.pairs) + 1, children
    below = list(merges.pairs[cluster - n_leaves])
    while len(below) < most:
        dearest = max(below, key=lambda one: (one >= n_leaves, cost[one], -one))
        enough = share if len(below) >= fewest else INSISTED
        if dearest < n_leaves or cost[dearest] < enough * cost[cluster]:
            break
        below.remove(dearest)
        below += merges.pairs[dearest - n_leaves]
    return below


def multiway(merges: Merges, *, share: float = OPENED, fewest: int = FEWEST, most: int = MOST) -> Tree:
    """The merges as a tree in which each node has taken the dearest merges below it in, as ``groups_of`` does.

    The leaves are the first nodes, in their order; for merges by any measure, such as those of Gaussian mixtures.
    """
    n_leaves, cost = len(merges.pairs) + 1, rising(merges)
    parents, waiting = {n_leaves + len(merges.pairs) - 1: -1}, [n_leaves + len(merges.pairs) - 1]
    while waiting:
        cluster = waiting.pop()
        if cluster >= n_leaves:
            for child in _opened(merges, cost, cluster, share, (fewest, most)):
                parents[child] = cluster
                waiting.append(child)
    kept = sorted(parents)
    number = {cluster: place for place, cluster in enumerate(kept)} | {-1: -1}
    return Tree(tuple(number[parents[cluster]] for cluster in kept))


def exchanged(words: Any, weights: Array, groups: Sequence[Sequence[int]]) -> list[list[int]]:
    """The groups after leaves have gone over, one by one, to where less information about words is lost.

    Merging two by two cannot take back a first step that was wrong; this can. No group loses its last leaf.
    """
    n_leaves, numbers = len(words), np.arange(len(groups))
    place = np.zeros(n_leaves, np.int64)
    for number, group in enumerate(groups):
        place[list(group)] = number
    joint = tables.stacked(tables.scaled(words, weights), np.zeros((len(groups), words.shape[1])))  # leaves, groups
    for number in range(len(groups)):
        tables.unite(joint, n_leaves + number, np.flatnonzero(place == number))
    size = np.zeros(len(groups))
    np.add.at(size, place, weights)
    told = tables.information(tables.rows(joint, n_leaves + numbers))
    for _ in range(ROUNDS):
        moved = False
        for leaf in range(n_leaves):
            home = place[leaf]
            if np.count_nonzero(place == home) < 2:
                continue
            left = tables.difference_information(joint, n_leaves + home, leaf)
            with_leaf = np.where(numbers == home, told, tables.union_information(joint, leaf, n_leaves + numbers))
            without = np.where(numbers == home, left, told)
            sizes = size - weights[leaf] * (numbers == home)
            cost = _of_size(sizes + weights[leaf]) - with_leaf - (_of_size(sizes) - without)
            best = int(cost.argmin())
            if cost[best] < cost[home] - LEAST_GAIN:
                size = sizes
                size[best] += weights[leaf]
                place[leaf], moved = best, True
                told[best], told[home] = with_leaf[best], left
                for changed in (home, best):
                    tables.unite(joint, n_leaves + changed, np.flatnonzero(place == changed))
        if not moved:
            break
    return sorted(np.flatnonzero(place == number).tolist() for number in numbers)


def weighted_entropy(joint: Any, total: Array) -> Array:
    """Σ_w −P(w, c) log P(w|c) of each cluster."""
    entropy: Array = _of_size(total) - tables.information(joint)
    return entropy


def _of_size(total: Array) -> Array:
    """Σ_w P(w, c) log P(c): what the size of a cluster adds to its entropy."""
    return np.where(total > 0, total * np.log(np.where(total > 0, total, 1.0)), 0.0)


def told_apart(words: Array, weights: Array) -> Array:
    """The words that tell most about the leaves, and all others as one; all words where leaves are few."""
    number = max(FEWEST_WORDS, int(LARGEST_TABLE / max(len(words), 1) ** 2))
    if number >= words.shape[1]:
        return words
    mean = weights @ words / max(weights.sum(), 1e-300)
    lift = np.log(np.where(words > 0, words, 1.0) / np.where((mean > 0) & (words > 0), mean, 1.0))
    telling = np.argsort(-(weights @ (words * lift)), kind="stable")[:number]
    kept = words[:, np.sort(telling)]
    return np.hstack([kept, np.maximum(words.sum(axis=1) - kept.sum(axis=1), 0.0)[:, None]])
