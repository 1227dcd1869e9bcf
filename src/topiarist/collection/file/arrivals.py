"""Filing of new documents: topics, certainties and deciding words; optional addition to the collection."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from queue import Empty, Full, Queue
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from topiarist.arrays import Floats
from topiarist.collection import contents
from topiarist.collection.classify.filing import predict_label_certainties
from topiarist.collection.describe.account import write_problem_list
from topiarist.collection.describe.documents import list_places
from topiarist.collection.document_vectors import make_zero_vectors, vectors_for
from topiarist.collection.file.additions import (
    ADD,
    Addition,
    UniqueIds,
    find_reachable_generations,
    find_reachable_states,
)
from topiarist.collection.file.placer import explain_misfits
from topiarist.collection.grow.exclusions import REPEATED, add_repeated_lines, count_repeated_lines
from topiarist.collection.grow.read_as_grown import get_date_order
from topiarist.collection.passages import DocumentCount, has_passages
from topiarist.collection.search.results import Place
from topiarist.collection.shape.kept_names import find_name_changes
from topiarist.counts.counting import CountedTexts
from topiarist.counts.embeddings.vector_sources import to_vector_source
from topiarist.errors import UsageError, reading
from topiarist.estimators.tree.fitted_tree import make_sparse_shares
from topiarist.estimators.tree.topic_certainty import MAX_CERTAINTY
from topiarist.metrics.placed_documents import MIN_CERTAINTY
from topiarist.models.misfits import LengthLimits
from topiarist.storage import edit_log, facts
from topiarist.storage.collection_folder import Manifest
from topiarist.storage.database import Database
from topiarist.storage.document_table import Documents
from topiarist.text.documents import Document
from topiarist.text.language import LANGUAGE, LANGUAGE_COLUMN, detect_language_among, language_name
from topiarist.text.passages import get_parent_id, split_passages
from topiarist.text.titles import add_title

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection


BATCH_SIZE = 2_000
UNEXPLAINED = "no topic explains its words"
MIN_PART = 0.1  # smallest share of a document in a topic that ``several`` lists
T = TypeVar("T")
WAIT = 0.1  # seconds until the reader thread checks whether its consumer stopped


@dataclass(frozen=True)
class FiledDocument:
    """Document with its topic path, the certainty at each level, and the reasons."""

    document: Document
    topic: int
    path: tuple[str, ...]  # names from below the root down to the topic
    certainty: tuple[float, ...]  # P(topic|document) at each level
    words: tuple[str, ...]  # deciding words
    unusual: bool  # is less likely than nearly all documents of the collection
    labels: tuple[str, ...] = ()  # predicted categories
    label_certainty: tuple[float, ...] = ()
    places: tuple[Place, ...] = ()  # every topic with a part of it, if ``several``
    misfit: str = ""  # reason why it fits no topic; such a document is at the root
    copy_of: str = ""  # id of the original, if an added document is a duplicate
    shared: float = 0.0  # similarity to the original; 1: the same words in the same order
    far: bool = False  # its embedding is farther from all topics than nearly all others

    def to_dict(self) -> dict[str, Any]:
        """Return the value as plain JSON data, without the text."""
        names = ("path", "certainty", "words", "unusual", "labels", "label_certainty", "misfit")
        values = {name: getattr(self, name) for name in names}
        return {
            "id": self.document.id,
            "title": self.document.title,
            "topic": self.topic,
            **{name: list(value) if isinstance(value, tuple) else value for name, value in values.items()},
            "places": [{"topic": p.topic, "path": list(p.path), "share": round(p.share, 4)} for p in self.places],
            **({"far": True} if self.far else {}),
            **({"copy_of": self.copy_of, "shared": round(self.shared, 4)} if self.copy_of else {}),
        }


def file_documents(
    collection: Collection,
    documents: Iterable[Document],
    rho: float = MIN_CERTAINTY,
    *,
    several: bool = False,
    live: bool = False,
    vectors: Any = None,
) -> Iterator[FiledDocument]:
    """Yield documents with their topics, in order; with ``several``, every topic with a tenth of a document.

    ``live`` yields documents as they arrive, instead of in large batches. ``vectors`` are the embeddings, or their
    source.
    """
    _check_rho(rho)
    first, source = 0, None if vectors is None else to_vector_source(vectors)
    for batch in collect_batches(documents, BATCH_SIZE) if live else split_batches(documents, BATCH_SIZE):
        batch_vectors = vectors_for(collection, batch, first, source)
        first += len(batch)
        yield from place_batch(collection, batch, rho, several=several, vectors=batch_vectors)[0]
    if source is not None:
        source.check(first)


def file_with_certainty(
    collection: Collection, documents: Iterable[Document], rho: float = MIN_CERTAINTY
) -> Iterator[tuple[FiledDocument, dict[str, float]]]:
    """Yield documents with their topics and the certainty of each label; they are counted and encoded once."""
    _check_rho(rho)
    for batch in split_batches(documents, BATCH_SIZE):
        made = place_batch(collection, batch, rho, vectors=vectors_for(collection, batch, 0, None))
        label_certainties = predict_label_certainties(collection, made.text_counts.counts, made.vectors)
        for place, row in enumerate(made.filed):
            yield row, dict(zip(row.labels, row.label_certainty, strict=False)) | label_certainties.get(place, {})


class Batch(NamedTuple):
    """Filed documents of one batch, with the counts and posteriors that an addition needs."""

    filed: list[FiledDocument]
    text_counts: CountedTexts
    posterior: Any
    vectors: Floats | None = None

    @property
    def documents(self) -> list[Document]:
        """Documents of the batch without their topics."""
        return [row.document for row in self.filed]


def place_batch(
    collection: Collection,
    batch: list[Document],
    rho: float,
    *,
    several: bool = False,
    text_counts: CountedTexts | None = None,
    vectors: Floats | None = None,
) -> Batch:
    """Return the documents of a batch with their topics and reasons."""
    batch = [add_title(document, collection.counting.repeated.forms) for document in batch]
    outline, words = collection.outline, collection.counting.vocabulary.words
    tree, text_counts = outline.tree, text_counts or collection.count_with_coverage(batch)
    counts = collection.counting.apply_word_edits(text_counts.counts)
    places = collection.placer.place(counts, rho, _load_limits(collection, "usual"), vectors=vectors)
    is_unusual = places.unusual | _load_limits(collection, "familiar").is_outlier(text_counts.share, text_counts.tokens)
    reasons = explain_misfits(batch, text_counts, is_unusual, collection.languages)
    is_far = np.zeros(len(batch), np.bool_)
    if vectors is not None and (outliers := collection.outlier_threshold):
        is_far = outliers.is_outlier(vectors)
        is_unusual = is_unusual | is_far
    nodes = (places.class_certainty @ tree.path_mask(outline.class_nodes)).clip(max=MAX_CERTAINTY).round(4)
    labels: list[tuple[tuple[str, ...], tuple[float, ...]]] = [((), ())] * len(batch)
    if collection.categories is not None:
        labels = collection.categories.predict(text_counts.counts, vectors)
    parts: list[tuple[Place, ...]] = [()] * len(batch)
    if several:
        parts = list_places(collection, places.class_certainty, MIN_PART)
    filed = []
    for position, document in enumerate(batch):
        node = tree.root if reasons[position] else int(places.nodes[position])
        path = list(tree.path(node)[1:])
        filed.append(
            FiledDocument(
                document,
                outline.topics[node],
                path=tuple(tree.names[step] for step in path),
                certainty=tuple(nodes[position, path].tolist()),
                words=tuple(words[column] for column in places.words[position]),
                unusual=bool(is_unusual[position]),
                labels=labels[position][0],
                label_certainty=labels[position][1],
                places=parts[position],
                misfit=reasons[position],
                far=bool(is_far[position]),
            )
        )
    return Batch(filed, text_counts, places.posterior, vectors)


def add_documents(
    collection: Collection,
    documents: Iterable[Document],
    rho: float = MIN_CERTAINTY,
    *,
    learn: bool = True,
    several: bool = False,
    rename: bool = False,
    dates: str | None = None,
    vectors: Any = None,
) -> Iterator[FiledDocument]:
    """File documents and add all of them to the collection; after an error none is added.

    With ``learn`` a model that can learn (cam and hplsa, as grown) learns from them, and every document is filed again.
    The rows have the new topics. Whether a document is unusual is decided before the model learns from it. Documents
    are split into passages if the collection has passages. A taken id is an error, or with ``rename`` gets a number.
    ``dates`` is the order of day and month in ambiguous dates; None for the order of the collection.
    """
    _check_rho(rho)
    with collection.folder.writing() as generation:
        collection.refresh()
        has_split, ids_before = has_passages(collection), collection.documents.ids()
        ids = UniqueIds([*ids_before, *map(get_parent_id, ids_before if has_split else ())], rename=rename)
        has_column = bool(collection.settings.get(LANGUAGE_COLUMN))
        named = (with_language(one, collection.languages) for one in documents) if has_column else documents
        parts, n_brought = list[Batch](), 0
        source = None if vectors is None else to_vector_source(vectors)
        for chunk in split_batches(named, BATCH_SIZE):
            batch = [ids.assign_id(document) for document in chunk]
            n_brought += len(batch)
            if has_split:
                forms = collection.counting.repeated.forms
                batch = [one for whole in batch for one in split_passages(add_title(whole, forms))]
            batch_vectors = vectors_for(collection, batch, sum(len(part.documents) for part in parts), source)
            parts.append(place_batch(collection, batch, rho, several=several, vectors=batch_vectors))
        if not parts:
            return iter(())
        new_documents = [document for part in parts for document in part.documents]
        if source is not None:
            source.check(len(new_documents))
        new = Addition(collection, generation)
        with generation.database.transaction():
            Documents(generation.database).append(new_documents, get_date_order(collection, dates))
            names = {name for one in new_documents for name in (one.id, get_parent_id(one.id))}
            facts.clear_removed(generation.database, names)
            counts = contents.stack_rows([part.text_counts.counts for part in parts])
            shares = contents.stack_rows([make_sparse_shares(part.posterior) for part in parts])
            misfits = np.flatnonzero([bool(row.misfit) for part in parts for row in part.filed])
            shares = contents.replace_rows(shares, misfits, np.zeros((len(misfits), shares.shape[1])))
            codes = (detect_language_among(document.text, collection.languages) for document in new_documents)
            facts.add_languages(generation.database, enumerate(codes, len(collection)))  # a fit needs them
            state = new.add(new_documents, counts, shares, _join_vectors(collection, parts), learn=learn)
            _update_repeated_lines(collection, generation.database, new_documents)
            tokens = sum(float(part.text_counts.known_tokens.sum()) for part in parts)
            facts.add_tokens(generation.database, round(tokens))
            body: dict[str, Any] = {"documents": len(new_documents), "learned": learn and new.learns}
            if n_brought < len(new_documents):
                body["said"] = str(DocumentCount(len(new_documents), n_brought, n_brought, cut=True))
            body |= find_name_changes(collection.outline, state.shape).to_dict()
            edit_log.record(generation.database, ADD, body, state.to_dict(), parts=new.parts)
            edit_log.forget(generation.database, find_reachable_states(generation))
        old_generations = collection.folder.manifest.kept
        left = find_reachable_generations(generation, old_generations)
        if left != old_generations:  # undo cannot reach the others
            collection.folder.go_to(Manifest(generation.folder.name, kept=left))
        has_learned = learn and new.learns
    collection.refresh()
    write_problem_list(collection)
    rows = [row for part in parts for row in part.filed]
    if has_learned:
        rows = [row for part in parts for row in _refile(collection, part, rho, several=several)]
        start, root = len(collection) - len(rows), collection.outline.root
        is_sorted = np.diff(collection.shares[start:].indptr) > 0
        rows = [
            row if kept or row.misfit else replace(row, topic=root, path=(), certainty=(), misfit=UNEXPLAINED)
            for row, kept in zip(rows, is_sorted.tolist(), strict=True)
        ]
    return iter(_link_originals(collection, rows))


def _update_repeated_lines(collection: Collection, database: Database, documents: list[Document]) -> None:
    """Add the repeated lines of documents to the facts of the collection."""
    repeated_facts, repeated = collection.settings.get(REPEATED) or {}, collection.counting.repeated
    if repeated.forms:
        number, words = count_repeated_lines((document.text for document in documents), repeated)
        facts.change_settings(database, {REPEATED: add_repeated_lines(repeated_facts, number, words)})


def _join_vectors(collection: Collection, parts: list[Batch]) -> Floats | None:
    """Return the embeddings of added documents, zeros for missing ones; None in a collection without any."""
    if collection.vectors is None:
        return None
    n_dims = collection.vectors.shape[1]
    vectors = [make_zero_vectors(len(part.filed), n_dims) if part.vectors is None else part.vectors for part in parts]
    return np.concatenate(vectors)


def with_language(document: Document, codes: Sequence[str]) -> Document:
    """Return an added document with its language among its columns, unless it has one or none is detected.

    ``codes`` are the languages of the collection.
    """
    code = detect_language_among(document.text, codes)
    if not code or any(name.casefold() == LANGUAGE for name, _ in document.columns):
        return document
    return replace(document, columns=(*document.columns, (LANGUAGE, language_name(code))))


def _link_originals(collection: Collection, rows: list[FiledDocument]) -> list[FiledDocument]:
    """Return the rows of added documents, each duplicate with its original."""
    copies, start = collection.copies, len(collection) - len(rows)
    is_new, rows = copies.rows >= start, list(rows)
    originals = collection.documents.load_many(copies.originals[is_new].tolist(), texts=False)
    entries = zip(copies.rows[is_new].tolist(), originals, copies.shared[is_new].tolist(), strict=True)
    for row, original, shared in entries:
        rows[row - start] = replace(rows[row - start], copy_of=original.id, shared=shared)
    return rows


def _refile(collection: Collection, part: Batch, rho: float, *, several: bool) -> list[FiledDocument]:
    """Return the documents of a batch filed again by the model that learned from them."""
    now = place_batch(
        collection, part.documents, rho, several=several, text_counts=part.text_counts, vectors=part.vectors
    ).filed
    return [replace(row, unusual=old_row.unusual) for row, old_row in zip(now, part.filed, strict=True)]


def _check_rho(rho: float) -> None:
    if not 0 <= rho <= 1:
        raise UsageError(f"expected rho from 0 to 1, got {rho}", hint="Use 0.5.")


def _load_limits(collection: Collection, name: str) -> LengthLimits:
    """Return the limits of the likelihood of words ("usual") or of the share of known words ("familiar")."""
    with reading(f"the description of topics of {collection.folder.display_path}"):
        return LengthLimits(tuple(map(float, collection.description.facts.get(name, LengthLimits.NO_LIMITS))))


def split_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of ``size`` items; the last can be shorter."""
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch


def collect_batches(items: Iterable[T], size: int, patience: float = 0.0) -> Iterator[list[T]]:
    """Yield lists of the items that arrived meanwhile: at least one, at most ``size``.

    With ``patience``, wait until a list is full, or for this number of seconds after its first item. A thread reads
    ahead, so that a slow source is answered at once and a fast one in large batches.
    """
    waiting: Queue[T | _EndOfStream] = Queue(2 * size)
    left = threading.Event()

    def put(item: T | _EndOfStream) -> None:
        while not left.is_set():
            with suppress(Full):
                waiting.put(item, timeout=WAIT)
                break

    def reads() -> None:
        end = _EndOfStream()
        try:
            for item in items:
                put(item)
                if left.is_set():
                    return
        except BaseException as error:
            end = _EndOfStream(error)
        put(end)

    threading.Thread(target=reads, daemon=True).start()
    try:
        while True:
            batch, end = _take_batch(waiting, size, patience)
            if batch:
                yield batch
            if end is not None:
                if end.error is not None:
                    raise end.error
                return
    finally:
        left.set()


class _EndOfStream:
    """Last item of a queue, with the error of the source, if any."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def _take_batch(waiting: Queue[T | _EndOfStream], size: int, patience: float) -> tuple[list[T], _EndOfStream | None]:
    """Wait for an item; return it with later ones within ``patience`` s, and the end of the stream if reached."""
    batch: list[T] = []
    item = waiting.get()
    deadline = time.monotonic() + patience
    while not isinstance(item, _EndOfStream):
        batch.append(item)
        if len(batch) == size:
            return batch, None
        try:
            item = waiting.get(timeout=max(0.0, deadline - time.monotonic()))
        except Empty:
            return batch, None
    return batch, item
