"""Collections of three classes as points, draws of labelled and unlabelled documents, errors: for studies of GGM."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import labelled
from topiarist import LSI, Corpus
from topiarist.counts import CountSettings
from topiarist.models.gaussian import fits as fitting
from topiarist.models.gaussian import selection, starts
from topiarist.text.documents import Document

N_DOCUMENTS, N_UNLABELLED, RARE = 1280, 200, 40
LABELLED = (10, 20, 50, 100, 200)
GROUPS = ("rec.sport.hockey", "sci.crypt", "talk.politics.mideast")
TOPICS = ("earn", "acq", "crude")
MAIL = ("conference", "job", "spam")
_ADDRESS = re.compile(r"\S+@\S+|https?://\S+")


@dataclass(frozen=True)
class Collection:
    """Documents of three classes, as many of each as there are: one half to learn from, the other to test on."""

    name: str
    corpus: Corpus
    labels: np.ndarray
    classes: tuple[str, ...]

    @property
    def half(self) -> int:
        """How many documents there are to learn from."""
        return len(self.labels) // 2

    def points(self, n_dims: int, *, unit_length: bool, weighting: str = "counts") -> tuple[LSI, np.ndarray]:
        """LSI of the half to learn from, and the points of all documents."""
        lsi = LSI(n_dims, min_count=RARE, unit_length=unit_length, weighting=weighting, random_state=0)
        return lsi.fit(self.corpus.counts[: self.half]), lsi.transform(self.corpus.counts)

    def default_points(self) -> tuple[LSI, np.ndarray]:
        """The same with LSI's defaults, but for rare words."""
        lsi = LSI(min_count=RARE, random_state=0).fit(self.corpus.counts[: self.half])
        return lsi, lsi.transform(self.corpus.counts)


def newsgroups(groups: tuple[str, ...] = GROUPS) -> Collection:
    """Three newsgroups, without quotations and addresses."""
    records = [
        (record["id"], _ADDRESS.sub(" ", labelled.without_quotations(record["text"])), record["label"])
        for record in labelled._records("20newsgroups")
        if record["label"] in groups
    ]
    return _collection("three newsgroups", records, groups)


def reuters(topics: tuple[str, ...] = TOPICS) -> Collection:
    """Three topics of Reuters, documents that have no other."""
    records = [
        (record["id"], record["text"], record["labels"][0])
        for record in labelled._records("reuters21578")
        if len(record["labels"]) == 1 and record["labels"][0] in topics
    ]
    return _collection("three topics of Reuters", records, topics)


def mail() -> Collection:
    """Ling-Spam: conference, job and spam by its weak labels, which are rules on the words: not for accuracy."""
    records = [
        (record["id"], _ADDRESS.sub(" ", record["text"]), record["topic"])
        for record in labelled._records("lingspam")
        if record["topic"] in MAIL
    ]
    return _collection("Ling-Spam", records, MAIL, balanced=False)


def _collection(
    name: str, records: list[tuple[Any, str, str]], classes: tuple[str, ...], *, balanced: bool = True
) -> Collection:
    labels = np.array([label for _, _, label in records])
    rng = np.random.default_rng(0)
    most = [N_DOCUMENTS // 3 + (place < N_DOCUMENTS % 3) if balanced else len(labels) for place in range(3)]
    chosen = [rng.permutation(np.flatnonzero(labels == label))[:n] for label, n in zip(classes, most, strict=True)]
    rows = rng.permutation(np.concatenate(chosen))
    documents = [Document(str(records[row][0]), records[row][1]) for row in rows]
    corpus = Corpus.from_documents(documents, CountSettings(stop_words="en", stem="en"))
    return Collection(name, corpus, np.array([classes.index(labels[row]) for row in rows]), classes)


def draws(labels: np.ndarray, n_labelled: int, n_draws: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of labelled documents and 200 unlabelled ones for each draw, and their classes, −1 for the latter."""
    rows, classes = [], []
    for draw in range(n_draws):
        rng = np.random.default_rng([seed, n_labelled, draw])
        chosen = rng.permutation(len(labels))[: n_labelled + N_UNLABELLED]
        rows.append(chosen)
        classes.append(np.append(labels[chosen[:n_labelled]], np.full(len(chosen) - n_labelled, -1)))
    return np.array(rows), np.array(classes)


def sample_of(points: np.ndarray, rows: np.ndarray, classes: np.ndarray, seed: int = 0) -> starts.Sample:
    """The draws as the batched fit takes them, with their halves."""
    first = [fitting.draw_halves(own, 0.5, np.random.default_rng([seed, n])) for n, own in enumerate(classes)]
    return starts.Sample(points[rows], classes, np.array(first))


def errors_of(fits: Sequence[fitting.Fits], points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Share of test documents that each fit gets wrong."""
    errors = []
    for fit in fits:
        joint = selection.compute_joint(fit.model, fit.params, points[None])[0]
        shares = np.exp(joint - joint.max(axis=0))
        predicted = (shares.T @ fit.params.class_given_component[0]).argmax(axis=1)
        errors.append(float((predicted != labels).mean()))
    return np.array(errors)
