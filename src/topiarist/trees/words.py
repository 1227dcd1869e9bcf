"""Characteristic words of nodes by probabilities, for models without documents. See ``naming`` for words by documents.

A node a is described by words that are frequent there and more frequent than above, by the score P(w|a) · log(P(w|a)
/ max(P(w|parent), P(w|root))). The root is described by its most probable words. A word with twice the probability at
a child is left to the child. Words of a node are not repeated below it; "model" excludes "models", and "neural
network" excludes "neural".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from topiarist.arrays import Floats, Ints
from topiarist.errors import InputError
from topiarist.trees.tree import Tree

MIN_REFERENCE = 0.01  # share of a uniform probability: all references below it count as absent
MIN_WORDS = 3  # characteristic words; below this, probable words are added
CHILD_WORD_RATIO = 2.0  # a word this many times as probable at a child is left to the child
MIN_TOKENS = 2.0  # expected occurrences at a node; one may be chance
CANDIDATES_PER_WORD = 10  # so that variants can be skipped
MIN_STEM = 4  # common letters of two forms of a word
ROW_TOLERANCE = 1e-3  # float32 rows of 100,000 words are no more exact


def select_node_words(
    tree: Tree,
    word_given_node: Floats,
    n_words: int = 8,
    *,
    node_weight: Floats | None = None,
    count: Floats | None = None,
    words: Sequence[str] | None = None,
    is_empty: Any = None,
) -> list[Ints]:
    """Return for every node the columns of up to ``n_words`` words that describe it, the best first.

    ``word_given_node`` has one row per node. Words of ancestors are excluded. If fewer than 3 words have a positive
    score, the most probable words follow them.

    ``node_weight`` (share of the collection that each node explains, on any scale) and ``count`` (occurrences of each
    word in the collection) must be passed together. They exclude words that are expected less than twice at a node.
    ``words`` are the words themselves: variants of a better word, or of a word of an ancestor, are skipped. ``empty``
    marks words without meaning of their own (*from*, *between*), which are avoided below the root.
    """
    probabilities = _check_probabilities(tree, word_given_node)
    if n_words < 1:
        raise InputError(f"expected at least 1 word per node, got {n_words}")
    if words is not None and len(words) != probabilities.shape[1]:
        raise InputError(f"expected {probabilities.shape[1]} words, one per column, got {len(words)}")
    tokens = _estimate_tokens(probabilities, node_weight, count)
    columns_of: list[Ints] = [np.empty(0, np.int64)] * len(tree)
    used: list[Ints] = [np.empty(0, np.int64)] * len(tree)  # at the node and above it
    for node in tree.depth_first():
        parent = tree.parents[node]
        inherited = used[parent] if parent >= 0 else np.empty(0, np.int64)
        probability = probabilities[node]
        scores = _score_words(tree, probabilities, node)
        rest = np.array(probability, dtype=np.float64)
        if tokens is not None:
            scores[probability * tokens[node] < MIN_TOKENS] = rest[probability * tokens[node] < MIN_TOKENS] = 0.0
        for child in tree.children(node):
            scores[probabilities[child] > CHILD_WORD_RATIO * probability] = 0.0
        scores[inherited] = rest[inherited] = 0.0
        if is_empty is not None and parent >= 0:
            scores[is_empty] = 0.0
        used_words = [words[column].split() for column in inherited.tolist()] if words is not None else []
        columns = _pick_words([], scores, n_words, words, used_words)
        if len(columns) < MIN_WORDS:
            rest[columns] = 0.0
            columns = _pick_words(columns, rest, min(MIN_WORDS, n_words), words, used_words)
        columns_of[node] = np.array(columns, dtype=np.int64)
        used[node] = np.concatenate([inherited, columns_of[node]])
    return columns_of


def is_variant(word: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether a word (or phrase, in parts) is a form of another one, or a part of the other phrase."""
    if len(word) == 1:
        return any(_has_same_stem(word[0], part) for part in other)
    return len(word) == len(other) and all(map(_has_same_stem, word, other))


def _has_same_stem(word: str, other: str) -> bool:
    """Return whether two words differ in short endings: model(s), learn(ing), theor(y, ies), not market and marker."""
    if word == other or word[:MIN_STEM] != other[:MIN_STEM]:
        return word == other
    short, long = sorted((word, other), key=len)
    common = next((place for place, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    short_rest, ending = len(short) - common, long[common:]
    if short_rest == 0:
        return (common >= 4 and ending == "s") or (common >= 5 and len(ending) <= 3)
    return short_rest == 1 and common >= 5 and 2 <= len(ending) <= 3


def _score_words(tree: Tree, probabilities: Floats, node: int) -> Floats:
    """Return the score of each word at a node: high if it is more probable than at its parent."""
    probability = np.array(probabilities[node], dtype=np.float64)
    if node == tree.root:
        return probability
    reference = np.maximum(probabilities[tree.parents[node]], probabilities[tree.root])
    reference = np.maximum(reference, MIN_REFERENCE / len(reference))
    # zero probabilities get log 1
    scores: Floats = probability * np.log(np.where(probability > 0, probability, reference) / reference)
    return scores


def _pick_words(
    columns: list[int], scores: Floats, n_words: int, words: Sequence[str] | None, used_words: list[list[str]]
) -> list[int]:
    """Append columns of the highest positive scores whose words add something to ``used_words``."""
    columns = list(columns)
    for column in find_highest(scores, CANDIDATES_PER_WORD * n_words):
        if len(columns) >= n_words:
            break
        if words is not None:
            word = words[column].split()
            if any(is_variant(word, other) for other in used_words):
                continue
            used_words.append(word)
        columns.append(column)
    return columns


def find_highest(scores: Floats, number: int) -> list[int]:
    """Return the columns of the highest positive scores in descending order; of equal ones the first."""
    number = min(number, len(scores))
    candidates = np.argpartition(-scores, number - 1)[:number] if number < len(scores) else np.arange(len(scores))
    threshold = scores[candidates].min() if len(candidates) else 0.0
    columns = np.flatnonzero((scores >= threshold) & (scores > 0))
    ranked: list[int] = columns[np.lexsort((columns, -scores[columns]))][:number].tolist()
    return ranked


def _check_probabilities(tree: Tree, word_given_node: Floats) -> Floats:
    """Return probabilities as an array; raise InputError unless each row sums to one."""
    probabilities = np.asarray(word_given_node)
    if probabilities.ndim != 2 or len(probabilities) != len(tree) or probabilities.shape[1] == 0:
        raise InputError(
            f"expected a matrix with one row for each of {len(tree)} nodes, got the shape {probabilities.shape}",
            hint="Pass one row per node, in the order of the nodes.",
        )
    totals = probabilities.sum(axis=1, dtype=np.float64)
    wrong = ~(np.abs(totals - 1.0) <= ROW_TOLERANCE)
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"expected rows that sum to one, got {totals[row]:.4g} for node {row}",
            hint="Pass P(w|a) instead of counts.",
        )
    if probabilities.min() < 0:
        raise InputError(f"expected probabilities, got {probabilities.min():.4g}")
    return probabilities


def _estimate_tokens(probabilities: Floats, node_weight: Floats | None, count: Floats | None) -> Floats | None:
    """Return the number of tokens that each node explains; None if it is unknown."""
    if node_weight is None and count is None:
        return None
    if node_weight is None or count is None:
        raise InputError("expected node_weight and count together, got only one", hint="Pass both, or none.")
    shares, counts = np.asarray(node_weight, dtype=np.float64), np.asarray(count, dtype=np.float64)
    for name, values, size in (("node_weight", shares, len(probabilities)), ("count", counts, probabilities.shape[1])):
        if values.shape != (size,) or not (values >= 0).all() or not 0 < values.sum() < np.inf:
            raise InputError(f"expected {size} numbers of at least 0, and not all 0, as {name}, got {values!r:.80}")
    tokens: Floats = shares * (counts.sum() / shares.sum())
    return tokens
