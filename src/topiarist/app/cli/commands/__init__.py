"""The commands of ``topiarist``: each is a module of this room, and is listed here.

Floor plan:

    check       ``topiarist check``: is the collection whole?
    compare     ``topiarist compare``: what is different in two trees?
    doctor      ``topiarist doctor``: is everything here that topiarist needs?
    duplicates  ``topiarist duplicates``: what is there more than once?
    evaluate    ``topiarist evaluate``: is the tree any good?
    explore     ``topiarist explore``: a collection as pages in the browser, from this machine and for this machine.
    export      ``topiarist export``: how do I hand this to others, and to other programs?
    file        ``topiarist file``: where do new documents belong, and which of them belong nowhere?
    find        ``topiarist find``: where is it? Also prints what ``similar`` finds.
    grow        ``topiarist grow``: which topics, and which of them belong together? Kept in a folder, and printed.
    learn       ``topiarist learn``: given categories, learned from examples; how good are they?
    name        ``topiarist name``: what could the topics be called, by their words or by a language model of yours?
    remove      ``topiarist remove``: which documents should not be in here, and what goes with them?
    report      ``topiarist report``: a collection as one file, to hand on.
    review      ``topiarist review``: what is relevant here, is all of it found, and when may I stop?
    shape       ``topiarist shape``: what should the tree look like, and what would that change?
    show        ``topiarist show``: what is this topic about, and what is in it? What does this document say, and why is
                it here?
    similar     ``topiarist similar``: what else is like this?
    topics      ``topiarist topics``: what is this collection about?
    tree        ``topiarist tree``: what is in here?
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from topiarist.app.cli import settings_file
from topiarist.app.cli.options import SourceOptions, signature
from topiarist.app.cli.terminal.console import log_to_stderr
from topiarist.app.cli.terminal.failures import explained
from topiarist.version import __version__

COMMANDS = (
    "grow", "topics", "doctor", "tree", "show", "find", "similar", "review", "file", "remove", "learn", "shape", "name",
    "export", "compare", "evaluate", "duplicates", "check", "explore", "report",
)  # fmt: skip

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


def _called(command: Any) -> Callable[..., None]:
    """A function with the options of a command as its arguments; what goes wrong in it is explained."""
    declared = signature(command.Options)

    def called(ctx: typer.Context, **given: Any) -> None:
        writes = any(not name or given[name] for name in command.WRITES)
        with explained(debug=given["debug"], writes=writes):
            if issubclass(command.Options, SourceOptions):
                known = settings_file.settled(ctx, given)
                if given["show_config"]:
                    settings_file.show(known, as_json=given["json"])
                    return
                given = {name: setting.value for name, setting in known.items()}
            log_to_stderr(given.get("verbose", 0))
            command.run(command.Options(**given))

    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    parameters = [context, *declared.parameters.values()]
    called.__signature__ = declared.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


for _name in COMMANDS:
    _command = import_module(f"{__name__}.{_name}")
    app.command(_name, help=_command.Options.__doc__, epilog=_command.EPILOG)(_called(_command))
