"""Labels by their shares of a document, with a threshold for each. Equations (M7), (M8): docs/models/pmm.md

The labels of a set need not have even shares, and some labels are given more readily than others. So the shares of all
labels are found for each document (by folding it in, as in PLSA, with θ fixed), and a label is given where its share
exceeds a threshold of its own. The thresholds are chosen for the mean F on documents that θ has not seen.
"""

from __future__ import annotations

import numpy as np

from topiarist.arrays import Array, Bools, Csr, Floats, Integers
from topiarist.counts.weighting import shortened
from topiarist.kernels.shard import Side
from topiarist.models.engine.host import Engine
from topiarist.models.plsa import folded_in

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
