"""Why a document is filed where it is: words as evidence, for each label and for each step down the tree.

A word *j* that occurs n times speaks for a class α with n log P(j|α)/P(j), P(j) being that of all classes together:
positive where the class uses the word more than others do. A node stands for the classes at it and below it, P(j|node)
being their mean. Going down from a node to a child the word speaks with n log P(j|child)/P(j|node). A class with others
below it has one step more, n log P(j|α)/P(j|node): staying at the node. The steps of a path add up to what the word
says for the class at its end. Where the model reads a long document as if it had fewer tokens, so does this: n is then
that smaller number.

``Explanation`` says it of one document and a categoriser, ``deciding_words`` of many documents and any model with
classes; what decided about the labels of ``PMM`` is told beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from topiarist.arrays import Array, Csr, Floats, Matrix
from topiarist.counts.weighting import shortened
from topiarist.errors import InputError
from topiarist.estimators.common.options import check_integer
from topiarist.hierarchy.levels import node_posterior
from topiarist.hierarchy.tree import Tree
from topiarist.models.engine import SMALLEST_MIXTURE

SMALLEST = 1e-30


class Evidence(NamedTuple):
    """A word of the document, how often it occurs, and how much it speaks for something, in nats."""

    word: Any
    times: float
    weight: float


@dataclass(frozen=True)
class Reason:
    """A label, or a step down to a node: how probable it is, and the words for it and against it."""

    name: str
    probability: float
    for_it: tuple[Evidence, ...]
    against: tuple[Evidence, ...]

    def __str__(self) -> str:
        def told(words: tuple[Evidence, ...]) -> str:
            return ", ".join(f"{word} {weight:+.1f}" for word, _, weight in words) or "nothing"

        return f"{self.name} ({self.probability:.0%}): {told(self.for_it)}; against it {told(self.against)}"


@dataclass(frozen=True)
class Explanation:
    """The most probable labels, and the steps from the root to the first of them. ``known`` words were looked at."""

    labels: tuple[Reason, ...]
    levels: tuple[Reason, ...]
    known: int

    def __str__(self) -> str:
        if not self.known:
            return "No word of the document is known: the answer is how frequent the classes are."
        steps = [f"  {'  ' * depth}{step}" for depth, step in enumerate(self.levels)]
        return "\n".join(["Labels", *(f"  {label}" for label in self.labels), "Steps down the tree", *steps])


class View(NamedTuple):
    """What a fitted categoriser knows."""

    tree: Tree
    class_nodes: tuple[int, ...]
    classes: Array
    class_word_table: Array  # (n_words, n_classes)
    class_prior: Array
    words: Sequence[str] | None
    effective_length: float | None = None  # as which longer documents are read


class Asked(NamedTuple):
    """What is to be explained: a document as it was given, its counts, and the names of its columns, if any."""

    row: Any
    counts: Csr
    names: Sequence[str] | None


def asked(estimator: Any, x: Matrix, words: Sequence[str] | None, n_words: int, n_labels: int) -> Asked:
    """One document that an estimator is asked about, checked."""
    check_integer("n_words", n_words, 1)
    check_integer("n_labels", n_labels, 1)
    row = one_row(x)
    counts = estimator._counts(row, reset=False)
    if counts.shape[0] != 1:
        raise InputError(f"expected one document, got {counts.shape[0]}", hint="X[[0]]")
    check_names(words, counts.shape[1])
    return Asked(row, counts, words if words is not None else getattr(estimator, "feature_names_in_", None))


def one_row(x: Matrix) -> Any:
    """A document as a matrix of one row, given as that, as a row of a matrix or as a list."""
    row = x if hasattr(x, "ndim") else np.asarray(x)
    if row.ndim != 1:
        return row
    return csr_array(x.reshape(1, -1)) if issparse(x) else np.asarray(row)[None]


def check_names(words: Sequence[str] | None, n_words: int) -> None:
    """A name for each column, where there are any."""
    if words is not None and len(words) != n_words:
        raise InputError(
            f"expected the names of {n_words} words, got {len(words)}", hint="corpus.vocabulary.words, or None"
        )


def explained(view: View, counts: Csr, posterior: Array, n_words: int, n_labels: int) -> Explanation:
    """The explanation of one document."""
    known = view.class_word_table[counts.indices].max(axis=1, initial=0) > 0
    columns, times = counts.indices[known], counts.data[known].astype(np.float64)
    numbers = shortened(counts, view.effective_length).data[known].astype(np.float64)
    table = view.class_word_table[columns].astype(np.float64)
    under = view.tree.path_mask(view.class_nodes) * view.class_prior[:, None]
    weights = under / np.maximum(under.sum(axis=0), SMALLEST)
    logs = np.log(np.maximum(table @ weights, SMALLEST))  # (words of the document, nodes)
    classes = Classes(view.tree, view.class_nodes, view.classes, view.class_prior)
    own = numbers[:, None] * np.log(np.maximum(table, SMALLEST))
    return _explanation(
        classes, Words(columns, times, view.words), own, numbers[:, None] * logs, posterior, n_words, n_labels
    )


class Classes(NamedTuple):
    """Classes at nodes of a tree, and how frequent they are."""

    tree: Tree
    class_nodes: tuple[int, ...]
    classes: Array
    prior: Array


class Words(NamedTuple):
    """Words of a document: their columns, how often they occur, and the names of all columns where they are known."""

    columns: Array
    times: Array
    names: Sequence[str] | None


def explained_by_parts(
    classes: Classes, words: Words, parts: Floats, posterior: Array, n_words: int, n_labels: int
) -> Explanation:
    """The same where the words' parts in the score of each class are known, (words of the document, classes).

    A node stands for the classes at it and below it, by their mean.
    """
    under = classes.tree.path_mask(classes.class_nodes) * np.asarray(classes.prior)[:, None]
    nodes = parts @ (under / np.maximum(under.sum(axis=0), SMALLEST))
    return _explanation(classes, words, parts, nodes, posterior, n_words, n_labels)


def _explanation(
    classes: Classes, words: Words, own: Floats, nodes: Floats, posterior: Array, n_words: int, n_labels: int
) -> Explanation:
    """``own`` and ``nodes``: what each word says for each class and each node, up to a constant."""
    tree = classes.tree
    names = words.columns if words.names is None else [words.names[column] for column in words.columns]
    of_node = node_posterior(tree, classes.class_nodes, posterior[None])[0]

    def reason(name: str, probability: float, evidence: Array) -> Reason:
        order = np.argsort(-evidence, kind="stable")
        best = [place for place in order[:n_words] if evidence[place] > 0]
        worst = [place for place in order[::-1][:n_words] if evidence[place] < 0]
        told = [
            tuple(Evidence(names[place], float(words.times[place]), float(evidence[place])) for place in places)
            for places in (best, worst)
        ]
        return Reason(name, float(probability), told[0], told[1])

    top = np.argsort(-posterior, kind="stable")[:n_labels]
    labels = [reason(str(classes.classes[c]), posterior[c], own[:, c] - nodes[:, tree.root]) for c in top]
    best = int(top[0])
    path = tree.path(classes.class_nodes[best])
    steps = [
        reason(tree.names[child], of_node[child], nodes[:, child] - nodes[:, node]) for node, child in pairwise(path)
    ]
    if np.count_nonzero(tree.path_mask(classes.class_nodes)[:, path[-1]]) > 1:
        steps.append(reason(f"{tree.names[path[-1]]} itself", posterior[best], own[:, best] - nodes[:, path[-1]]))
    return Explanation(tuple(labels), tuple(steps), len(words.columns))


def word_lift(class_word_table: Floats, class_prior: Floats) -> Floats:
    """log P(j|α)/P(j), (n_words, n_classes): how much a word speaks for a class each time that it occurs."""
    everywhere = class_word_table @ (class_prior / class_prior.sum())
    lift: Floats = np.log(np.maximum(class_word_table, SMALLEST_MIXTURE))
    lift -= np.log(np.maximum(everywhere, SMALLEST_MIXTURE)).astype(lift.dtype)[:, None]
    return lift


def deciding_words(counts: Csr, lift: Floats, classes: Array, number: int) -> tuple[tuple[int, ...], ...]:
    """The words of each document that speak most for its class: n log P(j|class)/P(j)."""
    lengths = np.diff(counts.indptr)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    worth = counts.data * lift[counts.indices, classes[rows]]
    order = np.lexsort((-worth, rows))
    place = np.arange(len(rows)) - counts.indptr[rows]
    kept = order[(place < number) & (worth[order] > 0)]
    ends = np.searchsorted(rows[kept], np.arange(len(lengths) + 1))
    columns = counts.indices[kept].tolist()
    return tuple(tuple(columns[start:stop]) for start, stop in pairwise(ends))
