"""Checksums of the settings and of the edit log, which the settings hold under two names of their own."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from topiarist.storage.database import Database

OF_SETTINGS, OF_LOG = NAMES = ("checksum_of_settings", "checksum_of_log")
_SETTINGS = "SELECT name, value FROM settings WHERE name NOT IN (?, ?) ORDER BY name"
_EDITS = "SELECT number, time, kind, body, before, after FROM edits ORDER BY number"


def update_settings_checksum(database: Database) -> None:
    """Record the checksum of the settings. Call it in the transaction that changes them."""
    _write(database, OF_SETTINGS, _compute(database.all(_SETTINGS, NAMES)))


def update_log_checksum(database: Database) -> None:
    """Record the checksum of the edit log. Call it in the transaction that changes it."""
    _write(database, OF_LOG, _compute(database.all(_EDITS)))


def extend_log_checksum(database: Database) -> None:
    """Record the checksum of the edit log after one more edit, without reading the edits before."""
    before = _read(database, OF_LOG)
    if before is None:
        update_log_checksum(database)
    else:
        _write(database, OF_LOG, _compute(database.all(f"{_EDITS} DESC LIMIT 1"), before))


def find_changed_tables(database: Database) -> Iterator[str]:
    """Yield a sentence for each table that has changed; collections of earlier versions have no checksums."""
    for name, query, values, what in ((OF_SETTINGS, _SETTINGS, NAMES, "settings"), (OF_LOG, _EDITS, (), "edit log")):
        expected = _read(database, name)
        if expected is not None and expected != _compute(database.all(query, values)):
            yield f"the {what} changed since {'they were' if name == OF_SETTINGS else 'it was'} written"


def _compute(rows: Iterable[tuple[Any, ...]], before: int = 0) -> int:
    for row in rows:
        before = zlib.crc32(repr(row).encode("utf-8", "backslashreplace"), before)
    return before


def _read(database: Database, name: str) -> int | None:
    row = database.fetch_one("SELECT value FROM settings WHERE name = ?", (name,))
    try:
        return None if row is None else int(row[0])
    except (TypeError, ValueError):
        return -1  # no checksum: damaged


def _write(database: Database, name: str, checksum: int) -> None:
    database.run("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", (name, str(checksum)))
