"""Stability of topics: the share of a topic that reappears in trees grown from other halves of the documents.

The stability of a topic is the mean over the other trees of |intersection| / |union| of its documents and those of the
most similar node of the other tree (Jaccard's index, as in cluster-wise stability). With 1 the same documents are
together each time. Topics below one half depend on the randomness of one growth as much as on the collection.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topiarist.arrays import Floats
from topiarist.errors import InputError
from topiarist.metrics.node_matching import align_documents, compute_overlap
from topiarist.metrics.placed_documents import DocumentAssignments

MIN_STABLE, MIN_MIXED = 0.75, 0.5  # minimum stability of the words "steady" and "mixed"
WORDS = ("steady", "mixed", "may be chance")


def compute_stability(tree: DocumentAssignments, others: Sequence[DocumentAssignments]) -> Floats:
    """Return the stability of each node; NaN for the root and for nodes without documents."""
    if not others:
        raise InputError(
            "expected other trees to compare this one with, got none", hint="Pass at least two trees, better five."
        )
    stability: Floats = np.mean([_compute_overlaps(*align_documents(tree, other)) for other in others], axis=0)
    return stability


def _compute_overlaps(tree: DocumentAssignments, other: DocumentAssignments) -> Floats:
    """Return |intersection| / |union| of each node with the most similar node of the other tree."""
    overlap = compute_overlap(tree, other)
    union = overlap.size_a[overlap.rows] + overlap.size_b[overlap.columns] - overlap.both
    overlaps = np.where(overlap.size_a > 0, 0.0, np.nan)
    np.maximum.at(overlaps, overlap.rows, overlap.both / union)
    overlaps[tree.tree.root] = np.nan
    return overlaps


def describe_stability(share: float) -> str:
    """Return the word for a stability."""
    return WORDS[0] if share >= MIN_STABLE else WORDS[1] if share >= MIN_MIXED else WORDS[2]
