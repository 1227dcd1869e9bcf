"""Settings that labelled documents choose by cross-validation: smoothing, the weight of unlabelled ones, sharpness.

Documents without a label are in the training part of every fold: they cost nothing to know.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from topiarist.estimators.category.class_learning import Categoriser, Plan, fold_numbers, learn, sharpened
from topiarist.estimators.category.given_labels import Labels
from topiarist.estimators.common.options import LARGEST_SINGLE_COUNT
from topiarist.models.engine.host import Engine, Floats

SMOOTHINGS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
WEIGHTS = (0.0, 0.05, 0.2, 0.5, 1.0)
FOLDS = 5
SHARPEST = 1000.0
FLOORS = (1e-9, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0)


def unseen_posteriors(engine: Engine, counts: Any, labels: Labels, plan: Plan) -> tuple[Floats, Any]:
    """P(class | document) of labelled documents, each told by a model that has not seen it; and their classes."""
    if float(counts.data.max(initial=0)) <= LARGEST_SINGLE_COUNT:
        plan = replace(plan, dtype=np.dtype(np.float32))  # precise enough to compare
    told = [
        (Categoriser(engine, learned.class_word_table, learned.class_tokens, plan.shares, plan.reading_length), out)
        for out, learned in _without_folds(engine, counts, labels, plan)
    ]
    rows = np.concatenate([categoriser(counts[labels.rows[out]]) for categoriser, out in told])
    return rows, np.concatenate([labels.of_row[out] for _, out in told])


def _without_folds(engine: Engine, counts: Any, labels: Labels, plan: Plan) -> Iterator[tuple[Any, Any]]:
    folds = fold_numbers(labels, plan.seed + 1, FOLDS)
    known = labels.of_row >= 0
    for fold in range(FOLDS):
        out = np.flatnonzero(known & (folds == fold))
        if len(out):
            yield out, learn(engine, counts, labels.only(np.flatnonzero(~(known & (folds == fold)))), plan)


def chosen(engine: Engine, counts: Any, labels: Labels, plan: Plan, name: str, values: tuple[float, ...]) -> Plan:
    """The plan with the value that puts most unseen documents into their class; between equals the most likely one."""
    best, best_score = plan, (-1.0, -np.inf)
    for value in values:
        candidate = replace(plan, **{name: value})  # type: ignore[arg-type]
        rows, truth = unseen_posteriors(engine, counts, labels, candidate)
        score = float(np.mean(rows.argmax(axis=1) == truth)), _mean_log(rows, truth)
        if score > best_score:
            best, best_score = candidate, score
    return best


def fitted_sharpness(engine: Engine, counts: Any, labels: Labels, plan: Plan) -> tuple[float, float]:
    """The power of P(class | document), and its floor, under which the classes of unseen documents are most probable.

    Shares of tokens may be exactly zero, and a class without a share may still be right: the floor says how often.
    """
    rows, truth = unseen_posteriors(engine, counts, labels, plan)
    limit = np.log(SHARPEST)
    found = []
    for floor in FLOORS:

        def loss(logarithm: float, floor: float = floor) -> float:
            return -_mean_log(sharpened(rows, float(np.exp(logarithm)), floor), truth)

        best = minimize_scalar(loss, bounds=(-limit, limit), method="bounded")
        found.append((float(best.fun), float(np.exp(best.x)), floor))
    _, power, floor = min(found)
    return power, floor


def _mean_log(rows: Floats, truth: Any) -> float:
    given = rows[np.arange(len(truth)), truth].astype(np.float64)
    return float(np.log(np.maximum(given, 1e-12)).mean())
