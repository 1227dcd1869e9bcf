"""Memory of the device: arrays that know what they need to, and give their place back when nobody holds them.

Asking the driver for memory takes about as long as a sweep over a small collection, and giving it back waits for
everything that runs. So freed places are kept for the next array of about their size. All work on arrays runs in one
stream, in turn: a place may be used again as soon as its array is let go, even if the device is still at it.
"""

from __future__ import annotations

import math
import weakref
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import cuda

from topiarist.arrays import Array, ArrayLike, DTypeLike
from topiarist.kernels.cuda import dense
from topiarist.kernels.cuda.warp import SIMULATED, Gpu, launch

if TYPE_CHECKING:
    from numba.cuda.cudadrv.driver import Stream

LEAST = 512  # bytes of a place


class Place:
    """A piece of device memory; whoever holds an array in it holds this."""

    __slots__ = ("__weakref__", "buffer")

    def __init__(self, buffer: Gpu | None) -> None:
        self.buffer = buffer


class Flags:
    """As much of ``numpy.ndarray.flags`` as models look at."""

    def __init__(self, transposed: bool) -> None:
        self.c_contiguous = not transposed


class DeviceArray:
    """An array on the device, rows in C order, or (``T``) seen from its other side."""

    __slots__ = ("_place", "_transposed", "array", "memory")

    def __init__(self, memory: Memory, place: Place, array: Gpu, transposed: bool = False) -> None:
        self.memory, self.array = memory, array
        self._place, self._transposed = place, transposed

    @property
    def shape(self) -> tuple[int, ...]:
        """As of any array."""
        shape = tuple(int(n) for n in self.array.shape)
        return shape[::-1] if self._transposed else shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """As of any array."""
        dtype: np.dtype[Any] = np.dtype(self.array.dtype)
        return dtype

    @property
    def ndim(self) -> int:
        """As of any array."""
        return len(self.shape)

    @property
    def flags(self) -> Flags:
        """As of any array."""
        return Flags(self._transposed)

    @property
    def T(self) -> DeviceArray:  # noqa: N802
        """The transpose, in the same place."""
        return DeviceArray(self.memory, self._place, self.array, not self._transposed)

    def __len__(self) -> int:
        return self.shape[0]

    def __add__(self, other: DeviceArray) -> DeviceArray:
        """Expected counts of blocks are added up."""
        return self.memory.added(self, other)

    def numpy(self, out: Array | None = None) -> Array:
        """A copy on the host, complete when this returns."""
        host = self.memory.fetch(self.array, out)
        return host.T if self._transposed else host


class Memory:
    """What a stream of work needs: arrays, and their ways to the device and back. ``limit`` is in bytes."""

    def __init__(self, stream: Any = 0, limit: int | None = None) -> None:
        self.stream, self.limit = stream, limit
        self.held, self.peak = 0, 0  # bytes taken from the driver, now and at most
        self._free: dict[int, list[Any]] = defaultdict(list)

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
        """An array of anything."""
        dtype = np.dtype(dtype)
        nbytes = math.prod(shape) * dtype.itemsize
        if nbytes == 0:
            return DeviceArray(self, Place(None), cuda.device_array(shape, dtype))
        size = rounded(nbytes)
        try:  # two threads may ask at a time
            buffer = self._free[size].pop()
        except IndexError:
            buffer = self._taken(size)
        place = Place(buffer)
        weakref.finalize(place, self._free[size].append, buffer).atexit = False
        return DeviceArray(self, place, _seen_as(buffer, shape, dtype))

    def put(self, host: ArrayLike, dtype: DTypeLike | None = None, stream: Stream | None = None) -> DeviceArray:
        """A copy of an array of the host."""
        host = np.ascontiguousarray(host, dtype)
        out = self.empty(host.shape, host.dtype)
        if host.size:
            out.array.copy_to_device(host, stream=self.stream if stream is None else stream)
        return out

    def copied(self, array: DeviceArray) -> DeviceArray:
        """A copy of an array of the device."""
        out = self.empty(array.array.shape, array.dtype)
        if out.array.size:
            out.array.copy_to_device(array.array, stream=self.stream)
        return out

    def fetch(self, array: Gpu, out: Array | None = None) -> Array:
        """A copy on the host of an array of the device, complete when this returns."""
        host = np.empty(array.shape, array.dtype) if out is None else out
        if host.size:
            array.copy_to_host(host, stream=self.stream)
            self.synchronize()
        return host

    def added(self, first: DeviceArray, second: DeviceArray) -> DeviceArray:
        """The sum of two arrays of one shape."""
        out = self.empty(first.array.shape, first.dtype)
        flat = (each.array.reshape(each.array.size) for each in (first, second, out))
        launch(dense.add, self.stream, out.array.size, *flat)
        return out

    def synchronize(self) -> None:
        """Wait for all work."""
        if self.stream:
            self.stream.synchronize()
        else:
            cuda.synchronize()

    def trim(self) -> None:
        """Give places that nobody uses back to the driver."""
        for size, buffers in self._free.items():
            self.held -= size * len(buffers)
            buffers.clear()

    def _taken(self, size: int) -> Any:
        if self.limit is not None and self.held + size > self.limit:
            self.trim()
        if self.limit is not None and self.held + size > self.limit:
            raise MemoryError(f"{self.held + size:,} bytes of device memory are needed, {self.limit:,} may be used")
        try:
            buffer = cuda.device_array(size, np.uint8)
        except Exception:  # the driver's own error differs between versions of numba
            self.trim()
            buffer = cuda.device_array(size, np.uint8)
        self.held += size
        self.peak = max(self.peak, self.held)
        return buffer


def _seen_as(buffer: Gpu, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """The first bytes of a piece of memory as an array; on a device made at once, which views in turn are not."""
    if SIMULATED:
        return buffer[: math.prod(shape) * dtype.itemsize].view(dtype).reshape(*shape)
    strides = [dtype.itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return type(buffer)(shape, tuple(strides), dtype, gpu_data=buffer.gpu_data)


def rounded(nbytes: int) -> int:
    """Up to an eighth of a power of two more, so that arrays of nearly the same size can have the same place."""
    step = max(LEAST, 1 << max(0, nbytes.bit_length() - 4))
    return -(-nbytes // step) * step


def new_stream() -> Any:
    """A queue of work."""
    return cuda.stream()


def new_event() -> Any:
    """A mark in a queue, for another queue to wait for."""
    return cuda.event()


def pinned_empty(nbytes: int) -> Array:
    """Page-locked memory of the host."""
    host: Array = cuda.pinned_array(nbytes, np.uint8)
    return host


def free_memory() -> int | None:
    """Bytes of the device that nobody uses, less a little; None where that cannot be said (in the simulator)."""
    context = cuda.current_context()
    if hasattr(context, "deallocations"):  # what was let go may still be on numba's list of things to free
        context.deallocations.clear()
    free = context.get_memory_info()[0]
    return None if math.isinf(free) else int(0.95 * free)
