"""Access to device memory without index checks, in wide words and with short addresses.

Numba handles negative indices, which takes more instructions in a sweep than its arithmetic, and moves one number at a
time. These intrinsics move up to 16 bytes at a time; the place must exist and be aligned to the size of the word. In
the simulator they are plain functions.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.cuda.extending import intrinsic

from topiarist.kernels.cuda.warp import IS_SIMULATED, device

try:  # the package numba-cuda has its own
    from numba.cuda import cgutils
except ImportError:
    from numba.core import cgutils

MAX_WORD_BYTES = 16  # size of the widest word
I8, I32, I64 = (ir.IntType(bits) for bits in (8, 32, 64))


def _build_address(context, builder, kind, array, places, word):
    """Build a pointer to a word from its column and row, with 32-bit factors."""
    struct = context.make_array(kind)(context, builder, array)
    offset = builder.mul(places[-1], ir.Constant(I64, kind.dtype.bitwidth // 8))
    if len(places) == 2:
        stride = cgutils.unpack_tuple(builder, struct.strides)[0]
        row, stride = (builder.zext(builder.trunc(value, I32), I64) for value in (places[0], stride))
        offset = builder.add(builder.mul(row, stride), offset)
    start = builder.gep(builder.bitcast(struct.data, I8.as_pointer()), [offset])
    return builder.bitcast(start, word.as_pointer())


def _cast_places(context, builder, kinds, values):
    return [context.cast(builder, value, kind, types.int64) for kind, value in zip(kinds, values, strict=True)]


def _build_load(number, array, places):
    """Return the type and the code generator of a load of ``number`` neighbours."""

    def emit(context, builder, signature, arguments):
        """Emit LLVM code for one aligned load of a vector, returned as a tuple."""
        element = context.get_data_type(array.dtype)
        word = ir.VectorType(element, number) if number > 1 else element
        at = _cast_places(context, builder, signature.args[1:], arguments[1:])
        load = builder.load(_build_address(context, builder, array, arguments[0], at, word))
        load.align = number * array.dtype.bitwidth // 8
        if number == 1:
            return load
        parts = [builder.extract_element(load, ir.Constant(I32, part)) for part in range(number)]
        return context.make_tuple(builder, signature.return_type, parts)

    return_type = types.UniTuple(array.dtype, number) if number > 1 else array.dtype
    return return_type(array, *places), emit


def _build_store(number, array, row, column, values):
    """Return the type and the code generator of a store of ``number`` neighbours."""

    def emit(context, builder, signature, arguments):
        """Emit LLVM code for one aligned store of a tuple as a vector."""
        word = ir.VectorType(context.get_data_type(array.dtype), number)
        vector = ir.Constant(word, ir.Undefined)
        for part, value in enumerate(cgutils.unpack_tuple(builder, arguments[3])):
            vector = builder.insert_element(vector, value, ir.Constant(I32, part))
        at = _cast_places(context, builder, signature.args[1:3], arguments[1:3])
        store = builder.store(vector, _build_address(context, builder, array, arguments[0], at, word))
        store.align = number * array.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.void(array, row, column, values), emit


if IS_SIMULATED:

    def load_item(array, place):
        """Return ``array[place]``, the entry with the number ``place``."""
        return array[place]

    def load_one(array, row, column):
        """Return ``array[row, column]``."""
        return array[row, column]

    def load_two(array, row, column):
        """Return two neighbours."""
        return tuple(array[row, column + part] for part in range(2))

    def load_four(array, row, column):
        """Return four neighbours."""
        return tuple(array[row, column + part] for part in range(4))

    def store_two(array, row, column, values):
        """Store two neighbours."""
        for part in range(2):
            array[row, column + part] = values[part]

    def store_four(array, row, column, values):
        """Store four neighbours."""
        for part in range(4):
            array[row, column + part] = values[part]

else:

    @intrinsic
    def load_item(_context, array, place):
        """Return ``array[place]``."""
        return _build_load(1, array, (place,))

    @intrinsic
    def load_one(_context, array, row, column):
        """Return ``array[row, column]``."""
        return _build_load(1, array, (row, column))

    @intrinsic
    def load_two(_context, array, row, column):
        """Return two neighbours."""
        return _build_load(2, array, (row, column))

    @intrinsic
    def load_four(_context, array, row, column):
        """Return four neighbours."""
        return _build_load(4, array, (row, column))

    @intrinsic
    def store_two(_context, array, row, column, values):
        """Store two neighbours."""
        return _build_store(2, array, row, column, values)

    @intrinsic
    def store_four(_context, array, row, column, values):
        """Store four neighbours."""
        return _build_store(4, array, row, column, values)


@device
def load_values(array, row, column, wide, out, at):
    """Load ``wide`` adjacent numbers of a row into ``out``, from ``out[at]`` on."""
    if wide == 4:
        out[at], out[at + 1], out[at + 2], out[at + 3] = load_four(array, row, column)
    elif wide == 2:
        out[at], out[at + 1] = load_two(array, row, column)
    else:
        out[at] = load_one(array, row, column)


@device
def store_values(array, row, column, wide, values, at):
    """Store ``wide`` adjacent numbers of ``values``, from ``values[at]`` on, in a row."""
    if wide == 4:
        store_four(array, row, column, (values[at], values[at + 1], values[at + 2], values[at + 3]))
    elif wide == 2:
        store_two(array, row, column, (values[at], values[at + 1]))
    else:
        array[row, column] = values[at]
