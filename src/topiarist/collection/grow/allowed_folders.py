"""Folders from which originals of a collection may be served, stored outside the collection.

A forged collection could name any folder as its source. So its sources are trusted only if this user grew it here, or
granted them since. The grants are in the data folder of the user, one file for each path of a collection. A collection
from another machine has none.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import platformdirs

from topiarist.errors import ResourceError
from topiarist.storage.sealed_folder import write_json

PLACES = "places"  # setting: absolute paths of the sources, where originals are found again


def grant_originals(folder: str | os.PathLike[str], places: Iterable[str], *, keep_granted: bool = False) -> None:
    """Allow originals from these places only; with ``keep_granted``, from earlier places as well.

    If the user's folder is not writable, nothing is granted: then texts are served instead.
    """
    allowed = {os.path.realpath(place) for place in places if place}
    allowed |= read_allowed_folders(folder) if keep_granted else set()
    path = _file(folder)
    with suppress(OSError, ResourceError):
        if not allowed:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_json(path, {"collection": os.path.realpath(folder), "places": sorted(allowed)})
        path.chmod(0o600)


def read_allowed_folders(folder: str | os.PathLike[str]) -> set[str]:
    """Return the folders whose originals may be opened; none if other users could write the grants."""
    path = _file(folder)
    try:
        if not all(_is_ours(entry) for entry in (path.parent, path)):
            return set()
        body = json.loads(path.read_bytes())
        return {str(place) for place in body["places"]} if body["collection"] == os.path.realpath(folder) else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _file(folder: str | os.PathLike[str]) -> Path:
    name = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:32]
    return Path(platformdirs.user_data_dir("topiarist")) / "originals" / f"{name}.json"


def _is_ours(path: Path) -> bool:
    """Return whether only this user can write a file; True on systems without such rights."""
    if not hasattr(os, "geteuid"):
        return True
    status = path.lstat()
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
