"""Several labels for each document: a linear classifier for each, and how probable a label must be to be given.

Every label has a score by a support vector machine, and the scores of unseen documents say how probable it is. A
document gets the labels whose probabilities exceed what they need, and the nearest one where none does. What they need
is found on documents held out in turn: half way between what is best for all labels alike and what is best for each,
because few documents have most labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr, Floats, Ints
from topiarist.estimators.category.class_vectors import points_in, space_of
from topiarist.estimators.category.linear import Features, Linear, Rows, Worth, svm_of_labels
from topiarist.estimators.gaussian.vector_space import VectorSpace
from topiarist.measures.label_agreement import example_f1
from topiarist.models.labels import choice

WORTH, STRENGTH = Worth(0.5), 1.0  # what latent dimensions are worth beside words, and how closely machines follow
WITH_VECTORS = Worth(0.5, 1.0)  # the same where documents come with vectors
N_FOLDS = 3


@dataclass(frozen=True)
class SeveralTrial:
    """Documents held out in turn: how many, their mean F, and that where every machine decides for itself."""

    n_unseen: int
    f: float
    f_even: float
    f_without: float | None = None  # without vectors, by their own thresholds; None where there are none


@dataclass(frozen=True)
class SettledSeveral:
    """What labels need, the line of probabilities, and how good both are."""

    trial: SeveralTrial | None
    threshold: Floats
    line: Floats
    worth: Worth = WORTH


@dataclass(frozen=True)
class SeveralLabels:
    """A fitted classifier. P(label | document) is a line through the score and the log-odds of the label's share."""

    features: Features
    linear: Linear
    threshold: Floats  # (n_labels,) of probabilities
    line: Floats  # slope, constant, and the slope of the label's own log-odds
    log_odds: Floats  # (n_labels,) of having the label
    space: VectorSpace | None = None  # of vectors, where documents came with them

    @property
    def sees_vectors(self) -> bool:
        """Whether the vectors of documents have a say."""
        return self.space is not None

    def scores(self, counts: Csr, vectors: Floats | None = None) -> Floats:
        """By the machines, (n_docs, n_labels)."""
        words = self.features.words(counts)
        points = points_in(self.space, vectors, counts.shape[0])
        return self.linear(Rows(words, self.features.latent(words)[0], points))

    def __call__(self, counts: Csr, vectors: Floats | None = None) -> Floats:
        """P(label | document), (n_docs, n_labels)."""
        return _told(self.scores(counts, vectors), self.line, self.log_odds)

    def margins(self, counts: Csr, vectors: Floats | None = None) -> Floats:
        """How far each probability is above what its label needs; above zero for at least one."""
        return choice.margins(self(counts, vectors), self.threshold)

    def word_parts(self, counts: Csr) -> Floats:
        """What each word of one document adds to the log-odds of each label."""
        parts: Floats = self.line[0] * self.linear.word_parts(self.features, counts)
        return parts


def learn_several(
    counts: Csr,
    labels: Csr,
    seed: int,
    settled: SettledSeveral | None = None,
    groups: Ints | None = None,
    vectors: Floats | None = None,
) -> tuple[SeveralLabels, SettledSeveral]:
    """``labels``: documents × labels, at least one each. ``settled``: what is chosen already.

    ``groups``: documents with the same number are held out together. ``vectors``: those that documents come with.
    """
    features = Features.of(counts, seed)
    words = features.words(counts)
    space = None if vectors is None else space_of(vectors)
    rows = Rows(words, features.latent(words)[0], points_in(space, vectors, counts.shape[0]))
    sizes = np.asarray(labels.sum(axis=0)).ravel()
    odds = np.log((sizes + 0.5) / (labels.shape[0] - sizes + 0.5))
    if settled is None or len(settled.threshold) != labels.shape[1]:
        together = np.arange(labels.shape[0]) if groups is None else np.unique(groups, return_inverse=True)[1]
        folds = np.random.default_rng(seed).permutation(int(together.max(initial=-1)) + 1) % N_FOLDS
        settled = _settled(rows, labels, odds, folds[together], WORTH)
        if space is not None:
            joint = _settled(rows, labels, odds, folds[together], WITH_VECTORS)
            settled = _better(joint, settled)
    worth = settled.worth if space is not None else WORTH
    linear = svm_of_labels(rows, labels, worth, STRENGTH)
    kept = space if worth.vectorial else None
    return SeveralLabels(features, linear, settled.threshold, settled.line, odds, kept), settled


def _better(joint: SettledSeveral, alone: SettledSeveral) -> SettledSeveral:
    """With vectors, unless documents held out are told better without; with them where none could be."""
    if joint.trial is None or alone.trial is None:
        return joint
    best = joint if joint.trial.f >= alone.trial.f else alone
    return replace(best, trial=replace(best.trial or joint.trial, f_without=alone.trial.f))


def _settled(rows: Rows, labels: Csr, odds: Floats, folds: Ints, worth: Worth) -> SettledSeveral:
    """What has a good F on documents that were held out in turn."""
    usual = np.array([1.0, 0.0, 0.5])
    if labels.shape[0] < 2 * N_FOLDS or len(np.unique(folds)) < N_FOLDS:
        return SettledSeveral(None, _even(usual, odds), usual, worth)
    given = labels.toarray().astype(int)
    scores = _unseen(rows, labels, folds, worth)
    line = _line(scores, given, odds)
    told = _told(scores, line, odds)
    needs = 0.5 * (choice.best_threshold(told, labels) + np.minimum(choice.best_thresholds(told, labels), 1.0))

    def f(needed: Floats) -> float:
        return example_f1(given, (choice.margins(told, needed) > 0).astype(int))

    return SettledSeveral(SeveralTrial(len(given), f(needs), f(_even(line, odds))), needs, line, worth)


def _even(line: Floats, odds: Floats) -> Floats:
    """The probability of each label where its machine is undecided."""
    found: Floats = _told(np.zeros((1, len(odds))), line, odds)[0]
    return found


def _unseen(rows: Rows, labels: Csr, folds: Ints, worth: Worth) -> Floats:
    """Scores of each document by machines that have not seen it."""
    scores = np.zeros(labels.shape)
    for fold in range(N_FOLDS):
        rest, out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        machine = svm_of_labels(rows.of(rest), csr_array(labels[rest]), worth, STRENGTH)
        scores[out] = machine(rows.of(out))
    return scores


def _told(scores: Floats, line: Floats, odds: Floats) -> Floats:
    told: Floats = 1.0 / (1.0 + np.exp(-np.clip(line[0] * scores + line[1] + line[2] * odds, -30.0, 30.0)))
    return told


def _line(scores: Floats, given: Array, odds: Floats) -> Floats:
    """The line under which the labels of unseen documents are most probable."""

    def loss(line: Floats) -> tuple[float, Floats]:
        told = np.clip(line[0] * scores + line[1] + line[2] * odds, -30.0, 30.0)
        wrong = 1.0 / (1.0 + np.exp(-told)) - given
        slope = np.array([(wrong * scores).sum(), wrong.sum(), (wrong * odds).sum()])
        return float((np.logaddexp(0.0, told) - given * told).sum()), slope

    found: Floats = minimize(loss, np.array([1.0, 0.0, 0.5]), jac=True, method="L-BFGS-B").x
    found[0] = max(found[0], 0.05)
    return found
