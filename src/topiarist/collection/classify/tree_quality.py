"""Quality of the tree of a collection: agreement with labels, quality of words, held-out likelihood."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from topiarist.collection.contents import NodeSummary
from topiarist.collection.describe.statistics import Figures
from topiarist.collection.file.placer import log_likelihood
from topiarist.counts.split import completion_split
from topiarist.estimators.tree.fitted_tree import compute_posterior
from topiarist.metrics.evaluation import Evaluation, evaluate
from topiarist.metrics.placed_documents import DocumentAssignments
from topiarist.metrics.trees import dendrogram_purity
from topiarist.trees.edits import collapse
from topiarist.trees.growth.merges import CHEAP_MERGE_RATIO, MAX_CHILDREN
from topiarist.trees.growth.merges import MIN_CHILDREN as FEWEST_CHILDREN

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

SAMPLE = 5_000  # documents whose words are predicted for the perplexity
MIN_COMMON_SHARE, MAX_WORDS, MIN_WORDS = (
    0.6,
    20,
    5,
)  # two topics are similar if they share this fraction of their first words


def evaluate_tree(collection: Collection) -> Evaluation:
    """Evaluate the current tree; coherence and diversity are measured on the displayed words of topics."""
    labels = collection.documents.labels_of(range(len(collection)))
    figures, is_settled = Figures(collection), not collection.outline.pending
    evaluation = evaluate(
        collection.assignments,
        labels if any(labels) else None,
        coherence=compute_coherence(figures) if is_settled else None,
        diversity=compute_word_diversity(figures)[0] if is_settled and _inner_summaries(figures) else None,
        perplexity=compute_perplexity(collection),
    )
    if evaluation.labelled is None or evaluation.labelled.purity is None:
        return evaluation
    if (grown_documents := _assign_to_large_headings(collection)) is None:
        return evaluation
    rows = [row for row, row_labels in enumerate(labels) if row_labels]
    purity = dendrogram_purity(
        grown_documents.tree, grown_documents.assigned_nodes[rows], [labels[row][0] for row in rows]
    )
    return replace(evaluation, labelled=replace(evaluation.labelled, merged_purity=purity))


def _assign_to_large_headings(collection: Collection) -> DocumentAssignments | None:
    """Return the documents in the tree with its large headings; None without any or with edits below them."""
    outline, model = collection.outline, collection.tree_model
    large = [node for node, topic in enumerate(outline.node_topics) if topic < 0]
    if not large or any(model.tree.is_leaf(node) for node in large):
        return None
    visible = collapse(model.tree, large)
    nodes = [outline.node_of[outline.node_topics[node]] for node in visible.origin]
    parents = tuple(nodes[parent] if parent >= 0 else -1 for parent in visible.tree.parents)
    if sorted(nodes) != list(range(len(outline.tree))) or any(
        outline.tree.parents[node] != parent for node, parent in zip(nodes, parents, strict=True)
    ):
        return None
    return DocumentAssignments(model.tree, model.class_nodes, collection.assignments.shares, collection.assignments.ids)


def compute_perplexity(collection: Collection) -> float | None:
    """Return the perplexity of half of the words of each document, given the other half; None without words."""
    n_docs = len(collection)
    sample = np.sort(np.random.default_rng(0).permutation(n_docs)[:SAMPLE])
    observed, hidden = completion_split(collection.counts[sample], seed=0)
    words = collection.tree_model.class_word_table()
    posteriors = np.ascontiguousarray(compute_posterior(collection.model, observed), words.dtype)
    tokens = np.asarray(hidden.sum(axis=1), np.float64).ravel()
    if not tokens.sum():
        return None
    logs = log_likelihood(hidden, posteriors, words)
    return float(np.exp(-np.nansum(logs * tokens) / tokens.sum()))


def _inner_summaries(figures: Figures) -> list[NodeSummary]:
    nodes = figures.collection.tree.nodes
    return [node for place, node in enumerate(nodes) if place != figures.tree.root and node.words]


def compute_coherence(figures: Figures) -> float | None:
    """Return the mean coherence of the words of topics; None if no topic has words."""
    nodes = _inner_summaries(figures)
    return float(sum(node.coherence for node in nodes) / len(nodes)) if nodes else None


def compute_word_diversity(figures: Figures, n: int = 10) -> tuple[float, int]:
    """Return the share of distinct words among the first ``n`` words of all topics, and their number."""
    words = [word for node in _inner_summaries(figures) for word in node.words[:n]]
    return len(set(words)) / max(len(words), 1), len(words)


@dataclass(frozen=True)
class OddHeadings:
    """Headings with fewer than three children or more than eight, grouped by the reason."""

    pairs: tuple[int, ...]  # headings of two topics
    uninformative: tuple[int, ...]  # headings whose children gain little over the gain of the heading
    others: tuple[int, ...]  # narrow for no known reason, or by user edits
    wide: tuple[int, ...]
    headings: int

    @property
    def sentence(self) -> str:
        """Sentence about odd headings and the reasons; empty without odd headings."""
        narrow = len(self.pairs) + len(self.uninformative) + len(self.others)
        reasons = [
            f"{len(nodes):,} {reason}"
            for nodes, reason in (
                (self.pairs, "hold two topics only"),
                (
                    self.uninformative,
                    f"have subtopics that gain less than {CHEAP_MERGE_RATIO:.0%} of what the heading gains",
                ),
                (self.others, "are as grown or as edited"),
            )
            if nodes
        ]
        clauses = []
        if narrow:
            clauses.append(
                f"{narrow:,} of {self.headings:,} headings have fewer than {FEWEST_CHILDREN} subtopics: "
                f"{', '.join(reasons)}"
            )
        if self.wide:
            clauses.append(f"{len(self.wide):,} have more than {MAX_CHILDREN}")
        return f"{'; '.join(clauses)}." if clauses else ""


def find_odd_headings(figures: Figures) -> OddHeadings:
    """Return the headings with fewer children than three or more than eight, and why."""
    tree, nodes = figures.tree, figures.collection.tree.nodes
    gain = [node.gain for node in nodes]
    narrow = [node for node in sorted(tree.headings) if len(tree.children(node)) < FEWEST_CHILDREN]
    pairs = tuple(node for node in narrow if all(tree.is_leaf(child) for child in tree.children(node)))
    uninformative = tuple(
        node
        for node in narrow
        if node not in pairs and max(gain[child] for child in tree.children(node)) < CHEAP_MERGE_RATIO * gain[node]
    )
    others = tuple(node for node in narrow if node not in pairs and node not in uninformative)
    wide = tuple(node for node in sorted(tree.headings) if len(tree.children(node)) > MAX_CHILDREN)
    return OddHeadings(pairs, uninformative, others, wide, len(tree.headings))


def find_similar_topics(figures: Figures, max_pairs: int) -> list[tuple[int, int, int, int]]:
    """Return pairs of leaves with similar words: words shared, words compared, both nodes; most shared first."""
    nodes, pairs = figures.collection.tree.nodes, []
    sets = {leaf: set(nodes[leaf].words[:MAX_WORDS]) for leaf in figures.tree.leaves}
    for leaf_a, leaf_b in combinations(sets, 2):
        common, n_compared = len(sets[leaf_a] & sets[leaf_b]), min(len(sets[leaf_a]), len(sets[leaf_b]))
        if n_compared >= MIN_WORDS and common >= MIN_COMMON_SHARE * n_compared:
            pairs.append((common, n_compared, leaf_a, leaf_b))
    return sorted(pairs, key=lambda pair: (-pair[0], pair[2:]))[:max_pairs]
