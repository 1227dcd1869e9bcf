"""Many machines: blocks that are files, computed by the workers of a Dask cluster.

Everything large lies in a folder that all see; what Dask moves is names and sums. A pass is a small graph: the function
with its parameters is written to a file that every worker maps (``Parcel``); each task opens a run of 1, 2, 4 …
neighbouring blocks, adds their statistics and writes the new rows; neighbouring sums are added, and the last few come
home in files, which the driver adds as it reads them. Runs are branches of the tree that ``Sums`` adds by, so the bits
are those of one process, for any number of workers.

**A worker may die at any time.** What it was computing is computed again, from files that do not change during a pass:
the blocks, the parameters, the rows of the pass before. A pass that the cluster cannot mend by itself is started again,
a few times; a cluster without workers is waited for, and then given up.
"""

from __future__ import annotations

import ctypes
import operator
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
from functools import cache, partial, reduce
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.kernels.shard import CACHE_LINE, aligned_empty
from topiarist.scale.executors import EStep, Sums, tree_sum
from topiarist.store.array_files import RowFile, Scratch, handles, opened
from topiarist.store.sealed_folder import new_file

LARGE = 1 << 16  # bytes: smaller parts travel with the task
LAST = 8  # sums at most that are left to the driver
SECONDS_BETWEEN_LOOKS = 1.0  # at whether there still is a cluster
MERGED_AT_ONCE = 4
TRIM, DASK_TRIM = "MALLOC_TRIM_THRESHOLD_", "65536"  # what Dask tells its workers, unless its settings say otherwise
KEPT = {-3: 1 << 25, -1: 1 << 28}  # of mallopt: bytes from which on memory is the system's own; that are kept at most
AHEAD = 2  # tasks for each thread that are on their way while results are awaited

Result = TypeVar("Result")
Submit = Callable[..., list[Any]]


class DaskExecutor:
    """Computes blocks that are files on a Dask cluster: ``PLSA(executor=DaskExecutor(client)).fit(store)``.

    Parameters
    ----------
    client : distributed.Client
        The cluster. Its workers must see the folder of the blocks under the same name, and have topiarist installed.
    scratch : path or None
        Where parameters and rows are kept during a fit: a folder that all workers and this process see. None: that of
        the blocks.
    retries : int, default 3
        How often a failing task, and a pass that was lost, is tried again.
    patience : float, default 60
        Seconds to wait for a worker when there is none.
    tasks_per_thread : int, default 2
        Tasks at least for each thread of the cluster, as far as there are blocks. More share the work more evenly,
        fewer move less. The result does not depend on it.
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
        self.cluster = Cluster.of(client, retries=retries, patience=patience)
        self.scratch = scratch
        self.tasks_per_thread = tasks_per_thread

    def __deepcopy__(self, memo: Any) -> DaskExecutor:
        """A place has no copies: scikit-learn's ``clone`` keeps this one."""
        return self

    def total(self, function: EStep, blocks: Sequence[Any], local: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        """See ``executors.Executor.total``."""
        work = list(zip(blocks, local, strict=True))
        files = [list(handles(pair)) for pair in work]
        if not files or not all(files):
            raise UsageError(
                "a cluster computes blocks that are files, and these are in memory",
                hint="fit a BlockStore, or leave executor out",
            )
        folder = Scratch.beside(local, self.scratch or files[0][0].folder)
        rows = tuple(folder.rows() for _ in work)
        return self.cluster.persistently(lambda: self._pass(function, work, rows, folder), "the same pass"), rows

    def _pass(self, function: EStep, work: list[Any], rows: tuple[RowFile, ...], folder: Scratch) -> Any:
        told = folder.rows()
        parcel = pack(function, told.path)
        workers = self.cluster.workers()
        n_tasks = self.tasks_per_thread * sum(workers.values())
        size = 1
        while len(work) >= 2 * size * n_tasks:
            size *= 2
        starts = range(0, len(work), size)
        places = _places(workers, len(starts))
        with self.cluster.tasks() as submit:
            homes = _homes(folder, len(starts))
            runs = [slice(start, start + size) for start in starts]
            calls = [(parcel, work[run], rows[run], _path(home)) for run, home in zip(runs, homes, strict=True)]
            level: list[Any] = [None] * len(calls)
            for place in dict.fromkeys(places):
                own = [number for number, other in enumerate(places) if other == place]
                sent = submit(sweep, [calls[number] for number in own], workers=[place], allow_other_workers=True)
                for number, future in zip(own, sent, strict=True):
                    level[number] = future
            while len(level) > LAST:
                pairs = [level[place : place + 2] for place in range(0, len(level), 2)]  # the last one may be alone
                homes = _homes(folder, len(pairs))
                level = submit(add, [(_path(home), *pair) for home, pair in zip(homes, pairs, strict=True)], priority=1)
            return self._sum(level)

    def _sum(self, last: list[Any]) -> Any:
        """What has come home: the first is copied, and the others are added to it from their files."""
        sums = Sums()
        for place, parcel in enumerate(self.cluster.answers(last)):
            sums.add(unpack(parcel, map=place % 2 == 1))  # only what stands on the left is added to
        return sums.total()


def _places(workers: dict[str, int], number: int) -> list[str]:
    """A worker for each of ``number`` neighbouring tasks, in shares that follow their threads.

    Of few tasks neighbours go to different workers: sums are added in the order of tasks, each as soon as it is there,
    and so they come in that order. Of more, neighbours go to one worker, which adds them. A preference only. Pass after
    pass it is the same, so that what a machine has read it still has in its cache.
    """
    slots = [address for address, threads in workers.items() for _ in range(threads)]
    if number <= LAST:
        turns = [(turn, address) for address, threads in workers.items() for turn in range(threads)]
        in_turn = [address for _, address in sorted(turns, key=lambda one: one[0])]
        return [in_turn[place % len(in_turn)] for place in range(number)]
    return [slots[place * len(slots) // number] for place in range(number)]


def _homes(folder: Scratch, number: int) -> list[RowFile | None]:
    """Files for so many sums, if they are few enough to be the last."""
    return [folder.rows() if number <= LAST else None for _ in range(number)]


def _path(home: RowFile | None) -> str | None:
    return None if home is None else home.path


def sweep(parcel: Parcel, work: Sequence[tuple[Any, Any]], rows: Sequence[RowFile], home: str | None = None) -> Any:
    """A task: some neighbouring blocks, one after the other; their new rows go to files, their sum comes back.

    With a ``home``, a file that the driver reads, the sum is there and its parcel comes back.
    """
    keep_memory()
    function = unpack(parcel)

    def one(block: Any, own: Any, new: RowFile) -> Any:
        stats, values = function(opened(block), opened(own))
        if values is not None:
            new.save(values)
        return stats

    return _brought(tree_sum(one(block, own, new) for (block, own), new in zip(work, rows, strict=True)), home)


@cache
def keep_memory() -> None:
    """Let this process keep some memory that it has let go, as most programs do.

    Dask starts workers that give all of it back at once, and take it anew, empty, in every block: nearly half of a
    pass. Where somebody has said how much is kept, that stays; so it does where this is no GNU system.
    """
    if sys.platform == "linux" and os.environ.get(TRIM) == DASK_TRIM:
        with suppress(OSError, AttributeError):
            for option, size in KEPT.items():
                ctypes.CDLL(None).mallopt(option, size)


def add(home: str | None, *sums: Any) -> Any:
    """A task: the sum of two neighbours, or one that has none."""
    return _brought(reduce(operator.add, sums), home)  # something new: a task may run again


def _brought(value: Any, home: str | None) -> Any:
    return value if home is None else pack(value, home)


@dataclass(frozen=True)
class Parcel:
    """A value on its way: its large arrays as bytes in a file, the rest, which is small, in Dask's own messages."""

    path: str
    header: Any
    size: int  # of the file
    frames: tuple[Any, ...]  # bytes, or where they begin and end in the file


@dataclass(frozen=True)
class _Whole:
    """A value that Dask takes as one thing, and not part by part: first what describes it, then bytes of arrays."""

    value: Any


def pack(value: Any, path: str) -> Parcel:
    """Write the large arrays of a value to a file, each from a cache line on.

    Only arrays: what Dask will take as a Python object again, and trust, is never read from a file.
    """
    header, (thing, *arrays) = package().protocol.serialize(_Whole(value), on_error="raise")
    frames: list[Any] = [bytes(thing)]
    end = 0
    with new_file(path) as file:
        for frame in (memoryview(array).cast("B") for array in arrays):
            if frame.nbytes < LARGE:
                frames.append(bytes(frame))
                continue
            start = -(-end // CACHE_LINE) * CACHE_LINE
            file.seek(start)
            file.write(frame)
            end = start + frame.nbytes
            frames.append((start, end))
    return Parcel(path, header, end, tuple(frames))


def unpack(parcel: Parcel, *, map: bool = True) -> Any:
    """The value again; its large arrays are those of the file, memory-mapped and private, or copies in memory."""
    buffer = aligned_empty((0 if map else parcel.size,), np.uint8)
    try:
        if map and parcel.size:
            buffer = np.memmap(parcel.path, np.uint8, "c")
        elif parcel.size:
            with open(parcel.path, "rb") as file:
                file.readinto(buffer.data)
    except OSError as error:
        raise InputError(
            f"{parcel.path} cannot be opened here: {error.strerror}",
            hint="scratch=, a folder that all workers see under the same name",
        ) from error
    frames = [buffer.data[frame[0] : frame[1]] if isinstance(frame, tuple) else frame for frame in parcel.frames]
    return package().protocol.deserialize(parcel.header, frames).value


def package() -> Any:
    """Dask's package of clusters, which only those load who ask for one."""
    try:
        import distributed
    except ImportError as error:
        raise ResourceError("a cluster needs the package distributed", hint="pip install topiarist[dask]") from error
    return distributed


# ---- a cluster, and how long to bear with it


class Cluster:
    """A client with patience. ``lost`` are the errors that mean a death among the workers, not a fault of the work."""

    def __init__(
        self, client: Any, lost: tuple[type[BaseException], ...], *, retries: int = 3, patience: float = 60.0
    ) -> None:
        self.client = client
        self.lost = lost
        self.retries = retries
        self.patience = patience

    @classmethod
    def of(cls, client: Any, *, retries: int = 3, patience: float = 60.0) -> Cluster:
        """A client of distributed, if it is one."""
        lost = (package().KilledWorker, CancelledError)
        if not callable(getattr(client, "map", None)):
            raise UsageError(f"client must be a distributed.Client, got {client!r}", hint="distributed.Client()")
        return cls(client, lost, retries=retries, patience=patience)

    def map(self, task: Callable[..., Result], items: Iterable[Any], *arguments: Any) -> Iterator[Result]:
        """``task(item, *arguments)`` for each item, in their order."""

        every = list(items)

        def work() -> list[Result]:
            self.workers()  # fails where there is no cluster
            with self.tasks() as submit:
                return [self.answer(future) for future in submit(task, [(item, *arguments) for item in every])]

        yield from self.persistently(work, f"the tasks {task.__name__}-…") if every else ()

    def stream(self, work: Callable[[Any], Result], items: Iterable[Any]) -> Iterator[Result]:
        """``work(item)`` for each item, in their order, where there are too many to be held together.

        A few for each thread are on their way, and each travels with its task: one that dies with its worker is sent
        again. Who stops listening ends what is on its way.
        """
        waiting: deque[tuple[Any, Any]] = deque()

        def next_answer() -> Result:
            item, future = waiting[0]
            tries = [future]  # the first one is on its way already
            answer: Result = self.persistently(
                lambda: self.answer(tries.pop() if tries else self._sent(work, item)), f"a task {_name(work)}-…"
            )
            waiting.popleft()
            return answer

        try:
            for item in items:
                ahead = AHEAD * sum(self.workers().values())
                waiting.append((item, self._sent(work, item)))
                if len(waiting) > ahead:
                    yield next_answer()
            while waiting:
                yield next_answer()
        finally:
            with suppress(Exception):
                self.client.cancel([future for _, future in waiting])

    def _sent(self, work: Callable[[Any], Any], item: Any) -> Any:
        """The future of one task."""
        try:
            return self.client.submit(work, item, key=f"{_name(work)}-{uuid.uuid4().hex}", retries=self.retries)
        except Exception:
            self.workers(wait=False)  # says so where there is no cluster any more
            raise

    def reduce(
        self, task: Callable[..., Result], merge: Callable[..., Result], items: Sequence[Any], *arguments: Any
    ) -> Result:
        """The same, and neighbouring results merged by the workers until one is left, which comes home."""

        def work() -> Result:
            self.workers()
            with self.tasks() as submit:
                level, depth = submit(task, [(item, *arguments) for item in items]), 1
                while len(level) > 1:
                    runs = [level[at : at + MERGED_AT_ONCE] for at in range(0, len(level), MERGED_AT_ONCE)]
                    level, depth = submit(merge, runs, priority=depth), depth + 1  # before more is begun
                result: Result = self.answer(level[0])
                return result

        return self.persistently(work, f"the tasks {task.__name__}-…")

    def persistently(self, work: Callable[[], Result], what: str) -> Result:
        """Do something again, a few times, when the cluster has lost it."""
        reason = ""
        for _ in range(self.retries + 1):
            try:
                return work()
            except self.lost as error:
                reason = str(error)
        raise ResourceError(
            f"the cluster lost {what} {self.retries + 1} times: {reason}",
            hint="smaller blocks or more memory for the workers; their logs say why they died",
        )

    @contextmanager
    def tasks(self) -> Iterator[Submit]:
        """A function that submits calls of a task, under its name; all are cancelled if anything goes wrong."""
        futures: list[Any] = []

        def submit(task: Callable[..., Any], calls: Sequence[Sequence[Any]], **where: Any) -> list[Any]:
            keys = [f"{task.__name__}-{uuid.uuid4().hex}" for _ in calls]
            width = max(map(len, calls))  # the last one may have fewer arguments
            whole = [call for call in calls if len(call) == width]
            made: list[Any] = self.client.map(
                task, *map(list, zip(*whole, strict=True)), key=keys[: len(whole)], retries=self.retries, **where
            )
            for key, call in zip(keys[len(whole) :], calls[len(whole) :], strict=True):
                made.append(self.client.submit(task, *call, key=key, retries=self.retries, **where))
            futures.extend(made)
            return made

        try:
            yield submit
        except BaseException:
            with suppress(Exception):
                self.client.cancel(futures)
            raise

    def answer(self, future: Any) -> Any:
        """The result of a task."""
        return next(self.answers([future]))

    def answers(self, futures: Iterable[Any]) -> Iterator[Any]:
        """The results in their order, all on their way at once."""
        for coming in [_on_its_way(future) for future in futures]:
            yield self._awaited(coming)

    def _awaited(self, coming: Future[Any]) -> Any:
        """A result; while it does not come, look whether there is anybody to wait for."""
        seen = time.monotonic()
        while not wait([coming], SECONDS_BETWEEN_LOOKS).done:
            if self.workers(wait=False):
                seen = time.monotonic()
            elif time.monotonic() - seen > self.patience:
                raise self._nobody()
        return coming.result()

    def workers(self, *, wait: bool = True) -> dict[str, int]:
        """The threads of each worker, in an order that stays the same as long as the workers do."""
        give_up = time.monotonic() + self.patience
        while True:
            if self.client.status in ("closed", "closing"):
                raise ResourceError("the client is closed", hint="a distributed.Client that is connected")
            try:
                workers = self.client.nthreads()
            except Exception as error:
                raise ResourceError(
                    f"the cluster cannot be reached: {error!r}", hint="is its scheduler still running?"
                ) from error
            if workers or not wait:
                return dict(sorted(workers.items()))
            if time.monotonic() > give_up:
                raise self._nobody()
            time.sleep(0.1)

    def _nobody(self) -> ResourceError:
        return ResourceError(
            f"the cluster has had no worker for {self.patience:g} seconds", hint="start workers, or a longer patience="
        )


def _name(work: Callable[..., Any]) -> str:
    """What a task is called where people look at it."""
    return _name(work.func) if isinstance(work, partial) else work.__name__.lstrip("_")


def _on_its_way(future: Any) -> Future[Any]:
    """The result of a task, which a thread waits for and fetches, once.

    Asking for it again and again with a timeout would cancel the way home of the one that has just come: the timeout of
    one question ends what the next one waits for, and distributed says ``UnboundLocalError`` (its issue 8514).
    """
    coming: Future[Any] = Future()

    def fetch() -> None:
        try:
            coming.set_result(future.result())
        except UnboundLocalError as error:
            coming.set_exception(CancelledError(f"a result was cancelled on its way: {error}"))
        except BaseException as error:
            coming.set_exception(error)

    threading.Thread(target=fetch, name="topiarist-answer", daemon=True).start()
    return coming
