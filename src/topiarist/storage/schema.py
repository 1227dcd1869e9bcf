"""Schema of a collection's database.

A schema is a program: SQLite runs views and triggers when a query reads a table. A database is therefore read only
after its schema was found equal to the schema of this module.
"""

from __future__ import annotations

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
CREATE TABLE fields (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    order_of_dates TEXT NOT NULL DEFAULT '',
    documents INTEGER NOT NULL DEFAULT 0,
    different INTEGER NOT NULL DEFAULT 0,
    unread INTEGER NOT NULL DEFAULT 0,
    cut INTEGER NOT NULL DEFAULT 0,
    first TEXT NOT NULL DEFAULT '',
    last TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT ''
);
CREATE TABLE cells (
    field INTEGER NOT NULL REFERENCES fields,
    row INTEGER NOT NULL REFERENCES documents,
    place INTEGER NOT NULL,
    text TEXT NOT NULL,
    value,
    PRIMARY KEY (field, row, place)
) WITHOUT ROWID;
CREATE TABLE given_dates (row INTEGER PRIMARY KEY REFERENCES documents, text TEXT NOT NULL);
CREATE TABLE file_dates (row INTEGER PRIMARY KEY REFERENCES documents);
CREATE TABLE languages (row INTEGER PRIMARY KEY REFERENCES documents, code TEXT NOT NULL);
CREATE TABLE copies (
    row INTEGER PRIMARY KEY REFERENCES documents,
    original INTEGER NOT NULL REFERENCES documents,
    shared REAL NOT NULL
);
CREATE TABLE removed (digest TEXT PRIMARY KEY, part INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE judgements (
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    row INTEGER NOT NULL REFERENCES documents,
    kind TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL
);
CREATE INDEX judgements_by_row ON judgements (row, number);
CREATE TABLE reviews (label TEXT PRIMARY KEY, lot INTEGER NOT NULL, time TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE review_entries (
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    label TEXT NOT NULL,
    row INTEGER NOT NULL REFERENCES documents,
    answer TEXT NOT NULL,
    drawn TEXT NOT NULL,
    documents INTEGER NOT NULL
);
CREATE INDEX review_entries_by_label ON review_entries (label, number);
CREATE TABLE passage_notes (
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    row INTEGER NOT NULL REFERENCES documents,
    passage INTEGER NOT NULL,
    start INTEGER NOT NULL,
    quote TEXT NOT NULL,
    note TEXT NOT NULL,
    undoes INTEGER NOT NULL
);
CREATE INDEX passage_notes_by_row ON passage_notes (row, number);
CREATE VIRTUAL TABLE search USING fts5 (
    title, text, content = 'pages', content_rowid = 'row', tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO search (search, rank) VALUES ('rank', 'bm25(4.0, 1.0)');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (search, row);
"""
# Created after the values are written: one sort is faster than an insertion for each value.
CELL_INDEX = "CREATE INDEX IF NOT EXISTS cells_by_value ON cells (field, value, row) WHERE value IS NOT NULL"
OPTIONAL_ENTRIES = frozenset(("cells_by_value",))
MAX_ENTRIES = 500  # entries that are read of a schema; this one has 60
MAX_STATEMENT_LENGTH = 20_000  # characters that are read of a statement; the longest here has 400


def find_schema_fault(connection: sqlite3.Connection) -> str:
    """Return the first difference from the expected schema; an empty string if there is none."""
    entries = connection.execute("SELECT type, name, sql FROM main.sqlite_schema LIMIT ?", (MAX_ENTRIES,)).fetchall()
    expected = expected_statements()
    for kind, name, sql in entries:
        if not isinstance(name, str) or not isinstance(sql, str | None):
            return "its list of tables holds a value that is not text"
        if expected.get(name) != _to_one_line(sql):
            return f"expected only tables of topiarist, found the {kind} {name!r:.60}"
    missing = sorted(expected.keys() - {name for _, name, _ in entries} - OPTIONAL_ENTRIES)
    return f"no such table: {missing[0]}" if missing else ""


@cache
def expected_statements() -> dict[str, str]:
    """Return the statement of each entry of a new database, by name."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(f"{TABLES} {CELL_INDEX};")
        return {name: _to_one_line(sql) for name, sql in connection.execute("SELECT name, sql FROM sqlite_schema")}
    finally:
        connection.close()


def _to_one_line(sql: str | None) -> str:
    return " ".join((sql or "")[:MAX_STATEMENT_LENGTH].split())
