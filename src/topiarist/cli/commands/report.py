"""Command ``topiarist report``: write a collection as one file."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from topiarist.cli.options import choice_option, debug_option, examples, folder_argument, option
from topiarist.cli.terminal.console import PATIENCE, Console
from topiarist.progress import RichReporter

EPILOG = examples(
    "topiarist report mail.topiary -o report.html", "topiarist report mail.topiary -o words-only.html --documents none"
)
WRITES = ()
DOCUMENTS_HELP = "typical: titles and one line of some. all: full texts. none: only words and numbers."


@dataclass(frozen=True, kw_only=True)
class Options:
    """Write a collection into one HTML file that needs no network and no server."""

    folder: str = folder_argument()
    output: str = option("report.html", "File to write.", "--output", "-o", metavar="FILE")
    documents: str = choice_option("typical", DOCUMENTS_HELP, "typical", "all", "none")
    language: str = option("en", "Language of the report: en or de.", metavar="CODE")
    force: bool = option(False, "Replace a file that is not a report.")
    debug: bool = debug_option()


def run(options: Options) -> None:
    """Write the report and print what it contains."""
    from topiarist.cli.terminal.targets import check_report
    from topiarist.collection.collection import Collection
    from topiarist.web.report import LARGE, PRIVACY_TEXTS, write_report

    check_report(options.output, force=options.force)
    reporter = RichReporter("Writing texts", Console(stderr=True), PATIENCE)
    with Collection.open(options.folder) as collection, reporter:
        size = write_report(collection, options.output, options.documents, reporter.show_steps, options.language)
    print(f"{options.output}: {size / 1e6:.1f} MB. {PRIVACY_TEXTS[options.documents]}", file=sys.stderr)
    if size > LARGE:
        print("Warning: a file this large is hard to send and to open.\n  Try: --documents typical", file=sys.stderr)
