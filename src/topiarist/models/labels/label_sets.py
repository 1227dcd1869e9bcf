"""Documents with several labels as (M4) and (M5) want them: counts added up by label set, words looked up by label.

The objective of a parametric mixture knows a document only by its counts and its set of labels, and is linear in the
counts. So documents with the same labels are one document, exactly. Documents with one label are simpler still: their
words belong to that label whatever the parameters are, and act like a prior. What is left for every step are the
sets of two labels and more.
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
from topiarist.kernels.labels import Sets

BLOCK = 1 << 23  # numbers to look up in a block: what is added up block by block depends on the counts alone


class Block(NamedTuple):
    """Some label sets, and all ordered pairs of different labels within a set: which member, and the other label."""

    sets: Sets
    pair_members: Integers
    pair_labels: Integers


@dataclass(frozen=True)
class Pattern:
    """Which words each label has been seen with: ``words[ends[l]:ends[l + 1]]``, in order, of ``n_words`` in all."""

    ends: Integers
    words: Integers
    n_words: int

    @property
    def n_labels(self) -> int:
        """Labels, with or without words."""
        return len(self.ends) - 1

    @cached_property
    def n_unseen(self) -> Integers:
        """How many words each label has never been seen with."""
        return self.n_words - np.diff(self.ends)

    @cached_property
    def owners(self) -> Integers:
        """The label of each place."""
        return np.repeat(np.arange(self.n_labels), np.diff(self.ends))


@dataclass(frozen=True)
class Grouped:
    """Labelled documents, ready to learn from."""

    pattern: Pattern
    alone: Floats  # at each place of the pattern: counts of documents with that label alone
    shared: Floats  # the same of documents with several labels, an even share for each
    blocks: list[Block]
    n_tokens: float
    label_docs: Integers  # documents of each label


def grouped(parts: Iterable[tuple[Csr, Csr]], n_words: int) -> Grouped:
    """From parts of a collection: counts (documents × words) and labels (documents × labels), both sparse by rows."""
    names: dict[bytes, int] = {}
    total: Any = None
    label_docs: Any = 0
    for counts, labels in parts:
        numbers = np.array(
            [names.setdefault(labels.indices[a:b].astype(np.int32).tobytes(), len(names)) for a, b in _spans(labels)],
            np.int64,
        )
        label_docs = label_docs + np.bincount(labels.indices, minlength=labels.shape[1])
        gather = csr_array(
            (np.ones(len(numbers)), (numbers, np.arange(len(numbers)))), shape=(len(names), len(numbers))
        )
        here = gather @ counts.astype(np.float64)
        if total is not None:
            here = here + csr_array((total.data, total.indices, _longer(total.indptr, len(names))), shape=here.shape)
        total = csr_array(here)
    total.sort_indices()
    return _grouped(total, [np.frombuffer(name, np.int32) for name in names], label_docs)


def _spans(matrix: Csr) -> Iterable[tuple[int, int]]:
    ends = matrix.indptr.tolist()
    return pairwise(ends)


def _longer(indptr: Integers, n_rows: int) -> Any:
    """The ends of more rows, of which the new ones are empty."""
    return np.concatenate([indptr, np.full(n_rows + 1 - len(indptr), indptr[-1], indptr.dtype)])


def _grouped(counts: Csr, sets: list[Integers], label_docs: Integers) -> Grouped:
    sizes = np.array([len(labels) for labels in sets])
    shape = (len(label_docs), len(sets))
    members = (np.concatenate(sets), np.repeat(np.arange(len(sets)), sizes))
    even = csr_array((np.repeat(1.0 / sizes, sizes), members), shape=shape)
    seen = csr_array(even @ counts)
    seen.sort_indices()
    pattern = Pattern(seen.indptr.astype(np.int64), seen.indices.astype(np.int32), counts.shape[1])
    lookup = _Lookup(pattern)
    alone = np.zeros(len(pattern.words))
    single, several = np.flatnonzero(sizes == 1), np.flatnonzero(sizes > 1)
    for number in single:
        here = slice(counts.indptr[number], counts.indptr[number + 1])
        alone[lookup(int(sets[number][0]), counts.indices[here])] += counts.data[here]
    blocks = [_block(counts[rows], [sets[row] for row in rows], lookup) for rows in _cut(several, sizes, counts.indptr)]
    return Grouped(pattern, alone, np.maximum(seen.data - alone, 0.0), blocks, float(counts.data.sum()), label_docs)


class _Lookup:
    """Where the words of a label are stored."""

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


def _cut(several: Integers, sizes: Integers, indptr: Integers) -> list[Integers]:
    """Runs of label sets with about ``BLOCK`` numbers to look up each."""
    work = np.cumsum(sizes[several] * np.diff(indptr)[several])
    if not len(several):
        return []
    cuts = np.searchsorted(work, np.arange(BLOCK, int(work[-1]), BLOCK))
    return [run for run in np.split(several, np.unique(cuts)) if len(run)]


def _block(counts: Csr, sets: list[Integers], lookup: _Lookup) -> Block:
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
    made = Sets(
        counts.indptr.astype(np.int64), counts.data, member_ends, labels, owners, starts[:-1], places, label_ends,
        by_label,
    )  # fmt: skip
    return Block(made, *_pairs(member_ends, labels))


def _pairs(member_ends: Integers, labels: Integers) -> tuple[Integers, Integers]:
    """Each member with each other label of its set."""
    members, others = [], []
    for first, last in pairwise(member_ends.tolist()):
        here = np.arange(first, last)
        left, right = np.nonzero(~np.eye(last - first, dtype=bool))
        members.append(here[left])
        others.append(labels[here[right]])
    return np.concatenate(members), np.concatenate(others)
