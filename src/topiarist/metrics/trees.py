"""Metrics of trees with labelled documents, public in ``topiarist.metrics``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.arrays import Array, ArrayLike, Integers
from topiarist.errors import InputError, UsageError
from topiarist.metrics.label_agreement import number_labels
from topiarist.trees import Tree

AVERAGES = ("weighted", "macro")


def dendrogram_purity(tree: Tree, leaf_of_doc: ArrayLike, labels: ArrayLike) -> float:
    """Return the expected purity of the smallest subtree with both of two documents of the same label.

    The mean is over all pairs of documents with a common label: the share of that label among the documents below the
    pair's lowest common ancestor. It is 1 if every label has its own subtree. ``leaf_of_doc`` is the node of each
    document.
    """
    numbers = number_labels(labels, "labels")
    nodes = _check_nodes(tree, leaf_of_doc, len(numbers))
    sizes = np.bincount(numbers)
    n_pairs = int((sizes * (sizes - 1) // 2).sum())
    if n_pairs == 0:
        raise InputError(
            f"expected two documents with the same label, got {len(numbers)} documents and as many labels",
            hint="Pass labels that documents share.",
        )
    counts_below: list[Counter[int]] = [Counter() for _ in range(len(tree))]
    for node, label in zip(nodes.tolist(), numbers.tolist(), strict=True):
        counts_below[node][label] += 1
    return _sum_purities(tree, counts_below) / n_pairs


def _sum_purities(tree: Tree, counts_below: list[Counter[int]]) -> float:
    """Return the sum of purities over pairs, from the labels of each node's own documents, which are consumed.

    From the leaves up, a node's labels are added to its parent's, always the smaller counter to the larger: at most n
    log n steps in any tree.
    """
    meeting = [
        Counter({label: n * (n - 1) // 2 for label, n in labels_of_document.items()})
        for labels_of_document in counts_below
    ]  # pairs, by label
    sizes = [labels_of_document.total() for labels_of_document in counts_below]
    total = 0.0
    for node in reversed(tree.depth_first()):
        counts, parent = counts_below[node], tree.parents[node]
        total += sum(pairs * counts[label] for label, pairs in meeting[node].items()) / max(1, sizes[node])
        if parent < 0:
            break
        smaller, larger = sorted((counts, counts_below[parent]), key=len)
        for label, n in smaller.items():
            meeting[parent][label] += n * larger[label]
            larger[label] += n
        counts_below[parent], counts_below[node] = larger, Counter()
        sizes[parent] += sizes[node]
    return total


def _check_nodes(tree: Tree, leaf_of_doc: ArrayLike, n_docs: int) -> Integers:
    """Return the node of each document as an array; raise InputError if one is not in the tree."""
    if not isinstance(tree, Tree):
        raise InputError(f"expected a topiarist.trees.Tree, got {type(tree).__name__}", hint="Use Tree.from_linkage.")
    nodes = np.asarray(leaf_of_doc)
    if nodes.shape != (n_docs,) or nodes.dtype.kind not in "iu":
        raise InputError(
            f"leaf_of_doc must be the number of a node for each of the {n_docs} labels, "
            f"got {nodes.dtype} of shape {nodes.shape}",
            hint="Pass np.arange(n_docs) if each document is a leaf of Tree.from_linkage.",
        )
    invalid = nodes[(nodes < 0) | (nodes >= len(tree))]
    if len(invalid):
        raise InputError(
            f"leaf_of_doc must hold nodes from 0 to {len(tree) - 1}, got {invalid[0]}",
            hint="Use tree.find(name) to get the number of a node.",
        )
    return nodes


@dataclass(frozen=True)
class BestNode:
    """Node with the highest F for a label, with precision, recall and the number of documents of the label."""

    node: int
    f1: float
    precision: float
    recall: float
    size: int  # documents of the label


def best_nodes(tree: Tree, leaf_of_doc: ArrayLike, labels: Sequence[Hashable] | Array) -> dict[Any, BestNode]:
    """Return for each label the node with the largest F.

    ``leaf_of_doc`` is the node of each document, ``labels`` one label for each document or a tuple of several. A
    document with an empty tuple counts among the documents of its node. Ties go to the deepest node, then to the first
    by name.
    """
    sets = _list_label_sets(labels)
    nodes = _check_nodes(tree, leaf_of_doc, len(sets))
    totals = Counter(label for labels_of_document in sets for label in labels_of_document)
    if not totals:
        raise InputError(
            "expected documents with labels, got none that has any",
            hint="Pass labels such as ('sport',) for a document.",
        )
    counts_below: list[Counter[Any]] = [Counter() for _ in range(len(tree))]
    for node, labels_of_document in zip(nodes.tolist(), sets, strict=True):
        counts_below[node].update(labels_of_document)
    return _find_best_nodes(tree, counts_below, np.bincount(nodes, minlength=len(tree)).tolist(), totals)


def _find_best_nodes(
    tree: Tree, counts_below: list[Counter[Hashable]], sizes: list[int], totals: Counter[Hashable]
) -> dict[Any, BestNode]:
    """Return the best node of each label, from the labels and numbers of each node's own documents, which are consumed.

    A label that only one branch of a node has is better there, so a label is evaluated only where branches with it
    meet. Adding the smaller counter to the larger takes at most n log n steps.
    """
    best: dict[Any, BestNode] = {}
    joint_labels: list[set[Any]] = [set(labels_of_document) for labels_of_document in counts_below]
    for node in reversed(tree.depth_first()):
        counts, size = counts_below[node], sizes[node]
        for label in joint_labels[node]:
            n, total = counts[label], totals[label]
            new = BestNode(node, 2 * n / (size + total), n / size, n / total, total)
            if label not in best or _is_better(tree, new, best[label]):
                best[label] = new
        parent = tree.parents[node]
        if parent < 0:
            break
        smaller, larger = sorted((counts, counts_below[parent]), key=len)
        joint_labels[parent].update(label for label in smaller if label in larger)
        larger.update(smaller)
        counts_below[parent], counts_below[node], joint_labels[node] = larger, Counter(), set()
        sizes[parent] += size
    return {label: best[label] for label in totals}


def _is_better(tree: Tree, new: BestNode, old: BestNode) -> bool:
    """Compare by F, then by depth, then by name, so that the result does not depend on node numbers."""
    first, other = (new.f1, tree.depths[new.node]), (old.f1, tree.depths[old.node])
    return first > other or (first == other and tree.path_names(new.node) < tree.path_names(old.node))


def tree_f1(
    tree: Tree, leaf_of_doc: ArrayLike, labels: Sequence[Hashable] | Array, *, average: str = "weighted"
) -> float:
    """Return the mean F of labels at their best nodes; it is 1 if every label has its own node at any level.

    ``average="weighted"`` weights a label by its documents, ``"macro"`` weights all labels equally.
    """
    if average not in AVERAGES:
        raise UsageError(f"average must be one of {', '.join(AVERAGES)}, got {average!r}", hint="Pass 'weighted'.")
    best = best_nodes(tree, leaf_of_doc, labels).values()
    weights = [1 if average == "macro" else label.size for label in best]
    return sum(weight * label.f1 for weight, label in zip(weights, best, strict=True)) / sum(weights)


def _list_label_sets(labels: Sequence[Hashable] | Array) -> list[frozenset[Hashable]]:
    """Return the set of labels of each document; a value other than a tuple, list or set is a single label."""
    try:
        return [
            frozenset(
                labels_of_document
                if isinstance(labels_of_document, tuple | list | set | frozenset)
                else (labels_of_document,)
            )
            for labels_of_document in labels
        ]
    except TypeError as error:
        raise InputError(
            f"labels must hold a label, or a tuple of labels, for each document: {error}",
            hint="Pass labels such as [('sport', 'news'), ('news',)].",
        ) from error
