"""Integrity of a collection: checksums, tables, names and the agreement of its parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from topiarist.collection.search.index.soundness import check_sound
from topiarist.collection.state import CATEGORIES
from topiarist.errors import (
    DamagedError,
    ResourceError,
    SystemLimitError,
    TopiaristError,
    reading,
)
from topiarist.storage import edit_log, facts
from topiarist.storage.collection_folder import GROWING, Folder, list_leftovers, list_part_leftovers
from topiarist.storage.database import DAMAGED_DATABASE, require_fts5
from topiarist.storage.document_table import Documents
from topiarist.storage.fulltext import Index
from topiarist.storage.generation import DATABASE, Generation, part_faults
from topiarist.storage.sealed_folder import lock_folder

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection


Severity = Literal["error", "warning", "note"]
T = TypeVar("T")

REPLACE_ADVICE = "restore it from a backup, or grow it again with --force"
REPAIR = "topiarist check --repair"
LOCK_NOTE = "readers and writers wait for each other, because the database was created on a network drive"
MAX_FAULTS = 20  # faults of one kind in the result
BLOCK_ROWS = 1 << 14  # vectors that are checked at once
SHARE_TOLERANCE = 1e-3  # tolerance of the sum of the shares of a document, which have single precision


@dataclass(frozen=True)
class Finding:
    """Fault or note of a check, with advice."""

    severity: Severity
    what: str
    where: str
    advice: str


def check_folder(path: str | os.PathLike[str]) -> list[Finding]:
    """Return all faults of a collection; a missing collection, or a lack of files, memory or disk, is an error."""
    require_fts5()
    display_path = os.fspath(path)
    try:
        folder = Folder.open(path)
    except DamagedError as error:
        return [Finding("error", error.message, display_path, error.hint if "pip" in error.hint else REPLACE_ADVICE)]
    try:
        findings = [*_guard(_check_database, folder.generation), *_guard(_check_leftovers, folder)]
        if not any(finding.severity == "error" for finding in findings):
            findings = [*_guard(_check_agreement, folder), *findings]
        return findings
    finally:
        folder.close()


def _guard(find_faults: Callable[[T], Iterator[Finding]], target: T) -> Iterator[Finding]:
    """Yield the findings of a check; any error from a damaged file is a finding, but a lack of resources is raised."""
    try:
        with reading("something in it"):
            yield from find_faults(target)
    except SystemLimitError:
        raise
    except ResourceError as error:
        yield Finding("warning", f"could not be checked: {error.message}", DATABASE, error.hint)
    except TopiaristError as error:
        yield Finding("error", error.message, DATABASE, REPLACE_ADVICE)


def repair_folder(path: str | os.PathLike[str]) -> list[Finding]:
    """Rebuild the full-text index and remove leftovers under the lock; check again and return the findings."""
    folder = Folder.open(path)
    try:
        with suppress(DamagedError), folder.writing() as generation, generation.database.transaction():
            Documents(generation.database).index()
    finally:
        folder.close()
    return check_folder(path)


def _check_database(generation: Generation) -> Iterator[Finding]:
    """Yield a single finding for an unreadable database, otherwise all faults in it."""
    database = generation.database
    faults = list(database.faults(MAX_FAULTS))
    yield from (Finding("error", fault, DATABASE, REPLACE_ADVICE) for fault in faults)
    if any(fault.startswith(DAMAGED_DATABASE) for fault in faults):
        return  # answers of a damaged database are unreliable and may not end
    if database.is_exclusive:
        yield Finding("note", LOCK_NOTE, DATABASE, "no action is needed; on a local disk they do not wait")
    with database.snapshot():
        yield from (Finding("error", fault, DATABASE, REPLACE_ADVICE) for fault in _check_tables(generation))
        yield from _check_parts(generation)
    findings = list(_check_index(generation))
    yield from findings
    if not any(finding.severity == "error" for finding in findings):
        yield from (Finding("error", fault, DATABASE, REPAIR) for fault in Index(database).find_defects())


def _check_tables(generation: Generation) -> Iterator[str]:
    """Yield faults of documents (gaps, changes) and of states and their parts."""
    documents = Documents(generation.database)
    yield from documents.gaps()
    changed_documents = list(documents.find_changed_texts())
    for row, id in changed_documents[:MAX_FAULTS]:
        yield f"document {id!r} (row {row}) has changed since it was written"
    if len(changed_documents) > MAX_FAULTS:
        yield f"and {len(changed_documents) - MAX_FAULTS:,} more documents"
    yield from edit_log.faults(generation.database)
    yield from facts.find_changed_tables(generation.database)
    for read_table in (facts.settings, edit_log.history):
        try:
            read_table(generation.database)
        except DamagedError as error:
            yield error.message


def _check_parts(generation: Generation) -> Iterator[Finding]:
    """Yield the faults of stored parts: errors in the current state, warnings in earlier states."""
    now = edit_log.current(generation.database)
    current = set(edit_log.list_parts(now[1])) if now else set()
    for name, digest in edit_log.parts(generation.database).items():
        for fault in part_faults(generation.folder / name, digest, contents=True):
            if name in current:
                yield Finding("error", fault, name, REPLACE_ADVICE)
            else:
                yield Finding("warning", fault, name, "it belongs to an earlier state, and undo cannot restore that")


def _check_agreement(folder: Folder) -> Iterator[Finding]:
    """Yield disagreements between parts that are each unchanged, and the state."""
    from topiarist.collection.collection import Collection

    for fault in find_disagreements(Collection(folder)):
        yield Finding("error", fault, folder.generation.folder.name, REPLACE_ADVICE)


def _check_index(generation: Generation) -> Iterator[Finding]:
    """Yield a finding if the full-text index differs from the texts; FTS5 requires write access for this check."""
    if not os.access(generation.folder, os.W_OK):
        message = "the full-text index was not checked: the folder is read-only"
        yield Finding("note", message, DATABASE, "check a copy in a writable folder")
        return
    writer = Generation.open(generation.folder, generation.display_path, write=True)
    try:
        with lock_folder(generation.folder.parent, generation.display_path):
            Index(writer.database).check()
    except SystemLimitError:
        raise
    except DamagedError:
        yield Finding("error", "the full-text index does not agree with the texts", DATABASE, REPAIR)
    except ResourceError as error:
        message = f"the full-text index was not checked: {error.message}"
        yield Finding("note", message, DATABASE, "check again when no other process writes")
    finally:
        writer.close()


def _check_leftovers(folder: Folder) -> Iterator[Finding]:
    """Yield notes on files outside the present collection and on an unfinished grow."""
    paths: list[Path] = []
    with suppress(TopiaristError):
        paths = [*list_leftovers(folder.path, folder.manifest), *list_part_leftovers(folder.generation)]
    for path in paths:
        where = path.relative_to(folder.path).as_posix()
        yield Finding(
            "note",
            "not part of the present collection: replaced, undone or not finished; the next change removes it",
            where,
            REPAIR,
        )
    if (folder.path / GROWING).is_dir():
        yield Finding(
            "note", "an unfinished grow", GROWING, "run topiarist grow with --resume, or with --force to start again"
        )


def find_disagreements(collection: Collection) -> Iterator[str]:
    """Yield a sentence for each disagreement of the parts; an unreadable part is one."""
    for find_faults in (
        _check_documents,
        _check_counts,
        _check_shares,
        _check_vectors,
        _check_tree,
        _check_search,
        _check_categories,
    ):
        try:
            with reading("a part"):
                yield from find_faults(collection)
        except SystemLimitError:
            raise
        except DamagedError as error:
            yield error.message
        except TopiaristError as error:
            yield f"a part cannot be used: {error.message}"


def _check_documents(collection: Collection) -> Iterator[str]:
    """Yield faults of the number of documents and of pinned documents."""
    number = len(collection.documents)
    if number != len(collection):
        yield f"the state has {len(collection):,} documents, the database {number:,}"
    missing = [name for name in collection.outline.pins if name not in collection.documents]
    if missing:
        yield f"{len(missing):,} pinned documents are missing, {missing[0]!r} among them"


def _check_counts(collection: Collection) -> Iterator[str]:
    """Yield faults of the word counts: their number of columns and invalid values."""
    counts, words = collection.counts, len(collection.counting.vocabulary)
    if counts.shape[1] != words:
        yield f"counts are of {counts.shape[1]:,} words, the vocabulary has {words:,}"
    if counts.nnz and not (np.isfinite(counts.data).all() and counts.data.min() >= 0):
        yield "counts are not all numbers from 0 upward"


def _check_shares(collection: Collection) -> Iterator[str]:
    """Yield faults of the class shares: their number of columns and sums other than one."""
    shares, classes = collection.shares, len(collection.outline.class_topics)
    if shares.shape[1] != classes:
        yield f"shares are of {shares.shape[1]:,} classes, the tree has {classes:,}"
    sums = np.asarray(shares.sum(axis=1, dtype=np.float64)).ravel()
    wrong = int((~((np.abs(sums - 1.0) <= SHARE_TOLERANCE) | (sums == 0.0))).sum())  # unsorted documents have none
    if wrong:
        yield f"the shares of {wrong:,} documents do not add up to one"


def _check_vectors(collection: Collection) -> Iterator[str]:
    """Yield faults of the embeddings: invalid values and other dimensions than the tree."""
    vectors, directions = collection.vectors, getattr(collection.model, "directions_", None)
    if vectors is None:
        return
    wrong = sum(
        int(np.count_nonzero(~np.isfinite(vectors[start : start + BLOCK_ROWS]).all(axis=1)))
        for start in range(0, len(vectors), BLOCK_ROWS)
    )
    if wrong:
        yield f"the vectors of {wrong:,} documents are not all finite numbers"
    if directions is not None and directions.shape[1] != vectors.shape[1]:
        yield f"vectors have {vectors.shape[1]:,} dimensions, the directions of topics {directions.shape[1]:,}"


def _check_tree(collection: Collection) -> Iterator[str]:
    """Yield disagreements of topics, nodes, classes and words between the state and the model."""
    outline, model = collection.outline, collection.tree_model
    topics = set(outline.topics)
    if len(topics) != len(outline.tree) or not set(outline.class_topics) <= topics:
        yield "the topics of the tree differ from the topics of its state"
    if not set(outline.node_topics) <= topics | {-1}:
        yield "nodes of the model belong to missing topics"
    for name, number in (("the model", len(model.tree)), ("the description", len(collection.description.nodes))):
        if number != len(outline.node_topics):
            yield f"{name} has {number:,} nodes, the state {len(outline.node_topics):,}"
    if len(model.class_nodes) != len(outline.class_topics):
        yield f"the model has {len(model.class_nodes):,} classes, the state {len(outline.class_topics):,}"
    words = len(collection.counting.vocabulary)
    if model.word_given_node.shape[1] != words:
        yield f"the model knows {model.word_given_node.shape[1]:,} words, the vocabulary has {words:,}"
    if not np.isfinite(model.word_given_node).all():
        yield "the model has values that are not finite numbers"


def _check_search(collection: Collection) -> Iterator[str]:
    """Yield faults of both search indexes; raise ValueError for an unsound index by meaning."""
    index = collection.index
    if len(index) != len(collection):
        yield f"the index by meaning has {len(index):,} documents, the collection {len(collection):,}"
    if index.n_words != len(collection.counting.vocabulary):
        words = len(collection.counting.vocabulary)
        yield f"the index by meaning knows {index.n_words:,} words, the vocabulary has {words:,}"
    check_sound(index, numbers=True)
    words_index = collection.words
    if len(words_index) != len(collection):
        yield f"the index of words has {len(words_index):,} documents, the collection {len(collection):,}"
    if not all(lists.rises for lists in words_index.segments):
        yield "the index of words is not sorted, so words are not found"


def _check_categories(collection: Collection) -> Iterator[str]:
    """Yield a fault if categories were learned from another number of words."""
    if collection.state.parts.get(CATEGORIES) is None or collection.categories is None:
        return
    n_features, words = collection.categories.model.n_features_in_, len(collection.counting.vocabulary)
    if n_features != words:
        yield f"the categories were learned from {n_features:,} words, the vocabulary has {words:,}"
