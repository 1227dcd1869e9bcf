"""Queries of people who are not known: read so that none of them takes long, and stopped where one does."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from topiarist.arrays import Array
from topiarist.collection import Collection, Found, Search
from topiarist.errors import ResourceError, UsageError
from topiarist.text.query import Query, Term, kept, parse

if TYPE_CHECKING:
    from topiarist.app.explorer.view import View

PATIENCE = 2.0  # seconds that all questions of a page to the index may take together
COUNTING = 30.0  # the same where somebody asked to count all
MORE = 1.0  # seconds for what is asked after one was stopped
LOOKED_AT = 200  # hits by meaning that tell where in the tree the answer is
SHORTEST = 2  # letters before a star: half of all words begin with some letter
_COUNTED = threading.BoundedSemaphore(1)
OFTEN = 10_000  # steps of SQLite between two looks at the clock


class StoppedError(ResourceError):
    """A search that would have taken too long."""


class Asked(Search):
    """A search of somebody who is not known: all that matches is asked for at once, and stopped if that takes long."""

    def __init__(self, view: View, typed: Query, by: str) -> None:
        super().__init__(view.collection, understood(typed), by, near=LOOKED_AT)
        self.typed = typed
        self.nbytes = 16 * view.n_docs  # what it may come to hold

    def page(self, n: int = 10, offset: int = 0, *, topic: str | int | None = None, why: bool = False) -> Found:
        """A page of all that matches; of the best alone, where there was no time for all."""
        with in_time(self.collection):
            if self.by_words:
                with suppress(StoppedError), _interrupted():
                    self.ranked  # noqa: B018
            return super().page(n, offset, topic=topic, why=why)

    def rows(self, topic: str | int | None = None) -> Array:
        """All that matches; by meaning, the best."""
        with in_time(self.collection):
            return super().rows(topic)


def asked(view: View, text: str, by: str = "words") -> Asked:
    """A search, parsed and asked once for all pages that show something of it: hits, tree, lists, files.

    What asks for tags or labels, which change while the tree stays, is asked again after somebody has written.
    """
    typed = view.remembered(("query", text), lambda: parse(text, view.collection.fields))

    def made() -> Asked:
        return Asked(view, typed, by)

    if any(one.kind in ("tag", "label") for one in typed.filters):
        return view.collection.generation.database.kept(f"search {view.mark} {by} {text}", made)
    return view.remembered(("search", text, by), made)


def found_under(view: View, text: str, by: str) -> Array | None:
    """How many documents of each node a search has found, by meaning of the best; None where it cannot be told."""
    search = asked(view, text, by)
    if search.query:
        with suppress(StoppedError, UsageError):
            return view.counts_under(search.rows())
    return None


def understood(query: Query) -> Query:
    """A query without what is asked twice, and without beginnings that nearly every document has."""
    items = kept(
        None if isinstance(item, Term) and item.prefix and len(item.words) < SHORTEST else item
        for item in dict.fromkeys(query.items)
    )
    if len(items) == len(query.items):
        return query
    return Query(
        items, " ".join(map(str, items)) or "nothing: a beginning has two letters or more", query.notes, query.fields
    )


class _Page(threading.local):
    """How long the page may ask that this thread makes, and until when that is."""

    given: float | None = None
    until = 0.0


_page = _Page()


def patience() -> float:
    """The seconds that this page has for its questions."""
    return PATIENCE if _page.given is None else _page.given


@contextmanager
def deadline(seconds: float | None = None) -> Iterator[None]:
    """A page that is made within: what it asks of the index takes no longer than this, all together."""
    before = _page.given, _page.until
    given = PATIENCE if seconds is None else seconds
    _page.given, _page.until = given, time.monotonic() + given
    try:
        yield
    finally:
        _page.given, _page.until = before


@contextmanager
def counting() -> Iterator[None]:
    """A page for somebody who asked to count all: it has longer, but one at a time, so that others get theirs."""
    alone = _COUNTED.acquire(blocking=False)
    try:
        with deadline(COUNTING if alone else PATIENCE):
            yield
    finally:
        if alone:
            _COUNTED.release()


@contextmanager
def in_time(collection: Collection) -> Iterator[None]:
    """Stop whatever is asked of the database here when the page takes too long.

    Search by meaning needs no such clock: it looks at every document once, whatever is asked.
    """
    until = time.monotonic() + PATIENCE if _page.given is None else _page.until

    def late() -> bool:
        nonlocal until
        if time.monotonic() < until:
            return False
        until = time.monotonic() + MORE
        return True

    with collection.generation.database.watched(late, OFTEN), _interrupted():
        yield


@contextmanager
def _interrupted() -> Iterator[None]:
    """Say of a question that was interrupted that it was stopped."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        raise StoppedError(
            f"stopped counting: this search takes longer than {patience():g} seconds", hint="fewer beginnings*"
        ) from error
