"""Settings of a collection, problems, removed documents, languages and duplicates, and checksums of settings and log."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from topiarist.errors import reading
from topiarist.storage.database import Database
from topiarist.text.characters import to_storable
from topiarist.text.documents import Problem

SETTING_TYPES: dict[str, type] = {  # of settings with an inner structure
    "recipe": dict, "sources": list, "places": list, "languages": dict, "command": list, "dates": dict,
}  # fmt: skip
TOKENS_SETTING = "n_tokens"  # number of tokens of all documents, including general words


def settings(database: Database) -> dict[str, Any]:
    """Return the stored settings without checksums; raise DamagedError if a type is wrong."""
    with reading(f"the settings of {database.display_path}"):
        values = {name: json.loads(value) for name, value in database.all("SELECT name, value FROM settings")}
        for name in CHECKSUM_NAMES:
            values.pop(name, None)
        invalid = [name for name, kind in SETTING_TYPES.items() if not isinstance(values.get(name), kind | None)]
        if invalid:
            raise ValueError(f"{invalid[0]} has an invalid type")
        return values


def change_settings(database: Database, values: Mapping[str, Any]) -> None:
    rows = [(name, json.dumps(value, allow_nan=False)) for name, value in values.items()]
    with database.transaction():
        database.run_many("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", rows)
        update_settings_checksum(database)


def clear(database: Database) -> None:
    """Delete settings and problems of an unpublished collection."""
    with database.transaction():
        database.run("DELETE FROM settings")
        database.run("DELETE FROM problems")


def add_tokens(database: Database, number: int) -> None:
    """Add the tokens of new documents to their number."""
    change_settings(database, {TOKENS_SETTING: settings(database).get(TOKENS_SETTING, 0) + number})


def problems(database: Database, *, limit: int | None = None) -> list[Problem]:
    """Return the problems in the order in which they occurred."""
    limit = -1 if limit is None else limit
    return [
        Problem(*row) for row in database.all("SELECT source, reason FROM problems ORDER BY number LIMIT ?", (limit,))
    ]


def left_out(database: Database, id: str) -> str:
    """Return the reason why the file of this id was skipped; an empty string if it was not."""
    sql = "SELECT reason FROM problems WHERE source = ? OR substr(source, -length(?) - 1) = '/' || ? LIMIT 1"
    row = database.fetch_one(sql, (id, id, id)) if id else None
    return str(row[0]) if row else ""


def n_problems(database: Database) -> int:
    return database.number("SELECT count(*) FROM problems") or 0


def add_problems(database: Database, problems: Iterable[Problem]) -> None:
    rows = [(to_storable(problem.source), to_storable(problem.reason)) for problem in problems]
    with database.transaction():
        database.run_many("INSERT INTO problems (source, reason) VALUES (?, ?)", rows)


def filter_problems(database: Database, is_kept: Callable[[Problem], bool]) -> None:
    """Delete the problems for which ``is_kept`` is false."""
    problems = database.all("SELECT number, source, reason FROM problems")
    dropped = [(number,) for number, source, reason in problems if not is_kept(Problem(source, reason))]
    database.run_many("DELETE FROM problems WHERE number = ?", dropped)


def compute_id_digest(id: str) -> str:
    """Return the digest of an id, by which a removed document is recognised without storing its id."""
    return hashlib.blake2b(to_storable(id).encode(), digest_size=12).hexdigest()


def add_removed(database: Database, ids: Iterable[str], passages: Iterable[str] = ()) -> None:
    """Record removed documents, or passages, which stay excluded when the collection is grown again."""
    digests = dict.fromkeys(map(compute_id_digest, passages), True) | dict.fromkeys(map(compute_id_digest, ids), False)
    add_removed_digests(database, digests)


def add_removed_digests(database: Database, digests: Mapping[str, bool]) -> None:
    """Record removed documents by their digests, with whether each is a passage."""
    with database.transaction():
        rows = [(digest, int(part)) for digest, part in digests.items()]
        database.run_many("INSERT OR IGNORE INTO removed (digest, part) VALUES (?, ?)", rows)


def removed(database: Database) -> dict[str, bool]:
    """Return the digests of the documents that users removed, and whether each is a passage."""
    return {digest: bool(part) for digest, part in database.all("SELECT digest, part FROM removed")}


def clear_removed(database: Database, ids: Iterable[str]) -> None:
    """Delete the records of removed documents that were added again."""
    if digests := removed(database):
        restored = digests.keys() & set(map(compute_id_digest, ids))
        database.run_many("DELETE FROM removed WHERE digest = ?", ((digest,) for digest in restored))


def add_languages(database: Database, codes: Iterable[tuple[int, str]]) -> None:
    """Record the language of documents by row; an empty string if it is unknown."""
    with database.transaction():
        database.run_many("INSERT OR REPLACE INTO languages VALUES (?, ?)", codes)


def languages(database: Database, stop: int | None = None) -> dict[str, int]:
    """Return the number of documents in each language, the most frequent first; ``stop``: of the first rows only."""
    sql = "SELECT code, count(*) FROM languages WHERE row < ? GROUP BY code ORDER BY count(*) DESC, code"
    return {str(code): int(number) for code, number in database.all(sql, (1 << 62 if stop is None else stop,))}


def language_codes(database: Database, rows: range) -> list[str]:
    """Return the language of each document of a range of rows; empty for one that was not detected or noted."""
    sql = "SELECT row, code FROM languages WHERE row >= ? AND row < ?"
    codes: dict[int, str] = dict(database.all(sql, (rows.start, rows.stop)))
    return [codes.get(row, "") for row in rows]


def languages_of(database: Database, rows: Iterable[int]) -> list[str]:
    """Return the recorded languages of documents."""
    sql = "SELECT code FROM languages WHERE row IN (SELECT value FROM json_each(?))"
    return [str(code) for (code,) in database.all(sql, (json.dumps([int(row) for row in rows]),))]


def get_duplicates(database: Database) -> list[tuple[int, int, float]]:
    """Return the row of each duplicate, the row of its original and their similarity, in order."""
    records = database.all("SELECT row, original, shared FROM copies ORDER BY row")
    with reading(f"the copies of {database.display_path}"):
        return [(int(row), int(original), float(shared)) for row, original, shared in records]


def add_duplicates(database: Database, duplicates: Iterable[tuple[int, int, float]]) -> None:
    with database.transaction():
        database.run_many("INSERT OR REPLACE INTO copies (row, original, shared) VALUES (?, ?, ?)", duplicates)


def clear_duplicates(database: Database) -> None:
    database.run("DELETE FROM copies")


# ---- checksums of the settings and of the edit log, which the settings hold under two names of their own

OF_SETTINGS, OF_LOG = CHECKSUM_NAMES = ("checksum_of_settings", "checksum_of_log")
_SETTINGS = "SELECT name, value FROM settings WHERE name NOT IN (?, ?) ORDER BY name"
_EDITS = "SELECT number, time, kind, body, before, after FROM edits ORDER BY number"


def update_settings_checksum(database: Database) -> None:
    """Record the checksum of the settings. Call it in the transaction that changes them."""
    _write_checksum(database, OF_SETTINGS, _compute_checksum(database.all(_SETTINGS, CHECKSUM_NAMES)))


def update_log_checksum(database: Database) -> None:
    """Record the checksum of the edit log. Call it in the transaction that changes it."""
    _write_checksum(database, OF_LOG, _compute_checksum(database.all(_EDITS)))


def extend_log_checksum(database: Database) -> None:
    """Record the checksum of the edit log after one more edit, without reading the edits before."""
    before = _read_checksum(database, OF_LOG)
    if before is None:
        update_log_checksum(database)
    else:
        _write_checksum(database, OF_LOG, _compute_checksum(database.all(f"{_EDITS} DESC LIMIT 1"), before))


def find_changed_tables(database: Database) -> Iterator[str]:
    """Yield a sentence for each table that has changed."""
    for name, query, values, what in (
        (OF_SETTINGS, _SETTINGS, CHECKSUM_NAMES, "settings"),
        (OF_LOG, _EDITS, (), "edit log"),
    ):
        expected = _read_checksum(database, name)
        if expected is not None and expected != _compute_checksum(database.all(query, values)):
            yield f"the {what} changed since {'they were' if name == OF_SETTINGS else 'it was'} written"


def _compute_checksum(rows: Iterable[tuple[Any, ...]], before: int = 0) -> int:
    for row in rows:
        before = zlib.crc32(repr(row).encode("utf-8", "backslashreplace"), before)
    return before


def _read_checksum(database: Database, name: str) -> int | None:
    """Return a stored checksum; None if it is missing, −1 if it is not a number."""
    row = database.fetch_one("SELECT value FROM settings WHERE name = ?", (name,))
    try:
        return None if row is None else int(row[0])
    except (TypeError, ValueError):
        return -1  # no checksum: damaged


def _write_checksum(database: Database, name: str, checksum: int) -> None:
    database.run("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", (name, str(checksum)))
