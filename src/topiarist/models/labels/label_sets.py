"""Documents with several labels in the form that (M4) and (M5) need: counts by label set, words by label.

The objective of a parametric mixture depends on a document only through its counts and its set of labels, and is linear
in the counts. So documents with the same labels are one document, exactly. The words of documents with one label belong
to that label for any parameters, and act like a prior. Only sets of two or more labels remain for every step.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Csr, Floats, Integers
from topiarist.kernels.labels import LabelSetCounts

BLOCK = 1 << 23  # numbers to look up in a block; blocks depend on the counts alone


class Block(NamedTuple):
    """Label sets, and all ordered pairs of different labels in a set: the member and the other label."""

    sets: LabelSetCounts
    pair_members: Integers
    pair_labels: Integers


@dataclass(frozen=True)
class Pattern:
    """Words that occur with each label: ``words[ends[l]:ends[l + 1]]``, in order, of ``n_words`` in total."""

    ends: Integers
    words: Integers
    n_words: int

    @property
    def n_labels(self) -> int:
        """Number of labels, with or without words."""
        return len(self.ends) - 1

    @cached_property
    def n_unseen(self) -> Integers:
        """Number of words that never occur with each label."""
        return self.n_words - np.diff(self.ends)

    @cached_property
    def owners(self) -> Integers:
        """Label of each stored pair of a label and a word."""
        return np.repeat(np.arange(self.n_labels), np.diff(self.ends))


@dataclass(frozen=True)
class CountsByLabelSet:
    """Labelled documents, grouped by label set for learning."""

    pattern: Pattern
    single_label_counts: Floats  # at each place of the pattern: counts of documents with one label
    shared: Floats  # counts of documents with several labels, divided equally
    blocks: list[Block]
    n_tokens: float
    label_docs: Integers  # number of documents of each label


def group_by_label_set(parts: Iterable[tuple[Csr, Csr]], n_words: int) -> CountsByLabelSet:
    """Group parts of a collection: counts (documents × words) and labels (documents × labels), both CSR."""
    names: dict[bytes, int] = {}
    total: Any = None
    label_docs: Any = 0
    for counts, labels in parts:
        members, bounds = labels.indices.astype(np.int32), pairwise(labels.indptr.tolist())
        sets = (members[begin:end].tobytes() for begin, end in bounds)
        numbers = np.array([names.setdefault(label_set, len(names)) for label_set in sets], np.int64)
        label_docs = label_docs + np.bincount(labels.indices, minlength=labels.shape[1])
        gather = csr_array(
            (np.ones(len(numbers)), (numbers, np.arange(len(numbers)))), shape=(len(names), len(numbers))
        )
        counts_of_sets = gather @ counts.astype(np.float64)
        if total is not None:
            total.resize(counts_of_sets.shape)  # new label sets are empty so far
            counts_of_sets = counts_of_sets + total
        total = csr_array(counts_of_sets)
    total.sort_indices()
    return _make_counts(total, [np.frombuffer(name, np.int32) for name in names], label_docs)


def _make_counts(counts: Csr, sets: list[Integers], label_docs: Integers) -> CountsByLabelSet:
    """Split counts by label set into those of single labels and blocks of several labels."""
    sizes = np.array([len(labels) for labels in sets])
    shape = (len(label_docs), len(sets))
    members = (np.concatenate(sets), np.repeat(np.arange(len(sets)), sizes))
    even = csr_array((np.repeat(1.0 / sizes, sizes), members), shape=shape)
    mean_counts = csr_array(even @ counts)
    mean_counts.sort_indices()
    pattern = Pattern(mean_counts.indptr.astype(np.int64), mean_counts.indices.astype(np.int32), counts.shape[1])
    lookup = _PlaceLookup(pattern)
    single_label_counts = np.zeros(len(pattern.words))
    single, several_labels = np.flatnonzero(sizes == 1), np.flatnonzero(sizes > 1)
    for number in single:
        span = slice(counts.indptr[number], counts.indptr[number + 1])
        single_label_counts[lookup(int(sets[number][0]), counts.indices[span])] += counts.data[span]
    blocks = [
        _make_block(counts[rows], [sets[row] for row in rows], lookup)
        for rows in _split_sets(several_labels, sizes, counts.indptr)
    ]
    return CountsByLabelSet(
        pattern,
        single_label_counts,
        np.maximum(mean_counts.data - single_label_counts, 0.0),
        blocks,
        float(counts.data.sum()),
        label_docs,
    )


class _PlaceLookup:
    """Lookup of the places at which the words of a label are stored."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.places: Integers = np.zeros(pattern.n_words, np.int32 if len(pattern.words) < 2**31 else np.int64)
        self.label = -1

    def __call__(self, label: int, words: Integers) -> Integers:
        if label != self.label:
            first, last = self.pattern.ends[label : label + 2]
            self.places[self.pattern.words[first:last]] = np.arange(first, last)
            self.label = label
        return self.places[words]


def _split_sets(several_labels: Integers, sizes: Integers, indptr: Integers) -> list[Integers]:
    """Split label sets into runs with about ``BLOCK`` numbers to look up."""
    work = np.cumsum(sizes[several_labels] * np.diff(indptr)[several_labels])
    if not len(several_labels):
        return []
    cuts = np.searchsorted(work, np.arange(BLOCK, int(work[-1]), BLOCK))
    return [run for run in np.split(several_labels, np.unique(cuts)) if len(run)]


def _make_block(counts: Csr, sets: list[Integers], lookup: _PlaceLookup) -> Block:
    """Return a block of label sets with lookups from each label's words to their positions."""
    sizes = np.array([len(labels) for labels in sets])
    member_ends = np.append(0, np.cumsum(sizes))
    labels, owners = np.concatenate(sets).astype(np.int64), np.repeat(np.arange(len(sets)), sizes)
    lengths = np.diff(counts.indptr)[owners].astype(np.int64)
    starts = np.append(0, np.cumsum(lengths))
    places = np.empty(starts[-1], lookup.places.dtype)
    by_label = np.argsort(labels, kind="stable")
    for member in by_label.tolist():
        words = counts.indices[counts.indptr[owners[member]] : counts.indptr[owners[member] + 1]]
        places[starts[member] : starts[member + 1]] = lookup(int(labels[member]), words)
    label_ends = np.searchsorted(labels[by_label], np.arange(lookup.pattern.n_labels + 1))
    sets_of_block = LabelSetCounts(
        counts.indptr.astype(np.int64), counts.data, member_ends, labels, owners, starts[:-1], places, label_ends,
        by_label,
    )  # fmt: skip
    return Block(sets_of_block, *_list_pairs(member_ends, labels))


def _list_pairs(member_ends: Integers, labels: Integers) -> tuple[Integers, Integers]:
    """List each member with each other label of its set."""
    members, others = [], []
    for first, last in pairwise(member_ends.tolist()):
        span = np.arange(first, last)
        left, right = np.nonzero(~np.eye(last - first, dtype=bool))
        members.append(span[left])
        others.append(labels[span[right]])
    return np.concatenate(members), np.concatenate(others)
