"""How steady is a topic? How much of it comes back when trees are grown anew from other halves of the documents.

The share of a topic is the mean over the other trees of |both| / |either|, of its documents and those of the node of
the other tree that is most like it (Jaccard's index, as in cluster-wise stability). 1: the same documents are together
each time. What comes back less than half belongs to the chance of one growth as much as to the collection.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topiarist.arrays import Floats
from topiarist.errors import InputError
from topiarist.measures.node_matching import aligned, overlap_of
from topiarist.measures.placed_documents import Placed

STEADY, MIXED = 0.75, 0.5  # of the share: from here on a topic is steady, and mixed; below it may be chance
WORDS = ("steady", "mixed", "may be chance")


def steadiness(tree: Placed, others: Sequence[Placed]) -> Floats:
    """The share of each node that comes back in the other trees; NaN for the root and for nodes without documents."""
    if not others:
        raise InputError("expected other trees to compare this one with, got none", hint="two at least, better five")
    found: Floats = np.mean([_come_back(*aligned(tree, other)) for other in others], axis=0)
    return found


def _come_back(tree: Placed, other: Placed) -> Floats:
    """|both| / |either| of each node with the node of the other tree that is most like it."""
    overlap = overlap_of(tree, other)
    either = overlap.size_a[overlap.rows] + overlap.size_b[overlap.columns] - overlap.both
    found = np.where(overlap.size_a > 0, 0.0, np.nan)
    np.maximum.at(found, overlap.rows, overlap.both / either)
    found[tree.tree.root] = np.nan
    return found


def in_words(share: float) -> str:
    """What a share says."""
    return WORDS[0] if share >= STEADY else WORDS[1] if share >= MIXED else WORDS[2]
