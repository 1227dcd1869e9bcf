"""Removal of documents and its undo, undo of added documents, and the texts of documents removed earlier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Bools
from topiarist.collection.describe.account import write_problem_list
from topiarist.collection.describe.provenance import find_last_fit
from topiarist.collection.passages import (
    DocumentCount,
    ParentDocument,
    count_documents,
    find_parent,
    has_document,
    rows_of,
)
from topiarist.collection.remove import kept_rows
from topiarist.collection.search.hits import find_places
from topiarist.collection.search.search import Search
from topiarist.collection.shape.history import ADD, REMOVE, UNDO, ChangedError, check_expected, last_step
from topiarist.collection.state import GENERATION, State
from topiarist.errors import UsageError
from topiarist.plurals import count_noun
from topiarist.storage import edit_log, facts
from topiarist.storage.succession import ReducedGeneration, copy_log, copy_tables, link_tree, reduce_generation
from topiarist.text.documents import Document
from topiarist.text.passages import get_parent_id

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

DIGESTS = "digests"  # field of a log entry: digests of the removed ids
MAX_NAMED = 200  # titles and digests in a log entry


@dataclass(frozen=True)
class Removal:
    """Documents that are or would be removed: rows, ids and titles, and their number in each topic."""

    rows: tuple[int, ...]
    ids: tuple[str, ...]
    titles: tuple[str, ...]
    topics: dict[int, int]
    n_left: int
    extent: DocumentCount  # numbers of parent documents and passages
    n_documents_left: int  # parent documents with a passage left

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def left_text(self) -> str:
        return count_noun(self.n_documents_left, "document")

    def to_dict(self) -> dict[str, Any]:
        """Return the effect of the removal as plain JSON data."""
        return {
            "documents": len(self), "left": self.n_left, "whole_documents": self.extent.complete,
            "whole_documents_left": self.n_documents_left, "said": str(self.extent),
            "ids": list(self.ids), "titles": list(self.titles),
            "topics": [{"topic": topic, "documents": number} for topic, number in self.topics.items()],
        }  # fmt: skip


def choose_documents(
    collection: Collection, ids: Iterable[str] = (), query: str = "", *, topic: int | None = None
) -> list[int]:
    """Return the rows of documents with these ids and their passages, or of all documents that match a query.

    Raise UsageError for an unknown id or a query without matches. ``topic`` restricts the query to one topic.
    """
    names = list(ids)
    if bool(names) == bool(query):
        raise UsageError("expected either ids or a query", hint="Pass the ids of documents or a query.")
    if names:
        _check_not_removed(collection, names)
        return sorted({row for name in names for row in rows_of(collection, name)})
    search = Search(collection, query, "words")
    if search.query.likes:
        raise UsageError("like: ranks all documents and selects none", hint="Use words in the query, or pass ids.")
    rows: list[int] = np.sort(search.rows(topic)).tolist()
    if not rows:
        raise UsageError(f"no document matches {query!r}", hint="Try the query with topiarist find.")
    return rows


def _check_not_removed(collection: Collection, ids: Sequence[str]) -> None:
    removed = facts.removed(collection.generation.database)
    for id in ids:
        if facts.compute_id_digest(id) in removed and not has_document(collection, id):
            raise UsageError(f"document {id!r} was removed before", hint="Pass --forget to erase it permanently.")


def preview_removal(collection: Collection, rows: Sequence[int]) -> Removal:
    """Return the effect of a removal without changing anything."""
    removed = sorted(set(rows))
    if len(removed) >= len(collection):
        raise UsageError(
            "these are all documents of the collection", hint="Delete the folder of the collection instead."
        )
    documents = collection.documents.load_many(removed, texts=False)
    extent = count_documents(collection, removed)
    counts = Counter(place.topic for place in find_places(collection, removed))
    return Removal(
        tuple(removed), tuple(document.id for document in documents),
        tuple(document.title or document.id for document in documents),
        dict(counts.most_common()), len(collection) - len(removed), extent,
        count_documents(collection).documents - extent.complete,
    )  # fmt: skip


@contextmanager
def reducing(collection: Collection, wait: float, expected: str | None) -> Iterator[ReducedGeneration]:
    """Write a generation with fewer documents from the present state, and read the published one afterwards."""
    with reduce_generation(collection.folder, wait=wait) as reduced:
        collection.refresh()
        check_expected(collection, expected)
        yield reduced
    collection.refresh()
    write_problem_list(collection)


def remove_documents(
    collection: Collection, ids: Sequence[str], *, wait: float = 0.0, expected: str | None = None
) -> Removal:
    """Remove documents, all or none; undo restores them. Topics keep their words until the next fit.

    ``wait`` is the time in seconds to wait for another write. ``expected`` is a state: the call fails for any other.
    """
    with reducing(collection, wait, expected) as reduced:
        removal = preview_removal(collection, choose_documents(collection, ids))
        keep = make_keep_mask(collection, removal)
        old, new = reduced.old.database, reduced.new.database
        copy_tables(old, new, removal.rows)
        copy_log(old, new)
        kept_rows.update_tables(collection, reduced, keep)
        state, parts = kept_rows.write_parts(collection, reduced, keep)
        facts.change_settings(new, kept_rows.change_settings(collection, keep, state))
        facts.add_removed(new, *list_excluded_ids(collection, removal))
        edit_log.record(new, REMOVE, make_log_entry(collection, removal, keep), state.to_dict(), parts=parts)
        name = reduced.old.folder.name
        reduced.publish([name, *collection.folder.manifest.kept])
    return removal


def list_excluded_ids(collection: Collection, removal: Removal) -> tuple[list[str], list[str]]:
    """Return ids to exclude from later grows: parent documents without passages left, and other passages."""
    removed, documents, passages = set(removal.rows), list[str](), list[str]()
    parents: dict[str, ParentDocument | None] = {}
    for id in removal.ids:
        name = get_parent_id(id)
        if name not in parents:
            parents[name] = find_parent(collection, id)
        parent = parents[name]
        if parent is None or not any(passage.id == id for passage in parent.passages):
            documents.append(id)
        elif removed.issuperset(parent.rows):
            documents.append(parent.id)
        else:
            passages.append(id)
    return list(dict.fromkeys(documents)), passages


def make_keep_mask(collection: Collection, removal: Removal) -> Bools:
    keep = np.ones(len(collection), bool)
    keep[list(removal.rows)] = False
    return keep


def make_log_entry(collection: Collection, removal: Removal, keep: Bools) -> dict[str, Any]:
    """Return the body of the log entry of a removal; ids are stored as digests."""
    n_arrived = find_last_fit(collection).n_added
    n_removed_arrived = int((~keep[len(keep) - n_arrived :]).sum()) if n_arrived else 0
    return {
        "documents": len(removal), "said": str(removal.extent), "titles": list(removal.titles[:MAX_NAMED]),
        DIGESTS: compute_digests(removal.ids[:MAX_NAMED]),
        "arrived": n_removed_arrived,
        GENERATION: collection.generation.folder.name,
    }  # fmt: skip


@dataclass(frozen=True)
class EarlierRemovals:
    """Documents that were removed earlier, with their texts in kept generations."""

    ids: tuple[str, ...]  # ids that are not in the collection now
    documents: tuple[Document, ...]  # documents of kept generations, also of ids that were added again
    texts: tuple[str, ...]  # columns, dates and notes of these documents
    dates: tuple[str, ...]  # dates of these documents that could not be parsed
    n_unread: int  # ids without a text in any generation

    def __str__(self) -> str:
        return count_noun(len(self.ids), "removed document")


def find_removed(collection: Collection, ids: Iterable[str]) -> EarlierRemovals:
    """Read the removed documents with these ids from earlier generations; raise UsageError for an unknown id."""
    names = list(dict.fromkeys(ids))
    documents, texts, dates, read_ids = list[Document](), list[str](), list[str](), set[str]()
    for generation in collection.folder.manifest.kept:
        with type(collection)(collection.folder.at_generation(generation)) as old_collection:
            present = [name for name in names if has_document(old_collection, name)]
            rows = sorted({row for name in present for row in rows_of(old_collection, name)})
            read_ids.update(present)
            documents += old_collection.documents.load_many(rows)
            texts += read_further_texts(old_collection, rows)
            dates += old_collection.dates.only_of(rows).values()
    absent = [name for name in names if not has_document(collection, name)]
    unread = [name for name in absent if name not in read_ids]
    removed = facts.removed(collection.generation.database)
    for name in unread:
        if facts.compute_id_digest(name) not in removed:
            collection.documents.row_of(name)  # raises the error for an unknown id
    return EarlierRemovals(tuple(absent), tuple(documents), tuple(texts), tuple(dates), len(unread))


def read_further_texts(collection: Collection, rows: Iterable[int]) -> list[str]:
    """Return further texts of documents: column values, dates in their original form, notes of users."""
    numbers = list(rows)
    cells = collection.columns.of(numbers).values()
    notes = [note for group in collection.passage_notes.of(numbers).values() for note in group]
    return [
        *(text for cell in cells for values in cell.values() for text in values),
        *collection.dates.load_originals(numbers).values(),
        *(text for note in notes for text in (note.quote, note.note)),
    ]


def compute_digests(ids: Iterable[str]) -> list[str]:
    """Return the digests of ids for the log; a passage has the digest of its parent document."""
    return [facts.compute_id_digest(get_parent_id(id)) for id in ids]


def undo_addition(collection: Collection, *, wait: float = 0.0, expected: str | None = None) -> edit_log.Edit:
    """Remove the documents added last and restore the state before; user edits of other documents stay."""
    with reducing(collection, wait, expected) as reduced:
        last, old, new = last_step(reduced.old), reduced.old.database, reduced.new.database
        if last.kind != ADD or last.before is None:
            raise ChangedError("the tree has changed since the undo began", hint="Check the last edit and try again.")
        state = State.from_dict(edit_log.state(old, last.before))
        keep = np.arange(len(collection)) < state.n_docs
        copy_tables(old, new, np.flatnonzero(~keep).tolist())
        copy_log(old, new, states=True)
        # No state with the documents is kept: its parts would hold their words.
        numbers = edit_log.list_remembered(old)
        edit_log.forget(new, {number for number in numbers if edit_log.state(old, number)["n_docs"] <= state.n_docs})
        for name in edit_log.parts(new):
            link_tree(reduced.old.folder / name, reduced.new.folder / name)
        kept_rows.update_tables(collection, reduced, keep)
        changes = kept_rows.change_settings(collection, keep, collection.state)
        changes.pop(kept_rows.STEADINESS, None)
        facts.change_settings(new, changes)
        edit_log.record(new, UNDO, {"edit": last.number}, last.before)
        reduced.publish(collection.folder.manifest.kept)
    return last
