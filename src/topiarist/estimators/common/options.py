"""The options that estimators share: one text and one check for each, and the engine that they ask for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Protocol, TypeVar

import numpy as np

from topiarist.arrays import Csr, Dtype, DTypeLike, Seed
from topiarist.counts.room import pieces
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.models.engine import load_kernels
from topiarist.models.engine.host import Engine
from topiarist.scale.executors import Executor
from topiarist.scale.threads import Threads

# In double precision a fit is exact to the last digits anybody will look at; above this many products of non-zeros and
# components single precision is twice as fast, takes half the memory, and changes the objective by less than 1e-6.
SINGLE_PRECISION_FROM = 20_000_000
LARGEST_SINGLE_COUNT = 1e7  # its ratio to the smallest mixture still is a single-precision number


def check_integer(name: str, value: object, least: int, hint: str = "") -> int:
    """A whole number, at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise UsageError(f"{name} must be a whole number of at least {least}, got {value!r}", hint=hint)
    return int(value)


def check_number(name: str, value: object, least: float, most: float = np.inf, hint: str = "") -> float:
    """A finite number between ``least`` and ``most``."""
    number = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    if not least <= number <= most or math.isinf(number):
        bounds = f"of at least {least:g}" if most == np.inf else f"between {least:g} and {most:g}"
        raise UsageError(f"{name} must be a number {bounds}, got {value!r}", hint=hint)
    return number


def check_one_of(name: str, value: object, choices: tuple[object, ...]) -> object:
    """One of a few values."""
    if not any(value is choice or (type(value) is type(choice) and value == choice) for choice in choices):
        raise UsageError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")
    return value


def check_plain(estimator: object, what: str, otherwise: str = "", **plain: object) -> None:
    """Options that must have these values, because ``what`` was asked for."""
    for name, value in plain.items():
        if getattr(estimator, name) != value:
            raise UsageError(
                f"{name}={getattr(estimator, name)!r} does not go with {what}",
                hint=f"{name}={value!r}, or {otherwise or f'without {what}'}",
            )


def check_device(device: object) -> None:
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


def check_dtype(dtype: object) -> Dtype:
    """Single or double precision."""
    try:
        chosen: Dtype | None = np.dtype(dtype)  # type: ignore[call-overload]
    except TypeError:
        chosen = None
    if chosen is None or chosen not in (np.float32, np.float64):
        raise UsageError(f"dtype must be 'float32', 'float64' or None, got {dtype!r}", hint="None chooses by size")
    return chosen


def working_dtype(dtype: DTypeLike | None, counts: Csr, n_components: int) -> Dtype:
    """The precision of a fit: as asked, or double for small problems and large counts, single for large problems."""
    largest = max((float(part.max()) for (part,) in pieces(counts.data)), default=0.0)
    return precision(dtype, counts.nnz, largest, n_components)


def precision(dtype: DTypeLike | None, nnz: int, largest: float, n_components: int) -> Dtype:
    """The same, from the number of counts and the largest of them."""
    if dtype is None:
        small = nnz * n_components < SINGLE_PRECISION_FROM or largest > LARGEST_SINGLE_COUNT
        return np.dtype(np.float64 if small else np.float32)
    chosen = check_dtype(dtype)
    if chosen == np.float32 and largest > LARGEST_SINGLE_COUNT:
        raise InputError(
            f"in single precision a count may be {LARGEST_SINGLE_COUNT:g} at most, got {largest:g}",
            hint="dtype='float64', or None to have it chosen",
        )
    return chosen


def check_executor(executor: object) -> None:
    """None, or something that can add up blocks."""
    if executor is not None and not callable(getattr(executor, "total", None)):
        raise UsageError(
            f"executor must be None or an object with a method total(function, blocks, local), got {executor!r}",
            hint="leave it out: the fit runs in this process",
        )


def check_random_state(random_state: object) -> None:
    """What scikit-learn takes as a seed."""
    from sklearn.utils import check_random_state as check  # a second to load: nobody needs it who only looks at a tree

    check(random_state)


def generator(random_state: Seed) -> np.random.Generator:
    """The generator that scikit-learn's ``random_state`` stands for."""
    from sklearn.utils import check_random_state as check

    return np.random.default_rng(check(random_state).randint(2**31))


@dataclass(frozen=True)
class Option:
    """An option that estimators share: what it may be, what it does, and what refuses other values."""

    kind: str
    text: str  # in lines of a docstring
    check: Callable[[object], object]
    nullable: bool = False  # None needs no check


COMMON = {
    "dtype": Option(
        '"float32", "float64" or None',
        "Precision. None: double for small problems, single for large ones.",
        check_dtype,
        nullable=True,
    ),
    "max_iter": Option("int", "EM steps at most.", lambda value: check_integer("max_iter", value, 1)),
    "tol": Option(
        "float",
        "Stop when two successive steps each gain less than this, in nats a token.",
        lambda value: check_number("tol", value, 0.0),
    ),
    "random_state": Option(
        "int, RandomState or None",
        "Seed.\nAn int: the same data give the same bits, on any number of threads. None: NumPy's global generator.",
        check_random_state,
        nullable=True,
    ),
    "device": Option(
        '"cpu" or "cuda"',
        "Where to compute. A CUDA device gives the same bits every time, but not those of the processor.",
        check_device,
    ),
    "n_threads": Option(
        "int or None",
        "Threads; None uses every core.",
        lambda value: check_integer("n_threads", value, 1, hint="None uses every core"),
        nullable=True,
    ),
    "executor": Option(
        "InProcess, DaskExecutor or None",
        "Where blocks of documents are computed; None is this process. See docs/how-to/scale.md.",
        check_executor,
        nullable=True,
    ),
    "verbose": Option("int or bool", "Draw a progress bar.", lambda value: value),
}

E = TypeVar("E", bound=type)


def seed_of(what: str) -> str:
    """The text of ``random_state`` where it is known what is drawn."""
    return COMMON["random_state"].text.replace("Seed.", f"Seed of {what}.")


def common_options(**own: str) -> Callable[[E], E]:
    """Fill the common options of a class into its docstring, after its own: the text of each is written once.

    ``own`` replaces a text where an estimator has more, or less, to say. Signatures stay as they are written: that is
    what ``clone`` and ``get_params`` read.
    """

    def filled(estimator: E) -> E:
        if estimator.__doc__:  # there is none under python -OO
            defaults = estimator.__init__.__kwdefaults__  # type: ignore[misc]
            lines = [
                _described(name, own.get(name, COMMON[name].text), defaults) for name in COMMON if name in defaults
            ]
            before, mark, after = estimator.__doc__.partition("\n\n    Attributes\n")
            estimator.__doc__ = "\n    ".join([before, *lines]) + mark + after
        return estimator

    return filled


def _described(name: str, text: str, defaults: dict[str, object]) -> str:
    default = "" if defaults[name] in (None, "cpu") else f", default {defaults[name]!r}"
    return "\n        ".join([f"{name} : {COMMON[name].kind}{default}", *text.split("\n")])


def check_common(estimator: object, *names: str) -> None:
    """Refuse what a common option cannot be: of those named, or of all that the estimator has."""
    for name in names or COMMON:
        value = getattr(estimator, name, None)
        if value is not None or (not COMMON[name].nullable and hasattr(estimator, name)):
            COMMON[name].check(value)


class Runs(Protocol):
    """What an estimator must have to be run."""

    device: str
    n_threads: int | None
    executor: Executor | None


@contextmanager
def running(estimator: Runs) -> Iterator[Engine]:
    """The engine that an estimator's ``device`` and ``n_threads`` ask for.

    Known classes and labels are too few to keep a device busy (``_on_host``): one that was asked for must be there, and
    rests.
    """
    check_common(estimator, "device", "n_threads", "executor")
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
                hint="counts in a BlockStore, fewer components, dtype='float32', or device='cpu'",
            ) from error
