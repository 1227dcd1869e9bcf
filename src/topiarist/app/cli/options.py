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

from topiarist.app.cli import settings_file as settings
from topiarist.app.cli.terminal.failures import explained

PANELS = (None, "What to read", "What to count", "What to print")
_, READING, COUNTING, OUTPUT = PANELS
READING_PLACE = PANELS.index(READING)
DEMO, STDIN = "demo", "-"


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

    language: str = "auto"
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
    verbose: int = 0
    debug: bool = False


def option(*names: str, panel: str | None, text: str, metavar: str | None = None, **more: Any) -> Any:
    """An option in one of the panels of ``--help``; ``metavar`` says in a word what to type after it."""
    return typer.Option(*names, rich_help_panel=panel, help=text, metavar=metavar, **more)


def flag(*names: str, panel: str | None, text: str, **more: Any) -> Any:
    """An option that is there or not."""
    return option(*names, panel=panel, text=text, metavar=" ", **more)


def common_options(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE…", help="Folders or files, `-` for JSON lines on standard input, or `demo`."),
    ],
    text_column: Annotated[
        str | None, option("--text-column", panel=READING, text="Column that holds the text.", metavar="NAME")
    ] = None,
    title_column: Annotated[
        str | None, option("--title-column", panel=READING, text="Column that holds the title.", metavar="NAME")
    ] = None,
    id_column: Annotated[
        str | None, option("--id-column", panel=READING, text="Column that holds the id.", metavar="NAME")
    ] = None,
    include: Annotated[
        list[str] | None,
        option("--include", panel=READING, text="Only files like this, e.g. '*.txt'.", metavar="PATTERN"),
    ] = None,
    exclude: Annotated[
        list[str] | None, option("--exclude", panel=READING, text="No files like this.", metavar="PATTERN")
    ] = None,
    limit: Annotated[
        int | None, option("--limit", panel=READING, text="At most so many documents.", metavar="N", min=1)
    ] = None,
    max_failures: Annotated[
        float,
        option(
            "--max-failures",
            panel=READING,
            text="Percent of files, rows or messages that may fail; more: exit 1.",
            metavar="PERCENT",
            min=0,
            max=100,
        ),
    ] = 5.0,
    language: Annotated[
        str,
        option(
            "--language",
            panel=COUNTING,
            metavar="LANG",
            text="Of the texts, such as `en`; `auto` looks at the first of them.",
        ),
    ] = "auto",
    stop_words: Annotated[
        str,
        option(
            "--stop-words",
            panel=COUNTING,
            metavar="WHICH",
            text="`none`, a language such as `en`, `auto`, or a file of words.",
        ),
    ] = "none",
    stem: Annotated[
        str | None,
        option("--stem", panel=COUNTING, text="Join forms of a word: a language, or `auto`.", metavar="LANG"),
    ] = None,
    phrases: Annotated[bool, flag("--phrases", panel=COUNTING, text="Join pairs such as *black hole*.")] = False,
    numbers: Annotated[bool, flag("--numbers", panel=COUNTING, text="Count numbers as words.")] = False,
    min_documents: Annotated[
        int,
        option("--min-documents", panel=COUNTING, text="Leave out words of fewer documents.", metavar="N", min=1),
    ] = 3,
    seed: Annotated[int, option("--seed", panel=None, text="Same seed, same result.", metavar="N", min=0)] = 0,
    threads: Annotated[
        int | None, option("--threads", panel=None, text="Threads; all cores by default.", metavar="N", min=1)
    ] = None,
    config: Annotated[
        str | None,
        option(
            "--config",
            panel=None,
            metavar="FILE",
            text="A file of settings; without it `topiarist.toml` in the source or beside it.",
        ),
    ] = None,
    show_config: Annotated[
        bool, flag("--show-config", panel=None, text="Print every setting and where it comes from, and end.")
    ] = False,
    json: Annotated[
        bool,
        flag("--json", panel=OUTPUT, text="One JSON document on standard output; progress as JSON lines."),
    ] = False,
    quiet: Annotated[bool, flag("--quiet", "-q", panel=OUTPUT, text="No progress.")] = False,
    verbose: Annotated[
        int, flag("--verbose", "-v", panel=OUTPUT, text="Say what is done in detail; twice: more.", count=True)
    ] = 0,
    debug: Annotated[bool, flag("--debug", panel=OUTPUT, text="Show where an error came from.")] = False,
) -> Common:
    """The options as one value; this signature is what ``--help`` shows."""
    reading = ReadOptions(
        tuple(sources), text_column, title_column, id_column,
        tuple(include or ()), tuple(exclude or ()), limit, max_failures,
    )  # fmt: skip
    counting = CountOptions(language, stop_words, stem, phrases, numbers, min_documents)
    return Common(reading, counting, seed, threads, json, quiet, verbose, debug)


def with_common_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options above: it gets them as its first argument, and its exceptions are explained.

    Before, what was not said on the command line is looked up in the environment and in ``topiarist.toml``.
    """
    shared = list(inspect.signature(common_options, eval_str=True).parameters.values())
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

    @functools.wraps(command)
    def called(ctx: typer.Context, **given: Any) -> None:
        with explained(debug=given["debug"], writes=command.__name__ == "grow"):
            known = settings.settled(ctx, given)
            if given["show_config"]:
                settings.show(known, as_json=given["json"])
                return
            given = {name: setting.value for name, setting in known.items()}
            common = common_options(**{parameter.name: given.pop(parameter.name) for parameter in shared})
            settings.log_to_stderr(common.verbose)
            command(common, **given)

    mixed = [shared[0], *(one for one in own if _panel(one) != READING_PLACE), *shared[1:]]
    parameters = sorted([*mixed, *(one for one in own if _panel(one) == READING_PLACE)], key=_panel)
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [context, *(parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in parameters)]
    )
    called.__annotations__ = {"ctx": typer.Context} | {entry.name: entry.annotation for entry in parameters}
    return called


def _panel(parameter: inspect.Parameter) -> int:
    """The place of an option's panel in ``--help``."""
    return PANELS.index(parameter.annotation.__metadata__[0].rich_help_panel)
