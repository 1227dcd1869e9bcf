"""SQLite database of a collection: connections, transactions, readers beside a writer, and translated errors.

Every thread has a connection of its own, opened at its first statement: a web server can share one ``Database`` among
its threads. Readers open the file read-only, see the last commit, and never wait.

``documents`` has one row per document, with the row numbers of the counts, and is never changed. Tags and read marks
are in separate tables, so that the full-text index never changes with them. Texts are separate too, so that a scan of
ids or dates does not read them. ``checksum`` detects flipped bits, which SQLite does not.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from topiarist.errors import (
    DamagedError,
    InputError,
    ResourceError,
    SystemLimitError,
    TopiaristError,
    create_damaged_error,
    to_limit_error,
)
from topiarist.storage.schema import TABLES, find_schema_fault
from topiarist.storage.sealed_folder import refuse_links
from topiarist.text.query import fold_word
from topiarist.version import __version__

Row = tuple[Any, ...]
T = TypeVar("T")

BUSY_TIMEOUT = 5.0  # seconds to wait for the commit of another connection
_CACHE, _READER_CACHE = -16_000, -4_000  # KiB, negative as SQLite expects; each thread of a server has a reader
_MAX_CACHED = 64  # values that a thread caches until the next change
_CHECK = "topiarist check"
FETCH_ROWS = 4_096  # rows of a long result in memory at a time
# messages of SQLite about a statement or an FTS5 query, not about the file
_STATEMENT_ERRORS = re.compile(
    r"near |fts5:|unterminated|unknown special query|user-defined function|no such function|cannot |.*syntax"
)

# error codes on drives where processes cannot share memory or locks, such as network drives
_UNSHARED_CODES = (
    sqlite3.SQLITE_IOERR_SHMMAP,
    sqlite3.SQLITE_IOERR_SHMOPEN,
    sqlite3.SQLITE_IOERR_SHMLOCK,
    sqlite3.SQLITE_IOERR_LOCK,
)
# types of file systems that several machines can write, without shared memory
_NETWORK_TYPES = re.compile(
    r"nfs\d?|cifs|smb\w*|afs|ceph|lustre|gpfs|davfs|(fuse\.)?(sshfs|glusterfs|ceph|davfs2?|rclone)"
)
_MOUNTS, _OCTAL = Path("/proc/self/mountinfo"), re.compile(r"\\(\d{3})")  # octal escapes of spaces in it

DAMAGED_DATABASE = "the database is damaged"
VERSION = 1  # of the folder and of the database, which change together

# Limit of the steps of a query: a constant, and a number for each byte of the file. A scan of all rows of all tables
# takes less than one step for each byte. Only a query on a damaged file, whose pages form a cycle, takes more.
STEPS, STEPS_A_BYTE = 50_000_000, 8
_STEP_INTERVAL = 1_000_000  # steps between two checks
_LIMITS = {  # what we never need and somebody who forges a file may want
    sqlite3.SQLITE_LIMIT_ATTACHED: 2,
    sqlite3.SQLITE_LIMIT_COLUMN: 200,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 600,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}


class CodedTexts(NamedTuple):
    """Rows with texts of few different values, as arrays: each row with the number of its text."""

    rows: Any
    codes: Any
    texts: tuple[str, ...]  # in the order of their first row

    def pairs(self) -> list[tuple[int, str]]:
        """Return each row with its text."""
        return [(row, self.texts[code]) for row, code in zip(self.rows.tolist(), self.codes.tolist(), strict=True)]


class Database:
    """Tables of a collection, open for reading, or for writing by the holder of the lock."""

    def __init__(self, path: Path, *, write: bool = False, display_path: str = "") -> None:
        self.path = path.absolute()  # the working folder can change before the next thread opens it
        self.write = write
        self.display_path = display_path or str(path)
        self._local = threading.local()
        self._connections: weakref.WeakSet[_Connection] = weakref.WeakSet()
        self._guard = threading.Lock()

    @classmethod
    def create(cls, path: Path, *, display_path: str = "") -> Database:
        """Create a file with empty tables: all of them, or none (version 0) after a kill.

        It keeps a rollback journal until ``use_wal``: a growing file is written once that way, not twice.
        """
        require_fts5()
        database = cls(path, write=True, display_path=display_path)
        try:
            with database._translate_errors():
                connection = database._connect("rwc")
                database._adopt(connection)
                connection.executescript(f"BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
        except BaseException:
            database.close()
            raise
        return database

    @property
    def connection(self) -> sqlite3.Connection:
        """Connection of this thread."""
        return self._get_connection()

    def _get_connection(self) -> _Connection:
        """Return the connection of this thread; open and check the file first if needed."""
        connection: _Connection | None = getattr(self._local, "connection", None)
        if connection is not None and connection.file_state is not None and not connection.in_transaction:
            with suppress(OSError):  # a missing file is reported by the query
                connection = connection if connection.file_state == self._get_file_state() else None
        if connection is None:
            with self._translate_errors():
                connection, version = self._open()
            if version != VERSION:
                connection.close()
                raise create_version_error(self.display_path, version)
            with self._translate_errors():
                fault = find_schema_fault(connection)
            if fault:
                connection.close()
                raise create_damaged_error(self.display_path, fault)
            self._adopt(connection)
        return connection

    def _open(self) -> tuple[_Connection, int]:
        """Return a new connection and the version of the file; undo the rollback journal of a killed writer."""
        try:
            return self._open_mode("rw" if self.write else "ro")
        except sqlite3.OperationalError as error:
            if self.write or error.sqlite_errorcode != sqlite3.SQLITE_READONLY_ROLLBACK:
                raise
        self._open_mode("rw")[0].close()
        return self._open_mode("ro")

    def _open_mode(self, mode: str) -> tuple[_Connection, int]:
        """Open a connection in an SQLite mode; return it with the version of the file format."""
        connection = self._connect(mode)
        try:
            return connection, connection.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.Error:
            connection.close()
            raise

    def all(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Return all rows of a query."""
        with self._translate_errors(), self._limit_query_steps() as connection:
            return connection.execute(sql, parameters).fetchall()

    def iterate_rows(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[Row]:
        """Yield all rows of a query, a few at a time. Do not run another statement before the last row."""
        with self._translate_errors(), self._limit_query_steps() as connection:
            answer = connection.execute(sql, parameters)
            while rows := answer.fetchmany(FETCH_ROWS):
                yield from rows

    def numbers(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """Return a query result with one integer per row as an array."""
        return self._read_array((number for (number,) in self.iterate_rows(sql, parameters)), "i8")

    def read_codes(self, sql: str, parameters: Sequence[Any] = ()) -> CodedTexts:
        """Return a query result of rows and texts with few different values."""
        codes: dict[str, int] = {}
        rows = ((row, codes.setdefault(str(text), len(codes))) for row, text in self.iterate_rows(sql, parameters))
        arrays = self._read_array(rows, "i8, i4")
        return CodedTexts(arrays["f0"], arrays["f1"], tuple(codes))

    def _read_array(self, rows: Iterator[Any], kind: str) -> Any:
        """Return values as an array of a type; raise DamagedError if one is not a number."""
        import numpy as np  # not imported for --help

        try:
            return np.fromiter(rows, np.dtype(kind))
        except (TypeError, ValueError, OverflowError) as error:  # a damaged table can hold any value
            raise create_damaged_error(self.display_path, "expected a number") from error

    def fetch_one(self, sql: str, parameters: Sequence[Any] = ()) -> Row | None:
        """Return the first row of a query, or None."""
        with self._translate_errors(), self._limit_query_steps() as connection:
            row: Row | None = connection.execute(sql, parameters).fetchone()
            return row

    def number(self, sql: str, parameters: Sequence[Any] = ()) -> int | None:
        """Return the integer that a query returns, or None; a damaged table is an error."""
        row = self.fetch_one(sql, parameters)
        if row is None or row[0] is None:
            return None
        if not isinstance(row[0], int):
            raise create_damaged_error(self.display_path, "expected a number")
        return row[0]

    @contextmanager
    def _limit_query_steps(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection for one query, which stops after too many steps."""
        connection = self._get_connection()
        connection.counter.n_steps, connection.counter.was_stopped = 0, False
        try:
            yield connection
        finally:
            connection.counter.n_steps = None

    @contextmanager
    def limit_steps(self, late: Callable[[], bool], steps: int) -> Iterator[None]:
        """Interrupt statements within the block when ``late`` returns true, checked every ``steps`` steps."""
        connection = self._get_connection()
        connection.set_progress_handler(late, steps)
        try:
            yield
        finally:
            connection.set_progress_handler(connection.counter.count_steps, _STEP_INTERVAL)

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Run a statement and return the number of changed rows."""
        with self._translate_errors():
            return self.connection.execute(sql, parameters).rowcount

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._translate_errors():
            self.connection.executemany(sql, rows)

    def transaction(self) -> AbstractContextManager[None]:
        """Commit all changes of the block to disk, or none. An inner transaction is part of the outer one."""
        return self._within_transaction("BEGIN IMMEDIATE", "COMMIT")

    @contextmanager
    def attach(self, path: Path, name: str) -> Iterator[None]:
        """Attach another database for reading, under a name for statements."""
        connection = self.connection
        with self._translate_errors():
            connection.execute(f"ATTACH ? AS {name}", (f"{path.absolute().as_uri()}?mode=ro",))
        try:
            yield
        finally:
            with suppress(sqlite3.Error):
                connection.execute(f"DETACH {name}")

    def snapshot(self) -> AbstractContextManager[None]:
        """Read one state of the database within the block, whatever is written meanwhile."""
        return self._within_transaction("BEGIN")

    @contextmanager
    def _within_transaction(self, begin: str, end: str = "") -> Iterator[None]:
        """Run a block between SQL statements, or inside the open transaction; roll back on errors."""
        connection = self.connection
        if connection.in_transaction:
            yield
            return
        with self._translate_errors():
            connection.execute(begin)
        try:
            yield
            if end:
                with self._translate_errors():
                    connection.execute(end)
        finally:
            with suppress(sqlite3.Error):  # already committed, closed or rolled back
                connection.execute("ROLLBACK")

    def get_cached(self, name: str, make: Callable[[], T]) -> T:
        """Return a per-thread cached value, recomputed after a write."""
        if self.write:
            return make()
        connection = self._get_connection()
        with self._translate_errors():
            (version,) = connection.execute("PRAGMA data_version").fetchone()
        if connection.cache_version != version or len(connection.cache) >= _MAX_CACHED:
            connection.cache, connection.cache_version = {}, version
        if name not in connection.cache:
            connection.cache[name] = make()
        value: T = connection.cache[name]
        return value

    def faults(self, max_faults: int) -> Iterator[str]:
        """Yield the faults that SQLite finds, one sentence each."""
        for (message,) in self.all(f"PRAGMA integrity_check({max_faults})"):
            if message != "ok":
                yield f"{DAMAGED_DATABASE}: {message}"
        for table, row, *_ in self.all("PRAGMA foreign_key_check")[:max_faults]:
            yield f"{table} refers to something that is not there (row {row})"

    def use_wal(self) -> None:
        """Switch to a write-ahead log, with which writers do not stop readers, if processes can share memory.

        SQLite raises no error if it cannot: it returns the old journal mode, or the new one, which then fails at its
        first use. So the mode is used once. A rollback journal is as safe, but readers and writers wait for each other.
        """
        if not is_on_network(self.path):
            try:
                with self._translate_errors():
                    self.connection.execute("PRAGMA journal_mode = WAL").fetchone()
                    self.connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            except UnsharedError:
                self._to_rollback()
        if Path(f"{self.path}-journal").exists():
            raise ResourceError(
                f"cannot write {self.display_path}: the disk failed, and a journal could not be closed",
                hint="Run the same command again.",
            )

    def _to_rollback(self) -> None:
        """Return to a rollback journal; an exclusive connection needs no shared memory."""
        self.close()
        with self._translate_errors(), closing(self._connect("rw", "locking_mode = EXCLUSIVE")) as connection:
            connection.execute("PRAGMA journal_mode = DELETE").fetchone()
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        Path(f"{self.path}-shm").unlink(missing_ok=True)

    @property
    def is_exclusive(self) -> bool:
        """Whether readers and a writer wait for each other, because processes cannot share memory.

        The connection is asked: opening and closing the file would release the locks of the whole process. False if the
        file is not writable.
        """
        connection = self._get_connection()
        if connection.file_state is not None:
            return False
        with self._translate_errors():
            return bool(connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal")

    def close(self) -> None:
        """Close the connections of all threads; later queries open new ones."""
        with self._guard:
            for connection in list(self._connections):
                connection.close()
            self._connections.clear()
        self._local = threading.local()

    def _adopt(self, connection: _Connection) -> None:
        """Use a connection in this thread, and close it with the database."""
        self._local.connection = connection
        with self._guard:
            self._connections.add(connection)

    def _connect(self, mode: str, *settings: str) -> _Connection:
        """Open an SQLite connection with the limits and settings of this project; refuse links."""
        address = f"{self.path.as_uri()}?mode={mode}"  # as_uri escapes # ? %
        refuse_links(self.path, *(Path(f"{self.path}{end}") for end in ("-wal", "-shm", "-journal")))
        frozen = self._get_file_state() if mode == "ro" and self._is_read_only() else None
        if frozen is not None:
            address += "&immutable=1"
        connection = sqlite3.connect(
            address,
            uri=True,
            timeout=BUSY_TIMEOUT,
            isolation_level=None,
            check_same_thread=False,  # close() closes them all; each is used by one thread only
            factory=_Connection,
        )
        connection.counter, connection.file_state = _StepCounter(self.path), frozen
        connection.set_progress_handler(connection.counter.count_steps, _STEP_INTERVAL)
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        connection.create_function("folded", 1, fold_word, deterministic=True)
        try:
            for setting in (
                *settings,
                "foreign_keys = ON",
                "synchronous = FULL",
                "trusted_schema = OFF",
                "cell_size_check = ON",
                "secure_delete = ON",
            ):
                connection.execute(f"PRAGMA {setting}")
            connection.execute(f"PRAGMA cache_size = {_READER_CACHE if mode == 'ro' else _CACHE}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _is_read_only(self) -> bool:
        """Return whether no process can write: the folder is not writable and has no journal. SQLite has to be told.

        Other users can start to write there, so such a connection is closed as soon as the file has changed.
        """
        return not os.access(self.path.parent, os.W_OK) and not self._has_journal()

    def _has_journal(self) -> bool:
        return any(Path(f"{self.path}{end}").exists() for end in ("-wal", "-journal"))

    def _get_file_state(self) -> tuple[int, int, int, bool]:
        status = self.path.stat()
        return status.st_ino, status.st_size, status.st_mtime_ns, self._has_journal()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise errors of SQLite as errors of this project, with a hint."""
        try:
            yield
        except UnicodeDecodeError as error:  # a name or a text in the file, or a message of SQLite
            raise DamagedError(
                f"{DAMAGED_DATABASE}: it holds text that is not UTF-8", hint=f"Run topiarist check {self.display_path}."
            ) from error
        except sqlite3.Error as error:
            new_error = (
                translate_error(error, self.display_path)
                if self.write or self.path.exists()
                else _create_missing_error(self.display_path)
            )
            new_error = _find_open_file_limit(error, self.path) or new_error
            connection: _Connection | None = getattr(self._local, "connection", None)
            if new_error is None and connection is not None and connection.counter.was_stopped:
                fault = "a query took more steps than a file of its size can need"
                new_error = create_damaged_error(self.display_path, fault)
            if new_error is None:
                raise
            raise new_error from error


class _StepCounter:
    """Counter of the steps of a query, which is stopped if it takes more than the file can need."""

    n_steps: int | None = None  # None outside of queries
    was_stopped = False

    def __init__(self, path: Path) -> None:
        self.path = path

    def count_steps(self) -> bool:
        """Count the steps of a query; return whether SQLite must stop it."""
        if self.n_steps is None:
            return False
        self.n_steps += _STEP_INTERVAL
        if self.n_steps > STEPS:
            with suppress(OSError):  # a new generation has replaced the file while this query reads it
                self.was_stopped = self.n_steps > STEPS + STEPS_A_BYTE * self.path.stat().st_size
        return self.was_stopped


class _Connection(sqlite3.Connection):
    """Connection that can be referenced weakly, and closes with the thread that used it."""

    counter: _StepCounter
    file_state: tuple[int, int, int, bool] | None = None  # state of the file for an immutable connection
    cache_version: int | None = None  # version of the file of the cached values

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.cache: dict[str, Any] = {}

    def __del__(self) -> None:
        with suppress(sqlite3.Error):
            self.close()


def translate_error(error: sqlite3.Error, display_path: str) -> TopiaristError | None:
    """Return the error of topiarist for an error of SQLite; None for an error in a statement."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    if code in _UNSHARED_CODES:
        return UnsharedError(
            f"cannot open {display_path}: processes cannot share memory or locks on its drive (a network drive?)",
            hint="Copy the folder to a local disk.",
        )
    is_undecodable = str(error).startswith(("Could not decode", "no such table", "no such column", "malformed"))
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or is_undecodable:
        return create_damaged_error(display_path, error)
    if primary in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return SystemLimitError(f"cannot read or write {display_path}: {error}", hint="Free some disk space.")
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL):
        return ResourceError(f"{display_path} is being written by another process: {error}", hint="Try again later.")
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_CANTOPEN):
        return ResourceError(f"cannot open or write {display_path}: {error}", hint="Choose a writable folder.")
    if primary == sqlite3.SQLITE_NOMEM:
        return SystemLimitError(f"not enough memory for {display_path}", hint="Add fewer documents at a time.")
    if primary == sqlite3.SQLITE_TOOBIG:
        return InputError("a document is longer than 1,000,000,000 bytes", hint="Split the document.")
    if primary == sqlite3.SQLITE_ERROR and not _STATEMENT_ERRORS.match(str(error)):  # an unknown version of FTS5
        return create_damaged_error(display_path, error)
    return None


class UnsharedError(ResourceError):
    """File on a drive on which processes cannot share memory or locks."""


def is_on_network(path: Path, mounts: Path = _MOUNTS) -> bool:
    """Return whether a file is on a drive that other machines can write; False if the system does not tell."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        path = path.resolve()
    except OSError:
        return False
    mount_point, kind = Path(), ""
    for place, info in (line.split(" - ", 1) for line in lines if " - " in line):
        point = Path(_OCTAL.sub(lambda match: chr(int(match[1], 8)), place.split()[4]))
        if path.is_relative_to(point) and len(point.parts) >= len(mount_point.parts):
            mount_point, kind = point, info.split()[0]
    return bool(_NETWORK_TYPES.fullmatch(kind))


def _find_open_file_limit(error: sqlite3.Error, path: Path) -> SystemLimitError | None:
    """Return the error of too many open files; SQLite does not report it, so files are opened to find out."""
    if (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF != sqlite3.SQLITE_CANTOPEN:
        return None
    try:
        with path.open("rb"), path.open("rb"), path.open("rb"):  # the file, its journal and its shared memory
            return None
    except OSError as open_error:
        return to_limit_error(open_error, str(path))


def _create_missing_error(display_path: str) -> ResourceError:
    return ResourceError(
        f"{display_path} does not exist: the collection was replaced or removed", hint="Open the collection again."
    )


def create_version_error(display_path: str, version: Any, writer: str = "") -> DamagedError:
    """Return the error for a collection of another format version."""
    newer = isinstance(version, int) and version > VERSION
    by = f"topiarist {writer}" if writer else f"a {'newer' if newer else 'older or unfinished'} topiarist"
    if not newer:
        return DamagedError(
            f"{display_path} was written by {by} (format {version}); this reads format {VERSION}",
            hint=f"Run topiarist check {display_path}.",
        )
    return DamagedError(
        f"this collection was written by {by} (format {version}); "
        f"this is {__version__}, which reads up to format {VERSION}",
        hint="Run pip install -U topiarist.",
    )


def encode_list(rows: Iterable[int]) -> str:
    """Return rows as the parameter of ``row IN (SELECT value FROM json_each(?))``."""
    return json.dumps([int(row) for row in rows])


def get_time() -> str:
    """Return the current time in UTC, to the second, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def has_fts5() -> bool:
    """Return whether SQLite of this Python can index text."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE t USING fts5 (c)")
        except sqlite3.Error:
            return False
    return True


def require_fts5() -> None:
    """Raise an error if SQLite of this Python cannot index text."""
    if not has_fts5():
        raise ResourceError(
            f"full-text search (FTS5) is missing from this Python's SQLite {sqlite3.sqlite_version}",
            hint="Use Python from python.org, conda or your system. Run topiarist doctor to check it.",
        )
