"""``problems.csv``: what was left out, repeated or copied, and the account of the collection, as a table for people.

It is written anew whenever documents come or go, for every row of it tells of the collection as it is; where a grow had
nothing to tell, the first addition that has begins it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from topiarist.collection.copies import listed_copies
from topiarist.collection.describe.account import account_of
from topiarist.collection.describe.tables import write_sheet
from topiarist.collection.grow.left_out import left_out
from topiarist.collection.passages import unit
from topiarist.store import facts
from topiarist.store.sealed_folder import new_file, written

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

PROBLEMS, ACCOUNT = "problems.csv", "(collection)"  # the table, and what its last rows are about
HEADER = ("source", "reason")


def write_problem_list(collection: Collection) -> None:
    """Write the table into the folder; where there is nothing to tell but the account, there is none."""
    path = collection.folder.path / PROBLEMS
    problems = [(one.source, one.reason) for one in facts.problems(collection.generation.database)]
    others = list(_not_counted(collection))
    if not problems and not others:
        path.unlink(missing_ok=True)
        return
    account = [(ACCOUNT, one.said) for one in account_of(collection)]
    with written(f"{collection.folder.shown}/{PROBLEMS}"), new_file(path, sync=True) as made:
        text = io.TextIOWrapper(made, "utf-8", newline="", write_through=True)
        write_sheet(text, HEADER, [*problems, *others, *account])
        text.detach()


def _not_counted(collection: Collection) -> Iterator[tuple[str, str]]:
    """Lines that are not counted, and documents that are counted once."""
    what = unit(collection)
    for line, number in left_out(collection).lines:
        yield line, f"a line of {number:,} {what}{'s' * (number != 1)}, not counted"
    for one in listed_copies(collection, collection.copies):
        for copy in one.copies:
            kind = "a copy" if copy.exact else f"a near-copy ({copy.shared:.0%} of the words)"
            yield copy.id, f"{kind} of {one.id}, counted once"
