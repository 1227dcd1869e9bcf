"""Filing new documents, as fast as they come: where each belongs, how sure, which words decided; adding them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from queue import Empty, Full, Queue
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from topiarist.arrays import Floats
from topiarist.collection import contents
from topiarist.collection.describe.closeup import all_places
from topiarist.collection.describe.problem_list import write_problem_list
from topiarist.collection.document_vectors import none_for, vectors_for
from topiarist.collection.file.additions import ADD, Addition, OwnIds, generations_within_reach, reachable
from topiarist.collection.file.misfits import misfits
from topiarist.collection.find.search import Place
from topiarist.collection.grow.left_out import ADDED, REPEATED, repeated_in, with_repeated
from topiarist.collection.judge.filing import labels_with_certainty
from topiarist.collection.passages import Extent, is_cut
from topiarist.counts.counting import Heard
from topiarist.counts.embeddings.given import given_vectors
from topiarist.errors import UsageError, reading
from topiarist.estimators.tree.fitted_tree import sparse_shares
from topiarist.models.misfits import Usual
from topiarist.store import edit_log, facts
from topiarist.store.collection_folder import Manifest
from topiarist.store.database import Database
from topiarist.store.document_table import Documents
from topiarist.text.dates import AUTO
from topiarist.text.documents import Document
from topiarist.text.language import LANGUAGE, LANGUAGE_COLUMN, language_name, language_of_text
from topiarist.text.passages import passages, whole_id
from topiarist.text.titles import titled

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection


BATCH = 2_000
PART = 0.1  # of a document in a topic, to be told as one of several
T = TypeVar("T")
WAIT = 0.1  # seconds until a reader looks whether anybody still listens


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
    misfit: str = ""  # why it fits nowhere: then it is at the root, whatever the certainties are
    copy_of: str = ""  # the document that was there already, of which an added one is a copy or near-copy
    shared: float = 0.0  # of their words; 1: the same words in the same order
    far: bool = False  # its vector lies farther from all topics than those of nearly all documents of the collection

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data, without the text."""
        plain: dict[str, Any] = {"id": self.document.id, "title": self.document.title, "topic": self.topic}
        for name in ("path", "certainty", "words", "unusual", "labels", "label_certainty", "misfit"):
            value = getattr(self, name)
            plain[name] = list(value) if isinstance(value, tuple) else value
        plain["places"] = [
            {"topic": place.topic, "path": list(place.path), "share": round(place.share, 4)} for place in self.places
        ]
        if self.far:
            plain["far"] = True
        if self.copy_of:
            plain |= {"copy_of": self.copy_of, "shared": round(self.shared, 4)}
        return plain


def file(
    collection: Collection,
    documents: Iterable[Document],
    rho: float = 0.9,
    *,
    several: bool = False,
    live: bool = False,
    vectors: Any = None,
) -> Iterator[Filed]:
    """Where documents belong, one after the other; with ``several`` every topic that has a tenth of one.

    ``live``: answer as documents come, however slowly that is, instead of in large batches. ``vectors``: those of the
    documents, or where they come from.
    """
    _check_rho(rho)
    first, source = 0, None if vectors is None else given_vectors(vectors)
    for batch in coming(documents, BATCH) if live else batches(documents, BATCH):
        own = vectors_for(collection, batch, first, source)
        first += len(batch)
        yield from placed(collection, batch, rho, several=several, vectors=own)[0]
    if source is not None:
        source.check(first)


def file_with_certainty(
    collection: Collection, documents: Iterable[Document], rho: float = 0.9
) -> Iterator[tuple[Filed, dict[str, float]]]:
    """Where documents belong, and how certain each of their labels is; they are counted and encoded once."""
    _check_rho(rho)
    for batch in batches(documents, BATCH):
        made = placed(collection, batch, rho, vectors=vectors_for(collection, batch, 0, None))
        several = labels_with_certainty(collection, made.heard.counts, made.vectors)
        for place, one in enumerate(made.filed):
            yield one, dict(zip(one.labels, one.label_certainty, strict=False)) | several.get(place, {})


class Batch(NamedTuple):
    """Some documents: where they belong, and what keeping them needs."""

    filed: list[Filed]
    heard: Heard
    posterior: Any
    vectors: Floats | None = None

    @property
    def documents(self) -> list[Document]:
        """The documents themselves."""
        return [one.document for one in self.filed]


def placed(
    collection: Collection,
    batch: list[Document],
    rho: float,
    *,
    several: bool = False,
    heard: Heard | None = None,
    vectors: Floats | None = None,
) -> Batch:
    """Each document of a batch with its place in words."""
    batch = [titled(document, collection.counting.repeated.forms) for document in batch]
    outline, words = collection.outline, collection.counting.vocabulary.words
    tree, heard = outline.tree, heard or collection.heard(batch)
    counts = collection.counting.heeded(heard.counts)
    places = collection.placer.place(counts, rho, _usual(collection, "usual"), vectors=vectors)
    strange = places.unusual | _usual(collection, "familiar").unusual(heard.share, heard.tokens)
    why = misfits(batch, heard, strange, collection.languages)
    far = collection.farness.far(vectors) if vectors is not None and collection.farness is not None else None
    if far is not None:
        strange = strange | far
    nodes = (places.posterior.astype(np.float64) @ tree.path_mask(outline.class_nodes)).round(4)
    labels = collection.categories.told(heard.counts, vectors) if collection.categories is not None else None
    parts = all_places(collection, places.posterior, PART) if several else None
    paths = {int(node): tree.path(int(node))[1:] for node in {*places.nodes.tolist(), tree.root}}
    names = {node: tuple(tree.names[step] for step in path) for node, path in paths.items()}
    filed = []
    for row, (document, node, unusual) in enumerate(zip(batch, places.nodes.tolist(), strange.tolist(), strict=True)):
        node = tree.root if why[row] else node
        known = labels[row] if labels is not None else ((), ())
        decided = tuple([words[column] for column in places.words[row]])
        certainty = tuple(nodes[row, list(paths[node])].tolist())
        own = parts[row] if parts is not None else ()
        one = Filed(document, outline.topics[node], names[node], certainty, decided, unusual, *known, own, why[row])
        filed.append(one if far is None else replace(one, far=bool(far[row])))
    return Batch(filed, heard, places.posterior, vectors)


def add(
    collection: Collection,
    documents: Iterable[Document],
    rho: float = 0.9,
    *,
    learn: bool = True,
    several: bool = False,
    rename: bool = False,
    dates: str = AUTO,
    vectors: Any = None,
) -> Iterator[Filed]:
    """File documents and keep them: when this returns all of them are in the collection, or none after an error.

    With ``learn`` a model that can (cam and hplsa, as they were grown) learns from them, and every document finds its
    place anew; the rows tell where the new ones lie then. Whether one was unusual is told by the model that had not
    seen it yet. Long ones are cut where the collection was grown on passages. A document
    whose id is taken is refused, or with ``rename`` gets a number behind its id.
    """
    _check_rho(rho)
    with collection.folder.writing() as generation:
        collection.refresh()
        cut, taken = is_cut(collection), collection.documents.ids()
        ids = OwnIds([*taken, *map(whole_id, taken if cut else ())], rename=rename)
        named = map(with_language, documents) if collection.settings.get(LANGUAGE_COLUMN) else documents
        parts, n_brought = list[Batch](), 0
        source = None if vectors is None else given_vectors(vectors)
        for some in batches(named, BATCH):
            own = list(ids.own(some))
            n_brought += len(own)
            if cut:
                forms = collection.counting.repeated.forms
                own = [one for whole in own for one in passages(titled(whole, forms))]
            near = vectors_for(collection, own, sum(len(part.documents) for part in parts), source)
            parts.append(placed(collection, own, rho, several=several, vectors=near))
        if not parts:
            return iter(())
        added = [document for part in parts for document in part.documents]
        if source is not None:
            source.check(len(added))
        new = Addition(collection, generation)
        with generation.database.transaction():
            Documents(generation.database).append(added, dates)
            again = {name for one in added for name in (one.id, whole_id(one.id))}
            facts.take_back_removed(generation.database, again)
            counts = contents.stacked([part.heard.counts for part in parts])
            shares = contents.stacked([sparse_shares(part.posterior) for part in parts])
            state = new.kept(added, counts, shares, _vectors(collection, parts), learn=learn)
            _count_in(collection, generation.database, added)
            tokens = sum(float(part.heard.known.sum()) for part in parts)
            facts.add_tokens(generation.database, round(tokens))
            body: dict[str, Any] = {"documents": len(added), "learned": learn and new.learns}
            if n_brought < len(added):
                body["said"] = str(Extent(len(added), n_brought, n_brought, cut=True))
            edit_log.record(generation.database, ADD, body, state.to_dict(), parts=new.parts)
            edit_log.forget(generation.database, reachable(generation))
        kept = collection.folder.manifest.kept
        left = generations_within_reach(generation, kept)
        if left != kept:  # nobody comes back to the others
            collection.folder.go_to(Manifest(generation.folder.name, kept=left))
        learned = learn and new.learns
    collection.refresh()
    write_problem_list(collection)
    rows = [row for part in parts for row in part.filed]
    if learned:
        rows = [row for part in parts for row in _again(collection, part, rho, several=several)]
    return iter(_known_before(collection, rows))


def _count_in(collection: Collection, database: Database, added: list[Document]) -> None:
    """Languages and repeated lines of documents that are added, counted in where those of the others are known."""
    if facts.languages(database) is not None:
        facts.add_languages(database, enumerate((language_of_text(one.text) for one in added), len(collection)))
    known, repeated = collection.settings.get(REPEATED) or {}, collection.counting.repeated
    if known.get(ADDED) and repeated.forms:
        number, words = repeated_in((one.text for one in added), repeated)
        facts.change_settings(database, {REPEATED: with_repeated(known, number, words)})


def _vectors(collection: Collection, parts: list[Batch]) -> Floats | None:
    """The vectors of added documents, zeros for those without; None in a collection without vectors."""
    if collection.vectors is None:
        return None
    n_dims = collection.vectors.shape[1]
    given = [none_for(len(part.filed), n_dims) if part.vectors is None else part.vectors for part in parts]
    return np.concatenate(given)


def with_language(document: Document) -> Document:
    """A document with its language among its columns, unless it brings one itself or is too short to tell."""
    code = language_of_text(document.text)
    if not code or any(name.casefold() == LANGUAGE for name, _ in document.columns):
        return document
    return replace(document, columns=(*document.columns, (LANGUAGE, language_name(code))))


def _known_before(collection: Collection, rows: list[Filed]) -> list[Filed]:
    """The rows of added documents, each with the document that it is a copy of."""
    copies, start = collection.copies, len(collection) - len(rows)
    new = copies.rows >= start
    if not new.any():
        return rows
    originals = dict(zip(copies.rows[new].tolist(), copies.originals[new].tolist(), strict=True))
    shared = dict(zip(copies.rows[new].tolist(), copies.shared[new].tolist(), strict=True))
    ids = dict(
        zip(originals, (one.id for one in collection.documents.many(originals.values(), texts=False)), strict=True)
    )
    return [
        replace(row, copy_of=ids[start + place], shared=shared[start + place]) if start + place in ids else row
        for place, row in enumerate(rows)
    ]


def _again(collection: Collection, part: Batch, rho: float, *, several: bool) -> list[Filed]:
    """Where documents lie after the model has learned from them."""
    now = placed(collection, part.documents, rho, several=several, heard=part.heard, vectors=part.vectors).filed
    return [replace(row, unusual=before.unusual) for row, before in zip(now, part.filed, strict=True)]


def _check_rho(rho: float) -> None:
    if not 0 <= rho <= 1:
        raise UsageError(f"rho is a probability from 0 to 1, got {rho}", hint="0.9")


def _usual(collection: Collection, name: str) -> Usual:
    """What is usual: of the likelihood of words ("usual"), or of the share of words that are known ("familiar")."""
    with reading(f"the description of topics of {collection.folder.shown}"):
        return Usual(tuple(map(float, collection.description.facts.get(name, Usual.ANYTHING))))


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of so many."""
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch


def coming(items: Iterable[T], size: int, patience: float = 0.0) -> Iterator[list[T]]:
    """Lists of what has come while the one before was worked on: one at least, and at most ``size``.

    With ``patience`` a list is waited for until it is full, or until so many seconds after its first item.
    A thread reads ahead, so that a slow source is answered at once and a fast one in large batches.
    """
    waiting: Queue[T | _End] = Queue(2 * size)
    left = threading.Event()

    def put(item: T | _End) -> None:
        while not left.is_set():
            with suppress(Full):
                waiting.put(item, timeout=WAIT)
                break

    def reads() -> None:
        end = _End()
        try:
            for item in items:
                put(item)
                if left.is_set():
                    return
        except BaseException as error:
            end = _End(error)
        put(end)

    threading.Thread(target=reads, daemon=True).start()
    try:
        while True:
            batch, end = _taken(waiting, size, patience)
            if batch:
                yield batch
            if end is not None:
                if end.error is not None:
                    raise end.error
                return
    finally:
        left.set()


class _End:
    """The last thing in a queue: why there is no more."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def _taken(waiting: Queue[T | _End], size: int, patience: float) -> tuple[list[T], _End | None]:
    """What is there, after waiting for the first, and what comes while there is patience."""
    batch: list[T] = []
    found = waiting.get()
    until = time.monotonic() + patience
    while not isinstance(found, _End):
        batch.append(found)
        if len(batch) == size:
            return batch, None
        try:
            found = waiting.get(timeout=max(0.0, until - time.monotonic()))
        except Empty:
            return batch, None
    return batch, found
