"""Arrays in a safetensors file: written at once, opened without reading them.

The reader of the library copies (200 MB for a file of 200 MB), so the library checks a file, and the arrays are mapped
by the offsets in its header: opening takes no memory. The writer of the library makes another copy, or a file that only
its owner can read. The header is a line of JSON, written here: the same bytes for the same arrays.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from safetensors import SafetensorError, safe_open

from topiarist.arrays import Array
from topiarist.counts.scratch import iterate_arrays
from topiarist.errors import DamagedError, UsageError, to_limit_error
from topiarist.storage.sealed_folder import new_file

TYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"), "F32": np.dtype("<f4"), "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"), "I32": np.dtype("<i4"), "I16": np.dtype("<i2"), "I8": np.dtype("i1"),
    "U64": np.dtype("<u8"), "U32": np.dtype("<u4"), "U16": np.dtype("<u2"), "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}  # fmt: skip
NAMES = {dtype: name for name, dtype in TYPES.items()}
METADATA = "__metadata__"
PREFIX = 8  # bytes of the length of the header
LINE = 64  # the first array begins on a cache line


def write_tensors(path: str | Path, arrays: Mapping[str, Array], metadata: Mapping[str, str] | None = None) -> None:
    """Write arrays to a temporary file, which is renamed when it is on disk.

    They are read as C-contiguous arrays of the same type and values.
    """
    stored = {name: _to_stored(name, array) for name, array in arrays.items()}
    # the widest first: then every array lies on a multiple of its own items
    order = sorted(stored, key=lambda name: (-stored[name].itemsize, name))
    header: dict[str, Any] = {METADATA: dict(sorted(metadata.items()))} if metadata else {}
    place = 0
    for name in order:
        array = stored[name]
        offsets = [place, place := place + array.nbytes]
        header[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape), "data_offsets": offsets}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(PREFIX + len(text)) % LINE)
    with new_file(path, sync=True) as file:
        file.write(len(text).to_bytes(PREFIX, "little"))
        file.write(text)
        for name in order:
            for (part,) in iterate_arrays(stored[name].reshape(-1)):
                file.write(part.view(np.uint8).data)


def map_tensors(path: str | Path) -> dict[str, Array]:
    """Return the arrays of a file, memory-mapped and private: they can be changed, the file never changes."""
    try:
        with safe_open(path, framework="numpy"):  # reads the header, and refuses what does not fit the file
            pass
        with open(path, "rb") as file:
            header, start = _read_header(file)
        header.pop(METADATA, None)
        size = Path(path).stat().st_size - start
        return {name: _map_array(path, start, size, entry) for name, entry in header.items()}
    except (SafetensorError, OSError, ValueError, TypeError, KeyError, MemoryError) as error:
        if limit_error := to_limit_error(error, str(path)):
            raise limit_error from error
        raise DamagedError(
            f"{path} is not a file of arrays that can be read: {error}",
            hint="Use a copy of the file, or write it again.",
        ) from error


def _to_stored(name: str, array: Array) -> Array:
    """Return an array in C order and little-endian; raise UsageError for other types."""
    array = np.asarray(array)
    stored_dtype = array.dtype.newbyteorder("<")
    if name == METADATA or stored_dtype not in NAMES:
        raise UsageError(f"cannot write an array called {name!r} of type {array.dtype}", hint="Use numbers or bool.")
    return np.asarray(array, stored_dtype, order="C")


def _read_header(file: BinaryIO) -> tuple[dict[str, Any], int]:
    """Return the header of a file and the position of its arrays."""
    size = int.from_bytes(file.read(PREFIX), "little")
    return dict(json.loads(file.read(size))), PREFIX + size


def _map_array(path: str | Path, start: int, size: int, entry: Mapping[str, Any]) -> Array:
    """Return an array with a memory map for itself, because SciPy copies small parts of larger maps.

    Arrays begin at ``start``, and have ``size`` bytes together.
    """
    dtype, shape, (first, last) = TYPES[entry["dtype"]], tuple(entry["shape"]), entry["data_offsets"]
    if not 0 <= first <= last <= size or last - first != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"an array of shape {shape} in bytes {first} to {last} of {size}")
    if first == last:
        return np.empty(shape, dtype)
    if dtype == np.bool_ and np.memmap(path, np.uint8, "r", start + first, (last - first,)).max(initial=0) > 1:
        raise ValueError("a truth value that is neither 0 nor 1")
    array = np.asarray(np.memmap(path, dtype, "c", start + first, shape))
    return array if array.flags.aligned else array.copy()  # a file of another program
