"""Rows of an index whose documents are in segments, which never change.

A new segment absorbs the segments before it that are at most twice as large, up to a limit. There are few segments,
and a document is written again only when the collection doubles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from typing import TypeVar

import numpy as np

from topiarist.arrays import Array, Bools

S = TypeVar("S", bound=Sized)
MAX_MERGED_DOCUMENTS = 1 << 16  # documents of a segment that absorbed others


def split_rows(segments: Sequence[S], rows: Array) -> list[tuple[S, Array]]:
    """Split rising rows by segment; return pairs of a segment and its own row numbers, without empty ones."""
    ends = np.cumsum([0, *map(len, segments)])
    cuts = np.searchsorted(rows, ends).tolist()
    return [
        (segment, rows[first:last] - start)
        for segment, first, last, start in zip(segments, cuts, cuts[1:], ends.tolist(), strict=False)
        if last > first
    ]


def locate_row(segments: Sequence[Sized], row: int) -> tuple[int, int]:
    """Return the number of the segment of a document, and its row there."""
    for number, segment in enumerate(segments):
        if row < len(segment):
            return number, row
        row -= len(segment)
    raise IndexError(row)


def select_documents(segments: Sequence[S], keep: Bools, select: Callable[[S, Bools], S]) -> tuple[S, ...]:
    """Return the segments with the documents in the mask ``keep``; at least one, which may be empty."""
    ends = np.cumsum([0, *map(len, segments)])
    parts = [select(segment, keep[start:end]) for segment, start, end in zip(segments, ends, ends[1:], strict=False)]
    return tuple(segment for segment in parts if len(segment)) or (parts[0],)


def count_unchanged_segments(segments: Sequence[Sized], n_added: int) -> int:
    """Return the number of segments that an addition leaves unchanged; it is merged with the others."""
    number = len(segments)
    while number and (size := len(segments[number - 1])) <= 2 * n_added and n_added + size <= MAX_MERGED_DOCUMENTS:
        number -= 1
        n_added += size
    return number
