"""Several labels at once: tables 1 and 2 of the PMM paper, six of its eleven problems. ``labels [PROBLEM ...]``.

2,000 or 500 pages to learn from, 3,000 to predict, five random pairs, the mean over pages of 2|y∩ŷ|/(|y|+|ŷ|) in per
cent. Beside PMM1 and PMM2 stand the calibrated label prior, and the paper's rivals with what it denied them: at least
one label for every page, and a tuned number of neighbours.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import defaultdict
from typing import Any

import numpy as np
from sklearn.metrics import f1_score
from threadpoolctl import threadpool_limits

from benchmarks import bars, labelled, multilabel, report
from benchmarks.findings import Findings, render, spread, store
from benchmarks.paths import CACHE
from topiarist import PMM
from topiarist.metrics import example_f1

SEEDS = range(5)
SIZES = (2000, 500)
FIRST, SECOND, CALIBRATED = "PMM1", "PMM2", "PMM1, calibrated"
OURS: dict[str, dict[str, Any]] = {FIRST: {}, SECOND: {"order": 2}, CALIBRATED: {"label_prior": "calibrated"}}
RIVALS = (multilabel.naive_bayes, multilabel.svm, multilabel.svm_with_factor, multilabel.nearest)
PAPER = {
    2000: {
        "NB": (41.6, 75.0, 39.3, 42.4, 66.4, 52.6), "SVM, J chosen": (47.1, 74.5, 47.8, 49.2, 67.1, 55.4),
        "kNN, tuned": (40.0, 78.4, 42.9, 43.9, 60.4, 53.3),
        FIRST: (50.6, 75.5, 51.3, 51.4, 66.2, 61.1), SECOND: (48.6, 72.1, 48.3, 49.9, 65.1, 60.1),
    },
    500: {
        "NB": (21.2, 73.9, 15.2, 17.6, 50.2, 32.7), "SVM, J chosen": (32.5, 73.8, 33.6, 32.5, 56.0, 38.8),
        "kNN, tuned": (34.7, 75.6, 37.1, 35.3, 54.4, 48.1),
        FIRST: (43.9, 75.2, 41.8, 40.3, 58.9, 54.1), SECOND: (43.2, 69.7, 41.9, 41.0, 59.4, 53.5),
    },
}  # fmt: skip
FIGURES = CACHE / "figures"


def measured(name: str, n_train: int) -> dict[str, dict[str, list[float]]]:
    """Run every system on five splits: mean F, micro and macro F1."""
    rows: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    start = time.perf_counter()
    for seed in SEEDS:
        part = multilabel.split(name, n_train, seed)
        answers: dict[str, Any] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # labels without documents
            for title, options in OURS.items():
                answers[title] = PMM(**options).fit(part.counts, part.labels).predict(part.test_counts).toarray()
            for rival in RIVALS:
                answers |= rival(part)
        wanted = part.test_labels.toarray()
        for title, found in answers.items():
            rows[title]["f"].append(100 * example_f1(wanted, found))
            for average in ("micro", "macro"):
                rows[title][average].append(100 * f1_score(wanted, found, average=average, zero_division=0))
    told = ", ".join(f"{title} {np.mean(of['f']):.1f}" for title, of in rows.items())
    print(f"[labels] {name}, {n_train}: {told} ({time.perf_counter() - start:.0f} s)", flush=True)
    return {title: dict(of) for title, of in rows.items()}


def judge(found: Findings, n_train: int, results: dict[str, Any]) -> None:
    """Hold our means against the paper's, and say who wins."""
    for title in (FIRST, SECOND):
        for name, rows in results.items():
            paper = PAPER[n_train][title][multilabel.PROBLEMS.index(name)]
            value = float(np.mean(rows[title]["f"]))
            what = f"{title}, {name}, {n_train}: points from the paper's {paper}"
            near = abs(value - paper) <= bars.LABEL_POINTS
            found.verdict(what, f"{value:.1f} ({value - paper:+.1f})", f"within {bars.LABEL_POINTS:g}", met=near)
    lines = []
    for name, rows in results.items():
        means = {title: float(np.mean(of["f"])) for title, of in rows.items()}
        best = max(means, key=means.__getitem__)
        ahead = [f"{title} {means[title]:.1f}" for title in means if title not in OURS and means[title] > means[FIRST]]
        lines.append(f"{name}: best {best} ({means[best]:.1f}); better than PMM1: {', '.join(ahead) or 'none'}")
    found.say(f"With {n_train} pages: " + "; ".join(lines) + ".")


def tables(found: Findings, n_train: int, results: dict[str, Any]) -> None:
    """Print mean and deviation, the paper's figures in brackets."""
    rows = []
    for title in next(iter(results.values())):
        cells = []
        for name, of in results.items():
            paper = PAPER[n_train].get(title)
            aside = f" [{paper[multilabel.PROBLEMS.index(name)]}]" if paper else ""
            cells.append(spread(of[title]["f"], 1) + aside)
        others = (float(np.mean([np.mean(of[title][kind]) for of in results.values()])) for kind in ("micro", "macro"))
        rows.append([title, *cells, *(f"{value:.1f}" for value in others)])
    found.say(f"**{n_train} pages to learn from**, mean ± deviation of five splits [paper]; micro and macro F1: means.")
    found.table(["system", *results, "micro F1", "macro F1"], rows)


def picture(results: dict[int, dict[str, Any]]) -> str:
    """Draw a bar for each system and problem, a line where the paper has it; return where the figure is."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(results), 1, figsize=(9, 3.2 * len(results)), sharex=True, squeeze=False)
    for axis, (n_train, of) in zip(axes[:, 0], results.items(), strict=True):
        titles = list(next(iter(of.values())))
        for place, title in enumerate(titles):
            where = np.arange(len(of)) + (place - len(titles) / 2) * 0.1
            values = [rows[title]["f"] for rows in of.values()]
            axis.bar(where, np.mean(values, axis=1), 0.09, yerr=np.std(values, axis=1), label=title)
            for name, at in zip(of, where, strict=True):
                if title in PAPER[n_train]:
                    axis.plot(at, PAPER[n_train][title][multilabel.PROBLEMS.index(name)], "k_", markersize=7)
        axis.set_title(f"{n_train} training pages; black lines: the paper", fontsize=10)
        axis.set_xticks(range(len(of)), list(of))
        axis.set_ylim(10, 85)
        axis.set_ylabel("mean F, %")
    axes[0, 0].legend(fontsize=7, ncol=4, loc="lower right")
    FIGURES.mkdir(parents=True, exist_ok=True)
    path = FIGURES / "labels.svg"
    figure.tight_layout()
    figure.savefig(path)
    return f"`{path.relative_to(CACHE.parent)}`"


def main(names: list[str] | None = None) -> None:
    """Print the tables; when all problems were run, keep them and put them into the report."""
    if reason := labelled.missing("yahoo"):
        print(f"[labels] not run: {reason}")
        return
    chosen = [name for name in multilabel.PROBLEMS if name in names] if names else list(multilabel.PROBLEMS)
    found = Findings(
        "Tables 1 and 2 of the PMM paper on the six Yahoo problems that are at hand complete. NB and SVM decide label"
        f" by label, on counts and on rows of length one with C of {multilabel.COSTS} by three folds; *J chosen* has the"
        f" paper's cost factor, one of {multilabel.FACTORS} for each label by three folds and C = 1; kNN by cosine,"
        " its number of neighbours and threshold tuned on the training pages."
    )
    with threadpool_limits(limits=1, user_api="blas"):
        results = {n_train: {name: measured(name, n_train) for name in chosen} for n_train in SIZES}
    for n_train, of in results.items():
        tables(found, n_train, of)
    for n_train, of in results.items():
        judge(found, n_train, of)
    found.say(f"Drawn in {picture(results)}.")
    found.values = {str(n_train): of for n_train, of in results.items()}
    print(render(found.result()), flush=True)
    if len(chosen) == len(multilabel.PROBLEMS):
        store("labels", found.result())
        report.write()


if __name__ == "__main__":
    main(sys.argv[1:])
