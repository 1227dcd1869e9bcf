"""How good is a ranking? Offered by ``topiarist.metrics``; exact definitions: docs/reference/metrics.md"""

from __future__ import annotations

from typing import Any

import numpy as np

from topiarist.errors import InputError, UsageError

Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]


def interpolated_precision(relevance: Any, scores: Any, *, levels: Any = None) -> float:
    """Interpolated average precision of rankings: how many of the first documents are relevant, at settled recalls.

    ``relevance`` says which documents (columns) are relevant to which query (rows), ``scores`` what a system gave them;
    a single query may be one-dimensional. The precision at a recall level is the highest at that recall or a higher
    one; the answer is its mean over the levels (0.1, 0.2 … 0.9 unless given) and over the queries with a relevant
    document. Of equal scores the first document comes first.
    """
    right, given = np.atleast_2d(np.asarray(relevance)), np.atleast_2d(np.asarray(scores, dtype=np.float64))
    wanted = np.arange(1, 10) / 10 if levels is None else np.atleast_1d(np.asarray(levels, dtype=np.float64))
    if right.shape != given.shape or right.ndim != 2:
        raise InputError(
            f"relevance and scores must have one shape, queries × documents; got {right.shape} and {given.shape}",
            hint="a row for each query",
        )
    if np.isnan(given).any():
        raise InputError("scores must be numbers, got NaN", hint="-inf for documents that were not found")
    if not len(wanted) or not ((wanted > 0) & (wanted <= 1)).all():
        raise UsageError(f"levels must be recalls above 0 and at most 1, got {levels!r}", hint="(0.25, 0.5, 0.75)")
    judged = [_interpolated(row > 0, score, wanted) for row, score in zip(right, given, strict=True) if (row > 0).any()]
    if not judged:
        raise InputError("no query has a relevant document", hint="leave such queries out")
    return float(np.mean(judged))


def _interpolated(relevant: Any, scores: Floats, levels: Floats) -> float:
    hits = np.cumsum(relevant[np.argsort(-scores, kind="stable")])
    precision = hits / np.arange(1, len(hits) + 1)
    best = np.maximum.accumulate(precision[::-1])[::-1]  # at this rank or any later one
    needed = np.ceil(levels * hits[-1] - 1e-9)
    return float(best[np.searchsorted(hits, needed)].mean())
