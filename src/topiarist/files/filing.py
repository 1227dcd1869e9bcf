"""Filing new documents: where each belongs, how sure that is, which words decided; and adding them for good."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from topiarist.counts.validation import Csr
from topiarist.errors import InputError, UsageError
from topiarist.files import contents, indexing, log
from topiarist.files.arriving import batches, coming
from topiarist.files.documents import Documents
from topiarist.files.finding import Place
from topiarist.files.generation import Generation
from topiarist.files.looking import all_places
from topiarist.files.parts import Part, new_part
from topiarist.files.state import COUNTS, SEARCH, SHARES, TREE, State
from topiarist.tasks.crowns import shares_of, sparse_shares
from topiarist.tasks.placement import Usual, usual_of
from topiarist.text.documents import Document

if TYPE_CHECKING:
    from topiarist.files.collection import Collection

BATCH = 2_000
MOST_PIECES = 8  # of counts: then they become one
PART = 0.1  # of a document in a topic, to be told as one of several
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
    places: tuple[Place, ...] = ()  # every topic with a part of it, if several were asked for

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data, without the text."""
        plain: dict[str, Any] = {"id": self.document.id, "title": self.document.title, "topic": self.topic}
        for name in ("path", "certainty", "words", "unusual", "labels", "label_certainty"):
            value = getattr(self, name)
            plain[name] = list(value) if isinstance(value, tuple) else value
        plain["places"] = [
            {"topic": place.topic, "path": list(place.path), "share": round(place.share, 4)} for place in self.places
        ]
        return plain


def file(
    collection: Collection,
    documents: Iterable[Document],
    rho: float = 0.9,
    *,
    several: bool = False,
    live: bool = False,
) -> Iterator[Filed]:
    """Where documents belong, one after the other; with ``several`` every topic that has a tenth of one.

    ``live``: answer as documents come, however slowly that is, instead of in large batches.
    """
    _check_rho(rho)
    for batch in coming(documents, BATCH) if live else batches(documents, BATCH):
        yield from placed(collection, batch, rho, several=several)[0]


class Batch(NamedTuple):
    """Some documents: where they belong, and what keeping them needs."""

    filed: list[Filed]
    counts: Csr
    posterior: Any


def placed(collection: Collection, batch: list[Document], rho: float, *, several: bool = False) -> Batch:
    """Each document of a batch with its place in words."""
    outline, words = collection.outline, collection.counting.vocabulary.words
    tree, counts = outline.tree, collection.counted(batch)
    places = collection.placer.place(counts, rho, _usual(collection))
    nodes = (places.posterior.astype(np.float64) @ tree.path_mask(outline.class_nodes)).round(4)
    labels = collection.categories.told(counts) if collection.categories is not None else None
    parts = all_places(collection, places.posterior, PART) if several else None
    paths = {int(node): tree.path(int(node))[1:] for node in np.unique(places.nodes)}
    names = {node: tuple(tree.names[step] for step in path) for node, path in paths.items()}
    filed = []
    for row, (document, node, unusual) in enumerate(
        zip(batch, places.nodes.tolist(), places.unusual.tolist(), strict=True)
    ):
        known = labels[row] if labels is not None else ((), ())
        decided = tuple([words[column] for column in places.words[row]])
        certainty = tuple(nodes[row, list(paths[node])].tolist())
        own = parts[row] if parts is not None else ()
        filed.append(Filed(document, outline.topics[node], names[node], certainty, decided, unusual, *known, own))
    return Batch(filed, counts, places.posterior)


def add(
    collection: Collection,
    documents: Iterable[Document],
    rho: float = 0.9,
    *,
    learn: bool = True,
    several: bool = False,
    rename: bool = False,
) -> Iterator[Filed]:
    """File documents and keep them: all of them are in the collection when the last has come, or none.

    With ``learn`` a model that can (cam and hplsa, as they were grown) learns from them, and every document finds its
    place anew. A document whose id is taken is refused, or with ``rename`` gets a number behind its id.
    """
    _check_rho(rho)
    with collection.folder.writing() as generation:
        collection.refresh()
        state, parts = collection.state, list[Batch]()
        known = set(collection.documents.ids())
        for batch in batches(documents, BATCH):
            found = placed(collection, _with_own_ids(batch, known, rename=rename), rho, several=several)
            yield from found.filed
            parts.append(found)
        if not parts:
            return
        added = [one.document for part in parts for one in part.filed]
        new = _Addition(collection, generation, state)
        with generation.database.transaction():
            Documents(generation.database).append(added)
            counts = contents.stacked([part.counts for part in parts])
            shares = contents.stacked([sparse_shares(part.posterior) for part in parts])
            state = new.kept(added, counts, shares, learn=learn)
            log.record(generation.database, ADD, {"documents": len(added)}, state.to_dict(), parts=new.parts)
    collection.refresh()


def _check_rho(rho: float) -> None:
    if not 0 <= rho <= 1:
        raise UsageError(f"rho is a probability from 0 to 1, got {rho}", hint="0.9")


def _with_own_ids(batch: list[Document], known: set[str], *, rename: bool) -> list[Document]:
    """The documents, each with an id that nobody has; ``known`` is told of them."""
    found = []
    for document in batch:
        if document.id in known:
            if not rename:
                raise InputError(
                    f"there is a document {document.id!r} already", hint="--rename gives new ids; or leave it out"
                )
            number = 2
            while f"{document.id}#{number}" in known:
                number += 1
            document = replace(document, id=f"{document.id}#{number}")
        known.add(document.id)
        found.append(document)
    return found


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
        shares = shares_of(model, whole)
        if pins := self.collection.outline.pins:
            shares = self._with_pinned(shares, [self.collection.documents.row_of(name) for name in pins])
        rows = self._matrix(SHARES, shares)
        return state.with_part(TREE, tree.name).with_pieces(SHARES, [rows])

    def _with_pinned(self, shares: Csr, rows: list[int]) -> Csr:
        """What people pinned stays where it was, whatever the model has learned."""
        where = np.zeros(shares.shape[0], bool)
        where[rows] = True
        kept = self.collection.shares
        old = contents.stacked([kept, csr_array((len(where) - kept.shape[0], kept.shape[1]), dtype=kept.dtype)])
        whole = csr_array(shares.multiply(~where[:, None]) + old.multiply(where[:, None]))
        whole.eliminate_zeros()
        return whole


def _usual(collection: Collection) -> Usual:
    return Usual(tuple(collection.description.facts["usual"]))
