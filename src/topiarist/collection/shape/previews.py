"""Previews of edits: topics before and after, and the parts that a split would create."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array
from topiarist.collection.collection import Collection
from topiarist.collection.shape.refit import MIN_SHARE, SEED
from topiarist.collection.shape.tree_state import TreeState
from topiarist.counts.validation import sum_columns
from topiarist.errors import UsageError
from topiarist.estimators.tree.preparation import compute_document_vectors
from topiarist.trees.growth.start import distribute_documents
from topiarist.trees.tree import Tree

MIN_CHANGE, MIN_SHARE_CHANGE = 1.0, 0.01  # documents, and share of the size; smaller changes are not shown


class TopicSnapshot(NamedTuple):
    """Name, place and size of a topic in one state."""

    name: str
    path: str
    parent: int
    documents: float
    named: bool  # by a person


TreeSnapshot = dict[int, TopicSnapshot]


@dataclass(frozen=True)
class TopicChange:
    """Topic before and after an edit; None if it does not exist."""

    topic: int
    before: TopicSnapshot | None
    after: TopicSnapshot | None

    @property
    def size(self) -> float:
        return abs((self.after.documents if self.after else 0.0) - (self.before.documents if self.before else 0.0))

    @property
    def is_negligible(self) -> bool:
        """Return whether name and place are unchanged and the size nearly so."""
        return (
            self._keeps_place_and_size
            and self.before is not None
            and self.before.name == (self.after or self.before).name
        )

    @property
    def has_only_new_words(self) -> bool:
        """Return whether only the words in an automatic name have changed."""
        if self.before is None or self.after is None:
            return False
        return self._keeps_place_and_size and not (self.before.named or self.after.named)

    @property
    def _keeps_place_and_size(self) -> bool:
        if self.before is None or self.after is None:
            return False
        threshold = max(MIN_CHANGE, MIN_SHARE_CHANGE * self.before.documents)
        return self.before.parent == self.after.parent and self.size < threshold

    def to_dict(self) -> dict[str, Any]:
        """Return the topic with its name, path and size before and after, as plain JSON data."""
        plain = {
            name: None
            if side is None
            else {"name": side.name, "path": side.path, "documents": round(side.documents, 1)}
            for name, side in (("before", self.before), ("after", self.after))
        }
        return {"topic": self.topic, **plain}


def take_snapshot(outline: TreeState, collection: Collection) -> TreeSnapshot:
    """Return name, place and size of each topic."""
    tree, sizes = outline.tree, sum_columns(collection.shares) @ outline.tree.path_mask(outline.class_nodes)
    sizes[tree.root] = len(collection)  # also unsorted documents
    parents = [outline.topics[parent] if parent >= 0 else -1 for parent in tree.parents]
    return {
        topic: TopicSnapshot(
            tree.names[node], outline.path(topic), parents[node], float(sizes[node]), topic in outline.titles
        )
        for node, topic in enumerate(outline.topics)
    }


def compare_snapshots(snapshot_before: TreeSnapshot, snapshot_after: TreeSnapshot) -> list[TopicChange]:
    """Return the topics that are new, removed, moved, renamed or resized, new and removed ones first."""
    changes = [
        TopicChange(topic, snapshot_before.get(topic), snapshot_after.get(topic))
        for topic in {**snapshot_before, **snapshot_after}
    ]
    noticeable = [change for change in changes if not change.is_negligible]
    return sorted(noticeable, key=lambda change: (change.before is not None and change.after is not None, -change.size))


MAX_WORDS, MAX_DOCUMENTS = 8, 3  # shown for a part
MAX_SAMPLE = 1_500  # documents to distribute, evenly spread in a larger topic, so that a page answers fast
SMOOTHING = 0.5  # pseudo-count of a word in a part without it


@dataclass(frozen=True)
class SplitPart:
    """Topic that a split would create: its distinctive words and typical documents."""

    words: tuple[str, ...]
    documents: int
    rows: tuple[int, ...]  # of documents, the most typical first
    sampled: int = 0  # documents of the topic that it was estimated from; 0: all of them


def preview_split(collection: Collection, topic: int, n_parts: int) -> tuple[SplitPart, ...]:
    """Return the parts with which a split of a leaf would begin, the largest first."""
    outline = collection.outline
    node = outline.node(topic)
    if not outline.tree.is_leaf(node):
        raise UsageError(f"{outline.name(topic)!r} has subtopics already", hint="Split one of its subtopics.")
    classes = [number for number, class_node in enumerate(outline.class_nodes) if class_node == node]
    shares = np.asarray(collection.shares[:, classes].sum(axis=1)).ravel() if classes else np.zeros(len(collection))
    documents = np.flatnonzero(shares >= MIN_SHARE)
    if len(documents) < n_parts:
        raise UsageError(f"{len(documents)} documents cannot be split into {n_parts} parts", hint="Choose fewer parts.")
    topic_documents = documents
    if len(documents) > MAX_SAMPLE:
        documents = documents[np.linspace(0, len(documents) - 1, MAX_SAMPLE).astype(np.int64)]
    counts = csr_array(collection.counts[documents])
    used_counts = csr_array(counts[:, np.unique(counts.indices)])  # absent words do not affect the vectors
    documents_by_part = distribute_documents(
        Tree((-1, *[0] * n_parts)), compute_document_vectors(used_counts, SEED), np.random.default_rng(SEED)
    )
    groups = sorted((documents_by_part[part] for part in range(1, n_parts + 1)), key=len, reverse=True)
    word_totals = np.array([np.asarray(counts[group].sum(axis=0)).ravel() for group in groups], np.float64) + SMOOTHING
    words = collection.counting.vocabulary.words
    general = {*collection.tree.nodes[outline.tree.root].words, *collection.counting.general}
    sampled = 0 if len(documents) == len(topic_documents) else len(documents)
    scale = float(shares[topic_documents].sum()) / max(float(shares[documents].sum()), 1e-300)
    word_totals[:, [column for column, word in enumerate(words) if word in general]] = SMOOTHING
    return tuple(
        replace(
            _describe_split_part(
                word_totals, place, words, counts, documents, group, scale * float(shares[documents[group]].sum())
            ),
            sampled=sampled,
        )
        for place, group in enumerate(groups)
    )


def _describe_split_part(
    word_totals: Array, place: int, words: Sequence[str], counts: csr_array, documents: Array, group: Array, size: float
) -> SplitPart:
    """Return the distinctive words, size and typical documents of one part of a split.

    ``word_totals`` has a row for each part, and ``place`` is the part. ``group`` has its rows of ``counts``, and
    ``documents`` the rows of these in the collection.
    """
    share, others = word_totals[place] / word_totals[place].sum(), np.delete(word_totals, place, axis=0).sum(axis=0)
    log_ratio = np.log(share / (others / others.sum()))
    best = np.argsort(-share * log_ratio, kind="stable")[:MAX_WORDS]
    part_counts = counts[group]
    lengths = np.maximum(np.asarray(part_counts.sum(axis=1)).ravel(), 1)
    typical = np.argsort(-(part_counts @ np.maximum(log_ratio, 0.0)) / (lengths + 20), kind="stable")[:MAX_DOCUMENTS]
    return SplitPart(
        tuple(words[column] for column in best.tolist() if log_ratio[column] > 0),
        round(size),
        tuple(documents[group[typical]].tolist()),
    )
