"""Queries of people who are not known: read so that none of them takes long, and stopped where one does."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from topiarist.app.explorer.view import View
from topiarist.errors import ResourceError
from topiarist.files.queries import Query, Term, parse

PATIENCE = 2.0  # seconds that a question to the index may take
MORE = 1.0  # seconds for what is asked after one was stopped
SHORTEST = 2  # letters before a star: half of all words begin with some letter
OFTEN = 10_000  # steps of SQLite between two looks at the clock


class StoppedError(ResourceError):
    """A search that would have taken too long."""


def understood(text: str) -> Query:
    """A query without what is asked twice, and without beginnings that nearly every document has."""
    query = parse(text)
    items = []
    for item in dict.fromkeys(query.items):
        short = isinstance(item, Term) and item.prefix and len(item.words) < SHORTEST
        if not short:
            items.append(item)
    if len(items) == len(query.items):
        return query
    kept = tuple(items)
    return Query(kept, " ".join(map(str, kept)) or "nothing: a beginning has two letters or more")


@contextmanager
def in_time(view: View) -> Iterator[None]:
    """Stop whatever is asked of the database here when it takes too long."""
    connection, until = view.collection.generation.database.connection, time.monotonic() + PATIENCE

    def late() -> bool:
        nonlocal until
        if time.monotonic() < until:
            return False
        until = time.monotonic() + MORE
        return True

    connection.set_progress_handler(late, OFTEN)
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        raise StoppedError(
            f"stopped counting: this search takes longer than {PATIENCE:g} seconds", hint="fewer beginnings*"
        ) from error
    finally:
        connection.set_progress_handler(None, 0)
