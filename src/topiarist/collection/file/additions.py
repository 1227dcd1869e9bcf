"""Addition of documents to a collection: their parts, what the model learns, and which states stay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import Csr, Floats
from topiarist.collection import contents
from topiarist.collection.copies import (
    find_copies_among,
    load_duplicates,
    save_duplicates,
    use_shares_of_originals,
)
from topiarist.collection.grow.fit_description import find_stable_nodes, name_by_words, open_corpus, save_fit
from topiarist.collection.search import index_part
from topiarist.collection.shape.kept_names import retire_names
from topiarist.collection.state import COUNTS, GENERATION, MINIMA, SEARCH, SHARES, TREE, VECTORS, State
from topiarist.errors import InputError
from topiarist.storage import edit_log
from topiarist.storage.generation import Generation, Part
from topiarist.text.documents import Document
from topiarist.text.repeated import without

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

ADD = "add"  # kind of the edit in the log
MAX_UNDOABLE_ADDITIONS = 3  # additions that can be undone, with the edits between them
MAX_WALKED_ADDITIONS = 4 * MAX_UNDOABLE_ADDITIONS  # including additions that were undone
MAX_PIECES = 8  # of counts; more are merged into one
LASTING_FACTS = (
    "curve",
    "stopped",
    "reason",
    "familiar",
    "certainty",
)  # facts of a grown tree that learning does not change


def iter_undoable_edits(generation: Generation) -> Iterator[edit_log.Edit]:
    """Yield the edits that undo can reach, newest first: up to the last additions that were not undone.

    Every addition takes disk space, even one that was undone. So the number of all additions is limited as well.
    """
    from topiarist.collection.shape.history import UNDO, WITH

    additions = n_walked = 0
    reverted = set[int | None]()
    for entry in edit_log.walk(generation.database):
        yield entry
        if entry.kind == UNDO:
            reverted.update((entry.body.get("edit"), entry.body.get(WITH)))
        additions += entry.kind == ADD and entry.number not in reverted
        n_walked += entry.kind == ADD
        if additions == MAX_UNDOABLE_ADDITIONS or n_walked == MAX_WALKED_ADDITIONS:
            return


def find_reachable_states(generation: Generation) -> set[int]:
    """Return the states that undo, or a comparison with the state before it, can open."""
    steps = iter_undoable_edits(generation)
    return {state for entry in steps for state in (entry.before, entry.after) if state is not None}


def find_reachable_generations(generation: Generation, names: Iterable[str]) -> tuple[str, ...]:
    """Return the earlier generations that undo can restore; documents were removed from these since."""
    reachable_names = {entry.body.get(GENERATION) for entry in iter_undoable_edits(generation)}
    return tuple(name for name in names if name in reachable_names)


class UniqueIds:
    """Ids of a collection: a document with a taken id is refused, or gets a number after its id."""

    def __init__(self, ids: Iterable[str], *, rename: bool) -> None:
        self.ids, self.rename = set(ids), rename
        self.last_numbers: dict[str, int] = {}  # last number of each id, so that numbers are not searched again

    def assign_id(self, document: Document) -> Document:
        """Return the document with a unique id, and register it; raise InputError for a known id without ``rename``."""
        if document.id in self.ids:
            if not self.rename:
                raise InputError(
                    f"a document with the id {document.id!r} exists already",
                    hint="Rename documents (--rename), or leave it out.",
                )
            number = self.last_numbers.get(document.id, 1) + 1
            while f"{document.id}#{number}" in self.ids:
                number += 1
            self.last_numbers[document.id] = number
            document = replace(document, id=f"{document.id}#{number}")
        self.ids.add(document.id)
        return document


class Addition:
    """Parts of documents that are already in the database, in an open transaction."""

    def __init__(self, collection: Collection, generation: Generation) -> None:
        self.collection, self.generation, self.state = collection, generation, collection.state
        self.parts: list[Part] = []
        self.copies = collection.copies

    @property
    def learns(self) -> bool:
        """Whether the model can learn from documents."""
        return hasattr(self.collection.model, "continue_fit")

    def add(
        self, documents: list[Document], counts: Csr, shares: Csr, vectors: Floats | None = None, *, learn: bool
    ) -> State:
        """Write the parts of added documents and return the new state.

        Duplicates are learned once and placed with their original. Without ``learn`` the model stays.
        """
        duplicates, minima = find_copies_among(self.collection, documents)
        save_duplicates(self.generation.database, duplicates)
        self.copies = load_duplicates(self.generation.database)
        state = replace(self.state, n_docs=self.state.n_docs + len(documents))
        collection = self.collection
        state = self._add_piece(state, COUNTS, counts, lambda: collection.all_counts)
        state = self._add_piece(state, MINIMA, minima, lambda: collection.minima)
        if vectors is not None:
            state = self._add_piece(state, VECTORS, vectors, lambda: collection.vectors)
        if learn and self.learns:
            state = self._learn(state, counts, vectors)
        else:
            all_shares = use_shares_of_originals(self.copies, contents.stack_rows([collection.shares, shares]))
            state = self._add_piece(state, SHARES, all_shares[self.state.n_docs :], lambda: collection.shares)
        forms = collection.counting.repeated.forms
        plain = (
            [replace(document, text=without(document.text, forms)) for document in documents] if forms else documents
        )
        search = index_part.add_to_index(self.generation, self.state.parts[SEARCH], plain)
        self.parts.append(search)
        return state.with_part(SEARCH, search.name)

    def _add_piece(self, state: State, role: str, rows: Any, read_rows: Callable[[], Any]) -> State:
        """Write rows as a new part and return a state with it; too many pieces are merged into one."""
        counting = None
        if len(state.pieces(role)) >= MAX_PIECES:
            rows, state = contents.stack_rows([read_rows(), rows]), state.with_pieces(role, [])
            counting = self.collection.counting if role == COUNTS else None
        self.parts.append(contents.write_part(self.generation, role, rows, counting))
        return state.with_piece(role, self.parts[-1].name)

    def _learn(self, state: State, counts: Csr, vectors: Floats | None) -> State:
        """Continue the fit with new documents, write the result and return the new state.

        The model, the words of its topics and the shares of all documents are new.
        """
        model = contents.read_tree_model(self.collection.part(self.state.parts[TREE]))  # a copy that learning changes
        counts = self.collection.counting.apply_word_edits(counts)
        is_new = self.copies.find_first_documents(state.n_docs)[self.state.n_docs :]
        if is_new.any():
            model.continue_fit(counts[is_new])
        all_counts = contents.stack_rows([self.collection.counts, counts])
        counting, facts_before = self.collection.counting, self.collection.description.facts
        corpus = open_corpus(self.generation, all_counts, counting)
        holds = {name: facts_before[name] for name in LASTING_FACTS if name in facts_before}
        shape = replace(state.shape, seeds={})  # a learning model has no seed words; the next fit uses them
        fit = save_fit(
            self.generation, model, corpus, counting, holds,
            copies=self.copies, move_pinned=self._keep_pinned_rows, shape=shape,
            vectors=None if vectors is None else np.concatenate([self.collection.vectors, vectors]),
        )  # fmt: skip
        self.parts += fit.parts
        stable = find_stable_nodes(state.shape, fit.shares, self.collection.outline, self.collection.shares)
        named = retire_names(self.collection.outline, name_by_words(state.shape, fit.description, stable))
        return fit.in_state(replace(state, shape=named))

    def _keep_pinned_rows(self, shares: Csr) -> Csr:
        """Return shares in which pinned documents keep their rows."""
        rows = np.array([self.collection.documents.row_of(id) for id in self.collection.outline.pins], np.int64)
        return contents.replace_rows(shares, rows, self.collection.shares[rows])
