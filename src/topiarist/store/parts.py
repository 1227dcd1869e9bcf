"""Parts: folders of arrays and models that are written once and never changed.

A part is written under a name that nobody refers to, brought to the disk file by file, and then renamed: what bears
the name of a part is complete. It belongs to the collection when a state names it (``log``), and only then; parts that
nobody names are removed by the next writer.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from topiarist.errors import DamagedError
from topiarist.store.array_files import new_file, new_folder, sync_folder, written
from topiarist.store.generation import Generation

LIST = "part.json"
FORMAT, VERSION = "topiarist-part", 1
PART = re.compile(r"([a-z][a-z0-9-]*)-([1-9][0-9]*)")
PARTIAL = re.compile(r"\.[a-z][a-z0-9-]*-[1-9][0-9]*\.[0-9a-f]{32}")


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
    folder = new_folder(generation.folder / f".{name}.{uuid.uuid4().hex}")
    part = NewPart(folder, name)
    try:
        yield part
        with written(f"{generation.shown}/{name}"):
            content = {"format": FORMAT, "version": VERSION, "kind": kind, "files": _seal(folder)}
            text = json.dumps(content, indent=1, sort_keys=True).encode() + b"\n"
            with new_file(folder / LIST, sync=True) as file:
                file.write(text)
            sync_folder(folder)
            os.rename(folder, generation.folder / name)
            sync_folder(generation.folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    part.folder = generation.folder / name
    part.digest = hashlib.sha256(text).hexdigest()


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
    try:
        text = (folder / LIST).read_bytes()
    except OSError as error:
        return [f"{folder.name}/{LIST} cannot be read: {error.strerror}"]
    if hashlib.sha256(text).hexdigest() != digest:
        return [f"{folder.name}/{LIST} has changed since it was written"]
    files = json.loads(text)["files"]  # as we wrote it: the digest says so
    found = (_file_fault(folder, name, entry, contents) for name, entry in files.items())
    return [fault for fault in found if fault]


def _file_fault(folder: Path, name: str, entry: dict[str, Any], contents: bool) -> str:
    path = folder / PurePosixPath(name)
    try:
        size = path.stat().st_size
        if size != entry["bytes"]:
            return f"{folder.name}/{name} has {size:,} bytes, {entry['bytes']:,} were written"
        if contents and _digest(path) != entry["sha256"]:
            return f"{folder.name}/{name} has changed since it was written: its checksum differs"
    except OSError as error:
        return f"{folder.name}/{name} cannot be read: {error.strerror}"
    return ""


def _seal(folder: Path) -> dict[str, dict[str, Any]]:
    """Wait until every file is on the disk; sizes and checksums by name."""
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_dir():
            continue
        sync_file(path)
        name = path.relative_to(folder).as_posix()
        files[name] = {"bytes": path.stat().st_size, "sha256": _digest(path)}
    for path in folder.rglob("*"):
        if path.is_dir():
            sync_folder(path)
    return files


def sync_file(path: Path) -> None:
    """Wait until a file is on the disk."""
    with path.open("rb" if os.name == "posix" else "rb+") as file:
        os.fsync(file.fileno())


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
