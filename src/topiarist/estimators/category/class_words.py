"""The words of classes, from labelled documents and from what is guessed of the others: the generative half.

A document of a class draws its words from that class. Labelled documents say which words those are; a document without
a label lends its words to the classes that a first guess gives it, which is one step of EM from that guess. The words
of a class lean on those of the headings above it, and these on the words of all documents: pseudo-counts, as many at
each level.

Whoever lends words to the class that is guessed finds the guess confirmed by them. So documents are in eight parts, by
their words: one of a part is judged by the words that the others have lent, and so is a new one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr, Floats, Ints
from topiarist.counts.weighting import shortened
from topiarist.hierarchy.tree import Tree

LENGTH = 40.0  # tokens: a longer document weighs as if it had so many
TRUST = 0.25  # what a token's evidence is worth: words of a document repeat each other
LEANING = 200.0  # pseudo-counts from above
SMALLEST = 1e-12
PARTS, FEWEST_PARTS = 8, 2  # of documents
LARGEST = 16e6  # numbers in the tables of all parts: fewer parts where they would be more


@dataclass(frozen=True)
class ClassWords:
    """log P(word | class) less that of all classes together, so that a word that says nothing is zero."""

    log_lift: Floats  # (n_words, n_classes); of the documents of the first part, where there are several
    further: Floats | None = None  # (n_parts - 1, n_words, n_classes), of the others

    def __call__(self, counts: Csr) -> Floats:
        """How much the words of documents speak for each class, (n_docs, n_classes); priors are no part of it."""
        short = shortened(counts, LENGTH)
        found: Floats = np.asarray(short @ self.log_lift)
        if self.further is not None:
            parts = part_of(counts, len(self.further) + 1)
            for part, lift in enumerate(self.further, 1):
                rows = np.flatnonzero(parts == part)
                found[rows] = np.asarray(csr_array(short[rows]) @ lift)
        return TRUST * found

    def word_parts(self, counts: Csr) -> Floats:
        """What each word of one document adds, (n_words of the document, n_classes)."""
        part = 0 if self.further is None else int(part_of(counts, len(self.further) + 1)[0])
        lift = self.log_lift if part == 0 or self.further is None else self.further[part - 1]
        parts: Floats = TRUST * shortened(counts, LENGTH).data[:, None] * lift[counts.indices]
        return parts


def part_of(counts: Csr, n_parts: int = PARTS) -> Ints:
    """The part of each document: by which words it has and how often, so that copies are in the same one."""
    mixed = (counts.indices.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= np.round(1024 * counts.data.astype(np.float64)).astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(31)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed * (counts.data != 0), dtype=np.uint64)])
    rows = sums[counts.indptr[1:]] - sums[counts.indptr[:-1]]
    parts: Ints = ((rows >> np.uint64(33)) % np.uint64(n_parts)).astype(np.int64)
    return parts


def class_words(counts: Csr, shares: Floats, tree: Tree, class_nodes: tuple[int, ...]) -> ClassWords:
    """``shares``: how much of each document each class has, (n_docs, n_classes)."""
    return ClassWords(_log_lift(_table(counts, shares), tree, class_nodes))


def lent_class_words(
    counts: Csr, shares: Floats, lenders: Csr, lent: Floats, tree: Tree, class_nodes: tuple[int, ...]
) -> ClassWords:
    """The same where other documents lend their words, ``lent`` (n_lenders, n_classes) of them."""
    table = _table(counts, shares)
    n_parts = int(np.clip(LARGEST / max(table.size, 1), FEWEST_PARTS, PARTS))
    parts = part_of(lenders, n_parts)
    of_part = [np.flatnonzero(parts == part) for part in range(n_parts)]
    tables = [_table(csr_array(lenders[rows]), lent[rows]) for rows in of_part]
    every = sum(tables[1:], tables[0])
    more = n_parts / (n_parts - 1)  # so that all of them weigh as much as if none was left out
    first, *others = (_log_lift(table + more * (every - own), tree, class_nodes) for own in tables)
    return ClassWords(first, np.stack(others))


def _table(counts: Csr, shares: Floats) -> Floats:
    """How often each class has each word, (n_words, n_classes)."""
    return np.asarray(shortened(counts, LENGTH).T @ shares)


def _log_lift(table: Floats, tree: Tree, class_nodes: tuple[int, ...]) -> Floats:
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
    return lift.astype(np.float32)
