"""What readers take and what they yield, before it becomes a `Document` or a `Problem`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from topiarist.text.extract import Limits, Pool
from topiarist.text.readers.columns import Columns


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


@dataclass(frozen=True, slots=True)
class Trouble:
    """A file, or one line, row or message of it, that could not be read."""

    reason: str
    place: int = 0


Item = Raw | Trouble


@dataclass(frozen=True, slots=True)
class Kind:
    """How files of one type are read: by a function here, or by a parser in a worker process."""

    read: Reader | None = None
    parser: str = ""
    table: bool = False
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


@dataclass(frozen=True, slots=True)
class Setting:
    """What every reader needs to know besides its file."""

    columns: Columns
    limits: Limits
    pool: Pool


Reader = Callable[[File, Setting], Iterator[Item]]
