"""Options that estimators share: their descriptions, checks and the engine they ask for."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral, Real
from types import FunctionType
from typing import Protocol, TypeVar, dataclass_transform

import numpy as np

from topiarist.arrays import Csr, Dtype, DTypeLike, Seed
from topiarist.counts.scratch import iterate_arrays
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.execution.blocks import BlockStore
from topiarist.execution.executors import Executor
from topiarist.execution.threads import Threads
from topiarist.models.engine import load_kernels
from topiarist.models.engine.host import Engine

# In double precision a fit is exact to the last digits anybody will look at; above this many products of non-zeros and
# components single precision is twice as fast, takes half the memory, and changes the objective by less than 1e-6.
SINGLE_PRECISION_FROM = 20_000_000
MAX_SINGLE_COUNT = 1e7  # its ratio to the smallest mixture still is a single-precision number


def check_integer(name: str, value: object, minimum: int, hint: str = "") -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        raise UsageError(f"{name} must be a whole number of at least {minimum}, got {value!r}", hint=hint)
    return int(value)


def check_number(name: str, value: object, minimum: float, maximum: float = np.inf, hint: str = "") -> float:
    """Return a value as a number; raise UsageError if it is outside the bounds."""
    number = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    if not minimum <= number <= maximum or math.isinf(number):
        bounds = f"of at least {minimum:g}" if maximum == np.inf else f"between {minimum:g} and {maximum:g}"
        raise UsageError(f"{name} must be a number {bounds}, got {value!r}", hint=hint)
    return number


def check_one_of(name: str, value: object, choices: tuple[object, ...]) -> object:
    if not any(value is choice or (type(value) is type(choice) and value == choice) for choice in choices):
        raise UsageError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")
    return value


def check_required_values(estimator: object, reason: str, alternative: str = "", **plain: object) -> None:
    """Raise UsageError if options do not have the values that ``reason`` requires."""
    for name, value in plain.items():
        if getattr(estimator, name) != value:
            raise UsageError(
                f"{name}={getattr(estimator, name)!r} cannot be used with {reason}",
                hint=f"Use {name}={value!r}, or {alternative or f'omit {reason}'}.",
            )


def check_device(device: object) -> None:
    """Raise an error unless the device is "cpu", or "cuda" and usable."""
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
            hint="Install topiarist[cuda12] or topiarist[cuda13], or use device='cpu'.",
        )


def check_dtype(dtype: object) -> Dtype:
    """Return a value as float32 or float64; raise UsageError for other types."""
    try:
        dtype_or_none: Dtype | None = np.dtype(dtype)  # type: ignore[call-overload]
    except TypeError:
        dtype_or_none = None
    if dtype_or_none is None or dtype_or_none not in (np.float32, np.float64):
        raise UsageError(
            f"dtype must be 'float32', 'float64' or None, got {dtype!r}", hint="Use None to choose it by size."
        )
    return dtype_or_none


def working_dtype(dtype: DTypeLike | None, counts: Csr | BlockStore, n_components: int) -> Dtype:
    """Return the precision of a fit: as asked, or double for small problems and large counts, else single."""
    if isinstance(counts, BlockStore):
        return choose_precision(dtype, counts.nnz, counts.largest, n_components)
    largest = max((float(part.max()) for (part,) in iterate_arrays(counts.data)), default=0.0)
    return choose_precision(dtype, counts.nnz, largest, n_components)


def choose_precision(dtype: DTypeLike | None, nnz: int, largest: float, n_components: int) -> Dtype:
    """Return the precision of a fit from the number of counts and the largest count."""
    if dtype is None:
        small = nnz * n_components < SINGLE_PRECISION_FROM or largest > MAX_SINGLE_COUNT
        return np.dtype(np.float64 if small else np.float32)
    checked_dtype = check_dtype(dtype)
    if checked_dtype == np.float32 and largest > MAX_SINGLE_COUNT:
        raise InputError(
            f"in single precision a count may be {MAX_SINGLE_COUNT:g} at most, got {largest:g}",
            hint="Use dtype='float64', or None to have it chosen.",
        )
    return checked_dtype


def check_executor(executor: object) -> None:
    """Raise UsageError unless the executor is None or has a method ``total``."""
    if executor is not None and not callable(getattr(executor, "total", None)):
        raise UsageError(
            f"executor must be None or an object with a method total(function, blocks, local), got {executor!r}",
            hint="Leave it out to run the fit in this process.",
        )


def check_random_state(random_state: object) -> None:
    from sklearn.utils import check_random_state as check  # a second to load: nobody needs it who only looks at a tree

    check(random_state)


def make_generator(random_state: Seed) -> np.random.Generator:
    from sklearn.utils import check_random_state as check

    return np.random.default_rng(check(random_state).randint(2**31))


@dataclass(frozen=True)
class Option:
    """Shared option: its type, description and check."""

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
    "max_iter": Option("int", "Maximum number of EM steps.", lambda value: check_integer("max_iter", value, 1)),
    "tol": Option(
        "float",
        "Stop when two successive steps each gain less than this, in nats a token.",
        lambda value: check_number("tol", value, 0.0),
    ),
    "random_state": Option(
        "int, RandomState or None",
        "Seed.\nAn int gives the same bits for the same data, on any number of threads. None: NumPy's global generator.",
        check_random_state,
        nullable=True,
    ),
    "device": Option(
        '"cpu" or "cuda"',
        "Device that computes. A CUDA device always gives the same bits, but other bits than the processor.",
        check_device,
    ),
    "n_threads": Option(
        "int or None",
        "Number of threads. None: one for each core.",
        lambda value: check_integer("n_threads", value, 1, hint="Use None for all cores."),
        nullable=True,
    ),
    "executor": Option(
        "InProcess, DaskExecutor or None",
        "Executor of the blocks of documents. None: this process. See docs/how-to/scale.md.",
        check_executor,
        nullable=True,
    ),
    "verbose": Option("int or bool", "Show a progress bar.", lambda value: value),
}

E = TypeVar("E", bound=type)


def describe_seed(purpose: str) -> str:
    """Return the description of ``random_state`` with what is drawn."""
    return COMMON["random_state"].text.replace("Seed.", f"Seed of {purpose}.")


COUNTS_IN_MEMORY = "array or sparse matrix (n_documents, n_words)\nCounts."
POINTS = "array (n_examples, n_features)\nDense features."
ARGUMENTS = {  # of the methods of estimators
    "X": "array, sparse matrix or BlockStore (n_documents, n_words)\nCounts.",
    "y": "object\nIgnored.",
    "vectors": "array (n_documents, n_dimensions) or None\nEmbeddings of the documents; zeros for a document without one.",
    "journal": "Journal or None\nStorage of checkpoints, from which an interrupted fit resumes.",
    "keep_posteriors": "bool, default True\nStore the posteriors and ``labels_`` of a ``BlockStore``. They are large for many"
    " documents.",
    "sample_weight": "array (n_documents,) or None\nWeights of the documents.",
    "rho": "float, default 0.9\nMinimum posterior of the node.",
    "x": "array or sparse matrix of one row\nCounts of one document.",
    "words": "sequence of str or None\nNames of the columns.",
    "n_words": "int, default 8\nMaximum number of words.",
    "n_labels": "int, default 3\nMaximum number of labels to explain.",
}
SECTIONS = re.compile(r"\n\n +(?:Returns|Raises|Notes|Examples)\n")
PARAMETERS, RETURNS = (
    "\n\n        {}\n        {}\n".format(title, "-" * len(title)) for title in ("Parameters", "Returns")
)


@dataclass_transform(eq_default=False)
def estimator(**texts: str) -> Callable[[E], E]:
    """Turn a class into an estimator: annotated attributes become parameters, and shared options are documented.

    ``texts`` replaces the descriptions of some shared options, or of arguments of methods.
    """

    def filled(estimator: E) -> E:
        """Make the class a dataclass, and add the common parameters to its docstring."""
        dataclass(eq=False, repr=False)(estimator)
        if estimator.__doc__:  # there is none under python -OO
            defaults = estimator.__init__.__kwdefaults__  # type: ignore[misc]
            lines = [
                _describe_option(name, texts.get(name, COMMON[name].text), defaults)
                for name in COMMON
                if name in defaults
            ]
            parameters, mark, attributes = estimator.__doc__.partition("\n\n    Attributes\n")
            estimator.__doc__ = "\n    ".join([parameters, *lines]) + mark + attributes
        return describe_arguments(**texts)(estimator)

    return filled


def describe_arguments(**texts: str) -> Callable[[E], E]:
    """Add the descriptions of shared arguments to the docstrings of the public methods of a class."""

    def filled(kind: E) -> E:
        for name, method in vars(kind).items():
            if isinstance(method, FunctionType) and not name.startswith("_") and method.__doc__:
                method.__doc__ = _describe_method(method, ARGUMENTS | texts, kind.__name__)
        return kind

    return filled


def _describe_method(method: FunctionType, texts: dict[str, str], kind: str) -> str:
    """Return a docstring with the shared arguments it leaves out, and with ``self`` if that is returned."""
    doc, annotations = (method.__doc__ or "").rstrip(), method.__annotations__
    missing = [name for name in annotations if name in texts and not re.search(rf"\n +(\w+, )*{name}(, \w+)* : ", doc)]
    if annotations.get("X") == "Matrix" and texts["X"] == ARGUMENTS["X"]:
        texts = texts | {"X": COUNTS_IN_MEMORY}
    lines = "\n        ".join(f"{name} : " + texts[name].replace("\n", "\n            ") for name in missing)
    if lines and PARAMETERS in doc:
        doc = doc.replace(PARAMETERS, f"{PARAMETERS}        {lines}\n", 1)
    elif lines:
        doc = _insert_section(doc, f"{PARAMETERS}        {lines}")
    if annotations.get("return") in ("Self", kind) and RETURNS not in doc:
        summary, mark, parameters = doc.partition(PARAMETERS)
        result = f"{RETURNS}        self\n            The fitted estimator."
        doc = summary + (mark + _insert_section(parameters, result) if mark else result)
    return doc


def _insert_section(doc: str, section: str) -> str:
    found = SECTIONS.search(doc)
    place = len(doc) if found is None else found.start()
    return doc[:place] + section + doc[place:]


def _describe_option(name: str, text: str, defaults: dict[str, object]) -> str:
    default = "" if defaults[name] in (None, "cpu") else f", default {defaults[name]!r}"
    return "\n        ".join([f"{name} : {COMMON[name].kind}{default}", *text.split("\n")])


def check_common(estimator: object, *names: str) -> None:
    """Check the named shared options, or all that the estimator has."""
    for name in names or COMMON:
        value = getattr(estimator, name, None)
        if value is not None or (not COMMON[name].nullable and hasattr(estimator, name)):
            COMMON[name].check(value)


class RunsOnEngine(Protocol):
    """Options that decide which engine runs an estimator."""

    device: str
    n_threads: int | None
    executor: Executor | None


@contextmanager
def open_engine(estimator: RunsOnEngine) -> Iterator[Engine]:
    """Yield the engine for the ``device`` and ``n_threads`` of an estimator.

    Estimators with ``_on_host`` compute on the processor, because known classes are too few for a device. The device
    must exist nevertheless.
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
                hint="Store the counts in a BlockStore, or use fewer components, dtype='float32' or device='cpu'.",
            ) from error
