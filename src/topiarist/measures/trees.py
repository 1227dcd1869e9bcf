"""Figures about trees whose documents have labels. Public by the name ``topiarist.metrics``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.arrays import Array, ArrayLike, Integers
from topiarist.errors import InputError, UsageError
from topiarist.hierarchy import Tree
from topiarist.measures.label_agreement import label_numbers

AVERAGES = ("weighted", "macro")


def dendrogram_purity(tree: Tree, leaf_of_doc: ArrayLike, labels: ArrayLike) -> float:
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


def _node_numbers(tree: Tree, leaf_of_doc: ArrayLike, n_docs: int) -> Integers:
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


@dataclass(frozen=True)
class BestNode:
    """The node that suits a label best: its F, what share of its documents has the label, and of the label's it has."""

    node: int
    f1: float
    precision: float
    recall: float
    size: int  # documents of the label


def best_nodes(tree: Tree, leaf_of_doc: ArrayLike, labels: Sequence[Hashable] | Array) -> dict[Any, BestNode]:
    """For each label the node whose documents agree best with the label's: the largest F over all nodes.

    ``leaf_of_doc`` is the number of each document's node, ``labels`` one label per document or a tuple of several. A
    document without labels (an empty tuple) counts among the documents of its node. Of equally good nodes the
    deepest is taken, of these the first by name.
    """
    sets = _label_sets(labels)
    nodes = _node_numbers(tree, leaf_of_doc, len(sets))
    totals = Counter(label for own in sets for label in own)
    if not totals:
        raise InputError("expected documents with labels, got none that has any", hint="('sport',) for a document")
    below: list[Counter[Any]] = [Counter() for _ in range(len(tree))]
    for node, own in zip(nodes.tolist(), sets, strict=True):
        below[node].update(own)
    return _best_of_all(tree, below, np.bincount(nodes, minlength=len(tree)).tolist(), totals)


def _best_of_all(
    tree: Tree, below: list[Counter[Hashable]], sizes: list[int], totals: Counter[Hashable]
) -> dict[Any, BestNode]:
    """The best node of each label, from the labels of each node's own documents and their number; both are spent.

    A label that only one of a node's branches has is better off there: so a label is looked at where branches that have
    it meet, and nowhere else. Adding the fewer to the more takes n log n steps at most.
    """
    found: dict[Any, BestNode] = {}
    met: list[set[Any]] = [set(own) for own in below]
    for node in reversed(tree.depth_first()):
        here, size = below[node], sizes[node]
        for label in met[node]:
            n, total = here[label], totals[label]
            new = BestNode(node, 2 * n / (size + total), n / size, n / total, total)
            if label not in found or _is_better(tree, new, found[label]):
                found[label] = new
        parent = tree.parents[node]
        if parent < 0:
            break
        fewer, more = sorted((here, below[parent]), key=len)
        met[parent].update(label for label in fewer if label in more)
        more.update(fewer)
        below[parent], below[node], met[node] = more, Counter(), set()
        sizes[parent] += size
    return {label: found[label] for label in totals}


def _is_better(tree: Tree, new: BestNode, old: BestNode) -> bool:
    """By F, then the deeper one, then by name: the answer must not depend on how nodes are numbered."""
    one, other = (new.f1, tree.depths[new.node]), (old.f1, tree.depths[old.node])
    return one > other or (one == other and tree.path_names(new.node) < tree.path_names(old.node))


def tree_f1(
    tree: Tree, leaf_of_doc: ArrayLike, labels: Sequence[Hashable] | Array, *, average: str = "weighted"
) -> float:
    """The F of each label at its best node, averaged: 1 when every label has a node to itself, at whatever level.

    ``average="weighted"``: a label counts as often as documents have it; ``"macro"``: all labels count the same.
    """
    if average not in AVERAGES:
        raise UsageError(f"average must be one of {', '.join(AVERAGES)}, got {average!r}", hint="'weighted'")
    best = best_nodes(tree, leaf_of_doc, labels).values()
    weights = [1 if average == "macro" else label.size for label in best]
    return sum(weight * label.f1 for weight, label in zip(weights, best, strict=True)) / sum(weights)


def _label_sets(labels: Sequence[Hashable] | Array) -> list[frozenset[Hashable]]:
    """The labels of each document, each once; anything but a tuple, list or set is a label by itself."""
    try:
        return [frozenset(own if isinstance(own, tuple | list | set | frozenset) else (own,)) for own in labels]
    except TypeError as error:
        raise InputError(
            f"labels must hold a label, or a tuple of labels, for each document: {error}",
            hint="[('sport', 'news'), ('news',)]",
        ) from error
