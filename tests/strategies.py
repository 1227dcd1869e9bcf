"""Small counts that always have something awkward in them: empty documents, unseen words, lone documents; and trees."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from topiarist.trees import Tree


@st.composite
def counts(draw, max_docs: int = 8, max_words: int = 9, min_filled: int = 1) -> sp.csr_matrix:
    """A CSR matrix of counts; some rows and columns may be empty, at least ``min_filled`` rows are not."""
    n_docs = draw(st.integers(min_filled, max_docs))
    n_words = draw(st.integers(1, max_words))
    seed = draw(st.integers(0, 2**31))
    density = draw(st.sampled_from([0.2, 0.6, 1.0]))
    rng = np.random.default_rng(seed)
    dense = rng.poisson(2.0, (n_docs, n_words)) * (rng.random((n_docs, n_words)) < density)
    if draw(st.booleans()) and n_docs > min_filled:
        dense[rng.integers(n_docs)] = 0
    if draw(st.booleans()) and n_words > 1:
        dense[:, rng.integers(n_words)] = 0
    for row in np.flatnonzero(dense.sum(axis=1) == 0)[: max(0, min_filled - np.count_nonzero(dense.sum(axis=1)))]:
        dense[row, rng.integers(n_words)] = 1
    return sp.csr_matrix(dense.astype(np.float64))


def simplex_rows(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Rows that sum to one, all positive."""
    values = rng.random((rows, columns)) + 0.05
    return values / values.sum(axis=1, keepdims=True)


@st.composite
def trees(draw, max_nodes: int = 12) -> Tree:
    """A tree numbered in any order, with or without a name for its root; names repeat, but not among siblings."""
    n_nodes = draw(st.integers(1, max_nodes))
    number = draw(st.permutations(range(n_nodes)))
    parents, names = [-1] * n_nodes, [""] * n_nodes
    names[number[0]] = draw(st.sampled_from(["", "all", "a"]))
    for later in range(1, n_nodes):
        node, parent = number[later], number[draw(st.integers(0, later - 1))]
        taken = {names[other] for other in range(n_nodes) if parents[other] == parent}
        name = draw(st.sampled_from("abc"))
        parents[node], names[node] = parent, name if name not in taken else f"{name}{later}"
    return Tree(tuple(parents), tuple(names))
