"""A generation that follows another and has fewer documents: its tables, its parts, its log; published, or never there.

It is written beside under a name that no manifest has: killed at any moment, the collection is the old one or the new
one, and the next writer sweeps the other up. Readers of the old one finish what they read. What was in no row that is
copied is in no byte of the new database.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from topiarist.errors import TopiaristError
from topiarist.store import edit_log
from topiarist.store.collection_folder import Folder, Manifest
from topiarist.store.database import Database
from topiarist.store.document_table import Documents
from topiarist.store.generation import LIST, Generation, NewPart, Part, new_part, open_part
from topiarist.store.marks import NOTES
from topiarist.store.sealed_folder import LOCK, sync_contents, sync_folder, written

LOG = ("parts", "states", "edits")  # tables that are not copied row by row


@dataclass(frozen=True)
class Succession:
    """The generation that is the collection, open for writing under the lock, and the one that is to follow it."""

    folder: Folder
    old: Generation
    new: Generation

    def publish(self, kept: Sequence[str] = ()) -> None:
        """Bring everything to the disk and make it the collection; ``kept`` are generations to come back to."""
        self.new.database.to_wal()
        self.new.close()
        with written(self.folder.shown):
            sync_contents(self.new.folder)
            sync_folder(self.folder.path)
        self.folder.go_to(Manifest(self.new.folder.name, kept=tuple(kept)))


@contextmanager
def succession(folder: Folder, *, wait: float = 0.0) -> Iterator[Succession]:
    """Begin a generation that follows the collection as it is now; ``publish`` it within the block, or it is gone."""
    with folder.writing(wait=wait) as old:
        name = f"g-{uuid.uuid4().hex[:16]}"
        place = folder.path / name
        with written(f"{folder.shown}/{name}"):
            place.mkdir()
        try:
            new = Generation.create(place, folder.shown)
            try:
                yield Succession(folder, old, new)
            finally:
                new.close()
        finally:
            if not _may_be_named(folder, name):
                shutil.rmtree(place, ignore_errors=True)


def _may_be_named(folder: Folder, name: str) -> bool:
    """Whether a generation is the collection now, or may be: a commit can fail when its manifest is there already.

    What nobody names after all is swept up by the next writer.
    """
    try:
        return Manifest.read(folder.path, folder.shown).generation == name
    except (TopiaristError, OSError):
        return True


# ---- tables


def copy_tables(old: Database, new: Database, gone: Sequence[int]) -> None:
    """Everything that is known of the documents but those in some rows; the others close the gaps.

    Tables that only some collections have are copied as well: a column ``row``, or one that refers to documents, is the
    row of a document, and goes with it.
    """
    with new.attached(old.path, "before"), new.transaction():
        new.run("PRAGMA defer_foreign_keys = ON")
        new.run("CREATE TEMP TABLE places (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)")
        new.run(
            "INSERT INTO places SELECT row, row_number() OVER (ORDER BY row) - 1 FROM before.documents "
            "WHERE row NOT IN (SELECT value FROM json_each(?))",
            (json.dumps([int(row) for row in gone]),),
        )
        for name in _tables(new):
            _copy(new, name)
        _make(new, "index")
        new.run("DROP TABLE places")
        Documents(new).index()


def _tables(database: Database) -> list[str]:
    """The plain tables of the old database that hold rows to copy, documents first; those that are missing are made."""
    _make(database, "table")
    found = database.all("SELECT name, sql FROM before.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    virtual = [name for name, sql in found if sql.upper().startswith("CREATE VIRTUAL")]
    plain = [name for name, _ in found if name not in virtual and not name.startswith(tuple(f"{v}_" for v in virtual))]
    return sorted((name for name in plain if name not in LOG), key=lambda name: (name != "documents", name))


def _make(database: Database, kind: str) -> None:
    """Tables or indexes that the old database has beside those that every collection has."""
    known = {name for (name,) in database.all("SELECT name FROM main.sqlite_schema")}
    sql = "SELECT name, sql FROM before.sqlite_schema WHERE type = ? AND sql IS NOT NULL"
    for name, statement in database.all(sql, (kind,)):
        shadow = name.startswith(("search_", "vocabulary_", "sqlite_"))
        if name not in known and not shadow and statement.upper().startswith(("CREATE TABLE", "CREATE INDEX")):
            database.run(statement)


def _copy(database: Database, table: str) -> None:
    quoted = _quoted(table)
    old, own = (
        {name: (kind, default) for _, name, kind, _, default, _ in database.all(f"PRAGMA {where}.table_info({quoted})")}
        for where in ("before", "main")
    )
    for name, (kind, default) in old.items():
        if name not in own:
            given = "" if default is None else f" DEFAULT {default}"
            database.run(f"ALTER TABLE main.{quoted} ADD COLUMN {_quoted(name)} {kind}{given}")
    links = {link[3] for link in database.all(f"PRAGMA before.foreign_key_list({quoted})") if link[2] == "documents"}
    links |= {"row"} & set(old)
    place = "(SELECT new FROM places WHERE old = {})"
    values = [place.format(_quoted(name)) if name in links else _quoted(name) for name in old]
    stays = [f"({_quoted(name)} IS NULL OR {_quoted(name)} IN (SELECT old FROM places))" for name in sorted(links)]  # noqa: S608
    where = f" WHERE {' AND '.join(stays)}" if stays else ""
    names = ", ".join(map(_quoted, old))
    database.run(f"DELETE FROM main.{quoted}")  # noqa: S608 - names of tables, quoted
    database.run(f"INSERT INTO main.{quoted} ({names}) SELECT {', '.join(values)} FROM before.{quoted}{where}")  # noqa: S608


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# ---- the log


def copy_log(old: Database, new: Database, *, states: bool = False) -> None:
    """What was done, for the new generation to go on from.

    Its states cannot be come back to there, unless ``states`` and their parts are there as well.
    """
    text = edit_log.forgotten()
    with new.transaction():
        known = old.all("SELECT number, body, checksum FROM states ORDER BY number")
        if not states:
            known = [(number, text, edit_log.checksum(text)) for number, _, _ in known]
        new.run_many("INSERT INTO states VALUES (?, ?, ?)", known)
        if states:
            new.run_many("INSERT INTO parts (name, digest) VALUES (?, ?)", sorted(edit_log.parts(old).items()))
        edits = old.all("SELECT number, time, kind, body, before, after FROM edits ORDER BY number")
        new.run_many("INSERT INTO edits VALUES (?, ?, ?, ?, ?, ?)", edits)


def carry_marks_back(now: Database, then: Database) -> None:
    """Tags, read marks, notes, judged labels and reviews as they are now, for the documents that both have.

    The others keep theirs.
    """
    with then.attached(now.path, "now"), then.transaction():
        both = "row IN (SELECT d.row FROM main.documents AS d JOIN now.documents AS n ON n.id = d.id)"
        joined = "JOIN now.documents AS n ON n.row = t.row JOIN main.documents AS d ON d.id = n.id"
        for table, columns in (("tags", ("tag",)), ("reads", ()), ("labels", ("place", "label"))):
            then.run(f"DELETE FROM main.{table} WHERE {both}")  # noqa: S608 - names of our own
            own, others = ", ".join(("row", *columns)), "".join(f", t.{name}" for name in columns)
            then.run(f"INSERT INTO main.{table} ({own}) SELECT d.row{others} FROM now.{table} AS t {joined}")  # noqa: S608
        if then.one("SELECT 1 FROM now.sqlite_schema WHERE name = 'judgements'") is not None:
            _carry_judgements_back(then, joined)
        if then.one("SELECT 1 FROM now.sqlite_schema WHERE name = 'review_entries'") is not None:
            _carry_reviews_back(then, joined)
        if then.one("SELECT 1 FROM now.sqlite_schema WHERE name = 'passage_notes'") is not None:
            _carry_notes_back(then, joined, both)


def _carry_judgements_back(then: Database, joined: str) -> None:
    from topiarist.store.judgement_table import JudgementTable

    JudgementTable(then).create()
    _append_newer(then, "judgements", ("time", "row", "kind", "before", "after"), joined)


def _carry_reviews_back(then: Database, joined: str) -> None:
    from topiarist.store.review_table import TABLES

    for statement in TABLES:
        then.run(statement)
    then.run("INSERT OR IGNORE INTO main.reviews (label, lot, time) SELECT label, lot, time FROM now.reviews")
    _append_newer(then, "review_entries", ("time", "label", "row", "answer", "drawn", "documents"), joined)


def _carry_notes_back(then: Database, joined: str, both: str) -> None:
    """Notes as they are now, under numbers behind all others: entries of documents that were gone had left theirs."""
    for statement in NOTES:
        then.run(statement)
    last = then.number("SELECT max(number) FROM main.passage_notes") or 0
    then.run(f"DELETE FROM main.passage_notes WHERE {both}")  # noqa: S608 - names of our own
    then.run(
        "INSERT INTO main.passage_notes (number, time, row, passage, start, quote, note, undoes) "  # noqa: S608
        "SELECT t.number + ?, t.time, d.row, t.passage, t.start, t.quote, t.note, "
        f"CASE WHEN t.undoes THEN t.undoes + ? ELSE 0 END FROM now.passage_notes AS t {joined}",
        (last, last),
    )


def _append_newer(then: Database, table: str, columns: Sequence[str], joined: str) -> None:
    """Entries that were made since, behind all others and in their order.

    Not by their numbers: entries of documents that were gone had left theirs to newer ones.
    """
    own = ["d.row" if name == "row" else f"t.{name}" for name in columns]
    same = " AND ".join(f"m.{name} IS {value}" for name, value in zip(columns, own, strict=True) if name != "documents")
    then.run(
        f"INSERT INTO main.{table} ({', '.join(columns)}) SELECT {', '.join(own)} FROM now.{table} AS t {joined} "  # noqa: S608
        f"WHERE NOT EXISTS (SELECT 1 FROM main.{table} AS m WHERE m.number = t.number AND {same}) ORDER BY t.number"
    )


# ---- parts


@contextmanager
def part_like(succession: Succession, name: str, kind: str, *, without: Sequence[str] = ()) -> Iterator[NewPart]:
    """A part of the new generation that begins with the files of an old one, without some; linked, for none changes."""
    source = open_part(succession.old, name)
    with new_part(succession.new, kind) as part:
        linked_tree(source, part.folder, without=(LIST, LOCK, *without))
        yield part


def same_part(succession: Succession, name: str, kind: str) -> Part:
    """A part of the old generation in the new one."""
    with part_like(succession, name, kind) as part:
        pass
    return part.part


def linked_tree(source: Path, target: Path, *, without: Sequence[str] = ()) -> None:
    """All files of a folder in another one, but those with some names; the first that cannot be is told as it is."""
    with written(target):
        target.mkdir(exist_ok=True)
        for one in sorted(source.iterdir()):
            if one.name in without:
                continue
            if one.is_dir():
                linked_tree(one, target / one.name, without=without)
            else:
                _linked(one, target / one.name)


def _linked(source: Path, target: Path) -> None:
    """A second name for a file, which nobody will change, or a copy where the system has no such thing."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
