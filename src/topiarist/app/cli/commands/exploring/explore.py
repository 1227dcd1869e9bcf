"""``topiarist explore``: a collection as pages in the browser, from this machine and for this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from topiarist.app import explorer_door
from topiarist.app.cli.options import FOLDER, HIDDEN_DEBUG, examples, option
from topiarist.collection import grant_originals

EPILOG = examples(
    "topiarist explore mail.topiary",
    "topiarist explore mail.topiary --port 8000 --no-browser --read-only",
    "topiarist explore mail.topiary --with older.topiary",
)
WRITES = ()
REMOTE_HELP = "Listen on this address as well, for others: prints an address with a token."
ORIGINALS_HELP = "Hand out files from here as originals, of a collection that was moved or sent; is remembered."
PROGRAMS_HELP = "Take the token of the address from this file, for programs that ask; made if it is not there."
LANGUAGE_HELP = "Pages in this language: en, de (most of it), fr, es (begun); auto: as the browser asks for, en or de."
WITH_HELP = "Another collection of the same documents, to compare the trees; only read. May be given again."


@dataclass(frozen=True, kw_only=True)
class Options:
    """Open a collection in the browser: walk its tree, search, read, shape."""

    folder: Annotated[str, FOLDER]
    port: Annotated[int, option("0: any that is free.", min=0, max=65535)] = 0
    no_browser: Annotated[bool, option("Only print the address.", "--no-browser")] = False
    read_only: Annotated[bool, option("Let nobody change anything.", "--read-only")] = False
    no_token: Annotated[bool, option("Let everybody who works on this machine in.", "--no-token")] = False
    token_file: Annotated[str | None, option(PROGRAMS_HELP, metavar="FILE")] = None
    allow_remote: Annotated[str | None, option(REMOTE_HELP, metavar="HOST")] = None
    beside: Annotated[list[str] | None, option(WITH_HELP, "--with", metavar="FOLDER")] = None
    originals: Annotated[list[str] | None, option(ORIGINALS_HELP, metavar="PATH")] = None
    language: Annotated[str, option(LANGUAGE_HELP, metavar="CODE")] = "auto"
    debug: Annotated[bool, HIDDEN_DEBUG] = False


def run(options: Options) -> None:
    """Serve until somebody stops it."""
    if options.originals:
        grant_originals(options.folder, options.originals, beside=True)
    explorer_door.serve(
        options.folder,
        port=options.port,
        browser=not options.no_browser,
        read_only=options.read_only,
        remote=options.allow_remote,
        token=not options.no_token,
        language=options.language,
        token_file=options.token_file,
        beside=tuple(options.beside or ()),
    )
