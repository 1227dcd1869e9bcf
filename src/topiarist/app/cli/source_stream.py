"""What ``grow`` reads: the documents with their labels, where the collection goes, and whether anything has changed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any

from topiarist.app.cli.options import DEMO, STDIN, ReadOptions
from topiarist.collection.judge import label_table as labels
from topiarist.errors import UsageError
from topiarist.text.demo import demo_documents
from topiarist.text.documents import Document, Problem
from topiarist.text.readers import Columns, Counts, Reading, read
from topiarist.text.readers.items import File
from topiarist.text.readers.lines import PACKINGS
from topiarist.text.repeated import Endings, find_repeated, without
from topiarist.version import __version__

SUFFIX = ".topiary"


@dataclass(frozen=True)
class Extra:
    """What only ``grow`` reads besides."""

    date_column: str | None = None
    label_column: str | None = None
    labels: str | None = None
    strip_repeated: bool = False


@dataclass
class Stream:
    """The documents of the sources, with the labels that were given; remembers how they end."""

    options: ReadOptions
    extra: Extra
    endings: Endings = field(default_factory=Endings)
    n_stripped: int = 0

    def __post_init__(self) -> None:
        self._labels = read_labels(self.extra.labels) if self.extra.labels else None
        self._reading: Reading | None = None
        if not self.options.is_demo:
            columns = Columns(
                id=self.options.id_column, title=self.options.title_column, text=self.options.text_column,
                label=self.extra.label_column, date=self.extra.date_column,
            )  # fmt: skip
            self._reading = read(
                self.options.sources, columns, include=self.options.include, exclude=self.options.exclude,
                limit=self.options.limit,
            )  # fmt: skip
        if self.extra.strip_repeated and STDIN in self.options.sources:
            raise UsageError(
                "--strip-repeated looks at the documents twice, and standard input can be read only once",
                hint="save it to a .jsonl file first",
            )

    @property
    def counts(self) -> Counts | None:
        """How reading went; None for the bundled collection."""
        return None if self._reading is None else self._reading.counts

    @property
    def problems(self) -> list[Problem]:
        """What was left out."""
        return [] if self._reading is None else self._reading.problems

    def files(self) -> Iterator[File | Problem]:
        """The files that will be read."""
        return iter(()) if self._reading is None else self._reading.files()

    def __iter__(self) -> Iterator[Document]:
        footers = find_repeated(self._documents()).lines if self.extra.strip_repeated else frozenset()
        for document in self._documents():
            if footers:
                shorter = without(document, footers)
                self.n_stripped += shorter is not document
                document = shorter
            else:
                self.endings.see(document.text)
            if self._labels is not None:
                document = replace(document, labels=self._labels.get(document.id, document.labels))
            yield document

    def _documents(self) -> Iterator[Document]:
        return islice(demo_documents(), self.options.limit) if self._reading is None else iter(self._reading)

    def close(self) -> None:
        """End the worker processes."""
        if self._reading is not None:
            self._reading.close()


def default_folder(options: ReadOptions) -> str:
    """Where a collection goes when nobody says: here, called like what it is made from."""
    first = options.sources[0]
    if options.is_demo:
        return DEMO + SUFFIX
    if first == STDIN:
        return f"stdin{SUFFIX}"
    name = os.path.basename(os.path.abspath(first))
    if os.path.isfile(first):
        stem, suffix = os.path.splitext(name)
        name = os.path.splitext(stem)[0] if suffix.lower() in PACKINGS else stem
    return f"{name or 'collection'}{SUFFIX}"


def digest(stream: Stream, recipe: Mapping[str, Any]) -> str | None:
    """A sign that two grows would make the same collection: of the same files with the same settings.

    Files are known by name, size and time of change. What comes on standard input is never known to be the same.
    """
    if STDIN in stream.options.sources:
        return None
    names = [entry.name for entry in stream.files() if isinstance(entry, File) and entry.kind is not None]
    stop_words = str(recipe.get("stop_words", ""))
    names += [name for name in (stream.extra.labels, stop_words) if name and os.path.isfile(name)]
    options = {
        **asdict(stream.options),
        "max_failures": None,
        "sources": [*map(os.path.abspath, stream.options.sources)],
    }
    told = {
        "recipe": dict(recipe), "reading": options, "extra": asdict(stream.extra),
        "bundled": __version__ if stream.options.is_demo else "",
    }  # fmt: skip
    made = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    for name in names:
        try:
            found = os.stat(name)
        except OSError:
            continue
        made.update(
            f"{os.path.abspath(name)}\0{found.st_size}\0{found.st_mtime_ns}\n".encode("utf-8", "surrogateescape")
        )
    return made.hexdigest()


def read_labels(path: str) -> dict[str, tuple[str, ...]]:
    """Labels by document id, as ``learn`` reads them."""
    return labels.read_labels(path)
