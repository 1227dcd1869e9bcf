"""Validation of the arrays of an index, because compiled kernels do not check places.

The kernels themselves skip documents of a word outside the scored range.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from topiarist.collection.search.index.segments import PACKED_DTYPE, Segment

NUMBERS_PER_BLOCK = 1 << 20  # numbers looked at in one go
NORMALISATIONS = ("parts", "total", None)


def check_sound(index: Any, *, numbers: bool) -> None:
    """Raise ``ValueError`` unless all arrays fit; with ``numbers``, check every number as well."""
    _require(index.normalise in NORMALISATIONS and index.dtype in ("float32", "float64"), "settings that are none")
    _require(bool(index.segments) and bool(index.lenses), "no documents, or no models")
    n_models = len(index.lenses)
    _require(
        len(index.parts) == len(index.topic_words) == len(index.class_words) == n_models, "models without their parts"
    )
    for lens, parts, topics, classes in zip(
        index.lenses, index.parts, index.topic_words, index.class_words, strict=True
    ):
        _require(bool(parts) and set(parts) <= {"topical", "lexical"}, f"parts {parts}")
        _require(
            _are_texts(topics, lens.n_topics) and _are_texts(classes, lens.n_classes), "topics without their words"
        )
        _check_lens(lens, index.n_words, numbers=numbers)
    vocabulary, shape = index.vocabulary, index.shape
    _require(vocabulary is None or len(vocabulary) == index.n_words, "another number of words than the models know")
    _require(vocabulary is None or all(isinstance(word, str) for word in vocabulary.words), "words that are none")
    if shape is not None:
        lens, size = index.lenses[shape.model], len(shape.tree)
        fits = size == lens.n_topics and len(shape.class_nodes) == lens.n_classes
        _require(fits and all(0 <= node < size for node in shape.class_nodes), "a tree that does not fit its model")
    for segment in index.segments:
        _check_segment(segment, index, numbers=numbers)
    _require(len(set(index.location.segments)) == len(index.location.segments), "a segment that comes twice")


def _check_lens(lens: Any, n_words: int, *, numbers: bool) -> None:
    """Raise ValueError for invalid arrays or settings of a model; ``numbers`` checks all values."""
    shapes = {
        "by_word": (n_words, lens.n_topics), "mix": (lens.n_classes, lens.n_topics), "class_prior": (lens.n_classes,),
        "class_tokens": (lens.n_classes,), "word_information": (n_words, lens.n_topics),
        "class_information": (lens.n_classes,),
    }  # fmt: skip
    for name, shape in shapes.items():
        array = getattr(lens, name)
        if array is not None:
            _require(array.shape == shape and array.dtype in (np.float32, np.float64), f"{name} of a model")
            _require(not (numbers or array.ndim == 1) or _is_finite_positive(array), f"{name} of a model")
    _require(isinstance(lens.one_class, bool) and isinstance(lens.row_scores, bool), "how a model reads")
    _require(np.isfinite(lens.smoothing) and lens.smoothing >= 0, "the smoothing of a model")
    _require(0 < lens.inverse_temperature <= 1, "the temperature of a model")
    _require(lens.effective_length is None or 0 < lens.effective_length < np.inf, "the length that a model reads")


def _check_segment(segment: Segment, index: Any, *, numbers: bool) -> None:
    """Raise ValueError for invalid arrays of a segment; ``numbers`` checks all values."""
    n, (ends, docs, counts), words = len(segment), segment.postings, segment.words
    dtype = np.dtype(index.dtype)
    if words is not None:
        _require(words.ndim == 1 and words.dtype == np.int64, "words")
        _require(not len(words) or (words[0] >= 0 and words[-1] < index.n_words), "words")
        _require(bool((np.diff(words) > 0).all()), "words that do not rise")
    size = index.n_words if words is None else len(words)
    _require(ends.shape == (size + 1,) and ends.dtype == np.int64, "ends")
    _require(ends[0] == 0 and ends[-1] == len(docs) and bool((np.diff(ends) >= 0).all()), "ends")
    _require(docs.ndim == 1 and docs.dtype in (np.int32, np.uint16) and docs.shape == counts.shape, "docs")
    _require(counts.dtype in (dtype, np.uint8), "counts")
    _require(not numbers or _is_rising(docs, ends, n), "documents of a word that do not rise, or are none")
    _require(segment.lengths.shape == (n,) and segment.lengths.dtype == dtype, "lengths")
    _require(_is_finite_positive(segment.lengths), "lengths")
    for rows, topical, scales, lens in zip(segment.rows, segment.topical, segment.scales, index.lenses, strict=True):
        _require(rows.shape == topical.shape == (n, lens.n_classes) and scales.shape == (n, 2), "rows")
        _require(rows.dtype == (PACKED_DTYPE if dtype == np.float32 else dtype) and scales.dtype == dtype, "rows")
        _require(topical is rows or topical.dtype == dtype, "rows")
        _require(
            not numbers or (_is_finite_positive(rows) and _is_finite_positive(topical) and _is_finite_positive(scales)),
            "rows that are no numbers",
        )
    _require(not numbers or _is_finite_positive(counts), "counts")
    if index.shape is not None:
        nodes, last = segment.nodes, len(index.shape.tree)
        _require(nodes.shape == (n,) and nodes.dtype.kind == "i", "nodes")
        _require(not n or (nodes.min() >= 0 and nodes.max() < last), "nodes")


def _is_rising(docs: Any, ends: Any, n: int) -> bool:
    """Return whether each word's documents rise and exist; read in blocks to limit memory."""
    starts = np.zeros(0, np.int64) if not len(docs) else np.unique(ends[:-1][np.diff(ends) > 0])
    for first in range(0, len(docs), NUMBERS_PER_BLOCK):
        piece = docs[first : first + NUMBERS_PER_BLOCK + 1].astype(np.int32)  # or it could not fall
        if piece.min() < 0 or piece.max() >= n:
            return False
        falls = first + 1 + np.flatnonzero(np.diff(piece) <= 0)  # where a new word must begin
        if len(falls) and not np.isin(falls, starts, assume_unique=True).all():
            return False
    return True


def _is_finite_positive(array: Any) -> bool:
    """Return whether every number is finite and not negative."""
    flat = array.reshape(-1)
    for first in range(0, len(flat), NUMBERS_PER_BLOCK):
        piece = flat[first : first + NUMBERS_PER_BLOCK]
        if not (np.isfinite(piece).all() and piece.min() >= 0):
            return False
    return True


def _are_texts(rows: Iterable[Any], number: int) -> bool:
    groups = list(rows)
    return len(groups) == number and all(isinstance(text, str) for row in groups for text in row)


def _require(condition: Any, fault: str) -> None:
    if not condition:
        raise ValueError(f"it holds {fault}")
