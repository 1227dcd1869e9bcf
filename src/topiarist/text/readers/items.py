"""What readers take and what they yield, before it becomes a `Document` or a `Problem`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from topiarist.errors import TopiaristError
from topiarist.text.extract import Limits, Pool
from topiarist.text.readers.columns import Chosen, Columns


@dataclass(frozen=True, slots=True)
class Raw:
    """A document as its reader found it. `note` says what is missing from it, when something is."""

    text: str
    title: str = ""
    labels: tuple[str, ...] = ()
    date: str = ""
    id: str = ""  # given by the source; when empty, the file and `place` make one
    place: int = 0  # line, row or message, from one; zero when the file is one document
    note: str = ""
    sheet: str = ""  # of a spreadsheet
    member: str = ""  # of an archive, with the sign before it: "/name"; of a message: "#name"
    parent: str = ""  # the id of the message that it came with
    scanned: int = 0  # pages without text
    columns: tuple[tuple[str, str], ...] = ()  # further columns of its row, fields of its header


@dataclass(frozen=True, slots=True)
class Trouble:
    """A file, or one line, row, message or member of it, that could not be read."""

    reason: str
    place: int = 0
    sheet: str = ""
    member: str = ""
    refusal: TopiaristError | None = None  # that is raised if nothing else could be read


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to be said of a file that is no fault: what was taken for what, and what was left out by that."""

    reason: str
    place: int = 0
    sheet: str = ""
    member: str = ""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A file, or a member of one, of a type that has no reader."""

    member: str = ""


Item = Raw | Trouble | Remark | Unknown


@dataclass(frozen=True, slots=True)
class Kind:
    """How files of one type are read: by a function here, or by a parser in a worker process."""

    read: Reader | None = None
    parser: str = ""
    table: bool = False
    archive: bool = False  # of many files or messages
    compressible: bool = True


@dataclass(frozen=True, slots=True)
class File:
    """One file to read. `name` is the path as the user would type it, `id` the part of it that is stable."""

    name: str
    id: str
    kind: Kind | None  # None: not a known type
    packing: str = ""  # the suffix of the compression, such as ".gz"
    named: bool = False  # by the user, rather than found in a folder
    stream: BinaryIO | None = None  # already open: standard input
    place: str = ""  # where its bytes lie, when that is not its name: a member of an archive, or what was brought here
    remote: Any = None  # a ``file_systems.Remote``, whose bytes must be brought here first

    @property
    def path(self) -> str:
        """Where its bytes lie."""
        return self.place or self.name


@dataclass(slots=True)
class Allowance:
    """How much may still come out of an archive and of those in it."""

    bytes: int
    members: int

    def take(self, size: int) -> None:
        """One more member."""
        self.bytes -= size
        self.members -= 1


@dataclass(frozen=True, slots=True)
class Setting:
    """What every reader needs to know besides its file."""

    columns: Columns
    limits: Limits
    pool: Pool
    xml_path: str = ""
    ocr: bool | None = None  # None: only where a PDF has no text, if the package is there
    inside: Inside | None = None  # how a file within a file is read
    depth: int = 0  # files that this one lies within
    allowance: Allowance | None = None
    chosen: Counter[Chosen] = field(default_factory=Counter)  # the columns of the tables that were read


Reader = Callable[[File, Setting], Iterator[Item]]
Inside = Callable[[File, Setting], Iterator[Item]]
