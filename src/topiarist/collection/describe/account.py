"""The account of a collection: what was read, left out, repeated, copied, undated, and in which languages.

One story for everybody who tells it: ``show``, the page of the model and ``problems.csv`` have these sentences and
numbers, and each number leads to its documents, by a query where there is one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.collection.describe.short_texts import short_texts
from topiarist.collection.grow.inheritance import out_said
from topiarist.collection.grow.left_out import left_out
from topiarist.collection.passages import cut_now, cut_said, documents_said, extent, n_wholes, unit
from topiarist.counts.vectors import has_vector
from topiarist.store import facts
from topiarist.text.language import LANGUAGE, LANGUAGE_COLUMN, language_name
from topiarist.text.query import NO_VALUE

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

READING = "reading"  # a setting: how many files and documents a grow has read, and why others were left out
(DOCUMENTS, READ, PASSAGES, LEFT_OUT, LANGUAGES, REPEATED, COPIES, UNDATED, REMOVED, SHORT, POINTED) = KINDS = (
    "documents", "read", "passages", "left_out", "language", "repeated", "copies", "undated", "removed", "short",
    "vectors",
)  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """One number of the account: of what, a sentence, and the query that finds the documents, where there is one."""

    what: str
    number: int
    said: str
    query: str = ""


def account_of(collection: Collection) -> tuple[Entry, ...]:
    """What there is to say of the documents of a collection as it is now; nothing of what it does not have."""
    known, database = collection.settings, collection.generation.database
    uncounted, problems = left_out(collection), facts.n_problems(database)
    undated, unread = collection.dates.undated()
    found = [Entry(DOCUMENTS, n_wholes(collection), documents_said(collection))]
    if reading := known.get(READING):
        found.append(Entry(READ, int(reading["read"]), reading_said(reading)))
    cut = cut_now(collection)
    found += [Entry(PASSAGES, cut["passages"], cut_said(cut))] if cut["long"] else []
    if problems:
        what = "entry" if problems == 1 else "entries"
        found.append(Entry(LEFT_OUT, problems, f"{problems:,} {what} of what was left out or not read whole"))
    found += _languages(collection)
    if uncounted.repeated_said:
        found.append(Entry(REPEATED, uncounted.repeated_documents, uncounted.repeated_said))
    if uncounted.copies_said:
        found.append(Entry(COPIES, uncounted.n_copies, f"{uncounted.copies_said}: each kind is counted once"))
    if undated and undated < len(collection):
        why = f", {unread:,} of them one that could not be read" if unread else ""
        size = extent(collection, collection.documents.undated_rows())
        have = "has" if undated == 1 else "have"
        found.append(Entry(UNDATED, undated, f"{size} {have} no date{why}", f"date:{NO_VALUE}"))
    if gone := facts.removed(database):
        parts = sum(gone.values())
        which = "that was removed" if len(gone) == 1 else "that were removed"
        said = out_said(len(gone) - parts, parts, which)
        found.append(Entry(REMOVED, len(gone), f"{said} out when it is grown again"))
    found += _vectors(collection)
    if (short := short_texts(collection)) is not None:
        found.append(Entry(SHORT, len(collection), short.said))
    return tuple(found)


def account_body(collection: Collection) -> list[dict[str, Any]]:
    """The same as plain JSON data."""
    return [asdict(one) for one in account_of(collection)]


def reading_said(reading: dict[str, int]) -> str:
    """What a grow has read, in a sentence."""
    told = {
        "empty": "empty", "no_answer": "of these n/a, none, - or the like", "unknown": "of no known type",
        "failed": "failed", "partial": "not whole", "renamed": "with another id",
    }  # fmt: skip
    rest = [f"{reading[name]:,} {what}" for name, what in told.items() if reading.get(name)]
    files = reading.get("files", 0)
    return f"{reading['read']:,} read from {files:,} file{'s' * (files != 1)}{': ' if rest else ''}{', '.join(rest)}"


def _vectors(collection: Collection) -> list[Entry]:
    """How many documents have a vector, and how the others are told; nothing where none has."""
    if collection.vectors is None:
        return []
    number, there = len(collection), int(np.count_nonzero(has_vector(collection.vectors)))
    rest = f", {number - there:,} have none and are told by their words" if there < number else ""
    return [Entry(POINTED, there, f"{there:,} documents have a vector{rest}")]


def _languages(collection: Collection) -> list[Entry]:
    """How many documents there are in each language; where they have it as a column, as they are now."""
    known, several = collection.settings, bool(collection.settings.get(LANGUAGE_COLUMN))
    if several:
        sizes = collection.columns.sizes(LANGUAGE)
        unknown = len(collection) - sum(sizes.values())
    else:
        noted = facts.languages(collection.generation.database)
        codes = dict(known.get("languages") or {}) if noted is None else noted
        unknown = int(known.get("languages_unknown", 0)) if noted is None else codes.pop("", 0)
        sizes = {language_name(code): number for code, number in codes.items()}
    cut = unit(collection) != "document"

    def some(number: int) -> str:
        return f"{number:,}" if not cut else "1 passage" if number == 1 else f"{number:,} passages"

    found = [
        Entry(LANGUAGES, size, f"{some(size)} in {name}", f'{LANGUAGE}:"{name}"' if several else "")
        for name, size in sorted(sizes.items(), key=lambda one: (-one[1], one[0]))
    ]
    if unknown and sizes:
        query = f"{LANGUAGE}:{NO_VALUE}" if several else ""
        found.append(Entry(LANGUAGES, unknown, f"{some(unknown)} too short or too mixed to tell the language", query))
    for code, number in (known.get("languages_left_out") or {}).items():
        found.append(Entry(LANGUAGES, int(number), f"{number:,} in {language_name(code)}, left out"))
    return found
