"""Set of ids or hashes in a temporary database, which moves to disk as it grows.

Ten million keys take no more memory than ten thousand.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from topiarist.errors import ResourceError, SystemLimitError, to_limit_error

_CACHE_KIB = 65_536
_LIMIT_CODES = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


class SeenKeys:
    """Set of texts or whole numbers that only grows; numbers with the same lowest 64 bits are equal.

    The database is an unnamed file in ``folder``; without one, in the temporary folder of SQLite.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._place = folder or "the temporary folder"
        self._path = "" if folder is None else self._create_file(folder)
        # An empty name is a private temporary file, which SQLite deletes when it is closed. No other process opens the
        # file, and some network drives have no locks.
        address = Path(self._path).absolute().as_uri() + "?nolock=1" if self._path else ""
        self._database = sqlite3.connect(address, isolation_level=None, check_same_thread=False, uri=True)
        try:
            self._execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            self._execute("PRAGMA journal_mode = OFF")
            self._execute("PRAGMA synchronous = OFF")
            self._execute("CREATE TABLE seen (key PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID")
            # One transaction: each commit would write the whole cache, and the file is temporary.
            self._execute("BEGIN")
        except BaseException:
            self.close()
            raise
        self._remove_file()  # a killed process leaves no file

    def add(self, key: str | int) -> bool:
        """Add a key and return whether it is new."""
        if isinstance(key, int):
            key = (key + (1 << 63)) % (1 << 64) - (1 << 63)  # SQLite has signed integers of 64 bits
        return self._execute("INSERT OR IGNORE INTO seen VALUES (?, 1)", (key,)).rowcount == 1

    def claim_id(self, requested: str) -> str:
        """Add an id with the first free number: the second document ``a`` gets the id ``a#2``, the third ``a#3``."""
        if self.add(requested):
            return requested
        (times,) = self._execute("SELECT times FROM seen WHERE key = ?", (requested,)).fetchone()
        while not self.add(candidate := f"{requested}#{times + 1}"):
            times += 1
        self._execute("UPDATE seen SET times = ? WHERE key = ?", (times + 1, requested))
        return candidate

    def close(self) -> None:
        """Delete the temporary file."""
        self._database.close()
        self._remove_file()

    def _create_file(self, folder: str) -> str:
        try:
            descriptor, path = tempfile.mkstemp(dir=folder)
        except OSError as error:
            if limit_error := to_limit_error(error, folder):
                raise limit_error from error
            raise
        os.close(descriptor)
        return path

    def _remove_file(self) -> None:
        """Remove the name of the file; Windows refuses this until the database is closed."""
        if self._path:
            with suppress(PermissionError):
                os.unlink(self._path)
                self._path = ""

    def _execute(self, sql: str, parameters: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        try:
            return self._database.execute(sql, parameters)
        except sqlite3.Error as error:
            code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
            message = f"cannot write the list of read documents to {self._place}: {error}"
            if code in _LIMIT_CODES:
                raise SystemLimitError(message, hint="Free some disk space.") from error
            if code == sqlite3.SQLITE_CANTOPEN:
                raise ResourceError(message, hint="Choose a writable folder.") from error
            raise
