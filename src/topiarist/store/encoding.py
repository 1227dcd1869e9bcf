"""Models and values to JSON and back: what JSON does not have with a tag, arrays by the name of a tensor.

    {"is": "tuple", "items": […]}               {"is": "array", "name": "fitted.history_", "dtype": …, "shape": …}
    {"is": "value", "class": "Tree", …}         {"is": "model", "class": "PLSA", "parameters": {…}, "fitted": {…}}

Only the classes of a ``Registry`` are ever made. Nothing is guessed: a value of another type is refused when it is
written, and a tag, a class or a field that is not known is refused when it is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from topiarist.arrays import Array
from topiarist.errors import UsageError
from topiarist.store.array_files import RowFile
from topiarist.store.tensors import NAMES, TYPES

KINDS = {dtype.name: dtype.newbyteorder("=") for dtype in TYPES.values()}
MOST_TEXT = 1 << 28  # characters in an array of texts: each takes as much as the longest
PLAIN = (type(None), bool, int, float, str)
NOT_KEPT = ("executor",)  # parameters that belong to a process: None when the model comes back
FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
DTYPES = {"float": float, "float32": np.float32, "float64": np.float64}  # as the parameter ``dtype`` may name them
TWISTER = 624  # numbers in the state of a RandomState


class Registry(Protocol):
    """The classes that files may name: a model is made of parameters and learns attributes, a value has fields."""

    def names(self) -> list[str]:
        """Of all models."""

    def name_of(self, thing: Any) -> tuple[str, str] | None:
        """What a thing is, "model" or "value", and what files call its class; None for anything else."""

    def class_of(self, kind: str, name: str) -> Any:
        """The class that files call so; ValueError where there is none."""

    def today(self, name: str) -> str:
        """What an attribute is called that a file of an earlier version may call otherwise."""

    def check(self, kind: str, name: str, thing: Any) -> None:
        """Raise ValueError where the arrays of a thing do not fit each other."""


class Writer:
    """Turns values into JSON, and collects the arrays in them; two that are the same memory are stored once."""

    def __init__(self, registry: Registry) -> None:
        self.arrays: dict[str, Array] = {}
        self._registry = registry
        self._known: dict[tuple[Any, ...], str] = {}

    def estimator(self, model: Any, where: str = "") -> dict[str, Any]:
        """A model: its class, the parameters it was made with, and what it has learned."""
        kind, name = self._registry.name_of(model) or ("", "")
        if kind != "model":
            raise UsageError(
                f"cannot save {where or 'the model'}: {type(model).__name__} is not a class that is kept in files",
                hint=f"one of {', '.join(self._registry.names())} itself, no subclass of it",
            )
        before = f"{where}." if where else ""
        parameters = {key: None if key in NOT_KEPT else value for key, value in model.get_params(deep=False).items()}
        fitted = {key: value for key, value in vars(model).items() if key not in parameters}
        return {
            "is": "model",
            "class": name,
            "parameters": {key: self.value(parameters[key], f"{before}parameters.{key}") for key in sorted(parameters)},
            "fitted": {key: self.value(fitted[key], f"{before}fitted.{key}") for key in sorted(fitted)},
        }

    def value(self, value: Any, where: str) -> Any:
        """Any value that is known; ``where`` is its name, for arrays and for errors."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"is": "float", "value": str(value)}
        if type(value) is list:
            return self._each(value, where)
        if type(value) is tuple:
            return {"is": "tuple", "items": self._each(value, where)}
        if type(value) is dict:
            pairs = [self._each(pair, f"{where}.{place}") for place, pair in enumerate(value.items())]
            return {"is": "dict", "items": pairs}
        return self._numerical(value, where) or self._ours(value, where)

    def _each(self, values: Any, where: str) -> list[Any]:
        return [self.value(value, f"{where}.{place}") for place, value in enumerate(values)]

    def _numerical(self, value: Any, where: str) -> dict[str, Any] | None:
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, RowFile):  # comes back as an array
            return self._array(value.load(), where)
        if isinstance(value, np.generic):
            return {"is": "scalar", "of": self._array(np.asarray(value), where)}
        if isinstance(value, csr_array | csr_matrix):
            parts = {
                name: self.value(getattr(value, name), f"{where}.{name}") for name in ("data", "indices", "indptr")
            }
            kind = "array" if isinstance(value, csr_array) else "matrix"
            return {"is": "csr", "kind": kind, "shape": list(map(int, value.shape)), **parts}
        if isinstance(value, np.dtype) or (isinstance(value, type) and value in DTYPES.values()):
            name = value.name if isinstance(value, np.dtype) else value.__name__
            if name in DTYPES:
                return {"is": "dtype", "name": name, "type": isinstance(value, type)}
        if type(value) is np.random.RandomState:
            state = value.get_state(legacy=False)
            return {"is": "random_state", "state": self.value(state, where)}
        return None

    def _array(self, array: Array, name: str) -> dict[str, Any]:
        """The entry of an array.

        The order in memory is kept where it is that of columns: sums over rows of one and the other differ in bits.
        """
        if array.dtype.kind in "UO":
            return _entry_of_texts(array, name)
        if array.dtype.newbyteorder("<") not in NAMES:
            raise UsageError(f"cannot save {name}: an array of {array.dtype} is not kept in files", hint="numbers")
        by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        stored = np.asarray(array.T if by_columns else array, order="C")
        key = (stored.ctypes.data, stored.shape, stored.dtype.str) if stored.size else (name,)
        known = self._known.setdefault(key, name)
        self.arrays[known] = stored
        return {
            "is": "array",
            "name": known,
            "dtype": array.dtype.newbyteorder("=").name,
            "shape": list(array.shape),
            "order": "F" if by_columns else "C",
        }

    def _ours(self, value: Any, where: str) -> dict[str, Any]:
        kind, name = self._registry.name_of(value) or ("", "")
        if kind == "value":
            parts = {part.name: self.value(getattr(value, part.name), f"{where}.{part.name}") for part in fields(value)}
            return {"is": "value", "class": name, "fields": parts}
        if kind == "model":
            return self.estimator(value, where)
        what, _, attribute = where.partition(".")
        raise UsageError(
            f"cannot save {attribute} ({'a parameter' if what == 'parameters' else 'fitted'}): "
            f"a {type(value).__module__}.{type(value).__qualname__} is not kept in files",
            hint="random_state as a number" if "random_state" in attribute else "set_params with a plain value",
        )


class Reader:
    """Turns what ``Writer`` made into values. Raises ValueError, TypeError or KeyError for anything else."""

    def __init__(self, arrays: Mapping[str, Array], registry: Registry) -> None:
        self._arrays, self._registry = arrays, registry

    def estimator(self, data: Mapping[str, Any], *, complete: bool = True) -> Any:
        """A model; ``complete``: one that has learned something."""
        made = self._registry.class_of("model", data["class"])
        unknown = sorted(set(data["parameters"]) - set(made().get_params(deep=False)))
        if unknown:
            raise ValueError(f"{data['class']} has no parameter {unknown[0]!r}")
        model = made(**{name: self.value(value) for name, value in data["parameters"].items()})
        for name, value in data["fitted"].items():
            _check_name(made, name)
            vars(model)[self._registry.today(name)] = self.value(value)
        if complete or data["fitted"]:
            self._registry.check("model", data["class"], model)
        return model

    def value(self, data: Any) -> Any:
        """The value."""
        if data is None or isinstance(data, bool | int | float | str):
            return data
        if isinstance(data, list):
            return list(map(self.value, data))
        made = getattr(self, f"_{data['is']}", None) if data["is"] in TAGS else None
        if made is None:
            raise ValueError(f"an entry that is {data['is']!r}")
        return made(data)

    def _float(self, data: Mapping[str, Any]) -> float:
        return FLOATS[data["value"]]

    def _tuple(self, data: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(map(self.value, data["items"]))

    def _dict(self, data: Mapping[str, Any]) -> dict[Any, Any]:
        return {self.value(key): self.value(value) for key, value in data["items"]}

    def _array(self, data: Mapping[str, Any]) -> Array:
        array = self._arrays[data["name"]]
        shape = tuple(data["shape"])
        if data["order"] == "F":
            array = array.T
        if array.shape != shape or array.dtype != KINDS[data["dtype"]]:
            said = f"{array.dtype} of shape {array.shape}, and not {data['dtype']} of shape {shape}"
            raise ValueError(f"{data['name']} is {said}")
        return array

    def _texts(self, data: Mapping[str, Any]) -> Array:
        items, shape, width = data["items"], tuple(data["shape"]), data["width"]
        if not all(map(_is_plain, items)):
            raise ValueError("a text that is none")
        if width is None:
            array = np.empty(len(items), object)
            array[:] = items
            return array.reshape(shape)
        longest = max(map(len, items), default=0)
        if type(width) is not int or not 0 <= width * len(items) <= MOST_TEXT or longest > width:
            raise ValueError(f"{len(items)} texts of {width} characters")
        return np.array(items, dtype=f"<U{width}").reshape(shape)

    def _any_array(self, data: Mapping[str, Any]) -> Array:
        """Numbers or texts, where nothing else may stand."""
        if data["is"] not in ("array", "texts"):
            raise ValueError(f"an entry that is {data['is']!r} in the place of an array")
        return self._array(data) if data["is"] == "array" else self._texts(data)

    def _scalar(self, data: Mapping[str, Any]) -> Any:
        return self._any_array(data["of"])[()]

    def _csr(self, data: Mapping[str, Any]) -> Any:
        parts = tuple(self._any_array(data[name]) for name in ("data", "indices", "indptr"))
        rows, columns = data["shape"]
        matrix = {"array": csr_array, "matrix": csr_matrix}[data["kind"]](parts, shape=(rows, columns))
        matrix.check_format(full_check=True)  # columns that are there: sweeps do not ask
        return matrix

    def _dtype(self, data: Mapping[str, Any]) -> Any:
        chosen = DTYPES[data["name"]]
        return chosen if data["type"] else np.dtype(chosen)

    def _random_state(self, data: Mapping[str, Any]) -> np.random.RandomState:
        state = self._dict(data["state"])
        twister = state["state"]
        key, place = twister["key"], twister["pos"]
        if state["bit_generator"] != "MT19937" or key.shape != (TWISTER,) or not 0 <= place <= TWISTER:
            raise ValueError("a random_state that is none")
        restored = np.random.RandomState()
        restored.set_state(state)
        return restored

    def _value(self, data: Mapping[str, Any]) -> Any:
        made = self._registry.class_of("value", data["class"])
        value = made(**{name: self.value(value) for name, value in data["fields"].items()})
        self._registry.check("value", data["class"], value)
        return value

    def _model(self, data: Mapping[str, Any]) -> Any:
        return self.estimator(data, complete=False)


TAGS = frozenset(
    ("array", "csr", "dict", "dtype", "float", "model", "random_state", "scalar", "texts", "tuple", "value")
)


def _check_name(made: Any, name: str) -> None:
    """A name that learned things have: none of a method, a property or a parameter."""
    there = getattr(made, name, None)
    learned = name.isidentifier() and name.endswith("_") != name.startswith("_")
    if not learned or callable(there) or isinstance(there, property):
        raise ValueError(f"{made.__name__} has nothing to learn that is called {name!r}")


def _entry_of_texts(array: Array, name: str) -> dict[str, Any]:
    """Texts, or an array of objects, as labels and the names of columns are."""
    texts = [text.item() if isinstance(text, np.generic) else text for text in array.reshape(-1).tolist()]
    wrong = next((text for text in texts if not _is_plain(text)), None)
    if wrong is not None:
        raise UsageError(f"cannot save {name}: it holds {wrong!r:.60}", hint="whole numbers or texts")
    width = array.dtype.itemsize // 4 if array.dtype.kind == "U" else None
    if (width or 0) * len(texts) > MOST_TEXT:
        raise UsageError(f"cannot save {name}: {len(texts):,} texts of {width:,} characters", hint="shorter ones")
    return {"is": "texts", "items": texts, "shape": list(array.shape), "width": width}


def _is_plain(item: Any) -> bool:
    return type(item) in PLAIN and (type(item) is not float or math.isfinite(item))
