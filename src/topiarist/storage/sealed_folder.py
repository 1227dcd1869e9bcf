"""Folders with a manifest and checksums: written under a temporary name, renamed, checked when they are read.

Blocks of counts, models, the parts of a collection, its search index and the collection itself use this format. The
manifest is a JSON file with the name and version of the format, the list of required files and its own checksum. It is
written last: after a kill at any moment, the folder is in its old or in its new state.
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

from topiarist.errors import DamagedError, InputError, ResourceError, TopiaristError, UsageError, to_limit_error

MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 256 << 20  # bytes; a list of a million files has half as many
LOCK, WRITER = "lock", "writer"  # the lock, and its holder while it is held
# errors of reading invalid values; call ``errors.to_limit_error`` first, which recognises system limits
DAMAGE = (ValueError, TypeError, KeyError, AttributeError, IndexError, ArithmeticError, RecursionError, MemoryError)


# ---- files and folders that are complete, or not there


@contextmanager
def new_file(path: str | Path, *, sync: bool = False) -> Iterator[BinaryIO]:
    """Yield a file to write under a temporary name, which is renamed when it is complete."""
    partial = f"{path}.{uuid.uuid4().hex}"
    with translate_write_errors(path):
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
    """Write plain data to a file, complete or not at all."""
    with new_file(path) as file:
        file.write(json.dumps(content, ensure_ascii=False, **layout).encode())


@contextmanager
def translate_write_errors(path: str | Path) -> Iterator[None]:
    """Translate errors of writing within the block."""
    try:
        yield
    except OSError as error:
        raise ResourceError(
            f"cannot write {path}: {error}", hint="Choose another folder, or free some disk space."
        ) from error


def new_folder(path: str | Path) -> Path:
    """Create a folder with the default permissions of the user."""
    with translate_write_errors(path):
        Path(path).mkdir()
    return Path(path)


@contextmanager
def replace_folder(folder: Path, *, allow_existing: bool = False) -> Iterator[Path]:
    """Yield a folder to fill, which is renamed when it is complete and on disk; after an error it is deleted.

    An existing target is an error, unless ``allow_existing``, if another process wrote the same content.
    """
    partial = new_folder(folder.with_name(f".{folder.name}-{uuid.uuid4().hex}"))
    try:
        yield partial
        with translate_write_errors(folder):
            sync_folder(partial)
            with suppress(OSError):
                folder.rmdir()  # an empty one
            try:
                os.rename(partial, folder)
            except OSError as error:
                if not folder.exists():
                    raise
                if not allow_existing:
                    raise _create_taken_error(folder) from error
                shutil.rmtree(partial, ignore_errors=True)
            with suppress(PermissionError):  # a folder above that we may not read
                sync_folder(folder.parent)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def prepare_target(folder: str | Path) -> Path:
    """Return the absolute path of a folder to write and create its parent; a folder with files is an error."""
    folder = Path(folder).resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise _create_taken_error(folder)
    with translate_write_errors(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def new_sealed_folder(folder: str | Path) -> Iterator[Path]:
    """Yield a folder to fill that replaces ``folder`` at the end of the block; a folder with files is an error."""
    with replace_folder(prepare_target(folder)) as partial:
        yield partial


def _create_taken_error(folder: Path) -> UsageError:
    return UsageError(f"{folder} exists already", hint="Choose a new folder, or remove that one.")


def sync_folder(path: str | Path) -> None:
    """Wait until the names in a folder are on disk, if the system supports it."""
    if os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):  # file systems without fsync of folders
            raise
    finally:
        os.close(handle)


def sync_contents(path: Path) -> list[Path]:
    """Wait until a file, or a folder with all its contents, is on disk; return the files."""
    paths = [*sorted(path.rglob("*")), path] if path.is_dir() else [path]
    files = [entry for entry in paths if not entry.is_dir()]
    for entry in files:
        with entry.open("rb" if os.name == "posix" else "rb+") as file:
            os.fsync(file.fileno())
    for entry in paths:
        if entry.is_dir():
            sync_folder(entry)
    return files


# ---- seals


@dataclass(frozen=True)
class FileEntry:
    """Size and checksum of a file."""

    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> FileEntry:
        with path.open("rb") as file:
            return cls(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> FileEntry:
        return cls(int(entry["bytes"]), str(entry["sha256"]))

    def fault(self, path: Path, *, contents: bool, links: bool = False) -> str:
        """Return the fault of a file: missing, of another size or, with ``contents``, changed; else an empty string.

        Only regular files are opened, because others can be endless. ``links``: follow links.
        """
        try:
            status = path.stat() if links else path.lstat()
            if not stat.S_ISREG(status.st_mode):
                return "is a link, or no plain file"
            size = status.st_size
            has_changed = contents and size == self.bytes and FileEntry.of(path) != self
        except OSError as error:
            if limit_error := to_limit_error(error, str(path)):
                raise limit_error from error
            return f"cannot be read: {error.strerror}"
        if size != self.bytes:
            return f"has {size:,} bytes, {self.bytes:,} were written"
        return "has changed since it was written: its checksum differs" if has_changed else ""


@dataclass(frozen=True, kw_only=True)
class Format:
    """Folder format: its name in the manifest, its version, and its texts for users."""

    name: str
    version: int
    label: str
    hint: str  # for a folder without a manifest
    remedy: str = "Write the store again."
    manifest: str = MANIFEST
    absent: type[TopiaristError] = InputError  # error without a manifest
    error: type[TopiaristError] = InputError  # error of an invalid manifest
    damage: str = "is damaged"
    links: bool = True  # follow links to its files
    layout: Mapping[str, Any] = field(default_factory=lambda: {"indent": 1})  # of the manifest's JSON

    def create_damaged_error(self, path: Path, error: BaseException | str) -> TopiaristError:
        """Return the error for a file with invalid content, or of a system limit."""
        if isinstance(error, BaseException) and (limit_error := to_limit_error(error, str(path))) is not None:
            return limit_error
        reason = (
            "it is nested too deeply" if isinstance(error, RecursionError) else getattr(error, "message", str(error))
        )
        reason = f"there is no {reason}" if isinstance(error, KeyError) else reason
        return self.error(f"{path} {self.damage}: {reason}", hint=self.remedy)


def seal_files(folder: Path, subfolder: str = "") -> dict[str, dict[str, Any]]:
    """Sync the files of a folder, or of its ``subfolder``, to disk; return size and checksum by name."""
    return {path.relative_to(folder).as_posix(): vars(FileEntry.of(path)) for path in sync_contents(folder / subfolder)}


def write_manifest(folder: Path, format: Format, body: Mapping[str, Any]) -> str:
    """Write the manifest of a folder with its own checksum, and return the checksum."""
    head = {"format": format.name, "version": format.version}
    content = head | dict(body) | head
    checksum = digest(content)
    with new_file(folder / format.manifest, sync=True) as file:
        file.write(f"{json.dumps({**content, 'sha256': checksum}, **format.layout)}\n".encode())
    with translate_write_errors(folder / format.manifest):
        sync_folder(folder)
    return checksum


def read_manifest(folder: Path, format: Format) -> tuple[dict[str, Any], str]:
    """Return the content of the manifest of a folder, and its checksum."""
    path = folder / format.manifest
    try:
        body, checksum = parse_manifest(path, strict=not format.layout.get("allow_nan", True))
    except OSError as error:
        if missing := to_limit_error(error, str(path)):
            raise missing from error
        reason = f"{folder} is not {format.label}: {path.name} cannot be read ({error.strerror})"
        raise format.absent(reason, hint=format.hint) from error
    except DAMAGE as error:
        raise format.create_damaged_error(path, error) from error
    name, version = body.get("format"), body.get("version")
    if name != format.name:
        raise format.error(f"{path} is not a manifest of {format.label}: format {name!r:.60}", hint=format.hint)
    if version != format.version:
        raise format.error(
            f"{folder} has version {version!r:.60} of the format, this topiarist reads {format.version}",
            hint="Use the version of topiarist that wrote it, or a newer one.",
        )
    if checksum != digest(body):
        raise format.create_damaged_error(path, "it does not match its own checksum")
    return body, str(checksum)


def parse_manifest(path: Path, *, strict: bool = False) -> tuple[dict[str, Any], Any]:
    """Return the unverified JSON of a manifest and its checksum; OSError or one of ``DAMAGE`` if it is invalid."""
    body = {**json.loads(read_plain_file(path), parse_constant=_refuse_constant if strict else None)}
    return body, body.pop("sha256", None)


def read_plain_file(path: Path, *, links: bool = True, max_bytes: int = MAX_MANIFEST_BYTES) -> bytes:
    """Return the bytes of a regular file of limited size; ``links``: follow links."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    if not links and path.is_symlink():
        raise ValueError("it is a link")
    with os.fdopen(os.open(path, flags | (0 if links else getattr(os, "O_NOFOLLOW", 0))), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > max_bytes:
            raise ValueError("it is not a plain file, or longer than any that topiarist writes")
        return file.read(max_bytes)


def refuse_links(*paths: Path) -> None:
    """Raise an error if a file to write is a link: a folder from someone else could overwrite other files."""
    for path in paths:
        if path.is_symlink():
            raise DamagedError(f"{path} is a link: writing to it would change another file", hint=f"Remove {path}.")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def digest(body: Mapping[str, Any]) -> str:
    """Return the checksum of plain JSON data."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def check_files(folder: Path, files: Mapping[str, Any], format: Format, *, contents: bool) -> dict[str, Path]:
    """Return the files of a manifest, in this folder, with their sizes and, if requested, contents checked."""
    paths = {}
    for name, entry in files.items():
        parts = name.split("/")
        path = folder.joinpath(*map(check_file_name, parts))
        if len(parts) > 2 or (not format.links and (path.is_symlink() or path.parent.is_symlink())):
            raise ValueError(f"a file called {name!r}")
        if fault := FileEntry.read(entry).fault(path, contents=contents, links=format.links):
            raise format.error(f"{path} {fault}", hint=format.remedy)
        paths[name] = path
    return paths


def check_file_name(name: str) -> str:
    """Return a name without folders; ValueError for any other name."""
    if not isinstance(name, str) or Path(name).name != name or name == ".." or "\0" in name:
        raise ValueError(f"a file called {name!r}")
    return name


# ---- one writer at a time


_patience: ContextVar[float] = ContextVar("patience", default=0.0)


@contextmanager
def set_patience(seconds: float) -> Iterator[None]:
    """Wait at least these seconds for another writer within the block."""
    previous = _patience.set(seconds)
    try:
        yield
    finally:
        _patience.reset(previous)


@contextmanager
def lock_folder(folder: Path, display_path: str = "", *, wait: float = 0.0) -> Iterator[None]:
    """Hold the lock of a folder, or raise an error that names its holder. The lock of a dead process is released.

    Readers need no lock. ``display_path``: the path as the user typed it.
    """
    display_path = display_path or str(folder)
    refuse_links(folder / LOCK, folder / WRITER)
    lock = FileLock(str(folder / LOCK))
    try:
        lock.acquire(timeout=max(wait, _patience.get()), poll_interval=0.02)
    except Timeout as error:
        raise ResourceError(
            f"{display_path} is being written by {_describe_holder(folder)}",
            hint="Try again later, or set TOPIARIST_WAIT=60. Reading is possible meanwhile.",
        ) from error
    except OSError as error:
        raise ResourceError(
            f"cannot write in {display_path}: {error.strerror}", hint="Choose a folder that you may write in."
        ) from error
    try:
        with suppress(OSError):  # optional: a full disk is reported by the work itself
            (folder / WRITER).write_text(json.dumps({"process": os.getpid(), "machine": socket.gethostname()}))
        yield
    finally:
        with suppress(OSError):
            (folder / WRITER).unlink(missing_ok=True)
        lock.release()


def _describe_holder(folder: Path) -> str:
    """Return which process holds the lock of a folder, for a message."""
    try:
        holder = json.loads((folder / WRITER).read_text())
        process, machine = int(holder["process"]), str(holder["machine"])
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
    if machine != socket.gethostname():
        return f"process {process} on {machine}"
    return "this process already" if process == os.getpid() else f"process {process}"
