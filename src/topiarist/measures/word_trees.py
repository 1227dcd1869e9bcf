"""Figures about the words of a tree of topics. Public by the name ``topiarist.metrics``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from topiarist.arrays import Array
from topiarist.counts.validation import check_counts
from topiarist.errors import InputError
from topiarist.hierarchy import Tree


def parent_child_coherence(tree: Tree, words: Sequence[Any], X: Any, *, top_n: int = 10) -> float:
    """Do the words of a child belong to those of its parent? Mean CLNPMI over all pairs of a parent and its child.

    With A the ``top_n`` words of the parent and B those of the child, CLNPMI is the mean normalised pointwise mutual
    information of (v, w) over all v in A but not in B and w in B but not in A; P(v, w) is the share of the documents of
    ``X`` with both words, a pair that never meets counts −1, one that always does 1. A pair of lists without such words
    is left out. ``words`` are lists of columns, one for each node; a node with an empty list takes no part (the root,
    where it has no words).
    """
    counts = check_counts(X)
    lists = _lists(tree, words, top_n)
    used = np.unique(np.concatenate([*lists, np.empty(0, np.int64)]))
    presence = counts[:, used].astype(bool).astype(np.float64)
    both = np.asarray((presence.T @ presence).todense()) / max(counts.shape[0], 1)
    found = []
    for parent, child in _pairs(tree, lists):
        ours, theirs = np.setdiff1d(lists[parent], lists[child]), np.setdiff1d(lists[child], lists[parent])
        if len(ours) and len(theirs):
            rows, columns = np.searchsorted(used, ours), np.searchsorted(used, theirs)
            joint = both[np.ix_(rows, columns)]
            found.append(float(_npmi(joint, np.diag(both)[rows][:, None], np.diag(both)[columns]).mean()))
    return _mean(found, "a parent and a child with words")


def parent_child_diversity(tree: Tree, words: Sequence[Any], *, top_n: int = 10) -> float:
    """Do children say something new? The share of different words in a parent's list and a child's, averaged.

    Over all pairs of a parent and its child: the number of different words among the ``top_n`` of both, divided by the
    length of both lists. 1 when no child repeats a word of its parent, 0.5 when it repeats all.
    """
    lists = _lists(tree, words, top_n)
    shares = [_different([lists[parent], lists[child]]) for parent, child in _pairs(tree, lists)]
    return _mean(shares, "a parent and a child with words")


def sibling_diversity(tree: Tree, words: Sequence[Any], *, top_n: int = 10) -> float:
    """Do siblings differ? The share of different words among the lists of a node's children, averaged over nodes.

    Over all nodes with at least two children that have words: the number of different words among the ``top_n`` of all
    children, divided by the length of all their lists. 1 when no two siblings share a word.
    """
    lists = _lists(tree, words, top_n)
    groups = [[lists[child] for child in tree.children(node) if len(lists[child])] for node in range(len(tree))]
    return _mean([_different(group) for group in groups if len(group) > 1], "siblings with words")


def name_exam(tree: Tree, names: Sequence[str], word_given_subtree: Any, words: Sequence[str]) -> float:
    """Does a name say which node is meant? The share of names that, read as a query, lead to their own node.

    The words of a name are looked up among ``words`` (lower case); each node of the name's level, the nodes as deep as
    its own and leaves that end above, is scored by Σ log P(word | subtree), from the rows of ``word_given_subtree``.
    A name leads home if no other node scores as high. Names without a known word fail; the root takes no part.
    """
    columns = {word: column for column, word in enumerate(words)}
    shares = np.asarray(word_given_subtree)
    found = []
    for node in range(len(tree)):
        if node == tree.root:
            continue
        asked = [columns[word] for word in re.findall(r"\w+", names[node].lower()) if word in columns]
        depth = tree.depths[node]
        level = [v for v in range(len(tree)) if tree.depths[v] == depth or (tree.depths[v] < depth and tree.is_leaf(v))]
        score = {v: float(np.log(np.maximum(shares[v, asked], 1e-30)).sum()) for v in level}
        best = max((value for v, value in score.items() if v != node), default=-np.inf)
        found.append(bool(asked) and score[node] > best)
    return _mean([float(one) for one in found], "nodes below the root")


def _lists(tree: Tree, words: Sequence[Any], top_n: int) -> list[Array]:
    if len(words) != len(tree):
        raise InputError(f"expected a list of words for each of {len(tree)} nodes, got {len(words)}")
    return [np.asarray(own, dtype=np.int64)[:top_n] for own in words]


def _pairs(tree: Tree, lists: list[Array]) -> list[tuple[int, int]]:
    pairs = [(parent, child) for child, parent in enumerate(tree.parents) if parent >= 0]
    return [(parent, child) for parent, child in pairs if len(lists[parent]) and len(lists[child])]


def _different(lists: list[Array]) -> float:
    together = np.concatenate(lists)
    return len(np.unique(together)) / len(together)


def _npmi(joint: Array, first: Array, second: Array) -> Array:
    meet = (joint > 0) & (joint < 1)
    safe = np.where(meet, joint, 0.5)
    value = np.log(safe / np.where(meet, first * second, 0.5)) / -np.log(safe)
    result: Array = np.where(meet, value, np.where(joint > 0, 1.0, -1.0))
    return result


def _mean(values: list[float], what: str) -> float:
    if not values:
        raise InputError(f"expected {what}, got none", hint="a tree of two levels with words at its nodes")
    return float(np.mean(values))
