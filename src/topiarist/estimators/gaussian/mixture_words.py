"""What components and their clusters are about: typical examples, and words. Equation (G12): docs/models/ggm.md"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from topiarist.counts.validation import check_counts, word_totals
from topiarist.errors import InputError
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.words import node_words
from topiarist.models.gaussian.covariances import Floats

UNSEEN = 1e-9  # a word with no weight at a node


def prototypes(joint: Floats, weight: Floats, members: Any, n: int) -> list[Any]:
    """The most typical examples of each node: those of highest p(x|k), as many of a component as its weight asks for.

    ``joint`` is log P(k)p(x|k), (components, examples), which ranks examples of one component as p(x|k) does.
    """
    ranked = np.argsort(-joint, axis=1, kind="stable")
    chosen = []
    for mask in members:
        own = np.flatnonzero(mask)
        shares = weight[own] / weight[own].sum()
        wanted = _allotted(shares, min(n, joint.shape[1]))
        rows: list[int] = []
        for component, number in zip(own, wanted, strict=True):
            fresh = [row for row in ranked[component].tolist() if row not in rows]
            rows += fresh[:number]
        best = joint[own].max(axis=0)
        chosen.append(np.array(sorted(rows, key=lambda row: (-best[row], row)), dtype=np.int64))
    return chosen


def _allotted(shares: Floats, n: int) -> list[int]:
    """Whole numbers in proportion to shares that add up to n: the largest remainders get what is left."""
    exact = shares * n
    whole = np.floor(exact).astype(np.int64)
    rest = np.argsort(-(exact - whole), kind="stable")[: n - int(whole.sum())]
    whole[rest] += 1
    numbers: list[int] = whole.tolist()
    return numbers


def projected(lsi: Any, means: Floats, weight: Floats, members: Any) -> Floats:
    """The weight of every word at each node, from the mean of the node back through the space: U·μ, never negative."""
    if lsi.n_dimensions_ != means.shape[1]:
        raise InputError(
            f"expected an LSI of {means.shape[1]} dimensions, as the mixture has, got {lsi.n_dimensions_}",
            hint="the LSI that made the features",
        )
    shares = members * weight
    shares = shares / shares.sum(axis=1, keepdims=True)
    return np.asarray(np.maximum(lsi.words_of(shares @ means), 0.0))


def counted(node_given_example: Floats, counts: Any) -> tuple[Floats, Floats, Floats]:
    """The words of each node's examples by how much each belongs there, the weight of nodes, how often words are."""
    matrix = check_counts(counts)
    if matrix.shape[0] != len(node_given_example):
        raise InputError(f"expected counts of {len(node_given_example)} examples, got {matrix.shape[0]}")
    rows: Floats = np.asarray(matrix.T @ node_given_example, np.float64).T
    return rows, rows.sum(axis=1), word_totals(matrix)


def told(
    tree: Tree,
    rows: Floats,
    words: Sequence[str],
    n: int,
    *,
    plain: bool,
    node_weight: Floats | None = None,
    count: Floats | None = None,
) -> list[list[str]]:
    """The words of every node, the most telling first."""
    if len(words) != rows.shape[1]:
        raise InputError(f"expected {rows.shape[1]} words, one for each column, got {len(words)}")
    if plain:
        order = np.argsort(-rows, axis=1, kind="stable")[:, :n]
        return [[words[word] for word in row if rows[node, word] > 0] for node, row in enumerate(order)]
    rows = rows + UNSEEN
    shares = rows / rows.sum(axis=1, keepdims=True)
    chosen = node_words(tree, shares, n, node_weight=node_weight, count=count, words=words)
    return [[words[word] for word in node] for node in chosen]
