"""Documents that are kept: the parts that they bring along, what the model learns from them, and what is let go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr, Floats
from topiarist.collection import contents
from topiarist.collection.copies import copies_among, keep_copies, kept_copies, minima_of, placed_with_first
from topiarist.collection.document_vectors import write_vectors
from topiarist.collection.find import index_part
from topiarist.collection.grow.fit_description import corpus_of, keep_fit, labelled
from topiarist.collection.state import COUNTS, GENERATION, MINIMA, SEARCH, SHARES, TREE, VECTORS, State
from topiarist.errors import InputError
from topiarist.store import edit_log
from topiarist.store.generation import Generation, Part, new_part
from topiarist.text.documents import Document
from topiarist.text.repeated import without

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

ADD = "add"  # what the log calls an addition
ADDITIONS = 3  # that can be undone, with what was done between them
MOST_WALKED = 4 * ADDITIONS  # with those that were taken back
MOST_PIECES = 8  # of counts: then they become one
HOLDS = ("curve", "stopped", "reason", "familiar")  # what was told of a grown tree, and is true after it has learned


def within_reach(generation: Generation) -> Iterator[edit_log.Edit]:
    """The steps that undo may go back over, newest first: up to the last few additions that were not taken back.

    Each takes room, also one that was taken back: of all together a few more are walked over.
    """
    from topiarist.collection.shape.changes import UNDO, WITH

    additions = every = 0
    undone = set[int | None]()
    for entry in edit_log.walk(generation.database):
        yield entry
        if entry.kind == UNDO:
            undone.update((entry.body.get("edit"), entry.body.get(WITH)))
        additions += entry.kind == ADD and entry.number not in undone
        every += entry.kind == ADD
        if additions == ADDITIONS or every == MOST_WALKED:
            return


def reachable(generation: Generation) -> set[int]:
    """The states that may be asked for, by undo or for a comparison with what was before it."""
    steps = within_reach(generation)
    return {state for entry in steps for state in (entry.before, entry.after) if state is not None}


def generations_within_reach(generation: Generation, kept: Iterable[str]) -> tuple[str, ...]:
    """Of earlier generations, which had documents that were removed since, those that undo may come back to."""
    named = {entry.body.get(GENERATION) for entry in within_reach(generation)}
    return tuple(name for name in kept if name in named)


class OwnIds:
    """Ids that nobody has: a document whose id is taken is refused, or gets a number behind it."""

    def __init__(self, known: Iterable[str], *, rename: bool) -> None:
        self.known, self.rename = set(known), rename
        self.last: dict[str, int] = {}  # numbers that were given, so that many of one id are not counted again each

    def own(self, batch: Iterable[Document]) -> list[Document]:
        """The documents, each with an id of its own."""
        return [self._own(document) for document in batch]

    def _own(self, document: Document) -> Document:
        if document.id in self.known:
            if not self.rename:
                raise InputError(
                    f"there is a document {document.id!r} already", hint="--rename gives new ids; or leave it out"
                )
            number = self.last.get(document.id, 1) + 1
            while f"{document.id}#{number}" in self.known:
                number += 1
            self.last[document.id] = number
            document = replace(document, id=f"{document.id}#{number}")
        self.known.add(document.id)
        return document


class Addition:
    """The parts that documents bring along; they are in the database already, in a transaction that is not over."""

    def __init__(self, collection: Collection, generation: Generation) -> None:
        self.collection, self.generation, self.state = collection, generation, collection.state
        self.parts: list[Part] = []
        self.copies = collection.copies

    @property
    def learns(self) -> bool:
        """Whether the model is one that can learn from documents."""
        return hasattr(self.collection.model, "learn_more")

    def kept(
        self, documents: list[Document], counts: Csr, shares: Csr, vectors: Floats | None = None, *, learn: bool
    ) -> State:
        """The state with these documents; copies are learned once, and lie where the first of their kind does."""
        found, minima = copies_among(self.collection, documents)
        keep_copies(self.generation.database, found)
        self.copies = kept_copies(self.generation.database)
        state = replace(self.state, n_docs=self.state.n_docs + len(documents))
        state = self._told_apart(self._grown(state, COUNTS, counts), minima)
        state = state if vectors is None else self._pointed(state, vectors)
        if learn and self.learns:
            state = self._learned(state, counts, vectors)
        else:
            whole = placed_with_first(self.copies, contents.stacked([self.collection.shares, shares]))
            state = self._grown(state, SHARES, whole[self.state.n_docs :])
        forms = self.collection.counting.repeated.forms
        plain = [replace(one, text=without(one.text, forms)) for one in documents] if forms else documents
        search = index_part.add_to_index(self.generation, self.state.parts[SEARCH], plain)
        self.parts.append(search)
        return state.with_part(SEARCH, search.name)

    def _told_apart(self, state: State, minima: Array) -> State:
        """With what tells copies of the documents: one piece more, or all of them as one."""
        if not 0 < len(state.pieces(MINIMA)) < MOST_PIECES:
            minima = np.concatenate([minima_of(self.collection), minima])
            state = state.with_pieces(MINIMA, [])
        with new_part(self.generation, MINIMA) as part:
            contents.write_minima(part.folder, minima)
        self.parts.append(part.part)
        return state.with_piece(MINIMA, part.name)

    def _pointed(self, state: State, vectors: Floats) -> State:
        """With the vectors of the documents: one piece more, or all of them as one."""
        if len(state.pieces(VECTORS)) >= MOST_PIECES and self.collection.vectors is not None:
            vectors, state = np.concatenate([self.collection.vectors, vectors]), state.with_pieces(VECTORS, [])
        with new_part(self.generation, VECTORS) as part:
            write_vectors(part.folder, vectors)
        self.parts.append(part.part)
        return state.with_piece(VECTORS, part.name)

    def _grown(self, state: State, role: str, rows: Csr) -> State:
        """One piece more, or all pieces as one."""
        if len(state.pieces(role)) < MOST_PIECES:
            return state.with_piece(role, self._matrix(role, rows))
        old = self.collection.all_counts if role == COUNTS else self.collection.shares
        whole = contents.stacked([old, rows])
        counting = self.collection.counting if role == COUNTS else None
        return state.with_pieces(role, [self._matrix(role, whole, counting)])

    def _matrix(self, role: str, rows: Csr, counting: Any = None) -> str:
        with new_part(self.generation, role) as part:
            contents.write_matrix(part.folder, rows)
            if counting is not None:
                contents.write_counting(part.folder, counting)
        self.parts.append(part.part)
        return part.name

    def _learned(self, state: State, counts: Csr, vectors: Floats | None) -> State:
        """The model after the batch, its topics in the words that they have now, and where it places everybody."""
        model = contents.read_tree_model(self.collection.part(self.state.parts[TREE]))  # its own, to be changed
        counts = self.collection.counting.heeded(counts)
        new = self.copies.is_first(state.n_docs)[self.state.n_docs :]
        if new.any():
            model.learn_more(counts[new])
        whole = contents.stacked([self.collection.counts, counts])
        counting, known = self.collection.counting, self.collection.description.facts
        corpus = corpus_of(self.generation, whole, counting)
        holds = {name: known[name] for name in HOLDS if name in known}
        said = replace(state.shape, seeds={})  # a model that learns was never fitted with seeds: they wait for that
        fit = keep_fit(
            self.generation, model, corpus, counting, holds,
            copies=self.copies, pinned=self._with_pinned, shape=said,
            vectors=None if vectors is None else np.concatenate([self.collection.vectors, vectors]),
        )  # fmt: skip
        self.parts += fit.parts
        return fit.in_state(replace(state, shape=labelled(state.shape, fit.description)))

    def _with_pinned(self, shares: Csr) -> Csr:
        """What people pinned stays where it was, whatever the model has learned."""
        rows = [self.collection.documents.row_of(name) for name in self.collection.outline.pins]
        if not rows:
            return shares
        where = np.zeros(shares.shape[0], bool)
        where[rows] = True
        kept = self.collection.shares
        old = contents.stacked([kept, csr_array((len(where) - kept.shape[0], kept.shape[1]), dtype=kept.dtype)])
        return contents.with_rows(shares, where, csr_array(old.multiply(where[:, None])))
