"""Command ``topiarist similar``: list documents that resemble some others."""

from __future__ import annotations

import os
from dataclasses import MISSING, dataclass
from typing import TYPE_CHECKING

from topiarist.cli.commands.find import NOTHING_FOUND, save, show_hit
from topiarist.cli.options import (
    AsGrownOptions,
    WritingOptions,
    argument,
    examples,
    number_option,
    option,
    topic_option,
    why_option,
)
from topiarist.cli.terminal.screen import Screen, open_collection
from topiarist.display.formats import count_noun, one_line
from topiarist.errors import UsageError
from topiarist.text.query import format_like_terms
from topiarist.text.readers import read

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection
    from topiarist.collection.search.results import SearchResult

EPILOG = examples(
    "topiarist similar mail.topiary inbox/0231.txt",
    "topiarist similar mail.topiary ./new-letter.pdf --why",
    "topiarist similar mail.topiary inbox/0231.txt inbox/0417.txt --not inbox/0100.txt --save letters",
    "topiarist find mail.topiary --saved letters",
)
WRITES = ("save",)


@dataclass(frozen=True, kw_only=True)
class Options(AsGrownOptions, WritingOptions):
    """Find documents that are similar to others of the collection, or to files."""

    documents: list[str] = argument(MISSING, "Ids of documents, or files of any kind.", "ID|FILE…")
    not_: list[str] | None = option(None, "Avoid documents like this one. Can be repeated.", metavar="ID|FILE")
    topic: str | None = topic_option()
    number: int = number_option(10)
    why: bool = why_option()
    save: str | None = option(None, "Save the search under this name, for `find --saved`.", metavar="NAME")


def run(options: Options) -> None:
    """Print documents similar to the examples, and save the search on request. Exit with 1 without hits."""
    from topiarist.collection.passages import count_documents
    from topiarist.collection.search.saved_searches import SavedSearch
    from topiarist.collection.search.search import Search

    with open_collection(options) as (screen, collection):
        noun = count_documents(collection).noun
        like, unlike = (
            [_find_document(collection, options, name) for name in names]
            for names in (options.documents, options.not_ or [])
        )
        search = Search.from_examples(collection, like, unlike)
        result = search.page(options.number, topic=options.topic, why=options.why)
        if options.save:
            save(
                screen,
                collection,
                SavedSearch(options.save, _choose_query(collection, options), topic=options.topic or ""),
            )
    if options.json:
        screen.json({"query": " ".join(options.documents), **result.to_dict()})
    else:
        _print_result(screen, options, result, noun)
    if not result.hits:
        raise SystemExit(NOTHING_FOUND)


def _choose_query(collection: Collection, options: Options) -> str:
    """Return the query of the examples for a saved search. Raise UsageError for files."""
    unlike = options.not_ or []
    for name in (*options.documents, *unlike):
        if name not in collection.documents:
            raise UsageError(
                f"{name!r} is a file, but a saved search requires ids of documents",
                hint="Add the file to the collection first, with topiarist file --add.",
            )
    return " ".join([*format_like_terms(options.documents), *format_like_terms(unlike, exclude=True)])


def _find_document(collection: Collection, options: Options, name: str) -> str | int:
    """Return the row of a document; for a file, read it and return its text."""
    if name not in collection.documents and os.path.isfile(name):
        settings = options.reading_settings(collection)
        with read([name], settings.columns, limit=1, xml_path=settings.xml_path, ocr=settings.ocr) as documents:
            (text,) = [f"{document.title}\n{document.text}" for document in documents]
        return text
    return collection.documents.row_of(name)


def _print_result(screen: Screen, options: Options, result: SearchResult, unit: str) -> None:
    """Print the message, the examples and the hits of a search by examples."""
    if result.message:
        screen.print(result.message)
    if not result.hits:
        screen.print_next("find FOLDER WORDS")
        return
    like_text, unlike_text = (", ".join(map(one_line, names)) for names in (options.documents, options.not_ or []))
    but = ", not like " if unlike_text else ""
    rest = f", of {count_noun(result.total, unit)}{'' if result.exact else ' that were looked at'}"
    screen.print("Most like ", (like_text, "bold"), but, (unlike_text, "bold"), rest)
    for number, hit in enumerate(result.hits, 1):
        show_hit(screen, number, hit)
    screen.print_next(("show FOLDER {}", result.hits[0].id), *([] if options.why else ["similar FOLDER ID --why"]))
