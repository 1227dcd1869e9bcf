"""Documents of the sources as a stream, with a digest that changes when they change."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any

from topiarist.cli.options import DEMO, STDIN, SourceOptions, named_columns
from topiarist.text.demo import demo_documents
from topiarist.text.documents import Document, Problem
from topiarist.text.parsers.limits import PACKINGS
from topiarist.text.readers import Columns, Counts, Reading, ReadingSettings, read
from topiarist.text.readers.columns import TableColumns
from topiarist.text.readers.file_systems import get_last_name, is_url
from topiarist.text.readers.items import File
from topiarist.version import __version__

SUFFIX = ".topiary"
SLOW_SECONDS = 10.0  # of one file, before progress names it


@dataclass(frozen=True)
class Extra:
    """Sources of dates and labels, which only ``grow`` reads."""

    date_column: str | None = None
    label_column: str | None = None
    labels: str | None = None


@dataclass
class Stream:
    """The documents of the sources, with the labels that were given."""

    options: SourceOptions
    extra: Extra = Extra()

    def __post_init__(self) -> None:
        from topiarist.collection.classify.label_sources import read_labels

        self._labels = read_labels(self.extra.labels) if self.extra.labels else None
        self._reading: Reading | None = None
        if not self.options.is_demo:
            columns = Columns(date=self.extra.date_column, label=self.extra.label_column)
            columns = named_columns(self.options).override(columns)
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
        """Counts of read and failed files; None for the bundled collection."""
        return None if self._reading is None else self._reading.counts

    @property
    def settings(self) -> ReadingSettings:
        """The settings by which the sources are read."""
        return ReadingSettings() if self._reading is None else self._reading.settings

    @property
    def chosen(self) -> dict[TableColumns, int]:
        """Columns of tables by their use."""
        return {} if self._reading is None else self._reading.chosen

    @property
    def problems(self) -> list[Problem]:
        return [] if self._reading is None else self._reading.problems

    @property
    def n_failed_of(self) -> tuple[int, int] | None:
        """Return failed and all files, rows or messages; None if ``max-failures`` allows them."""
        counts = self.counts
        if counts is None:
            return None
        n_tried = counts.failed + counts.read
        return None if counts.failed <= self.options.max_failures / 100 * max(1, n_tried) else (counts.failed, n_tried)

    @property
    def files(self) -> list[File | Problem]:
        """The files that will be read; folders are walked once."""
        return [] if self._reading is None else self._reading.files()

    def files_read(self) -> int | None:
        """Number of opened files; None for the bundled collection."""
        counts = self.counts
        return None if counts is None else counts.files

    def find_slow_file(self) -> tuple[str, float] | None:
        """Return the file that is read now and its seconds; None if it is the only one or was opened lately."""
        if self._reading is None or len(self._reading.files()) < 2:
            return None
        name, seconds = self._reading.current_file
        return (name, seconds) if name and seconds >= SLOW_SECONDS else None

    def __iter__(self) -> Iterator[Document]:
        for document in self.documents():
            if self._labels is not None:
                document = replace(document, labels=self._labels.get(document.id, document.labels))
            yield document

    def documents(self) -> Iterator[Document]:
        """Return the documents without labels from another table."""
        return islice(demo_documents(), self.options.limit) if self._reading is None else iter(self._reading)

    def close(self) -> None:
        if self._reading is not None:
            self._reading.close()


def default_folder(options: SourceOptions) -> str:
    """Return the default folder of a collection: here, with the name of its source."""
    first = options.sources[0]
    if options.is_demo:
        return DEMO + SUFFIX
    if first == STDIN:
        return f"stdin{SUFFIX}"
    name = get_last_name(first) if is_url(first) else os.path.basename(os.path.abspath(first))
    if os.path.isfile(first) or is_url(first):
        stem, suffix = os.path.splitext(name)
        name = os.path.splitext(stem)[0] if suffix.lower() in PACKINGS else stem
    return f"{name or 'collection'}{SUFFIX}"


def digest(stream: Stream, recipe: Mapping[str, Any]) -> str | None:
    """Return a digest of files and settings; None if a source, such as standard input, cannot be recognised."""
    if STDIN in stream.options.sources:
        return None
    files = [entry for entry in stream.files if isinstance(entry, File) and entry.kind is not None]
    names = [entry.name for entry in files if entry.remote is None]
    stop_words = str(recipe.get("stop_words", ""))
    names += [name for name in (stream.extra.labels, stop_words) if name and os.path.isfile(name)]
    sources = [source if is_url(source) else os.path.abspath(source) for source in stream.options.sources]
    description = {
        "recipe": dict(recipe),
        "reading": {**stream.options.selection, "max_failures": None, "sources": sources},
        "extra": asdict(stream.extra),
        "bundled": __version__ if stream.options.is_demo else "",
    }
    hash_ = hashlib.sha256(json.dumps(description, sort_keys=True).encode())
    for name in names:
        try:
            status = os.stat(name)
        except OSError:
            continue
        hash_.update(
            f"{os.path.abspath(name)}\0{status.st_size}\0{status.st_mtime_ns}\n".encode("utf-8", "surrogateescape")
        )
    for remote in (entry.remote for entry in files if entry.remote is not None):
        if not (stamp := remote.stamp()):
            return None
        hash_.update(f"{remote.name}\0{stamp}\n".encode("utf-8", "surrogateescape"))
    return hash_.hexdigest()
