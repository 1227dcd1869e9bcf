"""GGM on the vectors of an encoder, by default: clusters beside k-means, few labels beside logistic regression.

Prints for each collection the agreement with true classes (NMI), and for 1, 2, 5 and 10 labels a class the share of new
documents that are right, and of those that are shown as 90% certain. ``python -m benchmarks.gaussian_vectors``
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

import numpy as np
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import normalized_mutual_info_score
from threadpoolctl import threadpool_limits

from benchmarks import labelled
from benchmarks.bench_vectors import _encoded
from topiarist import GGM

COLLECTIONS = ("reuters21578", "arxiv-demo", "20newsgroups", "ohsumed23", "gnad10k")
MANY, LETTERS, LEAST, LEAST_LABELLED, SEEDS = 2_000, 320, 20, 40, 3
LABELS = (1, 2, 5, 10)
CERTAIN = 0.9


def sample(name: str, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of documents that have a label, some of them by chance, and their labels."""
    records = [one for one in labelled._records(name) if one.get("label") or one.get("labels")]
    chosen = [records[row] for row in np.sort(np.random.default_rng(0).permutation(len(records))[:number])]
    texts = [_read(name, one)[:LETTERS] for one in chosen]
    vectors = _encoded(f"{name}-beginnings-{len(texts)}", texts).astype(np.float64)
    return vectors, np.array([one.get("label") or one["labels"][0] for one in chosen])


def _read(name: str, record: dict) -> str:
    title, text = record.get("title") or "", record["text"]
    if name == "20newsgroups":
        return re.split(r"\n\n", text, maxsplit=1)[-1]
    return text if not title or text.startswith(title) else f"{title}\n{text}"


def frequent(vectors: np.ndarray, labels: np.ndarray, least: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Those of labels that so many documents have; labels as numbers, and how many there are."""
    found, sizes = np.unique(labels, return_counts=True)
    kept = np.isin(labels, found[sizes >= least])
    names, numbers = np.unique(labels[kept], return_inverse=True)
    return vectors[kept], numbers, len(names)


def clusters(name: str, vectors: np.ndarray, labels: np.ndarray) -> str:
    """A row: k-means and GGM at the true number, and GGM by default."""
    points, truth, number = frequent(vectors, labels, LEAST)
    means = [KMeans(number, n_init=1, random_state=seed).fit_predict(points) for seed in range(SEEDS)]
    known = [GGM(number, random_state=seed).fit(points).labels_ for seed in range(SEEDS)]
    own = GGM(random_state=0).fit(points)
    of_means, of_known, of_own = (
        float(np.mean([normalized_mutual_info_score(truth, one) for one in some]))
        for some in (means, known, [own.labels_])
    )
    return f"| {name} | {number} | {of_means:.3f} | {of_known:.3f} | {of_own:.3f} ({len(own.component_prior_)}) |"


def few_labels(name: str, vectors: np.ndarray, labels: np.ndarray) -> Iterator[str]:
    """A row for each number of labels: the shares that are right, and right where 90% certain."""
    points, truth, number = frequent(vectors, labels, LEAST_LABELLED)
    half = len(points) // 2
    for each in LABELS:
        told = {"logistic": [], "mixture": [], "certain": [], "share": []}
        for seed in range(SEEDS):
            order = np.random.default_rng(seed).permutation(len(points))
            learned, asked = order[:half], order[half:]
            given = np.full(half, -1)
            for label in range(number):
                given[np.flatnonzero(truth[learned] == label)[:each]] = label
            known = given >= 0
            line = LogisticRegression(C=10, max_iter=500).fit(points[learned][known], given[known])
            told["logistic"].append((line.predict(points[asked]) == truth[asked]).mean())
            rows = GGM(random_state=0).fit(points[learned], given).predict_proba(points[asked])
            right, certain = rows.argmax(axis=1) == truth[asked], rows.max(axis=1) >= CERTAIN
            told["mixture"].append(right.mean())
            told["share"].append(certain.mean())
            if certain.any():
                told["certain"].append(right[certain].mean())
        certain = f"{np.mean(told['certain']):.3f}" if told["certain"] else "none"
        yield (
            f"| {name} | {each} | {np.mean(told['logistic']):.3f} | {np.mean(told['mixture']):.3f} |"
            f" {certain} ({np.mean(told['share']):.0%} of all) |"
        )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collections", nargs="*", default=COLLECTIONS)
    parser.add_argument("--documents", type=int, default=MANY)
    asked = parser.parse_args()
    data = {name: sample(name, asked.documents) for name in asked.collections}
    print("| NMI | classes | k-means | GGM, true number | GGM() (number) |\n|---|---|---|---|---|")
    for name, (vectors, labels) in data.items():
        print(clusters(name, vectors, labels), flush=True)
    print("\n| right | labels a class | logistic regression | GGM() | where ≥ 90% certain |\n|---|---|---|---|---|")
    for name, (vectors, labels) in data.items():
        for row in few_labels(name, vectors, labels):
            print(row, flush=True)


if __name__ == "__main__":
    with threadpool_limits(limits=1, user_api="blas"):
        main()
