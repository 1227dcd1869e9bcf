"""Generation of a collection, written by one grow: its database, and the parts that its states name.

A part is a folder of arrays and models that is written once and never changed. It is written under a temporary name,
synchronised to disk, and renamed: a folder with the name of a part is complete. A part belongs to the collection if a
state names it (``edit_log``); the next writer removes all other parts.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from topiarist.errors import create_damaged_error, describe_error, to_limit_error
from topiarist.storage.database import Database
from topiarist.storage.sealed_folder import (
    DAMAGE,
    FileEntry,
    check_file_name,
    new_file,
    read_plain_file,
    replace_folder,
    seal_files,
    translate_write_errors,
)

DATABASE = "documents.sqlite"
LIST = "part.json"
FORMAT, VERSION = "topiarist-part", 1
PART = re.compile(r"([a-z][a-z0-9-]*)-([1-9][0-9]*)")
PARTIAL = re.compile(r"\.[a-z][a-z0-9-]*-[1-9][0-9]*[-.][0-9a-f]{32}")


@dataclass(frozen=True)
class Generation:
    """Folder of a generation and its database, open for reading, or for writing under the lock."""

    folder: Path
    display_path: str  # path of the collection as the user typed it
    database: Database

    @classmethod
    def open(cls, folder: Path, display_path: str, *, write: bool = False) -> Generation:
        """Open a generation without reading it."""
        database_path = f"{display_path}/{folder.name}/{DATABASE}"
        return cls(folder, display_path, Database(folder / DATABASE, write=write, display_path=database_path))

    @classmethod
    def create(cls, folder: Path, display_path: str) -> Generation:
        """Create a generation without documents."""
        database_path = f"{display_path}/{folder.name}/{DATABASE}"
        return cls(folder, display_path, Database.create(folder / DATABASE, display_path=database_path))

    def close(self) -> None:
        self.database.close()


@dataclass(frozen=True)
class Part:
    """Complete part: its name in a state, and its digest."""

    name: str
    digest: str


@dataclass
class NewPart:
    """Part that is being written: put files into ``folder``; ``part`` is available after the block."""

    folder: Path
    name: str
    digest: str = ""

    @property
    def part(self) -> Part:
        """The complete part."""
        if not self.digest:
            raise ValueError(f"{self.name} is not complete yet")
        return Part(self.name, self.digest)


@contextmanager
def new_part(generation: Generation, kind: str) -> Iterator[NewPart]:
    """Yield a folder to fill; at the end of the block it is complete, on disk and named, after an error deleted."""
    name = make_part_name(generation, kind)
    with replace_folder(generation.folder / name) as folder:
        part = NewPart(folder, name)
        yield part
        with translate_write_errors(f"{generation.display_path}/{name}"):
            content = {"format": FORMAT, "version": VERSION, "kind": kind, "files": seal_files(folder)}
            text = json.dumps(content, indent=1, sort_keys=True).encode() + b"\n"
            with new_file(folder / LIST, sync=True) as file:
                file.write(text)
    part.folder, part.digest = generation.folder / name, hashlib.sha256(text).hexdigest()


def make_part_name(generation: Generation, kind: str) -> str:
    """Return a new name: the next number of its kind, also after names of erased parts."""
    if not PART.fullmatch(f"{kind}-1"):
        raise ValueError(f"the kind of a part is lower-case letters, digits and dashes, got {kind!r}")
    names = (name for (name,) in generation.database.all("SELECT name FROM parts"))
    matches = [PART.fullmatch(name) for name in (*names, *part_folders(generation.folder))]
    numbers = [int(match[2]) for match in matches if match and match[1] == kind]
    return f"{kind}-{max(numbers, default=0) + 1}"


def part_folders(folder: Path) -> list[str]:
    """Return the names of the complete parts in the folder of a generation, referenced or not."""
    return sorted(path.name for path in folder.iterdir() if PART.fullmatch(path.name) and path.is_dir())


def open_part(generation: Generation, name: str) -> Path:
    """Return the folder of a part after checking its list and file sizes; ``check`` reads the contents."""
    row = generation.database.fetch_one("SELECT digest FROM parts WHERE name = ?", (name,))
    faults = [f"{name} is not known"] if row is None else part_faults(generation.folder / name, row[0])
    if faults:
        raise create_damaged_error(generation.display_path, faults[0])
    return generation.folder / name


def part_faults(folder: Path, digest: str, *, contents: bool = False) -> list[str]:
    """Return the faults of a part; verify checksums if ``contents`` is true."""
    if not PART.fullmatch(folder.name):
        return [f"{folder.name!r} is not the name of a part"]
    if folder.is_symlink():
        return [f"{folder.name} is a link to somewhere else"]
    try:
        text = read_plain_file(folder / LIST, links=False)
    except (OSError, ValueError) as error:
        if limit_error := to_limit_error(error, f"{folder.name}/{LIST}"):
            raise limit_error from error
        return [f"{folder.name}/{LIST} cannot be read: {describe_error(error)}"]
    if hashlib.sha256(text).hexdigest() != digest:
        return [f"{folder.name}/{LIST} has changed since it was written"]
    try:
        files = [(name, FileEntry.read(entry)) for name, entry in json.loads(text)["files"].items()]
        places = [folder.joinpath(*map(check_file_name, name.split("/"))) for name, _ in files]
    except DAMAGE as error:  # a valid digest does not make the list valid
        return [f"{folder.name}/{LIST} cannot be read: {describe_error(error)}"]
    if links := sorted({path.parent.name for path in places if path.parent != folder and path.parent.is_symlink()}):
        return [f"{folder.name}/{links[0]} is a link to somewhere else"]
    faults = [(name, entry.fault(path, contents=contents)) for (name, entry), path in zip(files, places, strict=True)]
    return [f"{folder.name}/{name} {fault}" for name, fault in faults if fault]
