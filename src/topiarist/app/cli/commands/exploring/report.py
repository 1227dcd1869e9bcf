"""``topiarist report``: a collection as one file, to hand on."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from topiarist import collection as door
from topiarist.app import explorer_door
from topiarist.app.cli.options import FOLDER, HIDDEN_DEBUG, examples, option
from topiarist.app.cli.terminal.bar import Bar

EPILOG = examples(
    "topiarist report mail.topiary -o report.html", "topiarist report mail.topiary -o words-only.html --documents none"
)
WRITES = ()
DOCUMENTS_HELP = "typical: titles and a line of a few; all: full texts; none: words and numbers only."


class Documents(StrEnum):
    """What of the documents is in a report."""

    typical = "typical"
    all = "all"
    none = "none"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Write a collection into one HTML file that opens anywhere and loads nothing."""

    folder: Annotated[str, FOLDER]
    output: Annotated[str, option("The file to write.", "--output", "-o")] = "report.html"
    documents: Annotated[Documents, option(DOCUMENTS_HELP)] = Documents.typical
    language: Annotated[str, option("In this language: en, de (most of it), fr, es (begun).", metavar="CODE")] = "en"
    force: Annotated[bool, option("Replace a file that is no report.", "--force")] = False
    debug: Annotated[bool, HIDDEN_DEBUG] = False


def run(options: Options) -> None:
    """Write the file; say what is in it."""
    from topiarist.app.cli.terminal.targets import check_report

    check_report(options.output, force=options.force)
    with door.Collection.open(options.folder) as collection, Bar("Writing texts") as bar:
        report = explorer_door.write_report(collection, options.output, options.documents.value, bar, options.language)
    print(f"{options.output}: {report.size / 1e6:.1f} MB. {report.contents}", file=sys.stderr)
    if report.is_large:
        print(
            "Warning: a file this large is hard to send and to open.\n  Try: --documents typical",
            file=sys.stderr,
        )
