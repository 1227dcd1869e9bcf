"""``topiarist similar``: what else is like this?"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Annotated

import typer

from topiarist import collection as door
from topiarist.app.cli.commands.finding.find import NOTHING_FOUND, Answer, answer_body, save, show_hit
from topiarist.app.cli.options import NUMBER, UNDER, WHY, WritingOptions, examples, option
from topiarist.app.cli.terminal.screen import Screen
from topiarist.app.words import counted, one_line
from topiarist.errors import UsageError
from topiarist.text.query import liking
from topiarist.text.readers import read

EPILOG = examples(
    "topiarist similar mail.topiary inbox/0231.txt",
    "topiarist similar mail.topiary ./new-letter.pdf --why",
    "topiarist similar mail.topiary inbox/0231.txt inbox/0417.txt --not inbox/0100.txt --save letters",
    "topiarist find mail.topiary --saved letters",
)
WRITES = ("save",)


@dataclass(frozen=True, kw_only=True)
class Options(WritingOptions):
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
    save: Annotated[
        str | None, option("Keep the search with the collection; `find --saved` asks it again.", metavar="NAME")
    ] = None


def run(options: Options) -> None:
    """Search, print, leave with 1 if nothing was found."""
    screen = Screen(options)
    with door.Collection.open(options.folder) as collection:
        found, unit = _similar(collection, options), door.unit(collection)
        if options.save:
            save(
                screen,
                collection,
                door.SavedSearch(options.save, _query(collection, options), topic=options.topic or ""),
            )
    if options.json:
        screen.json(answer_body(Answer(" ".join(options.documents), found)))
    else:
        _show(screen, options, found, unit)
    if not found.hits:
        raise SystemExit(NOTHING_FOUND)


def _similar(collection: door.Collection, options: Options) -> door.Found:
    like, unlike = ([_given(collection, name) for name in names] for names in (options.documents, options.not_ or []))
    return door.Likeness(collection, like, unlike).page(options.number, topic=options.topic, why=options.why)


def _query(collection: door.Collection, options: Options) -> str:
    """The same as a query, of documents that the collection has."""
    names = [*options.documents, *(options.not_ or [])]
    files = [name for name in names if name not in collection.documents]
    if files:
        raise UsageError(
            f"{files[0]!r} is a file: a saved search knows documents by their ids", hint="file --add first"
        )
    return " ".join([*liking(options.documents), *liking(options.not_ or [], exclude=True)])


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
        looked = "" if found.exact else " that were looked at"
        screen.print("Most like ", (like, "bold"), but, (unlike, "bold"), f", of {counted(found.total, unit)}{looked}")
    if found.message:
        screen.print(found.message)
    for number, hit in enumerate(found.hits, 1):
        show_hit(screen, number, hit)
    if found.hits:
        screen.next(("show FOLDER {}", found.hits[0].id), *([] if options.why else ["similar FOLDER ID --why"]))
    else:
        screen.next("find FOLDER WORDS")
