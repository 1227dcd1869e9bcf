"""Limits of one document, and the sources and results of parsers."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import BinaryIO, cast

from topiarist.errors import UsageError


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one document, so that none takes the run down.

    The longest novels have three to four million characters: the default of twenty million cuts no book, and the few
    texts in memory at one time stay within some hundred megabytes.
    """

    characters: int = 20_000_000  # of one document; longer texts are cut and reported
    seconds: float = 30.0  # for one PDF, DOCX, HTML page or e-mail, or for the next part of a longer file
    memory_bytes: int = 2 << 30  # address space of one worker process (enforced on Linux)
    unpacked_bytes: int = 256 << 20  # of an unzipped DOCX; a spreadsheet can have four times as much
    archive_bytes: int = 8 << 30  # of all files in an archive and in the archives within it
    archive_members: int = 100_000  # of an archive and of the archives within it
    archive_ratio: int = 200  # maximum ratio of unpacked to packed bytes, beyond the first 64 MB
    archive_depth: int = 4  # archives and messages within each other
    workers: int = 2  # processes that parse at the same time

    def __post_init__(self) -> None:
        for limit in fields(self):
            if not getattr(self, limit.name) > 0:
                raise UsageError(f"Limits({limit.name}=…) must be positive, got {getattr(self, limit.name)!r}")

    @property
    def raw_bytes(self) -> int:
        """Maximum bytes read for one document: four for each character, the most of any encoding in use."""
        return 4 * self.characters


@dataclass(frozen=True, slots=True)
class Attachment:
    """File attached to a message."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Extracted:
    """Result of a parser. `note` names missing parts in words."""

    text: str
    title: str = ""
    date: str = ""  # from the text or its header
    note: str = ""
    attachments: tuple[Attachment, ...] = ()
    scanned: int = 0  # pages without text
    columns: tuple[tuple[str, str], ...] = ()  # names and values
    file_date: str = ""  # creation of the file, which can differ from that of the text


PAGE_END = "\n\f"  # between pages, sections or slides, including empty ones, so that their numbers are right
Facts = dict[str, str | int | float]


@dataclass(frozen=True, slots=True)
class Part:
    """Part of a file of many documents: rows of a table, or a member of an archive."""

    facts: Facts = field(default_factory=dict)
    data: bytes = b""


class ExtractError(Exception):
    """Document that could not be parsed; the message is the reason."""


Source = str | io.BytesIO
Extractor = Callable[[Source, Limits], Extracted]
Options = Mapping[str, str | int | float]  # options of a parser
PartReader = Callable[[Source, Limits, Options], Iterator[Part]]


def read_source(source: Source, limits: Limits) -> tuple[bytes, str]:
    """Return the first bytes of a source, as many as one document can have, and a note if more follow."""
    if isinstance(source, io.BytesIO):
        data = source.read(limits.raw_bytes + 1)
    else:
        with open(source, "rb") as stream:
            data = stream.read(limits.raw_bytes + 1)
    is_cut = len(data) > limits.raw_bytes
    return data[: limits.raw_bytes], f"only the first {limits.raw_bytes:,} bytes were read" if is_cut else ""


def read_start(source: Source, size: int) -> bytes:
    """Return the first bytes of a source without consuming them."""
    if isinstance(source, io.BytesIO):
        return source.getvalue()[:size]
    with open(source, "rb") as stream:
        return stream.read(size)


_UNPACKERS: dict[str, Callable[[str | BinaryIO], BinaryIO]] = {
    ".gz": lambda source: cast(BinaryIO, gzip.open(source)),  # noqa: SIM115 - closed by the caller
    ".xz": lambda source: cast(BinaryIO, lzma.open(source)),  # noqa: SIM115
    ".bz2": lambda source: cast(BinaryIO, bz2.open(source)),  # noqa: SIM115
}
PACKINGS = frozenset(_UNPACKERS)


def open_unpacked(source: Source, packing: str = "") -> BinaryIO:
    """Open a file to read its bytes; ``packing`` is the suffix of its compression, or empty."""
    if packing:
        return _UNPACKERS[packing](source)
    return source if isinstance(source, io.BytesIO) else io.BufferedReader(io.FileIO(source))
