"""Which condition of a query left nothing of an answer, and what may have been meant by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches

from topiarist.store.database import Database
from topiarist.store.fulltext import Index
from topiarist.text.query import Filter, Query

LOOKED_AT = 10_000  # values that one may have been meant for
SHOWN = 5  # of them, where there are no more
_SAID = {
    "topic": "lies under “{}”", "tag": "is tagged “{}”", "label": "has the label “{}”", "type": "is of type “{}”",
    "before": "is from before {}", "after": "is from {} or later",
}  # fmt: skip


@dataclass(frozen=True)
class Emptied:
    """What to say, the query without the condition, and the query with a condition like it."""

    message: str
    without: str
    suggestions: tuple[str, ...] = ()


def emptied(database: Database, query: Query, finds: Callable[[Query], bool]) -> Emptied | None:
    """The first condition without which a query finds something; None where it is not one condition alone."""
    for item in query.filters:
        rest = Query(tuple(one for one in query.items if one != item))
        if not rest or finds(rest):
            return _told(database, query, item, rest)
    return None


def _told(database: Database, query: Query, item: Filter, rest: Query) -> Emptied:
    said = _SAID[item.kind].format(item.value)
    which = "of the documents that match the rest " if rest else ""
    if item.exclude:
        return Emptied(f"Every one {which}{said}.", str(rest))
    known = _known(database, item.kind)
    message = f"None {which}{said}." if rest else f"No document {said}."
    if item.value.lower().lstrip(".") in known or not known:
        return Emptied(message, str(rest))
    if item.kind == "type" and len(known) <= SHOWN:
        message += f" Known types: {', '.join(sorted(known))}."
    near = get_close_matches(item.value.lower(), known, 1)
    meant = [
        Query(tuple(replace(item, value=known[value]) if one == item else one for one in query.items)) for value in near
    ]
    return Emptied(f"No document {said}." if item.kind != "type" else message, str(rest), tuple(map(str, meant)))


def _known(database: Database, kind: str) -> dict[str, str]:
    """The values that a condition may have, as they are compared and as they are written."""
    values = Index(database).values(kind, LOOKED_AT)
    if kind == "type":
        names = (value.lower().removesuffix(".gz").rpartition("/")[2] for value in values)
        values = [name.rpartition(".")[2] for name in names if "." in name]
    return {value.lower(): value for value in values}
