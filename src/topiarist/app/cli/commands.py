"""The commands and their options; each one is a module of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from topiarist import __version__
from topiarist.app.cli.failures import explained
from topiarist.app.cli.options import OUTPUT, Common, option, with_common_options

app = typer.Typer(
    help="Shape document collections into topic trees.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    epilog="Start with: topiarist grow demo",
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


LEAVES_HELP = "How many leaves. Without it, held-out words choose."
FIGURE_HELP = "Draw the tree into a .png, .svg or .pdf file."
CURVE_HELP = "Draw how the number of leaves was chosen."
DEPTH_HELP = "Levels to print below the root; without it as many as fit into 100 lines."


@app.command(
    epilog="""Examples:\n
    topiarist grow demo\n
    topiarist grow ./mail --stop-words en --phrases\n
    topiarist grow tickets.csv --text-column description --leaves 12 --figure tree.svg\n
    zcat news.jsonl.gz | topiarist grow - --json > tree.json"""
)
@with_common_options
def grow(
    common: Common,
    leaves: Annotated[int | None, typer.Option("--leaves", "-k", min=1, help=LEAVES_HELP)] = None,
    words: Annotated[int, typer.Option(min=1, max=100, rich_help_panel=OUTPUT, help="Words per node.")] = 8,
    depth: Annotated[int | None, typer.Option(min=0, rich_help_panel=OUTPUT, help=DEPTH_HELP)] = None,
    figure: Annotated[str | None, option("--figure", panel=OUTPUT, text=FIGURE_HELP)] = None,
    curve: Annotated[str | None, option("--curve", panel=OUTPUT, text=CURVE_HELP)] = None,
) -> None:
    """Grow a tree of topics, general words at the root and special ones at the leaves, and print it."""
    from topiarist.app.cli import grow as command

    command.run(common, leaves, command.Printing(words, depth, figure, curve))


@app.command(
    epilog="""Examples:\n
    topiarist topics demo\n
    topiarist topics ./mail --topics 30 --stop-words en\n
    topiarist topics tickets.csv --text-column description --json > topics.json\n
    zcat news.jsonl.gz | topiarist topics - --phrases"""
)
@with_common_options
def topics(
    common: Common,
    topics: Annotated[int, typer.Option("--topics", "-k", min=1, help="How many topics.")] = 20,
    words: Annotated[int, typer.Option(min=2, max=100, rich_help_panel=OUTPUT, help="Words per topic.")] = 8,
) -> None:
    """Find flat topics and print them."""
    from topiarist.app.cli import topics as command

    command.run(common, topics, words)


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
