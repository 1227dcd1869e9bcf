"""Do the arrays of an index fit together? Compiled kernels look places up without asking, so it is asked first.

The documents of a word they ask about themselves: one that is not among those that are scored is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from topiarist.collection.find.index.packed_rows import PACKED
from topiarist.collection.find.index.segments import Segment

PIECE = 1 << 20  # numbers looked at in one go
WAYS = ("parts", "total", None)


def check_sound(index: Any, *, numbers: bool) -> None:
    """Raise ``ValueError`` unless all fits; ``numbers`` asks as well whether every number is one."""
    _need(index.normalise in WAYS and index.dtype in ("float32", "float64"), "settings that are none")
    _need(bool(index.segments) and bool(index.lenses), "no documents, or no models")
    wanted = len(index.lenses)
    _need(len(index.parts) == len(index.topic_words) == len(index.class_words) == wanted, "models without their parts")
    for lens, parts, topics, classes in zip(
        index.lenses, index.parts, index.topic_words, index.class_words, strict=True
    ):
        _need(bool(parts) and set(parts) <= {"topical", "lexical"}, f"parts {parts}")
        _need(_texts(topics, lens.n_topics) and _texts(classes, lens.n_classes), "topics without their words")
        _check_lens(lens, index.n_words, numbers=numbers)
    vocabulary, shape = index.vocabulary, index.shape
    _need(vocabulary is None or len(vocabulary) == index.n_words, "another number of words than the models know")
    _need(vocabulary is None or all(isinstance(word, str) for word in vocabulary.words), "words that are none")
    if shape is not None:
        lens, size = index.lenses[shape.model], len(shape.tree)
        fits = size == lens.n_topics and len(shape.class_nodes) == lens.n_classes
        _need(fits and all(0 <= node < size for node in shape.class_nodes), "a tree that is not that of its model")
    for segment in index.segments:
        _check_segment(segment, index, numbers=numbers)
    ids = [name for segment in index.segments for name in segment.documents.ids]
    _need(len(set(ids)) == len(ids), "an id that comes twice")
    _need(len(set(index.kept.segments)) == len(index.kept.segments), "a segment that comes twice")


def _check_lens(lens: Any, n_words: int, *, numbers: bool) -> None:
    shapes = {
        "by_word": (n_words, lens.n_topics), "mix": (lens.n_classes, lens.n_topics), "class_prior": (lens.n_classes,),
        "class_tokens": (lens.n_classes,), "word_information": (n_words, lens.n_topics),
        "class_information": (lens.n_classes,),
    }  # fmt: skip
    for name, shape in shapes.items():
        array = getattr(lens, name)
        if array is not None:
            _need(array.shape == shape and array.dtype in (np.float32, np.float64), f"{name} of a model")
            _need(not (numbers or array.ndim == 1) or _positive(array), f"{name} of a model")
    _need(isinstance(lens.one_class, bool) and isinstance(lens.row_scores, bool), "how a model reads")
    _need(np.isfinite(lens.smoothing) and lens.smoothing >= 0, "the smoothing of a model")
    _need(0 < lens.inverse_temperature <= 1, "the temperature of a model")
    _need(lens.effective_length is None or 0 < lens.effective_length < np.inf, "the length that a model reads")


def _check_segment(segment: Segment, index: Any, *, numbers: bool) -> None:
    n, (ends, docs, counts), words = len(segment), segment.postings, segment.words
    known, dtype = segment.documents, np.dtype(index.dtype)
    _need(_texts([known.ids], 1) and len(known.ids) in (0, n), "ids")
    _need(len(known.titles) in (0, n) and _texts([known.titles], 1), "titles")
    _need(len(known.labels) in (0, n) and _texts(known.labels, len(known.labels)), "labels")
    if words is not None:
        _need(words.ndim == 1 and words.dtype == np.int64, "words")
        _need(not len(words) or (words[0] >= 0 and words[-1] < index.n_words), "words")
        _need(bool((np.diff(words) > 0).all()), "words that do not rise")
    size = index.n_words if words is None else len(words)
    _need(ends.shape == (size + 1,) and ends.dtype == np.int64, "ends")
    _need(ends[0] == 0 and ends[-1] == len(docs) and bool((np.diff(ends) >= 0).all()), "ends")
    _need(docs.ndim == 1 and docs.dtype in (np.int32, np.uint16) and docs.shape == counts.shape, "docs")
    _need(counts.dtype in (dtype, np.uint8), "counts")
    _need(not numbers or _rising(docs, ends, n), "documents of a word that do not rise, or are none")
    _need(segment.lengths.shape == (n,) and segment.lengths.dtype in (np.float64, dtype), "lengths")
    _need(_positive(segment.lengths), "lengths")
    for rows, topical, scales, lens in zip(segment.rows, segment.topical, segment.scales, index.lenses, strict=True):
        _need(rows.shape == topical.shape == (n, lens.n_classes) and scales.shape == (n, 2), "rows")
        _need(rows.dtype in (dtype, PACKED) and scales.dtype in (np.float64, dtype), "rows")
        _need(topical is rows or topical.dtype == dtype, "rows")
        _need(not numbers or (_positive(rows) and _positive(topical) and _positive(scales)), "rows that are no numbers")
    _need(not numbers or _positive(counts), "counts")
    if index.shape is not None:
        nodes, last = segment.nodes, len(index.shape.tree)
        _need(nodes.shape == (n,) and nodes.dtype.kind == "i", "nodes")
        _need(not n or (nodes.min() >= 0 and nodes.max() < last), "nodes")


def _rising(docs: Any, ends: Any, n: int) -> bool:
    """Each word's documents rise and exist; a piece at a time, so that nothing of the size of the counts is made."""
    starts = np.zeros(0, np.int64) if not len(docs) else np.unique(ends[:-1][np.diff(ends) > 0])
    for first in range(0, len(docs), PIECE):
        piece = docs[first : first + PIECE + 1].astype(np.int32)  # or it could not fall
        if piece.min() < 0 or piece.max() >= n:
            return False
        falls = first + 1 + np.flatnonzero(np.diff(piece) <= 0)  # where a new word must begin
        if len(falls) and not np.isin(falls, starts, assume_unique=True).all():
            return False
    return True


def _positive(array: Any) -> bool:
    """Every number is finite and not negative."""
    flat = array.reshape(-1)
    for first in range(0, len(flat), PIECE):
        piece = flat[first : first + PIECE]
        if not (np.isfinite(piece).all() and piece.min() >= 0):
            return False
    return True


def _texts(rows: Iterable[Any], number: int) -> bool:
    found = list(rows)
    return len(found) == number and all(isinstance(text, str) for row in found for text in row)


def _need(holds: Any, what: str) -> None:
    if not holds:
        raise ValueError(f"it holds {what}")
