"""Typical documents of each node: documents of large shares, with words of its name or field first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from topiarist.arrays import Array, Bools, Csr
from topiarist.counts.scratch import iterate_rows
from topiarist.counts.validation import count_tokens
from topiarist.trees.naming.name_test import split_items
from topiarist.trees.tree_model import TreeModel

PRIOR_TOKENS = 20.0  # prior tokens of a document, so that the most typical document is not the shortest
BLOCK = 1 << 16  # documents per step: memory does not grow with documents × nodes
CANDIDATES = 4  # documents that are ranked for each typical one
MIN_SCORE = 0.5  # of the best score, for a document to come first because of its words


def select_typical(
    model: TreeModel,
    shares: Csr,
    counts: Csr,
    n_documents: int,
    name_columns: Sequence[Sequence[int]],
    eligible: Bools | None = None,
    sample: Array | None = None,
) -> Array:
    """Return the typical documents of each node, the best first; ``counts`` are the rows of the sample.

    ``name_columns`` are the words of each node's name and field. Documents that have one come first, if their score is
    at least half of the best one.
    """
    rows, scores = _rank_documents(model, shares, counts, CANDIDATES * n_documents, eligible, sample)
    places = rows if sample is None else np.searchsorted(sample, rows)
    for node, columns in enumerate(name_columns):
        if len(columns):
            has_word = np.diff(counts[places[node]][:, list(columns)].tocsr().indptr) > 0
            is_first = has_word & (scores[node] >= MIN_SCORE * scores[node].max(initial=0.0))
            rows[node] = rows[node][np.argsort(~is_first, kind="stable")]
    return rows[:, :n_documents]


def _rank_documents(
    model: TreeModel, shares: Csr, counts: Csr, number: int, eligible: Bools | None, sample: Array | None
) -> tuple[Array, Array]:
    """Return the documents of the largest shares of each node and their scores, computed block by block."""
    from topiarist.estimators.tree import abstraction  # estimators take a second to load

    rows_of_counts = np.arange(counts.shape[0]) if sample is None else sample
    lengths = count_tokens(counts) if eligible is None else count_tokens(counts) * eligible[rows_of_counts]
    steady, best, scores = lengths / (lengths + PRIOR_TOKENS), [], []
    for block, block_counts in iterate_rows(counts, BLOCK):
        share = abstraction.sparse_node_given_doc(block_counts, model, shares[rows_of_counts[block]])
        rows = abstraction.prototypes(share, number, lengths[block], PRIOR_TOKENS)
        scores.append(share.tocsr()[rows, np.arange(len(rows))[:, None]].toarray() * steady[block][rows])
        best.append(rows_of_counts[block][rows])
    all_scores, all_rows = np.hstack(scores), np.hstack(best)
    order = np.argsort(-all_scores, axis=1, kind="stable")[:, :number]
    return np.take_along_axis(all_rows, order, axis=1), np.take_along_axis(all_scores, order, axis=1)


def find_name_columns(
    name: str,
    columns: Mapping[str, int],
    field_columns: Mapping[str, Sequence[int]],
    forms: Mapping[str, Sequence[int]],
) -> list[int]:
    """Return the columns of the words of a name, and of the words near it if it is a field.

    ``columns`` has the column of each word, ``forms`` the columns of words by their written form.
    """
    selected = set[int]()
    for item in split_items(name):
        selected.update(field_columns.get(item.casefold(), ()), forms.get(item, ()))
        selected.update(columns[word] for word in item.lower().split() if word in columns)
    return sorted(selected)
