"""Linear classifiers of documents on weighted words, latent dimensions and vectors.

A document has two rows of length one: words, and latent dimensions of a truncated singular value decomposition of all
documents. The second has the weight ``topical``. Both are sums over the words of the document, and so are scores;
``word_parts`` returns the part of each word. Documents with vectors have a third row with the weight ``vectorial``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from topiarist.arrays import Array, Csr, Floats
from topiarist.counts.lsi import truncated_svd
from topiarist.counts.weighting import inverse_document_frequency, unit_rows
from topiarist.estimators.category.class_vectors import project_points
from topiarist.estimators.gaussian.vector_space import VectorSpace

DIMENSIONS = 100
IDF_POWER = 1.3  # power of the inverse document frequency: words that are everywhere say nothing, without a stop list
SVM_TOLERANCE = 1e-2


@dataclass(frozen=True)
class Features:
    """Weights and projection that turn counts into features."""

    idf: Floats  # (n_words,)
    word_factors: Floats  # (n_words, n_dimensions)

    @classmethod
    def of(cls, counts: Csr, seed: int) -> Features:
        """Learn inverse document frequencies and latent dimensions from counts."""
        idf = (inverse_document_frequency(counts) - 0.9) ** IDF_POWER
        words = _weigh_words(counts, idf)
        filled = int((np.diff(words.indptr) > 0).sum())
        size = min(DIMENSIONS, max(1, filled - 1), max(1, counts.shape[1] - 1))
        return cls(idf, truncated_svd(words, size, seed=seed).word_factors.astype(np.float32))

    def rows(self, counts: Csr, space: VectorSpace | None, vectors: Floats | None) -> Rows:
        """Return all features of documents; vectors are projected to ``space``."""
        words = self.words(counts)
        return Rows(words, self.latent(words)[0], project_points(space, vectors, counts.shape[0]))

    def words(self, counts: Csr) -> Csr:
        """Return words of documents, (n_docs, n_words): log(1 + n) times IDF weights, in rows of length one."""
        return _weigh_words(counts, self.idf)

    def latent(self, words: Csr) -> tuple[Floats, Floats]:
        """Return latent dimensions of documents in rows of length one, and their former lengths."""
        points = np.asarray(words @ self.word_factors)
        lengths = np.linalg.norm(points, axis=1)
        lengths = np.where(lengths > 1e-9, lengths, 1.0)
        return points / lengths[:, None], lengths


def _weigh_words(counts: Csr, idf: Floats) -> Csr:
    data = np.log1p(counts.data.astype(np.float64)) * idf[counts.indices]
    return unit_rows(csr_array((data, counts.indices, counts.indptr), shape=counts.shape))


@dataclass(frozen=True)
class Rows:
    """Features of documents: words, latent dimensions, and vectors if they have any."""

    words: Csr
    latent: Floats
    points: Floats  # (n_docs, 0) without vectors

    def of(self, rows: Array) -> Rows:
        return Rows(csr_array(self.words[rows]), self.latent[rows], self.points[rows])


@dataclass(frozen=True)
class FeatureWeights:
    """Weights of latent dimensions and vectors relative to words."""

    topical: float
    vectorial: float = 0.0


def join_features(rows: Rows, worth: FeatureWeights) -> Any:
    parts = [rows.words]
    parts += [csr_array(worth.topical * rows.latent)] if worth.topical else []
    parts += [csr_array(worth.vectorial * rows.points)] if worth.vectorial else []
    return csr_array(hstack(parts, format="csr")) if len(parts) > 1 else csr_array(rows.words)


@dataclass(frozen=True)
class Linear:
    """Linear scores of the classes: weights of words, latent dimensions and vectors, and a constant."""

    word_weight: Floats  # (n_words, n_classes)
    latent_weight: Floats  # (n_dimensions, n_classes), with ``topical`` in it
    constant: Floats  # (n_classes,)
    vector_weight: Floats | None = None  # (n_dimensions of vectors, n_classes), with ``vectorial`` in it

    def __call__(self, rows: Rows) -> Floats:
        scores: Floats = np.asarray(rows.words @ self.word_weight) + rows.latent @ self.latent_weight + self.constant
        if self.vector_weight is not None and rows.points.shape[1]:
            scores += rows.points @ self.vector_weight
        return scores

    def word_parts(self, features: Features, counts: Csr) -> Floats:
        """Return the part of each word of one document in each score, (n_words of the document, n_classes)."""
        words = features.words(counts)
        length = features.latent(words)[1][0]
        worth = self.word_weight[words.indices] + features.word_factors[words.indices] @ self.latent_weight / length
        parts: Floats = words.data[:, None] * worth
        return parts


def fit_svm(rows: Rows, classes: Array, n_classes: int, worth: FeatureWeights, strength: float) -> Linear:
    """Fit one-against-rest support vector machines; a class without documents gets the lowest score."""
    from sklearn.svm import LinearSVC

    machine = LinearSVC(C=strength, tol=SVM_TOLERANCE, random_state=0)
    machine.fit(join_features(rows, worth), classes)
    coef, constant = machine.coef_.T, machine.intercept_
    if coef.shape[1] == 1:
        coef, constant = np.hstack([-coef, coef]) / 2, np.concatenate([-constant, constant]) / 2
    lowest = np.full(n_classes, ABSENT_SCORE)
    lowest[machine.classes_] = constant
    all_weights = np.zeros((coef.shape[0], n_classes))
    all_weights[:, machine.classes_] = coef
    return _split_weights(all_weights, lowest, rows, worth)


ABSENT_SCORE = -3.0  # score of a class that nothing was learned of


def fit_label_svms(rows: Rows, labels: Csr, worth: FeatureWeights, strength: float) -> Linear:
    """Fit a linear SVM for each label; a label of all or no documents gets a constant score."""
    from sklearn.svm import LinearSVC

    X, by_label = join_features(rows, worth), labels.tocsc()
    coef, constant = np.zeros((X.shape[1], labels.shape[1])), np.full(labels.shape[1], ABSENT_SCORE)
    for label in range(labels.shape[1]):
        have = np.zeros(X.shape[0], bool)
        have[by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]] = True
        if have.all() or not have.any():
            constant[label] = -ABSENT_SCORE if have.all() else ABSENT_SCORE
            continue
        machine = LinearSVC(C=strength, tol=SVM_TOLERANCE, random_state=0).fit(X, have)
        coef[:, label], constant[label] = machine.coef_[0], machine.intercept_[0]
    return _split_weights(coef, constant, rows, worth)


def _split_weights(coef: Floats, constant: Floats, rows: Rows, worth: FeatureWeights) -> Linear:
    """Split joint coefficients into those of words, latent dimensions and vectors."""
    n_words, n_latent = rows.words.shape[1], rows.latent.shape[1]
    latent_end = n_words + (n_latent if worth.topical else 0)
    latent = worth.topical * coef[n_words:latent_end] if worth.topical else np.zeros((n_latent, coef.shape[1]))
    vector_weight = (worth.vectorial * coef[latent_end:]).astype(np.float32) if worth.vectorial else None
    return Linear(coef[:n_words].astype(np.float32), latent.astype(np.float32), constant, vector_weight)
