"""What lies at a folder before a grow, and what is left there after one that was stopped."""

from __future__ import annotations

from pathlib import Path

from topiarist.collection.collection import Collection
from topiarist.collection.grow.grower import MADE_FROM
from topiarist.errors import DamagedError, UsageError
from topiarist.store.collection_folder import GROWING, is_collection, unfinished
from topiarist.store.sealed_folder import MANIFEST


def existing_collection(folder: str, made_from: str | None, *, resume: bool) -> Collection | None:
    """The collection that is there, if it is the one that would be made; anything else that is there is an error."""
    root = Path(folder)
    if not is_collection(root):
        return None
    if not (root / MANIFEST).is_file():
        if not resume:
            raise unfinished(folder)
        return None
    try:
        known = Collection.open(folder)
    except DamagedError as error:
        raise DamagedError(error.message, hint=f"{error.hint}; or --force to grow it anew") from None
    if made_from is not None and known.settings.get(MADE_FROM) == made_from:
        if known.tree.stopped != "interrupted":
            return known
        raise UsageError(
            f"{folder} holds the tree of a grow that was stopped early", hint="--force to grow it to the end"
        )
    if resume and (root / GROWING).is_dir():
        return None
    raise UsageError(
        f"there is a collection at {folder} already, from other files or with other settings",
        hint="--force to grow it anew, or another folder with -o",
    )


def kept_after_stop(folder: str) -> str:
    """What is left of a grow that was stopped, in a sentence."""
    if (Path(folder) / GROWING).is_dir():
        return f"What was done so far is kept in {folder}: the same command with --resume goes on."
    if (Path(folder) / MANIFEST).is_file():
        return f"What was in {folder} before is still there."
    return "Nothing was kept."
