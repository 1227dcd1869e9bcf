"""Do clusters and trees agree with labels? Offered by ``topiarist.metrics``; definitions: docs/reference/metrics.md"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.errors import InputError
from topiarist.hierarchy import Tree
from topiarist.models.engine import Floats

Numbers = np.ndarray[Any, np.dtype[np.integer[Any]]]


def gini(posterior: Any, labels: Any) -> tuple[float, float]:
    """Gini indices (G_l, G_α): how far labels spread over clusters, and clusters over labels. 0 is agreement.

    ``posterior`` is P(α|d), documents × clusters, or the one cluster of each document. G_l is the mean over labels of
    1 - Σ_α P(α|l)², G_α the mean over clusters of 1 - Σ_l P(l|α)². A cluster without documents is left out.
    """
    numbers = _label_numbers(labels, "labels")
    together = _together(numbers, _memberships(posterior, len(numbers)))
    return _spread(together), _spread(together.T)


def purity(labels_pred: Any, labels_true: Any) -> float:
    """The share of the documents that have the most frequent label of their cluster: 1 when no cluster is mixed."""
    numbers = _label_numbers(labels_true, "labels_true")
    clusters = _label_numbers(labels_pred, "labels_pred", len(numbers))
    return float(_together(numbers, _one_each(clusters)).max(axis=0).sum()) / len(numbers)


def _spread(counts: Floats) -> float:
    """The mean over rows of 1 - Σ share²."""
    total = counts.sum(axis=1, keepdims=True)
    share = counts[total[:, 0] > 0] / total[total > 0][:, None]
    return float((1 - (share**2).sum(axis=1)).mean())


def _together(labels: Numbers, memberships: Any) -> Floats:
    """How many documents, or parts of such, each label (row) has in each cluster (column)."""
    together = _one_each(labels).T @ memberships
    counts: Floats = together if isinstance(together, np.ndarray) else together.toarray()
    return counts


def _one_each(numbers: Numbers) -> Any:
    """Each document wholly in the class of its number."""
    return csr_array((np.ones(len(numbers)), numbers, np.arange(len(numbers) + 1)))


def _memberships(posterior: Any, n_docs: int) -> Any:
    """P(α|d) as it came, or from the one cluster of each document."""
    array = np.asarray(posterior)
    if array.ndim == 1:
        return _one_each(_label_numbers(array, "posterior", n_docs))
    if array.ndim != 2 or len(array) != n_docs or array.dtype.kind not in "biuf":
        raise InputError(
            f"posterior must be P(α|d), {n_docs} documents × clusters, or one cluster for each of the documents; "
            f"got {array.dtype} of shape {array.shape}",
            hint="a row for each label",
        )
    rows = array.astype(np.float64)
    wrong = ~((rows >= 0).all(axis=1) & (np.abs(rows.sum(axis=1) - 1) < 1e-3))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"the rows of posterior must be probabilities that sum to one, got {rows[row].sum():g} in row {row}",
            hint="posterior / posterior.sum(axis=1, keepdims=True)",
        )
    return rows


def _label_numbers(labels: Any, name: str, n_docs: int | None = None) -> Numbers:
    """Labels of any kind as numbers from 0 on."""
    try:
        array = np.asarray(labels)
        missing = array.dtype.kind == "f" and bool(np.isnan(array).any())
        if array.ndim == 1 and len(array) > 0 and len(array) == (n_docs or len(array)) and not missing:
            return np.unique(array, return_inverse=True)[1]
        came = "NaN" if missing else f"shape {array.shape}"
    except (TypeError, ValueError) as error:
        came = f"labels that cannot be compared: {error}"
    wanted = "each document" if n_docs is None else f"each of the {n_docs} documents"
    raise InputError(f"{name} must hold one label for {wanted}, got {came}", hint="a list of numbers or of texts")


def dendrogram_purity(tree: Tree, leaf_of_doc: Any, labels: Any) -> float:
    """The expected purity of the smallest subtree that holds both of two documents with the same label.

    Over all pairs of documents that share a label: the share of that label among the documents under the pair's lowest
    common ancestor. 1 when every label has a subtree to itself. ``leaf_of_doc`` is the number of each document's node.
    """
    numbers = _label_numbers(labels, "labels")
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
