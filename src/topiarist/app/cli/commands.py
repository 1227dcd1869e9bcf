"""The commands and their options; each one is a module of its own."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from topiarist import __version__
from topiarist.app.cli.failures import explained

app = typer.Typer(
    help="Shape document collections into topic trees.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    epilog="Start with: topiarist topics demo",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"topiarist {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Shape document collections into topic trees."""


READING, COUNTING, OUTPUT = "What to read", "What to count", "What to print"


def _option(*names: str, panel: str, text: str) -> Any:
    return typer.Option(*names, rich_help_panel=panel, help=text)


@app.command(
    epilog="""Examples:\n
    topiarist topics demo\n
    topiarist topics ./mail --topics 30 --stop-words en\n
    topiarist topics tickets.csv --text-column description --json > topics.json\n
    zcat news.jsonl.gz | topiarist topics - --phrases"""
)
def topics(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE…", help="Folders or files, `-` for JSON lines on standard input, or `demo`."),
    ],
    topics: Annotated[int, typer.Option("--topics", "-k", min=1, help="How many topics.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same topics.")] = 0,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads; all cores by default.")] = None,
    text_column: Annotated[
        str | None, _option("--text-column", panel=READING, text="Column that holds the text.")
    ] = None,
    title_column: Annotated[
        str | None, _option("--title-column", panel=READING, text="Column that holds the title.")
    ] = None,
    id_column: Annotated[str | None, _option("--id-column", panel=READING, text="Column that holds the id.")] = None,
    include: Annotated[
        list[str] | None, _option("--include", panel=READING, text="Only files like this, e.g. '*.txt'.")
    ] = None,
    exclude: Annotated[list[str] | None, _option("--exclude", panel=READING, text="No files like this.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, rich_help_panel=READING, help="At most so many documents.")
    ] = None,
    max_failures: Annotated[
        float,
        typer.Option(
            min=0,
            max=100,
            rich_help_panel=READING,
            help="Percent of files, rows or messages that may fail.",
        ),
    ] = 5.0,
    stop_words: Annotated[
        str,
        _option(
            "--stop-words",
            panel=COUNTING,
            text="`none`, a language such as `en`, `auto`, or a file of words.",
        ),
    ] = "none",
    stem: Annotated[
        str | None, _option("--stem", panel=COUNTING, text="Join forms of a word: a language, or `auto`.")
    ] = None,
    phrases: Annotated[bool, _option("--phrases", panel=COUNTING, text="Join pairs such as *black hole*.")] = False,
    numbers: Annotated[bool, _option("--numbers", panel=COUNTING, text="Count numbers as words.")] = False,
    min_documents: Annotated[
        int, typer.Option(min=1, rich_help_panel=COUNTING, help="Leave out words of fewer documents.")
    ] = 3,
    words: Annotated[int, typer.Option(min=2, max=100, rich_help_panel=OUTPUT, help="Words per topic.")] = 8,
    json: Annotated[bool, _option("--json", panel=OUTPUT, text="One JSON document on standard output.")] = False,
    quiet: Annotated[bool, _option("--quiet", panel=OUTPUT, text="No progress.")] = False,
    debug: Annotated[bool, _option("--debug", panel=OUTPUT, text="Show where an error came from.")] = False,
) -> None:
    """Find the topics of a collection and print them."""
    with explained(debug=debug):
        from topiarist.app.cli import topics as command

        reading = command.ReadOptions(
            tuple(sources),
            text_column,
            title_column,
            id_column,
            tuple(include or ()),
            tuple(exclude or ()),
            limit,
            max_failures,
        )
        counting = command.CountOptions(stop_words, stem, phrases, numbers, min_documents)
        command.run(reading, counting, command.FitOptions(topics, words, seed, threads), json=json, quiet=quiet)


@app.command()
def doctor(
    warm: Annotated[
        bool, typer.Option("--warm", help="Compile the numerical kernels now instead of at the first fit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", hidden=True)] = False,
) -> None:
    """Say what topiarist runs on, and what is missing."""
    with explained(debug=debug):
        from topiarist.app.cli import doctor as command

        command.run(warm=warm)
