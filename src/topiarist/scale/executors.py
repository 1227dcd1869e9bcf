"""Where blocks of documents are computed: map, then add.

An executor has one verb. It gives each block of documents, with the parameters that belong to its rows, to a function
that returns additive statistics and the rows' new parameters; it returns the sum and the new row parameters.

**The order of addition** belongs to the contract, because it decides about bits: neighbours are added first, then
neighbouring sums of two, of four, and so on (``Sums``). A run of 2, 4, 8 … blocks is a branch of that tree: it may be
computed in one place, and every executor gives the same bits for the same blocks.

**Blocks may be files** (``blocks.BlockFile``). Such a block is opened, computed and let go, and the parameters of its
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
from topiarist.store.array_files import NewRows, Scratch, handles, opened

EStep = Callable[[Any, Any], tuple[Any, Any]]

COPIES = 5  # of the parameters: two states, the statistics of a block, what is made of them; sums come on top
OWN = 4_000_000  # bytes: threads' scratch arrays, the manifest and the like


class Executor(Protocol):
    """What the EM loop asks of the place where the work is done."""

    def total(self, function: EStep, blocks: Sequence[Any], local: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        """The statistics of all blocks, added as ``Sums`` adds, and the parameters of each block's rows."""


class Sums:
    """Adds in the order of a balanced tree, holding no more than one sum for each of its levels.

    What is given to it is used up: where a value can be added to in place, it is.
    """

    def __init__(self) -> None:
        self._held: list[tuple[int, Any]] = []

    def add(self, value: Any) -> None:
        """One more, to the right of all before."""
        size = 1
        while self._held and self._held[-1][0] == size:
            left = self._held.pop()[1]
            left += value
            value, size = left, 2 * size
        self._held.append((size, value))

    def total(self) -> Any:
        """The sum of all; at least one must have come."""
        _, total = self._held.pop()
        while self._held:
            left = self._held.pop()[1]
            left += total
            total = left
        return total


def tree_sum(values: Iterable[Any]) -> Any:
    """The sum of the values in the order of ``Sums``."""
    sums = Sums()
    for value in values:
        sums.add(value)
    return sums.total()


class InProcess:
    """One block after the other, in this process; threads work inside a block.

    Parameters
    ----------
    memory : int or None
        Bytes that work on files may take beyond an idle process: an open block, its rows before and after (or, to
        look ahead, three times its rows), and the parameters with the sums of statistics that are held at a time. What
        would take more is refused before its first pass; results with a row for each document lie in files, unless
        they have less than a megabyte. None: no limit.
    scratch : path or None
        Where the row parameters of such blocks are kept. None: beside the blocks.
    """

    def __init__(self, memory: int | None = None, scratch: str | Path | None = None) -> None:
        self.memory = memory
        self.scratch = scratch

    def total(self, function: EStep, blocks: Sequence[Any], local: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        """See ``Executor.total``."""
        sums, rows = Sums(), []
        folder: Scratch | None = None
        if self.memory is not None:
            _check_memory(function, list(zip(blocks, local, strict=True)), self.memory)
        for place, (block, own) in enumerate(zip(blocks, local, strict=True)):
            files = list(handles((block, own)))
            for file in handles(tuple(blocks[place + 1 : place + 2])):
                file.expect()
            stats, new = function(opened(block), opened(own))
            sums.add(stats)
            if files and new is not None:
                folder = folder or Scratch.beside(local, self.scratch or files[0].folder)
                new = folder.saved(new)
            rows.append(new)
            del stats, new  # before the next block is opened
        return sums.total(), tuple(rows)


def _check_memory(function: EStep, work: list[Any], memory: int) -> None:
    """A pass over files may take what it is allowed to, and not more."""
    largest = max((_open_bytes(*pair) for pair in work), default=0)
    if not largest:
        return
    copies = COPIES + math.ceil(math.log2(len(work)))
    parameters = copies * bytes_in(function)
    need = OWN + parameters + largest
    if need > memory:
        room = memory - parameters - OWN
        smaller = f"a BlockStore with blocks of {room / largest:.0%} of the documents, or " if room > 0 else ""
        raise ResourceError(
            f"a pass takes {need / 1e6:,.1f} MB: {largest / 1e6:,.1f} MB for a block with its rows, "
            f"{parameters / 1e6:,.1f} MB for {copies} copies of the parameters; memory={memory / 1e6:,.1f} MB",
            hint=f"{smaller}more memory",
        )


def _open_bytes(block: Any, own: Any) -> int:
    """Bytes of a block that is a file while it is computed: itself, and its rows before and after.

    A fit may look ahead between two passes, with three times the rows; that is asked for here, before it has begun.
    """
    rows = [file.nbytes for file in handles(own)]
    largest = max(rows, default=0)
    ahead = 0 if isinstance(own, NewRows) else 3 * largest
    return int(max(sum(file.nbytes for file in handles(block)) + sum(rows) + largest, ahead))


def bytes_in(value: Any) -> int:
    """Bytes of the arrays in a value made of dataclasses and tuples."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if is_dataclass(value):
        return sum(bytes_in(getattr(value, field.name)) for field in fields(value))
    return sum(map(bytes_in, value)) if isinstance(value, tuple) else 0
