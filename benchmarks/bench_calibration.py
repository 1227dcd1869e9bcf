"""Are the certainties of `topiarist learn` what a person can act on, and does text without labels ever cost?

``python -m benchmarks.run calibration [--labels 5 10] [--draws 5] [--collections gnad10k] [--processes 4]``. Nothing
but ours is fitted, so that many draws of labels can be looked at: the expected calibration error in ten bins of
documents that nobody has seen, how far the mean certainty is above what is right, what is right of documents shown as
at least 90 % certain, and what is right without the documents that have no label.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import Any

import numpy as np

from benchmarks import labelled
from benchmarks.bars import CALIBRATION_ERROR, SURE_RIGHT, UNLABELLED_COSTS
from benchmarks.bench_learn_default import COLLECTIONS as USUAL
from benchmarks.bench_learn_default import QUICK_SIZES, SIZES, certainty, learned, problem, some_labels
from benchmarks.findings import Findings, skipped
from benchmarks.settings import Settings

COLLECTIONS = (*USUAL, "arxiv-learn", "arxiv-cluster", "gnad10k", "thucnews-titles")
NUMBERS, DRAWS = (2, 5, 10, 20), 3
CHANCES = 50
FEW_SURE = 20  # documents: of fewer that are shown as certain nothing is concluded


def pieces(settings: Settings) -> list[tuple]:
    """A collection, labels a class, a draw of them, and sizes."""
    names = [name for name in settings.of_collections(COLLECTIONS) if not labelled.missing(name)]
    sizes = SIZES if settings.full else QUICK_SIZES
    numbers = settings.labels or NUMBERS
    draws = settings.draws or (1 if settings.quick else DRAWS)
    return [
        (name, number, seed, *sizes)
        for name in names
        for number in numbers
        for seed in range(1 if number is None else draws)
    ]


def measure(piece: tuple) -> dict:
    """One draw of labels."""
    name, number, seed, *sizes = piece
    part = problem(name, *sizes)
    known = some_labels(part, number, seed)
    given = np.full(len(part.train), None, object)
    given[known] = part.labels[part.train[known]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, told = learned(part, given)
        without = learned(part, given, unlabelled_weight=0)[0] if len(known) < len(given) else ours
    error, sure, n_sure = certainty(told, part.labels[part.test])
    return {
        "right": ours.accuracy, "without": without.accuracy, "error": error, "chance": by_chance(told[0]),
        "above": float(told[0].mean()) - ours.accuracy, "sure": sure if n_sure else None, "n_sure": n_sure,
        "seconds": ours.seconds,
    }  # fmt: skip


def by_chance(certain: np.ndarray) -> float:
    """The error that certainties would have which are exactly right: so many documents do not tell it better."""
    rng, names = np.random.default_rng(0), np.ones(len(certain), int)
    return float(np.mean([certainty((certain, names), rng.random(len(certain)) < certain)[0] for _ in range(CHANCES)]))


def told(measured: list[tuple[tuple, dict]]) -> dict:
    """A row for each number of labels of a collection, and the bars."""
    if not measured:
        return skipped("the collections with labels are not here")
    found = Findings(
        "Certainties of `topiarist learn` by default, documents that were not learned from. *error*: expected"
        " calibration error in ten bins, the mean of the draws and each; *by chance*: that of certainties which are"
        " exactly right, on so many documents; *above*: mean certainty less what is right;"
        " *sure*: what is right of documents shown as at least 90 % certain (how many, of all draws); *without*: right"
        " without the documents that have no label."
    )
    rows: dict[tuple, list[dict]] = defaultdict(list)
    for piece, figures in measured:
        rows[piece[:2]].append(figures)
    order = sorted(rows, key=lambda one: (COLLECTIONS.index(one[0]), one[1] is None, one[1] or 0))
    found.table(
        ["collection", "a class", "right", "without", "error", "by chance", "of each draw", "above", "sure"],
        [[name, "all" if number is None else number, *_row(rows[name, number])] for name, number in order],
    )
    for name, number in order:
        figures = rows[name, number]
        at = f"{name}, {'all' if number is None else number} labels"
        if number is None or number >= 5:
            found.bar(f"{at}: calibration error, mean of draws", _mean(figures, "error"), CALIBRATION_ERROR)
        costs = max(100 * (one["without"] - one["right"]) for one in figures)
        found.bar(f"{at}: points that text without labels costs, worst draw", costs, UNLABELLED_COSTS, form=".1f")
        certain = sum(one["n_sure"] for one in figures)
        if certain >= FEW_SURE:
            right = sum(one["sure"] * one["n_sure"] for one in figures if one["n_sure"]) / certain
            found.bar(f"{at}: right of those ≥ 90 % certain", right, SURE_RIGHT, least=True)
    found.values = {f"{name} {number}": rows[name, number] for name, number in order}
    return found.result()


def _mean(figures: list[dict], name: str) -> float:
    return float(np.mean([one[name] for one in figures]))


def _row(figures: list[dict]) -> list[Any]:
    certain = sum(one["n_sure"] for one in figures)
    right = sum(one["sure"] * one["n_sure"] for one in figures if one["n_sure"])
    return [
        *(f"{100 * _mean(figures, name):.1f}" for name in ("right", "without")), f"{_mean(figures, 'error'):.3f}",
        f"{_mean(figures, 'chance'):.3f}", " ".join(f"{one['error']:.3f}" for one in figures),
        f"{_mean(figures, 'above'):+.3f}",
        f"{right / certain:.0%} ({certain:,})" if certain else "none",
    ]  # fmt: skip
