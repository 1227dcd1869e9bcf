"""Why a document is filed where it is: words as evidence, for each label and for each step down the tree.

A word *j* that occurs n times speaks for a class α with n log P(j|α)/P(j), P(j) being that of all classes together:
positive where the class uses the word more than others do. A node stands for the classes at it and below it, P(j|node)
being their mean. Going down from a node to a child the word speaks with n log P(j|child)/P(j|node). A class with others
below it has one step more, n log P(j|α)/P(j|node): staying at the node. The steps of a path add up to what the word
says for the class at its end. Where the model reads a long document as if it had fewer tokens, so does this: n is then
that smaller number.

``Explanation`` says it of one document and a categoriser, ``deciding_words`` of many documents and any model with
classes, ``Evidence`` of the labels of ``PMM``, where words have parts in a decision about each label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from topiarist.counts.validation import Csr
from topiarist.counts.weighting import shortened
from topiarist.errors import InputError, UsageError
from topiarist.hierarchy.levels import node_posterior
from topiarist.hierarchy.tree import Tree
from topiarist.kernels.ratios import SMALLEST_MIXTURE
from topiarist.models import greedy, label_shares
from topiarist.models.engine.host import Engine, Floats

Array = np.ndarray[Any, Any]
SMALLEST = 1e-30


class WordEvidence(NamedTuple):
    """A word of the document, how often it occurs, and how much it speaks for something, in nats."""

    word: Any
    times: float
    weight: float


@dataclass(frozen=True)
class Reason:
    """A label, or a step down to a node: how probable it is, and the words for it and against it."""

    name: str
    probability: float
    for_it: tuple[WordEvidence, ...]
    against: tuple[WordEvidence, ...]

    def __str__(self) -> str:
        def told(words: tuple[WordEvidence, ...]) -> str:
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


def one_row(x: Any) -> Any:
    """A document as a matrix of one row, given as that, as a row of a matrix or as a list."""
    row = x if hasattr(x, "ndim") else np.asarray(x)
    if row.ndim != 1:
        return row
    return csr_array(x.reshape(1, -1)) if issparse(x) else np.asarray(row)[None]  # type: ignore[attr-defined]


def check_names(words: Any, n_words: int) -> None:
    """A name for each column, where there are any."""
    if words is not None and len(words) != n_words:
        raise InputError(
            f"expected the names of {n_words} words, got {len(words)}", hint="corpus.vocabulary.words, or None"
        )


def explained(view: View, counts: Any, posterior: Array, n_words: int, n_labels: int) -> Explanation:
    """The explanation of one document."""
    known = view.class_word_table[counts.indices].max(axis=1, initial=0) > 0
    columns, times = counts.indices[known], counts.data[known].astype(np.float64)
    numbers = shortened(counts, view.effective_length).data[known].astype(np.float64)
    table = view.class_word_table[columns].astype(np.float64)
    under = view.tree.path_mask(view.class_nodes) * view.class_prior[:, None]
    weights = under / np.maximum(under.sum(axis=0), SMALLEST)
    logs = np.log(np.maximum(table @ weights, SMALLEST))  # (words of the document, nodes)
    names = columns if view.words is None else [view.words[column] for column in columns]
    nodes = node_posterior(view.tree, view.class_nodes, posterior[None])[0]

    def reason(name: str, probability: float, evidence: Array) -> Reason:
        order = np.argsort(-evidence, kind="stable")
        best = [place for place in order[:n_words] if evidence[place] > 0]
        worst = [place for place in order[::-1][:n_words] if evidence[place] < 0]
        told = [
            tuple(WordEvidence(names[place], float(times[place]), float(evidence[place])) for place in places)
            for places in (best, worst)
        ]
        return Reason(name, float(probability), told[0], told[1])

    own = np.log(np.maximum(table, SMALLEST))
    top = np.argsort(-posterior, kind="stable")[:n_labels]
    labels = [reason(str(view.classes[c]), posterior[c], numbers * (own[:, c] - logs[:, view.tree.root])) for c in top]
    best = int(top[0])
    path = view.tree.path(view.class_nodes[best])
    steps = [
        reason(view.tree.names[child], nodes[child], numbers * (logs[:, child] - logs[:, node]))
        for node, child in pairwise(path)
    ]
    if np.count_nonzero(under[:, path[-1]]) > 1:
        staying = numbers * (own[:, best] - logs[:, path[-1]])
        steps.append(reason(f"{view.tree.names[path[-1]]} itself", posterior[best], staying))
    return Explanation(tuple(labels), tuple(steps), int(known.sum()))


@dataclass(frozen=True)
class Evidence:
    """Why a document has a label, or has not: words and what each adds, the most first."""

    label: Any
    predicted: bool
    total: float  # the parts of all words of the document together
    words: Any  # names of the columns where they are known, else their numbers
    parts: Floats

    def __str__(self) -> str:
        told = ", ".join(f"{word} {part:+.3g}" for word, part in zip(self.words[:10], self.parts[:10], strict=True))
        return f"{self.label} ({'predicted' if self.predicted else 'not predicted'}, {self.total:+.3g}): {told}"


def evidence(estimator: Any, engine: Engine, counts: Any, labels: Any, n_words: int | None) -> list[Evidence]:
    """For ``PMM.explain``: the parts of each word in the decision about each label."""
    mixture, classes = estimator._mixture, estimator.classes_
    words, x = counts.indices, counts.data.astype(np.float64)
    share = None
    if len(estimator._without_known_words(counts)):  # the prior's answer, which no word has a part in
        words, x, ranks, gains = words[:0], x[:0], np.zeros(len(classes), int), np.zeros(len(classes))
        chosen = np.array([estimator.label_prior_.argmax()])
    elif estimator._form == "single":  # every label against the best of the others
        ranks, gains = np.zeros(len(classes), int), greedy.label_likelihoods(engine, mixture, counts)[0]
        chosen = np.array([gains.argmax()])
    elif estimator.label_threshold_ is None:
        ranks, gains = (rows[0] for rows in greedy.label_gains(engine, mixture, counts))
        chosen = np.flatnonzero(ranks)[np.argsort(ranks[np.flatnonzero(ranks)])]
    else:
        share = label_shares.shares(engine, mixture.by_word, counts)[0]
        gains = label_shares.margins(share[None], estimator.label_threshold_)[0]
        ranks, chosen = gains > 0, np.flatnonzero(gains > 0)
        chosen = chosen[np.argsort(-gains[chosen])]
    names = getattr(estimator, "feature_names_in_", None)
    told = []
    for label in chosen if labels is None else _numbers(labels, classes):
        if share is None:
            parts = greedy.contributions(mixture, words, x, ranks, gains, int(label))
        else:
            parts = label_shares.word_shares(mixture.by_word, words, x, share, int(label))
        order = np.argsort(-parts, kind="stable")[:n_words]
        shown = words[order] if names is None else names[words[order]]
        total = float(parts.sum())
        told.append(Evidence(classes[label], bool(label in chosen), total, shown, parts[order]))
    return told


def _numbers(labels: Any, classes: Any) -> list[int]:
    wanted = [labels] if isinstance(labels, str) or np.ndim(labels) == 0 else list(labels)
    places = {name: number for number, name in enumerate(classes.tolist())}
    unknown = [name for name in wanted if name not in places]
    if unknown:
        raise UsageError(f"there is no label {unknown[0]!r}", hint=f"one of {', '.join(map(str, classes[:10]))}")
    return [places[name] for name in wanted]


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
