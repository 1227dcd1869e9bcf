"""What do vectors bring to learning from few labels? Beside words alone, and vectors alone as others would use them.

``python -m benchmarks.run learn_vectors``. The first 320 letters of 2,000 texts, two thirds to learn from, others to
judge by, classes of at least 25 documents. Others are HPLC on the words, and on the vectors GGM as it comes and
logistic regression with the best of three C, which nobody would know.
"""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from benchmarks import labelled
from benchmarks.bench_learn_default import certainty
from benchmarks.bench_vectors import beginnings
from benchmarks.findings import Findings, skipped
from benchmarks.settings import Settings
from topiarist import GGM, HPLC, CategoryLearner

COLLECTIONS = ("20newsgroups", "reuters21578", "arxiv-demo", "ohsumed23")
NUMBERS, DRAWS, SMALLEST_CLASS = (1, 2, 5), 2, 25
OURS, WORDS, OTHERS = "words and vectors", "words alone", ("HPLC", "logistic regression, vectors", "GGM, vectors")


def main(settings: Settings) -> dict:
    """Every way on the same labels."""
    from topiarist.counts.embeddings.encoder import is_installed

    if reason := labelled.missing(*COLLECTIONS):
        return skipped(reason)
    if not is_installed():
        return skipped("needs topiarist[encoder]")
    found, table = (
        Findings(
            "Percent right, means of two draws of labels; the expected calibration error (in percent) is of ours."
        ),
        [],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in COLLECTIONS[: 1 if settings.quick else None]:
            for number in NUMBERS:
                figures = right(name, number, 1 if settings.quick else DRAWS)
                table.append([name, number, *(f"{100 * value:.1f}" for value in figures.values())])
                print("[learn_vectors]", *table[-1], flush=True)
                best = max(figures[one] for one in (WORDS, *OTHERS))
                found.bar(f"{name}, {number} a class", 100 * figures[OURS], 100 * best, least=True, form=".1f")
                found.values[f"{name}, {number}"] = figures
    found.table(["collection", "a class", OURS, WORDS, *OTHERS, "ECE"], table)
    return found.result()


def right(name: str, number: int, draws: int) -> dict[str, float]:
    """The share that each way gets right."""
    data = beginnings(name, whole=False)
    labels = np.array([one.split(".")[0] if name == "arxiv-demo" else one for one in data.labels])
    sizes = Counter(labels.tolist())
    order = np.random.default_rng(0).permutation(np.flatnonzero([sizes[one] >= SMALLEST_CLASS for one in labels]))
    counts, vectors, labels = csr_array(data.counts[order]), data.vectors[order].astype(np.float32), labels[order]
    n, rows = len(order) * 2 // 3, dict[str, list[float]]()
    for seed in range(draws):
        for way, value in _one(counts, vectors, labels, n, _some(labels[:n], number, seed)).items():
            rows.setdefault(way, []).append(value)
    return {way: float(np.mean(values)) for way, values in rows.items()}


def _some(labels: np.ndarray, number: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(100 + seed)
    return np.concatenate([rng.permutation(np.flatnonzero(labels == one))[:number] for one in np.unique(labels)])


def _one(counts: Any, vectors: np.ndarray, labels: np.ndarray, n: int, known: np.ndarray) -> dict[str, float]:
    y = np.full(n, None, object)
    y[known] = labels[known]
    truth, tests = labels[n:], csr_array(counts[n:])

    def share(told: Any) -> float:
        return float((np.asarray(told) == truth).mean())

    both = CategoryLearner().fit(counts[:n], y, vectors=vectors[:n])
    rows = both.predict_proba(tests, vectors[n:])
    told = both.classes_[rows.argmax(axis=1)]
    near = [
        LogisticRegression(C=strength, max_iter=300).fit(vectors[known], labels[known]).predict(vectors[n:])
        for strength in (1.0, 10.0, 100.0)
    ]
    return {
        OURS: share(told),
        WORDS: share(CategoryLearner().fit(counts[:n], y).predict(tests)),
        OTHERS[0]: share(HPLC().fit(counts[:n], y).predict(tests)),
        OTHERS[1]: max(map(share, near)),
        OTHERS[2]: share(GGM(random_state=0).fit(vectors[:n], y).predict(vectors[n:])),
        "ECE": certainty((rows.max(axis=1), told), truth)[0],
    }
