"""Values to JSON and back: what JSON has as it is, everything else with a tag, arrays by the name they are stored by.

    {"is": "tuple", "items": […]}               {"is": "array", "name": "fitted.history_", "dtype": …, "shape": …}
    {"is": "value", "class": "Tree", …}         {"is": "model", "class": "PLSA", "parameters": {…}, "fitted": {…}}

Only what is in ``registry`` is ever made. Nothing is guessed: a value of another type is refused when it is written,
and a tag, a class or a field that is not known is refused when it is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from topiarist.errors import UsageError
from topiarist.store.arrays import ArrayReader, ArrayWriter
from topiarist.store.kinds import (
    ESTIMATORS,
    FORMER_NAMES,
    SHAPES_OF_VALUES,
    VALUES,
    check_estimator,
    check_shapes,
    estimator_kind,
    estimator_name,
    loaded,
    value_name,
)

NOT_KEPT = ("executor",)  # parameters that belong to a process: None when the model comes back
FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
DTYPES = {"float": float, "float32": np.float32, "float64": np.float64}  # as the parameter ``dtype`` may name them
TWISTER = 624  # numbers in the state of a RandomState


class Writer:
    """Turns values into JSON, and collects the arrays in them."""

    def __init__(self) -> None:
        self._arrays = ArrayWriter()
        self.arrays = self._arrays.arrays

    def estimator(self, model: Any, where: str = "") -> dict[str, Any]:
        """A model: its class, the parameters it was made with, and what it has learned."""
        name = estimator_name(model)
        if name is None:
            raise UsageError(
                f"cannot save {where or 'the model'}: {type(model).__name__} is not a class that is kept in files",
                hint=f"one of {', '.join(ESTIMATORS)} itself, no subclass of it",
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
            return self._arrays.written(value, where)
        if isinstance(value, np.generic):
            return {"is": "scalar", "of": self._arrays.written(np.asarray(value), where)}
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

    def _ours(self, value: Any, where: str) -> dict[str, Any]:
        name = value_name(value)
        if name is not None:
            parts = {part.name: self.value(getattr(value, part.name), f"{where}.{part.name}") for part in fields(value)}
            return {"is": "value", "class": name, "fields": parts}
        if estimator_name(value) is not None:
            return self.estimator(value, where)
        what, _, attribute = where.partition(".")
        raise UsageError(
            f"cannot save {attribute} ({'a parameter' if what == 'parameters' else 'fitted'}): "
            f"a {type(value).__module__}.{type(value).__qualname__} is not kept in files",
            hint="random_state as a number" if "random_state" in attribute else "set_params with a plain value",
        )


class Reader:
    """Turns what ``Writer`` made into values. Raises ValueError, TypeError or KeyError for anything else."""

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self._arrays = ArrayReader(arrays)

    def estimator(self, data: Mapping[str, Any], *, complete: bool = True) -> Any:
        """A model; ``complete``: one that has learned something."""
        kind = estimator_kind(data["class"])
        if kind is None:
            raise ValueError(f"there is no model of the class {data['class']!r}")
        made = kind.type
        unknown = sorted(set(data["parameters"]) - set(made().get_params(deep=False)))
        if unknown:
            raise ValueError(f"{data['class']} has no parameter {unknown[0]!r}")
        model = made(**{name: self.value(value) for name, value in data["parameters"].items()})
        for name, value in data["fitted"].items():
            _check_name(made, name)
            vars(model)[FORMER_NAMES.get(name, name)] = self.value(value)
        if complete or data["fitted"]:
            check_estimator(model, kind)
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

    def _array(self, data: Mapping[str, Any]) -> Any:
        return self._arrays.read(data)

    def _texts(self, data: Mapping[str, Any]) -> Any:
        return self._arrays.read(data)

    def _scalar(self, data: Mapping[str, Any]) -> Any:
        array = self._arrays.read(data["of"])
        return array[()]

    def _csr(self, data: Mapping[str, Any]) -> Any:
        parts = tuple(self._arrays.read(data[name]) for name in ("data", "indices", "indptr"))
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
        if data["class"] not in VALUES:
            raise ValueError(f"there is no value of the class {data['class']!r}")
        made = loaded(VALUES[data["class"]])
        value = made(**{name: self.value(value) for name, value in data["fields"].items()})
        check_shapes(value, SHAPES_OF_VALUES.get(data["class"], {}), {})
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
