"""Execution on a Dask cluster: workers compute blocks that are files.

All large values are in a folder that every worker sees. Dask itself moves names and sums. A pass is a small graph:

- The function with its parameters is written to a file that every worker maps (``Parcel``).
- Each task opens a run of 1, 2, 4 … neighbouring blocks, adds their statistics and writes the new rows.
- Neighbouring sums are added. The last few sums are written to files, and the driver adds them as it reads them.

Runs are branches of the tree in which ``Sums`` adds, so any number of workers gives the bits of one process.

**A worker may die at any time.** Its work is computed again from files that do not change during a pass: the blocks,
the parameters, and the rows of the previous pass. A pass that the cluster cannot recover is repeated a few times. The
driver waits a limited time for a cluster without workers.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.execution.executors import EStep, Sums, tree_sum
from topiarist.kernels.shard import CACHE_LINE, allocate_aligned
from topiarist.storage.array_files import RowFile, Scratch, find_handles, open_handles
from topiarist.storage.sealed_folder import new_file

MIN_FILE_BYTES = 1 << 16  # smaller arrays travel with the task
MAX_FINAL_SUMS = 8  # sums that the driver adds
POLL_SECONDS = 1.0  # between two checks that the cluster has workers
TRIM, DASK_TRIM = "MALLOC_TRIM_THRESHOLD_", "65536"  # Dask's default for its workers
MALLOC_OPTIONS = {-3: 1 << 25, -1: 1 << 28}  # mallopt: M_MMAP_THRESHOLD and M_TRIM_THRESHOLD in bytes
TASKS_IN_FLIGHT = 2  # per thread, while a stream waits for results

LOCAL_PREFIX = "local:"  # followed by the number of workers
CONNECT_TIMEOUT = 20  # seconds
LOCALHOST = "127.0.0.1:0"  # the dashboard is not served to other machines

Result = TypeVar("Result")
Submit = Callable[..., list[Any]]


class DaskExecutor:
    """Executor that computes blocks in files on a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        Client of the cluster. Its workers must see the folder of the blocks under the same path, and have topiarist.
    scratch : path or None
        Folder for parameters and rows during a fit. All workers and this process must see it. None: the folder of the
        blocks.
    retries : int, default 3
        How often a failing task or a lost pass is repeated.
    patience : float, default 60
        Seconds to wait for a worker if there is none.
    tasks_per_thread : int, default 2
        Minimum number of tasks for each thread of the cluster, if there are enough blocks. More tasks balance the work
        better, fewer move less data. The result does not depend on it.

    Examples
    --------
    ``PLSA(executor=DaskExecutor(client)).fit(store)``
    """

    needs_files = True

    def __init__(
        self,
        client: Any,
        *,
        scratch: str | Path | None = None,
        retries: int = 3,
        patience: float = 60.0,
        tasks_per_thread: int = 2,
    ) -> None:
        self.client = client
        self.cluster = Cluster.from_client(client, retries=retries, patience=patience)
        self.scratch = scratch
        self.tasks_per_thread = tasks_per_thread

    def __deepcopy__(self, memo: Any) -> DaskExecutor:
        """Return the executor itself, so that scikit-learn's ``clone`` does not copy the client."""
        return self

    def total(self, function: EStep, blocks: Sequence[Any], local: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        """Return the sum of the statistics and the new rows, as ``Executor.total`` does."""
        work = list(zip(blocks, local, strict=True))
        files = [list(find_handles(pair)) for pair in work]
        if not files or not all(files):
            raise UsageError(
                "expected blocks in files, got blocks in memory",
                hint="Fit a BlockStore, or omit executor.",
            )
        folder = Scratch.find_or_create(local, self.scratch or files[0][0].folder)
        rows = tuple(folder.rows() for _ in work)
        return self.cluster.retry(lambda: self._pass(function, work, rows, folder), "the same pass"), rows

    def _pass(self, function: EStep, work: list[Any], rows: tuple[RowFile, ...], folder: Scratch) -> Any:
        parcel_file = folder.rows()
        parcel = pack(function, parcel_file.path)
        workers = self.cluster.workers()
        n_tasks = self.tasks_per_thread * sum(workers.values())
        size = 1
        while len(work) >= 2 * size * n_tasks:
            size *= 2
        starts = range(0, len(work), size)
        places = _assign_workers(workers, len(starts))
        with self.cluster.tasks() as submit:
            sum_files = _make_sum_files(folder, len(starts))
            runs = [slice(start, start + size) for start in starts]
            calls = [(parcel, work[run], rows[run], _get_path(file)) for run, file in zip(runs, sum_files, strict=True)]
            sums: list[Any] = [None] * len(calls)
            for place in dict.fromkeys(places):
                numbers = [number for number, other in enumerate(places) if other == place]
                futures = submit(
                    sweep, [calls[number] for number in numbers], workers=[place], allow_other_workers=True
                )
                for number, future in zip(numbers, futures, strict=True):
                    sums[number] = future
            while len(sums) > MAX_FINAL_SUMS:
                padded = [*sums, None] if len(sums) % 2 else sums  # the last sum can be without a neighbour
                pairs = zip(padded[::2], padded[1::2], strict=True)
                sum_files = _make_sum_files(folder, len(padded) // 2)
                sums = submit(
                    add, [(_get_path(file), *pair) for file, pair in zip(sum_files, pairs, strict=True)], priority=1
                )
            return self._sum(sums)

    def _sum(self, futures: list[Any]) -> Any:
        sums = Sums()
        for place, parcel in enumerate(self.cluster.fetch_results(futures)):
            sums.add(unpack(parcel, map=place % 2 == 1))  # the left value of an addition is changed in place
        return sums.total()


def _assign_workers(workers: dict[str, int], number: int) -> list[str]:
    """Return a preferred worker for each of ``number`` neighbouring tasks, in proportion to the threads of the workers.

    Few tasks alternate between workers: the driver adds their sums in task order, and they finish in that order. Of
    many tasks, neighbours share a worker, which adds their sums. The assignment is the same in every pass, so that a
    machine finds its blocks in its file cache.
    """
    slots = [address for address, threads in workers.items() for _ in range(threads)]
    if number <= MAX_FINAL_SUMS:
        turns = [(turn, address) for address, threads in workers.items() for turn in range(threads)]
        in_turn = [address for _, address in sorted(turns, key=lambda slot: slot[0])]
        return [in_turn[place % len(in_turn)] for place in range(number)]
    return [slots[place * len(slots) // number] for place in range(number)]


def _make_sum_files(folder: Scratch, number: int) -> list[RowFile | None]:
    """Return a file for each sum if few enough sums are left for the driver; otherwise None for each."""
    return [folder.rows() if number <= MAX_FINAL_SUMS else None for _ in range(number)]


def _get_path(file: RowFile | None) -> str | None:
    return None if file is None else file.path


def sweep(parcel: Parcel, work: Sequence[tuple[Any, Any]], rows: Sequence[RowFile], sum_path: str | None = None) -> Any:
    """Compute neighbouring blocks in a task, write their new rows to files, and return the sum of their statistics.

    With ``sum_path`` the sum is written to that file and its parcel is returned.
    """
    keep_memory()
    function = unpack(parcel)

    def compute_block(block: Any, block_rows: Any, file: RowFile) -> Any:
        stats, values = function(open_handles(block), open_handles(block_rows))
        if values is not None:
            file.save(values)
        return stats

    return _pack_at(
        tree_sum(compute_block(block, block_rows, new) for (block, block_rows), new in zip(work, rows, strict=True)),
        sum_path,
    )


@cache
def keep_memory() -> None:
    """Let this process keep some freed memory, as most programs do.

    Dask starts workers that return all freed memory at once and fault it in again for every block, which takes nearly
    half of a pass. A user's own setting is kept, and other systems than GNU/Linux are left unchanged.
    """
    if sys.platform == "linux" and os.environ.get(TRIM) == DASK_TRIM:
        with suppress(OSError, AttributeError):
            for option, size in MALLOC_OPTIONS.items():
                ctypes.CDLL(None).mallopt(option, size)


def add(sum_path: str | None, left: Any, right: Any) -> Any:
    """Add the sums of two neighbours in a task, or return the sum of a task without a neighbour."""
    return _pack_at(left if right is None else left + right, sum_path)  # a new value: a task can run twice


def _pack_at(value: Any, path: str | None) -> Any:
    return value if path is None else pack(value, path)


@dataclass(frozen=True)
class Parcel:
    """Serialized value whose large arrays are in a file and whose small parts travel in Dask's messages."""

    path: str
    header: Any
    size: int  # of the file
    frames: tuple[Any, ...]  # bytes, or where they begin and end in the file


@dataclass(frozen=True)
class _OpaqueValue:
    """Wrapper that makes Dask serialize a value as one object: first a description, then the bytes of arrays."""

    value: Any


def pack(value: Any, path: str) -> Parcel:
    """Write the large arrays of a value to a file, each from the start of a cache line.

    Only arrays go to the file: everything that Dask would unpickle stays in its messages and is never read from a file.
    """
    header, (thing, *arrays) = import_distributed().protocol.serialize(_OpaqueValue(value), on_error="raise")
    frames: list[Any] = [bytes(thing)]
    end = 0
    with new_file(path) as file:
        for frame in (memoryview(array).cast("B") for array in arrays):
            if frame.nbytes < MIN_FILE_BYTES:
                frames.append(bytes(frame))
                continue
            start = -(-end // CACHE_LINE) * CACHE_LINE
            file.seek(start)
            file.write(frame)
            end = start + frame.nbytes
            frames.append((start, end))
    return Parcel(path, header, end, tuple(frames))


def unpack(parcel: Parcel, *, map: bool = True) -> Any:
    """Restore a packed value; its large arrays are private memory maps of the file, or copies if ``map`` is false."""
    buffer = allocate_aligned((0 if map else parcel.size,), np.uint8)
    try:
        if map and parcel.size:
            buffer = np.memmap(parcel.path, np.uint8, "c")
        elif parcel.size:
            with open(parcel.path, "rb") as file:
                file.readinto(buffer.data)
    except OSError as error:
        raise InputError(
            f"{parcel.path} cannot be opened on this machine: {error.strerror}",
            hint="Set scratch to a folder that all workers see under the same path.",
        ) from error
    frames = [buffer.data[frame[0] : frame[1]] if isinstance(frame, tuple) else frame for frame in parcel.frames]
    return import_distributed().protocol.deserialize(parcel.header, frames).value


def import_distributed() -> Any:
    """Import the package ``distributed``; raise ``ResourceError`` if it is not installed."""
    try:
        import distributed
    except ImportError as error:
        raise ResourceError(
            "the package distributed is not installed", hint="Run pip install topiarist[dask]."
        ) from error
    return distributed


# ---- retries and timeouts


class Cluster:
    """Dask client that repeats tasks after the loss of a worker.

    ``loss_errors`` are the exceptions that mean that a worker was lost, and not that the work failed.
    """

    def __init__(
        self, client: Any, loss_errors: tuple[type[BaseException], ...], *, retries: int = 3, patience: float = 60.0
    ) -> None:
        self.client = client
        self.loss_errors = loss_errors
        self.retries = retries
        self.patience = patience

    @classmethod
    def from_client(cls, client: Any, *, retries: int = 3, patience: float = 60.0) -> Cluster:
        """Return the cluster of a client of ``distributed``."""
        loss_errors = (import_distributed().KilledWorker, CancelledError)
        if not callable(getattr(client, "map", None)):
            raise UsageError(f"client must be a distributed.Client, got {client!r}", hint="Pass distributed.Client().")
        return cls(client, loss_errors, retries=retries, patience=patience)

    def stream(self, work: Callable[[Any], Result], items: Iterable[Any]) -> Iterator[Result]:
        """Yield ``work(item)`` for each item in order, for more items than fit in memory.

        A few items for each thread are in flight, and each travels with its task, so it is sent again if its worker
        dies. Closing the iterator cancels the tasks in flight.
        """
        waiting: deque[tuple[Any, Any]] = deque()

        def fetch_next() -> Result:
            item, future = waiting[0]
            tries = [future]  # the first attempt is already in flight
            answer: Result = self.retry(
                lambda: self.fetch_result(tries.pop() if tries else self._submit(work, item)),
                f"a task {_name_task(work)}-…",
            )
            waiting.popleft()
            return answer

        try:
            for item in items:
                max_waiting = TASKS_IN_FLIGHT * sum(self.workers().values())
                waiting.append((item, self._submit(work, item)))
                if len(waiting) > max_waiting:
                    yield fetch_next()
            while waiting:
                yield fetch_next()
        finally:
            with suppress(Exception):
                self.client.cancel([future for _, future in waiting])

    def _submit(self, work: Callable[[Any], Any], item: Any) -> Any:
        try:
            return self.client.submit(work, item, key=f"{_name_task(work)}-{uuid.uuid4().hex}", retries=self.retries)
        except Exception:
            self.workers(wait=False)  # raises a clearer error if the cluster is gone
            raise

    def retry(self, work: Callable[[], Result], description: str) -> Result:
        """Call ``work`` again, up to ``retries`` times, if the cluster has lost it."""
        reason = ""
        for _ in range(self.retries + 1):
            try:
                return work()
            except self.loss_errors as error:
                reason = str(error)
        raise ResourceError(
            f"the cluster lost {description} {self.retries + 1} times: {reason}",
            hint="Write smaller blocks or give the workers more memory. See their logs for the cause.",
        )

    @contextmanager
    def tasks(self) -> Iterator[Submit]:
        """Yield a function that submits calls of a task under its name; cancel all of them after an error."""
        futures: list[Any] = []

        def submit(task: Callable[..., Any], calls: Sequence[Sequence[Any]], **where: Any) -> list[Any]:
            keys = [f"{task.__name__}-{uuid.uuid4().hex}" for _ in calls]
            arguments = map(list, zip(*calls, strict=True))
            submitted: list[Any] = self.client.map(task, *arguments, key=keys, retries=self.retries, **where)
            futures.extend(submitted)
            return submitted

        try:
            yield submit
        except BaseException:
            with suppress(Exception):
                self.client.cancel(futures)
            raise

    def fetch_result(self, future: Any) -> Any:
        """Wait for the result of a task and return it."""
        return next(self.fetch_results([future]))

    def fetch_results(self, futures: Iterable[Any]) -> Iterator[Any]:
        """Yield the results of tasks in order, while all are fetched at once."""
        for result in [_fetch_in_thread(future) for future in futures]:
            yield self._wait_for(result)

    def _wait_for(self, result: Future[Any]) -> Any:
        """Wait for a result, and raise ``ResourceError`` after ``patience`` seconds without any worker."""
        last_contact = time.monotonic()
        while not wait([result], POLL_SECONDS).done:
            if self.workers(wait=False):
                last_contact = time.monotonic()
            elif time.monotonic() - last_contact > self.patience:
                raise self._no_worker_error()
        return result.result()

    def workers(self, *, wait: bool = True) -> dict[str, int]:
        """Return the number of threads of each worker, in an order that does not change while the workers stay."""
        give_up = time.monotonic() + self.patience
        while True:
            if self.client.status in ("closed", "closing"):
                raise ResourceError("the client is closed", hint="Connect a new distributed.Client.")
            try:
                workers = self.client.nthreads()
            except Exception as error:
                raise ResourceError(
                    f"the cluster cannot be reached: {error!r}", hint="Check that its scheduler is running."
                ) from error
            if workers or not wait:
                return dict(sorted(workers.items()))
            if time.monotonic() > give_up:
                raise self._no_worker_error()
            time.sleep(0.1)

    def _no_worker_error(self) -> ResourceError:
        return ResourceError(
            f"the cluster has had no worker for {self.patience:g} seconds", hint="Start workers or increase patience."
        )


def _name_task(work: Callable[..., Any]) -> str:
    """Return the name of a task as the Dask dashboard shows it."""
    return _name_task(work.func) if isinstance(work, partial) else work.__name__.lstrip("_")


def _fetch_in_thread(future: Any) -> Future[Any]:
    """Fetch the result of a task in a thread, once.

    Repeated requests with a timeout would cancel a result that is just arriving: the timeout of one request ends the
    next one, and distributed raises ``UnboundLocalError`` (its issue 8514).
    """
    result: Future[Any] = Future()

    def fetch() -> None:
        try:
            result.set_result(future.result())
        except UnboundLocalError as error:
            result.set_exception(CancelledError(f"a result was cancelled while it was fetched: {error}"))
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=fetch, name="topiarist-answer", daemon=True).start()
    return result


# ---- clusters by address: an existing scheduler, or local workers that run as long as the client


def parse_local_workers(address: str) -> int | None:
    """Return the number of local workers that an address requests; None for the address of a scheduler."""
    if not address.startswith(LOCAL_PREFIX):
        return None
    number = address.removeprefix(LOCAL_PREFIX)
    if not number.isdecimal() or int(number) < 1:
        raise UsageError(
            f"expected a number of workers after 'local:', got {address!r}",
            hint="Pass an address such as local:2 or tcp://machine:8786.",
        )
    return int(number)


@contextmanager
def connect(address: str) -> Iterator[Any]:
    """Connect to a cluster and yield its client; workers that were started for it end with it."""
    number = parse_local_workers(address)
    package = import_distributed()
    if number is None:
        try:
            client = package.Client(address, timeout=CONNECT_TIMEOUT)
        except (OSError, ValueError, TimeoutError) as error:
            raise ResourceError(
                f"there is no cluster at {address}: {error or type(error).__name__}",
                hint="Start one with `dask scheduler` and pass its address, or pass local:2.",
            ) from error
        with client:
            yield client
        return
    with (
        package.LocalCluster(
            n_workers=number,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=LOCALHOST,
            worker_dashboard_address=LOCALHOST,
            silence_logs=50,
        ) as cluster,  # fmt: skip
        package.Client(cluster) as client,
    ):
        yield client
