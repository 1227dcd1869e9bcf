"""The texts of all documents for a report: many in one packed block, each word with the level that it speaks from.

A block is JSON, deflated, in signs that HTML takes for nothing else; a reader's browser unpacks the one that it needs.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from topiarist.app.explorer.pages.coloured import DEEPEST, MOST_WORDS, SURE, tokens_of
from topiarist.app.explorer.view import View
from topiarist.estimators.tree.abstraction import word_levels

Array = np.ndarray[Any, Any]
Tell = Callable[[int, int], None]  # how many documents are written, of how many
CELLS = 1 << 23  # words × nodes that are looked at together
MOST = 1_024  # documents of one look
BLOCK = 1 << 18  # characters of text in one packed block: unpacked in no time
EFFORT = 9  # of zlib: a report is written once and read often


@dataclass(frozen=True)
class Packed:
    """Some documents, from a row on, packed."""

    first: int
    text: str


@dataclass(frozen=True)
class _Looks:
    """How the counted words of some documents look: one number for topic, level and whether that is sure."""

    first: int
    starts: Array
    columns: Array
    codes: Array
    root: int  # the look of the collection's general words

    def of(self, row: int) -> dict[int, int]:
        """The look of each word of a document, by its column; general ones have the column −1."""
        here = slice(self.starts[row - self.first], self.starts[row - self.first + 1])
        return {**dict(zip(self.columns[here].tolist(), self.codes[here].tolist(), strict=True)), -1: self.root}


def packed(view: View, tell: Tell | None = None) -> Iterator[Packed]:
    """All documents in the order of their rows; a few are in memory at a time."""
    tell = tell or (lambda done, total: None)
    waiting: list[list[Any]] = []
    size, looks = 0, _looks(view, 0)
    for row, document in enumerate(view.collection.documents.iterate()):
        if row >= looks.first + len(looks.starts) - 1:
            looks = _looks(view, row)
        text = document.text
        topic = view.shape.topics[int(view.homes[row])]
        waiting.append([document.id, document.date[:10], topic, text, *_runs(view, text, looks.of(row))])
        size += len(text)
        if size >= BLOCK:
            yield _pack(view, row + 1 - len(waiting), waiting)
            tell(row + 1, view.n_docs)
            waiting, size = [], 0
    if waiting:
        yield _pack(view, view.n_docs - len(waiting), waiting)
    tell(view.n_docs, view.n_docs)


def _looks(view: View, first: int) -> _Looks:
    collection, crown, depths = view.collection, view.collection.tree_model, np.array(view.tree.depths)
    each = max(1, collection.counts.nnz // max(view.n_docs, 1))
    step = int(np.clip(CELLS // (each * len(crown.tree)), 1, MOST))
    counts = collection.counts[first : first + step]
    shares = collection.shares[first : first + step].toarray()
    found = word_levels(counts, crown, shares, np.arange(len(crown.tree))).probabilities
    nodes = found @ np.eye(len(view.tree))[view.shown_nodes]
    levels = nodes @ np.eye(depths.max() + 1)[depths]
    codes = _code(nodes.argmax(axis=1), levels.argmax(axis=1), levels.max(axis=1, initial=0.0) < SURE)
    return _Looks(first, counts.indptr, counts.indices, codes, int(_code(view.tree.root, 0, False)))


def _code(node: Any, level: Any, unsure: Any) -> Any:
    return (node * (DEEPEST + 1) + np.minimum(level, DEEPEST)) * 2 + unsure


def _runs(view: View, text: str, looks: dict[int, int]) -> tuple[list[int], ...]:
    """Signs to pass over, signs of a word, its look; and so on. Signs are counted as a browser counts them.

    Of a text with too many words the first are told, and how many these are.
    """
    wide = not text.isascii() and max(text) > "\uffff"
    runs: list[int] = []
    here = 0
    for number, (_, start, stop, column) in enumerate(tokens_of(view, text)):
        if number >= MOST_WORDS:
            return runs, [MOST_WORDS]
        look = None if column is None else looks.get(column)
        if look is None or start < here:
            continue
        before, word = text[here:start], text[start:stop]
        runs += [_units(before), _units(word), look] if wide else [len(before), len(word), look]
        here = stop
    return (runs,)


def _units(text: str) -> int:
    return len(text) + sum(sign > "\uffff" for sign in text)


def _pack(view: View, first: int, documents: list[list[Any]]) -> Packed:
    """A block; looks are numbered by how often they come, so that most of them are one sign."""
    used, times = np.unique([code for one in documents for code in one[4][2::3]], return_counts=True)
    order = used[np.argsort(-times, kind="stable")].astype(int).tolist()
    number = {code: place for place, code in enumerate(order)}
    for one in documents:
        one[4][2::3] = [number[code] for code in one[4][2::3]]
    looks = [[code // 2 % (DEEPEST + 1), view.shape.topics[code // 2 // (DEEPEST + 1)], code % 2] for code in order]
    body = json.dumps({"looks": looks, "documents": documents}, ensure_ascii=False, separators=(",", ":"))
    return Packed(first, base64.b64encode(zlib.compress(body.encode("utf-8", "replace"), EFFORT)).decode())
