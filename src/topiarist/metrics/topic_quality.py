"""Metrics of topics and of the words of a topic tree, public in ``topiarist.metrics``."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from topiarist.arrays import Array, ArrayLike, Csr, Floats, Matrix
from topiarist.counts.split import completion_split
from topiarist.counts.validation import check_counts
from topiarist.errors import InputError, UsageError
from topiarist.execution.threads import Threads
from topiarist.models.engine import SMALLEST_MIXTURE, CountsView, load_kernels
from topiarist.models.word_meetings import Cooccurrence
from topiarist.trees import Tree


class CompletionModel(Protocol):
    """Interface of a fitted model that folds in documents."""

    components_: Floats

    def transform(self, X: Csr) -> Floats:
        """Return P(k|d)."""


def perplexity(model: CompletionModel, X: Matrix, *, random_state: int = 0) -> float:
    """Return the perplexity by document completion: exp(-mean log P(word | document)) over half of each document.

    The tokens of each document are divided into two halves (by ``random_state``). ``model.transform`` gets the first
    half, the second is scored under Σ_k P(k|d) P(w|k). Words that no component can produce are excluded from both. A
    word that the model can produce, but not in this document, makes the perplexity infinite, with a warning.
    """
    return completion_perplexity(model.components_, model.transform, check_counts(X), random_state)


def completion_perplexity(
    components: Floats, fold_in: Callable[[Csr], Floats], counts: Csr, random_state: int = 0
) -> float:
    """Return the perplexity of half of each document given the rest; infinite with a warning."""
    words = _normalise_rows(components)
    if words.shape[1] != counts.shape[1]:
        raise InputError(
            f"expected X with {words.shape[1]} columns, the words of the model, got {counts.shape[1]}",
            hint="Count with the vocabulary of the model.",
        )
    observed, hidden = completion_split(keep_known_words(words, counts), seed=random_state)
    tokens = float(hidden.data.sum(dtype=np.float64))
    if tokens == 0:
        raise InputError(
            "expected documents of at least two tokens that the model knows, got none",
            hint="Score more documents, or longer ones.",
        )
    by_word = np.ascontiguousarray(words.T)
    mixing = np.ascontiguousarray(_normalise_rows(fold_in(observed)), dtype=by_word.dtype)
    probability = _compute_probabilities(CountsView.from_matrix(hidden, by_word.dtype), mixing, by_word)
    if not probability.all():
        warnings.warn(
            f"{np.count_nonzero(probability == 0)} words have probability zero in their document: infinite perplexity. "
            "Try word_smoothing=0.01, component_smoothing=0.05.",
            stacklevel=3,
        )
        return float(np.inf)
    return float(np.exp(-np.dot(hidden.data, np.log(probability.astype(np.float64))) / tokens))


def keep_known_words(word_given_component: Floats, counts: Csr) -> Any:
    """Return the counts without words that no component can produce."""
    is_known = word_given_component.max(axis=0) > 0
    if is_known.all():
        return counts
    known_counts = counts.copy()
    known_counts.data[~is_known[known_counts.indices]] = 0
    known_counts.eliminate_zeros()
    return known_counts


def _compute_probabilities(side: CountsView, row_factor: Floats, column_factor: Floats) -> Floats:
    """Return Σ_k row_factor[i,k] column_factor[j,k] for each non-zero."""
    out = np.empty(len(side.data), row_factor.dtype)
    kernels = load_kernels("compiled")
    with Threads() as threads:

        def compute_slice(rows: slice) -> None:
            indptr = side.indptr[rows.start : rows.stop + 1]
            kernels.mixtures(indptr, side.indices, row_factor[rows], column_factor, out[indptr[0] : indptr[-1]])

        threads.map(compute_slice, side.slices)
    return out


def npmi_coherence(topics: ArrayLike, X: Matrix, *, top_n: int = 10) -> Floats:
    """Return the normalised pointwise mutual information of each topic's ``top_n`` words, averaged over their pairs.

    ``topics`` is a topics × words array (``components_``) or a list of lists of column numbers. P(v, w) is the share of
    the documents of ``X`` with both words. A pair that never occurs together counts -1, one that always does 1.
    """
    counts = check_counts(X)
    cooccurrence = Cooccurrence.from_counts(counts)
    return np.array(
        [_compute_coherence(cooccurrence.count_pairs(top) / counts.shape[0]) for top in _list_top_words(topics, top_n)]
    )


def _compute_coherence(joint: Floats) -> float:
    """Return the mean over pairs of words; ``joint`` has the share of the documents with both."""
    first, second = np.triu_indices(joint.shape[0], 1)
    marginal = np.diag(joint)
    return float(_compute_npmi(joint[first, second], marginal[first], marginal[second]).mean())


def _compute_npmi(joint: Floats, first: Floats, second: Floats) -> Floats:
    """Return the NPMI of word pairs from their joint and single probabilities, from −1 to 1."""
    is_defined = (joint > 0) & (joint < 1)
    safe = np.where(is_defined, joint, 0.5)
    product = np.where(is_defined, first * second, 0.5)
    value = np.log(safe / product) / -np.log(safe)
    return np.where(is_defined, value, np.where(joint > 0, 1.0, -1.0))


def topic_diversity(topics: ArrayLike, *, top_n: int = 25) -> float:
    """Return the share of different words among the ``top_n`` words of all topics; 1 without common words."""
    tops = np.concatenate(_list_top_words(topics, top_n))
    return len(np.unique(tops)) / len(tops)


def _list_top_words(topics: ArrayLike, top_n: int) -> list[Any]:
    """Return the numbers of the ``top_n`` words of each topic; raise an error below two words."""
    if top_n < 2:
        raise UsageError(f"top_n must be at least 2, got {top_n}", hint="Pass 10.")
    if isinstance(topics, list | tuple) and all(np.asarray(topic).dtype.kind in "iu" for topic in topics):
        tops = [np.asarray(topic, dtype=np.int64)[:top_n] for topic in topics]
    else:
        array = np.asarray(topics)
        if array.ndim != 2 or 0 in array.shape:
            raise InputError(
                f"topics must be a topics × words array, got shape {array.shape}", hint="Pass components_."
            )
        tops = list(np.argsort(-array, axis=1, kind="stable")[:, :top_n])
    if any(len(top) < 2 for top in tops) or not tops:
        raise InputError("each topic needs at least two words", hint="Use a larger vocabulary, or increase top_n.")
    return tops


def _normalise_rows(array: ArrayLike) -> Floats:
    array = np.asarray(array, dtype=None if np.asarray(array).dtype == np.float32 else np.float64)
    total = array.sum(axis=1, keepdims=True, dtype=np.float64).astype(array.dtype)
    uniform = np.full_like(array, 1.0 / array.shape[1])
    return np.where(total > 0, array / np.where(total > 0, total, 1), uniform)


def parent_child_coherence(tree: Tree, words: Sequence[Any], X: Any, *, top_n: int = 10) -> float:
    """Return the mean CLNPMI over all pairs of a parent and its child, a measure of related words.

    With A the ``top_n`` words of the parent and B those of the child, CLNPMI is the mean normalised pointwise mutual
    information of (v, w) over all v in A but not in B and w in B but not in A. P(v, w) is the share of the documents of
    ``X`` with both words; a pair that never occurs together counts −1, one that always does 1. Pairs of lists without
    such words are excluded. ``words`` are lists of columns, one for each node; nodes with an empty list are excluded.
    """
    counts = check_counts(X)
    lists = _check_words(tree, words, top_n)
    used = np.unique(np.concatenate([*lists, np.empty(0, np.int64)]))
    presence = counts[:, used].astype(bool).astype(np.float64)
    joint_shares = np.asarray((presence.T @ presence).todense()) / max(counts.shape[0], 1)
    coherences = []
    for parent, child in _list_pairs(tree, lists):
        parent_words, child_words = np.setdiff1d(lists[parent], lists[child]), np.setdiff1d(lists[child], lists[parent])
        if len(parent_words) and len(child_words):
            rows, columns = np.searchsorted(used, parent_words), np.searchsorted(used, child_words)
            joint = joint_shares[np.ix_(rows, columns)]
            coherences.append(
                float(_compute_npmi(joint, np.diag(joint_shares)[rows][:, None], np.diag(joint_shares)[columns]).mean())
            )
    return _average(coherences, "a parent and a child with words")


def parent_child_diversity(tree: Tree, words: Sequence[Any], *, top_n: int = 10) -> float:
    """Return the share of different words in a parent's list and a child's, averaged over all such pairs.

    It is the number of different words among the ``top_n`` of both, divided by the length of both lists: 1 if no child
    repeats a word of its parent, 0.5 if it repeats all.
    """
    lists = _check_words(tree, words, top_n)
    shares = [_share_of_different_words([lists[parent], lists[child]]) for parent, child in _list_pairs(tree, lists)]
    return _average(shares, "a parent and a child with words")


def sibling_diversity(tree: Tree, words: Sequence[Any], *, top_n: int = 10) -> float:
    """Return the share of different words among the lists of a node's children, averaged over nodes.

    It covers all nodes with at least two children with words: the number of different words among the ``top_n`` of all
    children, divided by the length of all their lists. It is 1 if no two siblings share a word.
    """
    lists = _check_words(tree, words, top_n)
    groups = [[lists[child] for child in tree.children(node) if len(lists[child])] for node in range(len(tree))]
    return _average([_share_of_different_words(group) for group in groups if len(group) > 1], "siblings with words")


def name_exam(tree: Tree, names: Sequence[str], word_given_subtree: Any, words: Sequence[str]) -> float:
    """Return the share of names that, read as a query, identify their own node.

    The words of a name are looked up among ``words`` (lower case). Each node of the name's level, and each leaf above
    that level, is scored by Σ log P(word | subtree), from the rows of ``word_given_subtree``. A name identifies its
    node if no other node has as high a score. Names without a known word fail; the root is excluded.
    """
    columns = {word: column for column, word in enumerate(words)}
    shares = np.asarray(word_given_subtree)
    is_found = []
    for node in range(len(tree)):
        if node == tree.root:
            continue
        query_columns = [columns[word] for word in re.findall(r"\w+", names[node].lower()) if word in columns]
        depth = tree.depths[node]
        level = [v for v in range(len(tree)) if tree.depths[v] == depth or (tree.depths[v] < depth and tree.is_leaf(v))]
        score = {v: float(np.log(np.maximum(shares[v, query_columns], SMALLEST_MIXTURE)).sum()) for v in level}
        best = max((value for v, value in score.items() if v != node), default=-np.inf)
        is_found.append(bool(query_columns) and score[node] > best)
    return _average([float(result) for result in is_found], "nodes below the root")


def _check_words(tree: Tree, words: Sequence[Any], top_n: int) -> list[Array]:
    if len(words) != len(tree):
        raise InputError(f"expected a list of words for each of {len(tree)} nodes, got {len(words)}")
    return [np.asarray(node_words, dtype=np.int64)[:top_n] for node_words in words]


def _list_pairs(tree: Tree, lists: list[Array]) -> list[tuple[int, int]]:
    pairs = [(parent, child) for child, parent in enumerate(tree.parents) if parent >= 0]
    return [(parent, child) for parent, child in pairs if len(lists[parent]) and len(lists[child])]


def _share_of_different_words(lists: list[Array]) -> float:
    all_words = np.concatenate(lists)
    return len(np.unique(all_words)) / len(all_words)


def _average(values: list[float], description: str) -> float:
    if not values:
        raise InputError(f"expected {description}, got none", hint="Pass a tree of two levels with words at its nodes.")
    return float(np.mean(values))
