"""Kernel of documents: explicit features, or all pairs without features. (F3), (F4): docs/models/fisher.md

Every part of the scores of every model (view) is a *term*. Terms are scaled to unit length one by one, together, or not
at all, and added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack

from topiarist.arrays import TINY, Array, Csr, DTypeLike, Floats, Integers
from topiarist.counts.validation import compact_indices, count_tokens
from topiarist.counts.weighting import scale_rows
from topiarist.kernels.search import Postings, QueryVectors
from topiarist.models.engine.host import Engine, slice_rows
from topiarist.models.fisher import scores
from topiarist.models.fisher.scores import KernelView

PARTS = ("topical", "lexical", "levels", "plain")
CELLS = 1 << 20  # numbers in a block of rows of the matrix


@dataclass(frozen=True)
class Term:
    """One part of the scores of documents by one model; "dense" ones are features, the others words with topics."""

    view: KernelView
    rows: Floats  # P(α|d)
    dense: Floats | None
    lengths: Floats  # squared, of each document


def make_plain_view(n_words: int) -> KernelView:
    """Return a view with one uniform topic: its lexical part is the inner product of p̂(j|d)."""
    return KernelView(np.ones((n_words, 1)), None, np.ones(1))


def make_terms(engine: Engine, views: Sequence[KernelView], counts: Csr, parts: Sequence[str]) -> list[Term]:
    """Return all terms of some documents: the parts of each view, and the plain words once."""
    terms = []
    for view in views:
        rows = scores.read_rows(engine, view, counts)
        kernel_parts = [part for part in ("topical", "lexical", "levels") if part in parts]
        terms += [make_term(engine, view, counts, rows, part) for part in kernel_parts]
    if "plain" in parts:
        view = make_plain_view(counts.shape[1])
        terms.append(make_term(engine, view, counts, np.ones((counts.shape[0], 1)), "lexical"))
    return terms


def make_term(engine: Engine, view: KernelView, counts: Csr, rows: Floats, part: str) -> Term:
    """Return one term of some documents, from their rows."""
    if part == "lexical":
        return Term(view, rows, None, scores.compute_lexical_lengths(engine, view, counts, rows))
    dense = (
        scores.score_topics(engine, view, counts, rows)
        if part == "topical"
        else scores.score_levels(view, counts, rows)
    )
    return Term(view, rows, dense, (dense**2).sum(axis=1))


def compute_scales(lengths: Sequence[Floats], tokens: Floats, normalise: str | None) -> list[Floats]:
    """Return the factor of each term for each document, from the squared lengths.

    A document without a known word has the factor zero: the models' priors are no reason for similarity.
    """
    filled = (tokens > 0).astype(np.float64)
    if normalise is None:
        return [filled] * len(lengths)
    if normalise == "total":
        return [filled * invert_lengths(np.sum(lengths, axis=0))] * len(lengths)
    return [filled * invert_lengths(length) for length in lengths]


def invert_lengths(lengths: Floats) -> Floats:
    """Return the factors that scale squared lengths to one; zero for zero."""
    return np.divide(1.0, np.sqrt(lengths), out=np.zeros(len(lengths)), where=lengths > 0)


def compute_features(terms: Sequence[Term], counts: Csr, normalise: str | None) -> Csr:
    """Return explicit features, one block of columns for each term; the kernel is their inner product."""
    columns = []
    for term, scale in zip(terms, _compute_term_scales(terms, counts, normalise), strict=True):
        part = scores.score_words(term.view, counts, term.rows) if term.dense is None else csr_array(term.dense)
        columns.append(scale_rows(part, scale.astype(np.float64, copy=False)))
    columns_of_terms: Csr = csr_array(hstack(columns, format="csr"))
    columns_of_terms.eliminate_zeros()
    return compact_indices(columns_of_terms)


def _compute_term_scales(terms: Sequence[Term], counts: Csr, normalise: str | None) -> list[Floats]:
    return compute_scales([term.lengths for term in terms], count_tokens(counts), normalise)


def make_postings(counts: Csr, dtype: DTypeLike = np.float64) -> Postings:
    """Return the counts by word."""
    by_word = counts.tocsc()
    return Postings(by_word.indptr.astype(np.int64), by_word.indices.astype(np.int32), by_word.data.astype(dtype))


def compute_matrix(
    engine: Engine,
    left: tuple[Csr, Sequence[Term]],
    right: tuple[Csr, Sequence[Term]],
    normalise: str | None,
) -> Floats:
    """Return the kernel of all pairs of documents (left, right); only the result has that size."""
    out = np.zeros((left[0].shape[0], right[0].shape[0]))
    index = make_postings(right[0])
    left_scales, right_scales = (_compute_term_scales(terms, counts, normalise) for counts, terms in (left, right))
    pairs = zip(left[1], left_scales, right[1], right_scales, strict=True)
    for left_term, left_scale, right_term, right_scale in pairs:
        if left_term.dense is not None and right_term.dense is not None:
            _add_dense(engine, left_scale[:, None] * left_term.dense, right_scale[:, None] * right_term.dense, out)
        else:
            lengths = np.maximum(count_tokens(right[0]), TINY)
            right_side = (index, right_term, right_scale / lengths)
            _add_lexical(engine, (left[0], left_term, left_scale), right_side, out)
    return out


def _add_dense(engine: Engine, left: Floats, right: Floats, out: Floats) -> None:
    def piece(rows: slice) -> None:
        out[rows] += left[rows] @ right.T

    engine.threads.map(piece, slice_rows(out, CELLS))


def _add_lexical(
    engine: Engine,
    left: tuple[Csr, Term, Floats],
    right: tuple[Postings, Term, Floats],
    out: Floats,
) -> None:
    """Add (F2) for all pairs: the words of each left document against the postings of the right ones."""
    counts, left_term, left_scale = left
    index, right_term, right_scale = right
    rows = np.ascontiguousarray(right_term.rows, np.float64)
    scales = np.column_stack([right_scale, right_scale])
    p_hat, no_topics = scores.compute_token_shares(counts), np.empty(0)
    for places, docs in scores.iter_blocks(counts, left_term.view.n_topics):
        columns = counts.indices[places].astype(np.int64)
        meet, mixture = scores.compute_query_vectors(left_term.view, columns, left_term.rows[docs])
        meet = np.ascontiguousarray(meet * (left_scale[docs] * p_hat.data[places])[:, None])
        mixture = np.ascontiguousarray(mixture)
        documents = np.unique(docs)
        ends = np.append(np.searchsorted(docs, documents), len(docs))

        def piece(
            place: int,
            words: tuple[Array, ...] = (columns, meet, mixture),
            ends: Integers = ends,
            docs: Integers = documents,
        ) -> None:
            span = slice(ends[place], ends[place + 1])
            query = QueryVectors(words[0][span], words[1][span], words[2][span], no_topics)
            engine.kernels.score_by_kernel(index, query, rows, rows, scales, 0, out[docs[place]])

        engine.threads.map(piece, range(len(documents)))
