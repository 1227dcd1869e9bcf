"""A sealed folder and its lock: written beside its place, sealed with checksums, renamed, checked when read.

Blocks of counts, models, the parts of a collection, its search index and the collection itself are kept so. The
manifest is a JSON file that names the format and its version, lists the files that must be there, and has a checksum of
its own. It is written last: killed at any moment, a folder is what it was before, or what it should become.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import socket
import stat
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from filelock import FileLock, Timeout

from topiarist.errors import DamagedError, InputError, ResourceError, TopiaristError, UsageError, lack

MANIFEST = "manifest.json"
MOST = 256 << 20  # bytes of a list of files: a million of them have half as many
LOCK, WRITER = "lock", "writer"  # the lock, and who has it: only believed while somebody has it
# what reading values that somebody made up may end in; whether it was a lack of room is asked first (``errors.lack``)
DAMAGE = (ValueError, TypeError, KeyError, AttributeError, IndexError, ArithmeticError, RecursionError, MemoryError)


# ---- files and folders that are complete, or not there


@contextmanager
def new_file(path: str | Path, *, sync: bool = False) -> Iterator[BinaryIO]:
    """A file to write, under a name of its own until it is complete: nobody ever sees half of it."""
    partial = f"{path}.{uuid.uuid4().hex}"
    with written(path):
        try:
            with open(partial, "wb") as file:
                yield file
                if sync:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(partial, path)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise


def write_json(path: Path, content: Any, **layout: Any) -> None:
    """Write plain data, complete or not at all."""
    with new_file(path) as file:
        file.write(json.dumps(content, ensure_ascii=False, **layout).encode())


@contextmanager
def written(path: str | Path) -> Iterator[None]:
    """Say what a failure to write means; only writing belongs inside."""
    try:
        yield
    except OSError as error:
        raise ResourceError(f"cannot write {path}: {error}", hint="another folder, or more room on the disk") from error


def new_folder(path: str | Path) -> Path:
    """A folder that was not there, open to whom the user's other files are open."""
    with written(path):
        Path(path).mkdir()
    return Path(path)


@contextmanager
def folder_beside(folder: Path, *, same: bool = False) -> Iterator[Path]:
    """A folder to fill, which gets its name when it is complete and on the disk. Whatever happens, no half of it stays.

    The name may be taken meanwhile: an error, unless whoever was faster has written the ``same``.
    """
    partial = new_folder(folder.with_name(f".{folder.name}-{uuid.uuid4().hex}"))
    try:
        yield partial
        with written(folder):
            sync_folder(partial)
            with suppress(OSError):
                folder.rmdir()  # an empty one
            try:
                os.rename(partial, folder)
            except OSError as error:
                if not folder.exists():
                    raise
                if not same:
                    raise _taken(folder) from error
                shutil.rmtree(partial, ignore_errors=True)
            with suppress(PermissionError):  # a folder above that we may not read
                sync_folder(folder.parent)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


@contextmanager
def new_sealed_folder(folder: str | Path) -> Iterator[Path]:
    """The same for a place that somebody has chosen: it must be free, or an empty folder."""
    folder = Path(folder).resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise _taken(folder)
    with written(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
    with folder_beside(folder) as partial:
        yield partial


def _taken(folder: Path) -> UsageError:
    return UsageError(f"{folder} exists already", hint="a new folder, or remove that one")


def sync_folder(path: str | Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can be asked to."""
    if os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):  # file systems that know no such wish
            raise
    finally:
        os.close(handle)


def sync_contents(path: Path) -> list[Path]:
    """Wait until a file, or a folder with everything below it, is on the disk; the files."""
    inside = [*sorted(path.rglob("*")), path] if path.is_dir() else [path]
    files = [one for one in inside if not one.is_dir()]
    for one in files:
        with one.open("rb" if os.name == "posix" else "rb+") as file:
            os.fsync(file.fileno())
    for one in inside:
        if one.is_dir():
            sync_folder(one)
    return files


# ---- seals


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

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> FileEntry:
        """As a manifest has it."""
        return cls(int(entry["bytes"]), str(entry["sha256"]))

    def fault(self, path: Path, *, contents: bool, links: bool = False) -> str:
        """What is wrong with the file at a path; nothing where it is there in full and, if asked, unchanged.

        What is no plain file is not even opened: it may have no end. ``links``: it may lie elsewhere.
        """
        try:
            found = path.stat() if links else path.lstat()
            if not stat.S_ISREG(found.st_mode):
                return "is a link, or no plain file"
            size = found.st_size
            changed = contents and size == self.bytes and FileEntry.of(path) != self
        except OSError as error:
            if missing := lack(error, str(path)):
                raise missing from error
            return f"cannot be read: {error.strerror}"
        if size != self.bytes:
            return f"has {size:,} bytes, {self.bytes:,} were written"
        return "has changed since it was written: its checksum differs" if changed else ""


@dataclass(frozen=True, kw_only=True)
class Format:
    """A kind of folder: what its manifest calls itself, which versions are read, and what people call it."""

    name: str
    versions: tuple[int, ...]  # the last one is written
    what: str
    hint: str  # what to try where there is no manifest
    again: str = "write the store again"
    manifest: str = MANIFEST
    absent: type[TopiaristError] = InputError  # where there is none
    error: type[TopiaristError] = InputError  # where something is wrong with it
    damage: str = "is damaged"
    links: bool = True  # whether its files may lie elsewhere
    layout: Mapping[str, Any] = field(default_factory=lambda: {"indent": 1})  # of the manifest's JSON

    def damaged(self, path: Path, error: BaseException | str) -> TopiaristError:
        """The error for a file that does not hold what it should, or for which there was no room."""
        if isinstance(error, BaseException) and (missing := lack(error, str(path))) is not None:
            return missing
        said = "it is nested too deeply" if isinstance(error, RecursionError) else getattr(error, "message", str(error))
        said = f"there is no {said}" if isinstance(error, KeyError) else said
        return self.error(f"{path} {self.damage}: {said}", hint=self.again)


def seal(folder: Path, below: str = "") -> dict[str, dict[str, Any]]:
    """Wait until the files of a folder (or what lies ``below`` it) are on the disk; size and checksum, by name."""
    return {path.relative_to(folder).as_posix(): vars(FileEntry.of(path)) for path in sync_contents(folder / below)}


def write_manifest(folder: Path, known: Format, body: Mapping[str, Any], *, version: int | None = None) -> str:
    """Write the manifest of a folder with a checksum of its own, which is returned."""
    head = {"format": known.name, "version": known.versions[-1] if version is None else version}
    whole = head | dict(body) | head
    checksum = digest(whole)
    with new_file(folder / known.manifest, sync=True) as file:
        file.write(f"{json.dumps({**whole, 'sha256': checksum}, **known.layout)}\n".encode())
    with written(folder / known.manifest):
        sync_folder(folder)
    return checksum


def read_manifest(folder: Path, known: Format) -> tuple[dict[str, Any], str]:
    """What the manifest of a folder says, and the checksum by which it says so."""
    path = folder / known.manifest
    try:
        body, claimed = parse_manifest(path, strict=not known.layout.get("allow_nan", True))
    except OSError as error:
        if missing := lack(error, str(path)):
            raise missing from error
        said = f"{folder} is not {known.what}: {path.name} cannot be read ({error.strerror})"
        raise known.absent(said, hint=known.hint) from error
    except DAMAGE as error:
        raise known.damaged(path, error) from error
    found, version = body.get("format"), body.get("version")
    if found != known.name:
        raise known.error(f"{path} is not that of {known.what}: format {found!r:.60}", hint=known.hint)
    if version not in known.versions:
        raise known.error(
            f"{folder} has version {version!r:.60} of the format, this topiarist reads "
            f"{' and '.join(map(str, known.versions))}",
            hint="the version of topiarist that wrote it, or a newer one",
        )
    if claimed != digest(body):
        raise known.damaged(path, "it does not match its own checksum")
    return body, str(claimed)


def parse_manifest(path: Path, *, strict: bool = False) -> tuple[dict[str, Any], Any]:
    """The JSON of a manifest, unbelieved, and its checksum; OSError or one of ``DAMAGE`` where that cannot be."""
    body = {**json.loads(contents_of(path), parse_constant=_refused if strict else None)}
    return body, body.pop("sha256", None)


def contents_of(path: Path, *, links: bool = True, most: int = MOST) -> bytes:
    """The bytes of a plain file that is not endless; ``links``: it may lie elsewhere."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    if not links and path.is_symlink():
        raise ValueError("it is a link")
    with os.fdopen(os.open(path, flags | (0 if links else getattr(os, "O_NOFOLLOW", 0))), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            raise ValueError("it is no plain file, or longer than any that topiarist writes")
        return file.read(most)


def refuse_links(*paths: Path) -> None:
    """An error where a file that is to be written is a link: whoever sent the folder would have another one written."""
    for path in paths:
        if path.is_symlink():
            raise DamagedError(
                f"{path} is a link: what is written there would be written elsewhere", hint=f"remove {path}"
            )


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def digest(body: Mapping[str, Any]) -> str:
    """The checksum of plain JSON data."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def checked_files(folder: Path, files: Mapping[str, Any], known: Format, *, contents: bool) -> dict[str, Path]:
    """The files that a manifest names: of this folder, in full and, if ``contents`` are asked for, unchanged."""
    found = {}
    for name, entry in files.items():
        parts = name.split("/")
        path = folder.joinpath(*map(plain, parts))
        if len(parts) > 2 or (not known.links and (path.is_symlink() or path.parent.is_symlink())):
            raise ValueError(f"a file called {name!r}")
        if fault := FileEntry.read(entry).fault(path, contents=contents, links=known.links):
            raise known.error(f"{path} {fault}", hint=known.again)
        found[name] = path
    return found


def plain(name: str) -> str:
    """A name that leads nowhere else."""
    if not isinstance(name, str) or Path(name).name != name or name == ".." or "\0" in name:
        raise ValueError(f"a file called {name!r}")
    return name


# ---- one writer at a time


_patience: ContextVar[float] = ContextVar("patience", default=0.0)


@contextmanager
def patient(seconds: float) -> Iterator[None]:
    """Let whoever wants to write within wait so long for another writer, at least."""
    before = _patience.set(seconds)
    try:
        yield
    finally:
        _patience.reset(before)


@contextmanager
def locked(folder: Path, shown: str = "", *, wait: float = 0.0) -> Iterator[None]:
    """Be the one writer of a folder, or say who is, by a lock of the system that lets go when the process dies.

    Readers never ask. ``shown``: the folder as the user typed it.
    """
    shown = shown or str(folder)
    refuse_links(folder / LOCK, folder / WRITER)
    lock = FileLock(str(folder / LOCK))
    try:
        lock.acquire(timeout=max(wait, _patience.get()), poll_interval=0.02)
    except Timeout as error:
        raise ResourceError(
            f"{shown} is being written by {_holder(folder)}", hint="--wait 60, or later; reading goes on meanwhile"
        ) from error
    except OSError as error:
        raise ResourceError(
            f"cannot write in {shown}: {error.strerror}", hint="a folder that you may write in"
        ) from error
    try:
        with suppress(OSError):  # a courtesy: a full disk is for the work to find out
            (folder / WRITER).write_text(json.dumps({"process": os.getpid(), "machine": socket.gethostname()}))
        yield
    finally:
        with suppress(OSError):
            (folder / WRITER).unlink(missing_ok=True)
        lock.release()


def _holder(folder: Path) -> str:
    try:
        known = json.loads((folder / WRITER).read_text())
        process, machine = int(known["process"]), str(known["machine"])
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
    if machine != socket.gethostname():
        return f"process {process} on {machine}"
    return "this process already" if process == os.getpid() else f"process {process}"
