"""Explanation of a category: words as evidence for each label and for each step down the tree.

A word *j* with n occurrences is evidence n log P(j|α)/P(j) for a class α, where P(j) is that of all classes. It is
positive if the class uses the word more often than others. A node stands for the classes at it and below it, with their
mean P(j|node). A step from a node to a child has evidence n log P(j|child)/P(j|node). A class with others below it has
one more step, n log P(j|α)/P(j|node), for staying at the node. The steps of a path add up to the evidence for its
class. If the model reads long documents with an effective length, n is reduced in the same way.

``Explanation`` is for one document and a categoriser. ``find_deciding_words`` is for many documents and any model with
classes. ``PMM`` has its own explanation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from topiarist.arrays import Array, Csr, Floats, Matrix
from topiarist.counts.weighting import shorten_documents
from topiarist.errors import InputError
from topiarist.estimators.common.options import check_integer
from topiarist.models.engine import SMALLEST_MIXTURE
from topiarist.trees.levels import node_posterior
from topiarist.trees.tree import Tree


class Evidence(NamedTuple):
    """Word of a document, its count, and its evidence in nats."""

    word: Any
    times: float
    weight: float


@dataclass(frozen=True)
class Reason:
    """Label, or step to a node, with its probability and the words for and against it."""

    name: str
    probability: float
    for_it: tuple[Evidence, ...]
    against: tuple[Evidence, ...]

    def __str__(self) -> str:
        def told(evidence: tuple[Evidence, ...]) -> str:
            return ", ".join(f"{word} {weight:+.1f}" for word, _, weight in evidence) or "nothing"

        return f"{self.name} ({self.probability:.0%}): {told(self.for_it)}; against it {told(self.against)}"


@dataclass(frozen=True)
class Explanation:
    """Most probable labels and the steps from the root to the first; ``known`` is the number of words used."""

    labels: tuple[Reason, ...]
    levels: tuple[Reason, ...]
    known: int

    def __str__(self) -> str:
        if not self.known:
            return "No word of the document is known: the answer is how frequent the classes are."
        steps = [f"  {'  ' * depth}{step}" for depth, step in enumerate(self.levels)]
        return "\n".join(["Labels", *(f"  {label}" for label in self.labels), "Steps down the tree", *steps])


class Classes(NamedTuple):
    """Classes at nodes of a tree, with their shares."""

    tree: Tree
    class_nodes: tuple[int, ...]
    classes: Array
    prior: Array

    def weigh_nodes(self) -> Floats:
        """Return the weight of each class in the mean over the classes at a node and below it, (classes, nodes)."""
        under = self.tree.path_mask(self.class_nodes) * np.asarray(self.prior)[:, None]
        weights: Floats = under / np.maximum(under.sum(axis=0), SMALLEST_MIXTURE)
        return weights


class ExplainRequest(NamedTuple):
    """Document to explain, its counts, the names of the columns, and the size of the answer."""

    row: Any
    counts: Csr
    names: Sequence[str] | None
    n_words: int
    n_labels: int


def build_explain_request(
    estimator: Any, x: Matrix, words: Sequence[str] | None, n_words: int, n_labels: int
) -> ExplainRequest:
    """Check the arguments of ``explain``; raise an error unless there is exactly one document."""
    check_integer("n_words", n_words, 1)
    check_integer("n_labels", n_labels, 1)
    row = to_one_row(x)
    counts = estimator._counts(row, reset=False)
    if counts.shape[0] != 1:
        raise InputError(f"expected one document, got {counts.shape[0]}", hint="Pass X[[0]].")
    if words is not None and len(words) != counts.shape[1]:
        raise InputError(
            f"expected the names of {counts.shape[1]} words, got {len(words)}",
            hint="Pass corpus.vocabulary.words or None.",
        )
    names = words if words is not None else getattr(estimator, "feature_names_in_", None)
    return ExplainRequest(row, counts, names, n_words, n_labels)


def to_one_row(x: Matrix) -> Any:
    row = x if hasattr(x, "ndim") else np.asarray(x)
    if row.ndim != 1:
        return row
    return csr_array(x.reshape(1, -1)) if issparse(x) else np.asarray(row)[None]


def explain(
    request: ExplainRequest, classes: Classes, table: Floats, effective_length: float | None, posterior: Array
) -> Explanation:
    """Return the explanation by a model of words; ``table`` is P(word | class), (words, classes)."""
    counts = request.counts
    is_known = table[counts.indices].max(axis=1, initial=0) > 0
    numbers = shorten_documents(counts, effective_length).data[is_known].astype(np.float64)[:, None]
    words = table[counts.indices[is_known]].astype(np.float64)
    nodes = numbers * np.log(np.maximum(words @ classes.weigh_nodes(), SMALLEST_MIXTURE))
    evidence = numbers * np.log(np.maximum(words, SMALLEST_MIXTURE))
    return _build_explanation(request, classes, is_known, evidence, nodes, posterior)


def explain_by_parts(
    request: ExplainRequest, classes: Classes, is_known: Array, parts: Floats, posterior: Array
) -> Explanation:
    """Return an explanation from the evidence of each known word for each class, (known words, classes).

    The evidence for a node is the mean over the classes at it and below it.
    """
    return _build_explanation(request, classes, is_known, parts, parts @ classes.weigh_nodes(), posterior)


def _build_explanation(
    request: ExplainRequest, classes: Classes, is_known: Array, class_evidence: Floats, nodes: Floats, posterior: Array
) -> Explanation:
    """Return an explanation from the evidence of each word for each class and each node, up to a constant."""
    tree, n_words = classes.tree, request.n_words
    columns, times = request.counts.indices[is_known], request.counts.data[is_known].astype(np.float64)
    names = columns if request.names is None else [request.names[column] for column in columns]
    of_node = node_posterior(tree, classes.class_nodes, posterior[None])[0]

    def reason(name: str, probability: float, evidence: Array) -> Reason:
        """Return the words with the most evidence for and against a class."""
        order = np.argsort(-evidence, kind="stable")
        best = [place for place in order[:n_words] if evidence[place] > 0]
        worst = [place for place in order[::-1][:n_words] if evidence[place] < 0]
        sides = [
            tuple(Evidence(names[place], float(times[place]), float(evidence[place])) for place in places)
            for places in (best, worst)
        ]
        return Reason(name, float(probability), sides[0], sides[1])

    top = np.argsort(-posterior, kind="stable")[: request.n_labels]
    labels = [reason(str(classes.classes[c]), posterior[c], class_evidence[:, c] - nodes[:, tree.root]) for c in top]
    best = int(top[0])
    path = tree.path(classes.class_nodes[best])
    steps = [
        reason(tree.names[child], of_node[child], nodes[:, child] - nodes[:, node]) for node, child in pairwise(path)
    ]
    if np.count_nonzero(tree.path_mask(classes.class_nodes)[:, path[-1]]) > 1:
        steps.append(
            reason(f"{tree.names[path[-1]]} itself", posterior[best], class_evidence[:, best] - nodes[:, path[-1]])
        )
    return Explanation(tuple(labels), tuple(steps), len(columns))


def compute_word_lift(class_word_table: Floats, class_prior: Floats) -> Floats:
    """Return log P(j|α)/P(j), (n_words, n_classes): the evidence of one occurrence of a word for a class."""
    overall_probability = class_word_table @ (class_prior / class_prior.sum())
    lift: Floats = np.log(np.maximum(class_word_table, SMALLEST_MIXTURE))
    lift -= np.log(np.maximum(overall_probability, SMALLEST_MIXTURE)).astype(lift.dtype)[:, None]
    return lift


def find_deciding_words(counts: Csr, lift: Floats, classes: Array, number: int) -> tuple[tuple[int, ...], ...]:
    """Return the words of each document with most evidence n log P(j|class)/P(j) for its class."""
    lengths = np.diff(counts.indptr)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    evidence = counts.data * lift[counts.indices, classes[rows]]
    order = np.lexsort((-evidence, rows))
    place = np.arange(len(rows)) - counts.indptr[rows]
    is_kept = order[(place < number) & (evidence[order] > 0)]
    ends = np.searchsorted(rows[is_kept], np.arange(len(lengths) + 1))
    columns = counts.indices[is_kept].tolist()
    return tuple(tuple(columns[start:stop]) for start, stop in pairwise(ends))
