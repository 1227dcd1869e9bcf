"""What a split would make of a topic, before it is made: the parts that its documents begin in, by words and documents.

The documents are dealt out as a fit of the split tree begins (``refit_start``); the fit may move some of them after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array
from topiarist.collection.shape.refit_start import LEAST_SHARE, SEED
from topiarist.errors import UsageError
from topiarist.estimators.tree.preparation import document_vectors
from topiarist.hierarchy.growth.start import dealt
from topiarist.hierarchy.tree import Tree

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

WORDS, DOCUMENTS = 8, 3  # that a part is shown by
SAMPLED = 1_500  # documents that are dealt out; of more, as many that are spread evenly: a page does not wait
SMOOTH = 0.5  # of a word in a part that does not have it


@dataclass(frozen=True)
class SplitPart:
    """One of the topics that a split would make: words that set it apart from the others, and typical documents."""

    words: tuple[str, ...]
    documents: int
    rows: tuple[int, ...]  # of documents, the most typical first
    sampled: int = 0  # documents of the topic that it was estimated from; 0: all of them


def split_parts(collection: Collection, topic: int, into: int) -> tuple[SplitPart, ...]:
    """The parts that a last topic would begin with, the largest first."""
    outline = collection.outline
    node = outline.node(topic)
    if not outline.tree.is_leaf(node):
        raise UsageError(f"{outline.name(topic)!r} has subtopics already", hint="one of these")
    classes = [number for number, home in enumerate(outline.class_nodes) if home == node]
    shares = np.asarray(collection.shares[:, classes].sum(axis=1)).ravel() if classes else np.zeros(len(collection))
    documents = np.flatnonzero(shares >= LEAST_SHARE)
    if len(documents) < into:
        raise UsageError(f"{len(documents)} documents cannot be parted into {into}", hint="fewer parts")
    every, documents = documents, spread_evenly(documents)
    counts = csr_array(collection.counts[documents])
    own = csr_array(counts[:, np.unique(counts.indices)])  # words that no document here has turn no vector
    under = dealt(Tree((-1, *[0] * into)), document_vectors(own, SEED), np.random.default_rng(SEED))
    groups = sorted((under[part] for part in range(1, into + 1)), key=len, reverse=True)
    said = np.array([np.asarray(counts[group].sum(axis=0)).ravel() for group in groups], np.float64) + SMOOTH
    words, general = collection.counting.vocabulary.words, _general(collection)
    sampled = 0 if len(documents) == len(every) else len(documents)
    scale = float(shares[every].sum()) / max(float(shares[documents].sum()), 1e-300)
    said[:, [column for column, word in enumerate(words) if word in general]] = SMOOTH
    return tuple(
        replace(
            _part(said, place, words, counts, documents, group, scale * float(shares[documents[group]].sum())),
            sampled=sampled,
        )
        for place, group in enumerate(groups)
    )


def spread_evenly(documents: Array, most: int = SAMPLED) -> Array:
    """Some of many documents, at even distances."""
    if len(documents) <= most:
        return documents
    return documents[np.linspace(0, len(documents) - 1, most).astype(np.int64)]


def _general(collection: Collection) -> frozenset[str]:
    """Words of the whole collection: they set no part apart."""
    root = collection.tree.nodes[collection.outline.tree.root]
    return frozenset((*root.words, *collection.counting.general))


def _part(
    said: Array, place: int, words: Sequence[str], counts: csr_array, documents: Array, group: Array, size: float
) -> SplitPart:
    """A part by the words that it has more of than the others."""
    own, others = said[place] / said[place].sum(), np.delete(said, place, axis=0).sum(axis=0)
    more = np.log(own / (others / others.sum()))
    best = np.argsort(-own * more, kind="stable")[:WORDS]
    some = counts[group]
    lengths = np.maximum(np.asarray(some.sum(axis=1)).ravel(), 1)
    typical = np.argsort(-(some @ np.maximum(more, 0.0)) / (lengths + 20), kind="stable")[:DOCUMENTS]
    return SplitPart(
        tuple(words[column] for column in best.tolist() if more[column] > 0),
        round(size),
        tuple(documents[group[typical]].tolist()),
    )
