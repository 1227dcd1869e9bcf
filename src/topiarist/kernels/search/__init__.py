"""Kernels of search: scores of documents for one query.

A Fisher kernel compares a document with a query by common classes and by common words. Both are inner products with the
document's row P(α|d). For a query word *j* two vectors suffice, ``meet`` and ``mixture``: the word adds n(d,j)
(row·meet)/(row·mixture). A query reads all rows once, and computes two more products for each document that contains
one of its words.
"""

from __future__ import annotations

from typing import NamedTuple

from topiarist.arrays import Array

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
