"""``topiarist report``: a collection as one file, to hand on."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from topiarist.app.cli.terminal.failures import explained


class Documents(StrEnum):
    """What of the documents is in a report."""

    typical = "typical"
    all = "all"
    none = "none"


OUTPUT_HELP = "The file to write."
DOCUMENTS_HELP = "typical: titles and a line of a few; all: full texts; none: words and numbers only."


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        epilog="""Examples:\n
    topiarist report mail.topiary -o report.html\n
    topiarist report mail.topiary -o words-only.html --documents none"""
    )
    def report(
        folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A collection, as grow has made it.")],
        output: Annotated[str, typer.Option("--output", "-o", help=OUTPUT_HELP)] = "report.html",
        documents: Annotated[Documents, typer.Option(help=DOCUMENTS_HELP)] = Documents.typical,
        debug: Annotated[bool, typer.Option("--debug", hidden=True)] = False,
    ) -> None:
        """Write a collection into one HTML file that opens anywhere and loads nothing."""
        with explained(debug=debug):
            from topiarist.app.cli.terminal.bar import Bar
            from topiarist.app.explorer.report import LARGE, SAID, write_report
            from topiarist.collection.collection import Collection

            with Collection.open(folder) as collection, Bar("Writing texts") as bar:
                size = write_report(collection, output, documents.value, bar)
            print(f"{output}: {size / 1e6:.1f} MB. {SAID[documents.value]}", file=sys.stderr)
            if size > LARGE:
                print(
                    "Warning: a file this large is hard to send and to open.\n  Try: --documents typical",
                    file=sys.stderr,
                )
