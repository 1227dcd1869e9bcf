"""The database: transactions, threads, and what its errors are called."""

import errno
import gc
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest

from topiarist.errors import DamagedError, InputError, ResourceError, SystemLimitError
from topiarist.storage import database as module
from topiarist.storage.database import Database, is_on_network, translate_error

PUT = "INSERT OR REPLACE INTO settings VALUES (?, ?)"
GET = "SELECT value FROM settings WHERE name = ?"


@pytest.fixture
def database(tmp_path):
    database = Database.create(tmp_path / "d.sqlite")
    database.use_wal()
    yield database
    database.close()


def test_transaction_atomic(database):
    def fail():
        with database.transaction():
            database.run(PUT, ("a", "1"))
            with database.transaction():  # part of the same
                database.run(PUT, ("b", "1"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert database.all("SELECT * FROM settings") == []
    with database.transaction():
        database.run(PUT, ("a", "2"))
    assert database.fetch_one(GET, ("a",)) == ("2",)


def test_commits_synchronised(database):
    """FULL, and a journal that lets readers go on."""
    assert database.fetch_one("PRAGMA synchronous") == (2,)
    assert database.fetch_one("PRAGMA journal_mode") == ("wal",)
    assert database.fetch_one("PRAGMA foreign_keys") == (1,)


def test_snapshot_isolates_readers(database):
    reader = Database(database.path)
    database.run(PUT, ("a", "1"))
    with reader.snapshot():
        assert reader.fetch_one(GET, ("a",)) == ("1",)
        with database.transaction():
            database.run(PUT, ("a", "2"))
            assert reader.fetch_one(GET, ("a",)) == ("1",)
        assert reader.fetch_one(GET, ("a",)) == ("1",)
    assert reader.fetch_one(GET, ("a",)) == ("2",)
    with pytest.raises(ResourceError, match="cannot open or write"):
        reader.run(PUT, ("a", "3"))
    reader.close()
    assert reader.fetch_one(GET, ("a",)) == ("2",)  # opens again
    reader.close()


def test_connection_per_thread_closed(database):
    reader, found = Database(database.path), []

    def read():
        found.extend((reader.connection, reader.fetch_one("SELECT count(*) FROM documents")) for _ in range(50))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(connection) for connection, _ in found}) == 4
    assert {answer for _, answer in found} == {(0,)}
    assert len(reader._connections) == 4
    found.clear()
    gc.collect()  # Python's connections refer to themselves
    assert len(reader._connections) == 0
    reader.close()


def test_second_writer_times_out(database, monkeypatch):
    """The lock keeps them apart; without it, the second is told."""
    monkeypatch.setattr(module, "BUSY_TIMEOUT", 0.1)
    other = Database(database.path, write=True)
    with database.transaction(), pytest.raises(ResourceError, match="is being written by another process"):
        other.run(PUT, ("a", "1"))
    other.close()


@pytest.mark.parametrize("place", [0, 20, 100])
def test_invalid_database_file_reported(database, place):
    database.close()
    content = bytearray(database.path.read_bytes())
    content[place : place + 200] = os.urandom(200)
    database.path.write_bytes(content)
    broken = Database(database.path, display_path="mail.topiary")
    with pytest.raises(DamagedError, match=r"mail\.topiary") as refused:
        broken.all("SELECT * FROM documents")
    assert refused.value.exit_code == 4


def test_missing_table_raises_damaged_error(database):
    database.run("DROP TABLE tags")
    with pytest.raises(DamagedError, match="no such table: tags"):
        database.all("SELECT * FROM tags")


def test_invalid_text_raises_damaged_error(database):
    database.run("INSERT INTO settings VALUES ('a', CAST(x'ff41' AS TEXT))")
    with pytest.raises(DamagedError, match="Could not decode"):
        database.fetch_one(GET, ("a",))


def test_missing_database_reported(tmp_path):
    with pytest.raises(ResourceError, match="does not exist"):
        Database(tmp_path / "none").all("SELECT 1")
    with pytest.raises(ResourceError, match="unable to open"):
        Database.create(tmp_path / "none" / "d")


def test_statement_errors_not_translated(database):
    with pytest.raises(sqlite3.OperationalError, match="syntax error"):
        database.all("SELEKT")
    with pytest.raises(sqlite3.IntegrityError):
        database.run("INSERT INTO settings VALUES ('a', NULL)")


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        (sqlite3.SQLITE_FULL, ResourceError, "cannot read or write x"),
        (sqlite3.SQLITE_IOERR | 10 << 8, ResourceError, "cannot read or write x"),
        (sqlite3.SQLITE_NOMEM, ResourceError, "not enough memory"),
        (sqlite3.SQLITE_TOOBIG, InputError, "longer than"),
        (sqlite3.SQLITE_CORRUPT | 1 << 8, DamagedError, "x is damaged"),
    ],
)
def test_translate_error_by_code(code, kind, message):
    error = sqlite3.OperationalError("as SQLite says")
    error.sqlite_errorcode = code
    told = translate_error(error, "x")
    assert isinstance(told, kind)
    assert message in told.message


def test_create_requires_fts5(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "has_fts5", lambda: False)
    with pytest.raises(ResourceError, match="full-text search \\(FTS5\\) is missing"):
        Database.create(tmp_path / "d")
    assert not (tmp_path / "d").exists()


FULL = """
import resource, sys
from pathlib import Path
from topiarist.errors import ResourceError
from topiarist.storage.document_table import Documents
from topiarist.storage.collection_folder import Folder, begin_generation
from topiarist.storage.generation import new_part
from topiarist.text.documents import Document
from tests.small import grown

path, limit = Path(sys.argv[1]), int(sys.argv[2])
folder = grown(path / "x")
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

def refused(function):
    try:
        function()
    except ResourceError as error:
        print(error.exit_code)

def append():
    with folder.writing() as generation:
        Documents(generation.database).append(Document(str(n), "word " * 1000) for n in range(200))

def part():
    with folder.writing() as generation, new_part(generation, "tree") as part:
        (part.folder / "empty").touch()

def grow():
    with begin_generation(path / "y") as growing:
        Documents(growing.generation.database).load(Document(str(n), "word " * 1000) for n in range(200))
        growing.publish()

for function in (append, part, grow):
    refused(function)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(len(Documents(folder.generation.database)), sorted(p.name for p in folder.generation.folder.glob("*tree*")))
append()
print(len(Documents(folder.generation.database)), (path / "y").exists())
"""


@pytest.mark.skipif(os.name != "posix", reason="other systems cannot limit files")
@pytest.mark.parametrize("limit", [0, 100])
def test_full_disk_changes_nothing(tmp_path, limit):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path), str(limit)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["5", "5", "5", "4 ['tree-1']", "204 False"]


@pytest.mark.skipif(os.name != "posix", reason="other systems cannot limit files")
def test_full_disk_during_transaction(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path), "300000"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["5", "5", "4 ['tree-1', 'tree-2']", "204 False"]


@pytest.mark.parametrize("code", [sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_CANTOPEN_FULLPATH])
def test_open_file_limit_reported(database, monkeypatch, code):
    def refused():
        error = sqlite3.OperationalError("unable to open database file")
        error.sqlite_errorcode = code
        with database._translate_errors():
            raise error

    with pytest.raises(ResourceError) as plain:
        refused()
    assert not isinstance(plain.value, SystemLimitError)  # files can be opened: it is something else
    monkeypatch.setattr(Path, "open", Mock(side_effect=OSError(errno.EMFILE, "Too many open files")))
    with pytest.raises(SystemLimitError):
        refused()


def test_read_only_folder_sees_new_commits(database, monkeypatch):
    """Who may not write in a folder reads it without a journal, and sees all the same what its owner commits."""
    database.run(PUT, ("a", "1"))
    database.close()
    monkeypatch.setattr(module.os, "access", lambda *_: False)
    reader = Database(database.path)
    assert reader.fetch_one(GET, ("a",)) == ("1",)
    assert reader.connection.file_state is not None
    assert not reader.is_exclusive
    writer = Database(database.path, write=True)
    writer.run(PUT, ("a", "2"))
    assert reader.fetch_one(GET, ("a",)) == ("2",)
    assert reader.connection.file_state is None
    reader.close()
    writer.close()
    late = Database(database.path)
    assert late.fetch_one(GET, ("a",)) == ("2",)
    again = Database(database.path, write=True)
    again.run(PUT, ("a", "3"))
    again.close()  # the journal has come and gone
    assert late.fetch_one(GET, ("a",)) == ("3",)
    late.close()


def test_deleted_database_reported(database):
    reader = Database(database.path)
    database.close()
    for path in database.path.parent.glob("d.sqlite*"):
        path.unlink()
    with pytest.raises(ResourceError, match="was replaced or removed"):
        reader.fetch_one(GET, ("a",))


def test_unclosed_journal_reported(tmp_path, monkeypatch):
    """SQLite answers with the old mode and raises nothing; a reader could not open what was published then."""
    database = Database.create(tmp_path / "documents.sqlite")
    connection, journal = database.connection, tmp_path / "documents.sqlite-journal"

    class Odd:
        def execute(self, sql):
            return connection.execute("SELECT 'delete'" if "journal_mode" in sql else sql)

    monkeypatch.setattr(Database, "connection", property(lambda _: Odd()))
    journal.touch()
    with pytest.raises(ResourceError, match="a journal could not be closed"):
        database.use_wal()
    monkeypatch.undo()
    journal.unlink()
    database.use_wal()
    database.close()


class Unshared(module._Connection):
    """A file system on which processes cannot share memory, as SQLite meets it: it says that all is well, and fails."""

    def execute(self, sql, *given):
        path = super().execute("PRAGMA database_list").fetchone()[2]
        alone = super().execute("PRAGMA locking_mode").fetchone() == ("exclusive",)
        if not alone and "_mode" not in sql and Path(path).read_bytes()[18:19] == b"\x02":  # has the new journal
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMMAP
            raise error
        return super().execute(sql, *given)


def written_and_read(path):
    """What a writer and then a reader see of a file; the reader waits for nobody's memory."""
    writer = Database(path, write=True)
    with writer.transaction():
        writer.run(PUT, ("a", "1"))
    writer.close()
    reader = Database(path)
    try:
        return reader.fetch_one(GET, ("a",)), reader.is_exclusive
    finally:
        reader.close()


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="the locks of a file are told by Linux alone")
def test_is_exclusive_keeps_locks(tmp_path):
    path = tmp_path / "d.sqlite"
    with closing(Database.create(path)) as made:
        made.use_wal()

    def locks():
        known = Path("/proc/locks").read_text().splitlines()
        return sorted(line.split(None, 1)[1] for line in known if f":{path.stat().st_ino} " in line)

    with closing(Database(path)) as reader:
        reader.fetch_one("SELECT count(*) FROM sqlite_schema")
        before = locks()
        assert before
        assert not reader.is_exclusive
        assert locks() == before


def test_is_on_network_accepts_invalid_mount_names(tmp_path):
    mounts = tmp_path / "mountinfo"
    other, own = (
        b"21 1 8:1 / /\xff rw - ext4 /dev/a rw\n",
        b"22 1 0:9 / " + bytes(tmp_path) + b" rw - nfs4 host:/a rw\n",
    )
    mounts.write_bytes(other + own)
    assert is_on_network(tmp_path / "d.sqlite", mounts)


def test_use_wal_keeps_journal_without_shared_memory(tmp_path, monkeypatch):
    """On such drives SQLite takes the new journal and nobody can open the file any more."""
    monkeypatch.setattr(module, "_Connection", Unshared)
    database = Database.create(tmp_path / "d.sqlite")
    database.use_wal()
    database.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.sqlite"]
    assert written_and_read(tmp_path / "d.sqlite") == (("1",), True)


def test_wal_without_shared_memory_raise_no_damage(database, monkeypatch):
    monkeypatch.setattr(module, "_Connection", Unshared)
    reader = Database(database.path)
    with pytest.raises(ResourceError, match="memory or locks") as caught:
        reader.fetch_one(GET, ("a",))
    assert "Copy the folder to a local disk." in str(caught.value.hint)


@pytest.mark.parametrize(
    ("kind", "waits"), [("nfs4", True), ("cifs", True), ("fuse.sshfs", True), ("ext4", False), ("fuse.ntfs", False)]
)
def test_use_wal_keeps_journal_on_network_drives(tmp_path, monkeypatch, kind, waits):
    """Another machine does not see what this one has in memory, and nothing says so."""
    place = tmp_path / "net drive"
    place.mkdir()
    lines = ("1 0 8:1 / / rw - ext4 /dev/sda rw", f"2 1 0:1 / {place} rw,relatime shared:1 - {kind} server:/ rw")
    (tmp_path / "mounts").write_text("\n".join(lines).replace("net drive", "net\\040drive"))
    monkeypatch.setattr(module.is_on_network, "__defaults__", (tmp_path / "mounts",))
    database = Database.create(place / "d.sqlite")
    database.use_wal()
    database.close()
    assert written_and_read(place / "d.sqlite") == (("1",), waits)
    assert not module.is_on_network(tmp_path / "d.sqlite")
    assert not module.is_on_network(place, tmp_path / "gone")


def test_reader_rolls_back_journal_of_killed_writer(tmp_path):
    database = Database.create(tmp_path / "d.sqlite")
    database.run(PUT, ("a", "1"))
    database.close()
    dying = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "c.execute('PRAGMA cache_size = 1'); c.execute('BEGIN IMMEDIATE'); c.execute('DELETE FROM settings'); "
        "c.executemany('INSERT INTO settings VALUES (?, randomblob(3000))', [(n,) for n in range(50)]); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", dying, str(database.path)], check=True)
    assert (tmp_path / "d.sqlite-journal").stat().st_size > 0
    reader = Database(database.path)
    assert reader.all("SELECT * FROM settings") == [("a", "1")]
    reader.close()


def test_undecodable_text_raises_damaged_error(tmp_path):
    """A bit of the schema has turned: SQLite says which name it cannot read, and Python cannot read what it says."""
    database = Database.create(tmp_path / "documents.sqlite")
    with pytest.raises(DamagedError, match="not UTF-8"), database._translate_errors():
        b"\xac".decode()
    database.close()


def test_results_fetched_in_batches(database, monkeypatch):
    monkeypatch.setattr(module, "FETCH_ROWS", 3)
    with database.transaction():
        database.run_many(PUT, ((f"{number:02}", "ab"[number % 2]) for number in range(10)))
    sql = "SELECT CAST(name AS INTEGER), value FROM settings WHERE name < 'a' ORDER BY name"
    assert list(database.iterate_rows(sql)) == database.all(sql)
    found = database.read_codes(sql)
    assert found.texts == ("a", "b")
    assert found.rows.tolist() == list(range(10))
    assert found.codes.tolist() == [0, 1] * 5
    assert database.read_codes(f"{sql} LIMIT 0").rows.tolist() == []
    with pytest.raises(DamagedError, match="expected a number"):
        database.read_codes("SELECT 'x', 'y'")
    with pytest.raises(DamagedError, match="expected a number"):
        database.read_codes("SELECT NULL, 'y'")
