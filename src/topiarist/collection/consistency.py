"""Do the parts of a collection fit each other? Each may be whole, and still belong to another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from topiarist.collection.state import CATEGORIES
from topiarist.errors import DamagedError, TopiaristError

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

SUMS = 1e-3  # how far the shares of a document may be from one: they are single-precision numbers


def disagreements(collection: Collection) -> Iterator[str]:
    """What does not fit, a sentence each; a part that cannot be read is one of them."""
    for look in (_documents, _counts, _shares, _tree, _search, _categories):
        yield from _read(look, collection)


def _read(look: Callable[[Collection], Iterator[str]], collection: Collection) -> Iterator[str]:
    try:
        yield from look(collection)
    except DamagedError as error:
        yield error.message
    except TopiaristError as error:
        yield f"a part cannot be used: {error.message}"
    except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        yield f"a part cannot be read: {type(error).__name__}"


def _documents(collection: Collection) -> Iterator[str]:
    number = len(collection.documents)
    if number != len(collection):
        yield f"the state speaks of {len(collection):,} documents, and there are {number:,}"
    missing = [name for name in collection.outline.pins if not collection.documents.has(name)]
    if missing:
        yield f"{len(missing):,} pinned documents are not there, {missing[0]!r} among them"


def _counts(collection: Collection) -> Iterator[str]:
    counts, words = collection.counts, len(collection.counting.vocabulary)
    if counts.shape[1] != words:
        yield f"counts are of {counts.shape[1]:,} words, the vocabulary has {words:,}"
    if counts.nnz and not (np.isfinite(counts.data).all() and counts.data.min() >= 0):
        yield "counts are not all numbers from 0 upward"


def _shares(collection: Collection) -> Iterator[str]:
    shares, classes = collection.shares, len(collection.outline.class_topics)
    if shares.shape[1] != classes:
        yield f"shares are of {shares.shape[1]:,} classes, the tree has {classes:,}"
    sums = np.asarray(shares.sum(axis=1, dtype=np.float64)).ravel()
    wrong = int((~(np.abs(sums - 1.0) <= SUMS)).sum())
    if wrong:
        yield f"the shares of {wrong:,} documents do not add up to one"


def _tree(collection: Collection) -> Iterator[str]:
    outline, crown = collection.outline, collection.crown
    known = set(outline.topics)
    if len(known) != len(outline.tree) or not set(outline.class_topics) <= known:
        yield "the topics of the tree are not those of its state"
    if not set(outline.node_topics) <= known | {-1}:
        yield "nodes of the model belong to topics that are not there"
    for name, number in (("the model", len(crown.tree)), ("the description", len(collection.description.nodes))):
        if number != len(outline.node_topics):
            yield f"{name} has {number:,} nodes, the state knows {len(outline.node_topics):,}"
    if len(crown.class_nodes) != len(outline.class_topics):
        yield f"the model has {len(crown.class_nodes):,} classes, the state knows {len(outline.class_topics):,}"
    words = len(collection.counting.vocabulary)
    if crown.word_given_node.shape[1] != words:
        yield f"the model knows {crown.word_given_node.shape[1]:,} words, the vocabulary has {words:,}"
    if not np.isfinite(crown.word_given_node).all():
        yield "the model holds something that is no number"


def _search(collection: Collection) -> Iterator[str]:
    index = collection.index
    if len(index) != len(collection):
        yield f"the index by meaning has {len(index):,} documents, the collection {len(collection):,}"
    if index.n_words != len(collection.counting.vocabulary):
        words = len(collection.counting.vocabulary)
        yield f"the index by meaning knows {index.n_words:,} words, the vocabulary has {words:,}"


def _categories(collection: Collection) -> Iterator[str]:
    if collection.state.parts.get(CATEGORIES) is None or collection.categories is None:
        return
    known, words = collection.categories.model.n_features_in_, len(collection.counting.vocabulary)
    if known != words:
        yield f"the categories were learned from {known:,} words, the vocabulary has {words:,}"
