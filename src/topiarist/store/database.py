"""SQLite as a collection needs it: tables, transactions, readers beside a writer, and errors in words.

Every thread has a connection of its own, opened when it first asks: a web server may hand one ``Database`` to all its
threads. Readers open the file read-only and see what was committed last; they wait for nobody.

``documents`` has one row per document, numbered as the rows of the counts, and is never changed: what people add about
a document (tags, read marks) lies in tables of its own, so that the full-text index never has to follow. Texts lie
beside, so that a walk over ids or dates does not read them. ``checksum`` is there because SQLite cannot tell that a
bit of a text has turned.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from topiarist.errors import DamagedError, InputError, LackError, ResourceError, TopiaristError, lack
from topiarist.store.schema import TABLES, strange
from topiarist.store.sealed_folder import refuse_links
from topiarist.text.query import folded
from topiarist.version import __version__

Row = tuple[Any, ...]
T = TypeVar("T")

PATIENCE = 5.0  # seconds that a statement waits for another one's commit
_CACHE, _OF_READER = -16_000, -4_000  # KiB, as SQLite counts them; every thread of a server reads for itself
_KEPT = 64  # answers that a thread keeps until the next change
_CHECK = "topiarist check"
FETCHED = 4_096  # rows of a long answer that are in memory at a time
# what SQLite says of a statement, or of a query in the language of FTS5, and not of the file
_OURS = re.compile(
    r"near |fts5:|unterminated|unknown special query|user-defined function|no such function|cannot |.*syntax"
)

# What it says where processes cannot share memory or locks: on drives of the network, and on some that are mounted
_UNSHARED = (
    sqlite3.SQLITE_IOERR_SHMMAP,
    sqlite3.SQLITE_IOERR_SHMOPEN,
    sqlite3.SQLITE_IOERR_SHMLOCK,
    sqlite3.SQLITE_IOERR_LOCK,
)
# Kinds of file systems that several machines may write: one does not see what another has in memory
_OF_NETWORKS = re.compile(
    r"nfs\d?|cifs|smb\w*|afs|ceph|lustre|gpfs|davfs|(fuse\.)?(sshfs|glusterfs|ceph|davfs2?|rclone)"
)
_MOUNTS, _OCTAL = Path("/proc/self/mountinfo"), re.compile(r"\\(\d{3})")  # and how it writes a space

BROKEN = "the database is damaged"
VERSION = 1  # of the folder and of the database: they change together

# A question may take so many steps of SQLite, and so many more for each byte of the file: a walk over every row of
# every table takes less than one a byte. What takes more goes in circles, as only a forged or damaged file does.
STEPS, STEPS_A_BYTE = 50_000_000, 8
_OFTEN = 1_000_000  # steps between two looks
_LIMITS = {  # what we never need and somebody who forges a file may want
    sqlite3.SQLITE_LIMIT_ATTACHED: 2,
    sqlite3.SQLITE_LIMIT_COLUMN: 200,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 600,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}


class Coded(NamedTuple):
    """Rows and texts, of which few are different: each row with the number of its text, as arrays."""

    rows: Any
    codes: Any
    texts: tuple[str, ...]  # in the order in which they came

    def pairs(self) -> list[tuple[int, str]]:
        """Each row with its text."""
        return [(row, self.texts[code]) for row, code in zip(self.rows.tolist(), self.codes.tolist(), strict=True)]


class Database:
    """A file with the tables of a collection, open for reading, or for writing by whoever holds the lock."""

    def __init__(self, path: Path, *, write: bool = False, shown: str = "") -> None:
        self.path = path.absolute()  # the working folder may change before the next thread asks
        self.write = write
        self.shown = shown or str(path)
        self._own = threading.local()
        self._all: weakref.WeakSet[_Connection] = weakref.WeakSet()
        self._guard = threading.Lock()

    @classmethod
    def create(cls, path: Path, *, shown: str = "") -> Database:
        """A new file with empty tables: all of them, or none (version 0) when killed meanwhile.

        It keeps a rollback journal until ``to_wal``: what only ever grows is written once that way, not twice.
        """
        need_fts5()
        database = cls(path, write=True, shown=shown)
        try:
            with database._told():
                connection = database._connect("rwc")
                database._adopt(connection)
                connection.executescript(f"BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
        except BaseException:
            database.close()
            raise
        return database

    @property
    def connection(self) -> sqlite3.Connection:
        """This thread's connection."""
        return self._of_thread()

    def _of_thread(self) -> _Connection:
        known: _Connection | None = getattr(self._own, "connection", None)
        if known is not None and known.frozen is not None and not known.in_transaction:
            with suppress(OSError):  # gone: whoever asks is told
                known = known if known.frozen == self._as_it_is() else None
        if known is None:
            with self._told():
                known, version = self._opened()
            if version != VERSION:
                known.close()
                raise other_version(self.shown, version)
            with self._told():
                odd = strange(known)
            if odd:
                known.close()
                raise DamagedError(f"{self.shown} is damaged: {odd}", hint=f"{_CHECK} {self.shown}")
            if not self.write:
                from topiarist.store.date_table import shadow  # which knows of databases itself

                with self._told():
                    shadow(known)
            self._adopt(known)
        return known

    def _opened(self) -> tuple[_Connection, int]:
        """A new connection, and the version of the file; what a killed writer left in a rollback journal is undone."""
        try:
            return self._asked("rw" if self.write else "ro")
        except sqlite3.OperationalError as error:
            if self.write or error.sqlite_errorcode != sqlite3.SQLITE_READONLY_ROLLBACK:
                raise
        self._asked("rw")[0].close()
        return self._asked("ro")

    def _asked(self, mode: str) -> tuple[_Connection, int]:
        connection = self._connect(mode)
        try:
            return connection, connection.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.Error:
            connection.close()
            raise

    def all(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Every row of an answer."""
        with self._told(), self._asking() as connection:
            return connection.execute(sql, parameters).fetchall()

    def each(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[Row]:
        """Every row of an answer, some of them in memory at a time. Nothing else is asked before the last has come."""
        with self._told(), self._asking() as connection:
            answer = connection.execute(sql, parameters)
            while rows := answer.fetchmany(FETCHED):
                yield from rows

    def numbers(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """An answer of one whole number a row, as an array."""
        return self._array((number for (number,) in self.each(sql, parameters)), "i8")

    def coded(self, sql: str, parameters: Sequence[Any] = ()) -> Coded:
        """An answer of many rows and few different texts, a row and a text each, as numbers."""
        known: dict[str, int] = {}
        rows = ((row, known.setdefault(str(text), len(known))) for row, text in self.each(sql, parameters))
        found = self._array(rows, "i8, i4")
        return Coded(found["f0"], found["f1"], tuple(known))

    def _array(self, rows: Iterator[Any], kind: str) -> Any:
        import numpy as np  # whoever asks for help does not wait for it

        try:
            return np.fromiter(rows, np.dtype(kind))
        except (TypeError, ValueError, OverflowError) as error:  # a forged or damaged table may hold anything
            raise self._no_number() from error

    def one(self, sql: str, parameters: Sequence[Any] = ()) -> Row | None:
        """The first row of an answer, or None."""
        with self._told(), self._asking() as connection:
            found: Row | None = connection.execute(sql, parameters).fetchone()
            return found

    def number(self, sql: str, parameters: Sequence[Any] = ()) -> int | None:
        """The whole number that is the answer, or None; a forged or damaged table may hold anything else."""
        found = self.one(sql, parameters)
        if found is None or found[0] is None:
            return None
        if not isinstance(found[0], int):
            raise self._no_number()
        return found[0]

    def _no_number(self) -> DamagedError:
        return DamagedError(f"{self.shown} is damaged: a number in it is none", hint=f"{_CHECK} {self.shown}")

    @contextmanager
    def _asking(self) -> Iterator[sqlite3.Connection]:
        """A connection for one question, which may not go in circles."""
        connection = self._of_thread()
        connection.steps.begin()
        try:
            yield connection
        finally:
            connection.steps.end()

    @contextmanager
    def watched(self, late: Callable[[], bool], steps: int) -> Iterator[None]:
        """Ask every so many steps whether what is asked within shall be stopped; what is stopped is an error."""
        connection = self._of_thread()
        connection.set_progress_handler(late, steps)
        try:
            yield
        finally:
            connection.set_progress_handler(connection.steps.over, _OFTEN)

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Change something; how many rows were changed."""
        with self._told():
            return self.connection.execute(sql, parameters).rowcount

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Change something for each of these."""
        with self._told():
            self.connection.executemany(sql, rows)

    def transaction(self) -> AbstractContextManager[None]:
        """All of the changes within, or none; on the disk when this ends. One inside another is part of it."""
        return self._between("BEGIN IMMEDIATE", "COMMIT")

    @contextmanager
    def attached(self, path: Path, name: str) -> Iterator[None]:
        """Another file of ours beside this one, by a name for statements, to be read."""
        connection = self.connection
        with self._told():
            connection.execute(f"ATTACH ? AS {name}", (f"{path.absolute().as_uri()}?mode=ro",))
        try:
            yield
        finally:
            with suppress(sqlite3.Error):
                connection.execute(f"DETACH {name}")

    def snapshot(self) -> AbstractContextManager[None]:
        """Everything read within is from one moment, whatever is written meanwhile."""
        return self._between("BEGIN")

    @contextmanager
    def _between(self, begin: str, end: str = "") -> Iterator[None]:
        connection = self.connection
        if connection.in_transaction:
            yield
            return
        with self._told():
            connection.execute(begin)
        try:
            yield
            if end:
                with self._told():
                    connection.execute(end)
        finally:
            with suppress(sqlite3.Error):  # committed, closed, or rolled back by the error that brought us here
                connection.execute("ROLLBACK")

    def kept(self, name: str, make: Callable[[], T]) -> T:
        """What this thread has made of the file before, or makes now if somebody has written since."""
        if self.write:
            return make()
        connection = self._of_thread()
        with self._told():
            (version,) = connection.execute("PRAGMA data_version").fetchone()
        if connection.kept_at != version or len(connection.kept) >= _KEPT:
            connection.kept, connection.kept_at = {}, version
        if name not in connection.kept:
            connection.kept[name] = make()
        found: T = connection.kept[name]
        return found

    def faults(self, most: int) -> Iterator[str]:
        """What SQLite itself finds wrong with the file, a sentence each; nothing, if all is well."""
        for (message,) in self.all(f"PRAGMA integrity_check({most})"):
            if message != "ok":
                yield f"{BROKEN}: {message}"
        for table, row, *_ in self.all("PRAGMA foreign_key_check")[:most]:
            yield f"{table} refers to something that is not there (row {row})"

    def to_wal(self) -> None:
        """From now on writers do not stop readers; where processes cannot share memory, the rollback journal stays.

        SQLite raises nothing where it cannot: it answers with the old journal, or with the new one, which nobody can
        use then. So it is used once. A rollback journal is as safe, but one waits for the other. One that is still
        there would have to be mended by a writer first.
        """
        if not of_network(self.path):
            try:
                with self._told():
                    self.connection.execute("PRAGMA journal_mode = WAL").fetchone()
                    self.connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            except UnsharedError:
                self._to_rollback()
        if Path(f"{self.path}-journal").exists():
            raise ResourceError(
                f"cannot write {self.shown}: the disk does not answer as it should, a journal could not be closed",
                hint="the same command again",
            )

    def _to_rollback(self) -> None:
        """Back to a rollback journal: whoever is alone with a file needs no memory that is shared."""
        self.close()
        with self._told(), closing(self._connect("rw", "locking_mode = EXCLUSIVE")) as alone:
            alone.execute("PRAGMA journal_mode = DELETE").fetchone()
            alone.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        Path(f"{self.path}-shm").unlink(missing_ok=True)

    @property
    def waits(self) -> bool:
        """Whether readers and a writer wait for each other: where processes cannot share memory.

        The connection is asked: whoever opens and closes the file beside it gives up the locks of the whole process.
        Where nobody can write, nobody waits.
        """
        connection = self._of_thread()
        if connection.frozen is not None:
            return False
        with self._told():
            return bool(connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal")

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._guard:
            for connection in list(self._all):
                connection.close()
            self._all.clear()
        self._own = threading.local()

    def _adopt(self, connection: _Connection) -> None:
        self._own.connection = connection
        with self._guard:
            self._all.add(connection)

    def _connect(self, mode: str, *first: str) -> _Connection:
        address = f"{self.path.as_uri()}?mode={mode}"  # as_uri escapes what a URI takes for its own: # ? %
        refuse_links(self.path, *(Path(f"{self.path}{end}") for end in ("-wal", "-shm", "-journal")))
        frozen = self._as_it_is() if mode == "ro" and self._frozen() else None
        if frozen is not None:
            address += "&immutable=1"
        connection = sqlite3.connect(
            address,
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,  # so that close() may close them all; each is used by one thread only
            factory=_Connection,
        )
        connection.frozen = frozen
        connection.steps = _Steps(self.path)
        connection.set_progress_handler(connection.steps.over, _OFTEN)
        for limit, most in _LIMITS.items():
            connection.setlimit(limit, most)
        connection.create_function("folded", 1, folded, deterministic=True)
        try:
            for setting in (
                *first,
                "foreign_keys = ON",
                "synchronous = FULL",
                "trusted_schema = OFF",
                "cell_size_check = ON",
                "secure_delete = ON",
            ):
                connection.execute(f"PRAGMA {setting}")
            connection.execute(f"PRAGMA cache_size = {_OF_READER if mode == 'ro' else _CACHE}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _frozen(self) -> bool:
        """Whether nobody is writing: a folder that is not for us to write in, and no journal. SQLite has to be told.

        Others may begin to write there, so that such a connection is given up as soon as the file has changed.
        """
        return not os.access(self.path.parent, os.W_OK) and not self._has_journal()

    def _has_journal(self) -> bool:
        return any(Path(f"{self.path}{end}").exists() for end in ("-wal", "-journal"))

    def _as_it_is(self) -> tuple[int, int, int, bool]:
        """By what a file is known not to have changed."""
        found = self.path.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns, self._has_journal()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except UnicodeDecodeError as error:  # a name or a text in the file, or what SQLite says of it
            raise DamagedError(f"{BROKEN}: letters that are none", hint=f"{_CHECK} {self.shown}") from error
        except sqlite3.Error as error:
            known = translated(error, self.shown) if self.write or self.path.exists() else _gone(self.shown)
            known = _lack_of_files(error, self.path) or known
            if known is None and self._circled():
                what = "a question took more steps than a file of its size can need"
                known = DamagedError(f"{self.shown} is damaged: {what}", hint=f"{_CHECK} {self.shown}")
            if known is None:
                raise
            raise known from error

    def _circled(self) -> bool:
        """Whether the last question was stopped because it would not end."""
        known: _Connection | None = getattr(self._own, "connection", None)
        return known is not None and known.steps.stopped


class _Steps:
    """How many steps a question has taken, and whether that is more than the file can need."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.asking = self.stopped = False
        self.taken = 0

    def begin(self) -> None:
        self.asking, self.stopped, self.taken = True, False, 0

    def end(self) -> None:
        self.asking = False

    def over(self) -> bool:
        self.taken += _OFTEN
        if self.asking and self.taken > STEPS:
            with suppress(OSError):
                self.stopped = self.taken > STEPS + STEPS_A_BYTE * self.path.stat().st_size
        return self.stopped and self.asking


class _Connection(sqlite3.Connection):
    """A connection that may be referred to weakly, and closes with the thread that used it."""

    steps: _Steps
    frozen: tuple[int, int, int, bool] | None = None  # what the file was, for a connection that believes it stays so
    kept_at: int | None = None  # the version of the file of which something is kept

    def __init__(self, *given: Any, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.kept: dict[str, Any] = {}

    def __del__(self) -> None:
        with suppress(sqlite3.Error):
            self.close()


def translated(error: sqlite3.Error, shown: str) -> TopiaristError | None:
    """What an error of SQLite means for a person; None for one that is ours."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    if code in _UNSHARED:
        return UnsharedError(
            f"cannot open {shown}: programs cannot share memory or locks where it lies (a drive of the network?)",
            hint="a copy of the folder on a disk of this machine",
        )
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or _undecodable(error):
        return DamagedError(f"{shown} is damaged: {error}", hint=f"{_CHECK} {shown}")
    if primary in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return LackError(f"cannot read or write {shown}: {error}", hint="more room on the disk")
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL):
        return ResourceError(f"{shown} is being written by somebody else: {error}", hint="wait a moment")
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_CANTOPEN):
        return ResourceError(f"cannot open or write {shown}: {error}", hint="a folder that you may write in")
    if primary == sqlite3.SQLITE_NOMEM:
        return LackError(f"not enough memory for {shown}", hint="fewer documents at a time")
    if primary == sqlite3.SQLITE_TOOBIG:
        return InputError("a document is too long to be kept: at most 1,000,000,000 bytes", hint="cut it in parts")
    if primary == sqlite3.SQLITE_ERROR and not _OURS.match(str(error)):  # such as a version of FTS5 of nobody
        return DamagedError(f"{shown} is damaged: {error}", hint=f"{_CHECK} {shown}")
    return None


class UnsharedError(ResourceError):
    """A file lies where processes cannot share what they need to write and read at once."""


def of_network(path: Path, mounts: Path = _MOUNTS) -> bool:
    """Whether a file lies on a drive that other machines may write as well; False where the system does not tell."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        path = path.resolve()
    except OSError:
        return False
    found, kind = Path(), ""
    for place, told in (line.split(" - ", 1) for line in lines if " - " in line):
        point = Path(_OCTAL.sub(lambda one: chr(int(one[1], 8)), place.split()[4]))
        if path.is_relative_to(point) and len(point.parts) >= len(found.parts):
            found, kind = point, told.split()[0]
    return bool(_OF_NETWORKS.fullmatch(kind))


def _lack_of_files(error: sqlite3.Error, path: Path) -> LackError | None:
    """Whether a file could not be opened because too many are open: SQLite does not say, so it is tried."""
    if (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF != sqlite3.SQLITE_CANTOPEN:
        return None
    try:
        with path.open("rb"), path.open("rb"), path.open("rb"):  # the file, its journal, and what both share
            return None
    except OSError as why:
        return lack(why, str(path))


def _gone(shown: str) -> ResourceError:
    """A file that is not there any more."""
    return ResourceError(
        f"{shown} is not there: the collection was grown anew meanwhile, or removed", hint="open it again"
    )


def _undecodable(error: sqlite3.Error) -> bool:
    """Text that is no text, or a table that has gone: the file is not as we wrote it."""
    return str(error).startswith(("Could not decode", "no such table", "no such column", "malformed"))


def other_version(shown: str, version: Any, writer: str = "") -> DamagedError:
    """A collection of a format that this version does not read."""
    newer = isinstance(version, int) and version > VERSION
    by = f"topiarist {writer}" if writer else f"a {'newer' if newer else 'older or unfinished'} topiarist"
    if not newer:
        return DamagedError(
            f"{shown} was written by {by} (format {version}); this reads format {VERSION}", hint=f"{_CHECK} {shown}"
        )
    return DamagedError(
        f"this collection was written by {by} (format {version}); "
        f"this is {__version__}, which reads up to format {VERSION}",
        hint="pip install -U topiarist",
    )


def has_fts5() -> bool:
    """Whether this Python's SQLite can index text."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5 (c)")
    except sqlite3.Error:
        return False
    finally:
        connection.close()
    return True


def need_fts5() -> None:
    """An error unless this Python's SQLite can index text."""
    if not has_fts5():
        raise ResourceError(
            f"full-text search (FTS5) is missing from this Python's SQLite {sqlite3.sqlite_version}",
            hint="Python from python.org, conda or your system; topiarist doctor shows what is there",
        )
