"""Input and items of readers, before they become a `Document` or a `Problem`."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from topiarist.errors import TopiaristError
from topiarist.text.parsers import Limits, Pool
from topiarist.text.readers.columns import Columns, TableColumns


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedItem:
    """Place of a document, a failure or a note in its file."""

    place: int = 0  # line, row or message, from one; zero for the whole file
    sheet: str = ""  # of a spreadsheet
    member: str = ""  # of an archive: "/name"; of a message: "#name"


@dataclass(frozen=True, slots=True)
class Raw(LocatedItem):
    """Document as its reader returns it; `note` names a missing part."""

    text: str
    title: str = ""
    labels: tuple[str, ...] = ()
    date: str = ""
    id: str = ""  # from the source; if empty, the file and `place` make one
    note: str = ""
    parent: str = ""  # id of the message of an attachment
    scanned: int = 0  # pages without text
    columns: tuple[tuple[str, str], ...] = ()  # other columns of its row, fields of its header
    file_date: str = ""  # creation of the file, used if the text has no date
    file_name: str = ""  # of the member or attachment; empty for the file itself


@dataclass(frozen=True, slots=True)
class ReadFailure(LocatedItem):
    """File, or one line, row, message or member of it, that could not be read."""

    reason: str
    error: TopiaristError | None = None  # raised if no document could be read


@dataclass(frozen=True, slots=True)
class ReadNote(LocatedItem):
    """Note on a file that is no failure, such as skipped rows."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unknown(LocatedItem):
    """File, or member of one, of a type that has no reader."""


Item = Raw | ReadFailure | ReadNote | Unknown


@dataclass(frozen=True, slots=True)
class Kind:
    """Way to read files of one type: by a function, or by a parser in a worker process."""

    read: Reader | None = None
    parser: str = ""
    table: bool = False
    archive: bool = False  # of many files or messages
    compressible: bool = True


@dataclass(frozen=True, slots=True)
class File:
    """File to read. `name` is the path as the user typed it, `id` its stable part."""

    name: str
    id: str
    kind: Kind | None  # None: not a known type
    packing: str = ""  # the suffix of the compression, such as ".gz"
    named: bool = False  # by the user, rather than found in a folder
    stream: BinaryIO | None = None  # already open: standard input
    place: str = ""  # local path of a member or a downloaded file
    remote: Any = None  # a ``file_systems.Remote``, which is downloaded first
    inner_name: str = ""  # name of a member in its archive, or of an attachment

    @property
    def own_name(self) -> str:
        """Name without folders, archives and messages."""
        return posixpath.basename(self.inner_name or self.id)

    @property
    def path(self) -> str:
        return self.place or self.name


@dataclass(slots=True)
class ExtractionBudget:
    """Bytes and members that an archive, and the archives in it, can still contain."""

    bytes: int
    members: int

    def spend(self, size: int) -> None:
        self.bytes -= size
        self.members -= 1


@dataclass(frozen=True, slots=True)
class Setting:
    """Settings and resources of all readers."""

    columns: Columns
    limits: Limits
    pool: Pool
    xml_path: str = ""
    ocr: bool | None = None  # None: only for PDF files without text, if the package is installed
    inside: Inside | None = None  # reads a file within a file
    depth: int = 0  # number of archives and messages around the file
    budget: ExtractionBudget | None = None
    chosen: Counter[TableColumns] = field(default_factory=Counter)  # columns of the tables, and the number of tables


Reader = Callable[[File, Setting], Iterator[Item]]
Inside = Callable[[File, Setting], Iterator[Item]]
