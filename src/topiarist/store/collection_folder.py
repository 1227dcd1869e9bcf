"""A collection on disk: which generation it is, who may write, and what is swept up.

    mail.topiary/
      manifest.json     which generation is the collection; replacing it is the commit of a whole new one
      lock, writer      the one writer, and who that is
      g-<hex>/          a generation, made by one grow: documents.sqlite, and the parts that its states name; one from
                        which documents were removed stays for undo, and the manifest names it
      growing/          an unfinished grow, which may be taken up again

After its creation a generation changes by transactions of its database only. Killed at any moment, a folder holds the
old state or the new one; what the dead left behind is swept up by the next writer, under the lock.
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from topiarist.errors import DamagedError, ResourceError, TopiaristError, UsageError, in_words, lack
from topiarist.store import edit_log
from topiarist.store.database import VERSION, other_version
from topiarist.store.generation import DATABASE, PARTIAL, Generation, part_folders
from topiarist.store.sealed_folder import (
    DAMAGE,
    LOCK,
    MANIFEST,
    WRITER,
    Format,
    digest,
    locked,
    parse_manifest,
    sync_contents,
    sync_folder,
    write_manifest,
    written,
)
from topiarist.version import __version__

COLLECTION = Format(
    name="topiarist-collection", versions=(VERSION,), what="a collection", hint="topiarist grow ./folder"
)
GENERATION = re.compile(r"g-[0-9a-f]{8,32}")
GROWING = "growing"
COMPLETE = "complete"  # lies in a generation from before it gets its name until the manifest names it

Migration = Callable[[Path, dict[str, Any]], dict[str, Any]]

# From each older format to the next: ``MIGRATIONS[n](folder, body)`` turns a folder of format n into one of format
# n + 1 and returns the new body of its manifest, which is written afterwards. It may be killed and run again, so what
# it does to the database is one transaction that sets ``user_version``, and is left out where that is done already.
MIGRATIONS: dict[int, Migration] = {}


class Folder:
    """A finished collection, open for reading; ``writing`` gives leave to change it."""

    def __init__(self, path: str | os.PathLike[str], known: Manifest) -> None:
        self.shown = os.fspath(path)  # as the user typed it
        self.path = Path(path).absolute()
        self.manifest = known
        self.generation = Generation.open(self.path / known.generation, self.shown)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Folder:
        """Open a collection. One of an older format is brought to this one first, which needs the lock."""
        root, shown = Path(path), os.fspath(path)
        if not (root / MANIFEST).is_file():
            raise _no_collection(root, shown)
        if read_body(root, shown)["version"] < VERSION:
            with locked(root, shown):
                migrate(root.absolute(), shown)
        return cls(path, _known(root, shown))

    def refresh(self) -> bool:
        """Look whether another generation was published meanwhile, and go over to it; whether it was."""
        known = _known(self.path, self.shown)
        if known == self.manifest:
            return False
        self.manifest = known  # the old one closes when the last thread that reads it has let go
        self.generation = Generation.open(self.path / known.generation, self.shown)
        return True

    @property
    def grown_anew(self) -> bool:
        """Whether another generation was published since this one was opened."""
        return _known(self.path, self.shown).generation != self.manifest.generation

    @contextmanager
    def writing(self, *, wait: float = 0.0) -> Iterator[Generation]:
        """The collection as it is now, to write: one writer at a time, after at most ``wait`` seconds."""
        with locked(self.path, self.shown, wait=wait):
            self.refresh()
            sweep(self.path, self.manifest)
            generation = Generation.open(self.path / self.manifest.generation, self.shown, write=True)
            try:
                sweep_parts(generation)
                yield generation
            finally:
                generation.close()

    def at_generation(self, name: str) -> Folder:
        """The folder as it was before documents were removed: a generation that is kept for undo, to be read."""
        if not (self.path / name / DATABASE).is_file():
            raise UsageError(
                f"what {self.shown} was before documents were removed is not kept any more",
                hint="a copy of the folder made before goes back further",
            )
        return Folder(self.shown, Manifest(name, kept=self.manifest.kept))

    def go_to(self, manifest: Manifest) -> None:
        """Make another generation the collection, or keep others: the commit. Only for whoever holds the lock."""
        manifest.write(self.path)
        self.refresh()

    def close(self) -> None:
        """Close the database; the folder may be used again afterwards."""
        self.generation.close()


@dataclass
class Growing:
    """A generation in the making. What is in it stays when the work is interrupted, for ``resume``."""

    path: Path
    shown: str
    generation: Generation
    resumed: bool

    def publish(self) -> Folder:
        """Bring everything to the disk and make it the collection.

        What was the collection before stays for those who are reading it; the next writer removes it.
        """
        folder = self.generation.folder
        self.generation.database.to_wal()
        self.generation.close()
        name = f"g-{uuid.uuid4().hex[:16]}"
        with written(self.shown):
            (folder / COMPLETE).touch()
            sync_contents(folder)
            os.rename(folder, self.path / name)
            sync_folder(self.path)
        with suppress(OSError):  # a folder above that we may not read
            sync_folder(self.path.parent)
        Manifest(name).write(self.path)
        with suppress(OSError):
            (self.path / name / COMPLETE).unlink(missing_ok=True)
        return Folder(self.shown, Manifest(name))

    def discard(self) -> None:
        """Throw it away: there is nothing to take up again."""
        self.generation.close()
        shutil.rmtree(self.generation.folder, ignore_errors=True)


@contextmanager
def begin(
    path: str | os.PathLike[str], *, resume: bool = False, force: bool = False, wait: float = 0.0
) -> Iterator[Growing]:
    """Begin a new generation in a folder, holding its lock; ``publish`` it within the block.

    A collection that is there already goes on being read until then. It is only replaced with ``force``, which also
    throws an unfinished grow away; with ``resume`` that one is taken up.
    """
    root, shown = Path(path).absolute(), os.fspath(path)
    _check_place(root, shown, force=force)
    made = not root.exists()
    with written(shown):
        root.mkdir(parents=True, exist_ok=True)
    with locked(root, shown, wait=wait):
        try:
            _check_place(root, shown, force=force)  # somebody may have been faster
            _sweep_before(root, shown, force=force)
            growing = _workspace(root, shown, resume=resume, force=force)
            try:
                yield growing
            finally:
                growing.generation.close()
                _sweep_empty(root / GROWING)
        finally:
            if made:
                _sweep_new(root)


def _check_place(root: Path, shown: str, *, force: bool) -> None:
    if root.exists() and not root.is_dir():
        raise UsageError(f"{shown} is a file, not a folder for a collection", hint="another name with -o")
    if (root / MANIFEST).is_file() and not (force or _unfinished(root)):
        raise _there_already(shown)
    if root.is_dir() and not is_collection(root) and any(path.name not in (LOCK, WRITER) for path in root.iterdir()):
        raise UsageError(f"{shown} is a folder with other files, not a collection", hint="another name with -o")


def _workspace(root: Path, shown: str, *, resume: bool, force: bool) -> Growing:
    """The unfinished grow that is there, or a new one."""
    folder = root / GROWING
    if folder.is_dir() and not (resume or force):
        raise unfinished(shown)
    if resume and folder.is_dir():
        generation = Generation.open(folder, shown, write=True)
        try:
            sweep_parts(generation)
            (folder / COMPLETE).unlink(missing_ok=True)
            return Growing(root, shown, generation, resumed=True)
        except (DamagedError, ResourceError):  # killed before its tables were there: nothing to take up
            generation.close()
            if (folder / DATABASE).is_file() and (folder / DATABASE).stat().st_size:
                raise
    shutil.rmtree(folder, ignore_errors=True)
    with written(f"{shown}/{GROWING}"):
        folder.mkdir()
    try:
        return Growing(root, shown, Generation.create(folder, shown), resumed=False)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def is_collection(root: Path) -> bool:
    """Whether a folder is one of ours: finished, unfinished or damaged."""
    return (root / MANIFEST).exists() or (root / GROWING).is_dir() or bool(generations(root))


def _unfinished(root: Path) -> bool:
    """Whether there is a grow to resume; one that was killed at the very end bears its name already."""
    if (root / GROWING).is_dir():
        return True
    found = [path for path in generations(root) if (path / COMPLETE).is_file()]
    with suppress(DamagedError, OSError):
        found = [path for path in found if path.name != Manifest.read(root, "").generation]
    return bool(found)


def _sweep_before(root: Path, shown: str, *, force: bool) -> None:
    """Remove what nobody refers to; nothing at all where a damaged manifest does not say what that is."""
    try:
        sweep(root, _known(root, shown) if (root / MANIFEST).is_file() else None)
    except DamagedError:
        if not force:
            raise


def _sweep_empty(folder: Path) -> None:
    """An unfinished grow without a single document is nothing to resume."""
    if not folder.is_dir():
        return
    generation = Generation.open(folder, str(folder))
    try:
        empty = generation.database.one("SELECT 1 FROM documents LIMIT 1") is None
    except TopiaristError:
        empty = False
    finally:
        generation.close()
    if empty:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep_new(root: Path) -> None:
    """Leave no folder behind that holds nothing but a lock."""
    if root.is_dir() and all(path.name in (LOCK, WRITER) for path in root.iterdir()):
        shutil.rmtree(root, ignore_errors=True)


def _known(root: Path, shown: str) -> Manifest:
    known = Manifest.read(root, shown)
    if any(path.is_symlink() for path in (root / MANIFEST, root / known.generation)):
        raise damaged(shown, f"{MANIFEST} or {known.generation} is a link to somewhere else")
    if not (root / known.generation / DATABASE).is_file():
        raise damaged(shown, f"{known.generation}/{DATABASE} is missing")
    return known


def _no_collection(root: Path, shown: str) -> TopiaristError:
    if _unfinished(root):
        return unfinished(shown)
    if generations(root):
        return damaged(shown, f"{MANIFEST} is missing")
    beside = Path(f"{str(shown).rstrip('/')}.topiary")
    if beside.is_dir():
        return UsageError(f"there is no collection at {shown}, but there is {beside}", hint=str(beside))
    return UsageError(f"there is no collection at {shown}", hint="topiarist grow ./folder")


def unfinished(shown: str) -> UsageError:
    """A grow was interrupted here."""
    return UsageError(
        f"an unfinished grow lies at {shown}", hint="the same command with --resume, or --force to begin anew"
    )


def _there_already(shown: str) -> UsageError:
    return UsageError(
        f"there is a collection at {shown} already", hint="--force to grow it anew, or another folder with -o"
    )


# ---- the manifest: replacing it commits a new generation


@dataclass(frozen=True)
class Manifest:
    """Which generation is the collection, and who wrote it; ``kept`` are those that undo may come back to."""

    generation: str
    topiarist: str = __version__
    kept: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """The generations that must stay."""
        return (self.generation, *self.kept)

    def write(self, folder: Path) -> None:
        """Replace the manifest: before, the old collection is there; afterwards, this one."""
        body = asdict(self) if self.kept else {"generation": self.generation, "topiarist": self.topiarist}
        write_manifest(folder, COLLECTION, body)

    @classmethod
    def read(cls, folder: Path, shown: str) -> Manifest:
        """The manifest of a folder of this format."""
        body = read_body(folder, shown)
        if body["version"] != VERSION:
            raise other_version(shown, body["version"], str(body.get("topiarist", "")))
        generation = str(body.get("generation"))
        if not GENERATION.fullmatch(generation):
            raise damaged(shown, f"{MANIFEST} names no generation")
        kept = body.get("kept", [])
        if not isinstance(kept, list) or not all(isinstance(one, str) and GENERATION.fullmatch(one) for one in kept):
            raise damaged(shown, f"{MANIFEST} names something that is no generation")
        return cls(generation, str(body.get("topiarist", "")), tuple(kept))


def read_body(folder: Path, shown: str) -> dict[str, Any]:
    """The body of a manifest of this format or of an older one; a newer one and a damaged one are errors."""
    try:
        body, claimed = parse_manifest(folder / MANIFEST)
    except (OSError, *DAMAGE) as error:
        if missing := lack(error, f"{shown}/{MANIFEST}"):
            raise missing from error
        if not folder.is_dir():
            raise ResourceError(f"there is no collection at {shown} any more", hint="its new place") from error
        raise damaged(shown, f"{MANIFEST} cannot be read ({in_words(error)})") from error
    version = body.get("version")
    if body.get("format") != COLLECTION.name or not isinstance(version, int):
        raise damaged(shown, f"{MANIFEST} is not that of a collection")
    if version > VERSION:  # before anything else: a newer one may be made otherwise
        raise other_version(shown, version, str(body.get("topiarist", "")))
    if claimed is None and version == VERSION:
        raise damaged(shown, f"{MANIFEST} has no checksum")
    if claimed not in (None, digest(body)):
        raise damaged(shown, f"{MANIFEST} does not match its own checksum")
    return body


def migrate(folder: Path, shown: str) -> None:
    """Bring an older folder to this format, step by step. Only for whoever holds the lock."""
    while (body := read_body(folder, shown))["version"] < VERSION:
        version = body["version"]
        step = MIGRATIONS.get(version)
        if step is None:
            raise other_version(shown, version, str(body.get("topiarist", "")))
        write_manifest(folder, COLLECTION, step(folder, body), version=version + 1)


def damaged(shown: str, what: str) -> DamagedError:
    """Something is not as it was written."""
    return DamagedError(f"{shown} is damaged: {what}", hint=f"topiarist check {shown}")


# ---- what nobody refers to, which the next writer removes


def leftovers(root: Path, known: Manifest | None) -> list[Path]:
    """What lies in a collection's folder that nobody refers to: old generations, and halves of manifests."""
    named = () if known is None else known.named
    old = [path for path in generations(root) if path.name not in named]
    return [*old, *sorted(root.glob(f"{MANIFEST}.*"))]


def part_leftovers(generation: Generation) -> list[Path]:
    """What lies in a generation's folder that nobody refers to: parts that no state names, and halves of them."""
    kept = edit_log.parts(generation.database)
    halves = sorted(path for path in generation.folder.iterdir() if PARTIAL.fullmatch(path.name))
    return [*(generation.folder / name for name in part_folders(generation.folder) if name not in kept), *halves]


def sweep(root: Path, known: Manifest | None) -> None:
    """Remove what nobody refers to, under the lock. A complete generation without a manifest is a grow to resume."""
    if known is not None:
        (root / known.generation / COMPLETE).unlink(missing_ok=True)
    for path in leftovers(root, known):
        if (path / COMPLETE).is_file() and not (root / GROWING).exists():
            os.rename(path, root / GROWING)
        else:
            _remove(path)


def sweep_parts(generation: Generation) -> None:
    """Remove what nobody in a generation refers to, under the lock."""
    for path in part_leftovers(generation):
        _remove(path)


def generations(root: Path) -> list[Path]:
    """The generations that lie in a folder, whichever of them is the collection."""
    if not root.is_dir():
        return []
    return sorted(
        path for path in root.iterdir() if GENERATION.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
    )


def _remove(path: Path) -> None:
    """Remove what can be removed: a file that somebody has open, on some systems, stays until the next time."""
    if path.is_dir() and not path.is_symlink():
        with suppress(OSError):
            (path / COMPLETE).unlink(missing_ok=True)
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)
