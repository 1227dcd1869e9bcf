"""The words of nodes by their probabilities, for models without documents at hand; see ``naming`` for those of people.

A node a is described by words that are frequent there and more frequent than above: by the score
P(w|a) · log(P(w|a) / max(P(w|parent), P(w|root))). The root is described by its most probable words. A word that a
child has with twice the probability is left to the child. What stands at a node is not said again below it; after
"model" there is no need for "models", nor for "neural" after "neural network".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from topiarist.arrays import Floats, Ints
from topiarist.errors import InputError
from topiarist.hierarchy.tree import Tree

FLOOR = 0.01  # of a uniform share: a reference below it says no more than "not there", however small it is
FEWEST = 3  # with fewer telling words than this, probable ones help out
CHILDS = 2.0  # times as probable at a child: then the word is the child's
EVIDENCE = 2.0  # how often a word must be expected at a node; once may be chance
CONSIDERED = 10  # candidates for each word wanted, so that variants can be skipped
STEM = 4  # letters that forms of a word have in common at least
ROW_TOLERANCE = 1e-3  # float32 rows of 100,000 words add up no better


def node_words(
    tree: Tree,
    word_given_node: Floats,
    n_words: int = 8,
    *,
    node_weight: Floats | None = None,
    count: Floats | None = None,
    words: Sequence[str] | None = None,
    empty: Any = None,
) -> list[Ints]:
    """Return for every node the columns of up to ``n_words`` words that describe it, the most telling first.

    ``word_given_node`` has one row per node. Words that an ancestor was given are left out. Where fewer than 3 words
    have a positive score, the most probable ones follow them.

    ``node_weight`` (how much of the collection each node explains, on any scale) and ``count`` (how often each word
    occurs in the collection) together tell how often a word is expected at a node: less than twice is no evidence, and
    it is not used. ``words`` are the words themselves: variants of a better word, or of
    one that an ancestor was given, are skipped. ``empty`` marks words that say nothing by themselves
    (*from*, *between*): below the root they are left out as long as there are others.
    """
    probabilities = _checked(tree, word_given_node)
    if n_words < 1:
        raise InputError(f"expected at least 1 word per node, got {n_words}")
    if words is not None and len(words) != probabilities.shape[1]:
        raise InputError(f"expected {probabilities.shape[1]} words, one per column, got {len(words)}")
    tokens = _tokens(probabilities, node_weight, count)
    chosen: list[Ints] = [np.empty(0, np.int64)] * len(tree)
    used: list[Ints] = [np.empty(0, np.int64)] * len(tree)  # by the node and those above it
    for node in tree.depth_first():
        parent = tree.parents[node]
        above = used[parent] if parent >= 0 else np.empty(0, np.int64)
        probability = probabilities[node]
        scores = _scores(tree, probabilities, node)
        rest = np.array(probability, dtype=np.float64)
        if tokens is not None:
            scores[probability * tokens[node] < EVIDENCE] = rest[probability * tokens[node] < EVIDENCE] = 0.0
        for child in tree.children(node):
            scores[probabilities[child] > CHILDS * probability] = 0.0
        scores[above] = rest[above] = 0.0
        if empty is not None and parent >= 0:
            scores[empty] = 0.0
        said = [words[column].split() for column in above.tolist()] if words is not None else []
        picked = _pick([], scores, n_words, words, said)
        if len(picked) < FEWEST:
            rest[picked] = 0.0
            picked = _pick(picked, rest, min(FEWEST, n_words), words, said)
        chosen[node] = np.array(picked, dtype=np.int64)
        used[node] = np.concatenate([above, chosen[node]])
    return chosen


def node_scores(tree: Tree, word_given_node: Floats, node: int) -> Floats:
    """Return how well each word describes a node: more than zero if it is more frequent there than above."""
    return _scores(tree, _checked(tree, word_given_node), tree.checked(node))


def is_variant(word: Sequence[str], said: Sequence[str]) -> bool:
    """Tell whether a word (or phrase, in parts) adds nothing to another: a form of it, or a part of the phrase."""
    if len(word) == 1:
        return any(_same_stem(word[0], part) for part in said)
    return len(word) == len(said) and all(map(_same_stem, word, said))


def _same_stem(word: str, other: str) -> bool:
    """The same beginning, and short endings: model(s), learn(ing), theor(y, ies), but not market and marker."""
    if word == other or word[:STEM] != other[:STEM]:
        return word == other
    short, long = sorted((word, other), key=len)
    common = next((place for place, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    short_rest, ending = len(short) - common, long[common:]
    if short_rest == 0:
        return (common >= 4 and ending == "s") or (common >= 5 and len(ending) <= 3)
    return short_rest == 1 and common >= 5 and 2 <= len(ending) <= 3


def _scores(tree: Tree, probabilities: Floats, node: int) -> Floats:
    probability = np.array(probabilities[node], dtype=np.float64)
    if node == tree.root:
        return probability
    above = np.maximum(probabilities[tree.parents[node]], probabilities[tree.root])
    above = np.maximum(above, FLOOR / len(above))
    # log 1 where there is nothing to take a logarithm of
    scores: Floats = probability * np.log(np.where(probability > 0, probability, above) / above)
    return scores


def _pick(
    picked: list[int], scores: Floats, n_words: int, words: Sequence[str] | None, said: list[list[str]]
) -> list[int]:
    """The words picked so far, and then those of the highest positive scores that add something to what is said."""
    picked = list(picked)
    for column in _highest(scores, CONSIDERED * n_words):
        if len(picked) >= n_words:
            break
        if words is not None:
            word = words[column].split()
            if any(is_variant(word, other) for other in said):
                continue
            said.append(word)
        picked.append(column)
    return picked


def _highest(scores: Floats, most: int) -> list[int]:
    """The columns of the highest positive scores, from the highest down, equal ones in their order."""
    most = min(most, len(scores))
    least = max(np.partition(scores, -most)[-most], 0.0)
    higher = np.flatnonzero(scores > least)
    equal = np.flatnonzero(scores == least)[: most - len(higher)] if least > 0 else higher[:0]
    columns = np.concatenate([higher, equal])
    ranked: list[int] = columns[np.lexsort((columns, -scores[columns]))].tolist()
    return ranked


def _checked(tree: Tree, word_given_node: Floats) -> Floats:
    probabilities = np.asarray(word_given_node)
    if probabilities.ndim != 2 or len(probabilities) != len(tree) or probabilities.shape[1] == 0:
        raise InputError(
            f"expected a matrix with one row for each of {len(tree)} nodes, got the shape {probabilities.shape}",
            hint="rows in the order of the tree's nodes",
        )
    totals = probabilities.sum(axis=1, dtype=np.float64)
    wrong = ~(np.abs(totals - 1.0) <= ROW_TOLERANCE)
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"expected rows that sum to one, got {totals[row]:.4g} for node {row}", hint="P(w|a), not counts"
        )
    if probabilities.min() < 0:
        raise InputError(f"expected probabilities, got {probabilities.min():.4g}")
    return probabilities


def _tokens(probabilities: Floats, node_weight: Floats | None, count: Floats | None) -> Floats | None:
    """How many tokens each node explains, if that is known."""
    if node_weight is None and count is None:
        return None
    if node_weight is None or count is None:
        raise InputError("expected node_weight and count together, got one of them", hint="both, or none")
    shares, counts = np.asarray(node_weight, dtype=np.float64), np.asarray(count, dtype=np.float64)
    for name, values, size in (("node_weight", shares, len(probabilities)), ("count", counts, probabilities.shape[1])):
        if values.shape != (size,) or not (values >= 0).all() or not 0 < values.sum() < np.inf:
            raise InputError(f"expected {size} numbers of at least 0, and not all 0, as {name}, got {values!r:.80}")
    tokens: Floats = shares * (counts.sum() / shares.sum())
    return tokens
