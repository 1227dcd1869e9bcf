"""Classes learned from documents that are files: sums over blocks of what their documents teach, and passes of EM.

What labelled documents teach is a table of words and classes, which adds up over blocks. Documents without a label are
written once more, with the words to learn and weighted, and EM goes over them block by block: in one process or on the
workers of a cluster, with the same bits. What cross-validation chooses it chooses by a sample in memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Bools, Csr, Dtype, Ints
from topiarist.counts.validation import document_frequency
from topiarist.counts.weighting import shortened
from topiarist.errors import ResourceError
from topiarist.estimators.category.class_learning import (
    N_FOLDS,
    Learned,
    Plan,
    Taught,
    Unlabelled,
    Watch,
    check_spoken,
    documents_of,
    folds_of,
    learned_from,
    narrowed,
    one_hot,
    tables_of,
    words_to_learn,
)
from topiarist.estimators.category.given_labels import Labels
from topiarist.estimators.common.stored_counts import CountsFile
from topiarist.models.engine import Side
from topiarist.models.engine.host import Engine
from topiarist.scale.block_folder import BlockEntry, write_block
from topiarist.scale.blocks import BlockFile, BlockStore
from topiarist.scale.executors import COPIES, OWN, EStep, Executor, InProcess
from topiarist.store.array_files import NewRows, RowFile, Scratch

MOST_CHOOSING = 1 << 16  # documents with a label, and as many without, by which cross-validation chooses
OF_EACH = 20  # labelled documents of a class that choose, at least, where it has as many
BYTES_A_COUNT = 40  # of a document in memory, with what training makes of it
BYTES_A_CELL = 20  # of a table: a number, its column, and a copy of both while tables are added


@dataclass(frozen=True)
class Told:
    """What documents of blocks tell, in numbers that add up."""

    known: Ints  # documents with a class that have each word
    having: Ints  # all documents that have it
    spoken: Ints  # documents with words, of each class
    tables: tuple[Csr, ...]  # (K1), of each fold, over all words

    def __add__(self, other: Told) -> Told:
        tables = tuple(csr_array(one + two) for one, two in zip(self.tables, other.tables, strict=True))
        return Told(self.known + other.known, self.having + other.having, self.spoken + other.spoken, tables)


@dataclass(frozen=True)
class TellBlock:
    """What the documents of a block tell, as a function that may travel."""

    length: float | None
    dtype: str
    n_classes: int
    n_folds: int | None  # None: one table

    def __call__(self, counts: Csr, own: tuple[Array, ...]) -> tuple[Told, None]:
        """``own`` are the documents that teach, their folds, their shares in classes (sparse), and the others."""
        rows, folds, data, indices, indptr, others = own
        entries: Any = csr_array(shortened(counts, self.length)[rows]).astype(self.dtype, copy=False)
        shares = csr_array((data, indices, indptr), shape=(len(rows), self.n_classes))
        tables = tables_of(entries, shares, None if self.n_folds is None else folds, self.n_folds)
        filled = np.repeat(np.diff(entries.indptr) > 0, np.diff(indptr))
        known = document_frequency(entries)
        having = known + document_frequency(csr_array(counts[others]))
        return Told(known, having, np.bincount(indices[filled], minlength=self.n_classes), tuple(tables)), None


@dataclass(frozen=True)
class Entries:
    """What was written, block by block: adds up in their order."""

    entries: tuple[BlockEntry, ...]

    def __add__(self, other: Entries) -> Entries:
        return Entries(self.entries + other.entries)


@dataclass(frozen=True)
class NarrowBlock:
    """Writes some documents of a block with the words to learn, weighted; likewise."""

    folder: str
    length: float | None
    dtype: str
    seen: Bools

    def __call__(self, counts: Csr, own: tuple[int, Array]) -> tuple[Entries, None]:
        """What was written."""
        number, rows = own
        dtype = np.dtype(self.dtype)
        narrow = narrowed(csr_array(shortened(counts, self.length)[rows]), self.seen, dtype)
        return Entries((write_block(Path(self.folder), number, narrow, dtype, None),)), None


@dataclass(frozen=True)
class TableFile:
    """A table that is to be opened where blocks are computed."""

    parts: tuple[RowFile, ...]

    @classmethod
    def of(cls, table: Side, scratch: Scratch) -> TableFile:
        """Its arrays in files."""
        return cls(tuple(map(scratch.saved, (table.indptr, table.indices, table.data, table.cuts))))

    @property
    def folder(self) -> Path:
        """Where the files lie."""
        return self.parts[0].folder

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(part.nbytes for part in self.parts)

    def load(self) -> Side:
        """The table, memory-mapped."""
        return Side(*(part.load() for part in self.parts))

    def expect(self) -> None:
        """It is small, and read in every pass."""


@dataclass(frozen=True)
class StoredTeaching:
    """A store whose documents teach classes, and where it is computed."""

    engine: Engine
    store: BlockStore
    executor: Executor
    scratch: Scratch

    @classmethod
    def of(cls, engine: Engine, store: BlockStore, executor: Executor | None) -> StoredTeaching:
        """Files that are needed on the way lie where all who compute see them."""
        parent = getattr(executor, "scratch", None) or store.folder
        return cls(engine, store, executor or InProcess(), Scratch(parent))

    def told(self, how: EStep, own: Iterable[tuple[Array, ...]]) -> Any:
        """One pass: what the documents of all blocks tell, of each of which something is known."""
        local = [tuple(map(self.scratch.saved, parts)) for parts in own]
        return self.executor.total(how, self._blocks, local)[0]

    def unlabelled(self, rows: list[Array], seen: Bools, plan: Plan) -> Unlabelled | None:
        """One pass: the documents whose classes are not known, in files of their own; None where there are none."""
        if not any(map(len, rows)):
            return None
        folder = self.scratch.folder / "unlabelled"
        folder.mkdir()
        how = NarrowBlock(str(folder), plan.effective_length, plan.dtype.name, seen)
        local = [(number, self.scratch.saved(some)) for number, some in enumerate(rows)]
        entries = [one for one in self.executor.total(how, self._blocks, local)[0].entries if one.documents]
        n_classes, n_words, dtype = len(plan.class_nodes), int(seen.sum()), plan.dtype.name
        return Unlabelled(
            tuple(BlockFile(str(folder), one.name, (one.documents, n_words), one.nonzeros, dtype) for one in entries),
            tuple(NewRows(one.documents, n_classes, dtype) for one in entries),
            math.fsum(one.tokens for one in entries),
        )

    def kept(self, table: Side) -> TableFile:
        """A table as a handle."""
        return TableFile.of(table, self.scratch)

    def parted(self, documents: Array) -> tuple[list[Array], list[Array]]:
        """The places of some documents by block, in their order, and their numbers within it."""
        ends = np.cumsum([block.documents for block in self.store.manifest.blocks])
        blocks = np.searchsorted(ends, documents, side="right")
        order = np.argsort(blocks, kind="stable")
        places = np.split(order, np.searchsorted(blocks[order], np.arange(1, len(ends))))
        starts = np.append(0, ends[:-1])
        return places, [documents[some] - start for some, start in zip(places, starts, strict=True)]

    @property
    def _blocks(self) -> list[CountsFile]:
        return [CountsFile(block, block.dtype) for block in self.store.blocks()]


def learn_stored(
    engine: Engine, store: BlockStore, labels: Labels, plan: Plan, watch: Watch | None, executor: Executor | None
) -> Learned:
    """See ``class_learning.learn``: what one block of documents teaches has the bits of counts in memory."""
    if plan.unlabelled_weight == 0:
        labels = labels.only(np.flatnonzero(labels.of_row >= 0))
    site = StoredTeaching.of(engine, store, executor)
    labelled = labels.of_row >= 0
    of_known, folds = labels.of_row[labelled], folds_of(labels, plan)
    n_classes = len(labels.classes)
    places, teaching = site.parted(labels.rows[labelled])
    others = site.parted(labels.rows[~labelled])[1]
    own = []
    for some, rows, rest in zip(places, teaching, others, strict=True):
        shares = one_hot(of_known[some], n_classes)
        parts = (shares.data, shares.indices, shares.indptr)
        own.append((rows, rows if folds is None else folds[some], *parts, rest))
    n_folds = None if folds is None else int(folds.max()) + 1
    told: Told = site.told(TellBlock(plan.effective_length, plan.dtype.name, n_classes, n_folds), own)
    check_spoken(labels.classes, told.spoken)
    seen, smoothing = words_to_learn(told.known > 0, None if labelled.all() else told.having, plan.smoothing)
    tables = [csr_array(table[np.flatnonzero(seen)]) for table in told.tables]
    taught = Taught(tables, folds is not None, documents_of(labels), seen)
    plan = replace(plan, smoothing=smoothing)
    free = site.unlabelled(others, seen, plan)
    return learned_from(engine, taught, free, plan, watch, site.executor, site.kept)


def choosing_sample(store: BlockStore, labels: Labels, seed: int) -> tuple[Csr, Labels]:
    """The documents by which cross-validation chooses, in memory: all, or so many of either kind; and their labels.

    Of each class there are some among them, however few it has.
    """
    has = np.zeros(len(store), bool)
    has[labels.rows[labels.of_row >= 0]] = True
    rng, chosen = np.random.default_rng(seed), []
    for some in (np.flatnonzero(has), np.flatnonzero(~has)):
        few = len(some) <= MOST_CHOOSING
        chosen.append(some if few else rng.choice(some, MOST_CHOOSING, replace=False))
    if int(has.sum()) > MOST_CHOOSING:
        for number in range(len(labels.classes)):
            own = labels.rows[labels.of_row == number]
            chosen.append(rng.permutation(own)[:OF_EACH])
    kept = np.zeros(len(store), bool)
    kept[np.concatenate(chosen)] = True
    some = np.flatnonzero(kept)
    those = labels.only(np.flatnonzero(kept[labels.rows]))
    return store.rows(some), Labels(those.classes, np.searchsorted(some, those.rows), those.of_row)


def check_room(store: BlockStore, labels: Labels, plan: Plan, memory: int | None, *, chooses: bool) -> None:
    """Refuse what takes more than ``memory`` bytes, before anything is read."""
    if memory is None:
        return
    need = training_bytes(store, labels, plan.dtype, len(plan.tree), chooses=chooses)
    if need > memory:
        raise ResourceError(
            f"learning {len(labels.classes):,} classes from {len(store):,} documents with {store.shape[1]:,} words "
            f"takes about {need / 1e6:,.1f} MB; memory={memory / 1e6:,.1f} MB",
            hint="smaller blocks, or more memory" if not chooses else "no 'cv' and no calibrate, or more memory",
        )


def training_bytes(store: BlockStore, labels: Labels, dtype: Dtype, n_nodes: int, *, chooses: bool) -> int:
    """Bytes that training takes beyond an idle process and its labels: tables, parameters, a pass, the sample."""
    n_classes, n_words, size = len(labels.classes), store.shape[1], dtype.itemsize
    n_docs = max(1, len(store))
    levels = math.ceil(math.log2(max(1, len(store.manifest.blocks))))
    cells = min(store.nnz * int(np.count_nonzero(labels.of_row >= 0)) // n_docs, n_words * n_classes)
    parameters = (COPIES + levels + 2 * N_FOLDS) * n_words * n_nodes * size + 3 * n_words * n_classes * size
    block = max(14 * one.nonzeros + 8 * n_words + 3 * one.documents * n_classes * size for one in store.manifest.blocks)
    sample = BYTES_A_COUNT * store.nnz * min(2 * MOST_CHOOSING, n_docs) // n_docs if chooses else 0
    return OWN + parameters + (N_FOLDS + 2 + levels) * BYTES_A_CELL * cells + block + sample
