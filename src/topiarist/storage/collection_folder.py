"""Folder of a collection: its generation, its writer and its cleanup.

    mail.topiary/
      manifest.json     names the generation of the collection; replacing it commits a new generation
      lock, writer      the lock of the writer, and its process
      g-<hex>/          a generation, written by one grow: documents.sqlite, and the parts that its states name; after a
                        removal, the generation before it stays for undo, and the manifest names it
      growing/          an unfinished grow, which can be resumed

A generation changes only by transactions of its database. After a kill at any moment, a folder holds the old state or
the new one. The next writer removes leftovers under the lock.
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from topiarist.errors import (
    DamagedError,
    ResourceError,
    TopiaristError,
    UsageError,
    create_damaged_error,
    describe_error,
    to_limit_error,
)
from topiarist.storage import edit_log
from topiarist.storage.database import VERSION, create_version_error
from topiarist.storage.generation import DATABASE, PARTIAL, Generation, part_folders
from topiarist.storage.sealed_folder import (
    DAMAGE,
    LOCK,
    MANIFEST,
    WRITER,
    Format,
    digest,
    lock_folder,
    parse_manifest,
    sync_contents,
    sync_folder,
    translate_write_errors,
    write_manifest,
)
from topiarist.version import __version__

COLLECTION = Format(
    name="topiarist-collection", version=VERSION, label="a collection", hint="Run topiarist grow ./folder to make one."
)
GENERATION = re.compile(r"g-[0-9a-f]{8,32}")
GROWING = "growing"
COMPLETE = "complete"  # marks a finished generation until the manifest names it


class Folder:
    """Finished collection, open for reading; ``writing`` opens it for changes."""

    def __init__(self, path: str | os.PathLike[str], manifest: Manifest) -> None:
        self.display_path = os.fspath(path)  # path as the user typed it
        self.path = Path(path).absolute()
        self.manifest = manifest
        self.generation = Generation.open(self.path / manifest.generation, self.display_path)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Folder:
        root, display_path = Path(path), os.fspath(path)
        if not (root / MANIFEST).is_file():
            raise _create_missing_error(root, display_path)
        return cls(path, _read_manifest(root, display_path))

    def refresh(self) -> bool:
        """Open the newest generation if another process has published one; return whether it has."""
        manifest = _read_manifest(self.path, self.display_path)
        if manifest == self.manifest:
            return False
        self.manifest = manifest  # the old database closes with the last thread that reads it
        self.generation = Generation.open(self.path / manifest.generation, self.display_path)
        return True

    @property
    def was_replaced(self) -> bool:
        """Whether a newer generation was published."""
        return _read_manifest(self.path, self.display_path).generation != self.manifest.generation

    @contextmanager
    def writing(self, *, wait: float = 0.0) -> Iterator[Generation]:
        """Open the current collection for one writer, after at most ``wait`` seconds."""
        with lock_folder(self.path, self.display_path, wait=wait):
            self.refresh()
            sweep(self.path, self.manifest)
            generation = Generation.open(self.path / self.manifest.generation, self.display_path, write=True)
            try:
                sweep_parts(generation)
                yield generation
            finally:
                generation.close()

    def at_generation(self, name: str) -> Folder:
        """Return the folder before a removal, from a kept generation. Raise UsageError if it is missing."""
        if not (self.path / name / DATABASE).is_file():
            raise UsageError(
                f"{self.display_path} does not have the state before the removal",
                hint="Use a copy of the folder from that time.",
            )
        return Folder(self.display_path, Manifest(name, kept=self.manifest.kept))

    def go_to(self, manifest: Manifest) -> None:
        """Commit a manifest and open its generation. The caller must hold the lock."""
        manifest.write(self.path)
        self.refresh()

    def close(self) -> None:
        """Close the database; the folder can be used again afterwards."""
        self.generation.close()


@dataclass
class Growing:
    """Unfinished generation. Its files stay after an interruption, for ``resume``."""

    path: Path
    display_path: str
    generation: Generation
    resumed: bool

    def publish(self) -> Folder:
        """Write all files to disk and make the generation the collection.

        Readers keep the previous generation; the next writer removes it.
        """
        folder = self.generation.folder
        self.generation.database.use_wal()
        self.generation.close()
        name = f"g-{uuid.uuid4().hex[:16]}"
        with translate_write_errors(self.display_path):
            (folder / COMPLETE).touch()
            sync_contents(folder)
            os.rename(folder, self.path / name)
            sync_folder(self.path)
        with suppress(OSError):  # the parent folder is not readable
            sync_folder(self.path.parent)
        Manifest(name).write(self.path)
        with suppress(OSError):
            (self.path / name / COMPLETE).unlink(missing_ok=True)
        return Folder(self.display_path, Manifest(name))

    def discard(self) -> None:
        self.generation.close()
        shutil.rmtree(self.generation.folder, ignore_errors=True)


@contextmanager
def begin_generation(
    path: str | os.PathLike[str], *, resume: bool = False, force: bool = False, wait: float = 0.0
) -> Iterator[Growing]:
    """Start a new generation in a folder and hold its lock; ``publish`` it within the block.

    An existing collection stays readable until then. ``force`` replaces it and deletes an unfinished grow; ``resume``
    continues the unfinished grow.
    """
    root, display_path = Path(path).absolute(), os.fspath(path)
    _check_place(root, display_path, force=force)
    is_new = not root.exists()
    with translate_write_errors(display_path):
        root.mkdir(parents=True, exist_ok=True)
    with lock_folder(root, display_path, wait=wait):
        try:
            _check_place(root, display_path, force=force)  # another process can have created it
            _sweep_before(root, display_path, force=force)
            growing = _open_workspace(root, display_path, resume=resume, force=force)
            try:
                yield growing
            finally:
                growing.generation.close()
                _sweep_empty(root / GROWING)
        finally:
            if is_new:
                _sweep_new(root)


def _check_place(root: Path, display_path: str, *, force: bool) -> None:
    """Raise UsageError if a new collection cannot be written to a path."""
    if root.exists() and not root.is_dir():
        raise UsageError(f"{display_path} is a file, not a folder for a collection", hint="Choose another name.")
    if (root / MANIFEST).is_file() and not (force or _is_unfinished(root)):
        raise _create_existing_error(display_path)
    if root.is_dir() and not is_collection(root) and any(path.name not in (LOCK, WRITER) for path in root.iterdir()):
        raise UsageError(f"{display_path} is a folder with other files, not a collection", hint="Choose another name.")


def _open_workspace(root: Path, display_path: str, *, resume: bool, force: bool) -> Growing:
    """Resume the unfinished grow of a folder, or replace it with ``force``; else create a workspace."""
    folder = root / GROWING
    if folder.is_dir() and not (resume or force):
        raise create_unfinished_error(display_path)
    if resume and folder.is_dir():
        generation = Generation.open(folder, display_path, write=True)
        try:
            sweep_parts(generation)
            (folder / COMPLETE).unlink(missing_ok=True)
            return Growing(root, display_path, generation, resumed=True)
        except (DamagedError, ResourceError):  # killed before its tables existed: nothing to resume
            generation.close()
            if (folder / DATABASE).is_file() and (folder / DATABASE).stat().st_size:
                raise
    shutil.rmtree(folder, ignore_errors=True)
    with translate_write_errors(f"{display_path}/{GROWING}"):
        folder.mkdir()
    try:
        return Growing(root, display_path, Generation.create(folder, display_path), resumed=False)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def is_collection(root: Path) -> bool:
    """Return whether a folder is a collection: finished, unfinished or damaged."""
    return (root / MANIFEST).exists() or (root / GROWING).is_dir() or bool(list_generations(root))


def _is_unfinished(root: Path) -> bool:
    """Return whether a grow can be resumed, also if it was killed after its final renaming."""
    if (root / GROWING).is_dir():
        return True
    candidates = [path for path in list_generations(root) if (path / COMPLETE).is_file()]
    with suppress(DamagedError, OSError):
        candidates = [path for path in candidates if path.name != Manifest.read(root, "").generation]
    return bool(candidates)


def _sweep_before(root: Path, display_path: str, *, force: bool) -> None:
    """Remove leftovers; none if a damaged manifest does not name them."""
    try:
        sweep(root, _read_manifest(root, display_path) if (root / MANIFEST).is_file() else None)
    except DamagedError:
        if not force:
            raise


def _sweep_empty(folder: Path) -> None:
    """Delete an unfinished grow without documents: there is nothing to resume."""
    if not folder.is_dir():
        return
    generation = Generation.open(folder, str(folder))
    try:
        empty = generation.database.fetch_one("SELECT 1 FROM documents LIMIT 1") is None
    except TopiaristError:
        empty = False
    finally:
        generation.close()
    if empty:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep_new(root: Path) -> None:
    """Delete a new folder that holds only a lock."""
    if root.is_dir() and all(path.name in (LOCK, WRITER) for path in root.iterdir()):
        shutil.rmtree(root, ignore_errors=True)


def _read_manifest(root: Path, display_path: str) -> Manifest:
    """Read the manifest; raise an error if its generation is a link or has no database."""
    manifest = Manifest.read(root, display_path)
    if any(path.is_symlink() for path in (root / MANIFEST, root / manifest.generation)):
        raise create_damaged_error(display_path, f"{MANIFEST} or {manifest.generation} is a link to somewhere else")
    if not (root / manifest.generation / DATABASE).is_file():
        raise create_damaged_error(display_path, f"{manifest.generation}/{DATABASE} is missing")
    return manifest


def _create_missing_error(root: Path, display_path: str) -> TopiaristError:
    """Create the error for a folder without a manifest: unfinished, damaged or no collection."""
    if _is_unfinished(root):
        return create_unfinished_error(display_path)
    if list_generations(root):
        return create_damaged_error(display_path, f"{MANIFEST} is missing")
    sibling = Path(f"{str(display_path).rstrip('/')}.topiary")
    if sibling.is_dir():
        return UsageError(f"there is no collection at {display_path}, but there is {sibling}", hint=f"Use {sibling}.")
    return UsageError(f"there is no collection at {display_path}", hint="Run topiarist grow ./folder to make one.")


def create_unfinished_error(display_path: str) -> UsageError:
    return UsageError(
        f"there is an unfinished grow at {display_path}",
        hint="Run the same command with --resume, or with --force to start again.",
    )


def _create_existing_error(display_path: str) -> UsageError:
    return UsageError(
        f"there is a collection at {display_path} already",
        hint="Pass --force (in Python force=True) to replace it, or another folder with -o.",
    )


# ---- the manifest: replacing it commits a new generation


@dataclass(frozen=True)
class Manifest:
    """Generation of the collection, and the version that wrote it; ``kept`` are generations for undo."""

    generation: str
    topiarist: str = __version__
    kept: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """Generations that must stay."""
        return (self.generation, *self.kept)

    def write(self, folder: Path) -> None:
        """Replace the manifest, which commits its generation."""
        body = asdict(self) if self.kept else {"generation": self.generation, "topiarist": self.topiarist}
        write_manifest(folder, COLLECTION, body)

    @classmethod
    def read(cls, folder: Path, display_path: str) -> Manifest:
        """Return the manifest of a folder of this format. Raise DamagedError if it is invalid."""
        body = _read_body(folder, display_path)
        generation = str(body.get("generation"))
        if not GENERATION.fullmatch(generation):
            raise create_damaged_error(display_path, f"{MANIFEST} names no generation")
        kept_names = body.get("kept", [])
        if not isinstance(kept_names, list) or not all(
            isinstance(name, str) and GENERATION.fullmatch(name) for name in kept_names
        ):
            raise create_damaged_error(display_path, f"{MANIFEST} names an invalid generation")
        return cls(generation, str(body.get("topiarist", "")), tuple(kept_names))


def _read_body(folder: Path, display_path: str) -> dict[str, Any]:
    """Return the body of a manifest of this format. Another format and a damaged manifest are errors."""
    try:
        body, checksum = parse_manifest(folder / MANIFEST)
    except (OSError, *DAMAGE) as error:
        if limit_error := to_limit_error(error, f"{display_path}/{MANIFEST}"):
            raise limit_error from error
        if not folder.is_dir():
            raise ResourceError(
                f"the collection at {display_path} was moved or deleted", hint="Pass its new path."
            ) from error
        raise create_damaged_error(display_path, f"{MANIFEST} cannot be read ({describe_error(error)})") from error
    version = body.get("version")
    if body.get("format") != COLLECTION.name or not isinstance(version, int):
        raise create_damaged_error(display_path, f"{MANIFEST} is not the manifest of a collection")
    if version != VERSION:  # before the checksum: another format can compute it differently
        raise create_version_error(display_path, version, str(body.get("topiarist", "")))
    if checksum is None:
        raise create_damaged_error(display_path, f"{MANIFEST} has no checksum")
    if checksum != digest(body):
        raise create_damaged_error(display_path, f"{MANIFEST} does not match its own checksum")
    return body


# ---- leftovers, which the next writer removes


def list_leftovers(root: Path, manifest: Manifest | None) -> list[Path]:
    """Return unreferenced files of a collection's folder: old generations and partial manifests."""
    named = () if manifest is None else manifest.named
    old = [path for path in list_generations(root) if path.name not in named]
    return [*old, *sorted(root.glob(f"{MANIFEST}.*"))]


def list_part_leftovers(generation: Generation) -> list[Path]:
    """Return unreferenced files of a generation's folder: parts that no state names, and partial parts."""
    referenced_parts = edit_log.parts(generation.database)
    halves = sorted(path for path in generation.folder.iterdir() if PARTIAL.fullmatch(path.name))
    return [
        *(generation.folder / name for name in part_folders(generation.folder) if name not in referenced_parts),
        *halves,
    ]


def sweep(root: Path, manifest: Manifest | None) -> None:
    """Remove leftovers, under the lock. A complete generation without a manifest is a grow to resume."""
    if manifest is not None:
        (root / manifest.generation / COMPLETE).unlink(missing_ok=True)
    for path in list_leftovers(root, manifest):
        if (path / COMPLETE).is_file() and not (root / GROWING).exists():
            os.rename(path, root / GROWING)
        else:
            _remove(path)


def sweep_parts(generation: Generation) -> None:
    """Remove the leftovers of a generation, under the lock."""
    for path in list_part_leftovers(generation):
        _remove(path)


def list_generations(root: Path) -> list[Path]:
    """Return the sorted folders of generations below a collection folder, without links."""
    if not root.is_dir():
        return []
    return sorted(
        path for path in root.iterdir() if GENERATION.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
    )


def _remove(path: Path) -> None:
    """Remove a path if possible: on some systems an open file stays until the next sweep."""
    if path.is_dir() and not path.is_symlink():
        with suppress(OSError):
            (path / COMPLETE).unlink(missing_ok=True)
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)
