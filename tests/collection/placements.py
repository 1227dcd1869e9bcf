"""Documents in trees, for tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.strategies import trees
from topiarist.metrics.placed_documents import DocumentAssignments
from topiarist.trees import Tree


def at(tree, homes, ids=None, words=()):
    """Each document wholly at a node; all nodes are classes."""
    n_docs = len(homes)
    shares = csr_array((np.ones(n_docs), (np.arange(n_docs), homes)), shape=(n_docs, len(tree)))
    return DocumentAssignments(
        tree, tuple(range(len(tree))), shares, ids or [f"d{row}" for row in range(n_docs)], words
    )


def under(tree, homes, **known):
    """Each document wholly at the node of a name."""
    return at(tree, [tree.find(name) for name in homes], **known)


@st.composite
def shares(draw, n_docs, n_classes):
    """Rows that sum to one or less; some are empty, many shares are equal."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    values = rng.integers(0, 4, (n_docs, n_classes)).astype(float)
    total = np.maximum(values.sum(axis=1, keepdims=True), 1)
    return csr_array(values / total * draw(st.sampled_from([1.0, 0.75])))


@st.composite
def placements(draw, ids=None, max_docs=12):
    """A tree with documents in it."""
    tree = draw(trees())
    names = ids or [f"d{row}" for row in range(draw(st.integers(1, max_docs)))]
    classes = draw(st.sampled_from([tree.leaves, tuple(range(len(tree)))]))
    return DocumentAssignments(tree, classes, draw(shares(len(names), len(classes))), names)


def renumbered(placed, seed):
    """The same placement with nodes, classes and documents in another order; and the new number of each node."""
    rng, tree = np.random.default_rng(seed), placed.tree
    number = rng.permutation(len(tree))
    parents, names = [-1] * len(tree), [""] * len(tree)
    for node, parent in enumerate(tree.parents):
        parents[number[node]] = int(number[parent]) if parent >= 0 else -1
        names[number[node]] = tree.names[node]
    rows, columns = rng.permutation(placed.n_docs), rng.permutation(len(placed.class_nodes))
    other = DocumentAssignments(
        Tree(tuple(parents), tuple(names)),
        tuple(int(number[placed.class_nodes[column]]) for column in columns),
        placed.shares[rows][:, columns],
        [placed.ids[row] for row in rows],
    )
    return other, number.tolist()
