"""Options of commands, declared as one frozen value with its ``--help`` and its settings.

A command is a module in ``commands`` with ``Options`` (a dataclass whose docstring is the help), ``EPILOG`` (examples),
``WRITES`` (which options make it change something) and ``run(options)``. Here are the options that several share.
Nothing numerical is loaded, so that ``--help`` is quick; the defaults of a tree are those of its ``Recipe``.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from topiarist.collection.grow.recipe import Recipe
from topiarist.text.dates import AUTO, ORDERS
from topiarist.text.readers import Columns, ReadingSettings
from topiarist.text.readers.columns import ROLES

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

PANELS = (None, "What to read", "What to count", "What to print")
_, READING, COUNTING, OUTPUT = PANELS
ALL_OPTIONS = ("",)  # of a command that changes something whatever its options are
DEMO, STDIN = "demo", "-"
SELECTION = (  # options that decide which documents are read
    "sources", "text_column", "title_column", "id_column", "xml_path", "ocr", "include", "exclude", "limit",
    "max_failures",
)  # fmt: skip


def option(help: str, *names: str, panel: str | None = None, **settings: Any) -> Any:
    """An option in one of the panels of ``--help``; without names it is called like its field."""
    return typer.Option(*names, rich_help_panel=panel, help=help, **settings)


reading, counting, printing = (partial(option, panel=panel) for panel in PANELS[1:])
flag = partial(option, metavar=" ")  # is there or not
# A setting is no option of the command line: a key of topiarist.toml or a variable of the environment sets it. The
# parser knows it, hidden, so that its values are read and checked as those of options. ``settings_file`` refuses it.
setting = partial(option, hidden=True)


def examples(*lines: str) -> str:
    return "\n\n".join(["Examples:", *(f"    {line}" for line in lines)])


def one_of(names: Iterable[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(map(repr, names))}.")
        return text

    return read


def choice(*names: str) -> dict[str, Any]:
    """Return the arguments of an option that takes one of several names."""
    return {"metavar": f"<{'|'.join(names)}>", "parser": one_of(names)}


FOLDER = typer.Argument(metavar="FOLDER", help="A collection, as `topiarist grow` has made it.", show_default=False)
NUMBER = printing("Number of documents to show.", "-n", "--number", min=1)
EXPLAIN_OPTION = printing("Explain each result: matching words and topics.", "--why")
MORE_SETTINGS = "More settings are keys of topiarist.toml, such as stop-words: --show-config prints all keys."
DATE_ORDERS = (AUTO, *ORDERS)
DATES_HELP = "Order of day and month in ambiguous dates such as 05/06/2025: `day-first` or `month-first`."
DATE_COLUMN = reading("Column that holds the date.", metavar="NAME")
LABEL_COLUMN = reading("Column that holds labels, with ; between them.", metavar="NAME")
INCLUDE = reading("Only files like this, e.g. '*.txt'.", metavar="PATTERN")
EXCLUDE = reading("No files like this.", metavar="PATTERN")
UNDER = option("Restrict to a topic: its number, its name, or a unique word of its name.", "--topic")
WAIT = setting("Seconds to wait while another program writes into the collection.", metavar="SECONDS", min=0)
HIDDEN_DEBUG = printing("Show where an error came from.", "--debug", hidden=True)


@dataclass(frozen=True, kw_only=True)
class FolderOptions:
    """Options of all commands on a collection: folder and output."""

    folder: Annotated[str, FOLDER]
    json: Annotated[bool, printing("One JSON document on standard output.", "--json")] = False
    quiet: Annotated[bool, printing("Results only: no progress, no advice.", "--quiet", "-q")] = False
    verbose: Annotated[int, printing("Print details; twice: more details.", "--verbose", "-v", count=True)] = 0
    debug: Annotated[bool, HIDDEN_DEBUG] = False


@dataclass(frozen=True, kw_only=True)
class WritingOptions(FolderOptions):
    """Options of commands that can change a collection: how long to wait for another one."""

    wait: Annotated[float, WAIT] = 0.0


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """The options of all commands that read tables, XML and scans."""

    text_column: Annotated[str | None, reading("Column that holds the text.", metavar="NAME")] = None
    title_column: Annotated[str | None, reading("Column that holds the title.", metavar="NAME")] = None
    id_column: Annotated[str | None, reading("Column that holds the id.", metavar="NAME")] = None
    xml_path: Annotated[
        str | None, setting("Elements of XML files that are documents, such as `channel/item`.", panel=READING)
    ] = None
    ocr: Annotated[
        bool, setting("Read PDF pages that are pictures, also if other pages have text.", "--ocr", panel=READING)
    ] = False


@dataclass(frozen=True, kw_only=True)
class AsGrownOptions(ColumnOptions):
    """Options of commands that read documents for a collection, by default as it was grown."""

    date_column: Annotated[str | None, DATE_COLUMN] = None
    label_column: Annotated[str | None, LABEL_COLUMN] = None

    def reading_settings(self, collection: Collection) -> ReadingSettings:
        """Return the settings by which sources are read for a collection."""
        from topiarist.collection.grow.read_as_grown import load_reading_settings

        named = ReadingSettings(named_columns(self), self.xml_path or "", self.ocr or None)
        return load_reading_settings(collection, named)

    @property
    def named(self) -> list[tuple[str, str]]:
        """The options of columns that were typed, with their values."""
        typed = ((f"--{role}-column", getattr(self, f"{role}_column")) for role in ROLES)
        return [(name, value) for name, value in typed if value is not None]


@dataclass(frozen=True, kw_only=True)
class SourceOptions(ColumnOptions):
    """Options of commands that read documents: sources, counting, threads and output."""

    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE…", help="Folders, files or addresses, `-` for JSON lines on standard input, or `demo`."
        ),
    ]
    include: Annotated[list[str] | None, INCLUDE] = None
    exclude: Annotated[list[str] | None, EXCLUDE] = None
    follow_links: Annotated[
        bool, setting("Follow links that lead out of a folder, to files or folders.", "--follow-links", panel=READING)
    ] = False
    limit: Annotated[int | None, reading("Maximum number of documents.", metavar="N", min=1)] = None
    max_failures: Annotated[
        float,
        setting("Percent of files, rows or messages that may fail without exit code 1.", panel=READING, min=0, max=100),
    ] = 5.0
    language: Annotated[
        str, setting("Language of the texts, such as `en`. `auto` detects it from the first texts.", panel=COUNTING)
    ] = Recipe.language
    stop_words: Annotated[
        str, setting("Stop words: `none`, a language such as `en`, `auto`, or a file of words.", panel=COUNTING)
    ] = Recipe.stop_words
    stem: Annotated[str | None, setting("Join the forms of a word: a language, or `auto`.", panel=COUNTING)] = (
        Recipe.stem
    )
    phrases: Annotated[bool, setting("Join pairs such as *black hole*.", "--phrases", panel=COUNTING)] = Recipe.phrases
    numbers: Annotated[bool, setting("Count numbers as words.", "--numbers", panel=COUNTING)] = Recipe.numbers
    min_documents: Annotated[
        int | None,
        setting("Documents that must contain a word; 3, or 1 in 100,000 if that is more.", panel=COUNTING, min=1),
    ] = Recipe.min_documents
    seed: Annotated[int, option("Same seed, same result.", metavar="N", min=0)] = Recipe.seed
    threads: Annotated[int | None, setting("Number of threads. All cores by default.", min=1)] = None
    config: Annotated[
        str | None,
        option("Settings file. Default: `topiarist.toml` in or next to the source.", metavar="FILE"),
    ] = None
    show_config: Annotated[bool, flag("Print every setting and where it comes from, and end.", "--show-config")] = False
    json: Annotated[
        bool, flag("One JSON document on standard output; progress as JSON lines.", "--json", panel=OUTPUT)
    ] = False
    quiet: Annotated[bool, flag("No progress.", "--quiet", "-q", panel=OUTPUT)] = False
    verbose: Annotated[
        int, flag("Print details; twice: more details.", "--verbose", "-v", panel=OUTPUT, count=True)
    ] = 0
    debug: Annotated[bool, HIDDEN_DEBUG] = False

    @property
    def is_demo(self) -> bool:
        """The bundled collection, unless there is a folder of that name."""
        return self.sources == [DEMO] and not os.path.exists(DEMO)

    @property
    def shown_sources(self) -> list[str]:
        """The sources as they may be printed and kept: without what opens an address."""
        from topiarist.text.readers.file_systems import remove_secret

        return [*map(remove_secret, self.sources)]

    @property
    def selection(self) -> dict[str, Any]:
        """Options that select the documents to read."""
        selection = {name: getattr(self, name) for name in SELECTION}
        selection |= {"include": self.include or [], "exclude": self.exclude or []}
        return selection | ({"follow_links": True} if self.follow_links else {})

    def recipe(self, **values: Any) -> Recipe:
        """Return the recipe of the shared options and further values."""
        shared = {parameter.name for parameter in fields(Recipe)} & {
            parameter.name for parameter in fields(SourceOptions)
        }
        return Recipe(**{name: getattr(self, name) for name in shared}, **values)


def named_columns(options: Any) -> Columns:
    """Return the columns named in the options; a command can lack some of these options."""
    named: dict[str, Any] = {role: getattr(options, f"{role}_column", None) for role in ROLES}
    return Columns(**named)


def signature(options: type) -> inspect.Signature:
    """Return the options as a signature: those of the command before the shared ones."""
    hints = get_type_hints(options, include_extras=True)
    bases = [base for base in (FolderOptions, SourceOptions) if issubclass(options, base)]
    shared = {parameter.name for base in bases for parameter in fields(base)}

    def place(parameter: Field[Any]) -> tuple[bool, int, bool]:
        panel = hints[parameter.name].__metadata__[0].rich_help_panel
        first = parameter.name in ("folder", "sources")
        return not first, PANELS.index(panel), (parameter.name in shared) != (panel == READING)

    return inspect.Signature(
        [
            inspect.Parameter(
                parameter.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if parameter.default is MISSING else parameter.default,
                annotation=hints[parameter.name],
            )
            for parameter in sorted(fields(options), key=place)
        ]
    )
