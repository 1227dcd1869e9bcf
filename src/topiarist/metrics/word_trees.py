"""Metrics of the words of a topic tree, public in ``topiarist.metrics``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from topiarist.arrays import Array
from topiarist.counts.validation import check_counts
from topiarist.errors import InputError
from topiarist.models.engine import SMALLEST_MIXTURE
from topiarist.trees import Tree


def parent_child_coherence(tree: Tree, words: Sequence[Any], X: Any, *, top_n: int = 10) -> float:
    """Return the mean CLNPMI over all pairs of a parent and its child, a measure of related words.

    With A the ``top_n`` words of the parent and B those of the child, CLNPMI is the mean normalised pointwise mutual
    information of (v, w) over all v in A but not in B and w in B but not in A. P(v, w) is the share of the documents of
    ``X`` with both words; a pair that never occurs together counts −1, one that always does 1. Pairs of lists without
    such words are excluded. ``words`` are lists of columns, one for each node; nodes with an empty list are excluded.
    """
    counts = check_counts(X)
    lists = _check_words(tree, words, top_n)
    used = np.unique(np.concatenate([*lists, np.empty(0, np.int64)]))
    presence = counts[:, used].astype(bool).astype(np.float64)
    joint_shares = np.asarray((presence.T @ presence).todense()) / max(counts.shape[0], 1)
    coherences = []
    for parent, child in _list_pairs(tree, lists):
        parent_words, child_words = np.setdiff1d(lists[parent], lists[child]), np.setdiff1d(lists[child], lists[parent])
        if len(parent_words) and len(child_words):
            rows, columns = np.searchsorted(used, parent_words), np.searchsorted(used, child_words)
            joint = joint_shares[np.ix_(rows, columns)]
            coherences.append(
                float(_compute_npmi(joint, np.diag(joint_shares)[rows][:, None], np.diag(joint_shares)[columns]).mean())
            )
    return _average(coherences, "a parent and a child with words")


def parent_child_diversity(tree: Tree, words: Sequence[Any], *, top_n: int = 10) -> float:
    """Return the share of different words in a parent's list and a child's, averaged over all such pairs.

    It is the number of different words among the ``top_n`` of both, divided by the length of both lists: 1 if no child
    repeats a word of its parent, 0.5 if it repeats all.
    """
    lists = _check_words(tree, words, top_n)
    shares = [_share_of_different_words([lists[parent], lists[child]]) for parent, child in _list_pairs(tree, lists)]
    return _average(shares, "a parent and a child with words")


def sibling_diversity(tree: Tree, words: Sequence[Any], *, top_n: int = 10) -> float:
    """Return the share of different words among the lists of a node's children, averaged over nodes.

    It covers all nodes with at least two children with words: the number of different words among the ``top_n`` of all
    children, divided by the length of all their lists. It is 1 if no two siblings share a word.
    """
    lists = _check_words(tree, words, top_n)
    groups = [[lists[child] for child in tree.children(node) if len(lists[child])] for node in range(len(tree))]
    return _average([_share_of_different_words(group) for group in groups if len(group) > 1], "siblings with words")


def name_exam(tree: Tree, names: Sequence[str], word_given_subtree: Any, words: Sequence[str]) -> float:
    """Return the share of names that, read as a query, identify their own node.

    The words of a name are looked up among ``words`` (lower case). Each node of the name's level, and each leaf above
    that level, is scored by Σ log P(word | subtree), from the rows of ``word_given_subtree``. A name identifies its
    node if no other node has as high a score. Names without a known word fail; the root is excluded.
    """
    columns = {word: column for column, word in enumerate(words)}
    shares = np.asarray(word_given_subtree)
    is_found = []
    for node in range(len(tree)):
        if node == tree.root:
            continue
        query_columns = [columns[word] for word in re.findall(r"\w+", names[node].lower()) if word in columns]
        depth = tree.depths[node]
        level = [v for v in range(len(tree)) if tree.depths[v] == depth or (tree.depths[v] < depth and tree.is_leaf(v))]
        score = {v: float(np.log(np.maximum(shares[v, query_columns], SMALLEST_MIXTURE)).sum()) for v in level}
        best = max((value for v, value in score.items() if v != node), default=-np.inf)
        is_found.append(bool(query_columns) and score[node] > best)
    return _average([float(result) for result in is_found], "nodes below the root")


def _check_words(tree: Tree, words: Sequence[Any], top_n: int) -> list[Array]:
    if len(words) != len(tree):
        raise InputError(f"expected a list of words for each of {len(tree)} nodes, got {len(words)}")
    return [np.asarray(node_words, dtype=np.int64)[:top_n] for node_words in words]


def _list_pairs(tree: Tree, lists: list[Array]) -> list[tuple[int, int]]:
    pairs = [(parent, child) for child, parent in enumerate(tree.parents) if parent >= 0]
    return [(parent, child) for parent, child in pairs if len(lists[parent]) and len(lists[child])]


def _share_of_different_words(lists: list[Array]) -> float:
    all_words = np.concatenate(lists)
    return len(np.unique(all_words)) / len(all_words)


def _compute_npmi(joint: Array, first: Array, second: Array) -> Array:
    is_defined = (joint > 0) & (joint < 1)
    safe = np.where(is_defined, joint, 0.5)
    value = np.log(safe / np.where(is_defined, first * second, 0.5)) / -np.log(safe)
    result: Array = np.where(is_defined, value, np.where(joint > 0, 1.0, -1.0))
    return result


def _average(values: list[float], description: str) -> float:
    if not values:
        raise InputError(f"expected {description}, got none", hint="Pass a tree of two levels with words at its nodes.")
    return float(np.mean(values))
