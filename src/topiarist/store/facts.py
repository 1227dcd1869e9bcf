"""Small facts about a collection: its settings, and what could not be read into it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from topiarist.errors import reading
from topiarist.store.database import Database
from topiarist.text.documents import Problem
from topiarist.text.readers.making import storable

KINDS: dict[str, type] = {  # of settings that are walked through
    "recipe": dict, "sources": list, "places": list, "languages": dict, "command": list, "dates": dict,
}  # fmt: skip
TOKENS = "n_tokens"  # words of all documents that are in the vocabulary, or were set aside as too general


def settings(database: Database) -> dict[str, Any]:
    """All settings, by name."""
    with reading(f"what {database.shown} says of itself"):
        found = {name: json.loads(value) for name, value in database.all("SELECT name, value FROM settings")}
        odd = [name for name, kind in KINDS.items() if not isinstance(found.get(name), kind | None)]
        if odd:
            raise ValueError(f"{odd[0]} is not what it should be")
        return found


def change_settings(database: Database, values: Mapping[str, Any]) -> None:
    """Set or replace some."""
    rows = [(name, json.dumps(value, allow_nan=False)) for name, value in values.items()]
    with database.transaction():
        database.run_many("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", rows)


def clear(database: Database) -> None:
    """Forget everything, of a collection that nobody has seen yet."""
    with database.transaction():
        database.run("DELETE FROM settings")
        database.run("DELETE FROM problems")


def add_tokens(database: Database, number: int) -> None:
    """Count the words of new documents in."""
    change_settings(database, {TOKENS: settings(database).get(TOKENS, 0) + number})


def problems(database: Database, *, limit: int | None = None) -> list[Problem]:
    """What was left out, in the order in which it was met."""
    limit = -1 if limit is None else limit
    return [
        Problem(*row) for row in database.all("SELECT source, reason FROM problems ORDER BY number LIMIT ?", (limit,))
    ]


def left_out(database: Database, id: str) -> str:
    """Why a file that would have been this document was left out; nothing where none was."""
    sql = "SELECT reason FROM problems WHERE source = ? OR substr(source, -length(?) - 1) = '/' || ? LIMIT 1"
    found = database.one(sql, (id, id, id)) if id else None
    return str(found[0]) if found else ""


def n_problems(database: Database) -> int:
    """How many there are."""
    return database.number("SELECT count(*) FROM problems") or 0


def add_problems(database: Database, problems: Iterable[Problem]) -> None:
    """Note what was left out."""
    rows = [(storable(problem.source), storable(problem.reason)) for problem in problems]
    with database.transaction():
        database.run_many("INSERT INTO problems (source, reason) VALUES (?, ?)", rows)


def keep_problems(database: Database, stays: Callable[[Problem], bool]) -> None:
    """Forget those that must not stay."""
    known = database.all("SELECT number, source, reason FROM problems")
    gone = [(number,) for number, source, reason in known if not stays(Problem(source, reason))]
    database.run_many("DELETE FROM problems WHERE number = ?", gone)


_REMOVED = "CREATE TABLE IF NOT EXISTS removed (digest TEXT PRIMARY KEY, part INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID"
_PART = "ALTER TABLE removed ADD COLUMN part INTEGER NOT NULL DEFAULT 0"  # of tables that an earlier version made


def digest_of(id: str) -> str:
    """What is remembered of the id of a removed document: enough to know it again, and nothing to read."""
    return hashlib.blake2b(storable(id).encode(), digest_size=12).hexdigest()


def add_removed(database: Database, ids: Iterable[str], passages: Iterable[str] = ()) -> None:
    """Remember that people removed documents, or passages of some: they stay out when the collection is grown again."""
    known = dict.fromkeys(map(digest_of, passages), True) | dict.fromkeys(map(digest_of, ids), False)
    add_removed_digests(database, known)


def add_removed_digests(database: Database, digests: Mapping[str, bool]) -> None:
    """The same, by what was remembered of them elsewhere, and whether each is a passage."""
    with database.transaction():
        database.run(_REMOVED)
        if not _knows_parts(database):
            database.run(_PART)
        rows = [(digest, int(part)) for digest, part in digests.items()]
        database.run_many("INSERT OR IGNORE INTO removed (digest, part) VALUES (?, ?)", rows)


def removed(database: Database) -> dict[str, bool]:
    """The digests of what people removed, and whether each is a passage; none in collections of earlier versions."""
    if database.one("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'removed'") is None:
        return {}
    part = "part" if _knows_parts(database) else "0"
    return {digest: bool(one) for digest, one in database.all(f"SELECT digest, {part} FROM removed")}  # noqa: S608


def _knows_parts(database: Database) -> bool:
    return "part" in {name for _, name, *_ in database.all("PRAGMA table_info(removed)")}


def take_back_removed(database: Database, ids: Iterable[str]) -> None:
    """Documents that were removed and are here again."""
    if known := removed(database):
        again = known.keys() & set(map(digest_of, ids))
        database.run_many("DELETE FROM removed WHERE digest = ?", ((one,) for one in again))


_LANGUAGES = "CREATE TABLE IF NOT EXISTS languages (row INTEGER PRIMARY KEY REFERENCES documents, code TEXT NOT NULL)"


def add_languages(database: Database, codes: Iterable[tuple[int, str]]) -> None:
    """Note the language of documents, by row; nothing for one that cannot be told."""
    with database.transaction():
        database.run(_LANGUAGES)
        database.run_many("INSERT OR REPLACE INTO languages VALUES (?, ?)", codes)


def languages(database: Database, stop: int | None = None) -> dict[str, int] | None:
    """How many documents there are in each language, the most frequent first; of the first rows, if that is asked for.

    None where an earlier version has not noted it.
    """
    if database.one("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'languages'") is None:
        return None
    sql = "SELECT code, count(*) FROM languages WHERE row < ? GROUP BY code ORDER BY count(*) DESC, code"
    return {str(code): int(number) for code, number in database.all(sql, (1 << 62 if stop is None else stop,))}


def languages_of(database: Database, rows: Iterable[int]) -> list[str]:
    """The languages of some documents that are noted."""
    sql = "SELECT code FROM languages WHERE row IN (SELECT value FROM json_each(?))"
    return [str(code) for (code,) in database.all(sql, (json.dumps([int(row) for row in rows]),))]
