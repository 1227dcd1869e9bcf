"""``topiarist similar``: what else is like this?"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Annotated

import typer

from topiarist import collection as door
from topiarist.app.cli.commands.finding.find import NOTHING_FOUND, Answer, answer_body, show_hit
from topiarist.app.cli.options import NUMBER, UNDER, WHY, FolderOptions, examples, option
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import counted, one_line
from topiarist.text.readers import read

EPILOG = examples(
    "topiarist similar mail.topiary inbox/0231.txt",
    "topiarist similar mail.topiary ./new-letter.pdf --why",
    "topiarist similar mail.topiary inbox/0231.txt inbox/0417.txt --not inbox/0100.txt",
)
WRITES = ()


@dataclass(frozen=True, kw_only=True)
class Options(FolderOptions):
    """Find the documents that are most like one of the collection, a file, or several; and not like others."""

    documents: Annotated[
        list[str], typer.Argument(metavar="ID|FILE…", help="The ids of documents, or files of any kind.")
    ]
    not_: Annotated[
        list[str] | None, option("Not like this one; may be given several times.", "--not", metavar="ID|FILE")
    ] = None
    topic: Annotated[str | None, UNDER] = None
    number: Annotated[int, NUMBER] = 10
    why: Annotated[bool, WHY] = False


def run(options: Options) -> None:
    """Search, print, leave with 1 if nothing was found."""
    screen = Screen(options)
    with door.Collection.open(options.folder) as collection:
        found, unit = _similar(collection, options), door.unit(collection)
    if options.json:
        screen.json(answer_body(Answer(" ".join(options.documents), found)))
    else:
        _show(screen, options, found, unit)
    if not found.hits:
        raise SystemExit(NOTHING_FOUND)


def _similar(collection: door.Collection, options: Options) -> door.Found:
    like, unlike = ([_given(collection, name) for name in names] for names in (options.documents, options.not_ or []))
    return door.Likeness(collection, like, unlike).page(options.number, topic=options.topic, why=options.why)


def _given(collection: door.Collection, name: str) -> str | int:
    """By id; or a file by its text, where no document is called so."""
    if name not in collection.documents and os.path.isfile(name):
        with read([name], limit=1) as documents:
            (text,) = [f"{document.title}\n{document.text}" for document in documents]
        return text
    return collection.documents.row_of(name)


def _show(screen: Screen, options: Options, found: door.Found, unit: str) -> None:
    if found.hits:
        like, unlike = (", ".join(map(one_line, names)) for names in (options.documents, options.not_ or []))
        but = ", not like " if unlike else ""
        screen.print("Most like ", (like, "bold"), but, (unlike, "bold"), f", of {counted(found.total, unit)}")
    if found.message:
        screen.print(found.message)
    for number, hit in enumerate(found.hits, 1):
        show_hit(screen, number, hit)
    if found.hits:
        screen.next(("show FOLDER {}", found.hits[0].id), *([] if options.why else ["similar FOLDER ID --why"]))
    else:
        screen.next("find FOLDER WORDS")
