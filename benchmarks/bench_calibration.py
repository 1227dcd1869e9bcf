"""Are certainties of `topiarist learn` and of given trees what a person can act on? Does text without labels cost?

``python -m benchmarks.run calibration [--labels 5 10] [--draws 5] [--collections gnad10k] [--processes 4]``. Nothing
but ours is fitted, so that many draws of labels can be looked at: the expected calibration error in ten bins of
documents that nobody has seen, how far the mean certainty is above what is right, what is right of documents shown as
at least 90% certain, and what is right without the documents that have no label.

Given trees (``--collections newsgroups15 ohsumed23-given``) are those of `topiarist grow --hierarchy`: the share of new
documents that reach a leaf at .9, what is right of these, and mean certainty less what is right by fifths of length.
"""

from __future__ import annotations

import time
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
from topiarist import HPLC

COLLECTIONS = (*USUAL, "arxiv-learn", "arxiv-cluster", "gnad10k", "thucnews-titles")
NUMBERS, DRAWS = (2, 5, 10, 20), 3
GIVEN_TREES, GIVEN_NUMBERS = ("newsgroups15", "ohsumed23-given"), (5, 20, 60)
GIVEN_TESTED = 150  # documents of a class
CHANCES = 50
FEW_SURE = 20  # documents: of fewer that are shown as certain nothing is concluded


def pieces(settings: Settings) -> list[tuple]:
    """A collection, labels a class, a draw of them, and sizes."""
    names = [name for name in settings.of_collections(COLLECTIONS) if not labelled.missing(name)]
    sizes = SIZES if settings.full else QUICK_SIZES
    numbers = settings.labels or NUMBERS
    draws = settings.draws or (1 if settings.quick else DRAWS)
    given = [name for name in settings.of_collections(GIVEN_TREES) if not labelled.missing(_folder(name))]
    trees = [(name, number, seed) for name in given for number in GIVEN_NUMBERS for seed in range(draws)]
    return trees + [
        (name, number, seed, *sizes)
        for name in names
        for number in numbers
        for seed in range(1 if number is None else draws)
    ]


def measure(piece: tuple) -> dict:
    """One draw of labels."""
    name, number, seed, *sizes = piece
    if name in GIVEN_TREES:
        return measure_given_tree(name, number, seed)
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


def _folder(name: str) -> str:
    return "20newsgroups" if name == "newsgroups15" else name.removesuffix("-given")


def measure_given_tree(name: str, number: int, seed: int) -> dict:
    """Measure HPLC on a given tree, as the paper has it and calibrated."""
    if name == "newsgroups15":
        tree, (counts, labels) = labelled.newsgroups15()
    else:
        corpus = labelled.abstracts(_folder(name))
        tree, counts, labels = None, corpus.counts, np.array([own[0] for own in corpus.labels])
    rng, train, test = np.random.default_rng(seed), [], []
    for label in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == label))
        known = min(number, len(rows) // 2)
        train.append(rows[:known])
        test.append(rows[known : known + GIVEN_TESTED])
    taught, tested = np.concatenate(train), np.concatenate(test)
    lengths, figures = np.asarray(counts[tested].sum(axis=1)).ravel(), {}
    for calibrate in (False, True):
        start = time.perf_counter()
        model = HPLC(tree, calibrate=calibrate).fit(counts[taught], labels[taught])
        seconds = time.perf_counter() - start
        rows = model.predict_proba(counts[tested])
        certain, right = rows.max(axis=1), model.classes_[rows.argmax(axis=1)] == labels[tested]
        paths = model.predict_path(counts[tested])
        leaf = np.isin(paths, model.class_nodes_)
        nodes = np.array([model.class_nodes_[at] for at in np.searchsorted(model.classes_, labels[tested])])
        fifths = np.array_split(np.argsort(lengths, kind="stable"), 5)
        figures["calibrated" if calibrate else "as in the paper"] = {
            "right": float(right.mean()), "leaf": float(leaf.mean()), "seconds": seconds,
            "leaf_right": float((paths == nodes)[leaf].mean()) if leaf.any() else None,
            "fifths": [float(certain[part].mean() - right[part].mean()) for part in fifths],
        }  # fmt: skip
    return figures


def add_given_trees(found: Findings, measured: list[tuple[tuple, dict]]) -> None:
    """Add the table of given trees."""
    rows: dict[tuple, list[dict]] = defaultdict(list)
    for piece, figures in measured:
        for way, own in figures.items():
            rows[*piece[:2], way].append(own)
    if not rows:
        return
    found.say(
        "Given trees (`HPLC`), mean of the draws: what is right, the share of new documents at a leaf at ρ = .9, what"
        " is right of these, mean certainty less what is right from the shortest fifth of documents to the longest."
    )
    table = []
    for (name, number, way), draws in rows.items():
        sure = [one["leaf_right"] for one in draws if one["leaf_right"] is not None]
        fifths = " ".join(f"{error:+.3f}" for error in np.mean([one["fifths"] for one in draws], axis=0))
        cells = [f"{_mean(draws, key):.3f}" for key in ("right", "leaf")]
        table.append(
            [
                name,
                number,
                way,
                *cells,
                f"{np.mean(sure):.3f}" if sure else "none",
                fifths,
                f"{_mean(draws, 'seconds'):.1f}",
            ]
        )
    found.table(["collection", "a class", "certainty", "right", "at a leaf", "right there", "by fifths", "s"], table)
    found.values["given trees"] = {" ".join(map(str, key)): draws for key, draws in rows.items()}


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
        " *sure*: what is right of documents shown as at least 90% certain (how many, of all draws); *without*: right"
        " without the documents that have no label."
    )
    given = [one for one in measured if one[0][0] in GIVEN_TREES]
    rows: dict[tuple, list[dict]] = defaultdict(list)
    for piece, figures in measured:
        if piece[0] not in GIVEN_TREES:
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
            found.bar(f"{at}: right of those ≥ 90% certain", right, SURE_RIGHT, least=True)
    found.values = {f"{name} {number}": rows[name, number] for name, number in order}
    add_given_trees(found, given)
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
