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

import operator
from collections.abc import Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.kernels.shard import CACHE_LINE, aligned_empty
from topiarist.scale.cluster import Cluster
from topiarist.scale.executors import EStep, Sums, tree_sum
from topiarist.store.array_files import RowFile, Scratch, handles, opened
from topiarist.store.sealed_folder import new_file

LARGE = 1 << 16  # bytes: smaller parts travel with the task
LAST = 4  # sums at most that are left to the driver


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
        self.cluster = cluster(client, retries=retries, patience=patience)
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
            level: list[Any] = []
            homes = _homes(folder, len(starts))
            for place, mine in groupby(zip(starts, homes, places, strict=True), key=lambda run: run[2]):
                runs = [(slice(start, start + size), home) for start, home, _ in mine]
                calls = [(parcel, work[run], rows[run], _path(home)) for run, home in runs]
                level += submit(sweep, calls, workers=[place], allow_other_workers=True)
            while len(level) > LAST:
                pairs = _pairs(level)
                homes = _homes(folder, len(pairs))
                level = submit(add, [(_path(home), *pair) for home, pair in zip(homes, pairs, strict=True)], priority=1)
            return self._sum(level)

    def _sum(self, last: list[Any]) -> Any:
        """What has come home: the first is copied, and the others are added to it from their files."""
        sums = Sums()
        for place, parcel in enumerate(self.cluster.answers(last)):
            sums.add(unpack(parcel, map=place % 2 == 1))  # only what stands on the left is added to
        return sums.total()


def cluster(client: Any, *, retries: int = 3, patience: float = 60.0) -> Cluster:
    """A client as the rest of this package knows it."""
    lost = (_distributed().KilledWorker, CancelledError)
    if not callable(getattr(client, "map", None)):
        raise UsageError(f"client must be a distributed.Client, got {client!r}", hint="distributed.Client()")
    return Cluster(client, lost, retries=retries, patience=patience)


def _places(workers: dict[str, int], number: int) -> list[str]:
    """A worker for each of ``number`` neighbouring tasks, in shares that follow their threads.

    A preference only. Pass after pass it is the same, so that what a machine has read it still has in its cache.
    """
    slots = [address for address, threads in workers.items() for _ in range(threads)]
    return [slots[place * len(slots) // number] for place in range(number)]


def _pairs(level: list[Any]) -> list[list[Any]]:
    """Neighbours two by two; the last one may be alone."""
    return [level[place : place + 2] for place in range(0, len(level), 2)]


def _homes(folder: Scratch, number: int) -> list[RowFile | None]:
    """Files for so many sums, if they are few enough to be the last."""
    return [folder.rows() if number <= LAST else None for _ in range(number)]


def _path(home: RowFile | None) -> str | None:
    return None if home is None else home.path


def sweep(parcel: Parcel, work: Sequence[tuple[Any, Any]], rows: Sequence[RowFile], home: str | None = None) -> Any:
    """A task: some neighbouring blocks, one after the other; their new rows go to files, their sum comes back.

    With a ``home``, a file that the driver reads, the sum is there and its parcel comes back.
    """
    function = unpack(parcel)

    def one(block: Any, own: Any, new: RowFile) -> Any:
        stats, values = function(opened(block), opened(own))
        if values is not None:
            new.save(values)
        return stats

    return _brought(tree_sum(one(block, own, new) for (block, own), new in zip(work, rows, strict=True)), home)


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
    header, (thing, *arrays) = _distributed().protocol.serialize(_Whole(value), on_error="raise")
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
    return _distributed().protocol.deserialize(parcel.header, frames).value


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ResourceError("DaskExecutor needs the package distributed", hint="pip install topiarist[dask]") from error
    return distributed
