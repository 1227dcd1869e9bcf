"""The manifest: one small file that says which generation is the collection; replacing it commits a new one."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from topiarist.errors import DamagedError, ResourceError
from topiarist.store.array_files import new_file, sync_folder, written
from topiarist.store.database import other_version
from topiarist.store.schema import VERSION
from topiarist.version import __version__

NAME = "manifest.json"
FORMAT = "topiarist-collection"
GENERATION = re.compile(r"g-[0-9a-f]{8,32}")

Migration = Callable[[Path, dict[str, Any]], dict[str, Any]]

# From each older format to the next: ``MIGRATIONS[n](folder, body)`` turns a folder of format n into one of format
# n + 1 and returns the new body of its manifest, which is written afterwards. It may be killed and run again, so what
# it does to the database is one transaction that sets ``user_version``, and is left out where that is done already.
MIGRATIONS: dict[int, Migration] = {}


@dataclass(frozen=True)
class Manifest:
    """Which generation is the collection, and who wrote it."""

    generation: str
    topiarist: str = __version__

    def write(self, folder: Path, shown: str) -> None:
        """Replace the manifest: before, the old collection is there; afterwards, this one."""
        body = {"format": FORMAT, "version": VERSION, "generation": self.generation, "topiarist": self.topiarist}
        write_body(folder, body, shown)


def write_body(folder: Path, body: Mapping[str, Any], shown: str) -> None:
    """Write a manifest with a checksum of its own."""
    text = json.dumps({**body, "sha256": _digest(body)}, indent=1) + "\n"
    with new_file(folder / NAME, sync=True) as file:
        file.write(text.encode())
    with written(f"{shown}/{NAME}"):
        sync_folder(folder)


def read_body(folder: Path, shown: str) -> dict[str, Any]:
    """The body of a manifest of this format or of an older one; a newer one and a damaged one are errors."""
    try:
        body = json.loads((folder / NAME).read_text(encoding="utf-8"))
        claimed = body.pop("sha256", None)
        known, version = body.get("format"), body.get("version")
    except (OSError, ValueError, AttributeError, TypeError) as error:
        if not folder.is_dir():
            raise ResourceError(f"there is no collection at {shown} any more", hint="its new place") from error
        raise damaged(shown, f"{NAME} cannot be read ({error})") from error
    if known != FORMAT or not isinstance(version, int):
        raise damaged(shown, f"{NAME} is not that of a collection")
    if version > VERSION:  # before anything else: a newer one may be made otherwise
        raise other_version(shown, version, str(body.get("topiarist", "")))
    if claimed is None and version == VERSION:
        raise damaged(shown, f"{NAME} has no checksum")
    if claimed not in (None, _digest(body)):
        raise damaged(shown, f"{NAME} does not match its own checksum")
    return dict(body)


def read_manifest(folder: Path, shown: str) -> Manifest:
    """The manifest of a folder of this format."""
    body = read_body(folder, shown)
    if body["version"] != VERSION:
        raise other_version(shown, body["version"], str(body.get("topiarist", "")))
    generation = str(body.get("generation"))
    if not GENERATION.fullmatch(generation):
        raise damaged(shown, f"{NAME} names no generation")
    return Manifest(generation, str(body.get("topiarist", "")))


def migrate(folder: Path, shown: str) -> None:
    """Bring an older folder to this format, step by step. Only for whoever holds the lock."""
    while (body := read_body(folder, shown))["version"] < VERSION:
        version = body["version"]
        step = MIGRATIONS.get(version)
        if step is None:
            raise other_version(shown, version, str(body.get("topiarist", "")))
        write_body(folder, {**step(folder, body), "version": version + 1}, shown)


def damaged(shown: str, what: str) -> DamagedError:
    """Something is not as it was written."""
    return DamagedError(f"{shown} is damaged: {what}", hint=f"topiarist check {shown}")


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
