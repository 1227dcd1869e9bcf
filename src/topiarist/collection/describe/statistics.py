"""Statistics of a collection in one state: assignments, sizes, document orders and topic words."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array
from topiarist.collection.search.results import MIN_PLACE_SHARE
from topiarist.collection.shape.words import count_occurrences_by_node
from topiarist.collection.state_cache import FORM, PARTS, STATE, StateCache, cached
from topiarist.counts.validation import count_tokens
from topiarist.metrics.placed_documents import MIN_CERTAINTY
from topiarist.trees.naming.text_features import find_written_forms

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

T = TypeVar("T")


ROOT_NAME, NO_WORDS = "Everything", "no words of its own"
_NUMBER = re.compile(r"#?[\d.]+")
MIN_SHARE = 0.01  # of a document under a topic, for the document to be listed there
BLOCK = 16_384  # documents whose shares of nodes are summed at once
PRIOR_WORDS = 20  # words without weight, added to the mean weight of the words of a document
MIN_RELATIVE_PROBABILITY = 0.01  # of the uniform probability of a word: smaller probabilities count as this
MIN_PROBABILITY = 1e-6  # of a word in a topic, for the word to be ranked
COMPARED_WORDS = 1_000  # words of a topic that are compared with other topics
MIN_COMPARED_TOPICS = 8  # topics, for similar ones to be searched among them
MIN_DEVIATIONS = 2.0  # deviations above the mean overlap, for a topic to be similar
MIN_WORD_SHARE = 0.005  # of the occurrences of a word, for a topic to be listed
TYPICAL_PER_TOPIC = 3  # documents of a topic that are read for the spelling of words
MAX_SPELLING_SAMPLE = 1_000  # documents in total
DOCUMENTS_AT_ONCE = 100  # of the sample for spelling, in memory
MAX_RANKED = 1 << 15  # documents of a topic that are ranked by words
RUN_LENGTH = 512  # neighbours among them


def select_runs(number: int, n_selected: int, run_length: int) -> Array:
    """Return ``n_selected`` indices below ``number``, in evenly spaced runs of neighbours."""
    n_runs = -(-n_selected // run_length)
    starts = np.linspace(0, max(number - run_length, 0), n_runs).astype(np.int64)
    places = np.unique((starts[:, None] + np.arange(run_length)).ravel())
    selected: Array = places[places < number][:n_selected]
    return selected


class Figures:
    """Statistics of the documents and the tree of a collection; arrays are indexed by row or by node."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self.shape = collection.outline
        self.tree = collection.outline.tree
        self.cache = StateCache()
        self._lock = threading.RLock()

    def compute_once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Compute the value of a key; subclasses cache it, this class does not."""
        return make()

    @property
    def form(self) -> tuple[Any, ...]:
        """Parts of the state that determine the tree, without names and notes of users."""
        shape = self.shape
        return self.n_docs, self.tree.parents, shape.topics, shape.class_nodes, shape.node_topics, dict(shape.pins)

    @property
    def n_docs(self) -> int:
        return len(self.collection)

    @cached(FORM)
    def spelling(self) -> Mapping[str, str]:
        """The most frequent spelling of each topic word whose spelling differs from its counted form.

        It reads the most typical documents of each topic, which have its words, and an even sample of all. With many
        topics it reads fewer documents of each.
        """
        nodes = self.collection.tree.nodes
        in_turn = (
            int(row)
            for rows in zip_longest(*(node.rows[:TYPICAL_PER_TOPIC] for node in nodes))
            for row in rows
            if row is not None
        )
        typical = list(dict.fromkeys(in_turn))[:MAX_SPELLING_SAMPLE]
        rows = sorted({*typical, *range(0, self.n_docs, max(1, self.n_docs // MAX_SPELLING_SAMPLE))})
        starts, load = range(0, len(rows), DOCUMENTS_AT_ONCE), self.collection.documents.load_many
        texts = (document.text for start in starts for document in load(rows[start : start + DOCUMENTS_AT_ONCE]))
        words = {word for place, node in enumerate(nodes) if place != self.tree.root for word in node.words}
        return find_written_forms(texts, words)

    def format_word(self, word: str) -> str:
        """Return a word or phrase in its most frequent spelling."""
        return " ".join(self.spelling.get(part, part) for part in word.split())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of topics: by users or from words; never only a number."""
        return self.own_names

    @cached(STATE)
    def own_names(self) -> tuple[str, ...]:
        """Names of topics in English, independent of the language of the reader."""
        names = []
        for node, name in enumerate(self.tree.names):
            if node == self.tree.root and (not name or _NUMBER.fullmatch(name)):
                name = ROOT_NAME
            elif _NUMBER.fullmatch(name) and self.shape.topics[node] not in self.shape.titles:
                name = " · ".join(self.collection.tree.nodes[node].words[:3]) or NO_WORDS
            names.append(name)
        return tuple(names)

    @cached(FORM)
    def sizes(self) -> tuple[int, ...]:
        """Documents under each node, as integers that add up."""
        with self._lock:
            return self.collection.tree.sizes

    @cached(FORM)
    def mask(self) -> Array:
        """Classes × nodes: True if the class is at or under the node."""
        return self.tree.path_mask(self.shape.class_nodes)

    @cached(PARTS)
    def lengths(self) -> Array:
        with self._lock:
            return count_tokens(self.collection.counts)

    @cached(FORM)
    def assigned_nodes(self) -> Array:
        """Assigned node of each document: the deepest one with most of it."""
        with self._lock:
            shares, depths = self.collection.shares, np.array(self.tree.depths)
            mask = csr_array(self.mask.astype(np.float32))
            nodes_of_rows = np.full(self.n_docs, self.tree.root, np.int32)
            for start in range(0, self.n_docs, BLOCK):
                under = (shares[start : start + BLOCK] @ mask).tocoo()
                is_assigned = under.data > MIN_CERTAINTY
                rows, nodes = under.coords[0][is_assigned], under.coords[1][is_assigned]
                deepest_last = np.argsort(depths[nodes], kind="stable")
                nodes_of_rows[start + rows[deepest_last]] = nodes[deepest_last]
            return nodes_of_rows

    @cached(FORM)
    def hard(self) -> Array:
        """Mask of the unassigned documents: no topic has more than half of the document."""
        with self._lock:
            return self.collection.hard_to_place

    @cached(FORM)
    def hard_sizes(self) -> tuple[int, ...]:
        sizes: list[int] = self.counts_under(np.flatnonzero(self.hard)).tolist()
        return tuple(sizes)

    def counts_under(self, rows: Array) -> Array:
        """Count the documents of ``rows`` that are assigned to each node or below it."""
        n_assigned = np.bincount(self.assigned_nodes[rows], minlength=len(self.tree))
        counts: Array = n_assigned @ self.tree.path_mask(range(len(self.tree)))
        return counts

    def shares_under(self, node: int) -> Array:
        """Return the share of each document in a node and all nodes below it, cached."""

        def compute() -> Array:
            shares: Array = self.collection.shares @ self.mask[:, node].astype(np.float32)
            return shares

        return self.compute_once(("shares", node), compute)

    def select_assigned_under(self, node: int, rows: Array | None = None) -> Array:
        """Return which documents, or rows, have at least half of their share under a node."""
        shares = self.shares_under(node)
        is_assigned: Array = (shares if rows is None else shares[rows]) >= MIN_CERTAINTY
        return is_assigned

    def children(self, node: int) -> list[int]:
        """Return the children of a node, the largest first."""
        return sorted(self.tree.children(node), key=lambda child: (-self.sizes[child], child))

    def ordered(self, root: int | None = None) -> tuple[int, ...]:
        """Return the nodes from ``root`` down in reading order: parents first, larger siblings first."""
        return self.tree.in_order(lambda node: (-self.sizes[node], node), root)

    def rank(self, sort: str) -> Array:
        """Return the position of each document in the order "longest", "newest" or "name", without topics; cached."""

        def compute() -> Array:
            """Compute the position of each document in the order."""
            if sort == "longest":
                order = np.argsort(-self.lengths, kind="stable")
            else:
                order = self.collection.documents.ordered_rows(sort)
            ranks = np.empty(self.n_docs, np.int32)
            ranks[order] = np.arange(self.n_docs, dtype=np.int32)
            return ranks

        return self.compute_once(("rank", sort), compute)

    def list_rows(self, node: int, sort: str, show: str) -> Array:
        """Return the sorted rows of a node. ``show``: "all", "here" (at least half in it) or "hard" (unassigned)."""

        def compute() -> Array:
            """Compute the sorted rows."""
            shares = self.shares_under(node)
            if show == "hard":
                under = np.zeros(len(self.tree), bool)
                under[[node, *self.tree.descendants(node)]] = True
                rows = np.flatnonzero(self.hard & under[self.assigned_nodes])
            else:
                rows = np.flatnonzero(shares >= (MIN_CERTAINTY if show == "here" else MIN_SHARE))
            rows = rows.astype(np.int32)  # halves the memory of the cache
            if sort == "typical":
                return self._sort_typical_first(node, rows, shares[rows])
            return rows[np.argsort(self.rank(sort)[rows], kind="stable")]

        return self.compute_once(("listed", node, sort, show), compute)

    def n_listed(self, node: int, show: str) -> int:
        """Return the number of documents in a list of a node; ``show``: "all" or "here"."""
        min_share = MIN_CERTAINTY if show == "here" else MIN_SHARE
        return self.compute_once(("number", node, show), lambda: int((self.shares_under(node) >= min_share).sum()))

    def _sort_typical_first(self, node: int, rows: Array, shares: Array) -> Array:
        """Sort the documents of a node by share, then by words, alternating between its children.

        At most ``MAX_RANKED`` documents are ranked by words: evenly spaced runs of the documents with the largest
        shares. They come first, and all others follow by share.
        """
        rest = rows[:0]
        if len(rows) > MAX_RANKED:
            steps = np.rint(shares * 10_000).astype(np.int16)
            order = np.argsort(-steps, kind="stable")
            min_steps = steps[order[MAX_RANKED - 1]]
            n_above = int(np.count_nonzero(steps > min_steps))
            equal = order[n_above : n_above + int(np.count_nonzero(steps == min_steps))]
            first = np.zeros(len(rows), bool)
            first[order[:n_above]] = True
            first[equal[select_runs(len(equal), MAX_RANKED - n_above, RUN_LENGTH)]] = True
            rest = rows[order[~first[order]]]
            rows, shares = rows[first], shares[first]
        rows = rows[np.lexsort((rows, -self._score_typical(node, rows), -shares.round(4)))]
        return np.concatenate([rows[self._interleave_children(node, rows)], rest])

    def _interleave_children(self, node: int, rows: Array) -> Array:
        """Return an order of ranked documents that alternates between the children of a node.

        So the typical documents of a heading do not all come from one child. Documents of other topics come last.
        """
        child_of = np.full(len(self.tree), -1)
        for child in self.tree.children(node):
            child_of[[child, *self.tree.descendants(child)]] = child
        child_of[node] = node
        child_at: Array = child_of[self.assigned_nodes[rows]]
        by_child = np.argsort(child_at, kind="stable")
        starts = np.searchsorted(child_at[by_child], child_at[by_child], side="left")
        turn = np.empty(len(rows), np.int64)
        turn[by_child] = np.arange(len(rows)) - starts
        order: Array = np.lexsort((np.arange(len(rows)), turn, child_at < 0))
        return order

    def is_among(self, rows: Array, members: Array) -> Array:
        """Return which rows are in a list; the list can contain rows that were added later."""
        is_member = np.zeros(self.n_docs, bool)
        is_member[members[members < self.n_docs]] = True
        return is_member[rows]

    def intersect_rows(self, rows: Array, members: Sequence[int]) -> Array:
        common_rows: Array = rows[np.isin(rows, members)]
        return common_rows

    def all_rows(self, number: int) -> Array:
        return np.arange(number, dtype=np.int64)

    def list_assigned_here(self, node: int) -> tuple[Array, Array]:
        """Return the documents assigned to a node itself, most typical first, and their shares."""
        rows = np.flatnonzero(self.assigned_nodes == node)
        shares = self.shares_under(node)[rows]
        order = np.lexsort((rows, -self.lengths[rows], -shares.round(4)))
        return rows[order], shares[order]

    def count_assigned_here(self, node: int) -> int:
        """Return the number of documents assigned to a node itself."""
        return int((self.assigned_nodes == node).sum())

    def ends(self, row: int) -> dict[int, float]:
        """Return the certainties of the topics of a document with 5% or more, the most certain first."""
        shares = self.collection.certainties([row])[0]
        ends = np.bincount(self.shape.class_nodes, shares, minlength=len(self.tree))
        return {node: ends[node] for node in np.argsort(-ends, kind="stable").tolist() if ends[node] >= MIN_PLACE_SHARE}

    def largest_class(self, row: int) -> int:
        """Return the node of the class with the largest share of a document."""
        shares = self.collection.shares[[row]].toarray()[0]
        return self.shape.class_nodes[int(shares.argmax())] if shares.any() else self.tree.root

    def _score_typical(self, node: int, rows: Array) -> Array:
        """Return how much more likely the words of documents are in a topic than in the collection, per word.

        Each document gets some prior words without weight; otherwise the shortest would score highest.
        """
        topic_words = self.word_shares(node)
        if topic_words is None or node == self.tree.root:
            return self.lengths[rows]
        weight = np.log(0.5 * np.maximum(topic_words, 0.0) / self.word_probabilities + 0.5).astype(np.float32)
        counts = self.collection.counts if len(rows) == self.n_docs else self.collection.counts[rows]
        scores: Array = (counts @ weight) / (self.lengths[rows] + PRIOR_WORDS)
        return scores

    @cached(PARTS)
    def word_probabilities(self) -> Array:
        """P(word) in the collection by the model."""
        probabilities: Array = np.maximum(self.node_weight @ self.collection.tree_model.word_given_node, 1e-12)
        return probabilities

    @cached(PARTS)
    def columns(self) -> dict[str, int]:
        """Column of each word and word form."""
        return dict(self.collection.counting.vocabulary.columns)

    @cached(PARTS)
    def general(self) -> frozenset[str]:
        """General words: in more than half of the documents, represented at the root."""
        return frozenset(self.collection.counting.general)

    @cached(PARTS)
    def node_weight(self) -> Array:
        """Share of the collection that each node of the model explains."""
        model = self.collection.tree_model
        weight: Array = model.class_prior.astype(np.float64) @ model.node_given_class
        return weight

    def model_nodes(self, node: int) -> list[int]:
        """Return the model nodes of a topic: one, several for a merged topic, none for a new one."""
        return list(self.shape.model_nodes(self.shape.topics[node]))

    @cached(FORM)
    def shown_nodes(self) -> Array:
        """Visible node of each model node; for a removed topic, its nearest ancestor."""
        model, visible = self.collection.tree_model.tree, np.full(len(self.shape.node_topics), self.tree.root, np.int64)
        for model_node in model.depth_first():
            topic, parent = self.shape.node_topics[model_node], model.parents[model_node]
            visible[model_node] = self.shape.node_of.get(topic, visible[parent] if parent >= 0 else self.tree.root)
        return visible

    def word_shares(self, node: int) -> Array | None:
        """Return P(word | topic) of the topic itself; None for a topic that is new to the model."""
        nodes = self.model_nodes(node)
        if not nodes:
            return None
        shares: Array = self._weigh_nodes(nodes) @ self.collection.tree_model.word_given_node[nodes]
        return shares

    def _weigh_nodes(self, nodes: list[int]) -> Array:
        """Return the weights of the model nodes of a topic, which sum to one."""
        weight: Array = np.maximum(self.node_weight[nodes], 1e-12)
        weight /= weight.sum()
        return weight

    def own_words(self, node: int, n: int, special: float | None = None) -> list[tuple[str, float | None]]:
        """Return the characteristic words of a topic with P(word | topic), None for a word that lost its count.

        ``special`` ranges from frequent words (0) to words that are rare in the topics above (1). The score is
        (1 - s) log P(w|topic) + s log P(w|topic)/P(w|above).
        """
        shares = self.word_shares(node)
        if shares is None:
            return []
        if special is None:
            words = self.collection.tree.nodes[node].words[:n]
            return [(word, float(shares[self.columns[word]]) if word in self.columns else None) for word in words]
        parent, above_shares = self.tree.parents[node], np.full(len(shares), MIN_RELATIVE_PROBABILITY / len(shares))
        for higher in {parent, self.tree.root} - {node, -1}:
            higher_shares = self.word_shares(higher)
            above_shares = above_shares if higher_shares is None else np.maximum(above_shares, higher_shares)
        columns = np.flatnonzero(shares > max(MIN_PROBABILITY, MIN_RELATIVE_PROBABILITY / len(shares)))
        log_shares = np.log(shares[columns])
        score = log_shares if node == self.tree.root else log_shares - special * np.log(above_shares[columns])
        return self._word_probabilities_of(shares, columns[np.argsort(-score, kind="stable")][:n])

    def nearest_topics(self, node: int, n: int) -> list[int]:
        """Return the topics with the most similar words, on the same level or leaves above, not on its path.

        Similarity is the overlap of two distributions over the most frequent words of the topic. It must exceed the
        mean over all compared topics by two deviations. With fewer than eight topics the result is empty.
        """
        tree, topic_words = self.tree, self.word_shares(node)
        depth, excluded = tree.depths[node], {node, *tree.path(node), *tree.descendants(node)}
        others = [
            other
            for other in range(len(tree))
            if other not in excluded
            and (tree.depths[other] == depth or (tree.depths[other] < depth and tree.is_leaf(other)))
            and self.model_nodes(other)
        ]
        if topic_words is None or len(others) < MIN_COMPARED_TOPICS:
            return []

        def compute() -> list[int]:
            """Compare word distributions and return topics that are clearly similar."""
            words = np.argsort(-topic_words, kind="stable")[:COMPARED_WORDS]
            root_words, overlaps = np.sqrt(topic_words[words]), []
            shares = self.collection.tree_model.word_given_node[:, words]
            for other in others:
                nodes = self.model_nodes(other)
                overlaps.append(float(root_words @ np.sqrt(self._weigh_nodes(nodes) @ shares[nodes])))
            min_overlap = np.mean(overlaps) + MIN_DEVIATIONS * np.std(overlaps)
            pairs = zip(overlaps, others, strict=True)
            return [
                other for _, other in sorted((-overlap, other) for overlap, other in pairs if overlap > min_overlap)
            ]

        return self.compute_once(("nearest", node), compute)[:n]

    def words_below(self, node: int, n: int) -> list[tuple[str, float | None]]:
        """Return the most frequent words of a branch, including general words."""
        model = self.collection.tree_model
        inside = model.class_prior.astype(np.float64) * self.mask[:, node]
        if not inside.sum():
            return []
        shares = (inside / inside.sum()) @ model.node_given_class @ model.word_given_node
        return self._word_probabilities_of(shares, np.argsort(-shares, kind="stable")[:n])

    def _word_probabilities_of(self, shares: Array, columns: Array) -> list[tuple[str, float | None]]:
        words = self.collection.counting.vocabulary.words
        return [(words[column], float(shares[column])) for column in columns.tolist()]

    def document_counts(self, node: int, columns: Sequence[int]) -> list[int]:
        """Return the number of documents assigned under a topic that contain each of the words in ``columns``."""
        if node == self.tree.root:
            return [int(self.collection.counting.vocabulary.document_frequency[column]) for column in columns]
        is_edited = bool(self.shape.united or self.shape.ignored)  # the index has words before merging and ignoring
        if not is_edited and int(np.count_nonzero(self.select_assigned_under(node))) > MAX_RANKED:
            key = ("documents", node, tuple(columns))
            return self.compute_once(key, lambda: self._count_from_postings(node, columns))

        def compute() -> Array:
            counts = self.collection.counts
            numbers: Array = np.bincount(counts[self.select_assigned_under(node)].indices, minlength=counts.shape[1])
            return numbers

        all_counts = self.compute_once(("documents", node), compute)
        return [int(all_counts[column]) for column in columns]

    def _count_from_postings(self, node: int, columns: Sequence[int]) -> list[int]:
        """Count documents from posting lists; faster than a matrix for large topics."""
        under, numbers, start = self.select_assigned_under(node), np.zeros(len(columns), np.int64), 0
        for segment in self.collection.index.segments:
            segment_rows = under[start : start + len(segment)]
            places, is_known = segment.places(np.asarray(columns, np.int64))
            ends = segment.postings.ends
            numbers[is_known] += [
                int(np.count_nonzero(segment_rows[segment.postings.docs[ends[place] : ends[place + 1]]]))
                for place in places
            ]
            start += len(segment)
        return numbers.tolist()

    def find_nodes_of_word(self, word: str, n: int) -> list[tuple[int, float]]:
        """Return the nodes that explain most occurrences of a word, with their shares; the root for a general word."""
        column = self.columns.get(word)
        if column is None:
            return [(self.tree.root, 1.0)] if word in self.general else []
        if word in {seed for words in self.shape.seeds.values() for seed in words}:
            weight = count_occurrences_by_node(self.collection, column)  # the model has prior tokens of seed words
        else:
            weight = self.node_weight * self.collection.tree_model.word_given_node[:, column]
        node_shares = np.bincount(self.shown_nodes, weight / max(weight.sum(), 1e-300), minlength=len(self.tree))
        best = np.argsort(-node_shares, kind="stable")[:n]
        return [(node, float(node_shares[node])) for node in best.tolist() if node_shares[node] >= MIN_WORD_SHARE]

    def absent_words(self, row: int, n: int) -> list[list[str]]:
        """Return the absent words of a document at each level."""
        from topiarist.estimators.tree.abstraction import ghost_words  # estimators take a second to load

        collection, depths = self.collection, np.array(self.tree.depths)[self.shown_nodes]
        counts, shares = collection.counts[[row]], collection.shares[[row]].toarray()
        words = collection.counting.vocabulary.words
        absent_columns, _ = ghost_words(counts, collection.tree_model, shares, n, depths)
        return [[words[column] for column in columns if column >= 0] for columns in absent_columns[0].tolist()]

    def leads(self, rows: Sequence[int]) -> dict[int, str]:
        return self.collection.documents.leads(rows, repeated=self.collection.counting.repeated.forms)
