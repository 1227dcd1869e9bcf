"""Removing documents: which they are, what would change, and the step that does it and can be taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Bools
from topiarist.collection.describe.problem_list import write_problem_list
from topiarist.collection.describe.provenance import last_fit
from topiarist.collection.find.search import Search, places_of
from topiarist.collection.passages import Extent, Whole, extent, n_wholes, rows_of, whole_of
from topiarist.collection.remove import kept_rows
from topiarist.collection.shape.changes import REMOVE, check_expected
from topiarist.collection.state import GENERATION
from topiarist.errors import UsageError
from topiarist.store import edit_log, facts
from topiarist.store.succession import copy_log, copy_tables, succession
from topiarist.text.passages import whole_id

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

NAMED = 200  # documents whose titles are kept in the log


@dataclass(frozen=True)
class Removal:
    """Documents that leave, or would: their rows, ids and titles, and how many of them lie in each topic."""

    rows: tuple[int, ...]
    ids: tuple[str, ...]
    titles: tuple[str, ...]
    topics: dict[int, int]
    n_left: int
    extent: Extent  # how many documents these are, and how many passages
    n_documents_left: int  # of which anything is left

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def left_said(self) -> str:
        """How many documents are left."""
        return f"{self.n_documents_left:,} document{'s' * (self.n_documents_left != 1)}"

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {
            "documents": len(self), "left": self.n_left, "whole_documents": self.extent.complete,
            "whole_documents_left": self.n_documents_left, "said": str(self.extent),
            "ids": list(self.ids), "titles": list(self.titles),
            "topics": [{"topic": topic, "documents": number} for topic, number in self.topics.items()],
        }  # fmt: skip


def chosen(collection: Collection, ids: Iterable[str] = (), query: str = "", *, topic: int | None = None) -> list[int]:
    """The rows of documents with these ids and of their passages, or of all that a query finds by its words, each once.

    A query that finds nothing is an error, and so is an id that nobody has. ``topic``: only what a query finds there.
    """
    names = list(ids)
    if bool(names) == bool(query):
        raise UsageError("neither documents nor a query were told, or both", hint="ids of documents, or --query QUERY")
    if names:
        return sorted({row for name in names for row in rows_of(collection, name)})
    search = Search(collection, query, "words")
    if search.query.likes:
        raise UsageError("like: puts documents in an order, and none is removed for its place", hint="words, or ids")
    rows: list[int] = np.sort(search.rows(topic)).tolist()
    if not rows:
        raise UsageError(f"no document matches {query!r}", hint="topiarist find FOLDER WORDS --by words")
    return rows


def preview(collection: Collection, rows: Sequence[int]) -> Removal:
    """What removing documents would do; nothing is changed."""
    gone = sorted(set(rows))
    if len(gone) >= len(collection):
        raise UsageError("these are all documents of the collection", hint="remove the folder itself")
    documents = collection.documents.many(gone, texts=False)
    size = extent(collection, gone)
    lying = Counter(place.topic for place in places_of(collection, gone))
    return Removal(
        tuple(gone), tuple(one.id for one in documents), tuple(one.title or one.id for one in documents),
        dict(lying.most_common()), len(collection) - len(gone), size, n_wholes(collection) - size.complete,
    )  # fmt: skip


def remove(collection: Collection, ids: Sequence[str], *, wait: float = 0.0, expected: str | None = None) -> Removal:
    """Take documents out, all or none; undo brings them back. The topics keep their words until the next fit.

    ``wait``: seconds for another writer to end. ``expected``: only if this is still the state.
    """
    with succession(collection.folder, wait=wait) as following:
        collection.refresh()
        check_expected(collection, expected)
        removal = preview(collection, chosen(collection, ids))
        keep = keeping(collection, removal)
        old, new = following.old.database, following.new.database
        copy_tables(old, new, removal.rows)
        copy_log(old, new)
        kept_rows.keep_tables(collection, following, keep)
        state, parts = kept_rows.without_rows(collection, following, keep)
        facts.change_settings(new, kept_rows.settings(collection, keep, state))
        facts.add_removed(new, *remembered(collection, removal))
        edit_log.record(new, REMOVE, body_of(collection, removal, keep), state.to_dict(), parts=parts)
        name = following.old.folder.name
        following.publish([name, *collection.folder.manifest.kept])
    collection.refresh()
    write_problem_list(collection)
    return removal


def remembered(collection: Collection, removal: Removal) -> tuple[list[str], list[str]]:
    """What is to stay out: the ids of whole documents of which nothing is left, and of passages of the others.

    A whole document stays out whether the next grow cuts it into passages or not.
    """
    gone, documents, passages = set(removal.rows), list[str](), list[str]()
    known: dict[str, Whole | None] = {}
    for id in removal.ids:
        name = whole_id(id)
        if name not in known:
            known[name] = whole_of(collection, id)
        whole = known[name]
        if whole is None or not any(one.id == id for one in whole.passages):
            documents.append(id)
        elif gone.issuperset(whole.rows):
            documents.append(whole.id)
        else:
            passages.append(id)
    return list(dict.fromkeys(documents)), passages


def keeping(collection: Collection, removal: Removal) -> Bools:
    """For each row whether it stays."""
    keep = np.ones(len(collection), bool)
    keep[list(removal.rows)] = False
    return keep


def body_of(collection: Collection, removal: Removal, keep: Bools) -> dict[str, Any]:
    """What the log tells of a removal."""
    arrived = last_fit(collection).arrived
    since = int((~keep[len(keep) - arrived :]).sum()) if arrived else 0
    return {
        "documents": len(removal), "said": str(removal.extent), "titles": list(removal.titles[:NAMED]),
        "arrived": since,
        GENERATION: collection.generation.folder.name,
    }  # fmt: skip
