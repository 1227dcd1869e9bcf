"""Collection in the folder of a grow, before it starts and after it was stopped."""

from __future__ import annotations

from pathlib import Path

from topiarist.collection.collection import Collection
from topiarist.collection.grow.made_with import MADE_FROM
from topiarist.errors import DamagedError, UsageError
from topiarist.storage.collection_folder import GROWING, create_unfinished_error, is_collection
from topiarist.storage.sealed_folder import MANIFEST


def find_same_collection(folder: str, made_from: str | None, *, resume: bool) -> Collection | None:
    """Return the collection of the folder if the grow would make the same one; another one is an error."""
    root = Path(folder)
    if not is_collection(root):
        return None
    if not (root / MANIFEST).is_file():
        if not resume:
            raise create_unfinished_error(folder)
        return None
    try:
        collection = Collection.open(folder)
    except DamagedError as error:
        raise DamagedError(error.message, hint=f"{error.hint}; or pass --force to replace it") from None
    if made_from is not None and collection.settings.get(MADE_FROM) == made_from:
        if collection.tree.stopped != "interrupted":
            return collection
        raise UsageError(
            f"{folder} holds the tree of a grow that was stopped early", hint="Pass --force to grow it to the end."
        )
    if resume and (root / GROWING).is_dir():
        return None
    raise UsageError(
        f"there is a collection at {folder} already, from other files or with other settings",
        hint="Pass --force to replace it, or another folder with -o.",
    )


def describe_stopped(folder: str) -> str:
    """Return a sentence on what a stopped grow leaves in a folder."""
    if (Path(folder) / GROWING).is_dir():
        return f"The finished part is in {folder}. Run the same command with --resume to continue."
    if (Path(folder) / MANIFEST).is_file():
        return f"The previous collection in {folder} is unchanged."
    return "Nothing was kept."
