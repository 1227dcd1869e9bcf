"""Commands that use a collection: look at it, find in it, file into it, shape it, take it away.

options.py     what each command may be told, as one value per command; nothing numerical is loaded for ``--help``
screen.py      where a command prints, and what it says at the end
tree.py  show.py  documents.py  find.py  filing.py  learning.py  shaping.py  interactive.py  exporting.py
comparing.py  checking.py          one question each: ``run`` answers it
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from importlib import import_module
from typing import Any, get_type_hints

import typer

from topiarist.app.cli.settings_file import log_to_stderr
from topiarist.app.cli.terminal.failures import explained
from topiarist.app.cli.using_options import COMMANDS, Command, Output


def register(app: typer.Typer) -> None:
    """Add the commands to ``topiarist``."""
    for command in COMMANDS:
        app.command(command.name, help=command.options.__doc__, epilog=command.epilog)(_called(command))


def _called(command: Command) -> Callable[..., None]:
    """A function with the options as its arguments; what it needs is imported when it is called."""

    def called(**given: Any) -> None:
        writes = any(not name or given[name] for name in command.writes)
        with explained(debug=given["debug"], writes=writes):
            log_to_stderr(given["verbose"])
            options = command.options(**given)
            import_module(f"topiarist.app.cli.commands.{command.module}").run(options)

    hints = get_type_hints(command.options, include_extras=True)
    shared = {field.name for field in fields(Output)}
    ordered = sorted(fields(command.options), key=lambda field: (field.name in shared) - 2 * (field.name == "folder"))
    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if field.default is MISSING else field.default,
                annotation=hints[field.name],
            )
            for field in ordered
        ]
    )
    called.__annotations__ = {field.name: hints[field.name] for field in ordered}
    called.__name__ = command.name
    return called
