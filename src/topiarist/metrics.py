"""How good is a topic model, a clustering, a tree? Figures with one documented definition each.

Exact definitions: docs/reference/metrics.md. ``perplexity`` asks whether the model predicts the rest of a document,
``npmi_coherence`` whether the words of a topic belong together, ``topic_diversity`` whether the topics differ. They
take any fitted model with ``transform`` and ``components_``, scikit-learn's own included. Where documents have labels,
``gini`` and ``purity`` ask whether clusters agree with them, ``dendrogram_purity`` whether a tree does, ``example_f1``
whether predicted sets of labels do. Where queries have relevant documents, ``interpolated_precision`` asks whether
these come first.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.counts.split import completion_split
from topiarist.counts.validation import check_counts
from topiarist.errors import InputError, UsageError
from topiarist.hierarchy import Tree
from topiarist.hierarchy.levels import calibration_error, level_curve
from topiarist.kernels import load
from topiarist.kernels.shard import Side
from topiarist.label_metrics import example_f1
from topiarist.models.engine import Floats
from topiarist.ranking_metrics import interpolated_precision
from topiarist.scale.threads import Threads

__all__ = [
    "calibration_error",
    "dendrogram_purity",
    "example_f1",
    "gini",
    "interpolated_precision",
    "level_curve",
    "npmi_coherence",
    "perplexity",
    "purity",
    "topic_diversity",
]

Numbers = np.ndarray[Any, np.dtype[np.integer[Any]]]


def perplexity(model: Any, X: Any, *, random_state: int = 0) -> float:
    """Perplexity by document completion: exp(-mean log P(word | document)) over the unseen half of each document.

    The tokens of each document are dealt into two halves (from ``random_state``). ``model.transform`` sees the first
    half, the second is scored under Σ_k P(k|d) P(w|k). Words that no component can produce are left out of both; a word
    that the model could produce, but not in this document, makes the perplexity infinite (and a warning says so).
    """
    return completion_perplexity(model.components_, model.transform, check_counts(X), random_state)


def completion_perplexity(components: Any, fold_in: Callable[[Any], Any], counts: Any, random_state: int = 0) -> float:
    """``perplexity`` of word distributions with a function that finds a document's components."""
    words = _rows_to_one(components)
    if words.shape[1] != counts.shape[1]:
        raise InputError(
            f"the model knows {words.shape[1]} words, X has {counts.shape[1]} columns",
            hint="count with the vocabulary of the model",
        )
    observed, hidden = completion_split(known_counts(words, counts), seed=random_state)
    tokens = float(hidden.data.sum(dtype=np.float64))
    if tokens == 0:
        raise InputError(
            "perplexity needs documents of at least two tokens that the model knows; none came",
            hint="score more documents, or longer ones",
        )
    by_word = np.ascontiguousarray(words.T)
    mixing = np.ascontiguousarray(_rows_to_one(fold_in(observed)), dtype=by_word.dtype)
    probability = _probabilities(Side.of(hidden, by_word.dtype), mixing, by_word)
    if not probability.all():
        warnings.warn(
            f"{np.count_nonzero(probability == 0)} words have probability zero in their document: infinite perplexity. "
            "Try word_smoothing=0.01, component_smoothing=0.05.",
            stacklevel=3,
        )
        return float(np.inf)
    return float(np.exp(-np.dot(hidden.data, np.log(probability.astype(np.float64))) / tokens))


def known_counts(word_given_component: Floats, counts: Any) -> Any:
    """The counts without words that no component can produce."""
    known = word_given_component.max(axis=0) > 0
    if known.all():
        return counts
    kept = counts.copy()
    kept.data[~known[kept.indices]] = 0
    kept.eliminate_zeros()
    return kept


def _probabilities(side: Side, own: Floats, other: Floats) -> Floats:
    """Σ_k own[i,k] other[j,k] for each non-zero."""
    out = np.empty(len(side.data), own.dtype)
    kernels = load("compiled")
    with Threads() as threads:

        def piece(rows: slice) -> None:
            indptr = side.indptr[rows.start : rows.stop + 1]
            kernels.mixtures(indptr, side.indices, own[rows], other, out[indptr[0] : indptr[-1]])

        threads.map(piece, side.pieces)
    return out


def npmi_coherence(topics: Any, X: Any, *, top_n: int = 10) -> Floats:
    """Normalised pointwise mutual information of each topic's ``top_n`` words, averaged over their pairs.

    ``topics`` is a topics × words array (``components_``) or a list of lists of column numbers. P(v, w) is the share of
    the documents of ``X`` that hold both words. A pair that never meets counts -1, one that always meets 1.
    """
    counts = check_counts(X)
    presence = counts.tocsc().astype(bool).astype(np.float64)
    return np.array([_coherence(presence[:, top]) for top in _top_words(topics, top_n)])


def _coherence(presence: Any) -> float:
    """Mean over pairs of columns, of which each says in which documents a word occurs."""
    together = (presence.T @ presence).toarray() / presence.shape[0]
    first, second = np.triu_indices(together.shape[0], 1)
    alone = np.diag(together)
    return float(_npmi(together[first, second], alone[first], alone[second]).mean())


def _npmi(joint: Floats, first: Floats, second: Floats) -> Floats:
    meet = (joint > 0) & (joint < 1)
    safe = np.where(meet, joint, 0.5)
    apart = np.where(meet, first * second, 0.5)
    value = np.log(safe / apart) / -np.log(safe)
    result: Floats = np.where(meet, value, np.where(joint > 0, 1.0, -1.0))
    return result


def topic_diversity(topics: Any, *, top_n: int = 25) -> float:
    """The share of different words among the ``top_n`` words of all topics: 1 when no two topics share one."""
    tops = np.concatenate(_top_words(topics, top_n))
    return len(np.unique(tops)) / len(tops)


def _top_words(topics: Any, top_n: int) -> list[Any]:
    if top_n < 2:
        raise UsageError(f"top_n must be at least 2, got {top_n}", hint="10")
    if isinstance(topics, list | tuple) and all(np.asarray(topic).dtype.kind in "iu" for topic in topics):
        tops = [np.asarray(topic, dtype=np.int64)[:top_n] for topic in topics]
    else:
        array = np.asarray(topics)
        if array.ndim != 2 or 0 in array.shape:
            raise InputError(f"topics must be a topics × words array, got shape {array.shape}", hint="components_")
        tops = list(np.argsort(-array, axis=1, kind="stable")[:, :top_n])
    if any(len(top) < 2 for top in tops) or not tops:
        raise InputError("each topic needs at least two words", hint="a larger vocabulary, or a larger top_n")
    return tops


def _rows_to_one(array: Any) -> Floats:
    array = np.asarray(array, dtype=None if np.asarray(array).dtype == np.float32 else np.float64)
    total = array.sum(axis=1, keepdims=True, dtype=np.float64).astype(array.dtype)
    uniform = np.full_like(array, 1.0 / array.shape[1])
    rows: Floats = np.where(total > 0, array / np.where(total > 0, total, 1), uniform)
    return rows


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
