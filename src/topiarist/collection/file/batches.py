"""Documents in batches: large ones where they are there already, and whatever has come where they are not."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from queue import Empty, Full, Queue
from typing import TypeVar

T = TypeVar("T")
WAIT = 0.1  # seconds until a reader looks whether anybody still listens


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of so many."""
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch


def coming(items: Iterable[T], size: int, patience: float = 0.0) -> Iterator[list[T]]:
    """Lists of what has come while the one before was worked on: one at least, and at most ``size``.

    With ``patience`` a list is waited for until it is full, or until so many seconds after its first item.
    A thread reads ahead, so that a slow source is answered at once and a fast one in large batches.
    """
    waiting: Queue[T | _End] = Queue(2 * size)
    left = threading.Event()

    def put(item: T | _End) -> None:
        while not left.is_set():
            with suppress(Full):
                waiting.put(item, timeout=WAIT)
                break

    def reads() -> None:
        end = _End()
        try:
            for item in items:
                put(item)
                if left.is_set():
                    return
        except BaseException as error:
            end = _End(error)
        put(end)

    threading.Thread(target=reads, daemon=True).start()
    try:
        while True:
            batch, end = _taken(waiting, size, patience)
            if batch:
                yield batch
            if end is not None:
                if end.error is not None:
                    raise end.error
                return
    finally:
        left.set()


class _End:
    """The last thing in a queue: why there is no more."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def _taken(waiting: Queue[T | _End], size: int, patience: float) -> tuple[list[T], _End | None]:
    """What is there, after waiting for the first, and what comes while there is patience."""
    batch: list[T] = []
    found = waiting.get()
    until = time.monotonic() + patience
    while not isinstance(found, _End):
        batch.append(found)
        if len(batch) == size:
            return batch, None
        try:
            found = waiting.get(timeout=max(0.0, until - time.monotonic()))
        except Empty:
            return batch, None
    return batch, found
