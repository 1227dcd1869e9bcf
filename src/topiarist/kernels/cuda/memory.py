"""Device memory: arrays that return their memory block for reuse when they are no longer referenced.

A request to the driver takes about as long as a sweep over a small collection, and freeing waits for all running work.
Freed blocks are therefore kept for the next array of about their size. All work on arrays is queued in one stream, so a
block can be reused as soon as its array is released, even if the device still computes with it.
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
from topiarist.kernels.cuda.warp import BLOCK_THREADS, IS_SIMULATED, MAX_BLOCKS, Gpu, Kernel

if TYPE_CHECKING:
    from numba.cuda.cudadrv.driver import Stream

MIN_BYTES = 512  # bytes of a place


class MemoryBlock:
    """Block of device memory that lives as long as an array in it."""

    __slots__ = ("__weakref__", "buffer")

    def __init__(self, buffer: Gpu | None) -> None:
        self.buffer = buffer


class Flags:
    """Attributes of ``numpy.ndarray.flags`` that models read."""

    def __init__(self, transposed: bool) -> None:
        self.c_contiguous = not transposed


class DeviceArray:
    """Array on the device with rows in C order, or its transpose (``T``)."""

    __slots__ = ("_block", "_transposed", "array", "memory")

    def __init__(self, memory: Memory, block: MemoryBlock, array: Gpu, transposed: bool = False) -> None:
        self.memory, self.array = memory, array
        self._block, self._transposed = block, transposed

    @property
    def shape(self) -> tuple[int, ...]:
        shape = tuple(int(n) for n in self.array.shape)
        return shape[::-1] if self._transposed else shape

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = np.dtype(self.array.dtype)
        return dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def flags(self) -> Flags:
        return Flags(self._transposed)

    @property
    def T(self) -> DeviceArray:  # noqa: N802
        """Transpose, in the same memory."""
        return DeviceArray(self.memory, self._block, self.array, not self._transposed)

    def __len__(self) -> int:
        return self.shape[0]

    def __add__(self, other: DeviceArray) -> DeviceArray:
        """Return the sum of two arrays, for the expected counts of blocks."""
        return self.memory.add(self, other)

    @property
    def flat(self) -> Any:
        """The numbers in the order of the memory, as kernels over whole arrays take them."""
        return self.array.reshape(self.array.size)

    def numpy(self) -> Array:
        """Return a copy on the host, complete on return."""
        host: Array = np.empty(self.array.shape, self.array.dtype)
        if host.size:
            self.array.copy_to_host(host, stream=self.memory.stream)
            self.memory.synchronize()
        return host.T if self._transposed else host


class Memory:
    """Arrays of one stream of work and their transfers; ``limit`` is in bytes."""

    def __init__(self, stream: Any = 0, limit: int | None = None) -> None:
        self.stream, self.limit = stream, limit
        self.held_bytes, self.peak_bytes = 0, 0  # allocated from the driver, now and at most
        self._free: dict[int, list[Any]] = defaultdict(list)

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
        """Allocate an uninitialised array."""
        dtype = np.dtype(dtype)
        nbytes = math.prod(shape) * dtype.itemsize
        if nbytes == 0:
            return DeviceArray(self, MemoryBlock(None), cuda.device_array(shape, dtype))
        size = round_up(nbytes)
        try:  # two threads can allocate at once
            buffer = self._free[size].pop()
        except IndexError:
            buffer = self._allocate(size)
        block = MemoryBlock(buffer)
        weakref.finalize(block, self._free[size].append, buffer).atexit = False
        return DeviceArray(self, block, _view_as(buffer, shape, dtype))

    def put(self, host: ArrayLike, dtype: DTypeLike | None = None, stream: Stream | None = None) -> DeviceArray:
        """Copy an array from the host to the device."""
        host = np.ascontiguousarray(host, dtype)
        out = self.empty(host.shape, host.dtype)
        if host.size:
            out.array.copy_to_device(host, stream=self.stream if stream is None else stream)
        return out

    def full(self, shape: tuple[int, ...], dtype: DTypeLike, value: float) -> DeviceArray:
        """Allocate an array with one value everywhere."""
        out = self.empty(shape, dtype)
        self.launch(dense.fill, out.array.size, out.flat, out.dtype.type(value))
        return out

    def copy(self, array: DeviceArray) -> DeviceArray:
        """Copy an array on the device."""
        out = self.empty(array.array.shape, array.dtype)
        if out.array.size:
            out.array.copy_to_device(array.array, stream=self.stream)
        return out

    def add(self, first: DeviceArray, second: DeviceArray) -> DeviceArray:
        """Return the sum of two arrays of one shape."""
        out = self.empty(first.array.shape, first.dtype)
        self.launch(dense.add, out.array.size, first.flat, second.flat, out.flat)
        return out

    def launch(self, kernel: Kernel, n_threads: int, *arguments: object, max_blocks: int = MAX_BLOCKS) -> None:
        """Start a kernel with a thread for each item of work, up to the maximum number of blocks."""
        blocks = max(1, min(max_blocks, -(-n_threads // BLOCK_THREADS)))
        arrays = (part.array if isinstance(part, DeviceArray) else part for part in arguments)
        kernel[blocks, BLOCK_THREADS, self.stream](*arrays)

    def synchronize(self) -> None:
        """Wait for all work."""
        if self.stream:
            self.stream.synchronize()
        else:
            cuda.synchronize()

    def trim(self) -> None:
        """Return unused blocks to the driver."""
        for size, buffers in self._free.items():
            self.held_bytes -= size * len(buffers)
            buffers.clear()

    def _allocate(self, size: int) -> Any:
        """Allocate bytes on the device; free unused buffers first if the limit requires it."""
        if self.limit is not None and self.held_bytes + size > self.limit:
            self.trim()
        if self.limit is not None and self.held_bytes + size > self.limit:
            raise MemoryError(
                f"expected at most {self.limit:,} bytes of device memory, need {self.held_bytes + size:,}"
            )
        try:
            buffer = cuda.device_array(size, np.uint8)
        except Exception:  # the driver's own error differs between versions of numba
            self.trim()
            buffer = cuda.device_array(size, np.uint8)
        self.held_bytes += size
        self.peak_bytes = max(self.peak_bytes, self.held_bytes)
        return buffer


def _view_as(buffer: Gpu, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Return the first bytes of a block as an array, built directly because numba's views are slow."""
    if IS_SIMULATED:
        return buffer[: math.prod(shape) * dtype.itemsize].view(dtype).reshape(*shape)
    strides = [dtype.itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return type(buffer)(shape, tuple(strides), dtype, gpu_data=buffer.gpu_data)


def round_up(nbytes: int) -> int:
    """Round a size up by at most an eighth of a power of two, so that arrays of similar size share blocks."""
    step = max(MIN_BYTES, 1 << max(0, nbytes.bit_length() - 4))
    return -(-nbytes // step) * step


def create_stream() -> Any:
    """Create a queue of work."""
    return cuda.stream()


def create_event() -> Any:
    """Create an event in a queue that another queue can wait for."""
    return cuda.event()


def allocate_pinned(nbytes: int) -> Array:
    """Allocate page-locked memory on the host."""
    host: Array = cuda.pinned_array(nbytes, np.uint8)
    return host


def count_free_bytes() -> int | None:
    """Return 95% of the free bytes of the device; None in the simulator."""
    context = cuda.current_context()
    if hasattr(context, "deallocations"):  # released memory can still be on numba's list of pending deallocations
        context.deallocations.clear()
    free = context.get_memory_info()[0]
    return None if math.isinf(free) else int(0.95 * free)
