"""What a folder of blocks says about itself: one small JSON file, written last and checked first."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.store.array_files import new_file, new_folder, sync_folder, written

FORMAT, VERSION = "topiarist-blocks", 1
NAME, VOCABULARY = "manifest.json", "vocabulary.json"
PARTS = ("indptr", "indices", "data", "word_ends", "tile_starts", "places", "word_data")
AGAIN = "write the store again"


@dataclass(frozen=True)
class Format:
    """A kind of folder: what its manifest calls itself, which versions are read, and what people call it."""

    name: str
    versions: tuple[int, ...]
    what: str
    hint: str  # what to try where there is no manifest
    again: str = AGAIN


BLOCKS = Format(
    FORMAT, (VERSION,), "a folder of blocks",
    "the folder that BlockStore.write was given; a store that was never finished has no manifest",
)  # fmt: skip


@dataclass(frozen=True)
class FileEntry:
    """A file by its size and contents."""

    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> FileEntry:
        """As the file is now."""
        with path.open("rb") as file:
            return cls(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


@dataclass(frozen=True)
class BlockEntry:
    """A block in numbers, and its files."""

    name: str
    documents: int
    filled: int  # documents with any word
    nonzeros: int
    tokens: float
    largest: float  # count
    files: Mapping[str, FileEntry] = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    """The whole store."""

    n_words: int
    dtype: str
    blocks: tuple[BlockEntry, ...]
    files: Mapping[str, FileEntry] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write it, with a checksum of its own."""
        body = {"format": FORMAT, "version": VERSION, **asdict(self)}
        text = json.dumps({**body, "sha256": digest(body)}, indent=1) + "\n"
        with new_file(folder / NAME, sync=True) as file:
            file.write(text.encode())

    @classmethod
    def read(cls, folder: Path, *, check: bool) -> Manifest:
        """Read it and look after the files it names: that they are there in full and, if asked, unchanged."""
        body = read_body(folder, BLOCKS)[0]
        try:
            blocks = tuple(_block(block) for block in body["blocks"])
            known = cls(int(body["n_words"]), str(body["dtype"]), blocks, _entries(body["files"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{folder / NAME} is damaged: {error!r}", hint=AGAIN) from error
        for where, files in ((folder, known.files), *((folder / block.name, block.files) for block in known.blocks)):
            for name, entry in files.items():
                check_file(where / name, entry, contents=check)
        return known


def read_vocabulary(folder: Path) -> Vocabulary:
    """The words of a store."""
    try:
        return Vocabulary(**json.loads((folder / VOCABULARY).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{folder / VOCABULARY} cannot be read: {error}", hint=AGAIN) from error


def read_body(folder: Path, known: Format) -> tuple[dict[str, Any], str]:
    """What a manifest of some format says, and the checksum by which it says so."""
    path = folder / NAME
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        claimed = str(body.pop("sha256"))
        found, version = body.get("format"), body.get("version")
    except OSError as error:
        raise InputError(
            f"{folder} is not {known.what}: {path.name} cannot be read ({error.strerror})", hint=known.hint
        ) from error
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise InputError(f"{path} is damaged: {error!r}", hint=known.again) from error
    if found != known.name:
        raise InputError(f"{path} is not that of {known.what}: format {found!r}", hint=known.hint)
    if version not in known.versions:
        raise InputError(
            f"{folder} has version {version!r} of the format, this topiarist reads "
            f"{' and '.join(map(str, known.versions))}",
            hint="the version of topiarist that wrote it, or a newer one",
        )
    if claimed != digest(body):
        raise InputError(f"{path} is damaged: it does not match its own checksum", hint=known.again)
    return dict(body), claimed


def _block(entry: Mapping[str, Any]) -> BlockEntry:
    missing = {f"{part}.npy" for part in PARTS} - set(entry["files"])
    if missing:
        raise ValueError(f"a block without {sorted(missing)}")
    return BlockEntry(**{**entry, "name": plain(entry["name"]), "files": _entries(entry["files"])})


def _entries(files: Mapping[str, Any]) -> dict[str, FileEntry]:
    return {plain(name): FileEntry(int(entry["bytes"]), str(entry["sha256"])) for name, entry in files.items()}


def plain(name: str) -> str:
    """A name that leads nowhere else."""
    if not isinstance(name, str) or Path(name).name != name or name == ".." or "\0" in name:
        raise ValueError(f"a file called {name!r}")
    return name


def check_file(path: Path, entry: FileEntry, *, contents: bool, again: str = AGAIN) -> None:
    """Raise unless the file is there in full and, if ``contents`` are asked for, unchanged."""
    try:
        size = path.stat().st_size
        found = FileEntry.of(path) if contents and size == entry.bytes else FileEntry(size, entry.sha256)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}", hint=again) from error
    if found.bytes != entry.bytes:
        raise InputError(f"{path} has {found.bytes:,} bytes, {entry.bytes:,} were written", hint=again)
    if found != entry:
        raise InputError(f"{path} has changed since it was written: its checksum differs", hint=again)


def digest(body: Mapping[str, Any]) -> str:
    """The checksum of plain JSON data."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


@contextmanager
def new_store(folder: str | Path) -> Iterator[Path]:
    """A folder to fill, which gets its name when it is complete. Whatever happens, no half of it stays."""
    folder = Path(folder).resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise _taken(folder)
    with written(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
    partial = new_folder(folder.parent / f".{folder.name}-{uuid.uuid4().hex}")
    try:
        yield partial
        _name(partial, folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _name(partial: Path, folder: Path) -> None:
    """Give a complete store its name, which somebody else may have taken meanwhile."""
    try:
        sync_folder(partial)
        with suppress(FileNotFoundError):
            folder.rmdir()  # an empty one
        os.rename(partial, folder)
    except OSError as error:
        if folder.exists():
            raise _taken(folder) from error
        raise ResourceError(f"cannot write {folder}: {error}", hint="another folder") from error
    with suppress(OSError):  # the store is complete, and there
        sync_folder(folder.parent)


def _taken(folder: Path) -> UsageError:
    return UsageError(f"{folder} exists already", hint="a new folder, or remove that one")


def write_vocabulary(folder: Path, vocabulary: Vocabulary) -> FileEntry:
    """Write the words of a store."""
    words = {name: getattr(vocabulary, name) for name in ("words", "forms", "phrases")}
    numbers = {name: getattr(vocabulary, name).tolist() for name in ("document_frequency", "totals")}
    return write_json(folder / VOCABULARY, words | numbers)


def write_json(path: Path, content: Any) -> FileEntry:
    """Write plain data, complete or not at all."""
    with new_file(path, sync=True) as file:
        file.write(json.dumps(content, ensure_ascii=False).encode())
    return FileEntry.of(path)
