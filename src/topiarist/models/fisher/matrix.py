"""The kernel of documents: explicit features, or all pairs without forming them. (F3), (F4): docs/models/fisher.md

Every model (lens) and every part of its scores is a *term*. Terms are brought to unit length one by one, all together,
or not at all, and added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack

from topiarist.arrays import Array, Csr, DTypeLike, Floats, Integers
from topiarist.counts.validation import compact_indices, token_counts
from topiarist.counts.weighting import scale_rows
from topiarist.kernels.search import Postings, SearchKernels, Wanted
from topiarist.models.engine.host import TINY, Engine, row_pieces
from topiarist.models.fisher import scores
from topiarist.models.fisher.scores import Lens

PARTS = ("topical", "lexical", "levels", "plain")
CELLS = 1 << 20  # numbers in a block of rows of the matrix


@dataclass(frozen=True)
class Term:
    """One part of what one lens sees of some documents; "dense" ones are features, the others words in their sense."""

    lens: Lens
    rows: Floats  # P(α|d)
    dense: Floats | None
    lengths: Floats  # squared, of each document


def plain_lens(n_words: int) -> Lens:
    """One topic that says the same of every word: its lexical part is the inner product of p̂(j|d)."""
    return Lens(np.ones((n_words, 1)), None, np.ones(1))


def terms(
    engine: Engine, kernels: SearchKernels, lenses: Sequence[Lens], counts: Csr, parts: Sequence[str]
) -> list[Term]:
    """All terms of some documents: of each lens its parts, and the plain words once."""
    found = []
    for lens in lenses:
        rows = scores.read(engine, lens, counts)
        wanted = [part for part in ("topical", "lexical", "levels") if part in parts]
        found += [term(engine, kernels, lens, counts, rows, part) for part in wanted]
    if "plain" in parts:
        lens = plain_lens(counts.shape[1])
        found.append(term(engine, kernels, lens, counts, np.ones((counts.shape[0], 1)), "lexical"))
    return found


def term(engine: Engine, kernels: SearchKernels, lens: Lens, counts: Csr, rows: Floats, part: str) -> Term:
    """One term of some documents, from their rows."""
    if part == "lexical":
        return Term(lens, rows, None, scores.lexical_lengths(engine, kernels, lens, counts, rows))
    dense = scores.topical(engine, lens, counts, rows) if part == "topical" else scores.levels(lens, counts, rows)
    return Term(lens, rows, dense, (dense**2).sum(axis=1))


def scales(lengths: Sequence[Floats], tokens: Floats, normalise: str | None) -> list[Floats]:
    """What each term is multiplied by, for each document, from their squared lengths.

    A document without a known word says nothing: what the models assume of it is no reason to be like another.
    """
    filled = (tokens > 0).astype(np.float64)
    if normalise is None:
        return [filled] * len(lengths)
    if normalise == "total":
        return [filled * unit(np.sum(lengths, axis=0))] * len(lengths)
    return [filled * unit(length) for length in lengths]


def unit(lengths: Floats) -> Floats:
    """What brings squared lengths to one; nothing is left nothing."""
    return np.divide(1.0, np.sqrt(lengths), out=np.zeros(len(lengths)), where=lengths > 0)


def features(found: Sequence[Term], counts: Csr, normalise: str | None) -> Csr:
    """Explicit features, one block of columns for each term: the kernel is their inner product."""
    columns = []
    for term, scale in zip(found, _scales(found, counts, normalise), strict=True):
        part = scores.lexical(term.lens, counts, term.rows) if term.dense is None else csr_array(term.dense)
        columns.append(scale_rows(part, scale.astype(np.float64, copy=False)))
    whole: Csr = csr_array(hstack(columns, format="csr"))
    whole.eliminate_zeros()
    return compact_indices(whole)


def _scales(found: Sequence[Term], counts: Csr, normalise: str | None) -> list[Floats]:
    return scales([term.lengths for term in found], token_counts(counts), normalise)


def postings(counts: Csr, dtype: DTypeLike = np.float64) -> Postings:
    """Counts by word."""
    by_word = counts.tocsc()
    return Postings(by_word.indptr.astype(np.int64), by_word.indices.astype(np.int32), by_word.data.astype(dtype))


def matrix(
    engine: Engine,
    kernels: SearchKernels,
    left: tuple[Csr, Sequence[Term]],
    right: tuple[Csr, Sequence[Term]],
    normalise: str | None,
) -> Floats:
    """The kernel of every pair of documents, (left, right); only the result has that size."""
    out = np.zeros((left[0].shape[0], right[0].shape[0]))
    index = postings(right[0])
    left_scales, right_scales = (_scales(found, counts, normalise) for counts, found in (left, right))
    pairs = zip(left[1], left_scales, right[1], right_scales, strict=True)
    for own, own_scale, other, other_scale in pairs:
        if own.dense is not None and other.dense is not None:
            _add_dense(engine, own_scale[:, None] * own.dense, other_scale[:, None] * other.dense, out)
        else:
            lengths = np.maximum(token_counts(right[0]), TINY)
            _add_lexical(engine, kernels, (left[0], own, own_scale), (index, other, other_scale / lengths), out)
    return out


def _add_dense(engine: Engine, left: Floats, right: Floats, out: Floats) -> None:
    def piece(rows: slice) -> None:
        out[rows] += left[rows] @ right.T

    engine.threads.map(piece, row_pieces(out, CELLS))


def _add_lexical(
    engine: Engine,
    kernels: SearchKernels,
    left: tuple[Csr, Term, Floats],
    right: tuple[Postings, Term, Floats],
    out: Floats,
) -> None:
    """(F2) for all pairs: the words of each document on the left against the postings of the right."""
    counts, own, own_scale = left
    index, other, other_scale = right
    rows = np.ascontiguousarray(other.rows, np.float64)
    both = np.column_stack([other_scale, other_scale])
    p_hat, nothing = scores.shares(counts), np.empty(0)
    for here, docs in scores.blocks(counts, own.lens.n_topics):
        columns = counts.indices[here].astype(np.int64)
        meet, mixture = scores.meeting(own.lens, columns, own.rows[docs])
        meet = np.ascontiguousarray(meet * (own_scale[docs] * p_hat.data[here])[:, None])
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
            wanted = Wanted(words[0][span], words[1][span], words[2][span], nothing)
            kernels.score_meaning(index, wanted, rows, rows, both, 0, out[docs[place]])

        engine.threads.map(piece, range(len(documents)))
