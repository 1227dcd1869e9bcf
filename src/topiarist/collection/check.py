"""Is a collection whole? Every checksum, every table, every name, and whether its parts fit each other.

``check`` reads and changes nothing. ``repair`` makes the full-text index anew and sweeps up what nobody refers to;
nothing else can be made from what is left, and guessing would be worse than saying so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from topiarist.collection.find.index.soundness import check_sound
from topiarist.collection.state import CATEGORIES
from topiarist.errors import DamagedError, LackError, ResourceError, TopiaristError, in_words, lack, reading
from topiarist.store import edit_log, facts
from topiarist.store.collection_folder import GROWING, Folder, leftovers, part_leftovers
from topiarist.store.database import BROKEN, need_fts5
from topiarist.store.document_table import Documents
from topiarist.store.fulltext import Index
from topiarist.store.generation import DATABASE, Generation, part_faults
from topiarist.store.sealed_folder import locked

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection


Severity = Literal["error", "warning", "note"]
T = TypeVar("T")

AGAIN = "take it from a backup, or grow it anew with --force"
REPAIR = "topiarist check --repair"
ALONE = "whoever reads and whoever writes wait for each other: it was made on a drive of the network, or on one like it"
_MANY = 20  # faults of one kind; there is no need to list them all
ROWS = 1 << 14  # vectors that are looked at together
SUMS = 1e-3  # how far the shares of a document may be from one: they are single-precision numbers


@dataclass(frozen=True)
class Finding:
    """Something that is not as it should be, and what to do."""

    severity: Severity
    what: str
    where: str
    advice: str


def check(path: str | os.PathLike[str]) -> list[Finding]:
    """Everything that is wrong with a collection; nothing, if all is well. No collection at all is an error.

    So is a lack of files, memory or disk: what could not be looked at is neither whole nor damaged.
    """
    need_fts5()
    shown = os.fspath(path)
    try:
        folder = Folder.open(path)
    except DamagedError as error:
        return [Finding("error", error.message, shown, error.hint if "pip" in error.hint else AGAIN)]
    try:
        found = [*_guarded(_database_findings, folder.generation), *_guarded(_leftover_findings, folder)]
        if not any(one.severity == "error" for one in found):
            found = [*_guarded(_agreement_findings, folder), *found]
        return found
    finally:
        folder.close()


def _guarded(look: Callable[[T], Iterator[Finding]], at: T) -> Iterator[Finding]:
    """What somebody finds; whatever a damaged or forged file makes of that is a finding too, a lack of room is not."""
    try:
        with reading("something in it"):
            yield from look(at)
    except LackError:
        raise
    except TopiaristError as error:
        yield Finding("error", error.message, DATABASE, AGAIN)


def repair(path: str | os.PathLike[str]) -> list[Finding]:
    """Make the full-text index anew and remove leftovers, under the lock; what is still wrong afterwards."""
    folder = Folder.open(path)
    try:
        with suppress(DamagedError), folder.writing() as generation, generation.database.transaction():
            Documents(generation.database).index()
    finally:
        folder.close()
    return check(path)


def _database_findings(generation: Generation) -> Iterator[Finding]:
    """A database that cannot be read at all is one finding; otherwise whatever is wrong in it."""
    try:
        faults = [Finding("error", what, DATABASE, AGAIN) for what in generation.database.faults(_MANY)]
        yield from faults
        if any(one.what.startswith(BROKEN) for one in faults):  # what it answers is worth nothing, and may have no end
            return
        if generation.database.waits:
            yield Finding("note", ALONE, DATABASE, "nothing is wrong; on a disk of this machine nobody waits")
        with generation.database.snapshot():
            yield from (Finding("error", what, DATABASE, AGAIN) for what in _table_faults(generation))
            yield from _part_findings(generation)
        found = list(_index_findings(generation))
        yield from found
        if not any(one.severity == "error" for one in found):
            yield from (Finding("error", what, DATABASE, REPAIR) for what in Index(generation.database).lost())
    except LackError:
        raise
    except DamagedError as error:
        yield Finding("error", error.message, DATABASE, AGAIN)
    except ResourceError as error:
        yield Finding("warning", f"could not be checked: {error.message}", DATABASE, error.hint)


def _table_faults(generation: Generation) -> Iterator[str]:
    """Documents in rows without a gap, each as it was written; states that are so, and name parts that are known."""
    documents = Documents(generation.database)
    yield from documents.gaps()
    changed = list(documents.changed())
    for row, id in changed[:_MANY]:
        yield f"document {id!r} (row {row}) has changed since it was written"
    if len(changed) > _MANY:
        yield f"and {len(changed) - _MANY:,} more documents"
    yield from edit_log.faults(generation.database)
    for said in (facts.settings, edit_log.history):
        try:
            said(generation.database)
        except DamagedError as error:
            yield error.message


def _part_findings(generation: Generation) -> Iterator[Finding]:
    now = edit_log.current(generation.database)
    current = set(edit_log.named(now[1])) if now else set()
    for name, digest in edit_log.parts(generation.database).items():
        for fault in part_faults(generation.folder / name, digest, contents=True):
            if name in current:
                yield Finding("error", fault, name, AGAIN)
            else:
                yield Finding("warning", fault, name, "it belongs to an earlier state: undo will not reach it")


def _agreement_findings(folder: Folder) -> Iterator[Finding]:
    """Parts that are each as they were written, and do not fit each other or the state."""
    from topiarist.collection.collection import Collection

    try:
        collection = Collection(folder)
    except DamagedError as error:
        yield Finding("error", error.message, DATABASE, AGAIN)
        return
    for fault in disagreements(collection):
        yield Finding("error", fault, folder.generation.folder.name, AGAIN)


def _index_findings(generation: Generation) -> Iterator[Finding]:
    """The full-text index agrees with the texts. FTS5 only says so to whoever may write, though nothing is written."""
    if not os.access(generation.folder, os.W_OK):
        what = "the full-text index was not checked: the folder is read-only"
        yield Finding("note", what, DATABASE, "check a copy in a folder that you may write in")
        return
    writer = Generation.open(generation.folder, generation.shown, write=True)
    try:
        with locked(generation.folder.parent, generation.shown):
            Index(writer.database).check()
    except LackError:
        raise
    except DamagedError:
        yield Finding("error", "the full-text index does not agree with the texts", DATABASE, REPAIR)
    except ResourceError as error:
        what = f"the full-text index was not checked: {error.message}"
        yield Finding("note", what, DATABASE, "check again when nobody is writing")
    finally:
        writer.close()


def _leftover_findings(folder: Folder) -> Iterator[Finding]:
    found: list[Path] = []
    with suppress(TopiaristError):
        found = [*leftovers(folder.path, folder.manifest), *part_leftovers(folder.generation)]
    for path in found:
        where = path.relative_to(folder.path).as_posix()
        yield Finding(
            "note",
            "left over: an earlier grow that somebody may be reading, or from a process that was stopped",
            where,
            REPAIR,
        )
    if (folder.path / GROWING).is_dir():
        yield Finding("note", "an unfinished grow", GROWING, "topiarist grow with --resume, or --force to begin anew")


def disagreements(collection: Collection) -> Iterator[str]:
    """What does not fit, a sentence each; a part that cannot be read is one of them."""
    for look in (_documents, _counts, _shares, _vectors, _tree, _search, _categories):
        yield from _read(look, collection)


def _read(look: Callable[[Collection], Iterator[str]], collection: Collection) -> Iterator[str]:
    try:
        yield from look(collection)
    except (LackError, MemoryError):
        raise
    except DamagedError as error:
        yield error.message
    except TopiaristError as error:
        yield f"a part cannot be used: {error.message}"
    except Exception as error:
        if missing := lack(error):
            raise missing from error
        yield f"a part cannot be read: {in_words(error)}"


def _documents(collection: Collection) -> Iterator[str]:
    number = len(collection.documents)
    if number != len(collection):
        yield f"the state speaks of {len(collection):,} documents, and there are {number:,}"
    missing = [name for name in collection.outline.pins if not collection.documents.has(name)]
    if missing:
        yield f"{len(missing):,} pinned documents are not there, {missing[0]!r} among them"


def _counts(collection: Collection) -> Iterator[str]:
    counts, words = collection.counts, len(collection.counting.vocabulary)
    if counts.shape[1] != words:
        yield f"counts are of {counts.shape[1]:,} words, the vocabulary has {words:,}"
    if counts.nnz and not (np.isfinite(counts.data).all() and counts.data.min() >= 0):
        yield "counts are not all numbers from 0 upward"


def _shares(collection: Collection) -> Iterator[str]:
    shares, classes = collection.shares, len(collection.outline.class_topics)
    if shares.shape[1] != classes:
        yield f"shares are of {shares.shape[1]:,} classes, the tree has {classes:,}"
    sums = np.asarray(shares.sum(axis=1, dtype=np.float64)).ravel()
    wrong = int((~(np.abs(sums - 1.0) <= SUMS)).sum())
    if wrong:
        yield f"the shares of {wrong:,} documents do not add up to one"


def _vectors(collection: Collection) -> Iterator[str]:
    vectors, directions = collection.vectors, getattr(collection.model, "directions_", None)
    if vectors is None:
        return
    wrong = sum(
        int(np.count_nonzero(~np.isfinite(vectors[start : start + ROWS]).all(axis=1)))
        for start in range(0, len(vectors), ROWS)
    )
    if wrong:
        yield f"the vectors of {wrong:,} documents hold something that is no number"
    if directions is not None and directions.shape[1] != vectors.shape[1]:
        yield f"vectors have {vectors.shape[1]:,} dimensions, the directions of topics {directions.shape[1]:,}"


def _tree(collection: Collection) -> Iterator[str]:
    outline, model = collection.outline, collection.tree_model
    known = set(outline.topics)
    if len(known) != len(outline.tree) or not set(outline.class_topics) <= known:
        yield "the topics of the tree are not those of its state"
    if not set(outline.node_topics) <= known | {-1}:
        yield "nodes of the model belong to topics that are not there"
    for name, number in (("the model", len(model.tree)), ("the description", len(collection.description.nodes))):
        if number != len(outline.node_topics):
            yield f"{name} has {number:,} nodes, the state knows {len(outline.node_topics):,}"
    if len(model.class_nodes) != len(outline.class_topics):
        yield f"the model has {len(model.class_nodes):,} classes, the state knows {len(outline.class_topics):,}"
    words = len(collection.counting.vocabulary)
    if model.word_given_node.shape[1] != words:
        yield f"the model knows {model.word_given_node.shape[1]:,} words, the vocabulary has {words:,}"
    if not np.isfinite(model.word_given_node).all():
        yield "the model holds something that is no number"


def _search(collection: Collection) -> Iterator[str]:
    index = collection.index
    if len(index) != len(collection):
        yield f"the index by meaning has {len(index):,} documents, the collection {len(collection):,}"
    if index.n_words != len(collection.counting.vocabulary):
        words = len(collection.counting.vocabulary)
        yield f"the index by meaning knows {index.n_words:,} words, the vocabulary has {words:,}"
    check_sound(index, numbers=True)
    every = collection.words
    if every is not None and len(every) != len(collection):
        yield f"the index of words has {len(every):,} documents, the collection {len(collection):,}"
    if every is not None and not all(lists.rises for lists in every.segments):
        yield "the index of words is not in order, and words are not found"


def _categories(collection: Collection) -> Iterator[str]:
    if collection.state.parts.get(CATEGORIES) is None or collection.categories is None:
        return
    known, words = collection.categories.model.n_features_in_, len(collection.counting.vocabulary)
    if known != words:
        yield f"the categories were learned from {known:,} words, the vocabulary has {words:,}"
