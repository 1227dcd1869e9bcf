"""The schema of a collection's database: what is written in a new one, and what may stand in one that somebody sent.

A schema is a program: views and triggers are run by whoever asks a table. So a database is only asked after its schema
was compared with ours: views, triggers and virtual tables are ours to the letter, or it is not opened. Tables and
indexes that a newer version may have added are nobody's program as long as they hold columns and nothing else.
"""

from __future__ import annotations

import re
import sqlite3
from functools import cache

TABLES = """
CREATE TABLE documents (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    source TEXT NOT NULL,
    date TEXT NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE TABLE texts (row INTEGER PRIMARY KEY REFERENCES documents, text TEXT NOT NULL);
CREATE VIEW pages AS SELECT row, title, text FROM documents JOIN texts USING (row);
CREATE TABLE labels (
    row INTEGER NOT NULL REFERENCES documents,
    place INTEGER NOT NULL,
    label TEXT NOT NULL,
    PRIMARY KEY (row, place)
) WITHOUT ROWID;
CREATE INDEX labels_by_name ON labels (label, row);
CREATE TABLE tags (
    tag TEXT NOT NULL,
    row INTEGER NOT NULL REFERENCES documents,
    PRIMARY KEY (tag, row)
) WITHOUT ROWID;
CREATE INDEX tags_by_row ON tags (row, tag);
CREATE TABLE reads (row INTEGER PRIMARY KEY REFERENCES documents);
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE problems (number INTEGER PRIMARY KEY, source TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE parts (name TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE states (number INTEGER PRIMARY KEY, body TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE edits (
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    before INTEGER REFERENCES states,
    after INTEGER NOT NULL REFERENCES states
);
CREATE VIRTUAL TABLE search USING fts5 (
    title, text, content = 'pages', content_rowid = 'row', tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO search (search, rank) VALUES ('rank', 'bm25(4.0, 1.0)');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (search, row);
"""
_EVERY = ("documents", "texts", "pages", "labels", "tags", "reads", "settings", "problems", "parts", "states", "edits")
_FULL_TEXT = ("search", "vocabulary", "search_data", "search_idx", "search_docsize", "search_config")
NEEDED = frozenset((*_EVERY, *_FULL_TEXT))
MOST, LONGEST = 500, 20_000  # entries of a schema, and letters of one: ours has 21, of 400 letters at most

_NAME = r"""(?:\w+|"[^"]+"|'[^']+')"""
_TABLE = re.compile(rf"CREATE TABLE {_NAME}\((.*)\)(?: ?WITHOUT ROWID)?(?:,? ?STRICT)?", re.IGNORECASE)
_INDEX = re.compile(
    rf"CREATE (?:UNIQUE )?INDEX {_NAME} ON {_NAME}\([\w ,\"]*\)(?: ?WHERE \w+ IS NOT NULL)?", re.IGNORECASE
)
_PROGRAM = re.compile(r"\b(?:AS|CHECK|GENERATED|SELECT|COLLATE)\b", re.IGNORECASE)
_KEY = re.compile(rf"(?:PRIMARY KEY|FOREIGN KEY|UNIQUE|REFERENCES {_NAME})\([^()]*\)", re.IGNORECASE)


def strange(connection: sqlite3.Connection) -> str:
    """What a schema holds that is not of ours, or lacks; nothing, where it is as it should be."""
    found = connection.execute("SELECT type, name, sql FROM main.sqlite_schema LIMIT ?", (MOST + 1,)).fetchall()
    if len(found) > MOST:
        return f"it has more than {MOST} tables"
    known = ours()
    for kind, name, sql in found:
        if not isinstance(name, str) or not isinstance(sql, str | None):
            return "its list of tables holds something that is no text"
        if (said := _plain(sql)) != known.get(name) and not _harmless(kind, name, said):
            return f"it has a {kind} {name!r:.60} that topiarist did not write"
    missing = sorted(NEEDED - {name for _, name, _ in found})
    return f"no such table: {missing[0]}" if missing else ""


@cache
def ours() -> dict[str, str]:
    """What stands in a new database, by name, as its list of tables has it."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(TABLES)
        return {name: _plain(sql) for name, sql in connection.execute("SELECT name, sql FROM sqlite_schema")}
    finally:
        connection.close()


def _plain(sql: str | None) -> str:
    """A statement in one line."""
    return " ".join((sql or "")[:LONGEST].split()).replace("( ", "(").replace(" )", ")").replace(" (", "(")


def _harmless(kind: str, name: str, sql: str) -> bool:
    """Whether it is a table or an index of columns, with nothing in it that is run."""
    if kind == "index":
        return not sql or _INDEX.fullmatch(sql) is not None  # those that SQLite makes itself have no statement
    table = _TABLE.fullmatch(sql) if kind == "table" and name not in ("pages", "search", "vocabulary") else None
    if table is None:
        return False
    columns = _KEY.sub("", re.sub(r"'[^']*'", "''", table[1]))
    return "(" not in columns and not _PROGRAM.search(columns)
