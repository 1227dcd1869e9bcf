"""Certainties that a person can act on: scores of unseen documents to probabilities, and the shares of classes.

Everything is fitted to documents that the scores were not learned from. Where there are few of them, how often answers
are right is not known well: then it leans on documents without a label. How often those who have learned from different
parts of the labels disagree about them tells how often they are wrong; a little is said by how certain scores are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize, minimize_scalar

from topiarist.arrays import Array, Floats, Ints

SHARPEST = 20.0
STEADINESS = 0.7  # at least so much do the labelled documents' shares of classes weigh beside those of the others
ROUNDS, BIAS_ROUNDS = 30, 10
CARE = 0.5  # of a class's expected documents, and documents: pseudo-counts for and against a bias
USUAL_SLOPE, FLATTER = 0.85, 20.0  # of certainties, and unseen documents that say so
RIDGE = 0.75  # the same for: they need no shift
STEEPEST = 1.1  # slope: what is right of some may be chance
SUREST = 12  # documents at least, or a quarter of the unseen: how many of them are right is the most certain it gets
PRESUMED = {2: 45.0, 5: 90.0}  # documents: what the certainty of scores weighs beside unseen ones, by parts …
SHARPENED = {2: 0.0, 5: 1.0}  # … and what power of their sharpness is believed in that: two parts know little of it
PRESUMED_SUREST = 40.0  # what documents without a label weigh beside the surest unseen ones
WRONG = {2: 0.7, 5: 1.85}  # wrong answers for each disagreement of two of so many, each of whom lacks a part
DOUBT = {2: 0.25, 5: 0.15}  # by how much of itself that is mistaken
MOST_DOCUMENTS = 600.0  # that disagreement weighs beside unseen ones, at most
LEAST_WRONG, MOST_WRONG = 0.005, 0.95
CERTAIN = 0.995  # at most
SURE = 0.9  # what people act on: nothing is so certain where many answers are wrong and few were checked
CHECKED = 50.0  # documents that speak for the mean against the surest, in that
FARTHEST = 8.0  # that log-odds are moved
UNCHECKED = 0.8  # the most certain that anything is where nothing could be held out


@dataclass(frozen=True)
class Calibration:
    """From scores to probabilities: their sharpness, then a line through the log-odds of the largest, and a limit."""

    sharpness: float = 1.0
    slope: float = 1.0
    shift: float = 0.0
    most: float = UNCHECKED

    def __call__(self, scores: Floats, log_prior_shift: Floats) -> Floats:
        """P(class | document); the largest score stays the largest probability."""
        return self.as_certain(probabilities(self.sharpness * scores + log_prior_shift))

    def as_certain(self, rows: Floats) -> Floats:
        """Rows whose largest number is as certain as unseen documents say; the others keep their proportions."""
        best = rows.argmax(axis=1)
        largest = rows[np.arange(len(rows)), best]
        wanted = 1.0 / (1.0 + np.exp(-(self.slope * _log_odds(largest) + self.shift)))
        others = rows + 1e-12
        others[np.arange(len(rows)), best] = 0.0
        others /= others.sum(axis=1, keepdims=True)
        second = others.max(axis=1)
        least = second / (1.0 + second) * 1.000001  # the next largest may not overtake it
        wanted = np.maximum(np.minimum(wanted, self.most), least)
        out: Floats = others * (1.0 - wanted)[:, None]
        out[np.arange(len(rows)), best] = wanted
        return out


UNSEEN_NOTHING = Calibration()


@dataclass(frozen=True)
class Opinions:
    """What is said of some documents without a label by those who have learned without one part of the labels each."""

    rows: Ints  # of the documents, among those without a label
    scores: Floats  # (n_parts, n_docs, n_classes)

    def wrong(self, sharpness: float, shift: Floats) -> Floats:
        """How often the answer for each document is wrong, as far as disagreement tells."""
        votes = (sharpness * self.scores + shift).argmax(axis=2)
        pairs = [(one, other) for one in range(len(votes)) for other in range(one)]
        differ: Floats = np.mean([votes[one] != votes[other] for one, other in pairs], axis=0)
        return self.by_parts(WRONG) * differ

    @property
    def doubt(self) -> float:
        """By how much of itself that is mistaken."""
        return self.by_parts(DOUBT)

    def by_parts(self, known: dict[int, float]) -> float:
        """What is known of so many parts, or of more and fewer."""
        return float(np.interp(len(self.scores), list(known), list(known.values())))


def _kept_apart(wrong: Floats) -> float:
    return float(np.clip(wrong.mean(), LEAST_WRONG, MOST_WRONG))


def _log_odds(p: Floats) -> Floats:
    inside = np.clip(p, 1e-6, 1 - 1e-6)
    odds: Floats = np.log(inside / (1.0 - inside))
    return odds


def probabilities(scores: Floats) -> Floats:
    """Rows that sum to one."""
    values = np.exp(scores - scores.max(axis=1, keepdims=True))
    rows: Floats = values / values.sum(axis=1, keepdims=True)
    return rows


def log_loss(scores: Floats, truth: Array, sharpness: float = 1.0) -> float:
    """−log P(right class), summed over documents."""
    rows = probabilities(sharpness * scores)
    return float(-np.log(np.maximum(rows[np.arange(len(truth)), truth], 1e-12)).sum())


def sharpness_of(scores: Floats, truth: Array) -> tuple[float, float]:
    """The power under which the right classes are most probable, and the log loss that is left."""
    limit = np.log(SHARPEST)

    def loss(power: float) -> float:
        return log_loss(scores, truth, float(np.exp(power))) + 0.5 * power * power

    best = minimize_scalar(loss, bounds=(-limit, limit), method="bounded", options={"xatol": 1e-2})
    return float(np.exp(best.x)), float(best.fun)


def calibrated(scores: Floats, truth: Array) -> Calibration:
    """By scores of documents that they were not learned from, and their classes."""
    return leveled(sharpness_of(scores, truth)[0], scores, truth, np.zeros(scores.shape[1]))


def leveled(
    sharpness: float,
    scores: Floats,
    truth: Array,
    shift: Floats,
    others: Floats | None = None,
    opinions: Opinions | None = None,
) -> Calibration:
    """The same with a sharpness that is known, where classes have other shares than among these documents.

    ``shift`` is the log of how much larger they are: a document of such a class stands for so many. ``others``: scores
    of documents without a label, and ``opinions`` of some of them. On the average they are as certain as unseen
    documents were right, where there are many of those; the fewer there are, the more as disagreement tells.
    """
    rows = probabilities(sharpness * scores + shift)
    weight = np.exp(shift)[truth]
    weight *= len(weight) / weight.sum()
    right = (rows.argmax(axis=1) == truth).astype(float)
    odds = _log_odds(rows.max(axis=1))

    def loss(line: Floats) -> float:
        told = line[0] * odds + line[1]
        each = weight * (np.logaddexp(0.0, told) - right * told)
        return float(each.sum() + FLATTER * (line[0] - USUAL_SLOPE) ** 2 + RIDGE * line[1] ** 2)

    line = minimize(loss, np.array([1.0, 0.0]), method="Nelder-Mead", options={"xatol": 1e-3}).x
    slope, constant = float(np.clip(line[0], 0.05, STEEPEST)), float(line[1])
    surest = np.argsort(-odds, kind="stable")[: max(SUREST, len(truth) // 4)]
    share, number = float(weight[surest] @ right[surest] / weight[surest].sum()), len(surest)
    if others is None or opinions is None or not len(opinions.rows):
        return Calibration(sharpness, slope, constant, (share * number + 1.0) / (number + 2.0))
    certain = probabilities(sharpness * others + shift).max(axis=1)
    wrong = opinions.wrong(sharpness, shift)
    best = np.argsort(-certain[opinions.rows], kind="stable")[: max(1, len(wrong) // 4)]
    most = (share * number + PRESUMED_SUREST * (1.0 - _kept_apart(wrong[best]))) / (number + PRESUMED_SUREST)
    seen = len(weight) ** 2 / float(weight @ weight)  # as many documents of one weight know as much
    error = _kept_apart(wrong)
    known = min((1.0 - error) / (opinions.doubt**2 * error), MOST_DOCUMENTS)  # whose share would be as mistaken
    believed = probabilities(sharpness ** opinions.by_parts(SHARPENED) * others + shift).max(axis=1)
    presumed = opinions.by_parts(PRESUMED)
    told = seen * float(weight @ right) / len(weight) + known * (1.0 - error) + presumed * float(believed.mean())
    wanted = told / (seen + known + presumed)
    checked = seen + known / 4.0
    limit = SURE - 1e-3 if wanted + (1.0 - wanted) * checked / (checked + CHECKED) < SURE else CERTAIN
    most = min(most, limit)
    return Calibration(sharpness, slope, _constant(slope * _log_odds(certain), most, wanted), most)


def _constant(odds: Floats, most: float, wanted: float) -> float:
    """What must be added to log-odds so that probabilities, none above a limit, have a mean."""

    def beyond(constant: float) -> float:
        return float(np.minimum(1.0 / (1.0 + np.exp(-(odds + constant))), most).mean()) - wanted

    if beyond(FARTHEST) <= 0:
        return FARTHEST
    return float(brentq(beyond, -FARTHEST, FARTHEST, xtol=1e-3)) if beyond(-FARTHEST) < 0 else -FARTHEST


def class_bias(scores: Floats, truth: Array, known: Floats) -> Floats:
    """What must be added to scores so that unseen documents have, on the whole, the classes that they have.

    Machines that learn one class against the others give rare classes too much; a class of few documents is corrected
    with care.
    """
    bias, n = np.zeros(scores.shape[1]), len(truth)
    sizes = np.bincount(truth, minlength=scores.shape[1])
    for _ in range(BIAS_ROUNDS):
        told = probabilities(scores + bias).sum(axis=0)
        bias += np.log((sizes + CARE * known * n + CARE) / (told + CARE * known * n + CARE))
    return bias


def class_shares(rows: Floats, known: Floats, n_known: int) -> Floats:
    """The shares of classes among documents whose probabilities were told as if classes had the shares ``known``.

    By EM, steadied by the ``n_known`` labelled documents: a guess that is wrong of many must not feed on itself.
    """
    shares, strength = known.copy(), max(STEADINESS * len(rows), n_known)
    for _ in range(ROUNDS):
        turned = rows * (shares / known)
        turned /= np.maximum(turned.sum(axis=1, keepdims=True), 1e-300)
        shares = (turned.sum(axis=0) + strength * known) / (len(rows) + strength)
    return shares
