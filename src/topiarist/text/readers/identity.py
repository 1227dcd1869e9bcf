"""Ids that are unique in one reading, whatever the sources say, without holding them in memory."""

from __future__ import annotations

import sqlite3

_CACHE_KIB = 65_536


class UniqueIds:
    """Hands out ids. The second document that asks for ``a`` gets ``a#2``, the third ``a#3``.

    The ids seen so far live in a temporary SQLite database that goes to disk as it grows, so ten million of
    them take no more memory than ten thousand.
    """

    def __init__(self) -> None:
        # An empty name is SQLite's private temporary file, deleted when closed.
        self._seen = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._seen.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        self._seen.execute("PRAGMA journal_mode = OFF")
        self._seen.execute("PRAGMA synchronous = OFF")
        self._seen.execute("CREATE TABLE seen (id TEXT PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID")
        # One transaction for all: each commit would go through the whole cache, and nothing is to be kept anyway.
        self._seen.execute("BEGIN")

    def claim(self, wanted: str) -> str:
        """`wanted` itself if it is free, else with the first free number behind it."""
        if self._is_new(wanted):
            return wanted
        (times,) = self._seen.execute("SELECT times FROM seen WHERE id = ?", (wanted,)).fetchone()
        while not self._is_new(candidate := f"{wanted}#{times + 1}"):
            times += 1
        self._seen.execute("UPDATE seen SET times = ? WHERE id = ?", (times + 1, wanted))
        return candidate

    def close(self) -> None:
        """Give the temporary file back."""
        self._seen.close()

    def _is_new(self, id: str) -> bool:
        return self._seen.execute("INSERT OR IGNORE INTO seen VALUES (?, 1)", (id,)).rowcount == 1
