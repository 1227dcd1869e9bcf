"""How much one document may take, and what comes out of one."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass

from topiarist.errors import UsageError


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that keep one document from taking the run down.

    The longest novels have three to four million characters, so the default of twenty million cuts no book,
    while the few texts in memory at one time stay within some hundred megabytes.
    """

    characters: int = 20_000_000  # of one document; the rest is cut and reported
    seconds: float = 30.0  # for one PDF, DOCX, HTML page or e-mail
    memory_bytes: int = 2 << 30  # address space of one worker process (enforced on Linux)
    unpacked_bytes: int = 256 << 20  # of a DOCX once unzipped
    workers: int = 2  # processes that parse at the same time

    def __post_init__(self) -> None:
        for name in ("characters", "seconds", "memory_bytes", "unpacked_bytes", "workers"):
            if not getattr(self, name) > 0:
                raise UsageError(f"Limits({name}=…) must be positive, got {getattr(self, name)!r}")

    @property
    def raw_bytes(self) -> int:
        """The most bytes read for one document: no encoding in use needs more than four a character."""
        return 4 * self.characters


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a parser found. `note` says what is missing, in words, when something is."""

    text: str
    title: str = ""
    date: str = ""
    note: str = ""


class ExtractError(Exception):
    """The document could not be parsed; the message is the reason, in words a person can act on."""


Source = str | io.BytesIO
Extractor = Callable[[Source, Limits], Extracted]


def source_bytes(source: Source, limits: Limits) -> tuple[bytes, bool]:
    """The first bytes of a source, as many as one document may have, and whether there are more."""
    if isinstance(source, io.BytesIO):
        data = source.read(limits.raw_bytes + 1)
    else:
        with open(source, "rb") as stream:
            data = stream.read(limits.raw_bytes + 1)
    return data[: limits.raw_bytes], len(data) > limits.raw_bytes
