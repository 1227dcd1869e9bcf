"""Command ``topiarist explore``: open a collection in the browser."""

from __future__ import annotations

from dataclasses import dataclass

from topiarist.cli.options import debug_option, examples, folder_argument, option

EPILOG = examples(
    "topiarist explore mail.topiary", "topiarist explore mail.topiary --port 8000 --no-browser --read-only"
)
WRITES = ()
REMOTE_HELP = "Listen on this address too, so that other machines can connect."
ORIGINALS_HELP = "Folder from which original files can be opened. It is remembered."
PROGRAMS_HELP = "File with the access token. It is created if it does not exist."
LANGUAGE_HELP = "Language of the pages: en, de, or auto (the language of the browser)."


@dataclass(frozen=True, kw_only=True)
class Options:
    """Open a collection in the browser to read, search and edit it."""

    folder: str = folder_argument()
    port: int = option(0, "Port. 0: any free port.", min=0, max=65535)
    no_browser: bool = option(False, "Only print the address.")
    read_only: bool = option(False, "Disable all changes.")
    no_token: bool = option(False, "Do not require an access token. Any local user can open the pages.")
    token_file: str | None = option(None, PROGRAMS_HELP, metavar="FILE")
    allow_remote: str | None = option(None, REMOTE_HELP, metavar="HOST")
    originals: list[str] | None = option(None, ORIGINALS_HELP, metavar="PATH")
    language: str = option("auto", LANGUAGE_HELP, metavar="CODE")
    debug: bool = debug_option()


def run(options: Options) -> None:
    """Allow the folders of original files, then serve the collection until the process is stopped."""
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
