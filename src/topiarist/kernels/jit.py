"""How every compiled kernel is compiled: no lock, kept on disk, sums fused; and rows asked for ahead of time."""

from __future__ import annotations

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from topiarist.kernels import cache

cache.settle()

FASTMATH = {"reassoc", "contract", "arcp"}  # NaN and infinity keep their meaning, as the guards need
AHEAD = 16  # non-zeros: how far ahead rows are asked for


def jit(function):
    """A kernel: compiled when it is first called, and kept."""
    return _kept(numba.njit(nogil=True, fastmath=FASTMATH)(function))


def inline(function):
    """A part of kernels: written into each of them."""
    return _kept(numba.njit(nogil=True, fastmath=FASTMATH, inline="always")(function))


def _kept(compiled):
    if not numba.config.DISABLE_JIT:  # in a debugger it is the plain function
        compiled._cache = cache.Kept(compiled.py_func)  # what ``cache=True`` does, with a cache that may fail
    return compiled


# The sweeps jump from row to row of a factor as the words of a document demand, and wait for memory more than they
# compute. Numba has no word for a prefetch, LLVM does: this is that word. It changes no result.
CACHE_LINE = 64
LINES = 4  # 64 floats of four bytes; the hardware follows by itself from there


@intrinsic
def prefetch_row(_context, array, row):
    """Start fetching ``array[row]`` of a C-contiguous matrix."""

    def emit(context, builder, signature, arguments):
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
        for line in range(LINES):
            target = builder.add(address, ir.Constant(word, line * CACHE_LINE))
            builder.call(function, [builder.inttoptr(target, pointer), read, keep, data])
        return context.get_dummy_value()

    return types.void(array, row), emit


def _nothing(array, row):
    """The same lines in a debugger (``NUMBA_DISABLE_JIT``): nothing to fetch ahead."""


prefetch = _nothing if numba.config.DISABLE_JIT else prefetch_row
