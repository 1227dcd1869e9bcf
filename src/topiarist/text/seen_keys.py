"""Set of ids or hashes in a temporary database, which moves to disk as it grows.

Ten million keys take no more memory than ten thousand.
"""

from __future__ import annotations

import sqlite3

_CACHE_KIB = 65_536


class SeenKeys:
    """Set of texts or whole numbers that only grows."""

    def __init__(self) -> None:
        # An empty name is a private temporary file, which SQLite deletes when it is closed.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute("CREATE TABLE seen (key PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID")
        # One transaction: each commit would write the whole cache, and the file is temporary.
        self._database.execute("BEGIN")

    def add(self, key: str | int) -> bool:
        """Add a key and return whether it is new."""
        return self._database.execute("INSERT OR IGNORE INTO seen VALUES (?, 1)", (key,)).rowcount == 1

    def claim_id(self, requested: str) -> str:
        """Add an id with the first free number: the second document ``a`` gets the id ``a#2``, the third ``a#3``."""
        if self.add(requested):
            return requested
        (times,) = self._database.execute("SELECT times FROM seen WHERE key = ?", (requested,)).fetchone()
        while not self.add(candidate := f"{requested}#{times + 1}"):
            times += 1
        self._database.execute("UPDATE seen SET times = ? WHERE key = ?", (times + 1, requested))
        return candidate

    def close(self) -> None:
        """Delete the temporary file."""
        self._database.close()
