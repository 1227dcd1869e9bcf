"""``topiarist explore``: a collection as pages in the browser, from this machine and for this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from topiarist.app.cli.terminal.failures import explained

PORT_HELP = "0: any that is free."
REMOTE_HELP = "Listen on this address as well, for others: prints an address with a token."

WITH_HELP = "Another collection of the same documents, to compare the trees; only read. May be given again."


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        epilog="""Examples:\n
    topiarist explore mail.topiary\n
    topiarist explore mail.topiary --port 8000 --no-browser --read-only\n
    topiarist explore mail.topiary --with older.topiary"""
    )
    def explore(
        folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A collection, as grow has made it.")],
        port: Annotated[int, typer.Option(min=0, max=65_535, help=PORT_HELP)] = 0,
        no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
        read_only: Annotated[bool, typer.Option("--read-only", help="Let nobody change anything.")] = False,
        allow_remote: Annotated[str | None, typer.Option("--allow-remote", metavar="HOST", help=REMOTE_HELP)] = None,
        beside: Annotated[list[str] | None, typer.Option("--with", metavar="FOLDER", help=WITH_HELP)] = None,
        debug: Annotated[bool, typer.Option("--debug", hidden=True)] = False,
    ) -> None:
        """Open a collection in the browser: walk its tree, search, read, shape."""
        with explained(debug=debug):
            from topiarist.app.explorer.serving import serve

            serve(
                folder, port=port, browser=not no_browser, read_only=read_only, remote=allow_remote,
                beside=tuple(beside or ()),
            )  # fmt: skip
