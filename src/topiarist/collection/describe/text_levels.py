"""Levels and topics of the words of a document."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Array
from topiarist.collection.contents import Counting
from topiarist.collection.describe.statistics import Figures
from topiarist.estimators.tree.abstraction import word_levels
from topiarist.text.repeated import Span
from topiarist.text.stems import find_stems
from topiarist.text.stop_words import resolve_stop_words

Token = tuple[str, int, int, int | None]  # a word, where it begins and ends, its column
MAX_CELLS = 1 << 23  # words × nodes in memory at once
MAX_DOCUMENTS = 1_024  # documents with display codes computed at once


@dataclass(frozen=True)
class WordPosterior:
    """Posterior of the words of one document: P(node | document, word) over the visible nodes."""

    rows: dict[int, int]  # row of ``nodes`` and ``levels`` by the column of a word
    nodes: Array
    levels: Array

    def of(self, column: int) -> tuple[int, int, float, float]:
        """Return the most probable level and node of a word, and their probabilities."""
        row = self.rows[column]
        level, node = int(self.levels[row].argmax()), int(self.nodes[row].argmax())
        return level, node, float(self.levels[row, level]), float(self.nodes[row, node])

    def amounts(self, tokens: Sequence[Token], table: Array, root: int) -> Array:
        """Return the share of the counted tokens that belongs to each level or node."""
        total = np.zeros(table.shape[1])
        for column, times in Counter(column for _, _, _, column in tokens if column is not None).items():
            if column < 0:
                total[root] += times
            elif column in self.rows:
                total += times * table[self.rows[column]]
        fractions: Array = total / max(total.sum(), 1e-300)
        return fractions

    def densest(self, parts: Sequence[Sequence[Token]], table: Array, root: int) -> list[int]:
        """Return the number of the part of the text with the largest share of each level or node."""
        if len(parts) < 2:
            return [1] * table.shape[1]
        numbers: list[int] = (np.argmax([self.amounts(part, table, root) for part in parts], axis=0) + 1).tolist()
        return numbers

    def largest_nodes(self, tokens: Sequence[Token], root: int, n: int) -> dict[int, int]:
        """Number the topics with the largest shares of the text from 1, without the root."""
        shares = self.amounts(tokens, self.nodes, root)
        shares[root] = 0.0
        best = np.argsort(-shares, kind="stable")[:n]
        return {int(node): place for place, node in enumerate(best, 1) if shares[node] > 0}


@dataclass(frozen=True)
class DisplayCodes:
    """Display codes of the counted words of documents: one number for topic, level and certainty."""

    first: int
    starts: Array
    columns: Array
    codes: Array
    general: int  # code of general words
    n_levels: int

    @property
    def stop(self) -> int:
        return self.first + len(self.starts) - 1

    def of(self, row: int) -> dict[int, int]:
        """Return the code of each word of a document by its column; general words have the column −1."""
        entries = slice(self.starts[row - self.first], self.starts[row - self.first + 1])
        return {
            **dict(zip(self.columns[entries].tolist(), self.codes[entries].tolist(), strict=True)),
            -1: self.general,
        }

    def meaning(self, code: int) -> tuple[int, int, int]:
        """Return the level and the node of a code, and 1 if they are uncertain."""
        return code // 2 % self.n_levels, code // 2 // self.n_levels, code % 2


def compute_word_posterior(figures: Figures, row: int) -> WordPosterior:
    """Compute the levels and topics of each counted word of a document."""
    counts, model_nodes = figures.collection.counts[[row]], _compute_word_nodes(figures, row, row + 1)
    depths = np.array(figures.tree.depths)
    nodes = np.zeros((len(model_nodes), len(figures.tree)))
    np.add.at(nodes.T, figures.shown_nodes, model_nodes.T)
    levels = np.zeros((len(model_nodes), depths.max() + 1))
    np.add.at(levels.T, depths, nodes.T)
    return WordPosterior({column: place for place, column in enumerate(counts.indices.tolist())}, nodes, levels)


def compute_display_codes(figures: Figures, first: int, n_levels: int, min_certainty: float) -> DisplayCodes:
    """Compute display codes for as many documents from ``first`` on as fit into memory; deep levels are capped."""
    collection, depths = figures.collection, np.array(figures.tree.depths)
    mean_words = max(1, collection.counts.nnz // max(figures.n_docs, 1))
    step = int(np.clip(MAX_CELLS // (mean_words * len(collection.tree_model.tree)), 1, MAX_DOCUMENTS))
    counts = collection.counts[first : first + step]
    nodes = _compute_word_nodes(figures, first, first + step) @ np.eye(len(figures.tree))[figures.shown_nodes]
    levels = nodes @ np.eye(depths.max() + 1)[depths]
    level = np.minimum(levels.argmax(axis=1), n_levels - 1)
    codes = (nodes.argmax(axis=1) * n_levels + level) * 2 + (levels.max(axis=1, initial=0.0) < min_certainty)
    return DisplayCodes(first, counts.indptr, counts.indices, codes, figures.tree.root * n_levels * 2, n_levels)


def iter_tokens(figures: Figures, text: str) -> Iterator[Token]:
    """Yield words, or phrases, with their positions and columns (−1: general word, None: not counted)."""
    counting = figures.collection.counting
    phrases, words = set(counting.vocabulary.phrases), list(counting.settings.tokenizer.offsets(text))
    find_column = _make_column_lookup(counting)
    place = 0
    while place < len(words):
        word, start, end = words[place]
        place += 1
        if phrases and place < len(words) and f"{word} {words[place][0]}" in phrases:
            word, end, place = f"{word} {words[place][0]}", words[place][2], place + 1
        yield word, start, end, -1 if word in figures.general else counting.column(find_column(word))


def mark_uncounted(tokens: Iterable[Token], repeated: Iterable[Span]) -> Iterator[Token]:
    """Yield the words of a text; words of repeated lines have no column. Spans and words are in order."""
    left = deque(repeated)
    for word, start, end, column in tokens:
        while left and left[0][1] <= start:
            left.popleft()
        yield word, start, end, None if left and left[0][0] <= start else column


def _make_column_lookup(counting: Counting) -> Callable[[str], int | None]:
    """Return a function from a word to its column; a form that was never seen has the column of its stem."""
    vocabulary, language = counting.vocabulary, counting.settings.stem
    if language is None:
        return vocabulary.column
    stop_words = resolve_stop_words(counting.settings.stop_words)
    by_stem = {stem: column for column, stem in enumerate(find_stems(vocabulary.words, language))}

    def find_column(word: str) -> int | None:
        column = vocabulary.column(word)
        return by_stem.get(find_stems([word], language)[0]) if column is None and word not in stop_words else column

    return find_column


def _compute_word_nodes(figures: Figures, first: int, stop: int) -> Array:
    """Return P(model node | document, word) for the counted words of documents."""
    collection, model = figures.collection, figures.collection.tree_model
    counts, shares = collection.counts[first:stop], collection.shares[first:stop].toarray()
    model_levels = np.arange(len(model.tree))  # each node is a separate level
    return word_levels(counts, model, shares, model_levels).probabilities
