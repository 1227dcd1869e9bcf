"""Which labels a new document gets: greedily (M6), or by shares and thresholds (M7), (M8): docs/models/pmm.md

The best set of labels is sought greedily: the best single label, then the label that raises Σ x log φ most, until none
does. A document is read by itself, so that any cut into pieces and any number of threads give the same answer.

The labels of a set need not have even shares, and some labels are given more readily than others. So the shares of all
labels are found for each document (by folding it in, as in PLSA, with θ fixed), and a label is given where its share
exceeds a threshold of its own. The thresholds are chosen for the mean F on documents that θ has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Bools, Csr, Floats, Integers
from topiarist.counts.weighting import shortened
from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels import labels as kernels
from topiarist.kernels.labels import FORBIDDEN, Taste
from topiarist.kernels.shard import Side, even_cuts
from topiarist.models.engine.host import Engine
from topiarist.models.plsa import folded_in

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


LENGTH = 20.0  # tokens: a longer document weighs as if it had so many, because words of a document repeat each other
PSEUDO_COUNT = 0.2  # tokens that each label has in each document beforehand
SWEEPS = 4  # through all labels


def shares(engine: Engine, by_word: Floats, counts: Csr) -> Floats:
    """(M7): the share of each label in each document, (n_docs, n_labels); rows sum to one."""
    short = shortened(counts.astype(np.float64), LENGTH)
    return folded_in(engine, Side.of(short, np.float64), by_word, PSEUDO_COUNT, 1.0)


def word_shares(by_word: Floats, words: Integers, x: Floats, share: Floats, label: int) -> Floats:
    """What each word of a document adds to the share of a label; the rest of it is the prior's."""
    rows = by_word[words]
    short = x * (LENGTH / max(LENGTH, x.sum()))
    part: Floats = short * rows[:, label] * share[label] / (rows @ share)
    part /= short.sum() + PSEUDO_COUNT * len(share)
    return part


def margins(share: Floats, thresholds: Floats) -> Floats:
    """(M8): how far each share is above its threshold; where none is, the nearest one is lifted to just above it."""
    above: Floats = share - thresholds
    none = np.flatnonzero(~(above > 0).any(axis=1))
    above[none, above[none].argmax(axis=1)] = np.finfo(np.float64).tiny
    return above


def best_thresholds(share: Floats, labels: Csr) -> Floats:
    """(M8): thresholds with a high mean of 2|y∩ŷ|/(|y|+|ŷ|), label after label, from the best common one.

    ``share`` must come from models that have not seen these documents. With all other labels fixed, the best threshold
    of one label is found approximately: its documents in the order of its shares, and a running sum of what each gains.
    What the nearest label gives to a document without any other is taken as it was before. So a sweep may lose; the
    best of all sweeps and the common threshold is kept.
    """
    given = labels.toarray().astype(bool)
    thresholds = np.full(share.shape[1], _common(share, given))
    thresholds[~given.any(axis=0)] = np.inf
    tried = [thresholds]
    for _ in range(SWEEPS):
        tried.append(_swept(share, tried[-1], given))
    return max(tried, key=lambda each: _mean_f(margins(share, each), given))


def best_threshold(share: Floats, labels: Csr) -> float:
    """The threshold with a high mean F that all labels have alike."""
    return _common(share, labels.toarray().astype(bool))


def _swept(share: Floats, before: Floats, given: Bools) -> Floats:
    """The thresholds of all labels, one after the other."""
    thresholds = before.copy()
    predicted = share > thresholds
    hits, sizes, wanted = (predicted & given).sum(axis=1), predicted.sum(axis=1), given.sum(axis=1)
    for label in np.flatnonzero(given.any(axis=0)).tolist():
        own, is_given = share[:, label], given[:, label]
        hits -= predicted[:, label] & is_given
        sizes -= predicted[:, label]
        order = np.argsort(-own, kind="stable")
        with_it = 2 * (hits + is_given) / (wanted + sizes + 1)
        without = 2 * hits / (wanted + np.maximum(sizes, 1)) + _rescued(share, thresholds, given, sizes == 0, label)
        running = np.append(0.0, np.cumsum((with_it - without)[order]))
        thresholds[label] = _between(own[order], int(running.argmax()))
        predicted[:, label] = own > thresholds[label]
        hits += predicted[:, label] & is_given
        sizes += predicted[:, label]
    return thresholds


def _rescued(share: Floats, thresholds: Floats, given: Bools, bare: Array, label: int) -> Floats:
    """What a document without any other label gains from the label that is nearest to its threshold."""
    gain = np.zeros(len(share))
    rows = np.flatnonzero(bare)
    above = share[rows] - thresholds
    above[:, label] = -np.inf
    nearest = above.argmax(axis=1)
    gain[rows] = 2 * given[rows, nearest] / (given[rows].sum(axis=1) + 1)
    return gain


def _between(falling: Floats, number: int) -> float:
    """A threshold that exactly so many of these shares exceed (or fewer, where shares are equal)."""
    if number == 0:
        return float(falling[0])
    if number == len(falling):
        return float(falling[-1]) / 2
    return float(falling[number - 1] + falling[number]) / 2


def _common(share: Floats, given: Bools) -> float:
    """The best threshold for all labels alike, of some sixty."""
    tried = np.unique(np.quantile(share, np.linspace(0.5, 0.999, 60)))
    return float(max(tried, key=lambda threshold: _mean_f(margins(share, np.full(share.shape[1], threshold)), given)))


def _mean_f(above: Floats, given: Bools) -> float:
    predicted = above > 0
    return float(np.mean(2 * (predicted & given).sum(axis=1) / (predicted.sum(axis=1) + given.sum(axis=1))))
