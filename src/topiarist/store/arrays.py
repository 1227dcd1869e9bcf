"""Arrays as entries of a JSON file: numbers by the name of a tensor beside it, texts in the entry itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from topiarist.errors import UsageError
from topiarist.store.tensors import NAMES, TYPES

Array = np.ndarray[Any, Any]

KINDS = {dtype.name: dtype.newbyteorder("=") for dtype in TYPES.values()}
MOST_TEXT = 1 << 28  # characters in an array of texts: each takes as much as the longest
PLAIN = (type(None), bool, int, float, str)


class ArrayWriter:
    """Collects arrays under names; two that are the same memory are stored once."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._known: dict[tuple[Any, ...], str] = {}

    def written(self, array: Array, name: str) -> dict[str, Any]:
        """The entry of an array.

        The order in memory is kept where it is that of columns: sums over rows of one and the other differ in bits.
        """
        if array.dtype.kind in "UO":
            return self._texts(array, name)
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

    def _texts(self, array: Array, name: str) -> dict[str, Any]:
        """Texts, or an array of objects, as labels and the names of columns are."""
        texts = [text.item() if isinstance(text, np.generic) else text for text in array.reshape(-1).tolist()]
        wrong = next((text for text in texts if not _is_plain(text)), None)
        if wrong is not None:
            raise UsageError(f"cannot save {name}: it holds {wrong!r:.60}", hint="whole numbers or texts")
        width = array.dtype.itemsize // 4 if array.dtype.kind == "U" else None
        if (width or 0) * len(texts) > MOST_TEXT:
            raise UsageError(f"cannot save {name}: {len(texts):,} texts of {width:,} characters", hint="shorter ones")
        return {"is": "texts", "items": texts, "shape": list(array.shape), "width": width}


class ArrayReader:
    """Finds arrays again."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._arrays = arrays

    def read(self, entry: Mapping[str, Any]) -> Array:
        """The array of an entry; ValueError where it is not what the entry says."""
        if entry["is"] == "texts":
            return _texts(entry)
        if entry["is"] != "array":
            raise ValueError(f"an entry that is {entry['is']!r} in the place of an array")
        array = self._arrays[entry["name"]]
        shape = tuple(entry["shape"])
        if entry["order"] == "F":
            array = array.T
        if array.shape != shape or array.dtype != KINDS[entry["dtype"]]:
            said = f"{array.dtype} of shape {array.shape}, and not {entry['dtype']} of shape {shape}"
            raise ValueError(f"{entry['name']} is {said}")
        return array


def _is_plain(item: Any) -> bool:
    return type(item) in PLAIN and (type(item) is not float or math.isfinite(item))


def _texts(entry: Mapping[str, Any]) -> Array:
    items, shape, width = entry["items"], tuple(entry["shape"]), entry["width"]
    if not all(map(_is_plain, items)):
        raise ValueError("a text that is none")
    if width is None:
        array = np.empty(len(items), object)
        array[:] = items
        return array.reshape(shape)
    if type(width) is not int or not 0 <= width * len(items) <= MOST_TEXT or max(map(len, items), default=0) > width:
        raise ValueError(f"{len(items)} texts of {width} characters")
    return np.array(items, dtype=f"<U{width}").reshape(shape)
