"""Compressed files, unpacked while they are read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from typing import BinaryIO, cast

from topiarist.text.extract.limits import Source

_OPENERS: dict[str, Callable[[str | BinaryIO], BinaryIO]] = {
    ".gz": lambda source: cast(BinaryIO, gzip.open(source)),  # noqa: SIM115 - closed by the caller
    ".xz": lambda source: cast(BinaryIO, lzma.open(source)),  # noqa: SIM115
    ".bz2": lambda source: cast(BinaryIO, bz2.open(source)),  # noqa: SIM115
}
PACKINGS = frozenset(_OPENERS)


def unpacked(source: Source, packing: str = "") -> BinaryIO:
    """The bytes of a file, whose compression its suffix tells; none if that is empty."""
    if packing:
        return _OPENERS[packing](source)
    return source if isinstance(source, io.BytesIO) else io.BufferedReader(io.FileIO(source))
