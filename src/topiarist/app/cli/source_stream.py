"""The documents of the sources as a stream, and a digest that tells whether anything has changed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any

from topiarist import collection as door
from topiarist.app.cli.options import DEMO, STDIN, SourceOptions
from topiarist.text.demo import demo_documents
from topiarist.text.documents import Document, Problem
from topiarist.text.readers import Columns, Counts, Reading, read
from topiarist.text.readers.columns import Chosen
from topiarist.text.readers.file_systems import is_address, last_name
from topiarist.text.readers.items import File
from topiarist.text.readers.lines import PACKINGS
from topiarist.version import __version__

SUFFIX = ".topiary"


@dataclass(frozen=True)
class Extra:
    """What only ``grow`` reads besides: dates and labels."""

    date_column: str | None = None
    label_column: str | None = None
    labels: str | None = None


@dataclass
class Stream:
    """The documents of the sources, with the labels that were given."""

    options: SourceOptions
    extra: Extra = Extra()

    def __post_init__(self) -> None:
        self._labels = door.read_labels(self.extra.labels) if self.extra.labels else None
        self._reading: Reading | None = None
        if not self.options.is_demo:
            columns = Columns(
                id=self.options.id_column,
                title=self.options.title_column,
                text=self.options.text_column,
                label=self.extra.label_column,
                date=self.extra.date_column,
            )
            self._reading = read(
                self.options.sources,
                columns,
                include=self.options.include or (),
                exclude=self.options.exclude or (),
                limit=self.options.limit,
                follow_links=self.options.follow_links,
                xml_path=self.options.xml_path or "",
                ocr=self.options.ocr or None,
            )

    @property
    def counts(self) -> Counts | None:
        """How reading went; None for the bundled collection."""
        return None if self._reading is None else self._reading.counts

    @property
    def chosen(self) -> dict[Chosen, int]:
        """Which columns of tables hold what."""
        return {} if self._reading is None else self._reading.chosen

    @property
    def problems(self) -> list[Problem]:
        """What was left out."""
        return [] if self._reading is None else self._reading.problems

    @property
    def n_failed_of(self) -> tuple[int, int] | None:
        """How many files, rows or messages failed, and of how many; None if ``--max-failures`` allows that."""
        counts = self.counts
        if counts is None:
            return None
        tried = counts.failed + counts.read
        return None if counts.failed <= self.options.max_failures / 100 * max(1, tried) else (counts.failed, tried)

    @property
    def files(self) -> list[File | Problem]:
        """The files that will be read; folders are walked once."""
        return [] if self._reading is None else self._reading.files()

    def files_read(self) -> int | None:
        """How many files were opened so far; None for the bundled collection."""
        counts = self.counts
        return None if counts is None else counts.files

    def __iter__(self) -> Iterator[Document]:
        for document in self.documents():
            if self._labels is not None:
                document = replace(document, labels=self._labels.get(document.id, document.labels))
            yield document

    def documents(self) -> Iterator[Document]:
        """The documents as they are, without labels from elsewhere."""
        return islice(demo_documents(), self.options.limit) if self._reading is None else iter(self._reading)

    def close(self) -> None:
        """End the worker processes."""
        if self._reading is not None:
            self._reading.close()


def default_folder(options: SourceOptions) -> str:
    """Where a collection goes when nobody says: here, called like what it is made from."""
    first = options.sources[0]
    if options.is_demo:
        return DEMO + SUFFIX
    if first == STDIN:
        return f"stdin{SUFFIX}"
    name = last_name(first) if is_address(first) else os.path.basename(os.path.abspath(first))
    if os.path.isfile(first) or is_address(first):
        stem, suffix = os.path.splitext(name)
        name = os.path.splitext(stem)[0] if suffix.lower() in PACKINGS else stem
    return f"{name or 'collection'}{SUFFIX}"


def digest(stream: Stream, recipe: Mapping[str, Any]) -> str | None:
    """A sign that two grows would make the same collection: of the same files with the same settings.

    Files are known by name, size and time of change. What comes on standard input, or from an address that tells no
    more of a file than its size, is never known to be the same.
    """
    if STDIN in stream.options.sources:
        return None
    files = [entry for entry in stream.files if isinstance(entry, File) and entry.kind is not None]
    names = [entry.name for entry in files if entry.remote is None]
    stop_words = str(recipe.get("stop_words", ""))
    names += [name for name in (stream.extra.labels, stop_words) if name and os.path.isfile(name)]
    sources = [one if is_address(one) else os.path.abspath(one) for one in stream.options.sources]
    described = {
        "recipe": dict(recipe),
        "reading": {**stream.options.selection, "max_failures": None, "sources": sources},
        "extra": asdict(stream.extra),
        "bundled": __version__ if stream.options.is_demo else "",
    }
    made = hashlib.sha256(json.dumps(described, sort_keys=True).encode())
    for name in names:
        try:
            found = os.stat(name)
        except OSError:
            continue
        made.update(
            f"{os.path.abspath(name)}\0{found.st_size}\0{found.st_mtime_ns}\n".encode("utf-8", "surrogateescape")
        )
    for remote in (entry.remote for entry in files if entry.remote is not None):
        if not (stamp := remote.stamp()):
            return None
        made.update(f"{remote.name}\0{stamp}\n".encode("utf-8", "surrogateescape"))
    return made.hexdigest()
