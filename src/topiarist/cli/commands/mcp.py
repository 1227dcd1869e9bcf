"""Command ``topiarist mcp``: serve a collection, read-only, to a program with a language model."""

from __future__ import annotations

from dataclasses import dataclass

from topiarist.cli.options import debug_option, examples, folder_argument
from topiarist.errors import ResourceError

EPILOG = examples("topiarist mcp mail.topiary")
WRITES = ()


@dataclass(frozen=True, kw_only=True)
class Options:
    """Let a program with a language model read a collection. It can change nothing.

    The program starts this command, which speaks the Model Context Protocol on standard input and output.
    """

    folder: str = folder_argument()
    debug: bool = debug_option()


def run(options: Options) -> None:
    """Serve the tools on standard input and output. Raise ResourceError if the package mcp is missing."""
    try:
        from topiarist.cli import reading_server
    except ModuleNotFoundError as error:
        raise ResourceError(
            f"the package {error.name} is needed for this protocol", hint="Run pip install 'topiarist[mcp]'."
        ) from error
    reading_server.create_server(options.folder).run("stdio")
