"""Kernels of search: scores of documents for one query, with reference and compiled backends.

A Fisher kernel compares a document with a query by common classes and by common words. Both are inner products with the
document's row P(α|d). For a query word *j* two vectors suffice, ``meet`` and ``mixture``: the word adds n(d,j)
(row·meet)/(row·mixture). A query reads all rows once, and computes two more products for each document that contains
one of its words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from topiarist.arrays import Array
from topiarist.kernels import load_record

MIN_CLASS_SHARE = 1e-9  # a class with less changes the length of the lexical part by less than rounding


class Postings(NamedTuple):
    """Counts by word: word j has the places ``ends[j]`` to ``ends[j + 1]`` of ``docs`` (rising) and ``counts``."""

    ends: Array
    docs: Array
    counts: Array


class QueryVectors(NamedTuple):
    """Query as one model represents it; without ``topics`` (length 0) only its words are compared."""

    words: Array  # columns of the counts
    meet: Array  # (query words, classes)
    mixture: Array  # (query words, classes)
    topics: Array  # (classes,)


class Runs(NamedTuple):
    """Documents by the forms of words: run r has the places ``starts[r]`` to ``stops[r]`` of ``docs`` and ``times``.

    The documents of a run rise. Runs of one word, by its number in ``words``, are its forms and are adjacent.
    """

    docs: Array
    times: Array
    starts: Array
    stops: Array
    words: Array


STRETCH = 128  # documents for each recorded maximum score


class SearchKernels(NamedTuple):
    """Functions of one backend."""

    name: str
    lexical_lengths: Callable[..., Any]
    path_lengths: Callable[..., Any]
    score_by_kernel: Callable[..., Any]
    score_words: Callable[..., Any]
    add_word_scores: Callable[..., Any]
    score_half_vectors: Callable[..., Any]
    score_byte_vectors: Callable[..., Any]
    count_cooccurrences: Callable[..., Any]
    unpack_rows: Callable[..., Any]
    pick_counts: Callable[..., Any]


def load(name: str = "compiled") -> SearchKernels:
    """Return the record "reference", or else the compiled one."""
    kernels: SearchKernels = load_record(SearchKernels, ("search",), name)
    return kernels
