"""Figures about trees whose documents have labels. Public by the name ``topiarist.metrics``."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from topiarist.errors import InputError
from topiarist.hierarchy import Tree
from topiarist.label_metrics import Numbers, label_numbers


def dendrogram_purity(tree: Tree, leaf_of_doc: Any, labels: Any) -> float:
    """The expected purity of the smallest subtree that holds both of two documents with the same label.

    Over all pairs of documents that share a label: the share of that label among the documents under the pair's lowest
    common ancestor. 1 when every label has a subtree to itself. ``leaf_of_doc`` is the number of each document's node.
    """
    numbers = label_numbers(labels, "labels")
    nodes = _node_numbers(tree, leaf_of_doc, len(numbers))
    sizes = np.bincount(numbers)
    n_pairs = int((sizes * (sizes - 1) // 2).sum())
    if n_pairs == 0:
        raise InputError(
            f"expected two documents with the same label, got {len(numbers)} documents and as many labels",
            hint="labels that documents share",
        )
    below: list[Counter[int]] = [Counter() for _ in range(len(tree))]
    for node, label in zip(nodes.tolist(), numbers.tolist(), strict=True):
        below[node][label] += 1
    return _sum_of_purities(tree, below) / n_pairs


def _sum_of_purities(tree: Tree, below: list[Counter[int]]) -> float:
    """Σ over pairs of the purity where they meet, from the labels of each node's own documents, which are spent.

    From the leaves up, a node's labels are added to its parent's, always the fewer to the more: n log n steps at most,
    in any tree.
    """
    meeting = [Counter({label: n * (n - 1) // 2 for label, n in own.items()}) for own in below]  # pairs, by label
    sizes = [own.total() for own in below]
    total = 0.0
    for node in reversed(tree.depth_first()):
        here, parent = below[node], tree.parents[node]
        total += sum(pairs * here[label] for label, pairs in meeting[node].items()) / max(1, sizes[node])
        if parent < 0:
            break
        fewer, more = sorted((here, below[parent]), key=len)
        for label, n in fewer.items():
            meeting[parent][label] += n * more[label]
            more[label] += n
        below[parent], below[node] = more, Counter()
        sizes[parent] += sizes[node]
    return total


def _node_numbers(tree: Tree, leaf_of_doc: Any, n_docs: int) -> Numbers:
    if not isinstance(tree, Tree):
        raise InputError(f"expected a topiarist.hierarchy.Tree, got {type(tree).__name__}", hint="Tree.from_linkage")
    nodes = np.asarray(leaf_of_doc)
    if nodes.shape != (n_docs,) or nodes.dtype.kind not in "iu":
        raise InputError(
            f"leaf_of_doc must be the number of a node for each of the {n_docs} labels, "
            f"got {nodes.dtype} of shape {nodes.shape}",
            hint="np.arange(n_docs) where each document is a leaf of Tree.from_linkage",
        )
    wrong = nodes[(nodes < 0) | (nodes >= len(tree))]
    if len(wrong):
        raise InputError(
            f"leaf_of_doc must hold nodes from 0 to {len(tree) - 1}, got {wrong[0]}",
            hint="tree.find(name) tells a node's number",
        )
    return nodes
