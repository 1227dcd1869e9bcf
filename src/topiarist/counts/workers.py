"""Chunks of texts, and whoever works on them: processes of this machine, or the workers of a cluster.

Processes are the processes of joblib's *loky* backend: started afresh (nothing is forked, so that threads and
locks of this process do no harm), without importing the caller's script (no main guard is needed), and
stopped on Ctrl-C. Texts are read in this process and its calling thread only, a few chunks ahead of the
workers. Small collections are not worth a process. A cluster is asked through ``Helpers``; it decides itself how many
chunks are on their way, and a chunk that it loses it works on again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Protocol, TypeVar

from topiarist.errors import InputError, UsageError

Item = TypeVar("Item")
Result = TypeVar("Result")

CHUNK = 8_000_000  # characters of text in one chunk
SERIAL_CHUNK = 40_000_000  # without workers there is no load to balance
WORTH_WORKERS = 3  # fewer chunks are done sooner than workers have started
SENT_CHUNK = 2_000_000  # characters that travel to another machine together


class Helpers(Protocol):
    """Somebody else who works on things, wherever that is: see ``scale.dask.Cluster``."""

    def stream(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """``work(item)`` for all items in their order; of these only a few are held at a time."""


Jobs = int | Helpers | None  # so many processes of this machine (-1 or None: one per core), or somebody else


def text_chunks(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Yield the texts in lists of about ``size`` characters."""
    chunk: list[str] = []
    filled = 0
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(
                f"expected texts, got {type(text).__name__} at position {position}",
                hint="decode bytes first, and replace missing texts by ''",
            )
        chunk.append(text)
        filled += len(text) + 1
        if filled >= size:
            yield chunk
            chunk, filled = [], 0
    if chunk:
        yield chunk


def map_chunks(
    work: Callable[[Sequence[str]], Result],
    texts: Iterable[str],
    n_jobs: Jobs = 1,
    chunk: int | None = None,
) -> Iterator[Result]:
    """Yield ``work(chunk)`` for all chunks in order, in ``n_jobs`` processes, or by whoever helps."""
    if isinstance(texts, str):
        raise InputError("expected an iterable of texts, got a single text", hint="[text]")
    if not isinstance(n_jobs, int | None):
        yield from n_jobs.stream(work, text_chunks(texts, chunk or SENT_CHUNK))
        return
    workers = _worker_count(n_jobs)
    if workers == 1:
        yield from map(work, text_chunks(texts, chunk or SERIAL_CHUNK))
        return
    chunks = text_chunks(texts, chunk or CHUNK)
    first = list(islice(chunks, WORTH_WORKERS))
    if len(first) < WORTH_WORKERS and chunk is None:
        yield from map(work, first)
        return
    yield from _in_processes(work, chain(first, chunks), workers)


def map_items(work: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None = 1) -> Iterator[Result]:
    """Yield ``work(item)`` for all items in order, in ``n_jobs`` processes: for items that are each worth one."""
    every = list(items)
    workers = min(_worker_count(n_jobs), len(every))
    yield from map(work, every) if workers < 2 else _in_processes(work, iter(every), workers)


def _worker_count(n_jobs: int | None) -> int:
    """Return the number of processes ``n_jobs`` stands for."""
    from joblib import cpu_count  # type: ignore[import-untyped,unused-ignore]

    cores: int = cpu_count()
    if n_jobs is None:
        return cores
    if n_jobs == 0:
        raise UsageError("n_jobs must not be 0", hint="1 for this process only, -1 for all cores")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def _in_processes(work: Callable[[Item], Result], chunks: Iterator[Item], workers: int) -> Iterator[Result]:
    """Yield results in order; while the workers have one batch of chunks, the next is read here."""
    from joblib import Parallel, delayed  # type: ignore[import-untyped,unused-ignore]

    with Parallel(n_jobs=workers, backend="loky", batch_size=1, return_as="generator") as parallel:
        batch = list(islice(chunks, 2 * workers))
        while batch:
            results = parallel(delayed(work)(chunk) for chunk in batch)
            batch = list(islice(chunks, 2 * workers))
            yield from results
