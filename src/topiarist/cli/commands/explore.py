"""``topiarist explore``: a collection as pages in the browser, from this machine and for this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from topiarist.cli.options import FOLDER, HIDDEN_DEBUG, examples, option

EPILOG = examples(
    "topiarist explore mail.topiary", "topiarist explore mail.topiary --port 8000 --no-browser --read-only"
)
WRITES = ()
REMOTE_HELP = "Listen on this address as well, for others: prints an address with a token."
ORIGINALS_HELP = "Hand out files from here as originals, of a collection that was moved or sent; is remembered."
PROGRAMS_HELP = "Take the token of the address from this file, for programs that ask; made if it is not there."
LANGUAGE_HELP = "Language of the pages: en, de, or auto (the language of the browser)."


@dataclass(frozen=True, kw_only=True)
class Options:
    """Open a collection in the browser: walk its tree, search, read, shape."""

    folder: Annotated[str, FOLDER]
    port: Annotated[int, option("0: any that is free.", min=0, max=65535)] = 0
    no_browser: Annotated[bool, option("Only print the address.", "--no-browser")] = False
    read_only: Annotated[bool, option("Disable all changes.", "--read-only")] = False
    no_token: Annotated[
        bool, option("Do not require an access token. Any local user can open the pages.", "--no-token")
    ] = False
    token_file: Annotated[str | None, option(PROGRAMS_HELP, metavar="FILE")] = None
    allow_remote: Annotated[str | None, option(REMOTE_HELP, metavar="HOST")] = None
    originals: Annotated[list[str] | None, option(ORIGINALS_HELP, metavar="PATH")] = None
    language: Annotated[str, option(LANGUAGE_HELP, metavar="CODE")] = "auto"
    debug: Annotated[bool, HIDDEN_DEBUG] = False


def run(options: Options) -> None:
    from topiarist.collection.grow.allowed_folders import grant_originals
    from topiarist.web.http.serving import serve

    if options.originals:
        grant_originals(options.folder, options.originals, keep_granted=True)
    serve(
        options.folder,
        port=options.port,
        browser=not options.no_browser,
        read_only=options.read_only,
        remote=options.allow_remote,
        token=not options.no_token,
        language=options.language,
        token_file=options.token_file,
    )
