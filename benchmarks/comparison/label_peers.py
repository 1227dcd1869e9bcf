"""Given categories: the first two thirds of the documents teach, the others are asked.

20 Newsgroups (bare) has one class a document, under a family; Reuters has several. Everybody is given the same counts;
peers get them as tf-idf with the classifier that their own pages put first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.comparison.answers import Fit
from benchmarks.comparison.piles import Pile

LEAST = 10  # documents that a class of Reuters must have


def hiclass_parents(pile: Pile, number: int) -> Fit:
    """A classifier at each parent."""
    from hiclass import LocalClassifierPerParentNode
    from sklearn.linear_model import LogisticRegression

    rows, labels = _tfidf(pile), np.array(list(zip(pile.coarse, pile.fine, strict=True)))
    taught = _taught(len(labels))

    def fit() -> dict[str, Any]:
        model = LocalClassifierPerParentNode(local_classifier=LogisticRegression(max_iter=1000), n_jobs=1)
        model.fit(rows[taught], labels[taught])
        told = np.asarray(model.predict(rows[~taught]))
        return {"score": float(np.mean(told[:, -1] == labels[~taught][:, -1]))}

    return fit


def our_classes(pile: Pile, number: int) -> Fit:
    """The learner of ``topiarist learn``."""
    from topiarist import CategoryLearner

    counts, labels = pile.counts, pile.fine
    taught = _taught(len(labels))

    def fit() -> dict[str, Any]:
        told = CategoryLearner().fit(counts[taught], labels[taught]).predict(counts[~taught])
        return {"score": float(np.mean(np.asarray(told) == labels[~taught]))}

    return fit


def linear_classes(pile: Pile, number: int) -> Fit:
    """A linear support vector machine on tf-idf: what to beat."""
    from sklearn.svm import LinearSVC

    rows, labels = _tfidf(pile), pile.fine
    taught = _taught(len(labels))

    def fit() -> dict[str, Any]:
        told = LinearSVC(random_state=0).fit(rows[taught], labels[taught]).predict(rows[~taught])
        return {"score": float(np.mean(told == labels[~taught]))}

    return fit


def multilearn_relevance(pile: Pile, number: int) -> Fit:
    """Binary relevance over logistic regressions."""
    from sklearn.linear_model import LogisticRegression
    from skmultilearn.problem_transform import BinaryRelevance

    return _several(pile, lambda: BinaryRelevance(LogisticRegression(max_iter=1000)))


def multilearn_neighbours(pile: Pile, number: int) -> Fit:
    """ML-kNN, ten neighbours."""
    from skmultilearn.adapt import MLkNN

    return _several(pile, lambda: MLkNN(k=10))


def linear_several(pile: Pile, number: int) -> Fit:
    """A linear support vector machine for each label."""
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import LinearSVC

    return _several(pile, lambda: OneVsRestClassifier(LinearSVC(random_state=0)))


def our_several(pile: Pile, number: int) -> Fit:
    """The learner of ``topiarist learn``, with several labels a document."""
    from topiarist import CategoryLearner

    return _several(pile, CategoryLearner, pile.counts)


def _several(pile: Pile, make: Any, rows: Any = None) -> Fit:
    from scipy import sparse
    from sklearn.metrics import f1_score

    kept, indicators, taught = several_split(pile)
    rows = (_tfidf(pile) if rows is None else rows)[kept]

    def fit() -> dict[str, Any]:
        told = make().fit(rows[taught], indicators[taught]).predict(rows[~taught])
        told = told.toarray() if sparse.issparse(told) else np.asarray(told)
        return {"score": float(f1_score(indicators[~taught], told, average="micro", zero_division=0))}

    return fit


def several_split(pile: Pile) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Documents with a label that is frequent enough (others teach nothing), their labels, and which of them teach."""
    indicators = several_labels(pile)
    kept = np.flatnonzero(indicators.any(axis=1))
    return kept, indicators[kept], _taught(len(kept))


def several_labels(pile: Pile) -> np.ndarray:
    """Documents by labels that at least ten documents have."""
    every = pile.every
    names, sizes = np.unique([one for own in every for one in own], return_counts=True)
    column = {name: place for place, name in enumerate(names[sizes >= LEAST])}
    indicators = np.zeros((len(every), len(column)), np.int64)
    for row, own in enumerate(every):
        indicators[row, [column[one] for one in own if one in column]] = 1
    return indicators


def _tfidf(pile: Pile) -> Any:
    from scipy import sparse
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer(sublinear_tf=True).fit_transform(sparse.csr_matrix(pile.counts).astype(np.float64))


def _taught(number: int) -> np.ndarray:
    return np.random.default_rng(1).permutation(number) < 2 * number // 3
