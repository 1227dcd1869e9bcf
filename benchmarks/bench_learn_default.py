"""What does `topiarist learn` give by default, from one label a class to all of them? Against what a user would pick.

Ours are counts as every collection has them and ``CategoryLearner()`` as it comes. The others get tf-idf (damped
counts, English stop words, words of two documents) of the same texts: a linear SVM and a logistic regression, C by
three folds, self-training, and label spreading over neighbours in a latent space. Times are those of the processor,
one thread.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MultiLabelBinarizer, normalize
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import LinearSVC

from benchmarks import labelled, multilabel
from benchmarks.findings import Findings, skipped
from benchmarks.settings import Settings
from topiarist import CategoryLearner, Corpus
from topiarist.counts import CountSettings
from topiarist.metrics import example_f1
from topiarist.text.documents import Document

NUMBERS = (1, 2, 5, 10, 20, 50, None)  # labels of a class; None is all
COLLECTIONS = ("20newsgroups", "reuters21578", "ohsumed23", "lingspam", "arxiv-demo")
SMALLEST_CLASS, REUTERS_CLASSES = 40, 16
SIZES, QUICK_SIZES = (6_000, 3_000), (3_000, 1_500)  # documents to learn from, and to judge by
SEEDS = 2
SEVERAL = "several labels"
MANY_LABELS = ("arts", "business", "education", "science", "reuters21578")


class Problem(NamedTuple):
    """A collection as counts and as tf-idf, the label of each document, and which documents are for what."""

    counts: Any
    tfidf: Any
    labels: np.ndarray
    train: np.ndarray
    test: np.ndarray


class Answer(NamedTuple):
    """What one way gets: the share that is right, and seconds of the processor."""

    accuracy: float
    seconds: float


def pieces(settings: Settings) -> list[tuple]:
    """One label a document from one of a class to all, then several labels; the slowest first."""
    names = [name for name in settings.of_collections(COLLECTIONS) if not labelled.missing(name)]
    sizes = QUICK_SIZES if settings.quick else SIZES
    draws = settings.draws or (1 if settings.quick else SEEDS)
    several = [] if labelled.missing("yahoo") else settings.of_collections(MANY_LABELS)
    return [
        *(
            (name, number, seed, *sizes)
            for number in reversed(NUMBERS)
            if not settings.labels or number in settings.labels
            for name in names
            for seed in range(1 if number is None else draws)
        ),
        *((SEVERAL, name) for name in several if not settings.labels),
    ]


def measure(piece: tuple) -> dict:
    """Every way on the same labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if piece[0] == SEVERAL:
            return {"row": several(piece[1])}
        name, number, seed, *sizes = piece
        row, figures = one_row(name, problem(name, *sizes), number, seed)
        return {"row": row, "figures": figures}


def told(measured: list[tuple[tuple, dict]]) -> dict:
    """The rows in the order of collections and numbers of labels, and the worst of each figure."""
    if not measured:
        return skipped("the collections with labels are not here")
    found = Findings(
        "What `topiarist learn` gives by default. *without*: the same, without the documents that have no label."
        " *sure*: of the documents shown as at least 90% certain, the share that is right (and how many those are)."
    )
    one, more = ([each for each in measured if (each[0][0] == SEVERAL) is many] for many in (False, True))
    one.sort(key=lambda each: (COLLECTIONS.index(each[0][0]), NUMBERS.index(each[0][1]), each[0][2]))
    head = ["collection", "a class", "ours", "without", "best other", "which", "ECE", "sure", "time", "SVM's"]
    found.table(head, [figures["row"] for _, figures in one])
    if more:
        more.sort(key=lambda each: MANY_LABELS.index(each[0][1]))
        found.table(["problem", "ours F", "micro", "LR F", "micro", "time", "LR's"], [each[1]["row"] for each in more])
    names = ("behind", "unlabelled costs", "ece from 5", "time with all")
    found.values = {
        name: max((figures["figures"][name] for _, figures in one if name in figures["figures"]), default=0.0)
        for name in names
    }
    return found.result()


def one_row(name: str, part: Problem, number: int | None, seed: int) -> tuple[list[str], dict[str, float]]:
    """Every way on the same labels."""
    known = some_labels(part, number, seed)
    given = np.full(len(part.train), None, object)
    given[known] = part.labels[part.train[known]]
    ours, told = learned(part, given)
    without, _ = learned(part, given, unlabelled_weight=0) if number is not None else (ours, None)
    others = peers(part, known)
    best = max(others, key=lambda title: others[title].accuracy)
    error, sure, number_sure = certainty(told, part.labels[part.test])
    row = [
        name, "all" if number is None else str(number), f"{100 * ours.accuracy:.1f}", f"{100 * without.accuracy:.1f}",
        f"{100 * others[best].accuracy:.1f}", best, f"{error:.3f}", f"{100 * sure:.0f}% ({number_sure:,})",
        f"{ours.seconds:.1f} s", f"{others['SVM'].seconds:.1f} s",
    ]  # fmt: skip
    figures = {
        "behind": 100 * (others[best].accuracy - ours.accuracy),
        "unlabelled costs": 100 * (without.accuracy - ours.accuracy),
    }
    if number is None or number >= 5:
        figures["ece from 5"] = error
    if number is None:
        figures["time with all"] = ours.seconds / others["SVM"].seconds
    return row, figures


def learned(part: Problem, given: np.ndarray, **options: Any) -> tuple[Answer, tuple[np.ndarray, np.ndarray]]:
    """Ours as it comes."""
    start = time.process_time()
    learner = CategoryLearner(**options).fit(part.counts[part.train], given)
    seconds = time.process_time() - start
    rows = learner.predict_proba(part.counts[part.test])
    told = learner.classes_[rows.argmax(axis=1)]
    return Answer(float((told == part.labels[part.test]).mean()), seconds), (rows.max(axis=1), told)


def certainty(told: tuple[np.ndarray, np.ndarray], right: np.ndarray) -> tuple[float, float, int]:
    """The expected calibration error in ten bins; of what is at least 90% certain, the share that is right."""
    certain, correct = told[0], told[1] == right
    bins = np.minimum((10 * certain).astype(int), 9)
    error = sum(
        (bins == place).mean() * abs(certain[bins == place].mean() - correct[bins == place].mean())
        for place in np.unique(bins)
    )
    sure = certain >= 0.9
    return float(error), float(correct[sure].mean()) if sure.any() else float("nan"), int(sure.sum())


def peers(part: Problem, known: np.ndarray) -> dict[str, Answer]:
    """What a user would pick instead."""
    rows = part.train[known]
    labels, features = part.labels[rows], part.tfidf
    names = np.unique(labels)
    semi = np.full(len(part.train), -1)
    semi[known] = np.searchsorted(names, labels)

    def timed(fit: Callable[[], Any], X: Any, decode: bool = False) -> Answer:
        start = time.process_time()
        model = fit()
        seconds = time.process_time() - start
        told = model.predict(X[part.test])
        told = names[told] if decode else told
        return Answer(float((told == part.labels[part.test]).mean()), seconds)

    found = {
        "SVM": timed(lambda: _tuned(LinearSVC(), (0.1, 1.0, 10.0), features[rows], labels), features),
        "logistic": timed(
            lambda: _tuned(LogisticRegression(max_iter=200, tol=1e-3), (1.0, 10.0, 100.0), features[rows], labels),
            features,
        ),
    }
    if len(known) < len(part.train):
        teacher = SelfTrainingClassifier(LogisticRegression(C=10, max_iter=200), threshold=0.75, max_iter=5)
        found["self-training"] = timed(lambda: teacher.fit(features[part.train], semi), features, decode=True)
        points = normalize(TruncatedSVD(100, random_state=0).fit(features[part.train]).transform(features))
        spreading = LabelSpreading(kernel="knn", n_neighbors=10, alpha=0.2)
        found["spreading"] = timed(lambda: spreading.fit(points[part.train], semi), points, decode=True)
    return found


def _tuned(model: Any, costs: tuple[float, ...], X: Any, y: np.ndarray) -> Any:
    smallest = np.unique(y, return_counts=True)[1].min()
    if smallest < 2:
        return model.set_params(C=costs[1]).fit(X, y)
    return GridSearchCV(model, {"C": costs}, cv=min(3, smallest)).fit(X, y)


def some_labels(part: Problem, number: int | None, seed: int) -> np.ndarray:
    """Places among the training documents whose labels are known: so many of each class."""
    if number is None:
        return np.arange(len(part.train))
    rng, labels = np.random.default_rng(100 + seed), part.labels[part.train]
    return np.sort(np.concatenate([rng.permutation(np.flatnonzero(labels == n))[:number] for n in np.unique(labels)]))


@cache
def problem(name: str, n_train: int, n_test: int) -> Problem:
    """Documents in a random order, two thirds to learn from, as many as are wanted."""
    pairs = [(record["text"], _label(name, record)) for record in labelled._records(name)]
    counted = Counter(label for _, label in pairs if label)
    kept = counted.most_common(REUTERS_CLASSES if name == "reuters21578" else None)
    wanted = {label for label, size in kept if size >= SMALLEST_CLASS}
    pairs = [pair for pair in pairs if pair[1] in wanted]
    order = np.random.default_rng(0).permutation(len(pairs))
    texts, labels = [pairs[place][0] for place in order], np.array([pairs[place][1] for place in order])
    corpus = Corpus.from_documents(
        [Document(str(place), text) for place, text in enumerate(texts)], CountSettings(), keep_texts=False
    )
    third = len(texts) * 2 // 3
    train, test = np.arange(min(third, n_train)), np.arange(third, min(len(texts), third + n_test))
    counter = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english").fit([texts[row] for row in train])
    return Problem(sparse.csr_array(corpus.counts), counter.transform(texts), labels, train, test)


def _label(name: str, record: dict) -> str | None:
    if name == "reuters21578":
        return record["labels"][0] if len(record["labels"]) == 1 else None
    return record["label"].split(".")[0] if name.startswith("arxiv") else record["label"]


def several(name: str) -> list[str]:
    """Documents with several labels: the mean F of documents and micro F, of ours and of balanced regressions."""
    X, Y, tests, answers = _several_problem(name)
    start = time.process_time()
    learner = CategoryLearner().fit(X, Y)
    ours = time.process_time() - start
    told = learner.predict(tests)
    counter = TfidfTransformer(sublinear_tf=True).fit(X)
    start = time.process_time()
    model = OneVsRestClassifier(LogisticRegression(class_weight="balanced", solver="liblinear"))
    model.fit(counter.transform(X), Y)
    theirs = time.process_time() - start
    scores = model.decision_function(counter.transform(tests))
    picked = multilabel.at_least_one(scores > 0, scores)
    figures = [figure for given in (told, picked) for figure in (example_f1(answers, given), _micro(answers, given))]
    return [name, *(f"{100 * figure:.1f}" for figure in figures), f"{ours:.1f} s", f"{theirs:.1f} s"]


def _micro(answers: np.ndarray, given: np.ndarray) -> float:
    return float(f1_score(answers, given, average="micro", zero_division=0.0))


def _several_problem(name: str) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    if name == "reuters21578":
        records = [record for record in labelled._records(name) if record["labels"]][:6_000]
        order = np.random.default_rng(0).permutation(len(records))
        records = [records[place] for place in order]
        corpus = Corpus.from_documents(
            [Document(str(place), record["text"]) for place, record in enumerate(records)], CountSettings()
        )
        counts, labels = corpus.counts, MultiLabelBinarizer().fit_transform([one["labels"] for one in records])
        cut = 3_000
        parts = counts[:cut], labels[:cut], counts[cut:], labels[cut:]
    else:
        part = multilabel.split(name, 2000, 0)
        parts = part.counts, part.labels.toarray(), part.test_counts, part.test_labels.toarray()
    X, Y, tests, answers = parts
    common = Y.sum(axis=0) >= 2
    Y, answers = Y[:, common], answers[:, common]
    rows, others = np.flatnonzero(Y.any(axis=1)), np.flatnonzero(answers.any(axis=1))
    return sparse.csr_array(X[rows]), Y[rows], sparse.csr_array(tests[others]), answers[others]
