"""A collection as it was: earlier states are kept, and can be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiarist.collection.state import State
from topiarist.errors import UsageError
from topiarist.store import edit_log
from topiarist.store.collection_folder import Folder

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection


def before_last(collection: Collection) -> tuple[Collection, edit_log.Edit]:
    """The collection before the last step, to be read and closed, and what the step was."""
    for entry in edit_log.history(collection.generation.database):
        if entry.before is not None:
            return at(collection, entry.before), entry
    raise UsageError(
        "nothing was done to this tree since it was grown", hint=f"topiarist shape {collection.folder.shown} --log"
    )


def steps(collection: Collection) -> list[edit_log.Edit]:
    """Everything that was done, oldest first."""
    return list(reversed(edit_log.history(collection.generation.database)))


def earlier(collection: Collection) -> list[edit_log.Edit]:
    """For each state that can still be looked at, except the one that holds, the last step that led away from it."""
    kept, seen, found = edit_log.remembered(collection.generation.database), {collection.number, None}, []
    for entry in edit_log.history(collection.generation.database):
        if entry.before not in seen:
            seen.add(entry.before)
            found += [entry] if entry.before in kept else []
    return found


def at(collection: Collection, number: int) -> Collection:
    """The collection in one of its states."""
    found = type(collection)(Folder.open(collection.folder.path))
    found.state, found.number = State.from_dict(edit_log.state(found.generation.database, number)), number
    return found
