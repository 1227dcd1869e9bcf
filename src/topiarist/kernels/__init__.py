"""Numerical kernels shared by all models, with reference and compiled backends, and kernels of a CUDA device.

All models of co-occurrence counts share one expression. The probability of word *j* in document *i* is an inner
product, ``row_factor[i] · column_factor[j]``, of a row of the document and a row of the word. The kernels sweep over
the non-zeros of a sparse matrix and compute this product for each. Swept by documents they give document sums. Swept by
words, with the two factors exchanged, the same loop gives word sums.

``reference`` is the specification, ``compiled`` is fast, and ``cuda`` runs on a device under an engine of its own
(``models.engine.cuda``). Tests compare them.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from topiarist.arrays import Array

GROUPS = ("counts", "paths", "classes", "labels", "search")  # packages with a reference and a compiled module

# Mixtures below this are treated as impossible, because their ratios could overflow in single precision. Returned
# mixtures are never smaller, so that their logarithms are finite.
SMALLEST_MIXTURE = 1e-30


def ratios(data: Array, mixture: Array) -> Array:
    """Return ``data / mixture``, and zero for words that the model cannot produce."""
    possible = mixture > SMALLEST_MIXTURE
    return np.where(possible, data / np.where(possible, mixture, 1), 0)


class Folding(NamedTuple):
    """Parameters of ``fold_in``, as plain numbers that every backend accepts."""

    smoothing: float = 0.0  # pseudo-count added to each component of each row
    inverse_temperature: float = 1.0
    max_steps: int = 100
    tolerance: float = 1e-6  # a row has converged if the sum of its changes is smaller


class Paths(NamedTuple):
    """Nodes on the path of each class, listed by class and again by node, with the weight of each pair.

    Class c has the places ``ends[c]`` to ``ends[c + 1]`` of ``nodes`` and ``weights``; node v has the places
    ``node_ends[v]`` to ``node_ends[v + 1]`` of ``classes`` and ``node_weights``.
    """

    ends: Array
    nodes: Array
    weights: Array
    node_ends: Array
    classes: Array
    node_weights: Array


class SparseRows(NamedTuple):
    """Classes with a non-negligible share of each document, and the shares P(c|d).

    Document d has the places ``ends[d]`` to ``ends[d + 1]`` of ``classes`` and ``values``.
    """

    ends: Array
    classes: Array
    values: Array


# Each step of ``fold_in`` but the last goes this many times as far as EM would. Below 2 the iteration cannot lose the
# optimum (EM's own rate lies between 0 and 1), and just below it needs little more than half of EM's steps.
FOLDING_STRIDE = 1.8

# ``categorise`` extrapolates after every two steps; a class keeps at least this share of its weight.
MIN_LEAP_SHARE = 0.1


class Kernels:
    """Functions of one backend by their names; functions that it lacks are those of the reference."""

    def __init__(self, name: str, functions: Mapping[str, Callable[..., Any]]) -> None:
        self.name, self.functions = name, dict(functions)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a function."""
        try:
            return self.__dict__["functions"][name]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(f"no kernel is named {name!r}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the record by its name: functions are loaded again in the other process."""
        return load, (self.name,)


@functools.cache
def _load_functions(name: str) -> Kernels:
    """Import the functions of all groups; the compiler is imported on the first call."""
    functions: dict[str, Callable[..., Any]] = {}
    for backend in ("reference", "compiled")[: 1 if name == "reference" else 2]:
        try:
            modules = [import_module(f"topiarist.kernels.{group}.{backend}") for group in GROUPS]
        except ImportError as error:  # numba supports a new Python some weeks after its release
            warnings.warn(f"numba cannot be imported ({error}); the reference is many times slower.", stacklevel=3)
            return Kernels("reference", functions)
        for module in modules:
            functions |= {
                key: value for key, value in vars(module).items()
                if getattr(value, "__module__", "") == module.__name__ and not key.startswith("_") and key != "prepare"
            }  # fmt: skip
    return Kernels(backend, functions)


def load(name: str = "compiled") -> Kernels:
    """Return the kernels of a backend; always the same object."""
    if name not in ("compiled", "reference"):
        raise ValueError(f"expected kernels 'compiled' or 'reference', got {name!r}")
    return _load_functions(name)
