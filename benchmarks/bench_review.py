"""Does a review end where it may, and how much was read by then? Judgements are simulated by the labels of documents.

``python -m benchmarks.run review``. Topics of Reuters (20 of 1 to 10%), OHSUMED and 20 Newsgroups; each run begins
with one relevant document that is drawn by lot. Told are: how often what was found at the stop is at least 95% of all
relevant documents, what was read by then (a reader in random order has read 95% of everything on average when 95% are
found), and what was read until 95% were found, beside the rankings that ASReview has and had by default.
"""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from benchmarks.bars import REVIEW_HOLDS, REVIEW_OF_ASREVIEW, REVIEW_OF_RANDOM
from benchmarks.findings import Findings, skipped
from benchmarks.paths import SHARED_DATA
from benchmarks.settings import Settings
from topiarist.collection.review.reading_order import TARGET, USER_CHOICE, ReadingOrder
from topiarist.collection.review.relevance_model import compute_features

COLLECTIONS = {"reuters21578": "Reuters", "ohsumed23": "OHSUMED", "20newsgroups": "20 Newsgroups"}
LEAST, MOST, TOPICS = 0.01, 0.10, 20
SECONDS = 0.3  # a judgement
PEER_TOPICS = 4  # peers review each fourth topic
PEER_STEP = 50  # peers are fitted again after each 50th part of what was judged, to end in minutes
SVM, BAYES = "ASReview 3 (SVM)", "ASReview 1 (naive Bayes)"


class Review(NamedTuple):
    """A collection and one of its topics."""

    collection: str
    topic: str
    texts: list[str]
    relevant: Any


class Outcome(NamedTuple):
    """A review that was simulated: shares of all documents that were read, and what was found at the stop."""

    recall: float
    read: float
    until: float  # 95% were found
    slowest: float  # processor seconds a judgement; 99 of 100 took less


def labels_of(one: dict[str, Any]) -> list[str]:
    """What a document is about, by those who made the collection."""
    found = one.get("labels") or one.get("topics") or ([one["label"]] if one.get("label") else [])
    return list(found)


@cache
def documents(name: str, most: int) -> tuple[list[str], list[list[str]]]:
    """Texts and labels of the documents that have any; at most so many, drawn by lot."""
    with gzip.open(SHARED_DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [(one["text"], labels_of(one)) for one in map(json.loads, lines)]
    found = [one for one in found if one[1]]
    rows = np.sort(np.random.default_rng(19).permutation(len(found))[:most])
    return [found[row][0] for row in rows], [found[row][1] for row in rows]


def reviews(name: str, most: int, topics: int) -> Iterator[Review]:
    """The topics of a collection that hold 1 to 10% of it, the largest first."""
    texts, labels = documents(name, most)
    number = Counter(label for of_one in labels for label in set(of_one))
    fit = [label for label, often in number.most_common() if LEAST <= often / len(texts) <= MOST]
    for topic in fit[:topics]:
        yield Review(COLLECTIONS[name], topic, texts, np.array([topic in of_one for of_one in labels]))


@cache
def counted(name: str, most: int) -> Any:
    """Documents as the product's own review sees them."""
    counts = CountVectorizer(min_df=3, dtype=np.float32).fit_transform(documents(name, most)[0])
    return compute_features(csr_array(counts))


def ours(name: str, most: int, review: Review, seed: int) -> Outcome:
    """Review to the end as the product does; and on, if 95% are not found by then."""
    rng = np.random.default_rng(seed)
    n = len(review.texts)
    order = ReadingOrder(counted(name, most), rng.permutation(n))
    order.judge(int(rng.choice(np.flatnonzero(review.relevant))), relevant=True, draw=USER_CHOICE)
    wanted, recall, read, until, times = TARGET * review.relevant.sum(), 0.0, 0.0, 0.0, []
    while not (read and until):
        started = time.process_time()
        found = order.next()
        if found is not None:
            order.judge(found[0], bool(review.relevant[found[0]]), found[1])
            progress = order.progress
        times.append(time.process_time() - started)
        if not until and order.found >= wanted:
            until = len(order.answers) / n
        if not read and progress.enough:
            recall, read = order.found / int(review.relevant.sum()), len(order.answers) / n
    return Outcome(recall, read, until, float(np.quantile(times, 0.99)))


def ranked(texts: Any, relevant: Any, seed: int, fit: Callable[[Any, Any], Any]) -> float:
    """What was read until 95% were found, where the documents that a peer thinks most relevant always come next."""
    rng = np.random.default_rng(seed)
    n = len(relevant)
    judged = [int(rng.choice(np.flatnonzero(which))) for which in (relevant, ~relevant)]
    left, found = np.ones(n, bool), 1
    left[judged] = False
    while found < TARGET * relevant.sum():
        score = fit(texts[judged], relevant[judged])(texts)
        rows = np.flatnonzero(left)
        best = rows[np.argsort(-score[rows], kind="stable")[: max(1, len(judged) // PEER_STEP)]]
        judged, found = [*judged, *best.tolist()], found + int(relevant[best].sum())
        left[best] = False
    return len(judged) / n


def balanced(relevant: Any, ratio: float) -> Any:
    """What judgements weigh in ASReview: the relevant ones together ``ratio`` times as much as the others."""
    weights = np.where(relevant, 1.0, relevant.sum() / (ratio * (~relevant).sum()))
    return weights * (len(weights) / weights.sum())


def support_vectors(texts: Any, relevant: Any) -> Callable[[Any], Any]:
    """The default of ASReview 2 and 3 (ELAS u4)."""
    model = LinearSVC(C=0.11, loss="squared_hinge").fit(texts, relevant, sample_weight=balanced(relevant, 9.8))
    return model.decision_function


def naive_bayes(texts: Any, relevant: Any) -> Callable[[Any], Any]:
    """The classic default of ASReview (ELAS u3)."""
    model = MultinomialNB(alpha=3.822).fit(texts, relevant, sample_weight=balanced(relevant, 1.2))
    return lambda others: model.predict_log_proba(others)[:, 1]


@cache
def peer_texts(name: str, most: int, peer: str) -> Any:
    """Documents as a peer sees them."""
    options: dict[str, Any] = {"stop_words": "english"}
    if peer == SVM:
        options = {"ngram_range": (1, 2), "sublinear_tf": True, "min_df": 1, "max_df": 0.95, "dtype": np.float64}
    return TfidfVectorizer(**options).fit_transform(documents(name, most)[0])


PEERS = {SVM: support_vectors, BAYES: naive_bayes}


def pieces(settings: Settings) -> list[tuple]:
    """A collection, how much of it, a topic and a run; the largest collections' first."""
    names = [name for name in settings.of_collections(COLLECTIONS) if (SHARED_DATA / name).is_dir()]
    most, topics, runs = (
        (2_000, 3, 1) if settings.quick else (12_000, TOPICS, 5) if settings.full else (5_000, TOPICS, 1)
    )
    return [
        (name, most, number, run)
        for run in range(settings.draws or runs)
        for name in names
        for number, _ in enumerate(reviews(name, most, topics))
    ]


def measure(piece: tuple) -> dict:
    """Review one topic; each fourth beside peers, and by the fourth run all of them."""
    name, most, number, run = piece
    review = next(islice(reviews(name, most, TOPICS), number, None))
    found: dict[str, Any] = {"topic": review.topic, "ours": list(ours(name, most, review, 1000 + number + 100 * run))}
    if number % PEER_TOPICS == run % PEER_TOPICS:
        found["peers"] = {
            peer: ranked(peer_texts(name, most, peer), review.relevant, 1000 + number + 100 * run, fit)
            for peer, fit in PEERS.items()
        }
    return found


def told(measured: list[tuple[tuple, dict]]) -> dict:
    """How often the stated recall holds, and what is read, beside peers."""
    if not measured:
        return skipped("the collections with labels are not here")
    found = Findings(
        "Simulated reviews of topics of 1 to 10% of a collection, from one relevant document each. *Holds*: at the"
        " stop at least 95% of the relevant documents were found. *Read*: by then, of all documents. *Until*: read"
        f" when 95% were found, which nobody who reviews can know; in brackets the topics that {SVM} and {BAYES} had"
        f" too: those with its published settings, fitted again after each {PEER_STEP}th part of what was judged."
    )
    outcomes: dict[str, list[Outcome]] = {}
    beside: dict[str, list[float]] = {}  # ours, of topics that peers had too
    peers: dict[str, dict[str, list[float]]] = {}
    for (name, *_), figures in measured:
        title, outcome = COLLECTIONS[name], Outcome(*figures["ours"])
        outcomes.setdefault(title, []).append(outcome)
        for peer, until in figures.get("peers", {}).items():
            peers.setdefault(title, {}).setdefault(peer, []).append(until)
        if "peers" in figures:
            beside.setdefault(title, []).append(outcome.until)
    rows = []
    for title, of_title in outcomes.items():
        mean = np.mean(of_title, axis=0)
        holds = sum(one.recall >= TARGET for one in of_title)
        rows.append([
            title, f"{holds} of {len(of_title)}", f"{mean[0]:.1%}", f"{mean[1]:.1%}",
            f"{mean[2]:.1%} ({_share(beside.get(title))})",
            *(_share(peers.get(title, {}).get(peer)) for peer in PEERS), f"{1000 * mean[3]:.0f} ms",
        ])  # fmt: skip
        found.bar(f"{title}: read at the stop, of a random reader's reading", mean[1] / TARGET, REVIEW_OF_RANDOM)
        if title in beside:
            against = float(np.mean(beside[title]) / np.mean(peers[title][SVM]))
            found.bar(f"{title}: read until 95% are found, in times of {SVM}", against, REVIEW_OF_ASREVIEW)
    heads = [
        "",
        "holds",
        "recall at the stop",
        "read at the stop",
        "until",
        *PEERS,
        "processor time a judgement (99 of 100)",
    ]
    found.table(heads, rows)
    every = [one for of_title in outcomes.values() for one in of_title]
    share = sum(one.recall >= TARGET for one in every) / len(every)
    found.bar("stated recall holds, share of runs", share, REVIEW_HOLDS, least=True)
    found.bar(
        "seconds a judgement, the slowest collection", max(np.mean(one, 0)[3] for one in outcomes.values()), SECONDS
    )
    found.values = {"outcomes": {title: [list(one) for one in of] for title, of in outcomes.items()}, "peers": peers}
    return found.result()


def _share(values: list[float] | None) -> str:
    return f"{np.mean(values):.1%}" if values else "not run"
