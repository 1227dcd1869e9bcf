"""Compilation of kernels: without the interpreter lock, cached on disk, with fused sums; and row prefetching."""

from __future__ import annotations

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from topiarist.kernels import cache

cache.configure_cache()

FASTMATH = {"reassoc", "contract", "arcp"}  # NaN and infinity keep their meaning, as the guards need
PREFETCH_DISTANCE = 16  # non-zeros between a row and the row that is prefetched


def jit(function):
    """Compile a kernel on its first call and cache it."""
    return _add_cache(numba.njit(nogil=True, fastmath=FASTMATH)(function))


def inline(function):
    """Compile a function that is inlined into kernels."""
    return _add_cache(numba.njit(nogil=True, fastmath=FASTMATH, inline="always")(function))


def _add_cache(kernel):
    if not numba.config.DISABLE_JIT:  # otherwise it is the plain function
        kernel._cache = cache.CachedKernel(kernel.py_func)  # as ``cache=True``, but tolerant of file errors
    return kernel


# The sweeps access the rows of a factor in the order of the words of a document and are bound by memory latency. Numba
# has no prefetch, LLVM has: this intrinsic calls it. It does not change results.
CACHE_LINE = 64  # bytes
PREFETCH_LINES = 4  # 64 floats of four bytes; the hardware prefetcher continues from there


@intrinsic
def prefetch_row(_context, array, row):
    """Start fetching ``array[row]`` of a C-contiguous matrix."""

    def emit(context, builder, signature, arguments):
        """Emit LLVM prefetch instructions for the first cache lines of a row."""
        struct = context.make_array(signature.args[0])(context, builder, arguments[0])
        stride = cgutils.unpack_tuple(builder, struct.strides)[0]
        word = stride.type
        index = context.cast(builder, arguments[1], signature.args[1], types.intp)
        address = builder.add(builder.ptrtoint(struct.data, word), builder.mul(index, stride))
        pointer = ir.PointerType(ir.IntType(8))
        number = ir.IntType(32)
        declaration = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, declaration, "llvm.prefetch.p0")
        read, keep, data = (ir.Constant(number, value) for value in (0, 3, 1))
        for line in range(PREFETCH_LINES):
            target = builder.add(address, ir.Constant(word, line * CACHE_LINE))
            builder.call(function, [builder.inttoptr(target, pointer), read, keep, data])
        return context.get_dummy_value()

    return types.void(array, row), emit


def _skip_prefetch(array, row):
    """Do nothing: the replacement of ``prefetch_row`` without compilation (``NUMBA_DISABLE_JIT``)."""


prefetch = _skip_prefetch if numba.config.DISABLE_JIT else prefetch_row
