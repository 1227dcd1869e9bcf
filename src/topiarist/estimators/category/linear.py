"""Linear classifiers of documents: damped words by their information, joined with the latent dimensions of all texts.

A document is two rows of length one, of words and of latent dimensions (those of a truncated singular value
decomposition of every document there is, labelled or not), and the second is worth ``topical`` of the first. Both are
sums over the document's words, so that a score is one too: a word's part is told by ``word_parts``. Where documents
come with vectors there is a third row, worth ``vectorial``, which no word has a part in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from topiarist.arrays import Array, Csr, Floats
from topiarist.counts.lsi import truncated_svd
from topiarist.counts.weighting import inverse_document_frequency, unit_rows

DIMENSIONS = 100
INFORMATION = 1.3  # power of the inverse document frequency: words that are everywhere say nothing, without a stop list
SVM_TOLERANCE = 1e-2


@dataclass(frozen=True)
class Features:
    """How a document becomes numbers."""

    idf: Floats  # (n_words,)
    word_factors: Floats  # (n_words, n_dimensions)

    @classmethod
    def of(cls, counts: Csr, seed: int) -> Features:
        """Of every document there is."""
        idf = (inverse_document_frequency(counts) - 0.9) ** INFORMATION
        words = _words(counts, idf)
        filled = int((np.diff(words.indptr) > 0).sum())
        size = min(DIMENSIONS, max(1, filled - 1), max(1, counts.shape[1] - 1))
        return cls(idf, truncated_svd(words, size, seed=seed).word_factors.astype(np.float32))

    def words(self, counts: Csr) -> Csr:
        """The words of documents, (n_docs, n_words): log(1 + n) by the inverse document frequency, rows of length 1."""
        return _words(counts, self.idf)

    def latent(self, words: Csr) -> tuple[Floats, Floats]:
        """The latent dimensions of documents in rows of length 1, and the lengths they had."""
        points = np.asarray(words @ self.word_factors)
        lengths = np.linalg.norm(points, axis=1)
        lengths = np.where(lengths > 1e-9, lengths, 1.0)
        return points / lengths[:, None], lengths


def _words(counts: Csr, idf: Floats) -> Csr:
    data = np.log1p(counts.data.astype(np.float64)) * idf[counts.indices]
    return unit_rows(csr_array((data, counts.indices, counts.indptr), shape=counts.shape))


@dataclass(frozen=True)
class Rows:
    """Documents as linear classifiers see them: words, latent dimensions, and vectors if they come with any."""

    words: Csr
    latent: Floats
    points: Floats  # (n_docs, 0) without vectors

    def of(self, rows: Array) -> Rows:
        """Some documents."""
        return Rows(csr_array(self.words[rows]), self.latent[rows], self.points[rows])


@dataclass(frozen=True)
class Worth:
    """What latent dimensions and vectors are worth beside words."""

    topical: float
    vectorial: float = 0.0


def joined(rows: Rows, worth: Worth) -> Any:
    """All parts side by side, as scikit-learn's linear classifiers want them."""
    parts = [rows.words]
    parts += [csr_array(worth.topical * rows.latent)] if worth.topical else []
    parts += [csr_array(worth.vectorial * rows.points)] if worth.vectorial else []
    return csr_array(hstack(parts, format="csr")) if len(parts) > 1 else csr_array(rows.words)


@dataclass(frozen=True)
class Linear:
    """A score for each class: what words and latent dimensions of a document are worth, and a constant."""

    word_weight: Floats  # (n_words, n_classes)
    latent_weight: Floats  # (n_dimensions, n_classes), with ``topical`` in it
    constant: Floats  # (n_classes,)
    vector_weight: Floats | None = None  # (n_dimensions of vectors, n_classes), with ``vectorial`` in it

    def __call__(self, rows: Rows) -> Floats:
        """(n_docs, n_classes)."""
        found: Floats = np.asarray(rows.words @ self.word_weight) + rows.latent @ self.latent_weight + self.constant
        if self.vector_weight is not None and rows.points.shape[1]:
            found += rows.points @ self.vector_weight
        return found

    def word_parts(self, features: Features, counts: Csr) -> Floats:
        """What each word of one document adds to each score, (n_words of the document, n_classes)."""
        words = features.words(counts)
        length = features.latent(words)[1][0]
        worth = self.word_weight[words.indices] + features.word_factors[words.indices] @ self.latent_weight / length
        parts: Floats = words.data[:, None] * worth
        return parts


def svm(rows: Rows, classes: Array, n_classes: int, worth: Worth, strength: float) -> Linear:
    """Support vector machines, one class against the others; a class without a document has the lowest score."""
    from sklearn.svm import LinearSVC

    machine = LinearSVC(C=strength, tol=SVM_TOLERANCE, random_state=0)
    machine.fit(joined(rows, worth), classes)
    coef, constant = machine.coef_.T, machine.intercept_
    if coef.shape[1] == 1:
        coef, constant = np.hstack([-coef, coef]) / 2, np.concatenate([-constant, constant]) / 2
    lowest = np.full(n_classes, ABSENT)
    lowest[machine.classes_] = constant
    every = np.zeros((coef.shape[0], n_classes))
    every[:, machine.classes_] = coef
    return _split(every, lowest, rows, worth)


ABSENT = -3.0  # score of a class that nothing was learned of


def svm_of_labels(rows: Rows, labels: Csr, worth: Worth, strength: float) -> Linear:
    """A support vector machine for each label of documents that may have several; ``labels``: documents × labels."""
    from sklearn.svm import LinearSVC

    X, by_label = joined(rows, worth), labels.tocsc()
    coef, constant = np.zeros((X.shape[1], labels.shape[1])), np.full(labels.shape[1], ABSENT)
    for label in range(labels.shape[1]):
        have = np.zeros(X.shape[0], bool)
        have[by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]] = True
        if have.all() or not have.any():
            constant[label] = -ABSENT if have.all() else ABSENT
            continue
        machine = LinearSVC(C=strength, tol=SVM_TOLERANCE, random_state=0).fit(X, have)
        coef[:, label], constant[label] = machine.coef_[0], machine.intercept_[0]
    return _split(coef, constant, rows, worth)


def _split(coef: Floats, constant: Floats, rows: Rows, worth: Worth) -> Linear:
    n_words, n_latent = rows.words.shape[1], rows.latent.shape[1]
    until = n_words + (n_latent if worth.topical else 0)
    latent = worth.topical * coef[n_words:until] if worth.topical else np.zeros((n_latent, coef.shape[1]))
    pointed = (worth.vectorial * coef[until:]).astype(np.float32) if worth.vectorial else None
    return Linear(coef[:n_words].astype(np.float32), latent.astype(np.float32), constant, pointed)
