"""The verbs of similarity: how documents score against one query, in two tellings.

Floor plan:

    compiled   The verbs of similarity in numba: the same sums as ``reference``, one document after the other, without a
               temporary.
    reference  The verbs of similarity in NumPy: slow, obvious, and the specification of the compiled ones.

A Fisher kernel meets a document in two ways: by the classes it shares with the query, and by the words it shares with
it. Both are inner products with the document's own row P(α|d). For a query word *j* two vectors suffice, ``meet`` and
``mixture``: the word adds n(d,j) (row·meet)/(row·mixture). So a query costs one reading of all rows, and two more
products for each document that holds one of its words.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from topiarist.arrays import Array

LEAST_HELD = 1e-9  # of a document: a class that holds less changes the length of its lexical part by less than rounding


class Postings(NamedTuple):
    """Counts by word: word j has the places ``ends[j]`` to ``ends[j + 1]`` of ``docs`` (rising) and ``counts``."""

    ends: Array
    docs: Array
    counts: Array


class Wanted(NamedTuple):
    """A query as one model sees it. No ``topics`` (length 0): documents are met by their words alone."""

    words: Array  # columns of the counts
    meet: Array  # (query words, classes)
    mixture: Array  # (query words, classes)
    topics: Array  # (classes,)


class Runs(NamedTuple):
    """Documents by the forms of words: run r has the places ``starts[r]`` to ``stops[r]`` of ``docs`` and ``times``.

    The documents of a run rise. Runs of one word, by its number in ``words``, are its forms, and stand together.
    """

    docs: Array
    times: Array
    starts: Array
    stops: Array
    words: Array


STRETCH = 128  # documents of which the highest score is noted


class SearchKernels(NamedTuple):
    """The verbs, in one telling."""

    name: str
    lexical_lengths: Callable[..., Any]
    path_lengths: Callable[..., Any]
    score_meaning: Callable[..., Any]
    score_words: Callable[..., Any]
    add_words: Callable[..., Any]
    hold_words: Callable[..., Any]
    score_vectors: Callable[..., Any]
    score_places: Callable[..., Any]
    meetings: Callable[..., Any]
    open_rows: Callable[..., Any]
    pick_counts: Callable[..., Any]


def load(name: str = "compiled") -> SearchKernels:
    """The record called ``name``; the compiler is imported only now."""
    from topiarist.kernels.search import reference

    if name == "reference":
        return SearchKernels("reference", **reference.VERBS)
    try:
        from topiarist.kernels.search import compiled
    except ImportError as error:
        warnings.warn(f"numba cannot be used ({error}): search is many times slower.", stacklevel=2)
        return SearchKernels("reference", **reference.VERBS)
    return SearchKernels("compiled", **compiled.VERBS)
