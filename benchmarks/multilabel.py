"""The Yahoo problems of the PMM paper, and the systems that it compares with, each given its best chance."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from benchmarks.paths import SHARED_DATA
from topiarist.metrics import example_f1

PROBLEMS = ("arts", "business", "education", "science", "health", "reference")
N_TEST = 3000
COSTS = (0.1, 1.0, 10.0)  # of LinearSVC on rows of length one
FACTORS = (1.0, 2.0, 4.0, 8.0, 16.0)  # J of the paper: the cost of a missed page of a label, in costs of a wrong one
NEIGHBOURS, SHARES = (5, 10, 20, 30, 50), np.arange(0.10, 0.65, 0.05)


class Split(NamedTuple):
    """Counts and labels to learn from, and to predict."""

    counts: Any
    labels: Any
    test_counts: Any
    test_labels: Any


def split(name: str, n_train: int, seed: int) -> Split:
    """Draw training and test pages at random; the vocabulary is that of the problem."""
    counts, labels = _problem(name)
    order = np.random.default_rng(seed).permutation(counts.shape[0])
    train, test = order[:n_train], order[n_train : n_train + N_TEST]
    return Split(counts[train], labels[train], counts[test], labels[test])


@cache
def _problem(name: str) -> tuple[Any, Any]:
    folder = SHARED_DATA / "yahoo" / name
    counts, labels = (sparse.load_npz(folder / f"{part}.npz") for part in ("counts", "labels"))
    return sparse.csr_array(counts.astype(np.float32)), sparse.csr_array(labels.astype(np.int64))


def at_least_one(predicted: Any, scores: Any) -> Any:
    """Give documents without a label the one with the highest score."""
    dense = np.asarray(predicted.todense() if sparse.issparse(predicted) else predicted).astype(bool)
    bare = np.flatnonzero(~dense.any(axis=1))
    dense[bare, np.asarray(scores)[bare].argmax(axis=1)] = True
    return dense.astype(int)


def _kept(labels: Any) -> np.ndarray:
    """Labels that have some of the documents, but not all of them: the only ones a binary classifier can learn."""
    sizes = np.asarray(labels.sum(axis=0)).ravel()
    return np.flatnonzero((sizes > 0) & (sizes < labels.shape[0]))


def _all_labels(few: np.ndarray, kept: np.ndarray, n_labels: int, fill: float) -> np.ndarray:
    full = np.full((len(few), n_labels), fill)
    full[:, kept] = few
    return full


def naive_bayes(part: Split) -> dict[str, Any]:
    """Predict with one binary multinomial naive Bayes a label, with and without at least one label."""
    kept, n_labels = _kept(part.labels), part.labels.shape[1]
    model = OneVsRestClassifier(MultinomialNB()).fit(part.counts, part.labels[:, kept].toarray())
    chance = _all_labels(model.predict_proba(part.test_counts), kept, n_labels, 0.0)
    plain = (chance > 0.5).astype(int)
    return {"NB": plain, "NB, at least one": at_least_one(plain, chance)}


def tuned_svm() -> Any:
    """Return one LinearSVC a label, with C by three-fold cross-validation of the mean F."""

    def mean_f(model: Any, counts: Any, labels: Any) -> float:
        return example_f1(labels, at_least_one(model.predict(counts), model.decision_function(counts)))

    return GridSearchCV(OneVsRestClassifier(LinearSVC()), {"estimator__C": COSTS}, cv=3, scoring=mean_f)


def svm(part: Split) -> dict[str, Any]:
    """Predict with tuned linear machines on rows of length one, with and without at least one label."""
    import warnings

    kept, n_labels = _kept(part.labels), part.labels.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fold may lack a rare label
        model = tuned_svm().fit(normalize(part.counts), part.labels[:, kept].toarray())
    scores = _all_labels(model.decision_function(normalize(part.test_counts)), kept, n_labels, -np.inf)
    plain = (scores > 0).astype(int)
    return {"SVM": plain, "SVM, at least one": at_least_one(plain, scores)}


def svm_with_factor(part: Split) -> dict[str, Any]:
    """Predict with linear machines of C = 1 whose J is chosen for each label, by three folds and F1, as the paper did."""
    rows, tests, labels = normalize(part.counts), normalize(part.test_counts), part.labels.toarray()
    fold = np.random.default_rng(0).permutation(len(labels)) % 3
    answers = np.zeros((tests.shape[0], labels.shape[1]), int)
    for place in _kept(part.labels):
        given, scores = labels[:, place], dict.fromkeys(FACTORS, 0.0)
        for factor in FACTORS:
            told = np.zeros(len(given), int)
            for number in range(3):
                rest = fold != number
                if 0 < given[rest].sum() < rest.sum():
                    told[~rest] = _machine(factor).fit(rows[rest], given[rest]).predict(rows[~rest])
            scores[factor] = 2 * (told & given).sum() / max(1, told.sum() + given.sum())
        best = max(FACTORS, key=scores.__getitem__)
        answers[:, place] = _machine(best).fit(rows, given).predict(tests)
    return {"SVM, J chosen": answers}


def _machine(factor: float) -> LinearSVC:
    return LinearSVC(class_weight={0: 1.0, 1: factor})


def nearest(part: Split) -> dict[str, Any]:
    """Predict by cosine neighbours: their number and the share a label needs are tuned on the training documents."""
    train, test = normalize(part.counts), normalize(part.test_counts)
    alike = (train @ train.T).toarray()
    np.fill_diagonal(alike, -1.0)
    tried = {
        (k, share): example_f1(part.labels, at_least_one(scores >= share, scores))
        for k, scores in _neighbours(alike, part.labels).items()
        for share in SHARES
    }
    k, share = max(tried, key=tried.__getitem__)
    scores = _neighbours((test @ train.T).toarray(), part.labels, (k,))[k]
    return {"kNN, tuned": at_least_one(scores >= share, scores)}


def _neighbours(alike: np.ndarray, labels: Any, sizes: tuple[int, ...] = NEIGHBOURS) -> dict[int, np.ndarray]:
    """The share of each label among the k most similar documents, weighted by similarity."""
    order = np.argsort(-alike, axis=1, kind="stable")[:, : max(sizes)]
    result = {}
    for k in sizes:
        weights = np.maximum(np.take_along_axis(alike, order[:, :k], axis=1), 1e-9)
        rows = np.repeat(np.arange(len(alike)), k)
        votes = sparse.csr_array((weights.ravel(), (rows, order[:, :k].ravel())), shape=alike.shape) @ labels
        result[k] = votes.toarray() / weights.sum(axis=1, keepdims=True)
    return result
