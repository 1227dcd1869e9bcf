"""The commands and their options; each one is a module of its own."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from typing import Annotated

import typer

from topiarist.app.cli import using
from topiarist.app.cli.commands import explore, report
from topiarist.app.cli.options import OUTPUT, READING, Common, flag, option, with_common_options
from topiarist.app.cli.terminal.failures import explained
from topiarist.version import __version__

app = typer.Typer(
    help="Shape document collections into topic trees.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    epilog="Start with: topiarist grow demo",
    context_settings={"help_option_names": ["--help", "-h"]},
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


EXIT_CODES = (
    "Exit codes: 0 done · 1 done, with something left out · 2 wrong use · 3 no usable text · 4 damaged or too new · "
    "5 memory, disk or device · 70 a fault of ours · 130 stopped"
)
TOPICS_HELP = "How many topics at the leaves; `auto`: held-out words choose."
FIGURE_HELP = "Draw the tree into a .png, .svg or .pdf file."
CURVE_HELP = "Draw how the number of topics was chosen."
DEPTH_HELP = "Levels to print below the root; without it as many as fit into 100 lines."
OUTPUT_HELP = "The folder of the collection; without it `NAME.topiary` here, called like the source."
HIERARCHY_HELP = "Learn this tree from labelled documents instead of growing one: a file with a path on each line."
ONLINE_HELP = "Grow on a sample, then learn from all documents in batches: for very large collections."
RESUME_HELP = "Go on with a grow that was stopped or killed."
STRIP_HELP = "Leave out the last lines that many documents share: footers, disclaimers."


class Model(StrEnum):
    """The models that a tree can be grown with."""

    CAM, HPLSA, GGM = "cam", "hplsa", "ggm"


class Device(StrEnum):
    """Where to compute."""

    CPU, CUDA = "cpu", "cuda"


def topics_number(text: str) -> int | None:
    """A number of topics; None for ``auto``."""
    if str(text) == "auto":
        return None
    if not str(text).isdecimal() or int(text) < 1:
        raise typer.BadParameter(f"expected a whole number of at least 1, or auto; got {text}")
    return int(text)


@app.command(
    epilog=f"""Examples:\n
    topiarist grow demo\n
    topiarist grow ./mail --stop-words en --phrases\n
    topiarist grow tickets.csv --text-column description --topics 12 -o tickets.topiary\n
    zcat news.jsonl.gz | topiarist grow - --json > tree.json\n
    {EXIT_CODES}"""
)
@with_common_options
def grow(
    common: Common,
    output: Annotated[str | None, option("--output", "-o", panel=None, text=OUTPUT_HELP, metavar="FOLDER")] = None,
    topics: Annotated[
        int | None,
        option("--topics", "--leaves", "-k", panel=None, text=TOPICS_HELP, metavar="auto|N", parser=topics_number),
    ] = None,
    model: Annotated[
        Model, option("--model", panel=None, text="Kind of tree: `cam`, `hplsa` or `ggm`.", metavar="NAME")
    ] = Model.CAM,
    hierarchy: Annotated[str | None, option("--hierarchy", panel=None, text=HIERARCHY_HELP, metavar="FILE")] = None,
    online: Annotated[bool, flag("--online", panel=None, text=ONLINE_HELP)] = False,
    device: Annotated[
        Device, option("--device", panel=None, text="`cpu`, or `cuda` for an NVIDIA GPU.", metavar="NAME")
    ] = Device.CPU,
    force: Annotated[bool, flag("--force", panel=None, text="Grow anew what is there; it stays until then.")] = False,
    resume: Annotated[bool, flag("--resume", panel=None, text=RESUME_HELP)] = False,
    dry_run: Annotated[
        bool, flag("--dry-run", panel=None, text="Count files, estimate time and memory, write nothing.")
    ] = False,
    date_column: Annotated[
        str | None, option("--date-column", panel=READING, text="Column that holds the date.", metavar="NAME")
    ] = None,
    label_column: Annotated[
        str | None,
        option("--label-column", panel=READING, text="Column that holds labels, with ; between them.", metavar="NAME"),
    ] = None,
    labels: Annotated[
        str | None,
        option("--labels", panel=READING, text="A table of labels with the columns id and label.", metavar="FILE"),
    ] = None,
    strip_repeated: Annotated[bool, flag("--strip-repeated", panel=READING, text=STRIP_HELP)] = False,
    words: Annotated[int, option("--words", panel=OUTPUT, text="Words per topic.", metavar="N", min=1, max=20)] = 8,
    depth: Annotated[int | None, option("--depth", panel=OUTPUT, text=DEPTH_HELP, metavar="N", min=0)] = None,
    figure: Annotated[str | None, option("--figure", panel=OUTPUT, text=FIGURE_HELP, metavar="FILE")] = None,
    curve: Annotated[str | None, option("--curve", panel=OUTPUT, text=CURVE_HELP, metavar="FILE")] = None,
) -> None:
    """Grow a tree of topics, general words at the root and special ones at the leaves; keep and print it."""
    command = import_module("topiarist.app.cli.commands.grow")
    from topiarist.app.cli.source_stream import Extra

    command.run(
        common,
        command.Wish(output, topics, Model(model).value, hierarchy, online, Device(device).value),
        command.Manner(force, resume, dry_run),
        Extra(date_column, label_column, labels, strip_repeated),
        command.Printing(words, depth, figure, curve),
    )


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
    topics: Annotated[int, option("--topics", "-k", panel=None, text="How many topics.", metavar="N", min=1)] = 20,
    words: Annotated[int, option("--words", panel=OUTPUT, text="Words per topic.", metavar="N", min=2, max=100)] = 8,
) -> None:
    """Find flat topics and print them."""
    command = import_module("topiarist.app.cli.commands.topics")

    command.run(common, topics, words)


@app.command()
def doctor(
    warm: Annotated[
        bool, flag("--warm", panel=None, text="Compile the numerical kernels now instead of at the first fit.")
    ] = False,
    json: Annotated[bool, flag("--json", panel=None, text="One JSON document on standard output.")] = False,
    debug: Annotated[bool, typer.Option("--debug", hidden=True)] = False,
) -> None:
    """Say what topiarist runs on, and what is missing."""
    with explained(debug=debug):
        command = import_module("topiarist.app.cli.commands.doctor")

        command.run(warm=warm, as_json=json)


using.register(app)
explore.register(app)
report.register(app)
