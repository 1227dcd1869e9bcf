"""A model of what is relevant, learned from judgements as they come: logistic regression on tf-idf, and on vectors."""

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
from topiarist.estimators.category.class_vectors import points_in, space_of

STRENGTH = 1.0  # of the fit against the prior
STEPS = 15  # of the solver after each judgement: it begins where it ended before
PRESUMED = 100  # documents at random that are taken for irrelevant while few are judged to be
SOME_BEFORE = 100  # judgements after which the model learns from each; later from each hundredth part of them


VECTORIAL = 1.0  # what vectors are worth beside words


def features(counts: Csr, vectors: Floats | None = None) -> Csr:
    """Documents as a review sees them: tf-idf with damped counts, of length one; and vectors, if they come with any."""
    words = unit_rows(tfidf(counts, sublinear=True))
    space = None if vectors is None else space_of(vectors)
    if space is None:
        return words
    points = points_in(space, vectors, counts.shape[0])
    return csr_array(hstack([words, csr_array(VECTORIAL * points)], format="csr"))


class RelevanceModel:
    """Logistic regression that is fitted again after judgements, from where it was."""

    def __init__(self, documents: Csr) -> None:
        self.documents = documents
        # by a draw of its own: who ranks by the lot of a review reads by it, and what is left is no fair draw any more
        self._presumed = np.random.default_rng(0).permutation(documents.shape[0])[:PRESUMED]
        self._model = LogisticRegression(
            C=STRENGTH, class_weight="balanced", solver="lbfgs", warm_start=True, max_iter=STEPS, tol=1e-3
        )
        self._learned = -1  # judgements at the last fit
        self._scores: Doubles | None = None

    def scores(self, answers: Mapping[int, bool], *, hit: bool = True) -> Doubles | None:
        """The probability, in the model's opinion, that each document is relevant; None before one is known to be.

        ``hit``: whether the last judgement was of a relevant document, from which is learned at once.
        """
        number = len(answers)
        due = number < SOME_BEFORE or number - self._learned >= number // SOME_BEFORE or hit or self._learned > number
        if self._scores is None or (due and number != self._learned):
            self._scores = self._fitted(answers)
            self._learned = number
        return self._scores

    def _fitted(self, answers: Mapping[int, bool]) -> Doubles | None:
        if not any(answers.values()):
            return None
        rows = np.fromiter(answers.keys(), np.int64, len(answers))
        wanted = np.fromiter(answers.values(), np.int8, len(answers))
        more = max(PRESUMED - int((wanted == 0).sum()), 0)
        presumed = self._presumed[~np.isin(self._presumed, rows)][:more]
        rows, wanted = np.concatenate([rows, presumed]), np.concatenate([wanted, np.zeros(len(presumed), np.int8)])
        if wanted.all():
            return None
        with warnings.catch_warnings():  # a few steps at a time are enough
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._model.fit(self.documents[rows], wanted)
        found: Any = self.documents @ self._model.coef_[0] + self._model.intercept_[0]
        return np.asarray(1.0 / (1.0 + np.exp(-found)))
