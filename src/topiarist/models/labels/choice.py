"""Choice of labels for new documents: greedily (M6), or by shares and thresholds (M7), (M8): docs/models/pmm.md

The best set of labels is searched greedily: the best single label, then the label that increases Σ x log φ most, until
none does. Documents are independent, so any slices and any number of threads give the same result.

The labels of a set can have unequal shares, and some labels are used more readily than others. So the shares of all
labels are computed for each document (by folding it in, as in PLSA, with fixed θ), and a label is assigned if its share
exceeds its threshold. The thresholds maximise the mean F on documents that were excluded from θ.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Bools, Csr, Floats, Integers
from topiarist.counts.weighting import shorten_documents
from topiarist.kernels import SMALLEST_MIXTURE
from topiarist.kernels.labels import EXCLUDED_WEIGHT
from topiarist.kernels.shard import CountsView, cut_evenly
from topiarist.models.engine.host import Engine
from topiarist.models.plsa import fold_in_rows

SLICE_NUMBERS = 1 << 20  # documents × labels in a slice


@dataclass(frozen=True)
class Mixture:
    """Parameters of a fitted model that predictions need."""

    by_word: Floats  # θ (n_words, n_labels)
    bias: Floats  # α (n_labels, n_labels), or (0, 0) for even shares
    is_allowed: Any  # labels that can be chosen: bool (n_labels,)

    @property
    def label_weights(self) -> Floats:
        """Uniform prior over the sets of allowed labels."""
        return np.where(self.is_allowed, 0.0, EXCLUDED_WEIGHT)

    def weights(self, labels: Integers) -> Floats:
        """(M1), (M2): return c for each label of a set."""
        size = len(labels)
        if not len(self.bias):
            return np.full(size, 1.0 / size)
        weights: Floats = 2.0 * self.bias[np.ix_(labels, labels)].sum(axis=1) / size**2
        return weights

    def logs(self, words: Integers, labels: Integers) -> Floats:
        """Return log φ of some words for a set of labels."""
        mixture = self.by_word[np.ix_(words, labels)] @ self.weights(labels)
        logs: Floats = np.log(np.maximum(mixture, SMALLEST_MIXTURE))
        return logs


def choose_labels(engine: Engine, mixture: Mixture, counts: Csr) -> Any:
    """(M6): return a sparse matrix, documents × labels, with 1, 2, … in the order of choice."""
    parts = engine.threads.map(
        lambda rows: _to_sparse(_choose_slice(engine, mixture, counts, rows)[0]), _slice_documents(counts, mixture)
    )
    places = [part[0] for part in parts]
    ends = np.concatenate([[0], *(part[1] for part in parts)]).cumsum()
    ranks = np.concatenate([part[2] for part in parts])
    shape = (counts.shape[0], mixture.by_word.shape[1])
    return csr_array((ranks, np.concatenate(places), ends), shape=shape)


def compute_label_gains(engine: Engine, mixture: Mixture, counts: Csr) -> tuple[Any, Floats]:
    """(M6): return the order of choice and the gains, documents × labels. The specification is ``reference.choose_labels``."""
    shape = (counts.shape[0], mixture.by_word.shape[1])
    ranks, gains = np.empty(shape, np.int32), np.empty(shape)

    def piece(rows: slice) -> None:
        ranks[rows], gains[rows] = _choose_slice(engine, mixture, counts, rows, gains=True)

    engine.threads.map(piece, _slice_documents(counts, mixture))
    return ranks, gains


def _choose_slice(
    engine: Engine, mixture: Mixture, counts: Csr, rows: slice, *, gains: bool = False
) -> tuple[Any, Floats]:
    """Return label ranks of some documents; with ``gains``, also the gain of each label."""
    n_docs, n_labels = rows.stop - rows.start, mixture.by_word.shape[1]
    ranks, gains_of_docs = np.empty((n_docs, n_labels), np.int32), np.empty((n_docs if gains else 0, n_labels))
    indptr = counts.indptr[rows.start : rows.stop + 1]
    parameters = (mixture.by_word, mixture.bias, mixture.label_weights)
    engine.kernels.choose_labels(indptr, counts.indices, counts.data, *parameters, ranks, gains_of_docs)
    return ranks, gains_of_docs


def _to_sparse(ranks: Integers) -> tuple[Any, Any, Any]:
    documents, labels = np.nonzero(ranks)
    return labels, np.bincount(documents, minlength=len(ranks)), ranks[documents, labels]


def _slice_documents(counts: Csr, mixture: Mixture) -> list[slice]:
    """Return slices with about equally many words and a limited number of documents."""
    max_documents = max(1, SLICE_NUMBERS // mixture.by_word.shape[1])
    cuts = cut_evenly(counts.indptr).tolist()
    fine = sorted({*cuts, *range(0, counts.shape[0], max_documents)})
    return [slice(a, b) for a, b in pairwise(fine)]


def label_likelihoods(engine: Engine, mixture: Mixture, counts: Csr) -> Floats:
    """Return Σ x log θ_l of each document and each single label."""
    by_word = np.log(np.maximum(mixture.by_word, SMALLEST_MIXTURE))
    return np.asarray(counts @ by_word) + mixture.label_weights


def contributions(mixture: Mixture, words: Integers, x: Floats, ranks: Integers, gains: Floats, label: int) -> Floats:
    """Return the contribution of each word of a document to the gain of a label; they sum to its gain.

    A chosen label is compared with the labels chosen before it. The first one is compared with the best other label, or
    with nothing if it is alone. Any other label is added to the final set.
    """
    earlier = np.flatnonzero(ranks)[np.argsort(ranks[np.flatnonzero(ranks)])]
    if ranks[label]:
        earlier = earlier[: ranks[label] - 1]
    logs_with_label = mixture.logs(words, np.append(earlier, label))
    if len(earlier):
        return x * (logs_with_label - mixture.logs(words, earlier))
    others = np.flatnonzero(mixture.is_allowed & (np.arange(len(ranks)) != label))
    if not len(others):
        return np.zeros(len(words))
    single_likelihoods = x @ np.log(np.maximum(mixture.by_word[np.ix_(words, others)], SMALLEST_MIXTURE))
    rival = others[[int(np.argmax(single_likelihoods))]]
    return np.asarray(x * (logs_with_label - mixture.logs(words, rival)))


MAX_TOKENS = 20.0  # tokens; longer documents are scaled down to this length, because their words repeat
PSEUDO_COUNT = 0.2  # prior tokens of each label in each document
SWEEPS = 4  # through all labels


def fold_in_shares(engine: Engine, by_word: Floats, counts: Csr) -> Floats:
    """(M7): return the share of each label in each document, (n_docs, n_labels); rows sum to one."""
    short = shorten_documents(counts.astype(np.float64), MAX_TOKENS)
    return fold_in_rows(engine, CountsView.from_matrix(short, np.float64), by_word, PSEUDO_COUNT, 1.0)


def word_shares(by_word: Floats, words: Integers, x: Floats, share: Floats, label: int) -> Floats:
    """Return the contribution of each word of a document to the share of a label; the prior contributes the rest."""
    rows = by_word[words]
    short = x * (MAX_TOKENS / max(MAX_TOKENS, x.sum()))
    part: Floats = short * rows[:, label] * share[label] / (rows @ share)
    part /= short.sum() + PSEUDO_COUNT * len(share)
    return part


def margins(share: Floats, thresholds: Floats) -> Floats:
    """(M8): return each share minus its threshold; without a positive one, the largest is raised just above zero."""
    margin: Floats = share - thresholds
    none = np.flatnonzero(~(margin > 0).any(axis=1))
    margin[none, margin[none].argmax(axis=1)] = np.finfo(np.float64).tiny
    return margin


def find_thresholds(share: Floats, labels: Csr) -> Floats:
    """(M8): find thresholds with a high mean of 2|y∩ŷ|/(|y|+|ŷ|), label by label, from the best common threshold.

    ``share`` must come from models that exclude these documents. With all other labels fixed, the best threshold of a
    label is found approximately, from its documents in the order of shares and a running sum of their gains. The label
    that a document gets by the rule of the largest margin is kept fixed. A sweep can lose, so the best of all sweeps
    and the common threshold is returned.
    """
    is_label = labels.toarray().astype(bool)
    thresholds = np.full(share.shape[1], _find_common_threshold(share, is_label))
    thresholds[~is_label.any(axis=0)] = np.inf
    candidates = [thresholds]
    for _ in range(SWEEPS):
        candidates.append(_sweep_thresholds(share, candidates[-1], is_label))
    return max(candidates, key=lambda candidate: _mean_f(margins(share, candidate), is_label))


def find_threshold(share: Floats, labels: Csr) -> float:
    """Return the common threshold of all labels with the highest mean F."""
    return _find_common_threshold(share, labels.toarray().astype(bool))


def _sweep_thresholds(share: Floats, start: Floats, is_label: Bools) -> Floats:
    """Update the thresholds of all labels, one after another."""
    thresholds = start.copy()
    predicted = share > thresholds
    hits, sizes, n_labels_of_docs = (predicted & is_label).sum(axis=1), predicted.sum(axis=1), is_label.sum(axis=1)
    for label in np.flatnonzero(is_label.any(axis=0)).tolist():
        label_share, has_label = share[:, label], is_label[:, label]
        hits -= predicted[:, label] & has_label
        sizes -= predicted[:, label]
        order = np.argsort(-label_share, kind="stable")
        score_with = 2 * (hits + has_label) / (n_labels_of_docs + sizes + 1)
        score_without = 2 * hits / (n_labels_of_docs + np.maximum(sizes, 1)) + _compute_nearest_gain(
            share, thresholds, is_label, sizes == 0, label
        )
        running = np.append(0.0, np.cumsum((score_with - score_without)[order]))
        thresholds[label] = _place_threshold(label_share[order], int(running.argmax()))
        predicted[:, label] = label_share > thresholds[label]
        hits += predicted[:, label] & has_label
        sizes += predicted[:, label]
    return thresholds


def _compute_nearest_gain(
    share: Floats, thresholds: Floats, is_label: Bools, has_no_label: Array, label: int
) -> Floats:
    """Return the gain of a document without other labels from the label with the largest margin."""
    gain = np.zeros(len(share))
    rows = np.flatnonzero(has_no_label)
    margin = share[rows] - thresholds
    margin[:, label] = -np.inf
    best_label = margin.argmax(axis=1)
    gain[rows] = 2 * is_label[rows, best_label] / (is_label[rows].sum(axis=1) + 1)
    return gain


def _place_threshold(sorted_shares: Floats, number: int) -> float:
    """Return a threshold that exactly ``number`` of these shares exceed, or fewer for equal shares."""
    if number == 0:
        return float(sorted_shares[0])
    if number == len(sorted_shares):
        return float(sorted_shares[-1]) / 2
    return float(sorted_shares[number - 1] + sorted_shares[number]) / 2


def _find_common_threshold(share: Floats, is_label: Bools) -> float:
    """Return the best common threshold of sixty candidates."""
    candidates = np.unique(np.quantile(share, np.linspace(0.5, 0.999, 60)))
    return float(
        max(candidates, key=lambda threshold: _mean_f(margins(share, np.full(share.shape[1], threshold)), is_label))
    )


def _mean_f(margin: Floats, is_label: Bools) -> float:
    predicted = margin > 0
    return float(np.mean(2 * (predicted & is_label).sum(axis=1) / (predicted.sum(axis=1) + is_label.sum(axis=1))))
