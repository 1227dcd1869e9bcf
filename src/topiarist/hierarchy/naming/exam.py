"""The exam of names: does a name, read as a query, lead to its own node?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topiarist.hierarchy.naming.presence import Presence, highest, telling

DOT = " · "
CONSIDERED = 60  # words from which a name is made


@dataclass(frozen=True)
class Item:
    """A word or phrase that may be part of a node's name."""

    text: str
    score: float
    shares: tuple[float, ...] = ()  # of the documents of each child that have it, for a heading
    elsewhere: float = 0.0  # share of all other documents
    tells_of_most: bool = True  # of the children, not of one

    @property
    def parts(self) -> list[str]:
        """Its words."""
        return self.text.split()


def is_plain(word: str) -> bool:
    """Letters only, and three of them in scripts that write words with letters."""
    return not any(map(str.isdigit, word)) and (len(word) > 2 or not word.isascii()) and "_" not in word


def is_formula(word: str) -> bool:
    """A scrap of a formula, such as *sum_*, *x_n* or *delta_p*; names of programs, *read_csv*, are none."""
    return "_" in word and any(len(part) < 2 for part in word.split("_"))


class Examiner:
    """Whether a name, read as a query, leads to its own node among the nodes of its level.

    The level of a node is the nodes as deep as it, and leaves that end above. Each is scored by Σ log P(word | node) of
    the name's words, with P(word | node) the share of the node's documents that have it, smoothed by half a document.
    """

    def __init__(self, presence: Presence, words: Sequence[str]) -> None:
        self.presence, self.words = presence, words
        self.columns = {word: column for column, word in enumerate(words)}
        tree = presence.tree
        self.levels = {
            depth: [
                v for v in range(len(tree)) if tree.depths[v] == depth or (tree.depths[v] < depth and tree.is_leaf(v))
            ]
            for depth in range(1, tree.depth + 1)
        }
        root = presence.have[tree.root] / max(float(presence.documents[tree.root]), 1e-12)
        self.everywhere = np.maximum(root, 1e-12)

    def spare(self, node: int) -> list[Item]:
        """Words by p · log(p/q) alone, for a node that nothing better tells of."""
        scores = telling(self.presence.shares(node), self.presence.elsewhere(node))
        words = [(self.words[column], float(scores[column])) for column in highest(scores, CONSIDERED)]
        return [Item(word, score) for word, score in words if is_plain(word)]

    def ranking(self, node: int, name: str) -> list[int]:
        """The nodes of the level, the best answer first; nothing where no word of the name is known."""
        columns = [self.columns[word] for (word,) in said(name) if word in self.columns]
        if not columns:
            return []
        level = self.levels[self.presence.tree.depths[node]]
        have, documents = self.presence.have[np.ix_(level, columns)], self.presence.documents[level]
        share = (have + self.everywhere[columns]) / (documents + 1.0)[:, None]
        scores = np.log(np.maximum(share, 1e-12)).sum(axis=1)
        return [level[place] for place in np.argsort(-scores, kind="stable").tolist()]

    def leads_home(self, node: int, name: str) -> bool:
        """Whether the first answer is the node itself."""
        return self.ranking(node, name)[:1] == [node]


def said(name: str) -> list[list[str]]:
    """The words of a name, each by itself."""
    return [[word.lower()] for item in name.split(DOT) for word in item.split()]
