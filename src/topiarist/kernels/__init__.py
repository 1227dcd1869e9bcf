"""The arithmetic that every model shares, in several tellings of the same few verbs.

Floor plan:

    active/     Sweeps over the components that documents still use: PLSA with sparse rows.
    classes/    Classes that are known: words handed down their paths, and the classes of new documents.
    counts/     Sweeps over the non-zeros of counts: expected counts, mixtures, folding in, normalising.
    cuda/       The verbs on a CUDA device, with numba. Nothing here is imported before somebody asks for a device.
    gaussians/  Many small symmetric matrices at once: inverses, determinants, bounds of eigenvalues.
    labels/     The verbs of documents with several labels: a record of its own, in the same two tellings.
    paths/      Products that hierarchies need: counts times rows, and sums along the paths of a tree.
    search/     The verbs of similarity: how documents score against one query, in two tellings.
    cache       Where compiled kernels are kept, and whether they are there.
    jit         How every compiled kernel is compiled: no lock, kept on disk, sums fused; and rows asked for ahead of
                time.
    shard       A block of documents as the sweeps want it: counts by document and by word, cut into pieces for threads.

All models of co-occurrence counts meet in one expression: the probability of word *j* in document *i* is an inner
product, ``own[i] · other[j]``, of a row that belongs to the document and a row that belongs to the word. The verbs
below sweep over the non-zeros of a sparse matrix and need no more than that. Swept by documents they give document
sums; swept by words, with the two factors exchanged, they give word sums: one loop serves both.

``reference`` is written to be believed, ``compiled`` to be fast, ``cuda`` for a device; tests hold them together.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from topiarist.arrays import Array

VERB_SETS = ("counts", "paths", "active", "classes")  # of ``Kernels``; labels and search have records of their own


# A mixture below this is treated as impossible: its ratio could overflow in single precision, and says nothing. Where
# the mixtures themselves are wanted they are never smaller, so that their logarithms are finite.
SMALLEST_MIXTURE = 1e-30


def ratios(data: Array, mixture: Array) -> Array:
    """n / mixture, and zero where the model says that the word cannot occur."""
    possible = mixture > SMALLEST_MIXTURE
    return np.where(possible, data / np.where(possible, mixture, 1), 0)


class Folding(NamedTuple):
    """How ``fold_in`` iterates: plain numbers, so that every telling can take it."""

    smoothing: float = 0.0  # pseudo-count added to each component of each row
    inverse_temperature: float = 1.0
    max_steps: int = 100
    tolerance: float = 1e-6  # a row is done when its entries together would move by less


class Paths(NamedTuple):
    """Which nodes lie on the path of which class, listed by class and again by node, with the weight of each pair.

    Class c has the places ``ends[c]`` to ``ends[c + 1]`` of ``nodes`` and ``weights``; node v has the places
    ``node_ends[v]`` to ``node_ends[v + 1]`` of ``classes`` and ``node_weights``.
    """

    ends: Array
    nodes: Array
    weights: Array
    node_ends: Array
    classes: Array
    node_weights: Array


class Active(NamedTuple):
    """The components that each document still uses, and how much of each: P(k|i) without its zeros.

    Document i has the lanes ``ends[i]`` to ``ends[i + 1]``, eight components each. Its last lane is filled up with
    components of value zero, which add nothing anywhere and stay zero.
    """

    ends: Array
    components: Array  # (lanes, 8), two bytes each
    values: Array  # (lanes, 8)


class Held(NamedTuple):
    """The classes that hold something of each document, and how much: P(c|d) without what rounding would lose.

    Document d has the places ``ends[d]`` to ``ends[d + 1]`` of ``classes`` and ``values``.
    """

    ends: Array
    classes: Array
    values: Array


# Each step of ``fold_in`` but the last goes this many times as far as EM would. Below 2 the iteration cannot lose the
# optimum (EM's own rate lies between 0 and 1), and just below it needs little more than half of EM's steps.
FOLDING_STRIDE = 1.8

# ``categorise`` leaps ahead after every two steps, and no class loses more than nine tenths of its weight in a leap.
LEAST_LEAP = 0.1


class Kernels(NamedTuple):
    """A backend is a record of functions; a faster one replaces entries of the reference."""

    name: str
    document_counts: Callable[..., Any]
    word_counts: Callable[..., Any]
    mixtures: Callable[..., Any]
    fold_in: Callable[..., Any]
    look_ahead: Callable[..., Any]
    normalise_rows: Callable[..., Any]
    column_sums: Callable[..., Any]
    scale_columns: Callable[..., Any]
    sum_of_logs: Callable[..., Any]
    weighted_sum: Callable[..., Any]
    tally: Callable[..., Any]
    transpose: Callable[..., Any]
    row_products: Callable[..., Any]
    word_products: Callable[..., Any]
    count_held: Callable[..., Any]
    keep_held: Callable[..., Any]
    held_word_products: Callable[..., Any]
    climb: Callable[..., Any]
    descend: Callable[..., Any]
    power: Callable[..., Any]
    logarithms: Callable[..., Any]
    posteriors: Callable[..., Any]
    active_document_counts: Callable[..., Any]
    active_word_counts: Callable[..., Any]
    active_gains: Callable[..., Any]
    active_entrants: Callable[..., Any]
    normalise_active: Callable[..., Any]
    count_used: Callable[..., Any]
    keep_used: Callable[..., Any]
    hand_down: Callable[..., Any]
    categorise: Callable[..., Any]

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels by its name: another process has functions of its own."""
        return load, (self.name,)


def verbs(*functions: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Functions by their names: what a telling of a verb set hands to its record."""
    return {function.__name__: function for function in functions}


def load(name: str = "compiled") -> Kernels:
    """The record called ``name``, always the same one; imported only now, because a compiler takes its time to load."""
    return _record(name)


@functools.cache
def _record(name: str) -> Kernels:
    if name not in ("compiled", "reference", "cuda"):
        raise ValueError(f"kernels are 'compiled', 'reference' or 'cuda', not {name!r}")
    if name == "cuda":
        from topiarist.kernels.cuda.verbs import KERNELS

        return KERNELS
    believed = _told("reference")
    if name == "compiled":
        try:
            return Kernels(name, **{**believed, **_told("compiled")})
        except ImportError as error:  # a Python on its release day: numba follows some weeks later
            warnings.warn(f"numba cannot be used ({error}): fits are many times slower.", stacklevel=3)
    return Kernels("reference", **believed)


def _told(telling: str) -> dict[str, Callable[..., Any]]:
    """The verbs of all sets in one telling; what is not compiled stays as the reference has it."""
    together: dict[str, Callable[..., Any]] = {}
    for verb_set in VERB_SETS:
        together.update(import_module(f"topiarist.kernels.{verb_set}.{telling}").VERBS)
    return together
