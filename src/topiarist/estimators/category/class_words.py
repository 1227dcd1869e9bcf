"""The words of classes, from labelled documents and from what is guessed of the others: the generative half.

A document of a class draws its words from that class. Labelled documents say which words those are; a document without
a label lends its words to the classes that a first guess gives it, which is one step of EM from that guess. The words
of a class lean on those of the headings above it, and these on the words of all documents: pseudo-counts, as many at
each level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Csr, Floats
from topiarist.counts.weighting import shortened
from topiarist.hierarchy.tree import Tree

LENGTH = 40.0  # tokens: a longer document weighs as if it had so many
TRUST = 0.25  # what a token's evidence is worth: words of a document repeat each other
LEANING = 200.0  # pseudo-counts from above
SMALLEST = 1e-12


@dataclass(frozen=True)
class ClassWords:
    """log P(word | class) less that of all classes together, so that a word that says nothing is zero."""

    log_lift: Floats  # (n_words, n_classes)

    def __call__(self, counts: Csr) -> Floats:
        """How much the words of documents speak for each class, (n_docs, n_classes); priors are no part of it."""
        found: Floats = TRUST * np.asarray(shortened(counts, LENGTH) @ self.log_lift)
        return found

    def word_parts(self, counts: Csr) -> Floats:
        """What each word of one document adds, (n_words of the document, n_classes)."""
        parts: Floats = TRUST * shortened(counts, LENGTH).data[:, None] * self.log_lift[counts.indices]
        return parts


def class_words(counts: Csr, shares: Floats, tree: Tree, class_nodes: tuple[int, ...]) -> ClassWords:
    """``shares``: how much of each document each class has, (n_docs, n_classes)."""
    table = np.asarray(shortened(counts, LENGTH).T @ shares)  # (n_words, n_classes)
    everywhere = table.sum(axis=1)
    everywhere = everywhere / max(everywhere.sum(), SMALLEST)
    words: dict[int, Floats] = {tree.root: everywhere}
    under = tree.path_mask(class_nodes)  # (n_classes, n_nodes)

    def of_node(node: int) -> Floats:
        if node not in words:
            own = table[:, under[:, node]].sum(axis=1) + LEANING * of_node(tree.parents[node])
            words[node] = own / own.sum()
        return words[node]

    lift = np.empty_like(table)
    for place, node in enumerate(class_nodes):
        above = of_node(tree.parents[node]) if node != tree.root else everywhere
        own = table[:, place] + LEANING * above
        lift[:, place] = own / own.sum()
    known = everywhere > 0
    lift[known] = np.log(np.maximum(lift[known], SMALLEST) / everywhere[known, None])
    lift[~known] = 0.0
    return ClassWords(lift.astype(np.float32))
