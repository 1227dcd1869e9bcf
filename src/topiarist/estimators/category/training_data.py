"""Training documents as a list of blocks: one block of counts in memory, or the blocks of a store.

Labelled documents give a table of words and classes, which adds up over blocks. Unlabelled documents are stored again
with the words to learn, and EM reads them block by block, with the same bits in one process and on a cluster.
Cross-validation uses a sample in memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Bools, Csr, Dtype, Floats, Ints
from topiarist.counts.validation import count_tokens
from topiarist.counts.weighting import shorten_documents
from topiarist.errors import ResourceError
from topiarist.estimators.category.given_labels import Labels
from topiarist.estimators.common.stored_counts import CountsFile
from topiarist.execution.block_folder import write_block
from topiarist.execution.blocks import BlockFile, BlockStore
from topiarist.execution.executors import BASE_BYTES, PARAMETER_COPIES, EStep, Executor, InProcess, tree_sum
from topiarist.models import categorisers
from topiarist.models.engine import CountsView, Shard
from topiarist.storage.array_files import EmptyRows, RowFile, Scratch, open_handles

if TYPE_CHECKING:
    from topiarist.estimators.category.class_learning import Plan

N_FOLDS, N_FOLDS_OF_MANY, MANY_LABELLED = 5, 3, 5000  # folds; of many labelled documents three say as much
TILE_COLUMNS = 64
MAX_CHOOSING = 1 << 16  # documents with a label, and as many without, by which cross-validation chooses
MIN_OF_CLASS = 20  # labelled documents of a class that choose, at least, where it has as many
BYTES_A_COUNT = 40  # of a document in memory, with what training makes of it
BYTES_A_CELL = 20  # of a table: a number, its column, and a copy of both while tables are added


@dataclass(frozen=True)
class UnlabelledBlocks:
    """Unlabelled documents with the words to learn, in memory or in files; instances can be added."""

    blocks: tuple[Any, ...]
    local: tuple[Any, ...]  # rows to begin with, which are empty
    block_tokens: tuple[float, ...]

    def __add__(self, other: UnlabelledBlocks) -> UnlabelledBlocks:
        return UnlabelledBlocks(
            self.blocks + other.blocks, self.local + other.local, self.block_tokens + other.block_tokens
        )

    @property
    def tokens(self) -> float:
        return math.fsum(self.block_tokens)

    def with_table(self, table: Any, documents: Floats) -> list[categorisers.Block]:
        """Return the blocks of (K4): what labelled documents teach counts once."""
        rest = [categorisers.Block(None, np.zeros_like(documents), block) for block in self.blocks[1:]]
        return [categorisers.Block(table, documents, self.blocks[0]), *rest]

    def class_tokens(self, local: tuple[Any, ...]) -> Floats:
        """Return the tokens of each class, by P(class | document)."""
        products = (_tokens(block.rows) @ open_handles(rows) for block, rows in zip(self.blocks, local, strict=True))
        return tree_sum(products)  # type: ignore[no-any-return]


def _tokens(side: CountsView) -> Floats:
    return count_tokens(csr_array((side.data, side.indices, side.indptr), shape=(side.n_rows, 1)))


def select_words(counts: Csr, is_learned: Bools, dtype: Dtype) -> Csr:
    """Return counts with the columns of learned words only."""
    places = np.cumsum(is_learned, dtype=counts.indices.dtype) - 1
    is_entry_learned, indptr = is_learned[counts.indices], counts.indptr
    entries: slice | Bools = slice(None)
    if not is_entry_learned.all():
        entries, indptr = is_entry_learned, np.append(0, np.cumsum(is_entry_learned))[indptr].astype(indptr.dtype)
    data, columns = counts.data[entries].astype(dtype, copy=False), places[counts.indices[entries]]
    return csr_array((data, columns, indptr), shape=(counts.shape[0], int(is_learned.sum())))


@dataclass(frozen=True)
class SelectUnlabelled:
    """Function that selects the unlabelled documents of a block; can be sent to workers."""

    folder: str | None  # where to write them; None keeps them in memory
    length: float | None
    dtype: str
    n_classes: int
    is_learned: Bools

    def __call__(self, counts: Csr, local: tuple[int, Array]) -> tuple[UnlabelledBlocks, None]:
        """Return the documents of ``own``: the number of the block, and the rows in it."""
        number, rows = local
        if not len(rows):
            return UnlabelledBlocks((), (), ()), None
        dtype = np.dtype(self.dtype)
        narrow = select_words(shorten_documents(csr_array(counts[rows]), self.length), self.is_learned, dtype)
        if self.folder is None:
            tokens = float(narrow.sum(dtype=np.float64))
            return UnlabelledBlocks((Shard.from_matrix(narrow, dtype, TILE_COLUMNS),), (None,), (tokens,)), None
        entry = write_block(Path(self.folder), number, narrow, dtype, None)
        shape = (entry.documents, narrow.shape[1])
        block = BlockFile(self.folder, entry.name, shape, entry.nonzeros, self.dtype)
        return UnlabelledBlocks(
            (block,), (EmptyRows(entry.documents, self.n_classes, self.dtype),), (entry.tokens,)
        ), None


@dataclass(frozen=True)
class TableFile:
    """Table in files, opened by the worker that computes a block."""

    parts: tuple[RowFile, ...]

    @classmethod
    def of(cls, table: CountsView, scratch: Scratch) -> TableFile:
        return cls(tuple(map(scratch.saved, (table.indptr, table.indices, table.data, table.cuts))))

    @property
    def folder(self) -> Path:
        return self.parts[0].folder

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)

    def load(self) -> CountsView:
        return CountsView(*(part.load() for part in self.parts))

    def prefetch(self) -> None:
        """It is small, and read in every pass."""


@dataclass(frozen=True)
class TrainingData:
    """Blocks of training documents, and the executor that computes them."""

    blocks: tuple[Csr | CountsFile, ...]
    sizes: tuple[int, ...]  # documents of each block
    executor: Executor
    scratch: Scratch | None = None  # for arrays that belong to blocks in files; None in memory

    @classmethod
    def from_counts(cls, counts: Csr | BlockStore, executor: Executor | None = None) -> TrainingData:
        """Return counts in memory as one block, or the blocks of a store with a folder that all workers see."""
        if not isinstance(counts, BlockStore):
            return cls((counts,), (counts.shape[0],), InProcess())
        files = tuple(CountsFile(block, block.dtype) for block in counts.blocks())
        parent = getattr(executor, "scratch", None) or counts.folder
        return cls(files, tuple(file.block.shape[0] for file in files), executor or InProcess(), Scratch(parent))

    @property
    def runs(self) -> list[slice]:
        return [slice(*pair) for pair in pairwise([0, *np.cumsum(self.sizes).tolist()])]

    def document_lengths(self) -> Ints:
        return np.concatenate([np.diff(open_handles(block).indptr) for block in self.blocks])

    def total(self, function: EStep, local_arrays: Iterable[tuple[Array, ...]]) -> Any:
        """Return the sum of a function over all blocks, in one pass; ``own`` has arrays for each block."""
        local = [tuple(map(self._keep, arrays)) for arrays in local_arrays]
        return self.executor.total(function, self.blocks, local)[0]

    def unlabelled(self, rows: list[Array], is_learned: Bools, plan: Plan) -> UnlabelledBlocks | None:
        """Return some documents of each block with the words to learn, in one pass; None without documents."""
        if not any(map(len, rows)):
            return None
        folder: str | None = None
        if self.scratch is not None:
            folder = str(self.scratch.folder / "unlabelled")
            Path(folder).mkdir()
        n_classes = len(plan.class_nodes)
        select = SelectUnlabelled(folder, plan.effective_length, plan.dtype.name, n_classes, is_learned)
        local = [(number, self._keep(block_rows)) for number, block_rows in enumerate(rows)]
        selected: UnlabelledBlocks = self.executor.total(select, self.blocks, local)[0]
        return selected

    def keep_table(self, table: CountsView) -> CountsView | TableFile:
        return table if self.scratch is None else TableFile.of(table, self.scratch)

    def split(self, documents: Array) -> tuple[list[Array], list[Array]]:
        """Return the positions of some documents by block, in their order, and their numbers within it."""
        ends = np.cumsum(self.sizes)
        blocks = np.searchsorted(ends, documents, side="right")
        order = np.argsort(blocks, kind="stable")
        places = np.split(order, np.searchsorted(blocks[order], np.arange(1, len(ends))))
        starts = np.append(0, ends[:-1])
        return places, [documents[order_in_block] - start for order_in_block, start in zip(places, starts, strict=True)]

    def _keep(self, array: Array) -> Array | RowFile:
        return array if self.scratch is None else self.scratch.saved(array)


def draw_choosing_sample(store: BlockStore | Csr, labels: Labels, seed: int) -> tuple[Csr, Labels]:
    """Return the documents for cross-validation in memory, and their labels: all, or a sample with every class."""
    has = np.zeros(store.shape[0], bool)
    has[labels.rows[labels.of_row >= 0]] = True
    rng, row_sets = np.random.default_rng(seed), []
    for rows in (np.flatnonzero(has), np.flatnonzero(~has)):
        is_small = len(rows) <= MAX_CHOOSING
        row_sets.append(rows if is_small else rng.choice(rows, MAX_CHOOSING, replace=False))
    if int(has.sum()) > MAX_CHOOSING:
        for number in range(len(labels.classes)):
            class_rows = labels.rows[labels.of_row == number]
            row_sets.append(rng.permutation(class_rows)[:MIN_OF_CLASS])
    is_kept = np.zeros(store.shape[0], bool)
    is_kept[np.concatenate(row_sets)] = True
    rows = np.flatnonzero(is_kept)
    sample_labels = labels.select(np.flatnonzero(is_kept[labels.rows]))
    counts = store.rows(rows) if isinstance(store, BlockStore) else csr_array(store[rows])
    return counts, Labels(sample_labels.classes, np.searchsorted(rows, sample_labels.rows), sample_labels.of_row)


def check_memory(
    counts: Csr | BlockStore, labels: Labels, plan: Plan, executor: Executor | None, *, chooses: bool
) -> None:
    """Raise ResourceError for a store that needs more memory than the executor allows, before reading it."""
    memory = getattr(executor, "memory", None)
    if memory is None or not isinstance(counts, BlockStore):
        return
    need = estimate_training_bytes(counts, labels, plan.dtype, len(plan.tree), chooses=chooses)
    if need > memory:
        raise ResourceError(
            f"learning {len(labels.classes):,} classes from {len(counts):,} documents with {counts.shape[1]:,} words "
            f"takes about {need / 1e6:,.1f} MB; memory={memory / 1e6:,.1f} MB",
            hint="Use smaller blocks, or allow more memory."
            if not chooses
            else "Omit 'cv' and calibrate, or allow more memory.",
        )


def estimate_training_bytes(store: BlockStore, labels: Labels, dtype: Dtype, n_nodes: int, *, chooses: bool) -> int:
    """Return the bytes that training needs beyond an idle process: tables, parameters, a pass and the sample."""
    n_classes, n_words, size = len(labels.classes), store.shape[1], dtype.itemsize
    n_docs = max(1, len(store))
    levels = math.ceil(math.log2(max(1, len(store.manifest.blocks))))
    cells = min(store.nnz * int(np.count_nonzero(labels.of_row >= 0)) // n_docs, n_words * n_classes)
    parameters = (PARAMETER_COPIES + levels + 2 * N_FOLDS) * n_words * n_nodes * size + 3 * n_words * n_classes * size
    block = max(
        14 * entry.nonzeros + 8 * n_words + 3 * entry.documents * n_classes * size for entry in store.manifest.blocks
    )
    sample = BYTES_A_COUNT * store.nnz * min(2 * MAX_CHOOSING, n_docs) // n_docs if chooses else 0
    return BASE_BYTES + parameters + (N_FOLDS + 2 + levels) * BYTES_A_CELL * cells + block + sample
