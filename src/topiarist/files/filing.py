"""Filing new documents: where each belongs, how sure that is, which words decided; and adding them for good."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.counts.validation import Csr
from topiarist.files import contents, indexing, log
from topiarist.files.documents import Documents
from topiarist.files.generation import Generation
from topiarist.files.parts import Part, new_part
from topiarist.files.state import COUNTS, SEARCH, SHARES, TREE, State
from topiarist.tasks.crowns import shares_of, sparse_shares
from topiarist.tasks.placement import Places, Usual, usual_of
from topiarist.text.documents import Document

if TYPE_CHECKING:
    from topiarist.files.collection import Collection

BATCH = 2_000
MOST_PIECES = 8  # of counts: then they become one
ADD = "add"


@dataclass(frozen=True)
class Filed:
    """A document and its place: the path with the certainty at each level, and why."""

    document: Document
    topic: int
    path: tuple[str, ...]  # names from below the root down to the topic
    certainty: tuple[float, ...]  # P(topic|document) of each of them
    words: tuple[str, ...]  # that decided
    unusual: bool  # fits worse than nearly all documents of the collection
    labels: tuple[str, ...] = ()  # of the categories that were learned
    label_certainty: tuple[float, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data, without the text."""
        known = asdict(self)
        return {"id": self.document.id, "title": self.document.title} | {
            name: known[name] for name in known if name != "document"
        }


def file(collection: Collection, documents: Iterable[Document], rho: float = 0.9) -> Iterator[Filed]:
    """Where documents belong, one after the other."""
    for batch, counts in _counted(collection, documents):
        yield from filed(collection, batch, counts, collection.placer.place(counts, rho, _usual(collection)))


def filed(collection: Collection, batch: list[Document], counts: Csr, places: Places) -> Iterator[Filed]:
    """Each document of a batch with its place in words."""
    shape, words = collection.outline, collection.counting.vocabulary.words
    tree = shape.tree
    nodes = places.posterior.astype(np.float64) @ tree.path_mask(shape.class_nodes)
    labels = collection.categories.told(counts) if collection.categories is not None else None
    paths = {int(node): tree.path(int(node))[1:] for node in np.unique(places.nodes)}
    for row, document in enumerate(batch):
        node = int(places.nodes[row])
        path = paths[node]
        known = labels[row] if labels is not None else ((), ())
        yield Filed(
            document, shape.topics[node], tuple(tree.names[step] for step in path),
            tuple(round(float(nodes[row, step]), 4) for step in path),
            tuple(words[column] for column in places.words[row]), bool(places.unusual[row]), *known,
        )  # fmt: skip


def add(
    collection: Collection, documents: Iterable[Document], rho: float = 0.9, *, learn: bool = True
) -> Iterator[Filed]:
    """File documents and keep them: all of them are in the collection when the last has come, or none.

    With ``learn`` a model that can (cam and hplsa, as they were grown) learns from them, and every document finds its
    place anew.
    """
    with collection.folder.writing() as generation:
        collection.refresh()
        state, parts = collection.state, []
        for batch, counts in _counted(collection, documents):
            places = collection.placer.place(counts, rho, _usual(collection))
            yield from filed(collection, batch, counts, places)
            parts.append((batch, counts, sparse_shares(places.posterior)))
        if not parts:
            return
        added = [document for batch, _, _ in parts for document in batch]
        new = _Addition(collection, generation, state)
        with generation.database.transaction():
            Documents(generation.database).append(added)
            counts = contents.stacked([counts for _, counts, _ in parts])
            shares = contents.stacked([shares for _, _, shares in parts])
            state = new.kept(added, counts, shares, learn=learn)
            log.record(generation.database, ADD, {"documents": len(added)}, state.to_dict(), parts=new.parts)
    collection.refresh()


class _Addition:
    """The parts that documents bring along."""

    def __init__(self, collection: Collection, generation: Generation, state: State) -> None:
        self.collection, self.generation, self.state = collection, generation, state
        self.parts: list[Part] = []

    def kept(self, documents: list[Document], counts: Csr, shares: Csr, *, learn: bool) -> State:
        """The state with these documents."""
        state = replace(self.state, n_docs=self.state.n_docs + len(documents))
        state = self._grown(state, COUNTS, counts)
        model = self.collection.model
        if learn and hasattr(model, "partial_fit"):
            model = contents.read_tree_model(self.collection.part(self.state.parts[TREE]))  # its own, to be changed
            model.partial_fit(counts)
            state = self._learned(state, model, counts)
        else:
            state = self._grown(state, SHARES, shares)
        search = indexing.add_to_index(self.generation, self.state.parts[SEARCH], documents)
        self.parts.append(search)
        return state.with_part(SEARCH, search.name)

    def _grown(self, state: State, role: str, rows: Csr) -> State:
        """One piece more, or all pieces as one."""
        if len(state.pieces(role)) < MOST_PIECES:
            return state.with_piece(role, self._matrix(role, rows))
        old = self.collection.counts if role == COUNTS else self.collection.shares
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

    def _learned(self, state: State, model: Any, counts: Csr) -> State:
        """The model after the batch, and where it places everybody now."""
        whole = contents.stacked([self.collection.counts, counts])
        known = self.collection.description
        told = {**known.facts, "usual": list(usual_of(model, whole).limits)}
        with new_part(self.generation, TREE) as tree:
            contents.write_tree(tree.folder, model, replace(known, facts=told))
        self.parts.append(tree.part)
        rows = self._matrix(SHARES, shares_of(model, whole))
        return state.with_part(TREE, tree.name).with_pieces(SHARES, [rows])


def _counted(collection: Collection, documents: Iterable[Document]) -> Iterator[tuple[list[Document], Csr]]:
    stream = iter(documents)
    while batch := list(islice(stream, BATCH)):
        yield batch, collection.counted(batch)


def _usual(collection: Collection) -> Usual:
    return Usual(tuple(collection.description.facts["usual"]))
