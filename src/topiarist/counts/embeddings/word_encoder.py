"""Vectors of short English texts: weighted sums of the bundled word vectors, adapted to a collection.

A word of the collection moves from its bundled vector to the mean of the documents that have it. So words without a
bundled vector get one, and a word gets the sense that it has in these documents.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr, Floats
from topiarist.counts.embeddings.vector_sources import VectorSource
from topiarist.counts.vectors import find_rows_with_vectors
from topiarist.counts.vocabulary import Vocabulary
from topiarist.counts.word_vectors import MAX_RARITY, MAX_SHARE, load_word_vectors, to_unit_rows
from topiarist.text.documents import Document

NAME = "bundled word vectors"
ADAPTATION = 2.0  # weight of the documents that have a word, against its bundled vector
STEPS = 4  # of adaptation; more change nothing
PSEUDO_DOCUMENTS = 2.0  # without a direction, so that rare words stay near their bundled vectors

Split = Callable[[Document], Sequence[str]]


@dataclass(frozen=True, eq=False)
class WordEncoder(VectorSource):
    """Encoder of documents by the words of a collection, and by the bundled vectors of other words.

    ``split`` returns the words of a document. ``columns`` has the column of each word of the vocabulary; ``vectors``
    and ``weights`` have a row for each column.
    """

    split: Split
    columns: dict[str, int]
    ignored: frozenset[str]
    bundled: Floats  # unit vectors of the columns, zero for a word without one
    vectors: Floats
    rarity: Floats
    weights: Floats
    n_docs: int = 0
    name: str = NAME

    @classmethod
    def create(cls, vocabulary: Vocabulary, split: Split, ignored: Collection[str] = ()) -> WordEncoder:
        """Return an encoder for a vocabulary that knows no documents yet; ``ignored`` words have no vector."""
        source, forms = load_word_vectors(), vocabulary.forms or tuple((word,) for word in vocabulary.words)
        columns = {form: column for column, names in enumerate(forms) for form in names}
        bundled = np.zeros((len(vocabulary), source.vectors.shape[1]))
        rarity = np.full(len(vocabulary), MAX_RARITY)
        known, rows = source.select(vocabulary.words)
        bundled[known], rarity[known] = source.vectors_of(rows), source.rarity[rows]
        return cls(split, columns, frozenset(ignored), bundled, bundled, rarity, np.zeros(len(vocabulary)))

    def fit(self, documents: Iterable[Document]) -> WordEncoder:
        """Return the encoder with vectors that are adapted to documents."""
        has_word, others = self._find_words(documents)
        encoder = self.adapt(has_word)
        rest = encoder._sum_bundled(others)
        for _ in range(STEPS):
            encoder = encoder.adapt(has_word, encoder._sum(has_word) + rest)
        return encoder

    def adapt(self, has_word: Csr, directions: Floats | None = None) -> WordEncoder:
        """Return the encoder with the word weights of documents, and adapted to their directions if there are any.

        ``has_word`` is documents × columns with ones. The mean of all directions is subtracted.
        """
        n_docs, documents = has_word.shape[0], np.asarray(has_word.sum(axis=0), np.float64).ravel()
        weights = _weigh(self.rarity, documents, n_docs)
        if directions is None:
            return replace(self, weights=weights, n_docs=n_docs)
        units = to_unit_rows(directions)
        has_direction = find_rows_with_vectors(units)
        units[has_direction] -= units.sum(axis=0) / max(int(has_direction.sum()), 1)
        pull = np.asarray(has_word.T @ units) / (documents + PSEUDO_DOCUMENTS)[:, None]
        return replace(self, weights=weights, n_docs=n_docs, vectors=self.bundled + ADAPTATION * pull)

    @property
    def has_vectors(self) -> bool:
        """Return whether any word has a vector and a weight; words of most documents weigh nothing."""
        return bool(self.vectors[self.weights > 0].any())

    def load(self, first: int, documents: Sequence[Document]) -> Floats:
        has_word, others = self._find_words(documents)
        directions: Floats = to_unit_rows(self._sum(has_word) + self._sum_bundled(others)).astype(np.float32)
        return directions

    def embed_counts(self, counts: Csr) -> Floats:
        """Return the directions of documents by the words of the vocabulary alone."""
        directions: Floats = to_unit_rows(self._sum(mark_words(counts))).astype(np.float32)
        return directions

    def describe(self) -> str:
        return f"from the {NAME}"

    def _find_words(self, documents: Iterable[Document]) -> tuple[Csr, Csr]:
        """Return which documents have which words of the vocabulary, and which other words with a bundled vector."""
        bundled_rows = load_word_vectors().rows
        pairs: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
        n_docs = 0
        for row, document in enumerate(documents):
            n_docs = row + 1
            for word in sorted(set(self.split(document)) - self.ignored):
                column = self.columns.get(word)
                if column is not None:
                    pairs[0].append((row, column))
                elif word in bundled_rows:
                    pairs[1].append((row, bundled_rows[word]))
        return _mark(pairs[0], (n_docs, len(self.weights))), _mark(pairs[1], (n_docs, len(bundled_rows)))

    def _sum(self, has_word: Csr) -> Floats:
        return np.asarray(has_word @ (self.weights[:, None] * self.vectors))

    def _sum_bundled(self, others: Csr) -> Floats:
        """Return the weighted vector sums of each document's words outside the vocabulary."""
        source, columns = load_word_vectors(), np.unique(others.indices).astype(np.int64)
        weights = _weigh(source.rarity[columns], np.ones(len(columns)), max(self.n_docs, 1))
        present: Csr = others[:, columns]
        return np.asarray(present @ (weights[:, None] * source.vectors_of(columns)))


def mark_words(counts: Csr) -> Csr:
    """Return a matrix with a one for each word of a document."""
    return csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)


def _weigh(rarity: Floats, documents: Floats, n_docs: int) -> Floats:
    """Return the weights of words by their rarity in English and in the documents; frequent words have no subject."""
    weights: Floats = rarity * np.sqrt(np.log(np.maximum(n_docs, 1) / np.clip(documents, 1, max(n_docs, 1))))
    return np.where((documents > MAX_SHARE * n_docs) & (documents > 1), 0.0, weights)


def _mark(pairs: list[tuple[int, int]], shape: tuple[int, int]) -> Csr:
    """Return a matrix with ones at pairs of row and column; a pair that occurs twice counts once."""
    rows, columns = np.array(sorted(set(pairs)), np.int64).reshape(-1, 2).T
    return csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
