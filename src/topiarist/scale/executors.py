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

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from topiarist.errors import ResourceError
from topiarist.scale.files import Scratch, handles, opened

EStep = Callable[[Any, Any], tuple[Any, Any]]


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
        Bytes that a block that is a file may take, with the parameters of its rows before and after. A larger block is
        refused. None: no limit.
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
        for place, (block, own) in enumerate(zip(blocks, local, strict=True)):
            files = list(handles((block, own)))
            if files and self.memory is not None:
                _check_memory(files, self.memory)
            for file in handles(tuple(blocks[place + 1 : place + 2])):
                file.expect()
            stats, new = function(opened(block), opened(own))
            sums.add(stats)
            if files and new is not None:
                folder = folder or Scratch.beside(local, self.scratch or files[0].folder)
                kept = folder.rows()
                kept.save(new)
                new = kept
            rows.append(new)
            del stats, new  # before the next block is opened
        return sums.total(), tuple(rows)


def _check_memory(files: Sequence[Any], memory: int) -> None:
    """A block may take what it is allowed to, and not more."""
    block, *rows = (file.nbytes for file in files)
    need = block + 2 * sum(rows)
    if need > memory:
        raise ResourceError(
            f"a block takes {need / 1e6:,.0f} MB with the parameters of its rows, memory={memory / 1e6:,.0f} MB",
            hint=f"a BlockStore with blocks of {memory / need:.0%} of the documents, or more memory",
        )
