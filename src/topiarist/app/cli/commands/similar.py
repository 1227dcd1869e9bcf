"""``topiarist similar``: what else is like this?"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Annotated

import typer

from topiarist import collection as door
from topiarist.app.cli.commands.find import NOTHING_FOUND, Answer, answer_body, show_hit
from topiarist.app.cli.options import NUMBER, UNDER, WHY, FolderOptions, examples
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import counted, one_line
from topiarist.text.readers import read

EPILOG = examples(
    "topiarist similar mail.topiary inbox/0231.txt", "topiarist similar mail.topiary ./new-letter.pdf --why"
)
WRITES = ()


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """Find the documents that are most like one of the collection, or like a file."""

    document: Annotated[str, typer.Argument(metavar="ID|FILE", help="The id of a document, or a file of any kind.")]
    topic: Annotated[str | None, UNDER] = None
    number: Annotated[int, NUMBER] = 10
    why: Annotated[bool, WHY] = False


def run(options: Options) -> None:
    """Search, print, leave with 1 if nothing was found."""
    screen = Screen(options)
    with door.Collection.open(options.folder) as collection:
        found = _similar(collection, options)
    if options.json:
        screen.json(answer_body(Answer(options.document, found)))
    else:
        _show(screen, options, found)
    if not found.hits:
        raise SystemExit(NOTHING_FOUND)


def _similar(collection: door.Collection, options: Options) -> door.Found:
    """By id; or a file by its text, where no document is called so."""
    like: str | int
    if options.document not in collection.documents and os.path.isfile(options.document):
        with read([options.document], limit=1) as documents:
            (like,) = [f"{document.title}\n{document.text}" for document in documents]
    else:
        like = collection.documents.row_of(options.document)
    return door.Likeness(collection, like).page(options.number, topic=options.topic, why=options.why)


def _show(screen: Screen, options: Options, found: door.Found) -> None:
    if found.hits:
        screen.print("Most like ", (one_line(options.document), "bold"), f", of {counted(found.total, 'document')}")
    if found.message:
        screen.print(found.message)
    for number, hit in enumerate(found.hits, 1):
        show_hit(screen, number, hit)
    if found.hits:
        screen.next(("show FOLDER {}", found.hits[0].id), *([] if options.why else ["similar FOLDER ID --why"]))
    else:
        screen.next("find FOLDER WORDS")
