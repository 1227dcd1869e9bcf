"""The commands of ``topiarist``: each is a module of the room of its verb, and is listed here.

Floor plan:

    care/       Care: is the collection whole, is everything here that is needed?
    exploring/  Exploring: what is in here, on the screen, as pages and in files.
    filing/     Filing: documents that come, that go, that are there twice, and the categories they belong to.
    finding/    Finding: by words and meaning, by example, and to the end.
    growing/    Growing: a tree, of a collection that is kept or of documents that are only looked at.
    shaping/    Shaping: the tree as somebody wants it, and what its topics are called.
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
from topiarist.store.sealed_folder import patient
from topiarist.version import __version__

ROOMS = {
    "growing": ("grow", "topics"),
    "exploring": ("tree", "show", "time", "groups", "compare", "evaluate", "explore", "report", "export", "mcp"),
    "shaping": ("shape", "name"),
    "filing": ("file", "remove", "duplicates", "learn"),
    "finding": ("find", "similar", "review"),
    "care": ("check", "verify", "doctor"),
}
COMMANDS = tuple(name for names in ROOMS.values() for name in names)

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
            with patient(given.get("wait", 0.0)):
                command.run(command.Options(**given))

    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    parameters = [context, *declared.parameters.values()]
    called.__signature__ = declared.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


for _room, _names in ROOMS.items():
    for _name in _names:
        _command = import_module(f"{__name__}.{_room}.{_name}")
        app.command(_name, help=_command.Options.__doc__, epilog=_command.EPILOG)(_called(_command))
