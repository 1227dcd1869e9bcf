"""A collection at one state, and what pages derive from it, worked out once.

A view never changes: a request that has begun with one ends with it, whatever is edited meanwhile.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from topiarist.app.explorer.memory import Memory
from topiarist.collection.collection import Collection
from topiarist.collection.shape.changes import mark
from topiarist.counts.validation import token_counts
from topiarist.measures.placed_documents import CERTAIN as CERTAIN
from topiarist.store.document_table import marks, pieces

Array = np.ndarray[Any, Any]

LEAST = 0.01  # of a document under a topic, for it to be listed there
BLOCK = 4_096  # documents whose shares are dense at once
WARMED = 8  # headings whose lists are made before anybody asks
LEAD = 220  # characters of a text in a list
FEW_WORDS = 20  # that say nothing, in a word-by-word mean
_NUMBER = re.compile(r"#?[\d.]+")
_RANKS = {"newest": "date DESC, row", "name": "title COLLATE NOCASE, id, row"}
_OF_DOCUMENTS = (
    "lengths",
    "columns",
    "general",
    "node_weight",
    "usual",
)  # what holds as long as the parts are the same
_OF_FORM = ("sizes", "mask", "homes", "hard", "hard_sizes", "shown_nodes", "has_dendrogram")  # and the tree
_OF_PARTS = ("counting", "counts", "shares", "model", "tree_model", "description", "index", "categories")


class View:
    """Numbers, orders and words of a collection's state, for all pages."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self.number = collection.number
        self.mark = mark(collection)  # in forms: an edit is made of the tree that somebody saw, or not at all
        self.shape = collection.outline
        self.tree = collection.outline.tree
        self.beside: tuple[tuple[str, Callable[[], View]], ...] = ()  # other collections to compare with, by name
        self._lock = threading.RLock()
        self.remembered = Memory()  # while this state lasts
        self.numbers = Memory()  # what names do not touch: taken over by the next state if the tree keeps its form

    @classmethod
    def open(cls, folder: str, earlier: View | None = None) -> View:
        """The latest state; what an earlier one has read and that is still the same is not read again."""
        found = cls(Collection.open(folder))
        if earlier is not None:
            found._take_over(earlier)
        return found

    def _take_over(self, earlier: View) -> None:
        """What was read from the same parts; and where the tree has the same form, as after a new name, the rest."""
        own, old = self.collection, earlier.collection
        if own.generation.folder != old.generation.folder or own.state.parts != old.state.parts:
            return
        vars(own).update({name: vars(old)[name] for name in _OF_PARTS if name in vars(old)})
        same = _form(self) == _form(earlier)
        self.numbers = earlier.numbers if same else earlier.numbers.part("rank")
        kept = (*_OF_DOCUMENTS, *(_OF_FORM if same else ()))
        vars(self).update({name: vars(earlier)[name] for name in kept if name in vars(earlier)})

    @property
    def n_docs(self) -> int:
        """How many documents there are."""
        return len(self.collection)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What topics are called: as people named them, or by their words; never a number alone."""
        found = []
        for node, name in enumerate(self.tree.names):
            if node == self.tree.root and (not name or _NUMBER.fullmatch(name)):
                name = "Everything"
            elif _NUMBER.fullmatch(name) and self.shape.topics[node] not in self.shape.titles:
                name = " · ".join(self.collection.tree.nodes[node].words[:3]) or "no words of its own"
            found.append(name)
        return tuple(found)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Documents under each node, in whole numbers that add up."""
        with self._lock:
            return self.collection.tree.sizes

    @cached_property
    def mask(self) -> Array:
        """Classes × nodes: under which nodes a class lies."""
        return self.tree.path_mask(self.shape.class_nodes)

    @cached_property
    def lengths(self) -> Array:
        """Counted words of each document."""
        with self._lock:
            return token_counts(self.collection.counts)

    @cached_property
    def homes(self) -> Array:
        """The deepest node that has most of each document."""
        with self._lock:
            shares, depths = self.collection.shares, np.array(self.tree.depths)
            homes = np.zeros(self.n_docs, np.int32)
            for start in range(0, self.n_docs, BLOCK):
                nodes = shares[start : start + BLOCK].toarray() @ self.mask
                deep = np.where(nodes > CERTAIN, depths, -1)
                homes[start : start + BLOCK] = np.where(deep.max(axis=1) < 0, self.tree.root, deep.argmax(axis=1))
            return homes

    @cached_property
    def hard(self) -> Array:
        """Which documents are hard to place: no topic has more than half of them."""
        with self._lock:
            return self.collection.hard_to_place

    @cached_property
    def hard_sizes(self) -> tuple[int, ...]:
        """Documents under each node that are hard to place."""
        at = np.bincount(self.homes[self.hard], minlength=len(self.tree))
        return tuple((at @ self.tree.path_mask(range(len(self.tree)))).tolist())

    def shares_under(self, node: int) -> Array:
        """How much of each document lies under a node."""

        def made() -> Array:
            found: Array = self.collection.shares @ self.mask[:, node].astype(np.float32)
            return found

        return self.numbers(("shares", node), made)

    def warm(self) -> None:
        """Work out what most pages need, so that the first of them is as quick as the others."""
        self.sizes, self.hard_sizes, self.lengths, self.names, self.node_weight, self.columns  # noqa: B018
        with self._lock:
            self.collection.placer.place(self.collection.counts[:1], CERTAIN)
            self.collection.index  # noqa: B018
        for sort in ("newest", "name", "longest"):
            self.rank(sort)
        for node in self.children(self.tree.root)[:WARMED]:  # the largest lists take longest
            self.listed(node, "typical", "all")

    def children(self, node: int) -> list[int]:
        """The nodes below, the largest first."""
        return sorted(self.tree.children(node), key=lambda child: (-self.sizes[child], child))

    def ordered(self, root: int | None = None) -> tuple[int, ...]:
        """The nodes from one down, as people read the tree: each before what is below it, the largest first."""
        return self.tree.in_order(lambda node: (-self.sizes[node], node), root)

    def rank(self, sort: str) -> Array:
        """The place of each document in an order that has nothing to do with topics."""

        def made() -> Array:
            if sort == "longest":
                order = np.lexsort((np.arange(self.n_docs), -self.lengths))
            else:
                sql = f"SELECT row FROM documents ORDER BY {_RANKS[sort]}"  # noqa: S608
                order = np.array([row for (row,) in self.collection.generation.database.all(sql)], np.int64)
            ranks = np.empty(self.n_docs, np.int64)
            ranks[order] = np.arange(self.n_docs)
            return ranks

        return self.numbers(("rank", sort), made)

    def listed(self, node: int, sort: str, show: str) -> Array:
        """The rows of the documents of a node. ``show``: all, here (mostly in this topic), or hard (to place)."""

        def made() -> Array:
            shares = self.shares_under(node)
            if show == "hard":
                under = np.zeros(len(self.tree), bool)
                under[[node, *self.tree.descendants(node)]] = True
                rows = np.flatnonzero(self.hard & under[self.homes])
            else:
                rows = np.flatnonzero(shares >= (CERTAIN if show == "here" else LEAST))
            if sort == "typical":
                return rows[np.lexsort((rows, -self._telling(node, rows), -shares[rows].round(4)))]
            return rows[np.argsort(self.rank(sort)[rows], kind="stable")]

        return self.numbers(("listed", node, sort, show), made)

    def _telling(self, node: int, rows: Array) -> Array:
        """How much more likely the words of some documents are in a topic than elsewhere, per word.

        As if each had a few words more that say nothing: else the shortest would say most.
        """
        own = self.word_shares(node)
        if own is None or node == self.tree.root:
            return self.lengths[rows]
        told = np.log(0.5 * np.maximum(own, 0.0) / self.usual + 0.5).astype(np.float32)
        counts = self.collection.counts if len(rows) == self.n_docs else self.collection.counts[rows]
        found: Array = (counts @ told) / (self.lengths[rows] + FEW_WORDS)
        return found

    @cached_property
    def usual(self) -> Array:
        """P(word) in the whole collection, as the model has it."""
        found: Array = np.maximum(self.node_weight @ self.collection.tree_model.word_given_node, 1e-12)
        return found

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each word, and of each form of it."""
        return dict(self.collection.counting.vocabulary.columns)

    @cached_property
    def general(self) -> frozenset[str]:
        """Words of more than half of the documents, which are the root's."""
        return frozenset(self.collection.counting.general)

    @cached_property
    def node_weight(self) -> Array:
        """How much of the collection each node of the model explains."""
        crown = self.collection.tree_model
        found: Array = crown.class_prior.astype(np.float64) @ crown.node_given_class
        return found

    def model_nodes(self, node: int) -> list[int]:
        """The nodes of the model that a topic is made of: one, several where topics were merged, or none yet."""
        topic = self.shape.topics[node]
        return [own for own, known in enumerate(self.shape.node_topics) if known == topic]

    @cached_property
    def shown_nodes(self) -> Array:
        """The node of the tree that people see for each node of the model; for one that is gone, the next above."""
        model, found = self.collection.tree_model.tree, np.full(len(self.shape.node_topics), self.tree.root, np.int64)
        for own in model.depth_first():
            topic, parent = self.shape.node_topics[own], model.parents[own]
            found[own] = self.shape.node_of.get(topic, found[parent] if parent >= 0 else self.tree.root)
        return found

    @cached_property
    def has_dendrogram(self) -> bool:
        """Whether the tree was made by joining groups, and was not fitted in another way since."""
        if self.collection.state.model != "ggm":
            return False
        with self._lock:
            hierarchy = getattr(self.collection.model, "hierarchy_", None)
        return hierarchy is not None and len(hierarchy.linkage_) + 1 == len(self.shape.class_nodes)

    def word_shares(self, node: int) -> Array | None:
        """P(word | topic), its own words; None for a topic that the model does not know yet."""
        own = self.model_nodes(node)
        if not own:
            return None
        weight = np.maximum(self.node_weight[own], 1e-12)
        found: Array = (weight / weight.sum()) @ self.collection.tree_model.word_given_node[own]
        return found

    def leads(self, rows: Sequence[int]) -> dict[int, str]:
        """The beginnings of some texts, in one line each."""
        found = {}
        for piece in pieces(sorted(set(map(int, rows)))):
            sql = f"SELECT row, substr(text, 1, {4 * LEAD}) FROM texts WHERE row IN ({marks(piece)})"  # noqa: S608
            for row, text in self.collection.generation.database.all(sql, piece):
                words = " ".join(text.split())
                found[row] = words if len(words) <= LEAD else words[:LEAD].rsplit(" ", 1)[0] + " …"
        return found


def _form(view: View) -> tuple[Any, ...]:
    """All of a tree but what people have written into it."""
    shape = view.shape
    return view.n_docs, view.tree.parents, shape.topics, shape.class_nodes, shape.node_topics, dict(shape.pins)
