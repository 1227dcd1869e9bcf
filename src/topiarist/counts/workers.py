"""Distribution of chunks of texts to local processes or workers of a cluster.

Processes use joblib's *loky* backend: they start afresh, do not import the script of the caller, and stop on Ctrl-C.
Texts are read in the calling thread only, a few chunks ahead of the workers. Small collections use one process. A
cluster limits its chunks in memory itself, and repeats lost chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Protocol, TypeVar

from topiarist.errors import InputError, UsageError

Item = TypeVar("Item")
Result = TypeVar("Result")

CHARACTERS_PER_CHUNK = 8_000_000  # characters of text in one chunk
CHARACTERS_PER_SERIAL_CHUNK = 40_000_000  # characters, without workers
MIN_CHUNKS = 3  # chunks: fewer take less time than starting workers
CHARACTERS_PER_SENT_CHUNK = 2_000_000  # characters of a chunk for another machine


class RemoteWorkers(Protocol):
    """Workers of a cluster; see ``execution.dask.Cluster``."""

    def stream(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield ``work(item)`` for all items in order; only a few are in memory at a time."""


Jobs = int | RemoteWorkers | None  # number of processes (-1 or None: one per core), or a cluster


def split_texts(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Yield the texts in lists of about ``size`` characters."""
    chunk: list[str] = []
    filled = 0
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(
                f"expected texts, got {type(text).__name__} at position {position}",
                hint="Decode bytes first, and replace missing texts by ''.",
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
    """Yield ``work(chunk)`` for all chunks in order, in ``n_jobs`` processes or on a cluster."""
    if isinstance(texts, str):
        raise InputError("expected an iterable of texts, got a single text", hint="Pass [text].")
    if not isinstance(n_jobs, int | None):
        yield from n_jobs.stream(work, split_texts(texts, chunk or CHARACTERS_PER_SENT_CHUNK))
        return
    workers = _count_workers(n_jobs)
    if workers == 1:
        yield from map(work, split_texts(texts, chunk or CHARACTERS_PER_SERIAL_CHUNK))
        return
    chunks = split_texts(texts, chunk or CHARACTERS_PER_CHUNK)
    first = list(islice(chunks, MIN_CHUNKS))
    if len(first) < MIN_CHUNKS and chunk is None:
        yield from map(work, first)
        return
    yield from _map_in_processes(work, chain(first, chunks), workers)


def _count_workers(n_jobs: int | None) -> int:
    """Return the number of processes for ``n_jobs``: −1 is all cores, −2 all but one."""
    from joblib import cpu_count  # type: ignore[import-untyped,unused-ignore]

    cores: int = cpu_count()
    if n_jobs is None:
        return cores
    if n_jobs == 0:
        raise UsageError("n_jobs must not be 0", hint="Use 1 for this process only, or -1 for all cores.")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def _map_in_processes(work: Callable[[Item], Result], chunks: Iterator[Item], workers: int) -> Iterator[Result]:
    """Yield results in order; the next chunks are read while the workers are busy."""
    from joblib import Parallel, delayed  # type: ignore[import-untyped,unused-ignore]

    with Parallel(n_jobs=workers, backend="loky", batch_size=1, return_as="generator") as parallel:
        batch = list(islice(chunks, 2 * workers))
        while batch:
            results = parallel(delayed(work)(chunk) for chunk in batch)
            batch = list(islice(chunks, 2 * workers))
            yield from results
