"""Certainties of categorisers from P(class | document) and document length, fitted to held-out documents.

Documents are read with equal length. Their true length decides about the power applied to P(class | document). Words of
one document depend on each other, so that n words count as n h / (n + h) independent ones, as in cluster sampling. The
power does not decrease with n, so a repeated document is not less certain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from topiarist.arrays import TINY, Array, Floats

FLOORS = (1e-9, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0)
MIN_FLOOR = FLOORS[0]  # probabilities of single precision are not smaller in any way that counts
MAX_SHARPNESS = 1000.0
START_SHARPNESS = 3.0
DEFAULT_HALF_LENGTH, MAX_HALF_LENGTH = 40.0, 1000.0  # tokens: that of documents in training, and a bound
MIN_DOCUMENTS = 20  # unseen documents: fewer do not say how often answers are right


@dataclass(frozen=True)
class CertaintyScale:
    """Map from P(class | document) of documents with equal length to certainties.

    ``sharpness`` is the power for a very long document. A document with ``half_length`` known tokens has half of it.
    """

    sharpness: float
    half_length: float
    floor: float

    def powers(self, tokens: Floats) -> Floats:
        """Return the powers for documents of different lengths; they increase with the length."""
        powers: Floats = self.sharpness * (tokens / np.maximum(tokens + self.half_length, TINY))
        return powers

    def __call__(self, rows: Floats, tokens: Floats) -> Floats:
        """Return certainties of the classes, in the same order."""
        return sharpen(rows, self.powers(tokens)[:, None], self.floor)


def sharpen(rows: Floats, exponent: float | Floats, floor: float) -> Floats:
    """Return probabilities plus a floor, raised to a power and normalised; the order of classes does not change."""
    logs = exponent * np.log(rows.astype(np.float64) + floor)
    values = np.exp(logs - logs.max(axis=1, keepdims=True))
    out: Floats = (values / values.sum(axis=1, keepdims=True)).astype(rows.dtype)
    return out


def fit_scale(rows: Floats, tokens: Floats, truth: Array) -> CertaintyScale:
    """Return the scale under which the classes of held-out documents are most probable.

    A class with a share of zero can be the right one; the floor allows for it. As in Platt scaling, one more right and
    one more wrong document prevent too high certainties from few documents.
    """
    n_docs, n_classes = rows.shape
    right = (n_docs + 1.0) / (n_docs + 2.0)
    wrong = (1.0 - right) / max(n_classes - 1, 1)
    places = np.arange(n_docs)
    bounds = ((-np.log(MAX_SHARPNESS), np.log(MAX_SHARPNESS)), (0.0, np.log(MAX_HALF_LENGTH)))
    start, best = np.log([START_SHARPNESS, DEFAULT_HALF_LENGTH]), (np.inf, np.zeros(2), MIN_FLOOR)
    for floor in FLOORS:
        logs = np.log(rows.astype(np.float64) + floor)
        logs -= logs.max(axis=1, keepdims=True)

        def loss(line: Floats, logs: Floats = logs) -> float:
            """Return the log loss of the certainties on held-out documents, with a prior."""
            powers = CertaintyScale(float(np.exp(line[0])), float(np.exp(line[1])), 0.0).powers(tokens)
            scores = powers[:, None] * logs
            right_scores, total = scores[places, truth], np.log(np.exp(scores).sum(axis=1))
            losses = total - (right - wrong) * right_scores - wrong * scores.sum(axis=1)
            prior = 0.5 * (line[1] - np.log(DEFAULT_HALF_LENGTH)) ** 2
            return float(losses.sum() + prior)

        result = minimize(loss, start, method="L-BFGS-B", bounds=bounds)
        if result.fun < best[0]:
            best = (float(result.fun), result.x, floor)
    return CertaintyScale(float(np.exp(best[1][0])), float(np.exp(best[1][1])), best[2])
