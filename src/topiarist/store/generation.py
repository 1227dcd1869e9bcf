"""A generation, made by one grow of a collection: the database, and the parts that its states name.

A part is a folder of arrays and models that is written once and never changed. It is written under a name that nobody
refers to, brought to the disk file by file, and then renamed: what bears the name of a part is complete. It belongs to
the collection when a state names it (``edit_log``), and only then; parts that nobody names are removed by the next
writer.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from topiarist.errors import DamagedError, in_words, lack
from topiarist.store.database import Database
from topiarist.store.sealed_folder import DAMAGE, FileEntry, contents_of, folder_beside, new_file, plain, seal, written

DATABASE = "documents.sqlite"
LIST = "part.json"
FORMAT, VERSION = "topiarist-part", 1
PART = re.compile(r"([a-z][a-z0-9-]*)-([1-9][0-9]*)")
PARTIAL = re.compile(r"\.[a-z][a-z0-9-]*-[1-9][0-9]*[-.][0-9a-f]{32}")


@dataclass(frozen=True)
class Generation:
    """The folder of a generation, and its database: open for reading, or for writing under the lock."""

    folder: Path
    shown: str  # the collection, as the user typed it
    database: Database

    @classmethod
    def open(cls, folder: Path, shown: str, *, write: bool = False) -> Generation:
        """Nothing is read until it is asked for."""
        return cls(folder, shown, Database(folder / DATABASE, write=write, shown=f"{shown}/{folder.name}/{DATABASE}"))

    @classmethod
    def create(cls, folder: Path, shown: str) -> Generation:
        """One without documents."""
        shown_database = f"{shown}/{folder.name}/{DATABASE}"
        return cls(folder, shown, Database.create(folder / DATABASE, shown=shown_database))

    @property
    def writable(self) -> bool:
        """Whether it was opened for writing."""
        return self.database.write

    def close(self) -> None:
        """Close the database."""
        self.database.close()


@dataclass(frozen=True)
class Part:
    """A complete part: what a state names, and the digest by which it is known again."""

    name: str
    digest: str


@dataclass
class NewPart:
    """A part that is being written: put files into ``folder``; ``part`` is there when the block has ended."""

    folder: Path
    name: str
    digest: str = ""

    @property
    def part(self) -> Part:
        """The part, once it is complete."""
        if not self.digest:
            raise ValueError(f"{self.name} is not complete yet")
        return Part(self.name, self.digest)


@contextmanager
def new_part(generation: Generation, kind: str) -> Iterator[NewPart]:
    """A folder to fill; complete, on the disk and named when the block ends, gone when it fails."""
    name = part_name(generation, kind)
    with folder_beside(generation.folder / name) as folder:
        part = NewPart(folder, name)
        yield part
        with written(f"{generation.shown}/{name}"):
            content = {"format": FORMAT, "version": VERSION, "kind": kind, "files": seal(folder)}
            text = json.dumps(content, indent=1, sort_keys=True).encode() + b"\n"
            with new_file(folder / LIST, sync=True) as file:
                file.write(text)
    part.folder, part.digest = generation.folder / name, hashlib.sha256(text).hexdigest()


def part_name(generation: Generation, kind: str) -> str:
    """A name that no part has, and none that a state names ever had: the next number of its kind."""
    if not PART.fullmatch(f"{kind}-1"):
        raise ValueError(f"the kind of a part is lower-case letters, digits and dashes, got {kind!r}")
    known = (name for (name,) in generation.database.all("SELECT name FROM parts"))
    matches = [PART.fullmatch(name) for name in (*known, *part_folders(generation.folder))]
    numbers = [int(match[2]) for match in matches if match and match[1] == kind]
    return f"{kind}-{max(numbers, default=0) + 1}"


def part_folders(folder: Path) -> list[str]:
    """The names of the complete parts in a generation's folder, referred to or not."""
    return sorted(path.name for path in folder.iterdir() if PART.fullmatch(path.name) and path.is_dir())


def open_part(generation: Generation, name: str) -> Path:
    """The folder of a part, after a look at its list and the sizes of its files; ``check`` reads their contents."""
    row = generation.database.one("SELECT digest FROM parts WHERE name = ?", (name,))
    faults = [f"{name} is not known"] if row is None else part_faults(generation.folder / name, row[0])
    if faults:
        raise DamagedError(f"{generation.shown} is damaged: {faults[0]}", hint=f"topiarist check {generation.shown}")
    return generation.folder / name


def part_faults(folder: Path, digest: str, *, contents: bool = False) -> list[str]:
    """What is wrong with a part; nothing, if all is well. With ``contents`` every byte is read."""
    if not PART.fullmatch(folder.name):
        return [f"{folder.name!r} is not the name of a part"]
    if folder.is_symlink():
        return [f"{folder.name} is a link to somewhere else"]
    try:
        text = contents_of(folder / LIST, links=False)
    except (OSError, ValueError) as error:
        if missing := lack(error, f"{folder.name}/{LIST}"):
            raise missing from error
        return [f"{folder.name}/{LIST} cannot be read: {in_words(error)}"]
    if hashlib.sha256(text).hexdigest() != digest:
        return [f"{folder.name}/{LIST} has changed since it was written"]
    try:
        files = [(name, FileEntry.read(entry)) for name, entry in json.loads(text)["files"].items()]
        places = [folder.joinpath(*map(plain, name.split("/"))) for name, _ in files]
    except DAMAGE as error:  # the digest is of somebody who can count as well
        return [f"{folder.name}/{LIST} cannot be read: {in_words(error)}"]
    if away := sorted({path.parent.name for path in places if path.parent != folder and path.parent.is_symlink()}):
        return [f"{folder.name}/{away[0]} is a link to somewhere else"]
    found = [(name, entry.fault(path, contents=contents)) for (name, entry), path in zip(files, places, strict=True)]
    return [f"{folder.name}/{name} {fault}" for name, fault in found if fault]
