"""Which folders somebody on this machine has grown from: what may be handed out as an original, kept outside.

A collection says where its documents came from, and whoever forges one may say anything: that it came from the folder
with everybody's passwords. So what it says is believed only where this user grew it here, or has granted it since. The
grants lie in the user's own folder, a file for each collection by its place: one that somebody sent has none.
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
from topiarist.store.sealed_folder import write_json


def grant(folder: str | os.PathLike[str], places: Iterable[str], *, beside: bool = False) -> None:
    """Let originals of a collection come from these places, and no others; ``beside`` those that were granted before.

    Where the user's folder cannot be written, nothing is granted: then texts are handed out instead.
    """
    wanted = {os.path.realpath(place) for place in places if place}
    wanted |= granted(folder) if beside else set()
    path = _file(folder)
    with suppress(OSError, ResourceError):
        if not wanted:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_json(path, {"collection": os.path.realpath(folder), "places": sorted(wanted)})
        path.chmod(0o600)


def granted(folder: str | os.PathLike[str]) -> set[str]:
    """The places that originals of a collection may come from; none if anybody else could have said so."""
    path = _file(folder)
    try:
        if not all(_is_ours(one) for one in (path.parent, path)):
            return set()
        known = json.loads(path.read_bytes())
        return {str(place) for place in known["places"]} if known["collection"] == os.path.realpath(folder) else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _file(folder: str | os.PathLike[str]) -> Path:
    name = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:32]
    return Path(platformdirs.user_data_dir("topiarist")) / "originals" / f"{name}.json"


def _is_ours(path: Path) -> bool:
    """Whether it belongs to this user and nobody else may write it, where the system has such rights."""
    if not hasattr(os, "geteuid"):
        return True
    status = path.lstat()
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
