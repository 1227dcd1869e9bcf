"""Token-wise splits: each document gives some of its tokens to every part, and the parts add up to the counts.

``split_tokens`` assigns each token independently (binomial thinning), one draw per stored count. Each part is again a
sample of the document's word distribution. A short document may give no token to a small part. ``completion_split``
divides each document exactly in half, without replacement. Every document of two or more tokens is then both folded
in and scored.

Counts need not be whole: whole parts are split as tokens, and the rest goes to one random part. Large counts need
little memory: only a few million tokens are expanded at a time. Counts beyond 2**24 in float32 are split in steps
that the type represents, so that parts still add up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr
from topiarist.errors import UsageError

_TOKENS_PER_BLOCK = 4_000_000  # tokens that are shuffled together
_MAX_SHUFFLED = 4_000_000  # tokens; longer documents are drawn word by word
_MAX_DRAWN = 1_000_000_000  # tokens; limit of hypergeometric distributions in numpy


def split_tokens(counts: Csr, fractions: Sequence[float], *, seed: int = 0) -> tuple[Csr, ...]:
    """Return one matrix per fraction (which sum to one); together they are ``counts``, exactly."""
    shares = np.asarray(fractions, dtype=np.float64)
    if shares.ndim != 1 or shares.size == 0 or (shares < 0).any() or abs(shares.sum() - 1) > 1e-9:
        raise UsageError(
            f"expected fractions of at least 0 that sum to 1, got {list(fractions)}", hint="Use (0.8, 0.1, 0.1)."
        )
    rng = np.random.default_rng(seed)
    left = np.floor(counts.data)
    steps = _compute_steps(left)
    rest = counts.data - left
    rest_part = rng.choice(shares.size, size=rest.size, p=shares / shares.sum()) if rest.any() else None
    parts = []
    for part, share in enumerate(shares):
        remaining = shares[part:].sum()
        tokens = left
        if part < shares.size - 1:
            tokens = _draw_binomial(rng, left, share / remaining if remaining > 0 else 0.0, steps)
        left = left - tokens
        parts.append(tokens if rest_part is None else tokens + np.where(rest_part == part, rest, 0))
    return tuple(_replace_values(counts, values) for values in parts)


def completion_split(counts: Csr, *, seed: int = 0) -> tuple[Csr, Csr]:
    """Return half of the tokens of each document to fold in, and half to score; an odd token is folded in."""
    rng = np.random.default_rng(seed)
    tokens = np.floor(counts.data)
    rest = counts.data - tokens
    fold_in = np.zeros_like(counts.data)
    for first, last in _split_blocks(counts.indptr, tokens):
        values = slice(counts.indptr[first], counts.indptr[last])
        if tokens[values].sum(dtype=np.float64) > _MAX_SHUFFLED:  # a block of this size is a single row
            fold_in[values] = _round_to_steps(_halve_long_document(rng, tokens[values]), _compute_steps(tokens[values]))
            continue
        rows = np.repeat(np.arange(last - first), np.diff(counts.indptr[first : last + 1]))
        fold_in[values] = _split_half(rng, tokens[values].astype(np.int64), rows)
    if rest.any():
        fold_in += np.where(rng.random(rest.size) < 0.5, rest, 0).astype(fold_in.dtype)
    return _replace_values(counts, fold_in), _replace_values(counts, counts.data - fold_in)


def _draw_binomial(rng: np.random.Generator, tokens: Array, probability: float, steps: Array) -> Array:
    """Return how many of the tokens of each stored count fall to a part."""
    n_drawn = rng.binomial(tokens.astype(np.int64), min(1.0, probability))
    return _round_to_steps(n_drawn, steps).astype(tokens.dtype)


def _compute_steps(tokens: Array) -> Array:
    """Return the distance of each count to the next one its type can hold, at least one."""
    return np.maximum(np.spacing(tokens), 1)


def _round_to_steps(values: Array, steps: Array) -> Array:
    """Return whole numbers rounded down to a multiple of their steps, which are powers of two."""
    return np.floor(values / steps) * steps if steps.size and steps.max() > 1 else values


def _split_half(rng: np.random.Generator, tokens: Array, rows: Array) -> Array:
    """Return how many tokens of each stored count are in the first half of a shuffle of their document."""
    value = np.repeat(np.arange(tokens.size), tokens)
    row = rows[value]
    order = np.lexsort((rng.random(value.size), row))
    length = np.bincount(row)[row] if row.size else row
    start = np.concatenate([[0], np.cumsum(np.bincount(row))])[row] if row.size else row
    place = np.arange(value.size) - start
    return np.bincount(value[order[place < (length + 1) // 2]], minlength=tokens.size)


def _halve_long_document(rng: np.random.Generator, tokens: Array) -> Array:
    """Return a random half of a document without writing out all of its tokens.

    Up to ``_MAX_DRAWN`` tokens the distribution is that of a shuffle. Beyond, each word is halved.
    """
    if sum(map(int, tokens)) < _MAX_DRAWN:
        n_drawn = (int(tokens.sum()) + 1) // 2
        return rng.multivariate_hypergeometric(tokens.astype(np.int64), n_drawn, method="marginals")
    half, odd = tokens // 2, np.flatnonzero(tokens % 2)
    half[rng.permutation(odd)[: (len(odd) + 1) // 2]] += 1
    return half


def _split_blocks(indptr: Array, tokens: Array) -> list[tuple[int, int]]:
    """Return consecutive row ranges with a bounded number of tokens each (or a single row)."""
    # Counts are limited to more than a block, because a sum of huge counts loses small ones.
    ends = np.concatenate([[0.0], np.cumsum(np.minimum(tokens, _TOKENS_PER_BLOCK + 1), dtype=np.float64)])[indptr]
    blocks, first = [], 0
    while first < len(indptr) - 1:
        last = max(int(np.searchsorted(ends, ends[first] + _TOKENS_PER_BLOCK, side="right")) - 1, first + 1)
        blocks.append((first, last))
        first = last
    return blocks


def _replace_values(counts: Csr, values: Array) -> Csr:
    """Return a copy of ``counts`` with other non-zero values; zeros are removed."""
    part: Csr = csr_array(
        (values.astype(counts.data.dtype), counts.indices.copy(), counts.indptr.copy()), shape=counts.shape
    )
    part.eliminate_zeros()
    return part
