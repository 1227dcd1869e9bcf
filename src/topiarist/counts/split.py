"""Token-wise splits: each document gives some of its tokens to every part, and the parts add up to the whole.

``split_tokens`` lets every token fall into a part by a coin of its own, independently of all others (binomial
thinning): one draw per stored count, and parts that are again samples of the document's word distribution. A
short document may give no token to a small part. ``completion_split`` divides each document exactly in half,
drawing without replacement, so that every document of two or more tokens is both folded in and scored.

Counts need not be whole: the whole part is split as tokens, the rest goes to one part, again by a coin. Nor need
they be small: no more than a few million tokens are ever written out one by one. Counts beyond 2**24 in float32,
which not every whole number fits into, are split in steps of the numbers that do, so that parts still add up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr
from topiarist.errors import UsageError

_BLOCK = 4_000_000  # tokens shuffled at a time
_LONG = 4_000_000  # a document of more tokens is not shuffled, but drawn word by word
_EXACT = 1_000_000_000  # numpy draws from hypergeometric distributions of fewer tokens
_RARE = 10_000  # a word of at most so many among more than _EXACT tokens falls as by independent coins


def split_tokens(counts: Csr, fractions: Sequence[float], *, seed: int = 0) -> tuple[Csr, ...]:
    """Return one matrix per fraction (which sum to one); together they are ``counts``, exactly."""
    shares = np.asarray(fractions, dtype=np.float64)
    if shares.ndim != 1 or shares.size == 0 or (shares < 0).any() or abs(shares.sum() - 1) > 1e-9:
        raise UsageError(
            f"expected fractions of at least 0 that sum to 1, got {list(fractions)}", hint="(0.8, 0.1, 0.1)"
        )
    rng = np.random.default_rng(seed)
    left = np.floor(counts.data)
    steps = _steps(left)
    rest = counts.data - left
    rest_part = rng.choice(shares.size, size=rest.size, p=shares / shares.sum()) if rest.any() else None
    parts = []
    for part, share in enumerate(shares):
        remaining = shares[part:].sum()
        whole = left
        if part < shares.size - 1:
            whole = _coins(rng, left, share / remaining if remaining > 0 else 0.0, steps)
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
        if whole[values].sum(dtype=np.float64) > _LONG:  # then it is a single row
            folded[values] = _in_steps(_half_of_long(rng, whole[values]), _steps(whole[values]))
            continue
        rows = np.repeat(np.arange(last - first), np.diff(counts.indptr[first : last + 1]))
        folded[values] = _half(rng, whole[values].astype(np.int64), rows)
    if rest.any():
        folded += np.where(rng.random(rest.size) < 0.5, rest, 0).astype(folded.dtype)
    return _with_values(counts, folded), _with_values(counts, counts.data - folded)


def _coins(rng: np.random.Generator, tokens: Array, probability: float, steps: Array) -> Array:
    """Return how many of the tokens of each stored count fall to a part."""
    drawn = rng.binomial(tokens.astype(np.int64), min(1.0, probability))
    return _in_steps(drawn, steps).astype(tokens.dtype)


def _steps(tokens: Array) -> Array:
    """Return the distance of each count to the next one its type can hold, at least one."""
    return np.maximum(np.spacing(tokens), 1)


def _in_steps(values: Array, steps: Array) -> Array:
    """Return whole numbers rounded down to a multiple of their steps, which are powers of two."""
    return np.floor(values / steps) * steps if steps.size and steps.max() > 1 else values


def _half(rng: np.random.Generator, tokens: Array, rows: Array) -> Array:
    """Return how many tokens of each stored count are in the first half of a shuffle of their document."""
    value = np.repeat(np.arange(tokens.size), tokens)
    row = rows[value]
    order = np.lexsort((rng.random(value.size), row))
    length = np.bincount(row)[row] if row.size else row
    start = np.concatenate([[0], np.cumsum(np.bincount(row))])[row] if row.size else row
    place = np.arange(value.size) - start
    return np.bincount(value[order[place < (length + 1) // 2]], minlength=tokens.size)


def _half_of_long(rng: np.random.Generator, tokens: Array) -> Array:
    """Return the same for one long document, without a shuffle: word by word, given what the words before took.

    Up to _EXACT tokens the distribution is that of a shuffle. Beyond it is a close approximation, but still half
    of the document: the rarest words come first, and the most frequent one takes what is left.
    """
    counts = [int(count) for count in tokens]  # their sum may be too large for numpy
    left = sum(counts)
    drawn = (left + 1) // 2
    if left < _EXACT:
        return rng.multivariate_hypergeometric(tokens.astype(np.int64), drawn, method="marginals")
    half = np.zeros(len(counts), dtype=np.int64)
    for place in np.argsort(tokens, kind="stable").tolist():
        left -= counts[place]
        taken = _hypergeometric(rng, counts[place], left, drawn)
        half[place] = taken
        drawn -= taken
    return half


def _hypergeometric(rng: np.random.Generator, count: int, others: int, drawn: int) -> int:
    """Return how many of ``count`` tokens are among those drawn from them and others, of which there are more."""
    total = count + others
    if total < _EXACT:
        return int(rng.hypergeometric(count, others, drawn))
    share = drawn / total
    if count <= _RARE:
        taken = int(rng.binomial(count, share))
    else:
        spread = math.sqrt(count * share * (1 - share) * (others / total))
        taken = count * drawn // total + round(rng.normal(scale=spread))
    return min(max(taken, drawn - others, 0), count, drawn)


def _blocks(indptr: Array, tokens: Array) -> list[tuple[int, int]]:
    """Return consecutive row ranges with a bounded number of tokens each (or a single row)."""
    # Cut off at more than a block: a sum of huge counts could not tell small ones apart.
    ends = np.concatenate([[0.0], np.cumsum(np.minimum(tokens, _BLOCK + 1), dtype=np.float64)])[indptr]
    blocks, first = [], 0
    while first < len(indptr) - 1:
        last = max(int(np.searchsorted(ends, ends[first] + _BLOCK, side="right")) - 1, first + 1)
        blocks.append((first, last))
        first = last
    return blocks


def _with_values(counts: Csr, values: Array) -> Csr:
    """Return a matrix of other values at the places of ``counts``, without stored zeros."""
    part: Csr = csr_array(
        (values.astype(counts.data.dtype), counts.indices.copy(), counts.indptr.copy()), shape=counts.shape
    )
    part.eliminate_zeros()
    return part
