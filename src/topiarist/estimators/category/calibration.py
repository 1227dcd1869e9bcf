"""Calibration of scores to certainties, and estimation of class shares.

Everything is fitted to held-out documents. With few documents the accuracy is uncertain, and then it is estimated from
unlabelled documents: models of different folds disagree more often if they are wrong more often. The level of their
scores adds a little information.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topiarist.arrays import TINY, Array, Floats, Ints

MAX_SHARPNESS = 20.0
PRIOR_STRENGTH = 0.7  # at least so much do the labelled documents' shares of classes weigh beside those of the others
ROUNDS, BIAS_ROUNDS = 30, 10
BIAS_PSEUDO_COUNT = 0.5  # of a class's expected documents, and documents: pseudo-counts for and against a bias
DEFAULT_SLOPE, SLOPE_WEIGHT = 0.85, 20.0  # of certainties, and unseen documents that say so
RIDGE = 0.75  # the same for: they need no shift
MAX_SLOPE = 1.1  # slope: what is right of some may be chance
MIN_SUREST = 12  # unseen documents, or a quarter of them: how many are right is the maximum of certainties
PRESUMED_WEIGHTS = {2: 45.0, 5: 90.0}  # documents: what the certainty of scores weighs beside unseen ones, by parts …
SHARPNESS_POWERS = {2: 0.0, 5: 1.0}  # … and the power of their sharpness in that: two parts know little of it
SUREST_WEIGHT = 40.0  # what documents without a label weigh beside the surest unseen ones
ERROR_RATIOS = {2: 0.7, 5: 1.85}  # wrong answers for each disagreement of two of so many, each of whom lacks a part
RELATIVE_ERRORS = {2: 0.25, 5: 0.15}  # by how much of itself that is mistaken
MAX_DOCUMENTS = 600.0  # that disagreement weighs beside unseen ones, at most
MIN_ERROR, MAX_ERROR = 0.005, 0.95
MAX_CERTAINTY = 0.995  # at most
SURE_CERTAINTY = 0.9  # what people act on: nothing is so certain where many answers are wrong and few were checked
CHECKED_WEIGHT = 50.0  # documents that speak for the mean against the surest, in that
MAX_SHIFT = 8.0  # that log-odds are moved
MAX_UNCHECKED = 0.8  # the most certain that anything is where nothing could be held out


@dataclass(frozen=True)
class Calibration:
    """Map from scores to probabilities: a power, a line through the log-odds of the largest one, and a maximum."""

    sharpness: float = 1.0
    slope: float = 1.0
    shift: float = 0.0
    max_certainty: float = MAX_UNCHECKED

    def __call__(self, scores: Floats, log_prior_shift: Floats) -> Floats:
        """Return P(class | document); the order of the classes does not change."""
        return self.calibrate_rows(to_probabilities(self.sharpness * scores + log_prior_shift))

    def calibrate_rows(self, rows: Floats) -> Floats:
        """Return rows with a calibrated largest probability; the other values keep their proportions."""
        best = rows.argmax(axis=1)
        largest = rows[np.arange(len(rows)), best]
        target = 1.0 / (1.0 + np.exp(-(self.slope * _log_odds(largest) + self.shift)))
        others = rows + 1e-12
        others[np.arange(len(rows)), best] = 0.0
        others /= others.sum(axis=1, keepdims=True)
        second = others.max(axis=1)
        minimum = second / (1.0 + second) * 1.000001  # the next largest may not overtake it
        target = np.maximum(np.minimum(target, self.max_certainty), minimum)
        out: Floats = others * (1.0 - target)[:, None]
        out[np.arange(len(rows)), best] = target
        return out


UNCALIBRATED = Calibration()


@dataclass(frozen=True)
class FoldScores:
    """Scores of unlabelled documents from the model of each cross-validation fold."""

    rows: Ints  # of the documents, among those without a label
    scores: Floats  # (n_parts, n_docs, n_classes)

    def error_rates(self, sharpness: float, shift: Floats) -> Floats:
        """Return the error rate for each document, estimated from the disagreement of the folds."""
        votes = (sharpness * self.scores + shift).argmax(axis=2)
        pairs = [(first, second) for first in range(len(votes)) for second in range(first)]
        differ: Floats = np.mean([votes[first] != votes[second] for first, second in pairs], axis=0)
        return self.interpolate_by_folds(ERROR_RATIOS) * differ

    @property
    def relative_error(self) -> float:
        return self.interpolate_by_folds(RELATIVE_ERRORS)

    def interpolate_by_folds(self, values: dict[int, float]) -> float:
        """Return the value for the number of folds, interpolated between known numbers."""
        return float(np.interp(len(self.scores), list(values), list(values.values())))


def _clip_error(wrong: Floats) -> float:
    return float(np.clip(wrong.mean(), MIN_ERROR, MAX_ERROR))


def _log_odds(p: Floats) -> Floats:
    inside = np.clip(p, 1e-6, 1 - 1e-6)
    odds: Floats = np.log(inside / (1.0 - inside))
    return odds


def to_probabilities(scores: Floats) -> Floats:
    """Return rows that sum to one."""
    values = np.exp(scores - scores.max(axis=1, keepdims=True))
    rows: Floats = values / values.sum(axis=1, keepdims=True)
    return rows


def fit_sharpness(scores: Floats, truth: Array) -> tuple[float, float]:
    """Return the power under which the right classes are most probable, and the remaining log loss."""
    limit = np.log(MAX_SHARPNESS)

    def loss(power: float) -> float:
        rows = to_probabilities(float(np.exp(power)) * scores)
        log_loss = float(-np.log(np.maximum(rows[np.arange(len(truth)), truth], 1e-12)).sum())
        return log_loss + 0.5 * power * power

    from scipy.optimize import minimize_scalar  # takes a third of a second to load

    best = minimize_scalar(loss, bounds=(-limit, limit), method="bounded", options={"xatol": 1e-2})
    return float(np.exp(best.x)), float(best.fun)


def fit_calibration(scores: Floats, classes: Array) -> Calibration:
    """Return the calibration from held-out scores and their classes."""
    return shrink_to_agreement(fit_sharpness(scores, classes)[0], scores, classes, np.zeros(scores.shape[1]))


def shrink_to_agreement(
    sharpness: float,
    scores: Floats,
    truth: Array,
    shift: Floats,
    other_scores: Floats | None = None,
    fold_scores: FoldScores | None = None,
) -> Calibration:
    """Return the calibration for a known sharpness and for other class shares than in the held-out documents.

    ``shift`` is the log ratio of the class shares; held-out documents are weighted by it. ``other_scores`` are scores
    of unlabelled documents, and ``fold_scores`` those of some of them by fold. With many held-out documents the mean
    certainty equals their accuracy. With few, it moves towards the accuracy estimated from the disagreement of the
    folds.
    """
    rows = to_probabilities(sharpness * scores + shift)
    weight = np.exp(shift)[truth]
    weight *= len(weight) / weight.sum()
    right = (rows.argmax(axis=1) == truth).astype(float)
    odds = _log_odds(rows.max(axis=1))

    def loss(line: Floats) -> float:
        n_right = line[0] * odds + line[1]
        losses = weight * (np.logaddexp(0.0, n_right) - right * n_right)
        return float(losses.sum() + SLOPE_WEIGHT * (line[0] - DEFAULT_SLOPE) ** 2 + RIDGE * line[1] ** 2)

    from scipy.optimize import minimize

    line = minimize(loss, np.array([1.0, 0.0]), method="Nelder-Mead", options={"xatol": 1e-3}).x
    slope, constant = float(np.clip(line[0], 0.05, MAX_SLOPE)), float(line[1])
    surest = np.argsort(-odds, kind="stable")[: max(MIN_SUREST, len(truth) // 4)]
    share, number = float(weight[surest] @ right[surest] / weight[surest].sum()), len(surest)
    if other_scores is None or fold_scores is None or not len(fold_scores.rows):
        return Calibration(sharpness, slope, constant, (share * number + 1.0) / (number + 2.0))
    certainties = to_probabilities(sharpness * other_scores + shift).max(axis=1)
    wrong = fold_scores.error_rates(sharpness, shift)
    best = np.argsort(-certainties[fold_scores.rows], kind="stable")[: max(1, len(wrong) // 4)]
    max_certainty = (share * number + SUREST_WEIGHT * (1.0 - _clip_error(wrong[best]))) / (number + SUREST_WEIGHT)
    n_effective = len(weight) ** 2 / float(weight @ weight)  # as many documents of one weight know as much
    error = _clip_error(wrong)
    n_equivalent = min(
        (1.0 - error) / (fold_scores.relative_error**2 * error), MAX_DOCUMENTS
    )  # whose share would be as mistaken
    modest_rows = to_probabilities(
        sharpness ** fold_scores.interpolate_by_folds(SHARPNESS_POWERS) * other_scores + shift
    ).max(axis=1)
    presumed_weight = fold_scores.interpolate_by_folds(PRESUMED_WEIGHTS)
    n_right = (
        n_effective * float(weight @ right) / len(weight)
        + n_equivalent * (1.0 - error)
        + presumed_weight * float(modest_rows.mean())
    )
    target = n_right / (n_effective + n_equivalent + presumed_weight)
    checked = n_effective + n_equivalent / 4.0
    limit = (
        SURE_CERTAINTY - 1e-3
        if target + (1.0 - target) * checked / (checked + CHECKED_WEIGHT) < SURE_CERTAINTY
        else MAX_CERTAINTY
    )
    max_certainty = min(max_certainty, limit)
    return Calibration(
        sharpness, slope, _find_constant(slope * _log_odds(certainties), max_certainty, target), max_certainty
    )


def _find_constant(odds: Floats, maximum: float, target: float) -> float:
    """Return the constant to add to log-odds so that the probabilities, limited by a maximum, have a given mean."""

    def excess(constant: float) -> float:
        return float(np.minimum(1.0 / (1.0 + np.exp(-(odds + constant))), maximum).mean()) - target

    if excess(MAX_SHIFT) <= 0:
        return MAX_SHIFT
    from scipy.optimize import brentq

    return float(brentq(excess, -MAX_SHIFT, MAX_SHIFT, xtol=1e-3)) if excess(-MAX_SHIFT) < 0 else -MAX_SHIFT


def fit_class_bias(scores: Floats, truth: Array, shares: Floats) -> Floats:
    """Return the constants to add to scores so that held-out documents get the right class shares.

    One-against-rest classifiers give rare classes too much. Pseudo-counts limit the correction for small classes.
    """
    bias, n = np.zeros(scores.shape[1]), len(truth)
    sizes = np.bincount(truth, minlength=scores.shape[1])
    for _ in range(BIAS_ROUNDS):
        expected = to_probabilities(scores + bias).sum(axis=0)
        bias += np.log(
            (sizes + BIAS_PSEUDO_COUNT * shares * n + BIAS_PSEUDO_COUNT)
            / (expected + BIAS_PSEUDO_COUNT * shares * n + BIAS_PSEUDO_COUNT)
        )
    return bias


def estimate_class_shares(rows: Floats, prior_shares: Floats, n_known: int) -> Floats:
    """Return the class shares among documents whose probabilities assume the shares ``prior_shares``.

    Uses EM with a prior from the ``n_known`` labelled documents, so that wrong guesses do not reinforce themselves.
    """
    shares, strength = prior_shares.copy(), max(PRIOR_STRENGTH * len(rows), n_known)
    for _ in range(ROUNDS):
        weighted = rows * (shares / prior_shares)
        weighted /= np.maximum(weighted.sum(axis=1, keepdims=True), TINY)
        shares = (weighted.sum(axis=0) + strength * prior_shares) / (len(rows) + strength)
    return shares
