"""The tables of a collection, in SQL.

``documents`` has one row per document, numbered as the rows of the counts, and is never changed: what people add about
a document (tags, read marks) lies in tables of its own, so that the full-text index never has to follow. Texts lie
beside, so that a walk over ids or dates does not read them. ``checksum`` is there because SQLite cannot tell that a
bit of a text has turned.
"""

from __future__ import annotations

VERSION = 1  # of the folder and of the database: they change together

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
