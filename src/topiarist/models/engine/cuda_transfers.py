"""What comes to a CUDA device, and what goes back: counts, parameters, and the results of ``cuda_engine``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Self

import numpy as np

from topiarist.kernels.cuda.memory import DeviceArray, Memory, free_memory, new_stream
from topiarist.kernels.cuda.verbs import Verbs
from topiarist.kernels.shard import Side
from topiarist.models.em import State
from topiarist.models.engine import cuda_stream
from topiarist.models.engine.cuda_counts import CudaShard, CudaSide, Swept, array_of, swept_rows, swept_words
from topiarist.models.engine.host import Engine
from topiarist.scale.threads import Threads


@dataclass(frozen=True)
class CudaTransfers(Engine):
    """The half of the engine that moves things; ``threads`` do what only the host can do."""

    verbs: Verbs
    parking: cuda_stream.Parking
    atomic: bool = False

    @classmethod
    def start(cls, threads: Threads, *, atomic: bool = False, device_memory: int | None = None) -> Self:
        """An engine with a stream and memory of its own."""
        memory = Memory(new_stream(), free_memory() if device_memory is None else device_memory)
        verbs = Verbs(memory)
        return cls(verbs.record(), threads, verbs, cuda_stream.Parking(memory), atomic)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels as a wish: another process has a device of its own."""
        return _there, (type(self), self.atomic)

    @property
    def memory(self) -> Memory:
        """Of the device."""
        return self.verbs.memory

    @property
    def executor(self) -> cuda_stream.Streamed:
        """One block after the other; those that are parked are fetched while the one before is computed."""
        return cuda_stream.Streamed(self.parking)

    def side(self, counts: Any, dtype: Any) -> CudaSide:
        """See ``Engine.side``."""
        side = Side.of(counts, dtype)
        return CudaSide(side.indptr, side.indices, side.data, side.cuts, swept_rows(self.verbs, side))

    def sides(self, counts: Any, dtype: Any, n_components: int) -> Iterator[CudaSide]:
        """See ``Engine.sides``: on the device one after the other."""
        cuts = self._cuts(counts, dtype, n_components)
        if len(cuts) == 2:
            yield self.side(counts, dtype)
            return
        for start, stop in pairwise(cuts):
            yield self.side(counts[start:stop], dtype)

    def _cuts(self, counts: Any, dtype: Any, n_components: int) -> list[int]:
        return cuda_stream.block_cuts(counts, np.dtype(dtype).itemsize, n_components, self.memory.limit)

    def shard(self, counts: Any, dtype: Any, n_components: int) -> Any:
        """See ``Engine.shard``."""
        rows, n_words = self.side(counts, dtype), int(counts.shape[1])
        words = swept_words(self.verbs, rows.swept, n_words, n_components)
        totals = self._products(words, self._filled((rows.n_rows, 1), rows.data.dtype, 1.0), n_words, np.float64)
        return CudaShard(rows, words, totals.numpy()[:, 0], self.uniform_rows)

    def shards(self, counts: Any, dtype: Any, n_components: int) -> list[Any]:
        """See ``Engine.shards``: one block where the device can hold all, or parked ones of which it can hold two."""
        cuts = self._cuts(counts, dtype, n_components)
        if len(cuts) == 2:
            return [self.shard(counts, dtype, n_components)]
        blocks = (counts[start:stop] for start, stop in pairwise(cuts))
        return [self.parking.parked_shard(self.shard(block, dtype, n_components)) for block in blocks]

    def to_device(self, value: Any) -> Any:
        """See ``Engine.to_device``; parked rows stay parked."""
        if isinstance(value, np.ndarray) and not isinstance(value, cuda_stream.Parked):
            return self.memory.put(value)
        if isinstance(value, State):
            return State(self.to_device(value.shared), tuple(map(self.to_device, value.local)))
        return value.moved(self.to_device) if hasattr(value, "moved") else value

    def to_host(self, value: Any) -> Any:
        """See ``Engine.to_host``."""
        if isinstance(value, DeviceArray):
            return value.numpy()
        if isinstance(value, cuda_stream.Parked):
            return self.parking.copied(value)
        if isinstance(value, State):
            return State(self.to_host(value.shared), tuple(map(self.to_host, value.local)))
        return value.moved(self.to_host) if hasattr(value, "moved") else value

    def beside(self, array: Any, value: Any) -> Any:
        """See ``Engine.beside``."""
        return self.memory.put(value) if isinstance(array, DeviceArray) else value

    def uniform_rows(self, n_rows: int, n_components: int, dtype: Any) -> Any:
        """See ``Engine.uniform_rows``."""
        return self._filled((n_rows, n_components), dtype, 1.0 / n_components)

    def _filled(self, shape: tuple[int, ...], dtype: Any, value: float) -> DeviceArray:
        out = self.memory.empty(shape, dtype)
        self.verbs.fill(out.array, value)
        return out

    def _here(self, array: Any) -> DeviceArray:
        """An array on the device, copied if need be."""
        return array if isinstance(array, DeviceArray) else self.memory.put(array)

    def _back(self, out: DeviceArray, like: Any) -> Any:
        """A result where the other array is."""
        if isinstance(like, cuda_stream.Parked):
            return self.parking.park(out)
        return out if isinstance(like, DeviceArray) else out.numpy()

    def _rows(self, side: Any) -> Swept:
        swept = side.swept if isinstance(side, CudaSide) else swept_rows(self.verbs, side)
        return swept.moved(self._here)

    def _words(self, shard: Any, n_components: int) -> Swept:
        return self._block(shard, n_components).words.moved(self._here)

    def _block(self, shard: Any, n_components: int) -> CudaShard:
        """A shard as the device sweeps it; one of the host is brought and turned, and let go after its sweep."""
        if isinstance(shard, CudaShard):
            return shard
        side, n_words = shard.rows, shard.shape[1]
        swept = swept_rows(self.verbs, side)
        rows = CudaSide(side.indptr, side.indices, side.data, side.cuts, swept)
        return CudaShard(rows, swept_words(self.verbs, swept, n_words, n_components), range(n_words), self.uniform_rows)

    def _products(self, swept: Swept, other: DeviceArray, n_rows: int, dtype: Any) -> DeviceArray:
        """Σ counts times rows of the other factor, for each row of the counts in this order."""
        out = self.memory.empty((n_rows, other.shape[1]), dtype or other.dtype)
        _, indices, data, cut = swept.moved(array_of)
        self.verbs.row_products(cut, indices, data, other.array, out.array)
        return out


@lru_cache(maxsize=1)
def _there(kind: type[CudaTransfers], atomic: bool) -> CudaTransfers:
    """The engine of a process that work travels to: one, so that its memory is used again and again."""
    return kind.start(Threads(1), atomic=atomic)
