"""How long do several labels take? PMM1 against one tuned linear machine a label: 2,000 pages to learn from."""

from __future__ import annotations

import os
import time
import warnings

import numpy as np

from benchmarks import bars, labelled, multilabel
from benchmarks.findings import Findings, skipped
from benchmarks.settings import Settings
from topiarist import PMM
from topiarist.metrics import example_f1

N_THREADS = 2
ROUNDS = 3


def main(settings: Settings) -> dict:
    """Time both in turn on each problem; the best of some rounds."""
    if reason := labelled.missing("yahoo"):
        return skipped(reason)
    found = Findings(
        f"Yahoo, 2,000 pages to learn from and {multilabel.N_TEST:,} to predict, {N_THREADS} threads for ours, best of"
        f" interleaved rounds. The machine is scikit-learn's one-vs-rest LinearSVC, C of {multilabel.COSTS} by three"
        f" folds. Load of the machine before: {os.getloadavg()[0]:.1f}."
    )
    rounds = 1 if settings.quick else ROUNDS
    table, shares = [], []
    for name in multilabel.PROBLEMS:
        part = multilabel.split(name, 2000, 0)
        times: dict[str, list[float]] = {"ours": [], "svm": []}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            ours(part)  # compiles
            for _ in range(rounds):
                for title, run in (("ours", ours), ("svm", multilabel.svm)):
                    start = time.perf_counter()
                    answer = run(part)
                    times[title].append(time.perf_counter() - start)
                    print(f"[labels_speed] {name}, {title}: {times[title][-1]:.2f} s", flush=True)
                    if title == "ours":
                        f = 100 * example_f1(part.test_labels, answer)
        share = min(times["ours"]) / min(times["svm"])
        shares.append(share)
        table.append([name, f"{min(times['ours']):.2f} s", f"{min(times['svm']):.2f} s", f"{share:.3f}", f"{f:.1f}"])
    found.table(["problem", "PMM1", "LinearSVC", "ratio", "mean F of PMM1"], table)
    for name, share in zip(multilabel.PROBLEMS, shares, strict=True):
        found.bar(f"{name}: share of LinearSVC's time", share, bars.LABEL_TIME_SHARE)
    found.values = {"shares": dict(zip(multilabel.PROBLEMS, map(float, shares), strict=True)), "mean": np.mean(shares)}
    return found.result()


def ours(part: multilabel.Split) -> object:
    """Learn and predict."""
    return PMM(n_threads=N_THREADS).fit(part.counts, part.labels).predict(part.test_counts)
