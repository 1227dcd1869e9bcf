"""How a command declares its options: one frozen value, from which its ``--help`` and its settings are made.

A command is a module in ``commands`` with ``Options`` (a dataclass whose docstring is the help), ``EPILOG`` (examples),
``WRITES`` (which options make it change something) and ``run(options)``. Here are the options that several share.
Nothing numerical is loaded, so that ``--help`` is quick; the defaults of a tree are those of its ``Recipe``.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection
from dataclasses import MISSING, Field, dataclass, fields
from functools import partial
from typing import Annotated, Any, get_type_hints

import typer

from topiarist.collection import Recipe
from topiarist.text.dates import AUTO, ORDERS

PANELS = (None, "What to read", "What to count", "What to print")
_, READING, COUNTING, OUTPUT = PANELS
ALWAYS = ("",)  # of a command that changes something whatever its options are
DEMO, STDIN = "demo", "-"
SELECTION = (  # options that decide which documents are read
    "sources", "text_column", "title_column", "id_column", "xml_path", "ocr", "include", "exclude", "limit",
    "max_failures",
)  # fmt: skip


def option(help: str, *names: str, panel: str | None = None, **more: Any) -> Any:
    """An option in one of the panels of ``--help``; without names it is called like its field."""
    return typer.Option(*names, rich_help_panel=panel, help=help, **more)


reading, counting, printing = (partial(option, panel=panel) for panel in PANELS[1:])
flag = partial(option, metavar=" ")  # is there or not


def examples(*lines: str) -> str:
    """What ``--help`` shows at its end."""
    return "\n\n".join(["Examples:", *(f"    {line}" for line in lines)])


def one_of(names: Collection[str]) -> Callable[[str], str]:
    """Reads one of several names."""

    def read(text: str) -> str:
        if text not in names:
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(map(repr, names))}.")
        return text

    return read


FOLDER = typer.Argument(metavar="FOLDER", help="A collection, as `topiarist grow` has made it.", show_default=False)
NUMBER = printing("How many documents to show.", "-n", "--number", min=1)
WHY = printing("Say why each was found: words in their sense, and topics.", "--why")
DATE_ORDERS = (AUTO, *ORDERS)
DATES_HELP = "What comes first in dates such as 05/06/2025 of sources that do not tell: `day-first` or `month-first`."
UNDER = option("Only what lies under this topic: its number, its name, or a word of that.", "--topic")
WAIT = option("Seconds to wait while somebody else writes.", "--wait", metavar="SECONDS", min=0)
HIDDEN_DEBUG = typer.Option("--debug", hidden=True)


@dataclass(frozen=True, kw_only=True)
class FolderOptions:
    """What commands share that use a collection: where it is, and how to print."""

    folder: Annotated[str, FOLDER]
    json: Annotated[bool, printing("One JSON document on standard output.", "--json")] = False
    quiet: Annotated[bool, printing("Results only: no progress, no advice.", "--quiet", "-q")] = False
    verbose: Annotated[int, printing("Say what is done; twice: more.", "--verbose", "-v", count=True)] = 0
    debug: Annotated[bool, printing("Show where an error came from.", "--debug")] = False


@dataclass(frozen=True, kw_only=True)
class WritingOptions(FolderOptions):
    """What commands share that may change a collection: how long they wait for another one that does."""

    wait: Annotated[float, WAIT] = 0.0


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """What commands share that read documents: what to read, what to count, how to run, where to print."""

    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE…", help="Folders, files or addresses, `-` for JSON lines on standard input, or `demo`."
        ),
    ]
    text_column: Annotated[str | None, reading("Column that holds the text.", metavar="NAME")] = None
    title_column: Annotated[str | None, reading("Column that holds the title.", metavar="NAME")] = None
    id_column: Annotated[str | None, reading("Column that holds the id.", metavar="NAME")] = None
    xml_path: Annotated[
        str | None, reading("Elements of XML files that are documents, e.g. `channel/item`.", metavar="PATH")
    ] = None
    ocr: Annotated[
        bool, flag("Read pages of PDF that are pictures, also where others have text.", "--ocr", panel=READING)
    ] = False
    include: Annotated[list[str] | None, reading("Only files like this, e.g. '*.txt'.", metavar="PATTERN")] = None
    exclude: Annotated[list[str] | None, reading("No files like this.", metavar="PATTERN")] = None
    follow_links: Annotated[
        bool, flag("Follow links that lead out of a folder, to files and to folders.", "--follow-links", panel=READING)
    ] = False
    limit: Annotated[int | None, reading("At most so many documents.", metavar="N", min=1)] = None
    max_failures: Annotated[
        float,
        reading("Percent of files, rows or messages that may fail; more: exit 1.", metavar="PERCENT", min=0, max=100),
    ] = 5.0
    language: Annotated[
        str, counting("Of the texts, such as `en`; `auto` looks at the first of them.", metavar="LANG")
    ] = Recipe.language
    stop_words: Annotated[
        str, counting("`none`, a language such as `en`, `auto`, or a file of words.", metavar="WHICH")
    ] = Recipe.stop_words
    stem: Annotated[str | None, counting("Join forms of a word: a language, or `auto`.", metavar="LANG")] = Recipe.stem
    phrases: Annotated[bool, flag("Join pairs such as *black hole*.", "--phrases", panel=COUNTING)] = Recipe.phrases
    numbers: Annotated[bool, flag("Count numbers as words.", "--numbers", panel=COUNTING)] = Recipe.numbers
    min_documents: Annotated[
        int | None,
        counting("Leave out words of fewer documents; else 3, or 1 in 100,000 if that is more.", metavar="N", min=1),
    ] = Recipe.min_documents
    seed: Annotated[int, option("Same seed, same result.", metavar="N", min=0)] = Recipe.seed
    threads: Annotated[int | None, option("Threads; all cores by default.", metavar="N", min=1)] = None
    config: Annotated[
        str | None,
        option("A file of settings; without it `topiarist.toml` in the source or beside it.", metavar="FILE"),
    ] = None
    show_config: Annotated[bool, flag("Print every setting and where it comes from, and end.", "--show-config")] = False
    json: Annotated[
        bool, flag("One JSON document on standard output; progress as JSON lines.", "--json", panel=OUTPUT)
    ] = False
    quiet: Annotated[bool, flag("No progress.", "--quiet", "-q", panel=OUTPUT)] = False
    verbose: Annotated[
        int, flag("Say what is done in detail; twice: more.", "--verbose", "-v", panel=OUTPUT, count=True)
    ] = 0
    debug: Annotated[bool, flag("Show where an error came from.", "--debug", panel=OUTPUT)] = False

    @property
    def is_demo(self) -> bool:
        """The bundled collection, unless there is a folder of that name."""
        return self.sources == [DEMO] and not os.path.exists(DEMO)

    @property
    def shown_sources(self) -> list[str]:
        """The sources as they may be printed and kept: without what opens an address."""
        from topiarist.text.readers.file_systems import without_secret

        return [*map(without_secret, self.sources)]

    @property
    def selection(self) -> dict[str, Any]:
        """What decides which documents are read."""
        chosen = {name: getattr(self, name) for name in SELECTION}
        chosen |= {"include": self.include or [], "exclude": self.exclude or []}
        return chosen | ({"follow_links": True} if self.follow_links else {})

    def recipe(self, **more: Any) -> Recipe:
        """How to count, and what is said besides."""
        shared = {known.name for known in fields(Recipe)} & {known.name for known in fields(SourceOptions)}
        return Recipe(**{name: getattr(self, name) for name in shared}, **more)


def signature(options: type) -> inspect.Signature:
    """The options as the arguments of a function: those of the command before shared ones, but for what to read."""
    hints = get_type_hints(options, include_extras=True)
    bases = [base for base in (FolderOptions, SourceOptions) if issubclass(options, base)]
    shared = {known.name for base in bases for known in fields(base)}

    def place(known: Field[Any]) -> tuple[bool, int, bool]:
        panel = hints[known.name].__metadata__[0].rich_help_panel
        first = known.name in ("folder", "sources")
        return not first, PANELS.index(panel), (known.name in shared) != (panel == READING)

    return inspect.Signature(
        [
            inspect.Parameter(
                known.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if known.default is MISSING else known.default,
                annotation=hints[known.name],
            )
            for known in sorted(fields(options), key=place)
        ]
    )
