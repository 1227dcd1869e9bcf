"""When the tree was fitted, and what came after it: from the log, looked up once for each state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from topiarist.app.explorer.view import View
from topiarist.collection.file.additions import ADD
from topiarist.collection.shape.changes import FITTED, REFIT, UNDO, stopped_after
from topiarist.store import edit_log

FITS = ("grow", REFIT)


@dataclass(frozen=True)
class Fitted:
    """The last fit that holds, how many documents were added since, and after how many rounds it was stopped."""

    time: str
    arrived: int
    stopped: int | None = None  # None: it went to its end


def fitted(view: View) -> Fitted:
    """When the tree that is shown was fitted."""

    def made() -> Fitted:
        arrived, undone, time, stopped = 0, set(), "", None
        for entry in edit_log.walk(view.collection.generation.database):
            if entry.kind == UNDO:
                undone.add(entry.body["edit"])
            elif entry.kind == ADD:
                arrived += int(entry.body.get("documents", 0))
            elif entry.number not in undone and (entry.kind in FITS or entry.body.get(FITTED)):
                time, stopped = entry.time, stopped_after(entry)
                break
        return Fitted(time, arrived, stopped)

    return view.remembered("fitted", made)


def grown_with(view: View) -> int:
    """How many documents the collection was grown with: the first ones; those behind were added."""

    def made() -> int:
        sql = "SELECT total(json_extract(body, '$.documents')) FROM edits WHERE kind = ?"
        added = view.collection.generation.database.one(sql, (ADD,))
        return view.n_docs - int(added[0] if added else 0)

    return view.remembered("grown with", made)


def grown_at(view: View) -> float | None:
    """When the collection was grown, in seconds since 1970; None if that is not known."""

    def made() -> float | None:
        grown = next(iter(edit_log.history(view.collection.generation.database, kind="grow", limit=1)), None)
        return None if grown is None else datetime.fromisoformat(grown.time).timestamp()

    return view.remembered("grown at", made)


def when(time: str, now: datetime | None = None) -> str:
    """A moment as people write it, where they are: 12 March, 14:02; with the year if that is another one."""
    try:
        moment = datetime.fromisoformat(time).astimezone()
    except ValueError:
        return time
    year = "" if moment.year == (now or datetime.now(UTC).astimezone()).year else f" {moment.year}"
    return f"{moment.day} {moment:%B}{year}, {moment:%H:%M}"


def day(time: str, now: datetime | None = None) -> str:
    """The day of a moment."""
    return when(time, now).partition(",")[0]
