"""Where blocks of documents are computed: map, then add.

An executor has one verb. It gives each block of documents, with the parameters that belong to its rows, to a function
that returns additive statistics and the rows' new parameters; it returns the sum, added in the order of the blocks,
and the new row parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any, Protocol

EStep = Callable[[Any, Any], tuple[Any, Any]]


class Executor(Protocol):
    """What the EM loop asks of the place where the work is done."""

    def total(self, function: EStep, blocks: Sequence[Any], local: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        """The statistics of all blocks added in order, and the parameters of each block's rows."""


class InProcess:
    """One block after the other, in this process; threads work inside a block."""

    def total(self, function: EStep, blocks: Sequence[Any], local: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        """See ``Executor.total``."""
        results = [function(block, rows) for block, rows in zip(blocks, local, strict=True)]
        return reduce(add, (stats for stats, _ in results)), tuple(rows for _, rows in results)
