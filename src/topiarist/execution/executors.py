"""Executors, which compute a function on blocks of documents and add the results.

An executor has one method. It passes each block, with the parameters of its rows, to a function that returns additive
statistics and the rows' new parameters. It returns the sum of the statistics and the new row parameters.

**The order of addition** decides about bits and is part of the contract: neighbours are added first, then neighbouring
sums of two, of four, and so on (``Sums``). A run of 2, 4, 8 … blocks is a branch of that tree. It can be computed in
one place, so every executor gives the same bits for the same blocks.

**Blocks can be files** (``blocks.BlockFile``). Such a block is opened, computed and closed, and the parameters of its
rows are kept in files as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from topiarist.errors import ResourceError
from topiarist.storage.array_files import EmptyRows, Scratch, find_handles, open_handles

EStep = Callable[[Any, Any], tuple[Any, Any]]

PARAMETER_COPIES = 5  # two states, the statistics of a block, and the new parameters; partial sums are added
BASE_BYTES = 4_000_000  # scratch arrays of threads, the manifest and similar


class Executor(Protocol):
    """Interface through which the EM loop computes blocks."""

    def total(self, function: EStep, blocks: Sequence[Any], local: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        """Return the statistics of all blocks, added in the order of ``Sums``, and the new rows of each block."""


class Sums:
    """Sum in the order of a balanced tree, which holds at most one partial sum for each level.

    Values are consumed: they are changed in place by ``+=``.
    """

    def __init__(self) -> None:
        self._partial: list[tuple[int, Any]] = []

    def add(self, value: Any) -> None:
        """Add a value to the right of all previous values."""
        size = 1
        while self._partial and self._partial[-1][0] == size:
            left = self._partial.pop()[1]
            left += value
            value, size = left, 2 * size
        self._partial.append((size, value))

    def total(self) -> Any:
        """Return the sum of all values; there must be at least one."""
        _, total = self._partial.pop()
        while self._partial:
            left = self._partial.pop()[1]
            left += total
            total = left
        return total


def tree_sum(values: Iterable[Any]) -> Any:
    """Return the sum of the values, added in the order of ``Sums``."""
    sums = Sums()
    for value in values:
        sums.add(value)
    return sums.total()


class InProcess:
    """Executor that computes blocks one after another in this process, with threads inside a block.

    Parameters
    ----------
    memory : int or None
        Limit in bytes for work on files beyond an idle process. It covers an open block, its rows before and after
        (three times its rows for an extrapolated step), the parameters, and the partial sums of statistics. A pass that
        needs more is refused before it starts. Rows of one megabyte or more are kept in files. None: no limit.
    scratch : path or None
        Folder for the row parameters of such blocks. None: beside the blocks.
    """

    def __init__(self, memory: int | None = None, scratch: str | Path | None = None) -> None:
        self.memory = memory
        self.scratch = scratch

    def total(self, function: EStep, blocks: Sequence[Any], local: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        """Return the sum of the statistics and the new rows, as ``Executor.total`` does."""
        sums, rows = Sums(), []
        folder: Scratch | None = None
        if self.memory is not None:
            _check_memory(function, list(zip(blocks, local, strict=True)), self.memory)
        for place, (block, block_rows) in enumerate(zip(blocks, local, strict=True)):
            files = list(find_handles((block, block_rows)))
            for file in find_handles(tuple(blocks[place + 1 : place + 2])):
                file.prefetch()
            stats, new = function(open_handles(block), open_handles(block_rows))
            sums.add(stats)
            if files and new is not None:
                folder = folder or Scratch.find_or_create(local, self.scratch or files[0].folder)
                new = folder.saved(new)
            rows.append(new)
            del stats, new  # free them before the next block is opened
        return sums.total(), tuple(rows)


def _check_memory(function: EStep, work: list[Any], memory: int) -> None:
    largest = max((_count_open_bytes(*pair) for pair in work), default=0)
    if not largest:
        return
    copies = PARAMETER_COPIES + math.ceil(math.log2(len(work)))
    parameters = copies * count_bytes(function)
    n_bytes = BASE_BYTES + parameters + largest
    if n_bytes > memory:
        room = memory - parameters - BASE_BYTES
        smaller = f"Write a BlockStore with blocks of {room / largest:.0%} of the documents, or i" if room > 0 else "I"
        raise ResourceError(
            f"a pass takes {n_bytes / 1e6:,.1f} MB: {largest / 1e6:,.1f} MB for a block with its rows, "
            f"{parameters / 1e6:,.1f} MB for {copies} copies of the parameters; memory={memory / 1e6:,.1f} MB",
            hint=f"{smaller}ncrease memory.",
        )


def _count_open_bytes(block: Any, block_rows: Any) -> int:
    """Count the bytes of a block in files while it is computed: the block, and its rows before and after.

    A fit can extrapolate between two passes, which takes three times the rows. That is included before the fit begins.
    """
    rows = [file.nbytes for file in find_handles(block_rows)]
    largest = max(rows, default=0)
    extrapolation = 0 if isinstance(block_rows, EmptyRows) else 3 * largest
    return int(max(sum(file.nbytes for file in find_handles(block)) + sum(rows) + largest, extrapolation))


def count_bytes(value: Any) -> int:
    """Count the bytes of the arrays in a value made of dataclasses and tuples."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if is_dataclass(value):
        return sum(count_bytes(getattr(value, field.name)) for field in fields(value))
    return sum(map(count_bytes, value)) if isinstance(value, tuple) else 0
