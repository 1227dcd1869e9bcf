"""Parquet files at any address, in parts that may be read on different machines.

An address is a path, a pattern (``parts/*.parquet``), a folder, or whatever fsspec opens: ``s3://…``, ``gs://…``,
``https://…``. A *part* is some row groups of one file, as a value that may travel: whoever receives it opens the file.
"""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from topiarist.errors import InputError, UsageError
from topiarist.text.documents import Document
from topiarist.text.extract.limits import Limits
from topiarist.text.extract.rows.parquet import readable
from topiarist.text.readers.columns import Chosen, Columns
from topiarist.text.readers.file_systems import PATTERN, file_system, first_line, reachable, without_secret
from topiarist.text.readers.items import Trouble
from topiarist.text.readers.making import document_from
from topiarist.text.readers.parquet import arrow, asked, rows_in
from topiarist.text.readers.tables import item_from, sample_of, settle

_READ_AHEAD = 1 << 22  # bytes: a column chunk may be gigabytes, and is read as it is needed
_CHANGED = "read from files that do not change meanwhile"


@dataclass(frozen=True)
class Part:
    """Neighbouring row groups of a file."""

    address: str
    name: str  # of the file, in ids
    columns: Columns
    chosen: Chosen
    first: int  # row group
    rows: tuple[int, ...]  # of each row group
    before: int = 0  # rows of the file


def expand(addresses: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """The files behind addresses, in their order, sorted within a pattern or a folder; each one once."""
    named = [addresses] if isinstance(addresses, str | os.PathLike) else list(addresses)
    found = [file for address in named for file in _files(os.fspath(address))]
    if not found:
        raise UsageError("no address was given", hint="a Parquet file, a pattern such as parts/*.parquet, or a folder")
    return list(dict.fromkeys(found))


def names_of(addresses: Sequence[str]) -> list[str]:
    """What the ids of documents without an id begin with: the name of the file, or all of its address if it must be."""
    short = [address.rstrip("/").replace("\\", "/").rpartition("/")[2] for address in addresses]
    times = Counter(short)
    return [name if times[name] == 1 else address for name, address in zip(short, addresses, strict=True)]


def survey(file: tuple[str, str], columns: Columns) -> list[Part]:
    """The row groups of a file (its address and its name), each a part; only the end of the file is read for that."""
    address, name = file
    with _opened(address) as table:
        known = columns.text is not None
        names = table.schema_arrow.names if known else []
        first = [] if known else sample_of(rows_in(table, readable(table.schema_arrow, asked(columns))))
        try:
            chosen = settle(columns, first, address, names)
        except UsageError as error:
            hint = re.sub(r"--(\w+)-column (\S+)", r"\1='\2'", error.hint)
            raise UsageError(error.message, hint=hint) from None
        parts, before = [], 0
        for group in range(table.metadata.num_row_groups):
            rows = table.metadata.row_group(group).num_rows
            parts.append(Part(address, name, columns, chosen, group, (rows,), before))
            before += rows
    return parts


def documents_of(part: Part) -> Iterator[Document]:
    """The documents of a part: rows with text, as ``read`` makes them. Damage is an error, not a smaller result."""
    chosen, characters = part.chosen, Limits().characters
    wanted = list(dict.fromkeys(filter(None, (chosen.text, chosen.id, chosen.title))))
    groups = list(range(part.first, part.first + len(part.rows)))
    place = part.before
    try:
        with _opened(part.address) as table:
            _check_same(table, part, groups)
            for row in rows_in(table, wanted, groups, part.before):
                place = row.place
                item = item_from(row, chosen, part.columns)
                if isinstance(item, Trouble):
                    raise InputError(
                        f"{without_secret(part.address)}, row {place}: {item.reason}", hint="a column that holds text"
                    )
                document = document_from(item, part.name, part.address, characters)
                if document is not None:
                    yield document
    except (arrow().ArrowException, OSError) as error:
        raise InputError(
            f"{without_secret(part.address)} cannot be read after row {place:,}: {first_line(error)}",
            hint="a whole file; one that is still being written has no end yet",
        ) from error


def _files(address: str) -> list[str]:
    if not address:
        raise UsageError("an address is empty", hint="a Parquet file, a pattern such as parts/*.parquet, or a folder")
    if "://" not in address:
        whole = os.path.abspath(os.path.expanduser(address))
        return _matching(address, whole, os.path, glob.glob, [whole] if os.path.exists(whole) else [])
    system, path = file_system(address)
    with reachable(address):
        there = [path] if system.exists(path) else []
        return [system.unstrip_protocol(file) for file in _matching(address, path, system, system.glob, there)]


def _matching(address: str, path: str, system: Any, matches: Any, there: list[str]) -> list[str]:
    """The files of a path, pattern or folder; those whose names begin with a dot or ``_`` are not data."""
    if there and not system.isdir(path):
        return there
    pattern = path.rstrip("/") + "/**/*.parquet" if there else path
    options = {"recursive": True} if system is os.path else {}
    found = sorted(matches(pattern, **options)) if there or PATTERN.search(path) else []
    top = pattern[: PATTERN.search(pattern).start()] if found else ""  # type: ignore[union-attr]
    plain = [file for file in found if not re.search(r"(^|[/\\])[._]", file[len(top) :]) and not system.isdir(file)]
    if not plain:
        what = (
            "no Parquet file in" if there else "no file matches" if PATTERN.search(path) else "no such file or folder:"
        )
        raise UsageError(
            f"{what} {without_secret(address)}", hint="check the spelling; each worker must be able to read it too"
        )
    return plain


@contextmanager
def _opened(address: str) -> Iterator[Any]:
    """A Parquet file, wherever it is."""
    pyarrow = arrow()
    from pyarrow import parquet

    with reachable(address):
        if "://" in address:
            system, path = file_system(address)
            stream = system.open(path, "rb")
        else:
            stream = open(address, "rb")  # noqa: SIM115 (closed below)
    with stream:
        try:
            table = parquet.ParquetFile(stream, buffer_size=_READ_AHEAD)
        except (pyarrow.ArrowException, OSError) as error:
            raise InputError(
                f"{without_secret(address)} is not Parquet, or not whole: {first_line(error)}", hint="a Parquet file"
            ) from error
        with table:
            yield table


def _check_same(table: Any, part: Part, groups: list[int]) -> None:
    metadata = table.metadata
    rows = [metadata.row_group(group).num_rows for group in groups if group < metadata.num_row_groups]
    if rows != list(part.rows):
        raise InputError(f"{without_secret(part.address)} has changed since it was first looked at", hint=_CHANGED)
