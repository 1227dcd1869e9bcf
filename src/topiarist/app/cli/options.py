"""The options that commands share, declared once: what to read, what to count, how to run.

Nothing numerical is loaded here, so that ``--help`` is quick.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from topiarist.app.cli.failures import explained

PANELS = (None, "What to read", "What to count", "What to print")
_, READING, COUNTING, OUTPUT = PANELS
DEMO = "demo"


@dataclass(frozen=True)
class ReadOptions:
    """What to read."""

    sources: tuple[str, ...]
    text_column: str | None = None
    title_column: str | None = None
    id_column: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    limit: int | None = None
    max_failures: float = 5.0

    @property
    def is_demo(self) -> bool:
        """The bundled collection, unless there is a folder of that name."""
        return self.sources == (DEMO,) and not os.path.exists(DEMO)


@dataclass(frozen=True)
class CountOptions:
    """What to count."""

    stop_words: str = "none"
    stem: str | None = None
    phrases: bool = False
    numbers: bool = False
    min_documents: int = 3


@dataclass(frozen=True)
class Common:
    """What to read, what to count, how to run, where to print."""

    reading: ReadOptions
    counting: CountOptions
    seed: int = 0
    threads: int | None = None
    json: bool = False
    quiet: bool = False
    debug: bool = False


def option(*names: str, panel: str, text: str) -> Any:
    """An option in one of the panels of ``--help``."""
    return typer.Option(*names, rich_help_panel=panel, help=text)


def common_options(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE…", help="Folders or files, `-` for JSON lines on standard input, or `demo`."),
    ],
    text_column: Annotated[
        str | None, option("--text-column", panel=READING, text="Column that holds the text.")
    ] = None,
    title_column: Annotated[
        str | None, option("--title-column", panel=READING, text="Column that holds the title.")
    ] = None,
    id_column: Annotated[str | None, option("--id-column", panel=READING, text="Column that holds the id.")] = None,
    include: Annotated[
        list[str] | None, option("--include", panel=READING, text="Only files like this, e.g. '*.txt'.")
    ] = None,
    exclude: Annotated[list[str] | None, option("--exclude", panel=READING, text="No files like this.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, rich_help_panel=READING, help="At most so many documents.")
    ] = None,
    max_failures: Annotated[
        float,
        typer.Option(min=0, max=100, rich_help_panel=READING, help="Percent of files, rows or messages that may fail."),
    ] = 5.0,
    stop_words: Annotated[
        str,
        option("--stop-words", panel=COUNTING, text="`none`, a language such as `en`, `auto`, or a file of words."),
    ] = "none",
    stem: Annotated[
        str | None, option("--stem", panel=COUNTING, text="Join forms of a word: a language, or `auto`.")
    ] = None,
    phrases: Annotated[bool, option("--phrases", panel=COUNTING, text="Join pairs such as *black hole*.")] = False,
    numbers: Annotated[bool, option("--numbers", panel=COUNTING, text="Count numbers as words.")] = False,
    min_documents: Annotated[
        int, typer.Option(min=1, rich_help_panel=COUNTING, help="Leave out words of fewer documents.")
    ] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same result.")] = 0,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads; all cores by default.")] = None,
    json: Annotated[bool, option("--json", panel=OUTPUT, text="One JSON document on standard output.")] = False,
    quiet: Annotated[bool, option("--quiet", panel=OUTPUT, text="No progress.")] = False,
    debug: Annotated[bool, option("--debug", panel=OUTPUT, text="Show where an error came from.")] = False,
) -> Common:
    """The options as one value; this signature is what ``--help`` shows."""
    reading = ReadOptions(
        tuple(sources), text_column, title_column, id_column,
        tuple(include or ()), tuple(exclude or ()), limit, max_failures,
    )  # fmt: skip
    counting = CountOptions(stop_words, stem, phrases, numbers, min_documents)
    return Common(reading, counting, seed, threads, json, quiet, debug)


def with_common_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options above: it gets them as its first argument, and its exceptions are explained."""
    shared = list(inspect.signature(common_options, eval_str=True).parameters.values())
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

    @functools.wraps(command)
    def called(**given: Any) -> None:
        with explained(debug=given["debug"]):
            common = common_options(**{parameter.name: given.pop(parameter.name) for parameter in shared})
            command(common, **given)

    parameters = sorted([shared[0], *own, *shared[1:]], key=_panel)
    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in parameters]
    )
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


def _panel(parameter: inspect.Parameter) -> int:
    """The place of an option's panel in ``--help``."""
    return PANELS.index(parameter.annotation.__metadata__[0].rich_help_panel)
