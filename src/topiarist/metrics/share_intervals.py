"""Shares of topics in groups of documents, with intervals that include the uncertainty of the posteriors.

Documents have P(class | document), never a hard label. If a document has one uncertain class, its posterior was
computed with the class shares of the whole collection. A period or a group has its own shares, which are estimated by
EM from the documents' likelihoods; a mean of posteriors would shrink towards the collection. The amount of evidence is
Louis' information, complete minus missing, as an effective number of documents with known classes. If a document is
itself a mixture, its share is a measurement, and the spread of shares over documents is the uncertainty of their mean.
In both cases a beta distribution of the effective number of documents gives the interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special
from scipy.sparse import csr_array

from topiarist.arrays import TINY, Array, Bools, Csr, Floats, Ints
from topiarist.counts.validation import sum_columns
from topiarist.errors import InputError

LEVEL = 0.95  # of intervals
ROUNDS, TOLERANCE = 100, 1e-4  # of EM for the shares of groups
MAX_GAIN = 100.0  # documents with known class that one mixture can count for
PRIOR_DOCUMENTS = 1.0  # documents of the collection that are added to each group, so that no share is zero
BLOCK = 65_536  # documents whose shares are summed at once
FALSE_DISCOVERY_RATE = 0.05  # expected share of false discoveries


@dataclass(frozen=True, eq=False)
class ShareTable:
    """Share of each topic in each group, groups × topics, with the ends of its interval.

    ``documents`` counts the documents of each group. ``effective_documents`` is the number of documents with known
    class that have the same information.
    """

    share: Floats
    low: Floats
    high: Floats
    documents: Ints
    effective_documents: Floats

    def of(self, topics: Sequence[int]) -> ShareTable:
        """Return some of the topics, in the given order."""
        numbers = list(topics)
        return ShareTable(
            self.share[:, numbers],
            self.low[:, numbers],
            self.high[:, numbers],
            self.documents,
            self.effective_documents[:, numbers],
        )

    def group(self, number: int) -> ShareTable:
        """Return one of the groups."""
        return self.select_groups(np.array([number]))

    def select_groups(self, numbers: Ints) -> ShareTable:
        """Return some of the groups, in the given order."""
        return ShareTable(*(values[numbers] for values in vars(self).values()))


@dataclass(frozen=True, eq=False)
class RatioTable:
    """Ratio of the shares of two tables, with intervals.

    ``certain`` marks ratios that differ from one; at most one in twenty marks is expected by chance.
    """

    ratio: Floats
    low: Floats
    high: Floats
    certain: Bools


def compute_group_shares(
    shares: Csr, groups: Ints, n_groups: int, members: Array, *, is_mixture: bool = False, level: float = LEVEL
) -> ShareTable:
    """Compute the shares of topics in groups of documents.

    ``shares`` are P(class | document), ``groups`` the group of each document or -1, ``members`` classes × topics: the
    classes of each topic. ``mixed``: documents are mixtures of classes.
    """
    groups = np.asarray(groups, np.int64)
    if groups.shape != (shares.shape[0],) or len(members) != shares.shape[1]:
        raise InputError(
            f"expected a group for each of {shares.shape[0]} documents and a row for each of {shares.shape[1]} "
            f"classes, got {groups.shape} and {np.shape(members)}"
        )
    rows_in_groups = np.flatnonzero(groups >= 0)
    selected = csr_array(shares[rows_in_groups])
    selected = csr_array((selected.data.astype(np.float64), selected.indices, selected.indptr), shape=selected.shape)
    groups = groups[rows_in_groups]
    documents = np.bincount(groups, minlength=n_groups).astype(np.int64)
    totals = sum_columns(shares)
    total_shares = totals / max(totals.sum(), TINY)
    if not is_mixture:
        selected = _adjust_posteriors(selected, groups, documents, total_shares)
    sums, squares = _sum_by_group(selected, groups, n_groups, np.asarray(members, np.float64))
    n = np.maximum(documents, 1)[:, None].astype(np.float64)
    mean = sums / n
    if is_mixture:
        effective_documents = _count_effective_by_spread(mean, squares, documents)
    else:
        smoothed_mean = (sums + PRIOR_DOCUMENTS * (total_shares @ members)) / (n + PRIOR_DOCUMENTS)
        effective_documents = n - (sums - squares) / np.maximum(smoothed_mean * (1 - smoothed_mean), TINY)
    effective_documents = np.where(documents[:, None] > 0, np.maximum(effective_documents, 0.0), 0.0)
    low, high = compute_beta_interval(mean, effective_documents, level)
    return ShareTable(mean, low, high, documents, effective_documents)


def compute_known_shares(counts: Array, documents: int, level: float = LEVEL) -> ShareTable:
    """Compute shares in documents with known membership, groups × items."""
    share = counts / max(documents, 1)
    effective_documents = np.full(share.shape, float(documents))
    low, high = compute_beta_interval(share, effective_documents, level)
    return ShareTable(share, low, high, np.full(len(share), documents, np.int64), effective_documents)


def compute_beta_interval(share: Floats, effective_documents: Floats, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return Jeffreys' interval of shares, which ends at 0 or 1 if nothing is beyond."""
    a, b, tail = share * effective_documents + 0.5, (1 - share) * effective_documents + 0.5, (1 - level) / 2
    low = np.where(share * effective_documents < 0.5, 0.0, special.betaincinv(a, b, tail))
    high = np.where((1 - share) * effective_documents < 0.5, 1.0, special.betaincinv(a, b, 1 - tail))
    return low, high


def concatenate_groups(tables: Sequence[ShareTable]) -> ShareTable:
    """Concatenate the groups of several tables."""
    return ShareTable(*map(np.concatenate, zip(*(vars(table).values() for table in tables), strict=True)))


def exclude_group(table: ShareTable, group: int) -> ShareTable:
    """Return all groups but one."""
    return table.select_groups(np.delete(np.arange(len(table.documents)), group))


def pool_groups(table: ShareTable, level: float = LEVEL) -> ShareTable:
    """Pool all groups: the mean of their shares weighted by documents, with their joint uncertainty."""
    weight = (table.documents / max(int(table.documents.sum()), 1))[:, None]
    share = (weight * table.share).sum(axis=0, keepdims=True)
    half = (table.share * table.effective_documents + 0.5) / (
        table.effective_documents + 1.0
    )  # smoothed, so that no group has zero variance
    error = (weight**2 * half * (1 - half) / np.maximum(table.effective_documents, 1e-9)).sum(axis=0, keepdims=True)
    effective_documents = np.minimum(
        share * (1 - share) / np.maximum(error, TINY), table.effective_documents.sum(axis=0, keepdims=True)
    )
    effective_documents = np.where(
        share * (1 - share) > 0, effective_documents, table.effective_documents.sum(axis=0, keepdims=True)
    )
    low, high = compute_beta_interval(share, effective_documents, level)
    return ShareTable(share, low, high, table.documents.sum(keepdims=True), effective_documents)


def compute_ratios(first: ShareTable, second: ShareTable, level: float = LEVEL) -> RatioTable:
    """Return ratios of shares, by the logarithm of two counts with half a document added."""
    (a, n), (b, m) = (
        (table.share * table.effective_documents + 0.5, table.effective_documents + 1.0) for table in (first, second)
    )
    middle = np.log(a / n) - np.log(b / m)
    error = np.sqrt(np.maximum(1 / a - 1 / n + 1 / b - 1 / m, 1e-12))
    margin = special.ndtri(0.5 + level / 2) * error
    certain = select_discoveries(2 * special.ndtr(-np.abs(middle) / error))
    return RatioTable(np.exp(middle), np.exp(middle - margin), np.exp(middle + margin), certain)


def compute_chance_below(n_below: int, documents: int, place: int, n_others: int) -> float:
    """Return the two-sided chance of ``below`` numbers below one of others, if all have one distribution.

    ``below`` of ``documents`` lie below the ``place``-th smallest of ``before`` others. That one is itself random: the
    share below it has a beta distribution, for any distribution of the numbers.
    """
    numbers = np.arange(documents + 1)
    logs = special.betaln(numbers + place, documents - numbers + n_others - place + 1) - special.betaln(
        place, n_others - place + 1
    )
    chances = np.exp(logs - np.log(documents + 1) - special.betaln(documents - numbers + 1, numbers + 1))
    return float(min(1.0, 2 * min(chances[: n_below + 1].sum(), chances[n_below:].sum())))


def select_discoveries(chances: Floats, rate: float = FALSE_DISCOVERY_RATE) -> Bools:
    """Return which of many findings are significant, by their chances (Benjamini and Hochberg)."""
    flat = np.sort(chances, axis=None)
    passing = np.flatnonzero(flat <= rate * np.arange(1, flat.size + 1) / max(flat.size, 1))
    selected: Bools = chances <= (flat[passing[-1]] if len(passing) else -1.0)
    return selected


def _adjust_posteriors(shares: Csr, groups: Ints, documents: Ints, total_shares: Floats) -> Csr:
    """Replace the class shares of the collection in posteriors by the shares of the group.

    A document with one class keeps it in any group: only the others are computed.
    """
    n_groups, n_classes = len(documents), shares.shape[1]
    total_shares, posterior = np.maximum(total_shares, 1e-12), shares.data.copy()
    has_several = np.diff(shares.indptr) > 1
    open_entries = np.repeat(has_several, np.diff(shares.indptr))
    rows = np.repeat(np.arange(int(has_several.sum())), np.diff(shares.indptr)[has_several])
    cells = np.repeat(groups * n_classes, np.diff(shares.indptr)) + shares.indices
    size = n_groups * n_classes
    fixed = np.bincount(cells[~open_entries], posterior[~open_entries], minlength=size)
    cells, data = cells[open_entries], posterior[open_entries]
    likelihood, total = data / total_shares[shares.indices[open_entries]], np.bincount(rows, data)
    prior = np.tile(total_shares, (n_groups, 1))
    weight = (documents + PRIOR_DOCUMENTS)[:, None]
    for _ in range(ROUNDS):
        joint = likelihood * prior.ravel()[cells]
        data = joint * (total / np.maximum(np.bincount(rows, joint), TINY))[rows]
        sums = (fixed + np.bincount(cells, data, minlength=size)).reshape(n_groups, n_classes)
        new = (sums + PRIOR_DOCUMENTS * total_shares) / weight
        has_converged = bool((np.abs(new - prior) <= TOLERANCE * (prior + 1 / weight)).all())
        prior = new
        if has_converged:
            break
    posterior[open_entries] = data
    return csr_array((posterior, shares.indices, shares.indptr), shape=shares.shape)


def _sum_by_group(shares: Csr, groups: Ints, n_groups: int, members: Floats) -> tuple[Floats, Floats]:
    """Return the sums of document shares and of their squares, by group and topic."""
    n_topics, paths = members.shape[1], csr_array(members)
    sums, squares = np.zeros((2, n_groups * n_topics))
    for start in range(0, shares.shape[0], BLOCK):
        part = csr_array(shares[start : start + BLOCK] @ paths)
        part.sum_duplicates()
        groups_of_entries = np.repeat(groups[start : start + BLOCK], np.diff(part.indptr))
        cells, values = groups_of_entries * n_topics + part.indices, np.minimum(part.data, 1.0)
        sums += np.bincount(cells, values, minlength=len(sums))
        squares += np.bincount(cells, values**2, minlength=len(squares))
    return sums.reshape(n_groups, n_topics), squares.reshape(n_groups, n_topics)


def _count_effective_by_spread(mean: Floats, squares: Floats, documents: Ints) -> Floats:
    """Return the number of documents with known class that have the information of the mean of measured shares.

    The ratio of the spread of shares to that of classes is estimated from all groups together: in a small group without
    documents of a topic, the observed spread says little.
    """
    n = documents[:, None].astype(np.float64)
    variance = np.maximum(squares - n * mean**2, 0.0).sum(axis=0) / max(np.maximum(n - 1, 0).sum(), 1.0)
    as_classes = (n * mean * (1 - mean)).sum(axis=0) / max(n.sum(), 1.0)
    gain = np.clip(as_classes / np.maximum(variance, 1e-12), 1.0, MAX_GAIN)
    effective: Floats = n * gain
    return effective
