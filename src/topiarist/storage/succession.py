"""Generation with fewer documents that replaces another: its tables, its parts and its log.

It is written under a name that no manifest has. After a kill at any moment the collection is the old generation or the
new one, and the next writer removes the other. Readers of the old generation finish. No byte of the new database comes
from a row that was not copied.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from topiarist.errors import TopiaristError
from topiarist.storage import edit_log, facts
from topiarist.storage.collection_folder import Folder, Manifest
from topiarist.storage.database import Database
from topiarist.storage.document_table import Documents
from topiarist.storage.generation import LIST, Generation, NewPart, Part, new_part, open_part
from topiarist.storage.schema import CELL_INDEX, TABLES
from topiarist.storage.sealed_folder import LOCK, sync_contents, sync_folder, translate_write_errors

COPIED_TABLES = tuple(re.findall(r"CREATE TABLE (?!parts|states|edits)(\w+)", TABLES))  # documents come first


@dataclass(frozen=True)
class ReducedGeneration:
    """Current generation, open for writing under the lock, and the one that replaces it."""

    folder: Folder
    old: Generation
    new: Generation

    def publish(self, kept_generations: Sequence[str] = ()) -> None:
        """Write all files to disk and make it the collection; ``kept_generations`` are generations for undo."""
        self.new.database.use_wal()
        self.new.close()
        with translate_write_errors(self.folder.display_path):
            sync_contents(self.new.folder)
            sync_folder(self.folder.path)
        self.folder.go_to(Manifest(self.new.folder.name, kept=tuple(kept_generations)))


@contextmanager
def reduce_generation(folder: Folder, *, wait: float = 0.0) -> Iterator[ReducedGeneration]:
    """Yield a generation that replaces the current one; without ``publish`` it is deleted after the block."""
    with folder.writing(wait=wait) as old:
        name = f"g-{uuid.uuid4().hex[:16]}"
        place = folder.path / name
        with translate_write_errors(f"{folder.display_path}/{name}"):
            place.mkdir()
        try:
            new = Generation.create(place, folder.display_path)
            try:
                yield ReducedGeneration(folder, old, new)
            finally:
                new.close()
        finally:
            if not _can_be_named(folder, name):
                shutil.rmtree(place, ignore_errors=True)


def _can_be_named(folder: Folder, name: str) -> bool:
    """Return whether the manifest names a generation, or can name it: a commit can fail after its manifest was written.

    The next writer removes a generation that no manifest names.
    """
    try:
        return Manifest.read(folder.path, folder.display_path).generation == name
    except (TopiaristError, OSError):
        return True


# ---- tables


def copy_tables(old: Database, new: Database, removed: Sequence[int]) -> None:
    """Copy all tables without the documents in ``removed``; the rows of the other documents close the gaps.

    A column ``row``, and a column that refers to documents, holds the row of a document and is renumbered.
    """
    with new.attach(old.path, "before"), new.transaction():
        new.run("PRAGMA defer_foreign_keys = ON")
        new.run("CREATE TEMP TABLE places (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)")
        new.run(
            "INSERT INTO places SELECT row, row_number() OVER (ORDER BY row) - 1 FROM before.documents "
            "WHERE row NOT IN (SELECT value FROM json_each(?))",
            (json.dumps([int(row) for row in removed]),),
        )
        for table in COPIED_TABLES:
            _copy_table(new, table)
        new.run(CELL_INDEX)
        new.run("DROP TABLE places")
        Documents(new).index()


def _copy_table(database: Database, table: str) -> None:
    """Replace a table by the rows of the former database whose documents remain, renumbered."""
    columns = [name for _, name, *_ in database.all(f"PRAGMA main.table_info({table})")]
    links = {link[3] for link in database.all(f"PRAGMA main.foreign_key_list({table})") if link[2] == "documents"}
    links |= {"row"} & set(columns)
    values = [f"(SELECT new FROM places WHERE old = {name})" if name in links else f'"{name}"' for name in columns]  # noqa: S608
    conditions = [f"({name} IS NULL OR {name} IN (SELECT old FROM places))" for name in sorted(links)]  # noqa: S608
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    database.run(f"DELETE FROM main.{table}")  # noqa: S608 - names of the schema
    names = ", ".join(f'"{name}"' for name in columns)
    database.run(f"INSERT INTO main.{table} ({names}) SELECT {', '.join(values)} FROM before.{table}{where}")  # noqa: S608


# ---- the log


def copy_log(old: Database, new: Database, *, states: bool = False) -> None:
    """Copy the edit log to the new generation.

    Its states are erased, unless ``states`` is true and their parts are copied as well.
    """
    text = edit_log.format_forgotten_state()
    with new.transaction():
        states_found = old.all("SELECT number, body, checksum FROM states ORDER BY number")
        if not states:
            states_found = [(number, text, edit_log.checksum(text)) for number, _, _ in states_found]
        new.run_many("INSERT INTO states VALUES (?, ?, ?)", states_found)
        if states:
            new.run_many("INSERT INTO parts (name, digest) VALUES (?, ?)", sorted(edit_log.parts(old).items()))
        edits = old.all("SELECT number, time, kind, body, before, after FROM edits ORDER BY number")
        new.run_many("INSERT INTO edits VALUES (?, ?, ?, ?, ?, ?)", edits)
        facts.update_log_checksum(new)


def carry_marks_back(now: Database, then: Database) -> None:
    """Copy tags, read marks, notes, judged labels and reviews of now to the documents that both generations have.

    Other documents keep theirs.
    """
    with then.attach(now.path, "now"), then.transaction():
        common_rows = "row IN (SELECT d.row FROM main.documents AS d JOIN now.documents AS n ON n.id = d.id)"
        joined = "JOIN now.documents AS n ON n.row = t.row JOIN main.documents AS d ON d.id = n.id"
        for table, columns in (("tags", ("tag",)), ("reads", ()), ("labels", ("place", "label"))):
            then.run(f"DELETE FROM main.{table} WHERE {common_rows}")  # noqa: S608 - names of our own
            own_columns, others = ", ".join(("row", *columns)), "".join(f", t.{name}" for name in columns)
            then.run(f"INSERT INTO main.{table} ({own_columns}) SELECT d.row{others} FROM now.{table} AS t {joined}")  # noqa: S608
        _append_missing_entries(then, "judgements", ("time", "row", "kind", "before", "after"), joined)
        then.run("INSERT OR IGNORE INTO main.reviews (label, lot, time) SELECT label, lot, time FROM now.reviews")
        _append_missing_entries(
            then, "review_entries", ("time", "label", "row", "answer", "drawn", "documents"), joined
        )
        _carry_notes_back(then, joined, common_rows)


def _carry_notes_back(then: Database, joined: str, common_rows: str) -> None:
    """Copy notes under new numbers, because removed documents can have used the same numbers."""
    last = then.number("SELECT max(number) FROM main.passage_notes") or 0
    then.run(f"DELETE FROM main.passage_notes WHERE {common_rows}")  # noqa: S608 - names of our own
    then.run(
        "INSERT INTO main.passage_notes (number, time, row, passage, start, quote, note, undoes) "  # noqa: S608
        "SELECT t.number + ?, t.time, d.row, t.passage, t.start, t.quote, t.note, "
        f"CASE WHEN t.undoes THEN t.undoes + ? ELSE 0 END FROM now.passage_notes AS t {joined}",
        (last, last),
    )


def _append_missing_entries(then: Database, table: str, columns: Sequence[str], joined: str) -> None:
    """Append the entries of a table that ``then`` lacks, in their order.

    Their numbers are not compared, because removed documents can have used the same numbers.
    """
    selects = ["d.row" if name == "row" else f"t.{name}" for name in columns]
    is_same = " AND ".join(
        f"m.{name} IS {value}" for name, value in zip(columns, selects, strict=True) if name != "documents"
    )
    then.run(
        f"INSERT INTO main.{table} ({', '.join(columns)}) SELECT {', '.join(selects)} FROM now.{table} AS t {joined} "  # noqa: S608
        f"WHERE NOT EXISTS (SELECT 1 FROM main.{table} AS m WHERE m.number = t.number AND {is_same}) ORDER BY t.number"
    )


# ---- parts


@contextmanager
def copy_part(
    succession: ReducedGeneration, name: str, kind: str, *, excluded_names: Sequence[str] = ()
) -> Iterator[NewPart]:
    """Yield a part of the new generation with links to the files of an old part, except ``without``."""
    source = open_part(succession.old, name)
    with new_part(succession.new, kind) as part:
        link_tree(source, part.folder, excluded_names=(LIST, LOCK, *excluded_names))
        yield part


def copy_whole_part(succession: ReducedGeneration, name: str, kind: str) -> Part:
    """Copy a part of the old generation to the new one."""
    with copy_part(succession, name, kind) as part:
        pass
    return part.part


def link_tree(source: Path, target: Path, *, excluded_names: Sequence[str] = ()) -> None:
    """Link all files of a folder into another one, except some names."""
    with translate_write_errors(target):
        target.mkdir(exist_ok=True)
        for path in sorted(source.iterdir()):
            if path.name in excluded_names:
                continue
            if path.is_dir():
                link_tree(path, target / path.name, excluded_names=excluded_names)
            else:
                _link_or_copy(path, target / path.name)


def _link_or_copy(source: Path, target: Path) -> None:
    """Link a file, which never changes, or copy it if the system has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
