"""What lies in a collection's folder that nobody refers to; the next writer removes it, under the lock."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from topiarist.store import collection_manifest, edit_log
from topiarist.store.collection_manifest import GENERATION
from topiarist.store.generation import Generation
from topiarist.store.parts import PARTIAL, part_folders

GROWING = "growing"
COMPLETE = "complete"  # lies in a generation from before it gets its name until the manifest names it


def leftovers(root: Path, current: str | None) -> list[Path]:
    """What lies in a collection's folder that nobody refers to: old generations, and halves of manifests."""
    old = [path for path in generations(root) if path.name != current]
    return [*old, *sorted(root.glob(f"{collection_manifest.NAME}.*"))]


def part_leftovers(generation: Generation) -> list[Path]:
    """What lies in a generation's folder that nobody refers to: parts that no state names, and halves of them."""
    kept = edit_log.parts(generation.database)
    halves = sorted(path for path in generation.folder.iterdir() if PARTIAL.fullmatch(path.name))
    return [*(generation.folder / name for name in part_folders(generation.folder) if name not in kept), *halves]


def sweep(root: Path, current: str | None) -> None:
    """Remove what nobody refers to, under the lock. A complete generation without a manifest is a grow to resume."""
    if current is not None:
        (root / current / COMPLETE).unlink(missing_ok=True)
    for path in leftovers(root, current):
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
    return sorted(path for path in root.iterdir() if GENERATION.fullmatch(path.name) and path.is_dir())


def _remove(path: Path) -> None:
    """Remove what can be removed: a file that somebody has open, on some systems, stays until the next time."""
    if path.is_dir() and not path.is_symlink():
        with suppress(OSError):
            (path / COMPLETE).unlink(missing_ok=True)
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)
