"""Options of commands that read sources, and their documents as a stream with a digest."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from itertools import islice
from typing import Any

from topiarist.cli.options import (
    ColumnOptions,
    PatternOptions,
    argument,
    debug_option,
    named_columns,
    option,
    printing,
    reading,
    setting,
)
from topiarist.collection.grow.recipe import Recipe
from topiarist.text.demo import demo_documents
from topiarist.text.documents import Document, Problem
from topiarist.text.parsers.limits import PACKINGS
from topiarist.text.readers import Counts, Reading, ReadingSettings, read
from topiarist.text.readers.columns import TableColumns
from topiarist.text.readers.file_systems import get_last_name, is_url, remove_secret
from topiarist.text.readers.items import File
from topiarist.version import __version__

DEMO, STDIN = "demo", "-"
SELECTION = (  # options that decide which documents are read
    "sources", "text_column", "title_column", "id_column", "xml_path", "ocr", "include", "exclude", "limit",
    "max_failures",
)  # fmt: skip
MORE_SETTINGS = "More settings are keys of topiarist.toml, such as stop-words: --show-config prints all keys."
SUFFIX = ".topiary"
SLOW_SECONDS = 10.0  # of one file, before progress names it


@dataclass(frozen=True, kw_only=True)
class SourceOptions(ColumnOptions, PatternOptions):
    """Options of commands that read documents: sources, counting, threads and output."""

    sources: list[str] = argument(
        MISSING, "Folders, files or addresses, `-` for JSON lines on standard input, or `demo`.", "SOURCE…"
    )
    follow_links: bool = setting(False, "Follow links that lead out of a folder, to files or folders.")
    limit: int | None = reading(None, "Maximum number of documents.", metavar="N", min=1)
    max_failures: float = setting(
        5.0, "Percent of files, rows or messages that may fail without exit code 1.", min=0, max=100
    )
    language: str = setting(Recipe.language, "Language, such as `en`. `auto` detects it from the first texts.")
    stop_words: str = setting(Recipe.stop_words, "Stop words: `none`, a language, `auto`, or a file of words.")
    stem: str | None = setting(Recipe.stem, "Join the forms of a word: a language, or `auto`.")
    phrases: bool = setting(Recipe.phrases, "Join pairs such as *black hole*.")
    numbers: bool = setting(Recipe.numbers, "Count numbers as words.")
    min_documents: int | None = setting(
        Recipe.min_documents, "Documents that must contain a word; 3, or 1 in 100,000 if that is more.", min=1
    )
    seed: int = option(Recipe.seed, "Random seed. The same seed gives the same result.", metavar="N", min=0)
    threads: int | None = setting(None, "Number of threads. All cores by default.", min=1)
    config: str | None = option(
        None, "Settings file. Default: `topiarist.toml` in or next to the source.", metavar="FILE"
    )
    show_config: bool = option(False, "Print all settings with their origins, then exit.")
    json: bool = printing(False, "One JSON document on standard output. Progress as JSON lines.")
    quiet: bool = printing(False, "No progress.", "--quiet", "-q")
    verbose: int = printing(0, "Print details. Twice: more details.", "--verbose", "-v", count=True)
    debug: bool = debug_option()

    @property
    def is_demo(self) -> bool:
        """The bundled collection, unless there is a folder of that name."""
        return self.sources == [DEMO] and not os.path.exists(DEMO)

    @property
    def shown_sources(self) -> list[str]:
        """The sources as they may be printed and kept: without what opens an address."""
        return [*map(remove_secret, self.sources)]

    @property
    def selection(self) -> dict[str, Any]:
        """Options that select the documents to read."""
        selection = {name: getattr(self, name) for name in SELECTION}
        selection |= {"include": self.include or [], "exclude": self.exclude or []}
        return selection | ({"follow_links": True} if self.follow_links else {})

    def recipe(self, **values: Any) -> Recipe:
        """Return the recipe of the options that are called like its fields, and of further values."""
        names = {item.name for item in fields(Recipe)} & {item.name for item in fields(self)}
        return Recipe(**{name: getattr(self, name) for name in names} | values)


@dataclass
class Stream:
    """The documents of the sources, with the labels that were given."""

    options: SourceOptions

    def __post_init__(self) -> None:
        """Read the label file and open the sources; the demonstration has none."""
        from topiarist.collection.classify.label_sources import read_labels

        self._labels = read_labels(self.label_file) if self.label_file else None
        self._reading: Reading | None = None
        options = self.options
        if not options.is_demo:
            self._reading = read(
                options.sources, named_columns(options), include=options.include or (), exclude=options.exclude or (),
                limit=options.limit, follow_links=options.follow_links, xml_path=options.xml_path or "",
                ocr=options.ocr or None,
            )  # fmt: skip

    @property
    def label_file(self) -> str | None:
        """Table of labels, which only ``grow`` reads."""
        return getattr(self.options, "labels", None)

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
        """Numbers of failed and of all files or rows; None if ``max-failures`` allows them."""
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
        """Yield the documents, with labels of the label file in place of their own."""
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


def choose_default_folder(options: SourceOptions) -> str:
    """Return the default folder of a collection: in the working folder, named like its source."""
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
    names += [name for name in (stream.label_file, stop_words) if name and os.path.isfile(name)]
    sources = [source if is_url(source) else os.path.abspath(source) for source in stream.options.sources]
    description = {
        "recipe": dict(recipe),
        "reading": {**stream.options.selection, "max_failures": None, "sources": sources},
        "columns": asdict(named_columns(stream.options)),
        "labels": stream.label_file,
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
