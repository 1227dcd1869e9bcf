"""The labels of new documents, and the words that decided. Equation (M6): docs/models/pmm.md

The best set of labels is sought greedily: the best single label, then the label that raises Σ x log φ most, until none
does. A document is read by itself, so that any cut into pieces and any number of threads give the same answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr, Floats, Integers
from topiarist.kernels import labels as kernels
from topiarist.kernels.labels import FORBIDDEN, Taste
from topiarist.kernels.ratios import SMALLEST_MIXTURE
from topiarist.kernels.shard import even_cuts
from topiarist.models.engine.host import Engine

NUMBERS = 1 << 20  # documents × labels in a piece


@dataclass(frozen=True)
class Mixture:
    """What reading needs of a fitted model."""

    by_word: Floats  # θ (n_words, n_labels)
    bias: Floats  # α (n_labels, n_labels), or (0, 0) for even shares
    allowed: Any  # labels that may be chosen: bool (n_labels,)

    @property
    def taste(self) -> Taste:
        """A uniform prior over the sets of allowed labels."""
        return Taste(self.bias, np.where(self.allowed, 0.0, FORBIDDEN), np.zeros(2))

    def weights(self, labels: Integers) -> Floats:
        """(M1), (M2): c for each label of a set."""
        size = len(labels)
        if not len(self.bias):
            return np.full(size, 1.0 / size)
        weights: Floats = 2.0 * self.bias[np.ix_(labels, labels)].sum(axis=1) / size**2
        return weights

    def logs(self, words: Integers, labels: Integers) -> Floats:
        """log φ of some words for a set of labels."""
        mixture = self.by_word[np.ix_(words, labels)] @ self.weights(labels)
        logs: Floats = np.log(np.maximum(mixture, SMALLEST_MIXTURE))
        return logs


def chosen_labels(engine: Engine, mixture: Mixture, counts: Csr) -> Any:
    """(M6): a sparse matrix, documents × labels, with 1, 2, … in the order in which labels were chosen."""
    parts = engine.threads.map(lambda rows: _sparse(_read(engine, mixture, counts, rows)[0]), _pieces(counts, mixture))
    places = [part[0] for part in parts]
    ends = np.concatenate([[0], *(part[1] for part in parts)]).cumsum()
    ranks = np.concatenate([part[2] for part in parts])
    shape = (counts.shape[0], mixture.by_word.shape[1])
    return csr_array((ranks, np.concatenate(places), ends), shape=shape)


def label_gains(engine: Engine, mixture: Mixture, counts: Csr) -> tuple[Any, Floats]:
    """(M6): the order of choice and the gains, both documents × labels. See ``reference.choose``."""
    shape = (counts.shape[0], mixture.by_word.shape[1])
    ranks, gains = np.empty(shape, np.int32), np.empty(shape)

    def piece(rows: slice) -> None:
        ranks[rows], gains[rows] = _read(engine, mixture, counts, rows, gains=True)

    engine.threads.map(piece, _pieces(counts, mixture))
    return ranks, gains


def _read(engine: Engine, mixture: Mixture, counts: Csr, rows: slice, *, gains: bool = False) -> tuple[Any, Floats]:
    n_docs, n_labels = rows.stop - rows.start, mixture.by_word.shape[1]
    ranks, wanted = np.empty((n_docs, n_labels), np.int32), np.empty((n_docs if gains else 0, n_labels))
    verbs, indptr = kernels.load(engine.kernels.name), counts.indptr[rows.start : rows.stop + 1]
    verbs.choose(indptr, counts.indices, counts.data, mixture.by_word, np.ones(n_docs), mixture.taste, ranks, wanted)
    return ranks, wanted


def _sparse(ranks: Integers) -> tuple[Any, Any, Any]:
    documents, labels = np.nonzero(ranks)
    return labels, np.bincount(documents, minlength=len(ranks)), ranks[documents, labels]


def _pieces(counts: Csr, mixture: Mixture) -> list[slice]:
    """About equally many words in each, and no more than so many documents."""
    most = max(1, NUMBERS // mixture.by_word.shape[1])
    cuts = even_cuts(counts.indptr).tolist()
    fine = sorted({*cuts, *range(0, counts.shape[0], most)})
    return [slice(a, b) for a, b in pairwise(fine)]


def label_likelihoods(engine: Engine, mixture: Mixture, counts: Csr) -> Floats:
    """Σ x log θ_l of each document and each single label."""
    by_word = np.log(np.maximum(mixture.by_word, SMALLEST_MIXTURE))
    return np.asarray(counts @ by_word) + mixture.taste.of_label


def contributions(mixture: Mixture, words: Integers, x: Floats, ranks: Integers, gains: Floats, label: int) -> Floats:
    """What each word of a document adds to the gain of a label: together they are its gain.

    A chosen label is compared with the labels chosen before it; the first one with the best of the others, or with
    nothing where it is alone; any other label is added to the final set.
    """
    before = np.flatnonzero(ranks)[np.argsort(ranks[np.flatnonzero(ranks)])]
    if ranks[label]:
        before = before[: ranks[label] - 1]
    after = mixture.logs(words, np.append(before, label))
    if len(before):
        return x * (after - mixture.logs(words, before))
    others = np.flatnonzero(mixture.allowed & (np.arange(len(ranks)) != label))
    if not len(others):
        return np.zeros(len(words))
    alone = x @ np.log(np.maximum(mixture.by_word[np.ix_(words, others)], SMALLEST_MIXTURE))
    rival = others[[int(np.argmax(alone))]]
    return np.asarray(x * (after - mixture.logs(words, rival)))
