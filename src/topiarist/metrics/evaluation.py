"""Evaluation of a tree, against the labels of its documents and without labels.

``topiarist evaluate FOLDER`` prints ``Evaluation.lines``. The definitions are in docs/reference/metrics.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score, homogeneity_completeness_v_measure

from topiarist.arrays import Csr, Floats, Integers
from topiarist.errors import InputError
from topiarist.metrics.label_agreement import example_f1
from topiarist.metrics.placed_documents import MIN_CERTAINTY, DocumentAssignments, find_unassigned
from topiarist.metrics.topic_quality import npmi_coherence, topic_diversity
from topiarist.metrics.trees import BestNode, best_nodes, dendrogram_purity
from topiarist.trees.tree import Tree
from topiarist.trees.tree_text import to_printable

TOP_N = 10  # words of a topic for coherence and diversity
STEP = " ▸ "


@dataclass(frozen=True, kw_only=True)
class LabelEvaluation:
    """Agreement of a tree with given labels.

    ``nmi``, ``rand``, ``homogeneity``, ``completeness`` and ``purity`` compare with the first label of each document.
    They are None without two different labels, or without two documents of one label. ``best`` has the best node of
    each label, the most frequent label first. ``example_f1``, for documents with several labels, is that of assigning
    each document the labels whose best node is above it. ``merged_purity`` is the dendrogram purity with the headings
    above the first level, which a collection does not show.
    """

    n_docs: int
    n_labels: int
    nmi: float | None
    rand: float | None
    homogeneity: float | None
    completeness: float | None
    purity: float | None  # dendrogram purity
    merged_purity: float | None = None
    f1_macro: float
    f1_weighted: float
    example_f1: float | None
    best: dict[str, BestNode]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Figures of a tree; None for figures without the necessary data.

    ``hard_to_place`` is the share of documents of which no class has more than half. ``labelled`` compares with labels.
    """

    tree: Tree
    n_docs: int
    n_leaves: int
    depth: int
    hard_to_place: float
    perplexity: float | None  # of training documents
    coherence: float | None
    diversity: float | None
    labelled: LabelEvaluation | None

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation as JSON data."""
        names = ("n_docs", "n_leaves", "depth", "hard_to_place", "coherence", "diversity")
        result: dict[str, Any] = {name: getattr(self, name) for name in names}
        finite = np.isfinite(self.perplexity or 0.0)  # JSON has no infinity
        result["n_headings"] = len(self.tree.headings)
        result["perplexity_of_seen_documents"] = self.perplexity if finite else None
        if self.labelled is None:
            return result | {"labelled": None}
        best = [
            {"label": label, **asdict(node), "path": list(self.tree.path_names(node.node))}
            for label, node in self.labelled.best.items()
        ]
        figures = {name: value for name, value in vars(self.labelled).items() if name != "best"}
        return result | {"labelled": figures | {"best": best}}

    def lines(self, n: int = 10) -> list[str]:
        """The figures as text for a terminal, with the best nodes of the ``n`` most frequent labels."""
        return list(_format_lines(self, n))


def evaluate(
    assignments: DocumentAssignments,
    labels: Sequence[Sequence[str]] | None = None,
    *,
    counts: Csr | None = None,
    word_given_node: Floats | None = None,
    perplexity: float | None = None,
    coherence: float | None = None,
    diversity: float | None = None,
    min_certainty: float = MIN_CERTAINTY,
) -> Evaluation:
    """Evaluate a tree. ``labels`` are those of each document, an empty tuple for a document without labels.

    ``perplexity``, ``coherence`` and ``diversity`` are copied. The last two are otherwise computed for the nodes below
    the root from ``word_given_node`` (nodes × words), coherence in the documents of ``counts``. A document is
    unassigned if no class has more than ``min_certainty`` of it.
    """
    topics = None if word_given_node is None else _select_topics(assignments.tree, word_given_node)
    if coherence is None and topics is not None and counts is not None:
        coherence = float(npmi_coherence(topics, counts, top_n=TOP_N).mean())
    if diversity is None and topics is not None:
        diversity = topic_diversity(topics, top_n=TOP_N)
    return Evaluation(
        tree=assignments.tree,
        n_docs=assignments.n_docs,
        n_leaves=len(assignments.tree.leaves),
        depth=assignments.tree.depth,
        hard_to_place=float(np.mean(find_unassigned(assignments.shares, min_certainty))) if assignments.n_docs else 0.0,
        perplexity=perplexity,
        coherence=coherence,
        diversity=diversity,
        labelled=None if labels is None else evaluate_labels(assignments, labels),
    )


def _select_topics(tree: Tree, word_given_node: Floats) -> Any:
    words = np.asarray(word_given_node)
    if words.ndim != 2 or len(words) != len(tree):
        raise InputError(f"expected words for each of {len(tree)} nodes, got an array of shape {words.shape}")
    return words if len(tree) == 1 else np.delete(words, tree.root, axis=0)


def evaluate_labels(assignments: DocumentAssignments, labels: Sequence[Sequence[str]]) -> LabelEvaluation | None:
    """Compare with labels; return None if no document has any. Documents without labels are excluded."""
    if len(labels) != assignments.n_docs:
        raise InputError(f"expected the labels of each of {assignments.n_docs} documents, got {len(labels)}")
    rows = [row for row, labels_of_document in enumerate(labels) if labels_of_document]
    if not rows:
        return None
    sets = [
        (labels_of_document,) if isinstance(labels_of_document, str) else tuple(labels_of_document)
        for labels_of_document in (labels[row] for row in rows)
    ]
    nodes, first = assignments.assigned_nodes[rows], [labels_of_document[0] for labels_of_document in sets]
    agreement: dict[str, float | None] = dict.fromkeys(("nmi", "rand", "homogeneity", "completeness"))
    if len(set(first)) > 1:
        homogeneity, completeness, nmi = map(float, homogeneity_completeness_v_measure(first, nodes))
        agreement = {"nmi": nmi, "homogeneity": homogeneity, "completeness": completeness}
        agreement["rand"] = float(adjusted_rand_score(first, nodes))
    has_pairs = max(Counter(first).values()) > 1
    node_of_label = best_nodes(assignments.tree, nodes, sets)
    best = {
        label: node_of_label[label]
        for label in sorted(node_of_label, key=lambda label: (-node_of_label[label].size, label))
    }
    sizes = [node.size for node in best.values()]
    f1 = [node.f1 for node in best.values()]
    return LabelEvaluation(
        n_docs=len(rows),
        n_labels=len(best),
        **agreement,
        purity=dendrogram_purity(assignments.tree, nodes, first) if has_pairs else None,
        f1_macro=float(np.mean(f1)),
        f1_weighted=float(np.average(f1, weights=sizes)),
        example_f1=_compute_example_f1(assignments.tree, nodes, sets, best)
        if any(len(set(labels_of_document)) > 1 for labels_of_document in sets)
        else None,
        best=best,
    )


def _compute_example_f1(
    tree: Tree, nodes: Integers, sets: Sequence[tuple[str, ...]], best: dict[str, BestNode]
) -> float:
    """Return ``example_f1`` if each document is assigned the labels whose best node is at or above its node."""
    columns = {label: column for column, label in enumerate(best)}
    at_node: list[list[int]] = [[] for _ in range(len(tree))]
    for label, best_node in best.items():
        at_node[best_node.node].append(columns[label])
    predicted: list[list[int]] = [[] for _ in range(len(tree))]
    for node in tree.depth_first():
        predicted[node] = at_node[node] + (predicted[tree.parents[node]] if tree.parents[node] >= 0 else [])
    labels_true = [sorted({columns[label] for label in labels}) for labels in sets]
    labels_pred = [predicted[node] for node in nodes.tolist()]
    return example_f1(_make_indicator(labels_true, len(best)), _make_indicator(labels_pred, len(best)))


def _make_indicator(columns: Sequence[Sequence[int]], n_columns: int) -> Any:
    starts = np.cumsum([0, *map(len, columns)])
    entries = np.array([column for row in columns for column in row], np.int64)
    return csr_array((np.ones(len(entries)), entries, starts), shape=(len(columns), n_columns))


def _format_lines(evaluation: Evaluation, n: int) -> Iterator[str]:
    """Yield the lines of the printed evaluation, with at most ``n`` labels."""
    numbers = {"document": evaluation.n_docs, "topic": evaluation.n_leaves, "heading": len(evaluation.tree.headings)}
    counts = [f"{number:,} {noun}{'s' * (number != 1)}" for noun, number in numbers.items()]
    yield " · ".join([*counts, f"depth {evaluation.depth}"])
    yield ""
    yield f"hard to place      {evaluation.hard_to_place:9.1%}"
    if evaluation.perplexity is not None:
        yield f"perplexity (seen)  {evaluation.perplexity:9,.0f}"
    yield from _format_figures({"coherence (NPMI)": evaluation.coherence, "word diversity": evaluation.diversity})
    if evaluation.labelled is not None:
        yield from _format_label_lines(evaluation.tree, evaluation.labelled, n)


def _format_label_lines(tree: Tree, evaluation: LabelEvaluation, n: int) -> Iterator[str]:
    """Yield the lines on the agreement with labels, with the best node of at most ``n`` labels."""
    yield ""
    labels = "1 label" if evaluation.n_labels == 1 else f"{evaluation.n_labels:,} labels"
    yield f"against {labels} of {evaluation.n_docs:,} document{'' if evaluation.n_docs == 1 else 's'}"
    yield from _format_figures(
        {
            "NMI": evaluation.nmi,
            "adjusted Rand": evaluation.rand,
            "homogeneity": evaluation.homogeneity,
            "completeness": evaluation.completeness,
            "dendrogram purity": evaluation.purity,
            "… of all merges": evaluation.merged_purity,
            "F, weighted": evaluation.f1_weighted,
            "F, macro": evaluation.f1_macro,
            "F of label sets": evaluation.example_f1,
        }
    )
    yield ""
    yield "    F  precision  recall  documents  label  →  best node"
    for label, node in list(evaluation.best.items())[:n]:
        path = STEP.join(tree.names[step] for step in tree.path(node.node)[1:]) or tree.names[tree.root] or "(root)"
        figures = f"{node.f1:5.3f}  {node.precision:9.3f}  {node.recall:6.3f}  {node.size:9,}"
        yield f"{figures}  {to_printable(label)}  →  {to_printable(path)}"
    if len(evaluation.best) > n:
        yield f"… and {len(evaluation.best) - n:,} more"


def _format_figures(figures: Mapping[str, float | None]) -> Iterator[str]:
    return (f"{name:<18} {value:9.3f}" for name, value in figures.items() if value is not None)
