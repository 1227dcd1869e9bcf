"""Reading and writing device memory without ceremony: no negative indices, wide words, short addresses.

Numba looks after indices that count from the end, which takes more instructions in a sweep than its arithmetic does,
and moves one number at a time. These words move what lies at a place, up to 16 bytes together; the place must be there,
and aligned as a whole. In the simulator they are plain functions.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.cuda.extending import intrinsic

from topiarist.kernels.cuda.warp import SIMULATED, device

try:  # the package numba-cuda brings its own
    from numba.cuda import cgutils
except ImportError:
    from numba.core import cgutils

BYTES = 16  # of the widest word
I8, I32, I64 = (ir.IntType(bits) for bits in (8, 32, 64))


def _address(context, builder, kind, array, places, word):
    """A pointer to a word: its column times the size of a number, and its row times the stride, by 32-bit factors."""
    struct = context.make_array(kind)(context, builder, array)
    offset = builder.mul(places[-1], ir.Constant(I64, kind.dtype.bitwidth // 8))
    if len(places) == 2:
        stride = cgutils.unpack_tuple(builder, struct.strides)[0]
        row, stride = (builder.zext(builder.trunc(value, I32), I64) for value in (places[0], stride))
        offset = builder.add(builder.mul(row, stride), offset)
    start = builder.gep(builder.bitcast(struct.data, I8.as_pointer()), [offset])
    return builder.bitcast(start, word.as_pointer())


def _places(context, builder, kinds, values):
    return [context.cast(builder, value, kind, types.int64) for kind, value in zip(kinds, values, strict=True)]


def _reading(number, array, places):
    """The type and the code of a word that reads ``number`` neighbours."""

    def emit(context, builder, signature, arguments):
        element = context.get_data_type(array.dtype)
        word = ir.VectorType(element, number) if number > 1 else element
        at = _places(context, builder, signature.args[1:], arguments[1:])
        read = builder.load(_address(context, builder, array, arguments[0], at, word))
        read.align = number * array.dtype.bitwidth // 8
        if number == 1:
            return read
        parts = [builder.extract_element(read, ir.Constant(I32, part)) for part in range(number)]
        return context.make_tuple(builder, signature.return_type, parts)

    answer = types.UniTuple(array.dtype, number) if number > 1 else array.dtype
    return answer(array, *places), emit


def _writing(number, array, row, column, values):
    """The type and the code of a word that writes ``number`` neighbours."""

    def emit(context, builder, signature, arguments):
        word = ir.VectorType(context.get_data_type(array.dtype), number)
        whole = ir.Constant(word, ir.Undefined)
        for part, value in enumerate(cgutils.unpack_tuple(builder, arguments[3])):
            whole = builder.insert_element(whole, value, ir.Constant(I32, part))
        at = _places(context, builder, signature.args[1:3], arguments[1:3])
        written = builder.store(whole, _address(context, builder, array, arguments[0], at, word))
        written.align = number * array.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.void(array, row, column, values), emit


if SIMULATED:

    def item(array, place):
        """``array[place]``."""
        return array[place]

    def one(array, row, column):
        """``array[row, column]``."""
        return array[row, column]

    def two(array, row, column):
        """Two neighbours."""
        return tuple(array[row, column + part] for part in range(2))

    def four(array, row, column):
        """Four neighbours."""
        return tuple(array[row, column + part] for part in range(4))

    def put_two(array, row, column, values):
        """Write two neighbours."""
        for part in range(2):
            array[row, column + part] = values[part]

    def put_four(array, row, column, values):
        """Write four neighbours."""
        for part in range(4):
            array[row, column + part] = values[part]

else:

    @intrinsic
    def item(_context, array, place):
        """``array[place]``."""
        return _reading(1, array, (place,))

    @intrinsic
    def one(_context, array, row, column):
        """``array[row, column]``."""
        return _reading(1, array, (row, column))

    @intrinsic
    def two(_context, array, row, column):
        """Two neighbours."""
        return _reading(2, array, (row, column))

    @intrinsic
    def four(_context, array, row, column):
        """Four neighbours."""
        return _reading(4, array, (row, column))

    @intrinsic
    def put_two(_context, array, row, column, values):
        """Write two neighbours."""
        return _writing(2, array, row, column, values)

    @intrinsic
    def put_four(_context, array, row, column, values):
        """Write four neighbours."""
        return _writing(4, array, row, column, values)


@device
def read(array, row, column, wide, out, at):
    """``wide`` neighbours into ``out``, from ``at`` on."""
    if wide == 4:
        out[at], out[at + 1], out[at + 2], out[at + 3] = four(array, row, column)
    elif wide == 2:
        out[at], out[at + 1] = two(array, row, column)
    else:
        out[at] = one(array, row, column)


@device
def write(array, row, column, wide, values, at):
    """``wide`` neighbours from ``values``, beginning at ``at``."""
    if wide == 4:
        put_four(array, row, column, (values[at], values[at + 1], values[at + 2], values[at + 3]))
    elif wide == 2:
        put_two(array, row, column, (values[at], values[at + 1]))
    else:
        array[row, column] = values[at]
