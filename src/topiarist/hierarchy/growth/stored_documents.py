"""Documents that are files: all of them fit and judge a tree; those that are drawn, and in memory, propose its splits.

A pass over all of them is a sum over blocks, wherever these are computed. What a proposer looks at, where documents lie
and what they are sure of, is known of the drawn ones alone: nothing here grows with the number of documents but files.
Where a collection is small, all of its documents are drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from topiarist.arrays import Array
from topiarist.hierarchy.growth.parts import Parts
from topiarist.hierarchy.growth.stored_rows import HandOn, StoredRows
from topiarist.models import cam, hplsa
from topiarist.scale.executors import Executor
from topiarist.store.array_files import EvenRows, NewRows, RowFile, Scratch

MOST_DRAWN = 1 << 15  # documents: a tree of 512 leaves has 64 for each of them to propose a split


def drawn_documents(sizes: list[int], seed: int, most: int = MOST_DRAWN) -> tuple[Array, ...]:
    """Which documents of each block are drawn: all, or so many in their order. It depends on the seed alone."""
    total = sum(sizes)
    if total <= most:
        return tuple(np.arange(size) for size in sizes)
    chosen = np.sort(np.random.default_rng(seed).choice(total, most, replace=False))
    ends = np.cumsum(sizes)
    parts = np.split(chosen, np.searchsorted(chosen, ends[:-1]))
    return tuple(part - (end - size) for part, end, size in zip(parts, ends.tolist(), sizes, strict=True))


class Judgement(NamedTuple):
    """What held-out tokens say of a tree: of the drawn documents one by one, and of all together."""

    rows: Array  # P(class | document) of those that were drawn
    by_document: Array  # such that ``loop.standard_error`` is that of all documents
    total: float  # log-likelihood per held-out token


@dataclass(frozen=True)
class Judge:
    """The judgement of one block, as a function that may travel."""

    model: cam.Cam | hplsa.Hplsa
    shared: Any
    inverse_temperature: float
    tokens: float  # held out, of all documents

    def __call__(self, block: Any, own: tuple[Array, Any]) -> tuple[float, Array]:
        """What it adds to the log-likelihood per held-out token; for each drawn document its row, and its own part."""
        drawn, local = own
        rows, likelihoods = self.model.judged(self.shared, block, local, self.inverse_temperature)
        likelihoods = likelihoods / self.tokens
        return float(likelihoods.sum()), np.column_stack([rows[drawn].astype(np.float64), likelihoods[drawn]])


@dataclass(frozen=True)
class WordTotals:
    """How often each word occurs in a block, likewise."""

    def __call__(self, block: Any, _: None) -> tuple[Array, None]:
        """The sums, and no rows."""
        return block.word_totals(), None


@dataclass(frozen=True)
class StoredDocuments:
    """All documents of a tree that grows from files, and which of them are drawn."""

    blocks: tuple[cam.Block, ...]  # of handles: training and held-out tokens, weighted
    sizes: tuple[int, ...]  # documents of each block
    drawn: tuple[Array, ...]  # which of them
    tokens: float  # to learn from, weighted
    heldout_tokens: float
    dtype: str
    scratch: str  # a folder that all who compute see: rows are kept in it

    @property
    def each(self) -> float:
        """Documents that each drawn one stands for."""
        return sum(self.sizes) / max(1, sum(map(len, self.drawn)))

    def new_rows(self, n_classes: int) -> tuple[NewRows, ...]:
        """Rows that nobody keeps; how much memory they take while a block is computed is known by them."""
        return tuple(NewRows(size, n_classes, self.dtype) for size in self.sizes)

    def rows(self, parts: Parts, executor: Executor) -> tuple[RowFile, ...]:
        """P(class | document) of all documents in files: of the drawn ones as the parts have it, others' handed on."""
        before = () if parts.stored is None else parts.stored.files
        folder = Scratch.beside(before, self.scratch)
        ends = np.cumsum(list(map(len, self.drawn)))
        drawn = [folder.saved(rows) for rows in np.split(parts.class_given_doc, ends[:-1])]
        if self.each == 1.0:
            return tuple(drawn)
        if parts.stored is None:  # nobody knows anything of the others yet
            known = StoredRows.of(tuple(EvenRows(n, parts.n_classes, self.dtype) for n in self.sizes), parts.n_classes)
        else:
            files = (folder.saved(one) if isinstance(one, np.ndarray) else one for one in before)
            known = StoredRows(tuple(files), parts.stored.handed_on)
        local = list(zip(drawn, self.drawn, known.files, strict=True))
        return executor.total(HandOn(known.handed_on), [None] * len(local), local)[1]

    def word_totals(self, executor: Executor) -> Array:
        """How often each word occurs among the tokens to learn from: one pass."""
        totals: Array = executor.total(
            WordTotals(), [block.training for block in self.blocks], [None] * len(self.blocks)
        )[0]
        return totals

    def judged(
        self, model: Any, shared: Any, rows: tuple[Any, ...], inverse_temperature: float, executor: Executor
    ) -> Judgement:
        """One pass over all documents."""
        local = list(zip(self.drawn, rows, strict=True))
        judge = Judge(model, shared, inverse_temperature, self.heldout_tokens or 1.0)
        total, files = executor.total(judge, self.blocks, local)
        told = np.concatenate([file.load() for file in files])
        by_document = told[:, -1] * math.sqrt(self.each) if self.heldout_tokens else np.zeros(0)
        return Judgement(told[:, :-1], by_document, total)
