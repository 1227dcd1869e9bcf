"""The words of a topic: its own, ranked by how special they are, or those of everything below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.app.explorer import addresses
from topiarist.app.explorer.view import CERTAIN, View
from topiarist.text.query import phrase

Array = np.ndarray[Any, Any]
FLOOR = 0.01  # of a uniform share: less than that is "not there"
ENOUGH = 1e-6  # of a topic's words, to be ranked at all
HOMES = 5  # topics of a word in its card


@dataclass(frozen=True)
class OwnWord:
    """A word of a topic: its probability there, how much of the list's largest that is, where it occurs."""

    word: str
    probability: float
    bar: float  # of the largest in this list
    documents: int  # mostly under the topic, with the word
    search: str  # documents here with this word
    address: str  # where else it is at home


@dataclass(frozen=True)
class Home:
    """A topic at which a word is at home."""

    topic: int
    name: str
    address: str
    share: float  # of the word's occurrences that this topic explains


def words_of(view: View, node: int, n: int, special: float | None = None) -> tuple[OwnWord, ...]:
    """The own words of a topic. ``special`` goes from the frequent (0) to those that hardly anybody above has (1)."""
    shares = view.word_shares(node)
    if shares is None:
        return ()
    words = view.collection.counting.vocabulary.words
    if special is None:
        known = view.collection.tree.nodes[node].words[:n]
        pairs = [(word, float(shares[view.columns[word]]) if word in view.columns else None) for word in known]
        return _told(view, node, pairs)
    return _told(view, node, [(words[c], float(shares[c])) for c in _ranked(view, node, shares, special)[:n]])


def _ranked(view: View, node: int, shares: Array, special: float) -> list[int]:
    """Columns by (1 - s) log P(w|topic) + s log P(w|topic)/P(w|above)."""
    parent, above = view.tree.parents[node], np.full(len(shares), FLOOR / len(shares))
    for higher in {parent, view.tree.root} - {node, -1}:
        known = view.word_shares(higher)
        above = above if known is None else np.maximum(above, known)
    there = np.flatnonzero(shares > max(ENOUGH, FLOOR / len(shares)))
    here = np.log(shares[there])
    score = here if node == view.tree.root else here - special * np.log(above[there])
    found: list[int] = there[np.argsort(-score, kind="stable")].tolist()
    return found


def subtree_words(view: View, node: int, n: int) -> tuple[OwnWord, ...]:
    """The most frequent words of all that lies under a topic, general ones and all."""
    crown = view.collection.tree_model
    inside = crown.class_prior.astype(np.float64) * view.mask[:, node]
    if not inside.sum():
        return ()
    shares = (inside / inside.sum()) @ crown.node_given_class @ crown.word_given_node
    words = view.collection.counting.vocabulary.words
    return _told(view, node, [(words[c], float(shares[c])) for c in np.argsort(-shares, kind="stable")[:n]])


def _told(view: View, node: int, pairs: list[tuple[str, float | None]]) -> tuple[OwnWord, ...]:
    largest = max((share for _, share in pairs if share), default=1.0)
    documents, topic = _document_counts(view, node), view.shape.topics[node]
    root = node == view.tree.root
    return tuple(
        OwnWord(
            word, share or 0.0, (share or 0.0) / largest,
            int(documents[view.columns[word]]) if word in view.columns else 0,
            addresses.search(phrase(word), topic=None if root else topic), addresses.word(word),
        )
        for word, share in pairs
    )  # fmt: skip


def _document_counts(view: View, node: int) -> Array:
    """In how many documents that lie mostly under a topic each word of the vocabulary occurs."""

    def made() -> Array:
        counts = view.collection.counts
        if node == view.tree.root:
            return np.asarray(view.collection.counting.vocabulary.document_frequency)
        rows = np.flatnonzero(view.shares_under(node) >= CERTAIN)
        found: Array = np.bincount(counts[rows].indices, minlength=counts.shape[1])
        return found

    return view.numbers(("documents", node), made)


def homes_of(view: View, word: str, n: int = HOMES) -> tuple[Home, ...]:
    """The topics that explain most of a word's occurrences."""
    column = view.columns.get(word)
    if column is None:
        if word not in view.general:
            return ()
        root = view.tree.root
        return (Home(view.shape.topics[root], view.names[root], addresses.home(), 1.0),)
    crown = view.collection.tree_model
    weight = view.node_weight * crown.word_given_node[:, column]
    shown = np.bincount(view.shown_nodes, weight / max(weight.sum(), 1e-300), minlength=len(view.tree))
    best = np.argsort(-shown, kind="stable")[:n]
    return tuple(
        Home(
            view.shape.topics[node], view.names[node],
            addresses.topic(view.shape.topics[node]), float(shown[node]),
        )
        for node in best.tolist() if shown[node] >= 0.005
    )  # fmt: skip
