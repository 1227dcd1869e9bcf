"""Threads over fixed pieces of work; the result does not depend on the number of threads."""

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


def count_available_cores() -> int:
    """Return the number of cores that this process may use.

    It is lower than the number of cores of the machine under ``taskset`` or in a container with a quota.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, _read_core_quota(Path("/sys/fs/cgroup/cpu.max"))))


def _read_core_quota(limit: Path) -> int:
    """Return the cores that a Linux control group grants, rounded up; a very large number without a limit."""
    try:
        quota, period = limit.read_text().split()
        return math.ceil(int(quota) / int(period))
    except (OSError, ValueError):  # no such file, or "max"
        return 1 << 16


class Threads:
    """Thread pool whose ``map`` returns results in the order of the pieces; a context manager."""

    def __init__(self, n_threads: int | None = None) -> None:
        self.n_threads = n_threads or count_available_cores()
        self._local = threading.local()
        self._pool = ThreadPoolExecutor(self.n_threads - 1, "topiarist") if self.n_threads > 1 else None

    def map(self, function: Callable[[Piece], Result], pieces: Sequence[Piece]) -> list[Result]:
        """Apply ``function`` to each piece; a free thread takes the next piece."""
        if self._pool is None or len(pieces) < 2:
            return [function(piece) for piece in pieces]
        results: list[Any] = [None] * len(pieces)
        numbers = iter(range(len(pieces)))

        def work() -> None:
            try:
                for number in numbers:
                    results[number] = function(pieces[number])
            finally:
                deque(numbers, maxlen=0)  # after an error or Ctrl-C no thread takes another piece

        helpers = [self._pool.submit(work) for _ in range(min(self.n_threads, len(pieces)) - 1)]
        try:
            work()
        finally:
            wait(helpers)
        for helper in helpers:
            helper.result()
        return results

    def scratch(self, size: int, dtype: Any) -> Any:
        """Return a scratch array of the calling thread, valid until its next call; reuse avoids page faults."""
        buffer = getattr(self._local, "array", None)
        if buffer is None or buffer.nbytes < size * np.dtype(dtype).itemsize:
            buffer = self._local.array = np.empty(size * np.dtype(dtype).itemsize, np.uint8)
        return buffer[: size * np.dtype(dtype).itemsize].view(dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        """Unpickle with one thread: the process that sends it decides how many processes work at once."""
        return Threads, (1,)

    def __enter__(self) -> Threads:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
