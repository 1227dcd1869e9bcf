"""Threads over fixed pieces of work: the number of threads decides when a piece is done, never what comes out."""

from __future__ import annotations

import math
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def available_cores() -> int:
    """The cores this process may use: fewer than the machine has under ``taskset`` or in a container with a quota."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, _quota(Path("/sys/fs/cgroup/cpu.max"))))


def _quota(limit: Path) -> int:
    """Whole cores that a Linux control group grants; very many when it says nothing."""
    try:
        granted, period = limit.read_text().split()
        return math.ceil(int(granted) / int(period))
    except (OSError, ValueError):  # no such file, or "max"
        return 1 << 16


class Threads:
    """``map`` over pieces, results in the order of the pieces. Use it as a context."""

    def __init__(self, n_threads: int | None = None) -> None:
        self.n_threads = n_threads or available_cores()
        self._held = threading.local()
        self._pool = ThreadPoolExecutor(self.n_threads - 1, "topiarist") if self.n_threads > 1 else None

    def map(self, function: Callable[[Piece], Result], pieces: Sequence[Piece]) -> list[Result]:
        """Apply ``function`` to each piece; every thread takes the next piece that nobody has taken."""
        if self._pool is None or len(pieces) < 2:
            return [function(piece) for piece in pieces]
        results: list[Any] = [None] * len(pieces)
        numbers = iter(range(len(pieces)))

        def work() -> None:
            try:
                for number in numbers:
                    results[number] = function(pieces[number])
            finally:
                deque(numbers, maxlen=0)  # after an error or Ctrl-C nobody takes another piece

        helpers = [self._pool.submit(work) for _ in range(min(self.n_threads, len(pieces)) - 1)]
        try:
            work()
        finally:
            wait(helpers)
        for helper in helpers:
            helper.result()
        return results

    def scratch(self, size: int, dtype: Any) -> Any:
        """An array of this thread's own to compute in, until this thread asks again: the system hands out none anew."""
        held = getattr(self._held, "array", None)
        if held is None or held.nbytes < size * np.dtype(dtype).itemsize:
            held = self._held.array = np.empty(size * np.dtype(dtype).itemsize, np.uint8)
        return held[: size * np.dtype(dtype).itemsize].view(dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process works alone: whoever sent it there decides how many work at once."""
        return Threads, (1,)

    def __enter__(self) -> Threads:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
