"""Documents in files: all of them fit and evaluate a tree; a sample in memory proposes its splits.

A pass over all documents is a sum over blocks, on any executor. Positions and shares are known of the sample alone,
so that only files grow with the number of documents. In a small collection, the sample has all documents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from topiarist.arrays import Array
from topiarist.execution.executors import Executor
from topiarist.models import cam, hplsa
from topiarist.storage.array_files import EmptyRows, EvenRows, RowFile, Scratch
from topiarist.trees.growth.parts import GrowthState, StoredRows

MAX_DRAWN = 1 << 15  # documents: a tree of 512 leaves has 64 per leaf to propose a split


def draw_documents(sizes: list[int], seed: int, max_documents: int = MAX_DRAWN) -> tuple[Array, ...]:
    """Return the sampled rows of each block, in order: all, or at most ``max_documents``. Only the seed decides."""
    total = sum(sizes)
    if total <= max_documents:
        return tuple(np.arange(size) for size in sizes)
    rows = np.sort(np.random.default_rng(seed).choice(total, max_documents, replace=False))
    ends = np.cumsum(sizes)
    parts = np.split(rows, np.searchsorted(rows, ends[:-1]))
    return tuple(part - (end - size) for part, end, size in zip(parts, ends.tolist(), sizes, strict=True))


class HeldoutScore(NamedTuple):
    """Held-out score of a tree: of the sampled documents one by one, and of all documents together."""

    rows: Array  # P(class | document) of the sampled documents
    by_document: Array  # scaled so that ``loop.compute_standard_error`` is that of all documents
    total: float  # log-likelihood per held-out token


@dataclass(frozen=True)
class ScoreBlock:
    """Picklable function that computes the held-out score of one block."""

    model: cam.Cam | hplsa.Hplsa
    shared: Any
    inverse_temperature: float
    tokens: float  # held-out tokens of all documents

    def __call__(self, block: Any, local_data: tuple[Array, Any]) -> tuple[float, Array]:
        """Return the log-likelihood per held-out token; for each sampled document its row and its own contribution."""
        drawn_rows, local = local_data
        rows, likelihoods = self.model.evaluate_heldout(self.shared, block, local, self.inverse_temperature)
        likelihoods = likelihoods / self.tokens
        return float(likelihoods.sum()), np.column_stack([rows[drawn_rows].astype(np.float64), likelihoods[drawn_rows]])


@dataclass(frozen=True)
class ApplyClassChanges:
    """Picklable function that applies class changes to the rows of a block."""

    class_changes: Array

    def __call__(self, _: None, local_data: tuple[Array, Array, Array]) -> tuple[float, Array]:
        """Return 0 and the rows: known ones of sampled documents, redistributed shares of others.

        A document whose classes were all removed gets equal shares.
        """
        drawn_shares, drawn_rows, old_rows = local_data
        rows = np.zeros((len(old_rows), self.class_changes.shape[1]), old_rows.dtype)
        for old, new in zip(*map(np.ndarray.tolist, np.nonzero(self.class_changes)), strict=True):
            rows[:, new] += old_rows[:, old] * old_rows.dtype.type(self.class_changes[old, new])
        total = rows.sum(axis=1, keepdims=True, dtype=np.float64)
        rows /= np.where(total > 0, total, 1.0).astype(rows.dtype)
        rows[total[:, 0] <= 0] = 1.0 / rows.shape[1]
        rows[drawn_rows] = drawn_shares
        return 0.0, rows


def sum_words(block: Any, _: None) -> tuple[Array, None]:
    """Return the occurrences of each word in a block, and no rows."""
    return block.word_totals(), None


@dataclass(frozen=True)
class StoredDocuments:
    """All documents of a tree that grows from files, and the sample of them."""

    blocks: tuple[cam.Block, ...]  # handles of weighted training and held-out tokens
    sizes: tuple[int, ...]  # documents of each block
    drawn_rows: tuple[Array, ...]  # sampled rows of each block
    tokens: float  # training tokens, weighted
    heldout_tokens: float
    dtype: str
    scratch: str  # folder for rows, visible to all workers

    @property
    def documents_per_row(self) -> float:
        """Number of documents that each sampled document represents."""
        return sum(self.sizes) / max(1, sum(map(len, self.drawn_rows)))

    def new_rows(self, n_classes: int) -> tuple[EmptyRows, ...]:
        """Return empty rows that are not stored, from which the memory of a block is computed."""
        return tuple(EmptyRows(size, n_classes, self.dtype) for size in self.sizes)

    def rows(self, parts: GrowthState, executor: Executor) -> tuple[RowFile, ...]:
        """Return P(class | document) in files: sampled documents from the state, others after their class changes."""
        old_files = () if parts.stored is None else parts.stored.files
        folder = Scratch.find_or_create(old_files, self.scratch)
        ends = np.cumsum(list(map(len, self.drawn_rows)))
        drawn_files = [folder.saved(rows) for rows in np.split(parts.class_given_doc, ends[:-1])]
        if self.documents_per_row == 1.0:
            return tuple(drawn_files)
        if parts.stored is None:  # no rows of the other documents yet
            stored_rows = StoredRows.without_changes(
                tuple(EvenRows(n, parts.n_classes, self.dtype) for n in self.sizes), parts.n_classes
            )
        else:
            files = (folder.saved(file) if isinstance(file, np.ndarray) else file for file in old_files)
            stored_rows = StoredRows(tuple(files), parts.stored.class_changes)
        local = list(zip(drawn_files, self.drawn_rows, stored_rows.files, strict=True))
        return executor.total(ApplyClassChanges(stored_rows.class_changes), [None] * len(local), local)[1]

    def word_totals(self, executor: Executor) -> Array:
        """Return the number of training tokens of each word, in one pass."""
        blocks = [block.training for block in self.blocks]
        totals: Array = executor.total(sum_words, blocks, [None] * len(blocks))[0]
        return totals

    def evaluate(
        self, model: Any, shared: Any, rows: tuple[Any, ...], inverse_temperature: float, executor: Executor
    ) -> HeldoutScore:
        """Compute the held-out score in one pass over all documents."""
        local = list(zip(self.drawn_rows, rows, strict=True))
        judge = ScoreBlock(model, shared, inverse_temperature, self.heldout_tokens or 1.0)
        total, files = executor.total(judge, self.blocks, local)
        table = np.concatenate([file.load() for file in files])
        by_document = table[:, -1] * math.sqrt(self.documents_per_row) if self.heldout_tokens else np.zeros(0)
        return HeldoutScore(table[:, :-1], by_document, total)
