"""How much one document may take, and what comes out of one."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields

from topiarist.errors import UsageError


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that keep one document from taking the run down.

    The longest novels have three to four million characters, so the default of twenty million cuts no book,
    while the few texts in memory at one time stay within some hundred megabytes.
    """

    characters: int = 20_000_000  # of one document; the rest is cut and reported
    seconds: float = 30.0  # for one PDF, DOCX, HTML page or e-mail, or for the next piece of a longer file
    memory_bytes: int = 2 << 30  # address space of one worker process (enforced on Linux)
    unpacked_bytes: int = 256 << 20  # of a DOCX once unzipped; a spreadsheet may have four times as much
    archive_bytes: int = 8 << 30  # of all that is in an archive, and in the archives in it
    archive_members: int = 100_000  # the same, in files
    archive_ratio: int = 200  # times as large as the archive may be what is in it; the first 64 MB are free
    archive_depth: int = 4  # archives and messages within each other
    workers: int = 2  # processes that parse at the same time

    def __post_init__(self) -> None:
        for limit in fields(self):
            if not getattr(self, limit.name) > 0:
                raise UsageError(f"Limits({limit.name}=…) must be positive, got {getattr(self, limit.name)!r}")

    @property
    def raw_bytes(self) -> int:
        """The most bytes read for one document: no encoding in use needs more than four a character."""
        return 4 * self.characters


@dataclass(frozen=True, slots=True)
class Attached:
    """A file that came with a message."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a parser found. `note` says what is missing, in words, when something is."""

    text: str
    title: str = ""
    date: str = ""
    note: str = ""
    attached: tuple[Attached, ...] = ()
    scanned: int = 0  # pages without text
    columns: tuple[tuple[str, str], ...] = ()  # names and values of what else is known


PAGE_END = "\n\f"  # between pages, sections or slides, an empty one too: from its number a person finds it again
Facts = dict[str, str | int | float]


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a file that holds many documents: rows of a table, or a member of an archive."""

    facts: Facts = field(default_factory=dict)
    data: bytes = b""


class ExtractError(Exception):
    """The document could not be parsed; the message is the reason, in words a person can act on."""


Source = str | io.BytesIO
Extractor = Callable[[Source, Limits], Extracted]
Told = Mapping[str, str | int | float]  # what a parser is told besides its source
Parter = Callable[[Source, Limits, Told], Iterator[Part]]


def source_bytes(source: Source, limits: Limits) -> tuple[bytes, bool]:
    """The first bytes of a source, as many as one document may have, and whether there are more."""
    if isinstance(source, io.BytesIO):
        data = source.read(limits.raw_bytes + 1)
    else:
        with open(source, "rb") as stream:
            data = stream.read(limits.raw_bytes + 1)
    return data[: limits.raw_bytes], len(data) > limits.raw_bytes


def first_bytes(source: Source, size: int) -> bytes:
    """The bytes that a source begins with, which stay there."""
    if isinstance(source, io.BytesIO):
        return source.getvalue()[:size]
    with open(source, "rb") as stream:
        return stream.read(size)
