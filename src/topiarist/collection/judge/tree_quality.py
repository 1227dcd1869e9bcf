"""How good the tree of a collection is: by the labels of its documents, by its words, by words that it had to guess."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from topiarist.collection.describe.figures import Figures
from topiarist.collection.describe.nodes import NodeSummary
from topiarist.collection.file.placer import log_likelihood
from topiarist.counts.split import completion_split
from topiarist.estimators.tree.fitted_tree import posterior
from topiarist.hierarchy.growth.merges import FEWEST as FEWEST_CHILDREN
from topiarist.hierarchy.growth.merges import INSISTED, MOST
from topiarist.measures.evaluation import Evaluation, evaluate

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

SAMPLE = 5_000  # documents whose words are guessed
SHARED, LOOKED_AT, FEWEST = 0.6, 20, 5  # of their first words, of how many, of how few: two topics are alike


def judged(collection: Collection) -> Evaluation:
    """Everything that can be said of the tree as it is; coherence and diversity of the words that topics show."""
    labels = collection.documents.labels_of(range(len(collection)))
    figures, settled = Figures(collection), not collection.outline.pending
    return evaluate(
        collection.placed,
        labels if any(labels) else None,
        coherence=mean_coherence(figures) if settled else None,
        diversity=word_diversity(figures)[0] if settled and _below(figures) else None,
        perplexity=perplexity(collection),
    )


def perplexity(collection: Collection) -> float | None:
    """By document completion: half of the words of each document place it, the other half are guessed.

    The model has seen these documents; what it makes of others is in the curve by which its leaves were chosen.
    """
    n_docs = len(collection)
    chosen = np.sort(np.random.default_rng(0).permutation(n_docs)[:SAMPLE])
    observed, hidden = completion_split(collection.counts[chosen], seed=0)
    words = collection.tree_model.class_word_table()
    rows = np.ascontiguousarray(posterior(collection.model, observed), words.dtype)
    tokens = np.asarray(hidden.sum(axis=1), np.float64).ravel()
    if not tokens.sum():
        return None
    logs = log_likelihood(hidden, rows, words)
    return float(np.exp(-np.nansum(logs * tokens) / tokens.sum()))


def _below(figures: Figures) -> list[NodeSummary]:
    """The topics below the root that have words."""
    nodes = figures.collection.tree.nodes
    return [node for place, node in enumerate(nodes) if place != figures.tree.root and node.words]


def mean_coherence(figures: Figures) -> float | None:
    """How far the words of topics hang together, on average; None where no topic has words."""
    nodes = _below(figures)
    return float(sum(node.coherence for node in nodes) / len(nodes)) if nodes else None


def word_diversity(figures: Figures, n: int = 10) -> tuple[float, int]:
    """The share of different words among the first words of all topics, and how many these are."""
    words = [word for node in _below(figures) for word in node.words[:n]]
    return len(set(words)) / max(len(words), 1), len(words)


@dataclass(frozen=True)
class OddHeadings:
    """Headings with fewer than three children or more than eight, by why that is so."""

    pairs: tuple[int, ...]  # that hold two last topics and no more
    insisted: tuple[int, ...]  # whose children tell little when they are opened, beside what parts them
    others: tuple[int, ...]  # as they grew, or as people shaped them
    wide: tuple[int, ...]
    headings: int

    @property
    def sentence(self) -> str:
        """What is odd, and why; nothing where nothing is."""
        narrow = len(self.pairs) + len(self.insisted) + len(self.others)
        reasons = [
            f"{len(nodes):,} {why}"
            for nodes, why in (
                (self.pairs, "hold two last topics and no more"),
                (self.insisted, f"would tell less than {INSISTED:.0%} of what parts them if either were opened"),
                (self.others, "are as they grew or were shaped"),
            )
            if nodes
        ]
        said = []
        if narrow:
            said.append(
                f"{narrow:,} of {self.headings:,} headings have fewer than {FEWEST_CHILDREN} subtopics: "
                f"{', '.join(reasons)}"
            )
        if self.wide:
            said.append(f"{len(self.wide):,} have more than {MOST}")
        return f"{'; '.join(said)}." if said else ""


def odd_headings(figures: Figures) -> OddHeadings:
    """Headings with fewer children than three or more than eight, and why."""
    tree, nodes = figures.tree, figures.collection.tree.nodes
    gain = [node.gain for node in nodes]
    inner = [node for node in range(len(tree)) if tree.children(node)]
    narrow = [node for node in inner if len(tree.children(node)) < FEWEST_CHILDREN]
    pairs = tuple(node for node in narrow if all(tree.is_leaf(child) for child in tree.children(node)))
    insisted = tuple(
        node
        for node in narrow
        if node not in pairs and max(gain[child] for child in tree.children(node)) < INSISTED * gain[node]
    )
    others = tuple(node for node in narrow if node not in pairs and node not in insisted)
    wide = tuple(node for node in inner if len(tree.children(node)) > MOST)
    return OddHeadings(pairs, insisted, others, wide, len(inner))


def alike_topics(figures: Figures, most: int) -> list[tuple[int, int, int, int]]:
    """Pairs of last topics whose words are much the same: how many they share, of how many, and the two nodes.

    Those that share most come first.
    """
    nodes, found = figures.collection.tree.nodes, []
    sets = {leaf: set(nodes[leaf].words[:LOOKED_AT]) for leaf in figures.tree.leaves}
    for one, two in combinations(sets, 2):
        common, of = len(sets[one] & sets[two]), min(len(sets[one]), len(sets[two]))
        if of >= FEWEST and common >= SHARED * of:
            found.append((common, of, one, two))
    return sorted(found, key=lambda pair: (-pair[0], pair[2:]))[:most]
