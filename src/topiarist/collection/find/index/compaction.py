"""Small segments become one: documents that come a few at a time cost what many at once would.

A new segment takes in those before it that are not larger than twice itself, as long as the whole stays small. So there
are few of them, and a document is written again only as often as the collection doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from topiarist.collection.find.index.segments import Documents, Segment
from topiarist.models.engine import Postings

LARGEST = 1 << 16  # documents of a segment that was put together


def kept(sizes: Sequence[int], added: int) -> int:
    """How many of the segments stay as they are when so many documents are added; the others join them."""
    number = len(sizes)
    while number and sizes[number - 1] <= 2 * added and added + sizes[number - 1] <= LARGEST:
        number -= 1
        added += sizes[number]
    return number


def joined(segments: Sequence[Segment]) -> Segment:
    """One segment of the documents of several, in their order."""
    if len(segments) == 1:
        return segments[0]
    starts = np.cumsum([0, *map(len, segments)])
    words = np.concatenate([np.repeat(_words(segment), np.diff(segment.postings.ends)) for segment in segments])
    docs = np.concatenate([
        segment.postings.docs + np.int32(start) for segment, start in zip(segments, starts[:-1], strict=True)
    ])  # fmt: skip
    counts = np.concatenate([segment.postings.counts for segment in segments])
    order = np.argsort(words, kind="stable")  # the documents of a word come in their order
    known, firsts = np.unique(words[order], return_index=True)
    postings = Postings(np.append(firsts, len(words)).astype(np.int64), docs[order].astype(np.int32), counts[order])
    own = [segment.topical[number] is segment.rows[number] for segment in segments[:1] for number in
           range(len(segment.rows))]  # fmt: skip
    rows = _stacked([segment.rows for segment in segments])
    topical = _stacked([segment.topical for segment in segments])
    return Segment(
        _documents(segments), postings, np.concatenate([segment.lengths for segment in segments]), rows,
        tuple(row if same else other for row, other, same in zip(rows, topical, own, strict=True)),
        _stacked([segment.scales for segment in segments]),
        np.concatenate([segment.nodes for segment in segments]), known.astype(np.int64),
    )  # fmt: skip


def _words(segment: Segment) -> Any:
    return np.arange(len(segment.postings.ends) - 1) if segment.words is None else np.asarray(segment.words)


def _stacked(arrays: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    return tuple(np.concatenate(of_model) for of_model in zip(*arrays, strict=True))


def _documents(segments: Sequence[Segment]) -> Documents:
    known = [segment.documents for segment in segments]
    ids = tuple(name for one in known for name in one.ids)
    titles = tuple(title for one in known for title in one.titles or ("",) * len(one.ids))
    labels = tuple(names for one in known for names in one.labels or ((),) * len(one.ids))
    return Documents(ids, titles if any(titles) else (), labels if any(labels) else ())
