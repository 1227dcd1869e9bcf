"""Registry of the commands; each command is a module of this package."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from topiarist.cli import settings_file
from topiarist.cli.options import signature
from topiarist.cli.terminal.console import log_to_stderr
from topiarist.cli.terminal.failures import check_address_space, explain_failures
from topiarist.storage.sealed_folder import set_patience
from topiarist.version import __version__

COMMANDS = (
    *("grow", "topics"),
    *("tree", "show", "time", "groups", "compare", "evaluate", "explore", "report", "export", "mcp"),
    *("shape", "name"),
    *("file", "remove", "duplicates", "learn"),
    *("find", "similar", "review"),
    *("check", "doctor"),
)

app = typer.Typer(
    help="Shape document collections into topic trees.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    epilog="Start with: topiarist grow demo",
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(is_set: bool) -> None:
    if is_set:
        print(f"topiarist {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Shape document collections into topic trees."""


def _make_command(command: Any) -> Callable[..., None]:
    """A function with the options of a command as its arguments; what goes wrong in it is explained."""
    declaration = signature(command.Options)

    def run_command(ctx: typer.Context, **parameters: Any) -> None:
        writes = any(not name or parameters[name] for name in command.WRITES)
        with explain_failures(debug=parameters["debug"], writes=writes):
            check_address_space()
            settings = settings_file.resolve_settings(ctx, parameters)
            if parameters.get("show_config"):
                settings_file.show(settings, as_json=parameters["json"])
                return
            parameters = {name: setting.value for name, setting in settings.items()}
            log_to_stderr(parameters.get("verbose", 0))
            with set_patience(parameters.get("wait", 0.0)):
                command.run(command.Options(**parameters))

    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    parameters = [context, *declaration.parameters.values()]
    run_command.__signature__ = declaration.replace(parameters=parameters)  # type: ignore[attr-defined]
    run_command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run_command


for _name in COMMANDS:
    _command = import_module(f"{__name__}.{_name}")
    app.command(_name, help=_command.Options.__doc__, epilog=_command.EPILOG)(_make_command(_command))
