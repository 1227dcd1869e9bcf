"""Test of names: a name, used as a query, must find its own node."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from topiarist.trees.naming.presence import Presence, distinctiveness
from topiarist.trees.tree_text import DOT, JOINT
from topiarist.trees.words import find_highest

MIN_DOCUMENTS = 0.5  # expected documents of a half with a word of the name
MAX_WORDS = 60  # words from which a name is made


@dataclass(frozen=True)
class NameItem:
    """A word or phrase that may be part of a node's name."""

    text: str
    score: float
    shares: tuple[float, ...] = ()  # of the documents of each child that have it, for a heading
    outside_share: float = 0.0  # share of all other documents

    @property
    def parts(self) -> list[str]:
        """Words of the item."""
        return self.text.split()


def is_plain(word: str) -> bool:
    """Return whether a word has letters only, at least three, or two outside of ASCII."""
    return not any(map(str.isdigit, word)) and len(word) > (2 if word.isascii() else 1) and "_" not in word


def is_formula(word: str) -> bool:
    """Return whether a word is part of a formula, such as *sum_*, *x_n* or *delta_p*, unlike *read_csv*."""
    return "_" in word and any(len(part) < 2 for part in word.split("_"))


class NameTest:
    """Test whether a name, used as a query, finds its own node among the nodes of its level.

    The level of a node is all nodes of its depth and leaves above. Each is scored by Σ log P(word | node) of the
    name's words, with P(word | node) the share of the node's documents that have it, smoothed by half a document.
    """

    def __init__(
        self,
        presence: Presence,
        words: Sequence[str],
        excluded_words: Collection[str] = (),
        halves: Sequence[NameTest] = (),
    ) -> None:
        self.presence, self.words, self.excluded_words = presence, words, frozenset(excluded_words)
        self.halves = halves
        self.columns = {word: column for column, word in enumerate(words)}
        tree = presence.tree
        self.levels = {
            depth: [
                v for v in range(len(tree)) if tree.depths[v] == depth or (tree.depths[v] < depth and tree.is_leaf(v))
            ]
            for depth in range(1, tree.depth + 1)
        }
        root = presence.have[tree.root] / max(float(presence.documents[tree.root]), 1e-12)
        self.root_shares = np.maximum(root, 1e-12)

    def list_spare_items(self, node: int) -> list[NameItem]:
        """Return words by p · log(p/q) alone, for a node without better ones."""
        scores = distinctiveness(self.presence.shares(node), self.presence.compute_outside_shares(node))
        words = [(self.words[column], float(scores[column])) for column in find_highest(scores, MAX_WORDS)]
        return [NameItem(word, score) for word, score in words if is_plain(word) and word not in self.excluded_words]

    def rank_nodes(self, node: int, name: str) -> list[int]:
        """Return the nodes of the level by score, the best first; empty if no word of the name is known."""
        columns = [self.columns[word] for (word,) in split_name(name) if word in self.columns]
        if not columns:
            return []
        level = self.levels[self.presence.tree.depths[node]]
        have, documents = self.presence.have[np.ix_(level, columns)], self.presence.documents[level]
        share = (have + self.root_shares[columns]) / (documents + 1.0)[:, None]
        scores = np.log(np.maximum(share, 1e-12)).sum(axis=1)
        return [level[place] for place in np.argsort(-scores, kind="stable").tolist()]

    def is_found_by_name(self, node: int, name: str) -> bool:
        """Return whether the best node for the name is the node itself."""
        return self.rank_nodes(node, name)[:1] == [node]

    def is_accepted(self, node: int, name: str) -> bool:
        """Return whether the name finds its node by all documents, and by each half, which has all its words."""
        return self.is_found_by_name(node, name) and all(
            test.has_words(node, name) and test.is_found_by_name(node, name) for test in self.halves
        )

    def has_words(self, node: int, name: str) -> bool:
        """Return whether each known word of the name is in at least half a document of the node."""
        columns = [self.columns[word] for (word,) in split_name(name) if word in self.columns]
        return bool((self.presence.have[node, columns] >= MIN_DOCUMENTS).all())


def split_items(name: str) -> list[str]:
    """Return the words and phrases of a name, without dots and commas between them."""
    return [item.strip() for item in name.replace(JOINT, DOT).split(DOT)]


def split_name(name: str) -> list[list[str]]:
    """Return the words of a name, one list each."""
    return [[word.lower()] for item in split_items(name) for word in item.split()]
