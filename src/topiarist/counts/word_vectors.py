"""Bundled vectors of English words: short texts and fields of knowledge can be compared without an encoder.

``tools/make_word_vectors.py`` wrote them; ``data/README.md`` has their origin and terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from topiarist.arrays import Array, Csr, Floats, Ints

LANGUAGE = "en"
MAX_SHARE = 0.3  # of the documents; more frequent words have no subject
RARITY = {10: 1.0, 20: 1.3, 35: 1.7, 40: 2.0}  # weight of a word by its size class, lower for common words
MAX_RARITY = 2.4  # weight of words of larger classes


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Unit vectors of words, in eight bits, and the weight of each word."""

    rows: dict[str, int]
    vectors: Array  # (n_words, n_dimensions), int8
    rarity: Floats

    def select(self, vocabulary: Sequence[str]) -> tuple[Ints, Ints]:
        """Return the columns of a vocabulary with a vector, and the rows of these vectors."""
        pairs = [(column, self.rows[word]) for column, word in enumerate(vocabulary) if word in self.rows]
        columns, rows = np.array(pairs, np.int64).reshape(-1, 2).T
        return columns, rows

    def vectors_of(self, rows: Ints) -> Floats:
        """Return unit vectors of words."""
        return to_unit_rows(self.vectors[rows])

    def mean_of(self, words: Sequence[str]) -> Floats:
        """Return the mean of the unit vectors of known words; zeros if none is known."""
        rows = np.array([self.rows[word] for word in words if word in self.rows], np.int64)
        mean: Floats = self.vectors_of(rows).sum(axis=0) / max(len(rows), 1)
        return mean


@cache
def load_word_vectors() -> WordVectors:
    """Load the bundled vectors; their file is mapped, not read."""
    folder = files("topiarist.data")
    lines = [line.split() for line in folder.joinpath("words.txt").read_text("utf-8").splitlines()]
    rows = {word: row for row, (word, _) in enumerate(lines)}
    rarity = np.array([RARITY.get(int(size), MAX_RARITY) for _, size in lines])
    return WordVectors(rows, np.load(str(folder.joinpath("word_vectors.npy")), mmap_mode="r"), rarity)


def load_field_vectors() -> Floats:
    """Load the unit vectors of the names in ``data/fields.txt``."""
    return to_unit_rows(np.load(str(files("topiarist.data").joinpath("field_vectors.npy"))))


def to_unit_rows(rows: Array) -> Floats:
    """Return rows of length one; rows of zeros stay."""
    rows = np.asarray(rows, np.float64)
    unit: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return unit


def weigh_words(vectors: WordVectors, rows: Ints, documents: Array, n_docs: int) -> Floats:
    """Return the weights of words: rarity in English × inverse document frequency; 0 for words without a subject."""
    weights: Floats = vectors.rarity[rows] * np.log(n_docs / np.maximum(documents, 1))
    weights[(documents > MAX_SHARE * n_docs) | (documents == 0)] = 0.0
    return weights


def embed_documents(counts: Csr, word_vectors: Floats, weights: Floats) -> Floats:
    """Return a unit vector for each row of counts; zeros for a document without a known word."""
    weighted = counts.astype(np.float64, copy=True)
    weighted.data = np.log1p(weighted.data) * weights[weighted.indices]
    return to_unit_rows(weighted @ word_vectors)
