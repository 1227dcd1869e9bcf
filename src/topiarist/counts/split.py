"""Token-wise splits: each document gives some of its tokens to every part, and the parts add up to the whole.

``split_tokens`` lets every token fall into a part by a coin of its own, independently of all others (binomial
thinning): one draw per stored count, and parts that are again samples of the document's word distribution. A
short document may give no token to a small part. ``completion_split`` divides each document exactly in half,
drawing without replacement, so that every document of two or more tokens is both folded in and scored.

Counts need not be whole: the whole part is split as tokens, the rest goes to one part, again by a coin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.counts.validation import Csr
from topiarist.errors import UsageError

Values = np.ndarray[Any, np.dtype[Any]]
_BLOCK = 4_000_000  # tokens shuffled at a time


def split_tokens(counts: Csr, fractions: Sequence[float], *, seed: int = 0) -> tuple[Csr, ...]:
    """Return one matrix per fraction (which sum to one); together they are ``counts``, exactly."""
    shares = np.asarray(fractions, dtype=np.float64)
    if shares.ndim != 1 or shares.size == 0 or (shares < 0).any() or abs(shares.sum() - 1) > 1e-9:
        raise UsageError(
            f"expected fractions of at least 0 that sum to 1, got {list(fractions)}", hint="(0.8, 0.1, 0.1)"
        )
    rng = np.random.default_rng(seed)
    left = np.floor(counts.data)
    rest = counts.data - left
    rest_part = rng.choice(shares.size, size=rest.size, p=shares / shares.sum()) if rest.any() else None
    parts = []
    for part, share in enumerate(shares):
        remaining = shares[part:].sum()
        whole = left if part == shares.size - 1 else _coins(rng, left, share / remaining if remaining > 0 else 0.0)
        left = left - whole
        parts.append(whole if rest_part is None else whole + np.where(rest_part == part, rest, 0))
    return tuple(_with_values(counts, values) for values in parts)


def completion_split(counts: Csr, *, seed: int = 0) -> tuple[Csr, Csr]:
    """Return (to fold in, to score): half of the tokens of each document each; an odd token is folded in."""
    rng = np.random.default_rng(seed)
    whole = np.floor(counts.data)
    rest = counts.data - whole
    folded = np.zeros_like(counts.data)
    for first, last in _blocks(counts.indptr, whole):
        values = slice(counts.indptr[first], counts.indptr[last])
        rows = np.repeat(np.arange(last - first), np.diff(counts.indptr[first : last + 1]))
        folded[values] = _half(rng, whole[values].astype(np.int64), rows)
    if rest.any():
        folded += np.where(rng.random(rest.size) < 0.5, rest, 0).astype(folded.dtype)
    return _with_values(counts, folded), _with_values(counts, counts.data - folded)


def _coins(rng: np.random.Generator, tokens: Values, probability: float) -> Values:
    """Return how many of the tokens of each stored count fall to a part."""
    return rng.binomial(tokens.astype(np.int64), min(1.0, probability)).astype(tokens.dtype)


def _half(rng: np.random.Generator, tokens: Values, rows: Values) -> Values:
    """Return how many tokens of each stored count are in the first half of a shuffle of their document."""
    value = np.repeat(np.arange(tokens.size), tokens)
    row = rows[value]
    order = np.lexsort((rng.random(value.size), row))
    length = np.bincount(row)[row] if row.size else row
    start = np.concatenate([[0], np.cumsum(np.bincount(row))])[row] if row.size else row
    place = np.arange(value.size) - start
    return np.bincount(value[order[place < (length + 1) // 2]], minlength=tokens.size)


def _blocks(indptr: Values, tokens: Values) -> list[tuple[int, int]]:
    """Return consecutive row ranges with a bounded number of tokens each (or a single row)."""
    ends = np.concatenate([[0.0], np.cumsum(tokens)])[indptr]
    blocks, first = [], 0
    while first < len(indptr) - 1:
        last = max(int(np.searchsorted(ends, ends[first] + _BLOCK, side="right")) - 1, first + 1)
        blocks.append((first, last))
        first = last
    return blocks


def _with_values(counts: Csr, values: Values) -> Csr:
    """Return a matrix of other values at the places of ``counts``, without stored zeros."""
    part: Csr = csr_array(
        (values.astype(counts.data.dtype), counts.indices.copy(), counts.indptr.copy()), shape=counts.shape
    )
    part.eliminate_zeros()
    return part
