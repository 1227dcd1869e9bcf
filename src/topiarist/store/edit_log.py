"""The edit log: what people did to a collection, and the states that this led through.

A *state* is a small JSON value that says what the collection is at that moment; under ``"parts"`` it names the parts
that it is made of, by their role. An *edit* leads from one state to the next. States are never changed, so that undo is
an edit as well: it leads back to a state that is there. The transaction that records an edit is the moment at which it
has happened.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from topiarist.errors import DamagedError, reading
from topiarist.store.database import Database
from topiarist.store.generation import Part

Body = dict[str, Any]
SOME = 50  # edits that are read at once
FORGOTTEN = "forgotten"  # what a state holds that nobody can come back to


@dataclass(frozen=True)
class Edit:
    """Something that was done."""

    number: int
    time: str
    kind: str
    body: Body
    before: int | None
    after: int


def current(database: Database) -> tuple[int, Body] | None:
    """The number and the body of the state that holds now; None before the first."""
    number = latest(database)
    return None if number is None else (number, state(database, number))


def latest(database: Database) -> int | None:
    """The number of the state that holds now; None before the first."""
    return database.number("SELECT after FROM edits ORDER BY number DESC LIMIT 1")


def state(database: Database, number: int) -> Body:
    """The body of a state."""
    found = database.one("SELECT body, checksum FROM states WHERE number = ?", (number,))
    if found is None or checksum(found[0]) != found[1]:
        what = "missing" if found is None else "not as it was written"
        raise DamagedError(f"{database.shown} is damaged: state {number} is {what}", hint="topiarist check")
    with reading(f"state {number} of {database.shown}"):
        body: Body = {**json.loads(found[0])}
        named(body)
    return body


def record(
    database: Database,
    kind: str,
    body: Mapping[str, Any],
    new_state: Mapping[str, Any] | int,
    *,
    parts: Iterable[Part] = (),
    time: str = "",
) -> int:
    """Write down an edit, the state that it leads to (a number: one that was before) and the parts that are new in it.

    Call it in the transaction that holds whatever else belongs to the edit. Returns the number of the state.
    """
    with database.transaction():
        keep(database, parts)
        before = latest(database)
        if isinstance(new_state, int):
            after = new_state
            state(database, after)
        else:
            after = _add_state(database, new_state)
        database.run(
            "INSERT INTO edits (time, kind, body, before, after) VALUES (?, ?, ?, ?, ?)",
            (time or _now(), kind, _json(body), before, after),
        )
    return after


def history(
    database: Database, *, limit: int | None = None, kind: str | None = None, until: int | None = None
) -> list[Edit]:
    """The edits, newest first; of one kind, or before one with a number, if that is asked for."""
    rows = database.all(
        "SELECT number, time, kind, body, before, after FROM edits WHERE kind = coalesce(?, kind) AND number < ? "
        "ORDER BY number DESC LIMIT ?",
        (kind, 1 << 62 if until is None else until, -1 if limit is None else limit),
    )
    with reading(f"the log of {database.shown}"):
        return [Edit(number, time, kind, {**json.loads(body)}, *ends) for number, time, kind, body, *ends in rows]


def walk(database: Database) -> Iterator[Edit]:
    """The edits, newest first, for whoever stops soon: of a long log only what is looked at is read."""
    until: int | None = None
    while found := history(database, limit=SOME, until=until):
        yield from found
        until = found[-1].number


def total(database: Database, kind: str, name: str) -> int:
    """The sum of a number that the bodies of all edits of a kind have."""
    found = database.one("SELECT total(json_extract(body, ?)) FROM edits WHERE kind = ?", (f"$.{name}", kind))
    return int(found[0]) if found else 0


def lengths(database: Database) -> tuple[int, int]:
    """How many states there were, and how many edits."""
    states, edits = (database.one(f"SELECT count(*) FROM {table}") for table in ("states", "edits"))  # noqa: S608
    return (states or (0,))[0], (edits or (0,))[0]


def parts(database: Database) -> dict[str, str]:
    """The parts that must stay, with their digests."""
    return dict(database.all("SELECT name, digest FROM parts ORDER BY name"))


def keep(database: Database, parts: Iterable[Part]) -> None:
    """Let parts stay before a state names them: those of an unfinished grow, from which it may go on."""
    database.run_many("INSERT INTO parts (name, digest) VALUES (?, ?)", [(part.name, part.digest) for part in parts])


def drop(database: Database, names: Iterable[str]) -> None:
    """Let go of parts that were kept, unless a state names them; the next writer removes their folders."""
    with database.transaction():
        free = set(names) - used(database)
        database.run_many("DELETE FROM parts WHERE name = ?", [(name,) for name in sorted(free)])


def forget(database: Database, kept: Iterable[int]) -> None:
    """Let go of all states but these, and of the parts that only those had; what was done stays in the log.

    What is left of a forgotten state is that there was one. The next writer removes the folders of its parts.
    """
    numbers = set(kept)
    text = forgotten()
    with database.transaction():
        every = [number for (number,) in database.all("SELECT number FROM states")]
        gone = [(text, checksum(text), number) for number in every if number not in numbers]
        database.run_many("UPDATE states SET body = ?, checksum = ? WHERE number = ?", gone)
        drop(database, parts(database))


def forgotten() -> str:
    """What is kept of a state that nobody can come back to."""
    return _json({FORGOTTEN: True, "parts": {}})


def rewrite(database: Database, kind: str, speaks: Callable[[Any], bool]) -> int:
    """Take the words out of entries that speak of something, in a log that nobody has seen yet; of how many."""
    known = database.all("SELECT number, body FROM edits")
    gone = [(kind, number) for number, body in known if speaks(json.loads(body))]
    database.run_many("UPDATE edits SET kind = ?, body = '{}' WHERE number = ?", gone)
    return len(gone)


def replace_last(database: Database, new_state: Mapping[str, Any], parts: Iterable[Part]) -> None:
    """Let the last entry lead to another state, in a log that nobody has seen yet; no other state is kept."""
    with database.transaction():
        keep(database, parts)
        after = _add_state(database, new_state)
        database.run("UPDATE edits SET after = ? WHERE number = (SELECT max(number) FROM edits)", (after,))
        forget(database, [after])


def remembered(database: Database) -> set[int]:
    """The states that were not forgotten."""
    return {number for (number,) in database.all("SELECT number FROM states WHERE body <> ?", (forgotten(),))}


def used(database: Database) -> set[str]:
    """The parts that any state names."""
    with reading(f"the states of {database.shown}"):
        bodies = (json.loads(body) for (body,) in database.all("SELECT body FROM states"))
        return {name for body in bodies for name in named(body)}


def faults(database: Database) -> Iterator[str]:
    """What is wrong with the states: they must be as they were written, and name parts that are known."""
    known = set(parts(database))
    for number, body, written in database.all("SELECT number, body, checksum FROM states ORDER BY number"):
        if not isinstance(body, str) or checksum(body) != written:
            yield f"state {number} has changed since it was written"
            continue
        with reading(f"state {number}"):
            strange = sorted(set(named(json.loads(body))) - known)
        for name in strange:
            yield f"state {number} names {name}, which is not there"
    if latest(database) is None:
        yield "there is no state"


def named(body: Mapping[str, Any]) -> list[str]:
    """The parts that a state names."""
    return [str(name) for name in body.get("parts", {}).values()]


def checksum(text: str) -> int:
    """Of a text that SQLite keeps for us."""
    return zlib.crc32(text.encode())


def _add_state(database: Database, body: Mapping[str, Any]) -> int:
    strange = set(named(body)) - set(parts(database))
    if strange:
        raise ValueError(f"a state may only name parts that were recorded, not {sorted(strange)}")
    text = _json(body)
    database.run("INSERT INTO states (body, checksum) VALUES (?, ?)", (text, checksum(text)))
    found = database.one("SELECT max(number) FROM states")
    assert found is not None  # noqa: S101
    return int(found[0])


def _json(body: Mapping[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=True, allow_nan=False, sort_keys=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
