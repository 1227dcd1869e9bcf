"""The options all estimators share, checked once: what was expected, what came, what to try."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np

from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.models.engine import load_kernels
from topiarist.models.engine.host import Engine
from topiarist.scale.threads import Threads

# In double precision a fit is exact to the last digits anybody will look at; above this many products of non-zeros and
# components single precision is twice as fast, takes half the memory, and changes the objective by less than 1e-6.
SINGLE_PRECISION_FROM = 20_000_000
LARGEST_SINGLE_COUNT = 1e7  # its ratio to the smallest mixture still is a single-precision number


def check_integer(name: str, value: Any, least: int, hint: str = "") -> int:
    """A whole number, at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise UsageError(f"{name} must be a whole number of at least {least}, got {value!r}", hint=hint)
    return int(value)


def check_number(name: str, value: Any, least: float, most: float = np.inf, hint: str = "") -> float:
    """A finite number between ``least`` and ``most``."""
    number = float(value) if isinstance(value, Real) and value is not True and value is not False else math.nan
    if not least <= number <= most or math.isinf(number):
        bounds = f"of at least {least:g}" if most == np.inf else f"between {least:g} and {most:g}"
        raise UsageError(f"{name} must be a number {bounds}, got {value!r}", hint=hint)
    return number


def check_one_of(name: str, value: Any, choices: tuple[Any, ...]) -> Any:
    """One of a few values."""
    if not any(value is choice or (type(value) is type(choice) and value == choice) for choice in choices):
        raise UsageError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")
    return value


def check_plain(estimator: Any, what: str, **plain: Any) -> None:
    """Options that must have these values, because ``what`` was asked for."""
    for name, value in plain.items():
        if getattr(estimator, name) != value:
            raise UsageError(
                f"{name}={getattr(estimator, name)!r} does not go with {what}",
                hint=f"{name}={value!r}, or without {what}",
            )


def check_device(device: Any) -> None:
    """The processor, or a CUDA device if there is one. Only who asks for a device loads what drives it."""
    check_one_of("device", device, ("cpu", "cuda"))
    if device == "cpu":
        return
    try:
        from numba import cuda

        usable = bool(cuda.is_available())  # type: ignore[no-untyped-call]
    except ImportError:
        usable = False
    if not usable:
        raise ResourceError(
            "device='cuda' needs an NVIDIA GPU with its driver and the CUDA toolkit; numba finds none here.",
            hint="pip install 'topiarist[cuda12]' (or cuda13), or leave the option out: the processor fits the same",
        )


def working_dtype(dtype: Any, counts: Any, n_components: int) -> np.dtype[Any]:
    """The precision of a fit: as asked, or double for small problems and large counts, single for large problems."""
    return precision(dtype, counts.nnz, float(counts.data.max(initial=0)), n_components)


def precision(dtype: Any, nnz: int, largest: float, n_components: int) -> np.dtype[Any]:
    """The same, from the number of counts and the largest of them."""
    if dtype is None:
        small = nnz * n_components < SINGLE_PRECISION_FROM or largest > LARGEST_SINGLE_COUNT
        return np.dtype(np.float64 if small else np.float32)
    choices = {np.dtype(name): np.dtype(name) for name in ("float32", "float64")}
    try:
        chosen = choices.get(np.dtype(dtype))
    except TypeError:
        chosen = None
    if chosen is None:
        raise UsageError(f"dtype must be 'float32', 'float64' or None, got {dtype!r}", hint="None chooses by size")
    if chosen == np.float32 and largest > LARGEST_SINGLE_COUNT:
        raise InputError(
            f"in single precision a count may be {LARGEST_SINGLE_COUNT:g} at most, got {largest:g}",
            hint="dtype='float64', or None to have it chosen",
        )
    return chosen


def check_executor(executor: Any) -> None:
    """None, or something that can add up blocks."""
    if executor is not None and not callable(getattr(executor, "total", None)):
        raise UsageError(
            f"executor must be None or an object with a method total(function, blocks, local), got {executor!r}",
            hint="leave it out: the fit runs in this process",
        )


def generator(random_state: Any) -> np.random.Generator:
    """The generator that scikit-learn's ``random_state`` stands for."""
    from sklearn.utils import check_random_state  # a second to load, which nobody needs who only looks at a tree

    return np.random.default_rng(check_random_state(random_state).randint(2**31))


@contextmanager
def running(estimator: Any) -> Iterator[Engine]:
    """The engine that an estimator's ``device`` and ``n_threads`` ask for.

    Known classes and labels are too few to keep a device busy (``_on_host``): one that was asked for must be there, and
    rests.
    """
    check_device(estimator.device)
    if estimator.n_threads is not None:
        check_integer("n_threads", estimator.n_threads, 1, hint="None uses every core")
    check_executor(estimator.executor)
    with Threads(estimator.n_threads) as threads:
        if estimator.device == "cpu" or getattr(estimator, "_on_host", False):
            yield Engine(load_kernels("compiled"), threads)
            return
        from topiarist.models.engine.cuda import CudaEngine

        try:
            yield CudaEngine.start(threads)
        except MemoryError as error:
            raise ResourceError(
                f"the GPU has too little memory for this fit: {error}.",
                hint="fewer components, dtype='float32', or device='cpu'",
            ) from error
