"""Linear classifiers of documents: damped words by their information, joined with the latent dimensions of all texts.

A document is two rows of length one, of words and of latent dimensions (those of a truncated singular value
decomposition of every document there is, labelled or not), and the second is worth ``topical`` of the first. Both are
sums over the document's words, so that a score is one too: a word's part is told by ``word_parts``.
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


def joined(words: Csr, latent: Floats, topical: float) -> Any:
    """Both parts side by side, as scikit-learn's linear classifiers want them."""
    return csr_array(hstack([words, csr_array(topical * latent)], format="csr")) if topical else csr_array(words)


@dataclass(frozen=True)
class Linear:
    """A score for each class: what words and latent dimensions of a document are worth, and a constant."""

    word_weight: Floats  # (n_words, n_classes)
    latent_weight: Floats  # (n_dimensions, n_classes), with ``topical`` in it
    constant: Floats  # (n_classes,)

    def __call__(self, words: Csr, latent: Floats) -> Floats:
        """(n_docs, n_classes)."""
        found: Floats = np.asarray(words @ self.word_weight) + latent @ self.latent_weight + self.constant
        return found

    def word_parts(self, features: Features, counts: Csr) -> Floats:
        """What each word of one document adds to each score, (n_words of the document, n_classes)."""
        words = features.words(counts)
        length = features.latent(words)[1][0]
        worth = self.word_weight[words.indices] + features.word_factors[words.indices] @ self.latent_weight / length
        parts: Floats = words.data[:, None] * worth
        return parts


def svm(words: Csr, latent: Floats, classes: Array, n_classes: int, topical: float, strength: float) -> Linear:
    """Support vector machines, one class against the others; a class without a document has the lowest score."""
    from sklearn.svm import LinearSVC

    machine = LinearSVC(C=strength, tol=SVM_TOLERANCE, random_state=0)
    machine.fit(joined(words, latent, topical), classes)
    coef, constant = machine.coef_.T, machine.intercept_
    if coef.shape[1] == 1:
        coef, constant = np.hstack([-coef, coef]) / 2, np.concatenate([-constant, constant]) / 2
    lowest = np.full(n_classes, ABSENT)
    lowest[machine.classes_] = constant
    every = np.zeros((coef.shape[0], n_classes))
    every[:, machine.classes_] = coef
    return _split(every, lowest, words.shape[1], latent.shape[1], topical)


ABSENT = -3.0  # score of a class that nothing was learned of


def svm_of_labels(words: Csr, latent: Floats, labels: Csr, topical: float, strength: float) -> Linear:
    """A support vector machine for each label of documents that may have several; ``labels``: documents × labels."""
    from sklearn.svm import LinearSVC

    X, by_label = joined(words, latent, topical), labels.tocsc()
    coef, constant = np.zeros((X.shape[1], labels.shape[1])), np.full(labels.shape[1], ABSENT)
    for label in range(labels.shape[1]):
        have = np.zeros(X.shape[0], bool)
        have[by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]] = True
        if have.all() or not have.any():
            constant[label] = -ABSENT if have.all() else ABSENT
            continue
        machine = LinearSVC(C=strength, tol=SVM_TOLERANCE, random_state=0).fit(X, have)
        coef[:, label], constant[label] = machine.coef_[0], machine.intercept_[0]
    return _split(coef, constant, words.shape[1], latent.shape[1], topical)


def _split(coef: Floats, constant: Floats, n_words: int, n_dimensions: int, topical: float) -> Linear:
    latent = topical * coef[n_words:] if topical else np.zeros((n_dimensions, coef.shape[1]))
    return Linear(coef[:n_words].astype(np.float32), latent.astype(np.float32), constant)
