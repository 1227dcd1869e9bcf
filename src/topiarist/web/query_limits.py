"""Time limits of queries, so that no request blocks the others."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from topiarist.arrays import Array
from topiarist.collection.collection import Collection
from topiarist.collection.search.results import SearchResult
from topiarist.collection.search.search import Search
from topiarist.errors import ResourceError, UsageError
from topiarist.text.query import Query, Term, keep_terms, parse

if TYPE_CHECKING:
    from topiarist.web.view import View

PATIENCE = 2.0  # seconds that all questions of a page to the index may take together
COUNTING = 30.0  # the same where somebody asked to count all
EXTRA_SECONDS = 1.0  # seconds for what is asked after one was stopped
LOOKED_AT = 200  # hits by meaning that tell where in the tree the answer is
SHORTEST = 2  # letters before a star: half of all words begin with some letter
_COUNT_LOCK = threading.BoundedSemaphore(1)
CLOCK_STEPS = 10_000  # steps of SQLite between two looks at the clock


class StoppedError(ResourceError):
    """Error of a search that exceeds its time limit."""


class TimedSearch(Search):
    """Search with a time limit."""

    def __init__(self, view: View, typed: Query, by: str) -> None:
        super().__init__(view.collection, resolve_query(typed), by, near=LOOKED_AT)
        self.typed = typed
        self.nbytes = 16 * view.n_docs  # what it may come to hold

    def page(
        self,
        n: int = 10,
        offset: int = 0,
        *,
        topic: str | int | None = None,
        why: bool = False,
        related: int | None = None,
    ) -> SearchResult:
        """Return hits from ``offset`` on; if the time is up, only of the best hits."""
        with limit_query_time(self.collection):
            return super().page(n, offset, topic=topic, why=why, related=related)

    def rows(self, topic: str | int | None = None) -> Array:
        with limit_query_time(self.collection):
            return super().rows(topic)


def run_timed_search(view: View, text: str, by: str = "words") -> TimedSearch:
    """Return the search of a query, shared by the hits, the tree, lists and files of a page.

    Queries for tags or labels, which change within a state, are repeated after every write.
    """
    typed = view.remembered(("query", text), lambda: parse(text, view.collection.fields))

    def make_search() -> TimedSearch:
        return TimedSearch(view, typed, by)

    if any(item.kind in ("tag", "label") for item in typed.filters):
        return view.collection.generation.database.get_cached(f"search {view.mark} {by} {text}", make_search)
    return view.remembered(("search", text, by), make_search)


def count_hits_below(view: View, text: str, by: str) -> Array | None:
    """Return the number of hits below each node; ``by`` is the search method. None without a result."""
    search = run_timed_search(view, text, by)
    if search.query:
        with suppress(StoppedError, UsageError):
            return view.counts_under(search.rows())
    return None


def resolve_query(query: Query) -> Query:
    """Return the query without repeated terms and one-letter prefixes; unchanged without any."""
    items = keep_terms(
        None if isinstance(item, Term) and item.prefix and len(item.words) < SHORTEST else item
        for item in dict.fromkeys(query.items)
    )
    if len(items) == len(query.items):
        return query
    return Query(
        items, " ".join(map(str, items)) or "nothing: a beginning has two letters or more", query.notes, query.fields
    )


class _Page(threading.local):
    """Time limit of the page that this thread makes."""

    given: float | None = None
    until = 0.0


_page = _Page()


def get_time_limit() -> float:
    """Return the seconds that the current page has for its queries."""
    return PATIENCE if _page.given is None else _page.given


@contextmanager
def limit_page_time(seconds: float | None = None) -> Iterator[None]:
    """Limit the time of all index queries of a page together, within a block."""
    previous = _page.given, _page.until
    previous_patience = PATIENCE if seconds is None else seconds
    _page.given, _page.until = previous_patience, time.monotonic() + previous_patience
    try:
        yield
    finally:
        _page.given, _page.until = previous


@contextmanager
def allow_counting() -> Iterator[None]:
    """Give a page more time to count all hits; one page at a time has it."""
    is_acquired = _COUNT_LOCK.acquire(blocking=False)
    try:
        with limit_page_time(COUNTING if is_acquired else PATIENCE):
            yield
    finally:
        if is_acquired:
            _COUNT_LOCK.release()


@contextmanager
def limit_query_time(collection: Collection) -> Iterator[None]:
    """Interrupt database queries of a page after its time limit and raise StoppedError.

    Search by meaning needs no limit: it reads every document once.
    """
    end_time = time.monotonic() + PATIENCE if _page.given is None else _page.until

    def late() -> bool:
        nonlocal end_time
        if time.monotonic() < end_time:
            return False
        end_time = time.monotonic() + EXTRA_SECONDS
        return True

    with collection.generation.database.limit_steps(late, CLOCK_STEPS), _interrupt_queries():
        yield


@contextmanager
def _interrupt_queries() -> Iterator[None]:
    """Turn an interrupted database query into StoppedError."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        raise StoppedError(
            f"stopped counting: this search takes longer than {get_time_limit():g} seconds",
            hint="Use fewer beginnings of words (word*).",
        ) from error
