"""Classifier with several labels for each document: one linear classifier for each label, and thresholds.

A support vector machine scores each label, and held-out documents turn scores into probabilities. A document gets all
labels whose probabilities exceed their thresholds, and at least the nearest one. Thresholds are chosen on held-out
documents, half way between the best common threshold and the best threshold of each label, because most labels have few
documents.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr, Floats, Ints
from topiarist.estimators.category.class_vectors import fit_space
from topiarist.estimators.category.linear import Features, FeatureWeights, Linear, Rows, fit_label_svms
from topiarist.estimators.gaussian.vector_space import VectorSpace
from topiarist.metrics.label_agreement import example_f1
from topiarist.models.labels import choice

FEATURE_WEIGHTS = FeatureWeights(0.5)  # what latent dimensions are worth beside words
WITH_VECTORS = FeatureWeights(0.5, 1.0)  # the same for documents with vectors
STRENGTH = 1.0  # how closely machines follow the labels
N_FOLDS = 3


@dataclass(frozen=True)
class SeveralTrial:
    """Number of held-out documents, their mean F1, and that with even thresholds."""

    n_unseen: int
    f: float
    f_even: float
    f_without: float | None = None  # without vectors, by their own thresholds; None where there are none


@dataclass(frozen=True)
class TunedThresholds:
    """Thresholds of labels, the line from scores to probabilities, and their held-out quality."""

    trial: SeveralTrial | None
    threshold: Floats
    line: Floats
    worth: FeatureWeights = FEATURE_WEIGHTS


@dataclass(frozen=True)
class SeveralLabels:
    """Fitted classifier; P(label | document) depends on the score and the log-odds of the label's share."""

    features: Features
    linear: Linear
    threshold: Floats  # (n_labels,) of probabilities
    line: Floats  # slope, constant, and the slope of the label's own log-odds
    log_odds: Floats  # (n_labels,) of having the label
    space: VectorSpace | None = None  # of vectors, where documents came with them

    @property
    def sees_vectors(self) -> bool:
        return self.space is not None

    def scores(self, counts: Csr, vectors: Floats | None = None) -> Floats:
        return self.linear(self.features.rows(counts, self.space, vectors))

    def __call__(self, counts: Csr, vectors: Floats | None = None) -> Floats:
        return _to_probabilities(self.scores(counts, vectors), self.line, self.log_odds)

    def word_parts(self, counts: Csr) -> Floats:
        """Return the part of each word of one document in the log-odds of each label."""
        parts: Floats = self.line[0] * self.linear.word_parts(self.features, counts)
        return parts


def learn_several(
    counts: Csr,
    labels: Csr,
    seed: int,
    tuned_thresholds: TunedThresholds | None = None,
    groups: Ints | None = None,
    vectors: Floats | None = None,
) -> tuple[SeveralLabels, TunedThresholds]:
    """Fit a classifier; ``labels`` is documents × labels with at least one label each.

    ``tuned_thresholds`` were chosen before. Documents with equal ``groups`` are held out together.
    """
    features = Features.of(counts, seed)
    space = None if vectors is None else fit_space(vectors)
    rows = features.rows(counts, space, vectors)
    sizes = np.asarray(labels.sum(axis=0)).ravel()
    odds = np.log((sizes + 0.5) / (labels.shape[0] - sizes + 0.5))
    if tuned_thresholds is None or len(tuned_thresholds.threshold) != labels.shape[1]:
        group_numbers = np.arange(labels.shape[0]) if groups is None else np.unique(groups, return_inverse=True)[1]
        folds = np.random.default_rng(seed).permutation(int(group_numbers.max(initial=-1)) + 1) % N_FOLDS
        tuned_thresholds = _choose_thresholds(rows, labels, odds, folds[group_numbers], FEATURE_WEIGHTS)
        if space is not None:
            joint = _choose_thresholds(rows, labels, odds, folds[group_numbers], WITH_VECTORS)
            tuned_thresholds = _select_better(joint, tuned_thresholds)
    worth = tuned_thresholds.worth if space is not None else FEATURE_WEIGHTS
    linear = fit_label_svms(rows, labels, worth, STRENGTH)
    kept_space = space if worth.vectorial else None
    return SeveralLabels(
        features, linear, tuned_thresholds.threshold, tuned_thresholds.line, odds, kept_space
    ), tuned_thresholds


def _select_better(with_vectors: TunedThresholds, without_vectors: TunedThresholds) -> TunedThresholds:
    """Return the thresholds with vectors, unless held-out documents are classified better without them."""
    if with_vectors.trial is None or without_vectors.trial is None:
        return with_vectors
    best = with_vectors if with_vectors.trial.f >= without_vectors.trial.f else without_vectors
    return replace(best, trial=replace(best.trial or with_vectors.trial, f_without=without_vectors.trial.f))


def _choose_thresholds(rows: Rows, labels: Csr, odds: Floats, folds: Ints, worth: FeatureWeights) -> TunedThresholds:
    """Choose the thresholds of labels on held-out documents; use defaults with few documents."""
    default_line = np.array([1.0, 0.0, 0.5])
    if labels.shape[0] < 2 * N_FOLDS or len(np.unique(folds)) < N_FOLDS:
        return TunedThresholds(None, _get_even_thresholds(default_line, odds), default_line, worth)
    indicator = labels.toarray().astype(int)
    scores = _score_heldout(rows, labels, folds, worth)
    line = _fit_line(scores, indicator, odds)
    label_probabilities = _to_probabilities(scores, line, odds)
    thresholds = 0.5 * (
        choice.find_threshold(label_probabilities, labels)
        + np.minimum(choice.find_thresholds(label_probabilities, labels), 1.0)
    )

    def f(needed: Floats) -> float:
        return example_f1(indicator, (choice.margins(label_probabilities, needed) > 0).astype(int))

    return TunedThresholds(
        SeveralTrial(len(indicator), f(thresholds), f(_get_even_thresholds(line, odds))), thresholds, line, worth
    )


def _get_even_thresholds(line: Floats, odds: Floats) -> Floats:
    """Return the probability of each label at a score of zero."""
    thresholds: Floats = _to_probabilities(np.zeros((1, len(odds))), line, odds)[0]
    return thresholds


def _score_heldout(rows: Rows, labels: Csr, folds: Ints, worth: FeatureWeights) -> Floats:
    """Return label scores of each document by classifiers fitted without its fold."""
    scores = np.zeros(labels.shape)
    for fold in range(N_FOLDS):
        rest, out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        machine = fit_label_svms(rows.of(rest), csr_array(labels[rest]), worth, STRENGTH)
        scores[out] = machine(rows.of(out))
    return scores


def _to_probabilities(scores: Floats, line: Floats, odds: Floats) -> Floats:
    label_probabilities: Floats = 1.0 / (
        1.0 + np.exp(-np.clip(line[0] * scores + line[1] + line[2] * odds, -30.0, 30.0))
    )
    return label_probabilities


def _fit_line(scores: Floats, indicator: Array, odds: Floats) -> Floats:
    """Return the line under which the labels of held-out documents are most probable."""

    def loss(line: Floats) -> tuple[float, Floats]:
        log_odds = np.clip(line[0] * scores + line[1] + line[2] * odds, -30.0, 30.0)
        wrong = 1.0 / (1.0 + np.exp(-log_odds)) - indicator
        slope = np.array([(wrong * scores).sum(), wrong.sum(), (wrong * odds).sum()])
        return float((np.logaddexp(0.0, log_odds) - indicator * log_odds).sum()), slope

    best: Floats = minimize(loss, np.array([1.0, 0.0, 0.5]), jac=True, method="L-BFGS-B").x
    best[0] = max(best[0], 0.05)
    return best
