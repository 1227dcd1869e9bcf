"""How much of each group of documents belongs to each topic, with intervals that know how sure the posteriors are.

Documents come with P(class | document), never with a hard label. Where a document has one class that is not known for
sure, those posteriors were made with the classes' shares of the whole collection; a period or a group has its own, and
they are estimated by EM from the documents' likelihoods, which a mean of the posteriors would shrink towards the
collection. How much the documents tell is Louis' information: complete less what is missing, as a number of documents
that would tell as much if their classes were known. Where a document is itself a mixture, its share is a measurement
and the spread of shares over documents tells how sure their mean is. Either way a beta distribution of as many
documents gives the interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special
from scipy.sparse import csr_array

from topiarist.arrays import Array, Bools, Csr, Floats, Ints
from topiarist.counts.validation import column_totals
from topiarist.errors import InputError

LEVEL = 0.95  # of intervals
ROUNDS, CLOSE = 100, 1e-4  # of EM for the shares of groups
MOST_TELLING = 100.0  # documents of known class that one mixture may count for
GUARD = 1.0  # documents of the collection that each group has beside its own: no share is ever quite nothing
BLOCK = 65_536  # documents whose shares of topics are summed up at once
FALSE_ONES = 0.05  # of what is told as certain


@dataclass(frozen=True, eq=False)
class ShareTable:
    """The share of each topic in each group, groups × topics, with the ends of its interval.

    ``documents`` are in the groups; ``telling``: how many documents of known class would tell as much.
    """

    share: Floats
    low: Floats
    high: Floats
    documents: Ints
    telling: Floats

    def of(self, topics: Sequence[int]) -> ShareTable:
        """Some of the topics, in the wanted order."""
        own = list(topics)
        return ShareTable(self.share[:, own], self.low[:, own], self.high[:, own], self.documents, self.telling[:, own])

    def group(self, number: int) -> ShareTable:
        """One of the groups."""
        return self._groups(np.array([number]))

    def first(self, number: int) -> ShareTable:
        """The first groups."""
        return self._groups(np.arange(number))

    def _groups(self, own: Ints) -> ShareTable:
        return ShareTable(self.share[own], self.low[own], self.high[own], self.documents[own], self.telling[own])


@dataclass(frozen=True, eq=False)
class RatioTable:
    """How many times as large the shares of a first table are as those of a second, with intervals.

    ``certain``: those that differ, of which no more than one in twenty is expected to be a chance.
    """

    ratio: Floats
    low: Floats
    high: Floats
    certain: Bools


def group_shares(
    shares: Csr, groups: Ints, n_groups: int, members: Array, *, mixed: bool = False, level: float = LEVEL
) -> ShareTable:
    """The shares of topics in groups of documents.

    ``shares`` are P(class | document), ``groups`` the group of each document or -1, ``members`` classes × topics: which
    classes are of which topic. ``mixed``: documents are mixtures of classes.
    """
    groups = np.asarray(groups, np.int64)
    if groups.shape != (shares.shape[0],) or len(members) != shares.shape[1]:
        raise InputError(
            f"expected a group for each of {shares.shape[0]} documents and a row for each of {shares.shape[1]} "
            f"classes, got {groups.shape} and {np.shape(members)}"
        )
    known = np.flatnonzero(groups >= 0)
    own = csr_array(shares[known])
    own = csr_array((own.data.astype(np.float64), own.indices, own.indptr), shape=own.shape)
    groups = groups[known]
    documents = np.bincount(groups, minlength=n_groups).astype(np.int64)
    every = column_totals(shares)
    usual = every / max(every.sum(), 1e-300)
    if not mixed:
        own = _adjusted(own, groups, documents, usual)
    sums, squares = _sums(own, groups, n_groups, np.asarray(members, np.float64))
    n = np.maximum(documents, 1)[:, None].astype(np.float64)
    mean = sums / n
    if mixed:
        telling = _by_spread(mean, squares, documents)
    else:
        guarded = (sums + GUARD * (usual @ members)) / (n + GUARD)
        telling = n - (sums - squares) / np.maximum(guarded * (1 - guarded), 1e-300)
    telling = np.where(documents[:, None] > 0, np.maximum(telling, 0.0), 0.0)
    low, high = beta_interval(mean, telling, level)
    return ShareTable(mean, low, high, documents, telling)


def counted_shares(counts: Array, documents: int, level: float = LEVEL) -> ShareTable:
    """The shares of things in documents that are known to have them, groups × things."""
    share = counts / max(documents, 1)
    telling = np.full(share.shape, float(documents))
    low, high = beta_interval(share, telling, level)
    return ShareTable(share, low, high, np.full(len(share), documents, np.int64), telling)


def beta_interval(share: Floats, telling: Floats, level: float = LEVEL) -> tuple[Floats, Floats]:
    """The interval of shares that so many documents tell: Jeffreys', which ends at 0 or 1 where nothing is beyond."""
    a, b, tail = share * telling + 0.5, (1 - share) * telling + 0.5, (1 - level) / 2
    low = np.where(share * telling < 0.5, 0.0, special.betaincinv(a, b, tail))
    high = np.where((1 - share) * telling < 0.5, 1.0, special.betaincinv(a, b, 1 - tail))
    return low, high


def joined(tables: Sequence[ShareTable]) -> ShareTable:
    """Groups of several tables in one."""
    share, low, high, documents, telling = (
        np.concatenate([getattr(table, name) for table in tables])
        for name in ("share", "low", "high", "documents", "telling")
    )
    return ShareTable(share, low, high, documents, telling)


def beside(table: ShareTable, group: int) -> ShareTable:
    """All groups but one."""
    return table._groups(np.delete(np.arange(len(table.documents)), group))


def pooled(table: ShareTable, level: float = LEVEL) -> ShareTable:
    """All groups as one: the mean of their shares by documents, and as sure as they are together."""
    weight = (table.documents / max(int(table.documents.sum()), 1))[:, None]
    share = (weight * table.share).sum(axis=0, keepdims=True)
    half = (table.share * table.telling + 0.5) / (table.telling + 1.0)  # no group is surer than its documents let it be
    error = (weight**2 * half * (1 - half) / np.maximum(table.telling, 1e-9)).sum(axis=0, keepdims=True)
    telling = np.minimum(share * (1 - share) / np.maximum(error, 1e-300), table.telling.sum(axis=0, keepdims=True))
    telling = np.where(share * (1 - share) > 0, telling, table.telling.sum(axis=0, keepdims=True))
    low, high = beta_interval(share, telling, level)
    return ShareTable(share, low, high, table.documents.sum(keepdims=True), telling)


def ratios(one: ShareTable, other: ShareTable, level: float = LEVEL) -> RatioTable:
    """How many times as large shares are as others, by the logarithm of two counts with half a document more."""
    (a, n), (b, m) = ((table.share * table.telling + 0.5, table.telling + 1.0) for table in (one, other))
    middle = np.log(a / n) - np.log(b / m)
    error = np.sqrt(np.maximum(1 / a - 1 / n + 1 / b - 1 / m, 1e-12))
    reach = special.ndtri(0.5 + level / 2) * error
    certain = false_discoveries(2 * special.ndtr(-np.abs(middle) / error))
    return RatioTable(np.exp(middle), np.exp(middle - reach), np.exp(middle + reach), certain)


def chance_below(below: int, documents: int, place: int, before: int) -> float:
    """How likely so many or so few of some numbers lie below one of others by chance, if all are of one kind.

    ``below`` of ``documents`` lie below the ``place``-th smallest of ``before`` others. That one is itself a draw:
    where the numbers are alike, the share below it has a beta distribution, whatever they are. Both ends count.
    """
    found = np.arange(documents + 1)
    logs = special.betaln(found + place, documents - found + before - place + 1) - special.betaln(
        place, before - place + 1
    )
    chances = np.exp(logs - np.log(documents + 1) - special.betaln(documents - found + 1, found + 1))
    return float(min(1.0, 2 * min(chances[: below + 1].sum(), chances[below:].sum())))


def false_discoveries(chances: Floats, rate: float = FALSE_ONES) -> Bools:
    """Which of many findings to believe, by how likely each is by chance (Benjamini and Hochberg)."""
    flat = np.sort(chances, axis=None)
    below = np.flatnonzero(flat <= rate * np.arange(1, flat.size + 1) / max(flat.size, 1))
    found: Bools = chances <= (flat[below[-1]] if len(below) else -1.0)
    return found


def _adjusted(shares: Csr, groups: Ints, documents: Ints, usual: Floats) -> Csr:
    """Posteriors of documents with the shares of classes in their own group instead of those of the collection.

    A document of one class is of that class in any group: only the others are gone over again.
    """
    n_groups, n_classes = len(documents), shares.shape[1]
    usual, posterior = np.maximum(usual, 1e-12), shares.data.copy()
    several = np.diff(shares.indptr) > 1
    open_entries = np.repeat(several, np.diff(shares.indptr))
    rows = np.repeat(np.arange(int(several.sum())), np.diff(shares.indptr)[several])
    cells = np.repeat(groups * n_classes, np.diff(shares.indptr)) + shares.indices
    size = n_groups * n_classes
    fixed = np.bincount(cells[~open_entries], posterior[~open_entries], minlength=size)
    cells, data = cells[open_entries], posterior[open_entries]
    likelihood, total = data / usual[shares.indices[open_entries]], np.bincount(rows, data)
    prior = np.tile(usual, (n_groups, 1))
    weight = (documents + GUARD)[:, None]
    for _ in range(ROUNDS):
        joint = likelihood * prior.ravel()[cells]
        data = joint * (total / np.maximum(np.bincount(rows, joint), 1e-300))[rows]
        sums = (fixed + np.bincount(cells, data, minlength=size)).reshape(n_groups, n_classes)
        new = (sums + GUARD * usual) / weight
        done = bool((np.abs(new - prior) <= CLOSE * (prior + 1 / weight)).all())
        prior = new
        if done:
            break
    posterior[open_entries] = data
    return csr_array((posterior, shares.indices, shares.indptr), shape=shares.shape)


def _sums(shares: Csr, groups: Ints, n_groups: int, members: Floats) -> tuple[Floats, Floats]:
    """Sums, over the documents of each group, of their shares of topics and of the squares of these."""
    n_topics, paths = members.shape[1], csr_array(members)
    sums, squares = np.zeros((2, n_groups * n_topics))
    for start in range(0, shares.shape[0], BLOCK):
        part = csr_array(shares[start : start + BLOCK] @ paths)
        part.sum_duplicates()
        own = np.repeat(groups[start : start + BLOCK], np.diff(part.indptr))
        cells, values = own * n_topics + part.indices, np.minimum(part.data, 1.0)
        sums += np.bincount(cells, values, minlength=len(sums))
        squares += np.bincount(cells, values**2, minlength=len(squares))
    return sums.reshape(n_groups, n_topics), squares.reshape(n_groups, n_topics)


def _by_spread(mean: Floats, squares: Floats, documents: Ints) -> Floats:
    """How many documents of known class would tell as much as the mean of measured shares.

    How much less shares spread than classes would is taken from all groups together: in a small one, that no document
    has much of a topic says little of how far they are spread.
    """
    n = documents[:, None].astype(np.float64)
    within = np.maximum(squares - n * mean**2, 0.0).sum(axis=0) / max(np.maximum(n - 1, 0).sum(), 1.0)
    as_classes = (n * mean * (1 - mean)).sum(axis=0) / max(n.sum(), 1.0)
    gain = np.clip(as_classes / np.maximum(within, 1e-12), 1.0, MOST_TELLING)
    found: Floats = n * gain
    return found
