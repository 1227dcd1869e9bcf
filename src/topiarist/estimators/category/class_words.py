"""Words of classes, from labelled documents and from guessed classes of unlabelled ones.

Labelled documents give the words of their classes. An unlabelled document adds its words to the classes of a first
guess, which is one step of EM. Words of a class have a prior from the headings above it, and these from all documents.

A document that added words to a guessed class would confirm the guess. So unlabelled documents are dealt into eight
parts by their words. A document of a part is scored with the words that the other parts added. New documents are
treated in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr, Floats, Ints
from topiarist.counts.weighting import shorten_documents
from topiarist.trees.tree import Tree

EFFECTIVE_LENGTH = 40.0  # tokens: a longer document weighs as if it had so many
TOKEN_WEIGHT = 0.25  # what a token's evidence is worth: words of a document repeat each other
PRIOR_TOKENS = 200.0  # pseudo-counts from above
MIN_SHARE = 1e-12  # of a word, so that its logarithm is finite
PARTS, MIN_PARTS = 8, 2  # of documents
MAX_NUMBERS = 16e6  # numbers in the tables of all parts: fewer parts where they would be more


@dataclass(frozen=True)
class ClassWords:
    """Log-ratio of P(word | class) to P(word) of all classes; zero for a word without information."""

    log_lift: Floats  # (n_words, n_classes); of the documents of the first part, where there are several
    other_lifts: Floats | None = None  # (n_parts - 1, n_words, n_classes), of the others

    def __call__(self, counts: Csr) -> Floats:
        """Return the evidence of the words for each class, (n_docs, n_classes), without priors."""
        short = shorten_documents(counts, EFFECTIVE_LENGTH)
        scores: Floats = np.asarray(short @ self.log_lift)
        if self.other_lifts is not None:
            parts = assign_parts(counts, len(self.other_lifts) + 1)
            for part, lift in enumerate(self.other_lifts, 1):
                rows = np.flatnonzero(parts == part)
                scores[rows] = np.asarray(csr_array(short[rows]) @ lift)
        return TOKEN_WEIGHT * scores

    def word_parts(self, counts: Csr) -> Floats:
        """Return the evidence of each word of one document, (n_words of the document, n_classes)."""
        part = 0 if self.other_lifts is None else int(assign_parts(counts, len(self.other_lifts) + 1)[0])
        lift = self.log_lift if part == 0 or self.other_lifts is None else self.other_lifts[part - 1]
        parts: Floats = TOKEN_WEIGHT * shorten_documents(counts, EFFECTIVE_LENGTH).data[:, None] * lift[counts.indices]
        return parts


def assign_parts(counts: Csr, n_parts: int = PARTS) -> Ints:
    """Return the part of each document by its words and their counts, so that duplicates are in the same part."""
    mixed = (counts.indices.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= np.round(1024 * counts.data.astype(np.float64)).astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(31)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed * (counts.data != 0), dtype=np.uint64)])
    rows = sums[counts.indptr[1:]] - sums[counts.indptr[:-1]]
    parts: Ints = ((rows >> np.uint64(33)) % np.uint64(n_parts)).astype(np.int64)
    return parts


def fit_class_words(counts: Csr, shares: Floats, tree: Tree, class_nodes: tuple[int, ...]) -> ClassWords:
    """Return the words of classes; ``shares`` are the class shares of documents, (n_docs, n_classes)."""
    return ClassWords(_compute_log_lift(_count_words(counts, shares), tree, class_nodes))


def learn_from_unlabelled(
    counts: Csr, shares: Floats, unlabelled: Csr, lent_shares: Floats, tree: Tree, class_nodes: tuple[int, ...]
) -> ClassWords:
    """Return the words of classes with unlabelled documents, which have the class shares ``lent_shares``."""
    table = _count_words(counts, shares)
    n_parts = int(np.clip(MAX_NUMBERS / max(table.size, 1), MIN_PARTS, PARTS))
    parts = assign_parts(unlabelled, n_parts)
    of_part = [np.flatnonzero(parts == part) for part in range(n_parts)]
    tables = [_count_words(csr_array(unlabelled[rows]), lent_shares[rows]) for rows in of_part]
    total = sum(tables[1:], tables[0])
    scale = n_parts / (n_parts - 1)  # so that all of them weigh as much as if none was left out
    first, *others = (
        _compute_log_lift(table + scale * (total - part_table), tree, class_nodes) for part_table in tables
    )
    return ClassWords(first, np.stack(others))


def _count_words(counts: Csr, shares: Floats) -> Floats:
    return np.asarray(shorten_documents(counts, EFFECTIVE_LENGTH).T @ shares)


def _compute_log_lift(table: Floats, tree: Tree, class_nodes: tuple[int, ...]) -> Floats:
    """Return the log-ratio of each word's share in a class to its share overall."""
    overall_shares = table.sum(axis=1)
    overall_shares = overall_shares / max(overall_shares.sum(), MIN_SHARE)
    words: dict[int, Floats] = {tree.root: overall_shares}
    under = tree.path_mask(class_nodes)  # (n_classes, n_nodes)

    def find_node_words(node: int) -> Floats:
        if node not in words:
            word_counts = table[:, under[:, node]].sum(axis=1) + PRIOR_TOKENS * find_node_words(tree.parents[node])
            words[node] = word_counts / word_counts.sum()
        return words[node]

    lift = np.empty_like(table)
    for place, node in enumerate(class_nodes):
        parent_words = find_node_words(tree.parents[node]) if node != tree.root else overall_shares
        word_counts = table[:, place] + PRIOR_TOKENS * parent_words
        lift[:, place] = word_counts / word_counts.sum()
    is_known = overall_shares > 0
    lift[is_known] = np.log(np.maximum(lift[is_known], MIN_SHARE) / overall_shares[is_known, None])
    lift[~is_known] = 0.0
    return lift.astype(np.float32)
