"""Model of relevance from judgements: logistic regression on tf-idf and embeddings."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from topiarist.arrays import Csr, Doubles, Floats
from topiarist.counts.weighting import tfidf, unit_rows
from topiarist.estimators.category.class_vectors import fit_space, project_points

STRENGTH = 1.0  # inverse regularisation ``C`` of the regression
MAX_STEPS = 15  # steps of the solver after each judgement; it starts from its last solution
N_PRESUMED = 100  # random documents assumed irrelevant while few judged documents are
EAGER_JUDGEMENTS = 100  # judgements with a fit after each; later a fit follows each hundredth part of them
VECTOR_WEIGHT = 1.0  # weight of embeddings relative to words


def compute_features(counts: Csr, vectors: Floats | None = None) -> Csr:
    """Return the features of the documents: unit tf-idf rows of damped counts, with embeddings if present."""
    words = unit_rows(tfidf(counts, sublinear=True))
    space = None if vectors is None else fit_space(vectors)
    if space is None:
        return words
    points = project_points(space, vectors, counts.shape[0])
    return csr_array(hstack([words, csr_array(VECTOR_WEIGHT * points)], format="csr"))


class RelevanceModel:
    """Logistic regression on all judgements, refitted from its last solution."""

    def __init__(self, documents: Csr) -> None:
        self.documents = documents
        # Its own random draw: a ranking that used the lot would bias the later draws from it.
        self._presumed_rows = np.random.default_rng(0).permutation(documents.shape[0])[:N_PRESUMED]
        self._model = LogisticRegression(
            C=STRENGTH, class_weight="balanced", solver="lbfgs", warm_start=True, max_iter=MAX_STEPS, tol=1e-3
        )
        self._n_learned = -1  # judgements at the last fit
        self._scores: Doubles | None = None

    def scores(self, answers: Mapping[int, bool], *, hit: bool = True) -> Doubles | None:
        """Return P(relevant) of each document, fitted anew when due or after a ``hit``; None without relevant ones."""
        number = len(answers)
        due = (
            number < EAGER_JUDGEMENTS
            or number - self._n_learned >= number // EAGER_JUDGEMENTS
            or hit
            or self._n_learned > number
        )
        if self._scores is None or (due and number != self._n_learned):
            self._scores = self._fit_scores(answers)
            self._n_learned = number
        return self._scores

    def _fit_scores(self, answers: Mapping[int, bool]) -> Doubles | None:
        """Fit the model to the answers and return P(relevant); None without a relevant document."""
        if not any(answers.values()):
            return None
        rows = np.fromiter(answers.keys(), np.int64, len(answers))
        targets = np.fromiter(answers.values(), np.int8, len(answers))
        n_presumed = max(N_PRESUMED - int((targets == 0).sum()), 0)
        presumed_rows = self._presumed_rows[~np.isin(self._presumed_rows, rows)][:n_presumed]
        rows, targets = (
            np.concatenate([rows, presumed_rows]),
            np.concatenate([targets, np.zeros(len(presumed_rows), np.int8)]),
        )
        if targets.all():
            return None
        with warnings.catch_warnings():  # a few steps at a time are enough
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._model.fit(self.documents[rows], targets)
        logits: Any = self.documents @ self._model.coef_[0] + self._model.intercept_[0]
        return np.asarray(1.0 / (1.0 + np.exp(-logits)))
