"""Edit log of a collection: the edits of users, and the states between them.

A *state* is a small JSON value that describes the collection; under ``"parts"`` it names the parts of the collection by
their role. An *edit* leads from one state to the next. States never change, so undo is an edit too: it leads back to an
existing state. The transaction that records an edit commits it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from topiarist.errors import DamagedError, reading
from topiarist.storage import facts
from topiarist.storage.database import Database, get_time
from topiarist.storage.generation import Part

Body = dict[str, Any]
BATCH_EDITS = 50  # edits read at a time
FORGOTTEN_KEY = "forgotten"  # key of an erased state


@dataclass(frozen=True)
class Edit:
    """Edit of a user."""

    number: int
    time: str
    kind: str
    body: Body
    before: int | None
    after: int


def current(database: Database) -> tuple[int, Body] | None:
    """Return the number and the body of the current state; None before the first."""
    number = latest(database)
    return None if number is None else (number, state(database, number))


def latest(database: Database) -> int | None:
    """Return the number of the current state; None before the first."""
    return database.number("SELECT after FROM edits ORDER BY number DESC LIMIT 1")


def state(database: Database, number: int) -> Body:
    """Return the JSON body of a state by its number. Raise DamagedError if it is missing or changed."""
    row = database.fetch_one("SELECT body, checksum FROM states WHERE number = ?", (number,))
    if row is None or checksum(row[0]) != row[1]:
        fault = "missing" if row is None else "changed since it was written"
        raise DamagedError(
            f"{database.display_path} is damaged: state {number} is {fault}", hint="Run topiarist check."
        )
    with reading(f"state {number} of {database.display_path}"):
        body: Body = {**json.loads(row[0])}
        list_parts(body)
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
    """Record an edit, its new state (a number: an existing state) and the new parts of that state.

    Call it in the transaction of all other changes of the edit. Return the number of the state.
    """
    with database.transaction():
        keep(database, parts)
        previous = latest(database)
        if isinstance(new_state, int):
            new_number = new_state
            state(database, new_number)
        else:
            new_number = _add_state(database, new_state)
        database.run(
            "INSERT INTO edits (time, kind, body, before, after) VALUES (?, ?, ?, ?, ?)",
            (time or get_time(), kind, _to_json(body), previous, new_number),
        )
        facts.extend_log_checksum(database)
    return new_number


def history(
    database: Database, *, limit: int | None = None, kind: str | None = None, until: int | None = None
) -> list[Edit]:
    """Return the edits, newest first; ``kind`` and ``until`` (an edit number, exclusive) restrict them."""
    rows = database.all(
        "SELECT number, time, kind, body, before, after FROM edits WHERE kind = coalesce(?, kind) AND number < ? "
        "ORDER BY number DESC LIMIT ?",
        (kind, 1 << 62 if until is None else until, -1 if limit is None else limit),
    )
    with reading(f"the log of {database.display_path}"):
        return [Edit(number, time, kind, {**json.loads(body)}, *ends) for number, time, kind, body, *ends in rows]


def walk(database: Database) -> Iterator[Edit]:
    """Yield the edits, newest first; only the edits that the caller takes are read."""
    last_edit: int | None = None
    while edits := history(database, limit=BATCH_EDITS, until=last_edit):
        yield from edits
        last_edit = edits[-1].number


def total(database: Database, kind: str, name: str) -> int:
    """Return the sum of a number in the bodies of all edits of a kind."""
    row = database.fetch_one("SELECT total(json_extract(body, ?)) FROM edits WHERE kind = ?", (f"$.{name}", kind))
    return int(row[0]) if row else 0


def count_entries(database: Database) -> tuple[int, int]:
    """Return the numbers of states and of edits."""
    states, edits = (database.fetch_one(f"SELECT count(*) FROM {table}") for table in ("states", "edits"))  # noqa: S608
    return (states or (0,))[0], (edits or (0,))[0]


def parts(database: Database) -> dict[str, str]:
    """Return the parts that must stay, with their digests."""
    return dict(database.all("SELECT name, digest FROM parts ORDER BY name"))


def keep(database: Database, parts: Iterable[Part]) -> None:
    """Record parts that no state names yet, from which an unfinished grow can resume."""
    database.run_many("INSERT INTO parts (name, digest) VALUES (?, ?)", [(part.name, part.digest) for part in parts])


def drop(database: Database, names: Iterable[str]) -> None:
    """Release kept parts, unless a state names them; the next writer removes their folders."""
    with database.transaction():
        free = set(names) - list_used_parts(database)
        database.run_many("DELETE FROM parts WHERE name = ?", [(name,) for name in sorted(free)])


def forget(database: Database, kept_states: Iterable[int]) -> None:
    """Erase all states but the given ones, and release parts that only they used; keep the edits.

    An erased state keeps its number. The next writer removes the folders of its parts.
    """
    numbers = set(kept_states)
    text = format_forgotten_state()
    with database.transaction():
        numbers_found = [number for (number,) in database.all("SELECT number FROM states")]
        rows = [(text, checksum(text), number) for number in numbers_found if number not in numbers]
        database.run_many("UPDATE states SET body = ?, checksum = ? WHERE number = ?", rows)
        drop(database, parts(database))


def format_forgotten_state() -> str:
    """Return the body of an erased state."""
    return _to_json({FORGOTTEN_KEY: True, "parts": {}})


def rewrite(database: Database, kind: str, matches: Callable[[Any], bool]) -> int:
    """Erase the bodies of matching edits in an unpublished log; return their number."""
    entries = database.all("SELECT number, body FROM edits")
    rows = [(kind, number) for number, body in entries if matches(json.loads(body))]
    with database.transaction():
        database.run_many("UPDATE edits SET kind = ?, body = '{}' WHERE number = ?", rows)
        facts.update_log_checksum(database)
    return len(rows)


def replace_last(database: Database, new_state: Mapping[str, Any], parts: Iterable[Part]) -> None:
    """Replace the state of the last edit in an unpublished log and erase all other states."""
    with database.transaction():
        keep(database, parts)
        new_number = _add_state(database, new_state)
        database.run("UPDATE edits SET after = ? WHERE number = (SELECT max(number) FROM edits)", (new_number,))
        facts.update_log_checksum(database)
        forget(database, [new_number])


def list_remembered(database: Database) -> set[int]:
    """Return the numbers of the states that were not erased."""
    return {
        number for (number,) in database.all("SELECT number FROM states WHERE body <> ?", (format_forgotten_state(),))
    }


def list_used_parts(database: Database) -> set[str]:
    """Return the parts that any state names."""
    with reading(f"the states of {database.display_path}"):
        bodies = (json.loads(body) for (body,) in database.all("SELECT body FROM states"))
        return {name for body in bodies for name in list_parts(body)}


def faults(database: Database) -> Iterator[str]:
    """Yield the faults of the states, which must match their checksums and name existing parts."""
    known_parts = set(parts(database))
    for number, body, checksum_found in database.all("SELECT number, body, checksum FROM states ORDER BY number"):
        if not isinstance(body, str) or checksum(body) != checksum_found:
            yield f"state {number} has changed since it was written"
            continue
        with reading(f"state {number}"):
            unknown_parts = sorted(set(list_parts(json.loads(body))) - known_parts)
        for name in unknown_parts:
            yield f"state {number} names {name}, which is not there"
    if latest(database) is None:
        yield "there is no state"


def list_parts(body: Mapping[str, Any]) -> list[str]:
    """Return the names of the parts of a state."""
    return [str(name) for name in body.get("parts", {}).values()]


def checksum(text: str) -> int:
    """Return the checksum of a text in the database."""
    return zlib.crc32(text.encode())


def _add_state(database: Database, body: Mapping[str, Any]) -> int:
    """Store a state of the tree and return its number; raise ValueError if a part is missing."""
    unknown_parts = set(list_parts(body)) - set(parts(database))
    if unknown_parts:
        raise ValueError(f"a state may only name parts that were recorded, not {sorted(unknown_parts)}")
    text = _to_json(body)
    database.run("INSERT INTO states (body, checksum) VALUES (?, ?)", (text, checksum(text)))
    row = database.fetch_one("SELECT max(number) FROM states")
    assert row is not None  # noqa: S101
    return int(row[0])


def _to_json(body: Mapping[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=True, allow_nan=False, sort_keys=True)
