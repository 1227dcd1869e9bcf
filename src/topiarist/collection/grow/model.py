"""From counts to a fitted tree, by whichever model was asked for."""

from __future__ import annotations

import warnings
from typing import Any, Protocol

import numpy as np

from topiarist.counts.corpus import Corpus
from topiarist.errors import InputError
from topiarist.estimators.category.categorisers import HPLC
from topiarist.estimators.category.given_labels import NamedColumns
from topiarist.estimators.tree.cam import CAM
from topiarist.estimators.tree.hplsa import HPLSA
from topiarist.hierarchy.growth.loop import Journal
from topiarist.hierarchy.tree import Tree

SAMPLE, BATCH = 20_000, 10_000  # documents that a tree grows on, and that it then learns from at a time, online


class Wish(Protocol):
    """What is asked of a tree."""

    @property
    def model(self) -> str:
        """Its kind: cam, hplsa or ggm."""

    @property
    def topics(self) -> int | None:
        """How many leaves; None for as many as held-out words want."""

    @property
    def hierarchy(self) -> Tree | None:
        """A tree whose names are labels."""

    @property
    def online(self) -> bool:
        """Whether to learn from batches."""

    @property
    def seed(self) -> int:
        """Where chance begins."""


def grown_model(
    corpus: Corpus, wish: Wish, journal: Journal | None, n_threads: int | None, device: str, verbose: bool
) -> Any:
    """The fitted model of a corpus without general words."""
    filled = corpus.n_docs - corpus.n_empty
    if not filled:
        raise InputError(
            "no document has a word that fewer than half of the documents have: nothing to tell them apart by",
            hint="more documents, or documents that differ more",
        )
    if filled < (wish.topics or 1):
        raise InputError(
            f"{wish.topics} topics need at least as many documents with words; {filled} came",
            hint=f"--topics {max(1, filled // 10)}, or more documents",
        )
    common: dict[str, Any] = {"random_state": wish.seed, "n_threads": n_threads, "verbose": int(verbose)}
    if wish.hierarchy is not None:
        return _with_labels(corpus, wish.hierarchy, common)
    if wish.model == "ggm":
        from topiarist.estimators.gaussian.gaussian_tree import GaussianTree

        return GaussianTree(wish.topics, **common).fit(corpus.counts)
    made: Any = CAM if wish.model == "cam" else HPLSA
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_cl(usters|asses)=", UserWarning)  # ``facts_of`` says it
        model = made(wish.topics, device=device, **common)
        return _online(model, corpus) if wish.online else model.fit(corpus.counts, journal=journal)


def _online(model: Any, corpus: Corpus) -> Any:
    """A tree that grows on a sample and then learns from all documents, batch by batch, in an order of chance."""
    order = np.random.default_rng(0).permutation(corpus.n_docs)
    model.fit(corpus.counts[np.sort(order[:SAMPLE])])
    for start in range(SAMPLE, corpus.n_docs, BATCH):
        model.partial_fit(corpus.counts[np.sort(order[start : start + BATCH])])
    return model


def _with_labels(corpus: Corpus, tree: Tree, common: dict[str, Any]) -> HPLC:
    """A given hierarchy, learned from the documents that have one of its names as their label."""
    names = set(tree.names)
    found = [[label for label in labels if label in names or "/" in label] for labels in corpus.labels]
    if not any(found):
        known = sorted({label for labels in corpus.labels for label in labels})[:5]
        raise InputError(
            "no document has a label that is a name of the hierarchy",
            hint=f"--label-column; labels are {', '.join(known)}" if known else "--label-column, or --labels FILE",
        )
    if max(map(len, found)) < 2:
        y: Any = [labels[0] if labels else None for labels in found]
    else:
        from sklearn.preprocessing import MultiLabelBinarizer

        binary = MultiLabelBinarizer()
        y = NamedColumns(binary.fit_transform(found), tuple(binary.classes_))
    model: HPLC = HPLC(tree, **common).fit(corpus.counts, y)
    return model
