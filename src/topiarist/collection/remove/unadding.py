"""Taking the last addition of documents back: a generation without them, in the state before, to the last bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topiarist.collection.describe.problem_list import write_problem_list
from topiarist.collection.remove import kept_rows
from topiarist.collection.shape.changes import ADD, UNDO, ChangedError, check_expected, last_step
from topiarist.collection.state import State
from topiarist.store import edit_log, facts
from topiarist.store.succession import copy_log, copy_tables, linked_tree, succession

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection


def take_addition_back(collection: Collection, *, wait: float = 0.0, expected: str | None = None) -> edit_log.Edit:
    """The documents that were added last leave, and the state before is the state now; the step that was taken back.

    What people said meanwhile of the other documents stays.
    """
    with succession(collection.folder, wait=wait) as following:
        collection.refresh()
        check_expected(collection, expected)
        last, old, new = last_step(following.old), following.old.database, following.new.database
        if last.kind != ADD or last.before is None:
            raise ChangedError("somebody has changed the tree meanwhile", hint="look at it, and try again")
        state = State.from_dict(edit_log.state(old, last.before))
        keep = np.arange(len(collection)) < state.n_docs
        copy_tables(old, new, np.flatnonzero(~keep).tolist())
        copy_log(old, new, states=True)
        for name in edit_log.parts(old):
            linked_tree(following.old.folder / name, following.new.folder / name)
        kept_rows.keep_tables(collection, following, keep)
        changed = kept_rows.settings(collection, keep, collection.state)
        changed.pop(kept_rows.STEADINESS, None)
        facts.change_settings(new, changed)
        edit_log.record(new, UNDO, {"edit": last.number}, last.before)
        following.publish(collection.folder.manifest.kept)
    collection.refresh()
    write_problem_list(collection)
    return last
