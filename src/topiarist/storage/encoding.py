"""Models and values as JSON: types that JSON lacks have a tag, arrays the name of a tensor.

    {"is": "tuple", "items": […]}               {"is": "array", "name": "fitted.history_", "dtype": …, "shape": …}
    {"is": "value", "class": "Tree", …}         {"is": "model", "class": "PLSA", "parameters": {…}, "fitted": {…}}

Only the classes of a ``Registry`` are created. A value of another type cannot be written, and an unknown tag, class or
field cannot be read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Protocol

import numpy as np

from topiarist.arrays import Array
from topiarist.errors import UsageError
from topiarist.storage.array_files import RowFile
from topiarist.storage.tensors import NAMES, TYPES

KINDS = {dtype.name: dtype.newbyteorder("=") for dtype in TYPES.values()}
MAX_TEXT = 1 << 28  # characters of an array of texts, in which each takes the space of the longest
PLAIN_TYPES = (type(None), bool, int, float, str)
PROCESS_PARAMETERS = ("executor",)  # parameters of a process: None after loading
FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
DTYPES = {"float": float, "float32": np.float32, "float64": np.float64}  # values of the parameter ``dtype``
MERSENNE_STATE_SIZE = 624  # numbers in the state of a RandomState


class Registry(Protocol):
    """Classes that files can name: a model has parameters and learned attributes, a value has fields."""

    def names(self) -> list[str]:
        """Return the names of all models."""

    def name_of(self, thing: Any) -> tuple[str, str] | None:
        """Return the kind of an object, "model" or "value", and the name of its class; None for other classes."""

    def class_of(self, kind: str, name: str) -> Any:
        """Return the class of a name; ValueError for an unknown name."""

    def check(self, kind: str, name: str, thing: Any) -> None:
        """Raise ValueError if the arrays of an object do not fit each other."""


class Writer:
    """Encoder of values as JSON that collects their arrays; arrays with the same memory are stored once."""

    def __init__(self, registry: Registry) -> None:
        self.arrays: dict[str, Array] = {}
        self._registry = registry
        self._stored_names: dict[tuple[Any, ...], str] = {}

    def estimator(self, model: Any, where: str = "") -> dict[str, Any]:
        """Return a model as JSON: class, parameters and learned attributes. Raise UsageError if unknown."""
        kind, name = self._registry.name_of(model) or ("", "")
        if kind != "model":
            raise UsageError(
                f"cannot save {where or 'the model'}: {type(model).__name__} is not a class that is kept in files",
                hint=f"Use one of {', '.join(self._registry.names())} itself instead of a subclass.",
            )
        prefix = f"{where}." if where else ""
        parameters = {
            key: None if key in PROCESS_PARAMETERS else value for key, value in model.get_params(deep=False).items()
        }
        fitted = {key: value for key, value in vars(model).items() if key not in parameters}
        return {
            "is": "model",
            "class": name,
            "parameters": {key: self.value(parameters[key], f"{prefix}parameters.{key}") for key in sorted(parameters)},
            "fitted": {key: self.value(fitted[key], f"{prefix}fitted.{key}") for key in sorted(fitted)},
        }

    def value(self, value: Any, where: str) -> Any:
        """Return a value of a supported type as JSON; ``where`` is its name, for arrays and for errors."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"is": "float", "value": str(value)}
        if type(value) is list:
            return self._encode_items(value, where)
        if type(value) is tuple:
            return {"is": "tuple", "items": self._encode_items(value, where)}
        if type(value) is dict:
            pairs = [self._encode_items(pair, f"{where}.{place}") for place, pair in enumerate(value.items())]
            return {"is": "dict", "items": pairs}
        return self._encode_numeric(value, where) or self._encode_registered(value, where)

    def _encode_items(self, values: Any, where: str) -> list[Any]:
        return [self.value(value, f"{where}.{place}") for place, value in enumerate(values)]

    def _encode_numeric(self, value: Any, where: str) -> dict[str, Any] | None:
        """Return the JSON form of an array, number, type or random state; None for other values."""
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, RowFile):  # read as an array
            return self._array(value.load(), where)
        if isinstance(value, np.generic):
            return {"is": "scalar", "of": self._array(np.asarray(value), where)}
        if isinstance(value, np.dtype) or (isinstance(value, type) and value in DTYPES.values()):
            name = value.name if isinstance(value, np.dtype) else value.__name__
            if name in DTYPES:
                return {"is": "dtype", "name": name, "type": isinstance(value, type)}
        if type(value) is np.random.RandomState:
            state = value.get_state(legacy=False)
            return {"is": "random_state", "state": self.value(state, where)}
        return None

    def _array(self, array: Array, name: str) -> dict[str, Any]:
        """Store an array in ``arrays`` and return its JSON entry; raise UsageError for other types.

        Column-major order is kept: sums over rows differ in bits between the two orders.
        """
        if array.dtype.kind in "UO":
            return _encode_texts(array, name)
        if array.dtype.newbyteorder("<") not in NAMES:
            raise UsageError(f"cannot save {name}: an array of {array.dtype} is not kept in files", hint="Use numbers.")
        by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        stored = np.asarray(array.T if by_columns else array, order="C")
        key = (stored.ctypes.data, stored.shape, stored.dtype.str) if stored.size else (name,)
        stored_name = self._stored_names.setdefault(key, name)
        self.arrays[stored_name] = stored
        return {
            "is": "array",
            "name": stored_name,
            "dtype": array.dtype.newbyteorder("=").name,
            "shape": list(array.shape),
            "order": "F" if by_columns else "C",
        }

    def _encode_registered(self, value: Any, where: str) -> dict[str, Any]:
        """Return the JSON form of a registered class; raise UsageError for other classes."""
        kind, name = self._registry.name_of(value) or ("", "")
        if kind == "value":
            parts = {part.name: self.value(getattr(value, part.name), f"{where}.{part.name}") for part in fields(value)}
            return {"is": "value", "class": name, "fields": parts}
        if kind == "model":
            return self.estimator(value, where)
        group, _, attribute = where.partition(".")
        raise UsageError(
            f"cannot save {attribute} ({'a parameter' if group == 'parameters' else 'fitted'}): "
            f"a {type(value).__module__}.{type(value).__qualname__} is not kept in files",
            hint="Use a number as random_state."
            if "random_state" in attribute
            else "Use set_params with a plain value.",
        )


class Reader:
    """Decoder of the JSON of ``Writer``; ValueError, TypeError or KeyError for any other JSON."""

    def __init__(self, arrays: Mapping[str, Array], registry: Registry) -> None:
        self._arrays, self._registry = arrays, registry

    def estimator(self, data: Mapping[str, Any], *, complete: bool = True) -> Any:
        """Return a model; ``complete``: it must have learned attributes."""
        model_class = self._registry.class_of("model", data["class"])
        known_names, given_names = model_class().get_params(deep=False).keys(), data["parameters"].keys()
        if unknown := sorted(given_names - known_names):
            raise ValueError(f"{data['class']} has no parameter {unknown[0]!r}")
        if missing := sorted(known_names - given_names):
            raise ValueError(f"the parameter {missing[0]!r} of {data['class']} is missing")
        model = model_class(**{name: self.value(value) for name, value in data["parameters"].items()})
        for name, value in data["fitted"].items():
            _check_name(model_class, name)
            vars(model)[name] = self.value(value)
        if complete or data["fitted"]:
            self._registry.check("model", data["class"], model)
        return model

    def value(self, data: Any) -> Any:
        """Return the value of its JSON form; raise ValueError for an unknown tag."""
        if data is None or isinstance(data, bool | int | float | str):
            return data
        if isinstance(data, list):
            return list(map(self.value, data))
        method = getattr(self, f"_{data['is']}", None) if data["is"] in TAGS else None
        if method is None:
            raise ValueError(f"an unknown entry {data['is']!r}")
        return method(data)

    def _float(self, data: Mapping[str, Any]) -> float:
        return FLOATS[data["value"]]

    def _tuple(self, data: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(map(self.value, data["items"]))

    def _dict(self, data: Mapping[str, Any]) -> dict[Any, Any]:
        return {self.value(key): self.value(value) for key, value in data["items"]}

    def _array(self, data: Mapping[str, Any]) -> Array:
        """Return a stored array; raise ValueError if its type or shape is not the recorded one."""
        array = self._arrays[data["name"]]
        shape = tuple(data["shape"])
        if data["order"] == "F":
            array = array.T
        if array.shape != shape or array.dtype != KINDS[data["dtype"]]:
            fault = f"{array.dtype} of shape {array.shape}, and not {data['dtype']} of shape {shape}"
            raise ValueError(f"{data['name']} is {fault}")
        return array

    def _texts(self, data: Mapping[str, Any]) -> Array:
        """Return an array of texts; raise ValueError if it is too large or a text is invalid."""
        items, shape, width = data["items"], tuple(data["shape"]), data["width"]
        if not all(map(_is_plain, items)):
            raise ValueError("an invalid text")
        if width is None:
            array = np.empty(len(items), object)
            array[:] = items
            return array.reshape(shape)
        max_length = max(map(len, items), default=0)
        if type(width) is not int or not 0 <= width * len(items) <= MAX_TEXT or max_length > width:
            raise ValueError(f"{len(items)} texts of {width} characters")
        return np.array(items, dtype=f"<U{width}").reshape(shape)

    def _any_array(self, data: Mapping[str, Any]) -> Array:
        """Return an array of numbers or texts; other entries are errors."""
        if data["is"] not in ("array", "texts"):
            raise ValueError(f"an unknown entry {data['is']!r} in the place of an array")
        return self._array(data) if data["is"] == "array" else self._texts(data)

    def _scalar(self, data: Mapping[str, Any]) -> Any:
        return self._any_array(data["of"])[()]

    def _dtype(self, data: Mapping[str, Any]) -> Any:
        dtype = DTYPES[data["name"]]
        return dtype if data["type"] else np.dtype(dtype)

    def _random_state(self, data: Mapping[str, Any]) -> np.random.RandomState:
        """Return a Mersenne Twister in its stored state; raise ValueError if the state is invalid."""
        state = self._dict(data["state"])
        mersenne = state["state"]
        key, position = mersenne["key"], mersenne["pos"]
        if (
            state["bit_generator"] != "MT19937"
            or key.shape != (MERSENNE_STATE_SIZE,)
            or not 0 <= position <= MERSENNE_STATE_SIZE
        ):
            raise ValueError("an invalid random_state")
        restored = np.random.RandomState()
        restored.set_state(state)
        return restored

    def _value(self, data: Mapping[str, Any]) -> Any:
        """Return a registered value; raise ValueError if its fields are invalid."""
        value_class = self._registry.class_of("value", data["class"])
        value = value_class(**{name: self.value(value) for name, value in data["fields"].items()})
        self._registry.check("value", data["class"], value)
        return value

    def _model(self, data: Mapping[str, Any]) -> Any:
        return self.estimator(data, complete=False)


TAGS = frozenset(("array", "dict", "dtype", "float", "model", "random_state", "scalar", "texts", "tuple", "value"))


def _check_name(model_class: Any, name: str) -> None:
    """Raise ValueError for a name without a learned attribute."""
    existing = getattr(model_class, name, None)
    is_learned = name.isidentifier() and name.endswith("_") != name.startswith("_")
    if not is_learned or callable(existing) or isinstance(existing, property):
        raise ValueError(f"{model_class.__name__} has no learned attribute called {name!r}")


def _encode_texts(array: Array, name: str) -> dict[str, Any]:
    """Return the entry of an array of texts or objects, such as labels. Raise UsageError for other values."""
    texts = [text.item() if isinstance(text, np.generic) else text for text in array.reshape(-1).tolist()]
    invalid = next((text for text in texts if not _is_plain(text)), None)
    if invalid is not None:
        raise UsageError(f"cannot save {name}: it holds {invalid!r:.60}", hint="Use whole numbers or texts.")
    width = array.dtype.itemsize // 4 if array.dtype.kind == "U" else None
    if (width or 0) * len(texts) > MAX_TEXT:
        raise UsageError(f"cannot save {name}: {len(texts):,} texts of {width:,} characters", hint="Use shorter texts.")
    return {"is": "texts", "items": texts, "shape": list(array.shape), "width": width}


def _is_plain(item: Any) -> bool:
    return type(item) in PLAIN_TYPES and (type(item) is not float or math.isfinite(item))
