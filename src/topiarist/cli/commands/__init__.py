"""Registry of the commands; each command is a module of this package."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from topiarist.cli.options import signature
from topiarist.version import __version__

COMMANDS = {
    "grow": "Grow a topic tree from documents and save it.",
    "topics": "Find flat topics and print them.",
    "tree": "Print the topic tree of a collection.",
    "terms": "Group terms by the words around them.",
    "show": "Show a topic, a document, or the columns of a collection.",
    "time": "Show topics over time.",
    "groups": "Compare groups of documents by topic.",
    "compare": "Compare two trees.",
    "evaluate": "Measure the quality of a tree.",
    "explore": "Open a collection in the browser.",
    "report": "Write a collection into one HTML file.",
    "export": "Write tables, the tree or the model for other programs.",
    "mcp": "Let a language model read a collection.",
    "shape": "Edit the tree.",
    "name": "List or choose names for topics.",
    "file": "Assign new documents to topics.",
    "remove": "Remove or erase documents.",
    "duplicates": "List copies and near-copies.",
    "learn": "Learn categories from labels.",
    "find": "Search documents.",
    "similar": "List documents that resemble others.",
    "review": "Find all relevant documents, the most promising first.",
    "check": "Check the integrity of a collection.",
    "doctor": "Show the environment and what is missing.",
}


class LazyCommands(Mapping[str, Any]):
    """Commands by their names; a command is imported when it is used."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """Return a command; import and build it on first use. An unknown name is a KeyError."""
        if name not in self._loaded:
            if name not in COMMANDS:
                raise KeyError(name)
            module, command = (
                import_module(f"{__name__}.{name}"),
                typer.Typer(add_completion=False, rich_markup_mode="markdown"),
            )
            command.command(name, help=module.Options.__doc__, epilog=module.EPILOG)(_make_command(module))
            self._loaded[name] = typer.main.get_command(command)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class CommandGroup(TyperGroup):
    """The program; its ``--help`` imports no command."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = LazyCommands()

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the summaries of the commands."""
        commands, self.commands = (
            self.commands,
            {name: TyperCommand(name, help=text) for name, text in COMMANDS.items()},
        )
        try:
            super().format_help(ctx, formatter)
        finally:
            self.commands = commands


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


@app.callback(cls=CommandGroup)
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.", metavar=" ")
    ] = False,
) -> None:
    """Shape document collections into topic trees."""


def _make_command(command: Any) -> Callable[..., None]:
    """Return a function with the options as parameters, which runs the command and explains errors."""
    declaration = signature(command.Options)

    def run_command(ctx: typer.Context, **parameters: Any) -> None:

        from topiarist.cli import settings_file
        from topiarist.cli.terminal.console import log_to_stderr
        from topiarist.cli.terminal.failures import check_address_space, explain_failures
        from topiarist.storage.sealed_folder import set_patience

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
