"""Numbers of a collection at one state, worked out once: homes, sizes and orders of documents, words of topics."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array
from topiarist.collection.shape.word_use import spoken_by
from topiarist.counts.validation import token_counts
from topiarist.hierarchy.naming.readings import written_forms
from topiarist.measures.placed_documents import CERTAIN

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

T = TypeVar("T")


ROOT_NAME, NO_WORDS = "Everything", "no words of its own"
_NUMBER = re.compile(r"#?[\d.]+")
LEAST = 0.01  # of a document under a topic, for it to be listed there
BLOCK = 16_384  # documents whose shares of nodes are summed up at once
FEW_WORDS = 20  # that say nothing, in a word-by-word mean
FLOOR = 0.01  # of a uniform share of a word: less than that is "not there"
ENOUGH = 1e-6  # of a topic's words, to be ranked at all
COMPARED = 1_000  # words of a topic by which others are compared with it
FEWEST_COMPARED, STANDS_OUT = 8, 2.0  # topics, and deviations above their mean that make one alike
AT_HOME = 0.005  # of a word's occurrences, for it to be at home in a topic
TYPICAL, SPELT = 3, 1_000  # documents of a topic, and of all, that are read to see how words are written
AT_ONCE = 100  # of them, in memory
RANKED, RUN = 1 << 15, 512  # documents of a topic whose words are looked at to order them, and that lie side by side
OF_DOCUMENTS = ("lengths", "columns", "general", "node_weight", "usual")  # hold as long as the parts are the same
OF_FORM = (
    "sizes",
    "mask",
    "homes",
    "hard",
    "hard_sizes",
    "shown_nodes",
    "has_dendrogram",
    "spelling",
)  # and the form of the tree


def spread_runs(number: int, wanted: int, run: int) -> Array:
    """The places of so many of a number of things, in runs of neighbours that lie evenly."""
    n_runs = -(-wanted // run)
    starts = np.linspace(0, max(number - run, 0), n_runs).astype(np.int64)
    places = np.unique((starts[:, None] + np.arange(run)).ravel())
    found: Array = places[places < number][:wanted]
    return found


class Figures:
    """What the documents and the tree of a collection come to; arrays are by the rows of documents, or by nodes."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self.shape = collection.outline
        self.tree = collection.outline.tree
        self._lock = threading.RLock()

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """What was made for a key; whoever has a memory keeps it, here it is made again each time."""
        return make()

    @property
    def form(self) -> tuple[Any, ...]:
        """All of a tree but what people have written into it."""
        shape = self.shape
        return self.n_docs, self.tree.parents, shape.topics, shape.class_nodes, shape.node_topics, dict(shape.pins)

    @property
    def n_docs(self) -> int:
        """How many documents there are."""
        return len(self.collection)

    @cached_property
    def spelling(self) -> Mapping[str, str]:
        """How words of topics are written that are written otherwise than counted, by what their documents have most.

        The most typical documents of each topic are read, for these have its words, and others evenly over all; where
        topics are many, fewer of each.
        """
        nodes = self.collection.tree.nodes
        topics = [node for place, node in enumerate(nodes) if place != self.tree.root]
        in_turn = (int(node.rows[place]) for place in range(TYPICAL) for node in nodes if place < len(node.rows))
        typical = list(dict.fromkeys(in_turn))[:SPELT]
        rows = sorted({*typical, *range(0, self.n_docs, max(1, self.n_docs // SPELT))})
        documents, some = self.collection.documents, range(0, len(rows), AT_ONCE)
        texts = (one.text for start in some for one in documents.many(rows[start : start + AT_ONCE]))
        return written_forms(texts, {word for node in topics for word in node.words})

    def written(self, word: str) -> str:
        """A word or a phrase as it is written most often."""
        return " ".join(self.spelling.get(part, part) for part in word.split())

    @property
    def names(self) -> tuple[str, ...]:
        """What topics are called: as people named them, or by their words; never a number alone."""
        return self.own_names

    @cached_property
    def own_names(self) -> tuple[str, ...]:
        """The same in the language of this package, whoever reads."""
        found = []
        for node, name in enumerate(self.tree.names):
            if node == self.tree.root and (not name or _NUMBER.fullmatch(name)):
                name = ROOT_NAME
            elif _NUMBER.fullmatch(name) and self.shape.topics[node] not in self.shape.titles:
                name = " · ".join(self.collection.tree.nodes[node].words[:3]) or NO_WORDS
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
            mask, homes = csr_array(self.mask.astype(np.float32)), np.full(self.n_docs, self.tree.root, np.int32)
            for start in range(0, self.n_docs, BLOCK):
                under = (shares[start : start + BLOCK] @ mask).tocoo()
                most = under.data > CERTAIN
                rows, nodes = under.coords[0][most], under.coords[1][most]
                deepest_last = np.argsort(depths[nodes], kind="stable")
                homes[start + rows[deepest_last]] = nodes[deepest_last]
            return homes

    @cached_property
    def hard(self) -> Array:
        """Which documents are hard to place: no topic has more than half of them."""
        with self._lock:
            return self.collection.hard_to_place

    @cached_property
    def hard_sizes(self) -> tuple[int, ...]:
        """Documents under each node that are hard to place."""
        found: list[int] = self.counts_under(np.flatnonzero(self.hard)).tolist()
        return tuple(found)

    def counts_under(self, rows: Array) -> Array:
        """How many of some documents lie mostly under each node."""
        at = np.bincount(self.homes[rows], minlength=len(self.tree))
        found: Array = at @ self.tree.path_mask(range(len(self.tree)))
        return found

    def shares_under(self, node: int) -> Array:
        """How much of each document lies under a node."""

        def made() -> Array:
            found: Array = self.collection.shares @ self.mask[:, node].astype(np.float32)
            return found

        return self.kept(("shares", node), made)

    def mostly_under(self, node: int, rows: Array | None = None) -> Array:
        """Which documents, or which of some rows, have at least half of themselves under a node."""
        shares = self.shares_under(node)
        found: Array = (shares if rows is None else shares[rows]) >= CERTAIN
        return found

    def children(self, node: int) -> list[int]:
        """The nodes below, the largest first."""
        return sorted(self.tree.children(node), key=lambda child: (-self.sizes[child], child))

    def ordered(self, root: int | None = None) -> tuple[int, ...]:
        """The nodes from one down, as people read the tree: each before what is below it, the largest first."""
        return self.tree.in_order(lambda node: (-self.sizes[node], node), root)

    def rank(self, sort: str) -> Array:
        """The place of each document in an order that has nothing to do with topics: longest, newest, name."""

        def made() -> Array:
            if sort == "longest":
                order = np.argsort(-self.lengths, kind="stable")
            else:
                order = self.collection.documents.ordered_rows(sort)
            ranks = np.empty(self.n_docs, np.int32)
            ranks[order] = np.arange(self.n_docs, dtype=np.int32)
            return ranks

        return self.kept(("rank", sort), made)

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
            rows = rows.astype(np.int32)  # half of the memory that they are kept in
            if sort == "typical":
                return self._typical_first(node, rows, shares[rows])
            return rows[np.argsort(self.rank(sort)[rows], kind="stable")]

        return self.kept(("listed", node, sort, show), made)

    def n_listed(self, node: int, show: str) -> int:
        """How many documents of a node a list has, of all or of those that are mostly here."""
        least = CERTAIN if show == "here" else LEAST
        return self.kept(("number", node, show), lambda: int((self.shares_under(node) >= least).sum()))

    def _typical_first(self, node: int, rows: Array, shares: Array) -> Array:
        """Documents of a node by their shares, and of equal shares by their words, its children in turn.

        Of very many, the words of ``RANKED`` are looked at, in runs that lie evenly among those with the largest
        shares: these come first, in that order, and all others follow by their shares.
        """
        rest = rows[:0]
        if len(rows) > RANKED:
            steps = np.rint(shares * 10_000).astype(np.int16)
            order = np.argsort(-steps, kind="stable")
            least = steps[order[RANKED - 1]]
            above = int(np.count_nonzero(steps > least))
            equal = order[above : above + int(np.count_nonzero(steps == least))]
            first = np.zeros(len(rows), bool)
            first[order[:above]] = True
            first[equal[spread_runs(len(equal), RANKED - above, RUN)]] = True
            rest = rows[order[~first[order]]]
            rows, shares = rows[first], shares[first]
        rows = rows[np.lexsort((rows, -self._speaking(node, rows), -shares.round(4)))]
        return np.concatenate([rows[self._in_turn(node, rows)], rest])

    def _in_turn(self, node: int, rows: Array) -> Array:
        """An order of ranked documents in which the children of a node take turns: what is typical of a heading is not
        in one of them. Documents that are at home elsewhere come last."""
        child_of = np.full(len(self.tree), -1)
        for child in self.tree.children(node):
            child_of[[child, *self.tree.descendants(child)]] = child
        child_of[node] = node
        child_at: Array = child_of[self.homes[rows]]
        by_child = np.argsort(child_at, kind="stable")
        starts = np.searchsorted(child_at[by_child], child_at[by_child], side="left")
        turn = np.empty(len(rows), np.int64)
        turn[by_child] = np.arange(len(rows)) - starts
        order: Array = np.lexsort((np.arange(len(rows)), turn, child_at < 0))
        return order

    def marked(self, rows: Array, known: Array) -> Array:
        """Which of some documents are among those of a sorted list that may have documents added since."""
        found = np.zeros(self.n_docs, bool)
        found[known[known < self.n_docs]] = True
        return found[rows]

    def among(self, rows: Array, known: Sequence[int]) -> Array:
        """Those of some documents that are among others."""
        found: Array = rows[np.isin(rows, known)]
        return found

    def rows_of(self, number: int) -> Array:
        """The rows of the first documents."""
        return np.arange(number, dtype=np.int64)

    def at_home(self, node: int) -> tuple[Array, Array]:
        """The documents that lie mostly at a node and in nothing below, the most typical first, and their shares."""
        rows = np.flatnonzero(self.homes == node)
        shares = self.shares_under(node)[rows]
        order = np.lexsort((rows, -self.lengths[rows], -shares.round(4)))
        return rows[order], shares[order]

    def n_at_home(self, node: int) -> int:
        """How many documents lie mostly at a node and in nothing below."""
        return int((self.homes == node).sum())

    def ends(self, row: int) -> dict[int, float]:
        """The shares of a document at the nodes that have enough of it, the largest first."""
        shares = self.collection.shares[[row]].toarray()[0].astype(np.float64)
        ends = np.bincount(self.shape.class_nodes, shares, minlength=len(self.tree))
        return {node: ends[node] for node in np.argsort(-ends, kind="stable").tolist() if ends[node] >= LEAST}

    def largest_class(self, row: int) -> int:
        """The node of the class with the largest share of a document."""
        shares = self.collection.shares[[row]].toarray()[0]
        return self.shape.class_nodes[int(shares.argmax())] if shares.any() else self.tree.root

    def _speaking(self, node: int, rows: Array) -> Array:
        """How much more likely the words of some documents are in a topic than elsewhere, per word.

        As if each had a few words more that say nothing: else the shortest would say most.
        """
        own = self.word_shares(node)
        if own is None or node == self.tree.root:
            return self.lengths[rows]
        weight = np.log(0.5 * np.maximum(own, 0.0) / self.usual + 0.5).astype(np.float32)
        counts = self.collection.counts if len(rows) == self.n_docs else self.collection.counts[rows]
        found: Array = (counts @ weight) / (self.lengths[rows] + FEW_WORDS)
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
        model = self.collection.tree_model
        found: Array = model.class_prior.astype(np.float64) @ model.node_given_class
        return found

    def model_nodes(self, node: int) -> list[int]:
        """The nodes of the model that a topic is made of: one, several where topics were merged, or none yet."""
        return list(self.shape.model_nodes(self.shape.topics[node]))

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

    def own_words(self, node: int, n: int, special: float | None = None) -> list[tuple[str, float | None]]:
        """The own words of a topic with P(word | topic), None for one that is not counted any more.

        ``special`` goes from the frequent (0) to those that hardly anybody above has (1), by
        (1 - s) log P(w|topic) + s log P(w|topic)/P(w|above).
        """
        shares = self.word_shares(node)
        if shares is None:
            return []
        if special is None:
            known = self.collection.tree.nodes[node].words[:n]
            return [(word, float(shares[self.columns[word]]) if word in self.columns else None) for word in known]
        parent, above = self.tree.parents[node], np.full(len(shares), FLOOR / len(shares))
        for higher in {parent, self.tree.root} - {node, -1}:
            theirs = self.word_shares(higher)
            above = above if theirs is None else np.maximum(above, theirs)
        there = np.flatnonzero(shares > max(ENOUGH, FLOOR / len(shares)))
        here = np.log(shares[there])
        score = here if node == self.tree.root else here - special * np.log(above[there])
        return self._with_words(shares, there[np.argsort(-score, kind="stable")][:n])

    def nearest_topics(self, node: int, n: int) -> list[int]:
        """Topics whose own words are most like those of one: of its level, or last ones above; none on its path.

        Alike is how much two distributions overlap, over the words that the topic itself says most often: by more than
        two deviations above the mean of all that it is compared with. Of a few topics none stands out.
        """
        own, depth = self.word_shares(node), self.tree.depths[node]
        barred = {node, *self.tree.path(node), *self.tree.descendants(node)}
        others = [
            one
            for one in range(len(self.tree))
            if one not in barred
            and (self.tree.depths[one] == depth or (self.tree.depths[one] < depth and self.tree.is_leaf(one)))
            and self.model_nodes(one)
        ]
        if own is None or len(others) < FEWEST_COMPARED:
            return []

        def made() -> list[int]:
            words = np.argsort(-own, kind="stable")[:COMPARED]
            mine, overlaps = np.sqrt(own[words]), []
            shares = self.collection.tree_model.word_given_node[:, words]
            for other in others:
                nodes = self.model_nodes(other)
                weight = np.maximum(self.node_weight[nodes], 1e-12)
                theirs = (weight / weight.sum()) @ shares[nodes]
                overlaps.append(float(mine @ np.sqrt(theirs)))
            least = np.mean(overlaps) + STANDS_OUT * np.std(overlaps)
            found = [(-overlap, other) for overlap, other in zip(overlaps, others, strict=True) if overlap > least]
            return [other for _, other in sorted(found)]

        return self.kept(("nearest", node), made)[:n]

    def words_below(self, node: int, n: int) -> list[tuple[str, float | None]]:
        """The most frequent words of all that lies under a topic, general ones and all."""
        model = self.collection.tree_model
        inside = model.class_prior.astype(np.float64) * self.mask[:, node]
        if not inside.sum():
            return []
        shares = (inside / inside.sum()) @ model.node_given_class @ model.word_given_node
        return self._with_words(shares, np.argsort(-shares, kind="stable")[:n])

    def _with_words(self, shares: Array, columns: Array) -> list[tuple[str, float | None]]:
        words = self.collection.counting.vocabulary.words
        return [(words[column], float(shares[column])) for column in columns.tolist()]

    def document_counts(self, node: int, columns: Sequence[int]) -> list[int]:
        """In how many documents that lie mostly under a topic some words of the vocabulary occur, by their columns."""
        if node == self.tree.root:
            return [int(self.collection.counting.vocabulary.document_frequency[column]) for column in columns]
        n_under = int(np.count_nonzero(self.mostly_under(node)))
        if n_under > RANKED and not (self.shape.united or self.shape.ignored):  # the index has the words as they came
            return self.kept(("documents", node, tuple(columns)), lambda: self._by_postings(node, columns))

        def made() -> Array:
            counts = self.collection.counts
            found: Array = np.bincount(counts[self.mostly_under(node)].indices, minlength=counts.shape[1])
            return found

        every = self.kept(("documents", node), made)
        return [int(every[column]) for column in columns]

    def _by_postings(self, node: int, columns: Sequence[int]) -> list[int]:
        """The same by the lists of those who have a word, where a topic has very many documents."""
        under, found, start = self.mostly_under(node), np.zeros(len(columns), np.int64), 0
        for segment in self.collection.index.segments:
            here = under[start : start + len(segment)]
            places, known = segment.places(np.asarray(columns, np.int64))
            ends = segment.postings.ends
            found[known] += [
                int(np.count_nonzero(here[segment.postings.docs[ends[place] : ends[place + 1]]])) for place in places
            ]
            start += len(segment)
        return found.tolist()

    def word_homes(self, word: str, n: int) -> list[tuple[int, float]]:
        """The nodes that explain most of a word's occurrences, with how much; the root for a general word."""
        column = self.columns.get(word)
        if column is None:
            return [(self.tree.root, 1.0)] if word in self.general else []
        if word in {one for words in self.shape.seeds.values() for one in words}:
            weight = spoken_by(self.collection, column)  # the words of the model have prior tokens that nobody said
        else:
            weight = self.node_weight * self.collection.tree_model.word_given_node[:, column]
        shown = np.bincount(self.shown_nodes, weight / max(weight.sum(), 1e-300), minlength=len(self.tree))
        best = np.argsort(-shown, kind="stable")[:n]
        return [(node, float(shown[node])) for node in best.tolist() if shown[node] >= AT_HOME]

    def absent_words(self, row: int, n: int) -> list[list[str]]:
        """For each level the words that one would expect in a document and that are not there."""
        from topiarist.estimators.tree.abstraction import ghost_words  # estimators take a second to load

        collection, depths = self.collection, np.array(self.tree.depths)[self.shown_nodes]
        counts, shares = collection.counts[[row]], collection.shares[[row]].toarray()
        words = collection.counting.vocabulary.words
        chosen, _ = ghost_words(counts, collection.tree_model, shares, n, depths)
        return [[words[column] for column in columns if column >= 0] for columns in chosen[0].tolist()]

    def leads(self, rows: Sequence[int]) -> dict[int, str]:
        """The beginnings of some texts, in one line each."""
        return self.collection.documents.leads(rows, repeated=self.collection.counting.repeated.forms)
