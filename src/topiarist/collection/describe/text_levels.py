"""From which level and which topic the words of a document speak, word by word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Array
from topiarist.collection.describe.figures import Figures
from topiarist.estimators.tree.abstraction import word_levels

Token = tuple[str, int, int, int | None]  # a word, where it begins and ends, its column
CELLS = 1 << 23  # words × nodes that are looked at together
MOST = 1_024  # documents of one look


@dataclass(frozen=True)
class Spoken:
    """What the model says of the words of one document: P(node | document, word) over the nodes that people see."""

    rows: dict[int, int]  # by the column of a word
    nodes: Array
    levels: Array

    def of(self, column: int) -> tuple[int, int, float, float]:
        """Level and node of a word, and how sure they are."""
        row = self.rows[column]
        level, node = int(self.levels[row].argmax()), int(self.nodes[row].argmax())
        return level, node, float(self.levels[row, level]), float(self.nodes[row, node])

    def amounts(self, tokens: Sequence[Token], table: Array, root: int) -> Array:
        """How much of the counted text speaks from each level or node."""
        total = np.zeros(table.shape[1])
        for column, times in Counter(column for _, _, _, column in tokens if column is not None).items():
            if column < 0:
                total[root] += times
            elif column in self.rows:
                total += times * table[self.rows[column]]
        found: Array = total / max(total.sum(), 1e-300)
        return found

    def densest(self, parts: Sequence[Sequence[Token]], table: Array, root: int) -> list[int]:
        """For each level or node the number of the part of the text of which most speaks from it."""
        if len(parts) < 2:
            return [1] * table.shape[1]
        found: list[int] = (np.argmax([self.amounts(part, table, root) for part in parts], axis=0) + 1).tolist()
        return found

    def largest_nodes(self, tokens: Sequence[Token], root: int, n: int) -> dict[int, int]:
        """The topics that most of the text speaks from, numbered from 1; the general language is not among them."""
        shares = self.amounts(tokens, self.nodes, root)
        shares[root] = 0.0
        best = np.argsort(-shares, kind="stable")[:n]
        return {int(node): place for place, node in enumerate(best, 1) if shares[node] > 0}


@dataclass(frozen=True)
class Looks:
    """How the counted words of some documents look: one number for topic, level and whether that is sure."""

    first: int
    starts: Array
    columns: Array
    codes: Array
    general: int  # the look of the collection's general words
    n_levels: int

    @property
    def stop(self) -> int:
        """The row after the last."""
        return self.first + len(self.starts) - 1

    def of(self, row: int) -> dict[int, int]:
        """The look of each word of a document, by its column; general ones have the column −1."""
        here = slice(self.starts[row - self.first], self.starts[row - self.first + 1])
        return {**dict(zip(self.columns[here].tolist(), self.codes[here].tolist(), strict=True)), -1: self.general}

    def meaning(self, code: int) -> tuple[int, int, int]:
        """The level and the node of a look, and 1 where they are not sure."""
        return code // 2 % self.n_levels, code // 2 // self.n_levels, code % 2


def spoken(figures: Figures, row: int) -> Spoken:
    """The levels and topics of every counted word of a document."""
    counts, found, depths = figures.collection.counts[[row]], _word_nodes(figures, row, row + 1), _depths(figures)
    nodes = np.zeros((len(found), len(figures.tree)))
    np.add.at(nodes.T, figures.shown_nodes, found.T)
    levels = np.zeros((len(found), depths.max() + 1))
    np.add.at(levels.T, depths, nodes.T)
    return Spoken({column: place for place, column in enumerate(counts.indices.tolist())}, nodes, levels)


def looks(figures: Figures, first: int, n_levels: int, sure: float) -> Looks:
    """The looks of words, of as many documents from a row on as fit into memory; deep levels look like the last."""
    collection, depths = figures.collection, _depths(figures)
    each = max(1, collection.counts.nnz // max(figures.n_docs, 1))
    step = int(np.clip(CELLS // (each * len(collection.tree_model.tree)), 1, MOST))
    counts = collection.counts[first : first + step]
    nodes = _word_nodes(figures, first, first + step) @ np.eye(len(figures.tree))[figures.shown_nodes]
    levels = nodes @ np.eye(depths.max() + 1)[depths]
    level = np.minimum(levels.argmax(axis=1), n_levels - 1)
    codes = (nodes.argmax(axis=1) * n_levels + level) * 2 + (levels.max(axis=1, initial=0.0) < sure)
    return Looks(first, counts.indptr, counts.indices, codes, figures.tree.root * n_levels * 2, n_levels)


def tokens_of(figures: Figures, text: str) -> Iterator[Token]:
    """Words with their places and columns (−1: a general one, None: not counted); phrases in one piece."""
    counting = figures.collection.counting
    phrases, words = set(counting.vocabulary.phrases), list(counting.settings.tokenizer.offsets(text))
    place = 0
    while place < len(words):
        word, start, end = words[place]
        place += 1
        if phrases and place < len(words) and f"{word} {words[place][0]}" in phrases:
            word, end, place = f"{word} {words[place][0]}", words[place][2], place + 1
        yield word, start, end, figures.columns.get(word, -1 if word in figures.general else None)


def _word_nodes(figures: Figures, first: int, stop: int) -> Array:
    """P(node of the model | document, word) for the counted words of some documents."""
    collection, model = figures.collection, figures.collection.tree_model
    counts, shares = collection.counts[first:stop], collection.shares[first:stop].toarray()
    every = np.arange(len(model.tree))  # each node a level of its own
    return word_levels(counts, model, shares, every).probabilities


def _depths(figures: Figures) -> Array:
    return np.array(figures.tree.depths)
