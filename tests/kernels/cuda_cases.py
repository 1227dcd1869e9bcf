"""Tests that device kernels match the reference, run by ``test_cuda`` in numba's simulator or on a device."""

import inspect
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from tests import simulator
from tests.oracles import trees
from tests.strategies import simplex_rows
from topiarist.kernels import Folding, Paths, load
from topiarist.kernels.cuda import segments, shuffles
from topiarist.kernels.cuda.memory import Memory, round_up
from topiarist.kernels.cuda.segments import Segments, compute_word_starts
from topiarist.kernels.cuda.sweeps import Shape
from topiarist.kernels.cuda.verbs import DeviceKernels
from topiarist.kernels.cuda.warp import LANES
from topiarist.models.engine.host import make_paths

simulator.patient()

REFERENCE = load("reference")
SPARSE = ("count_kept_classes", "keep_classes", "sparse_word_products")  # what a device adds up of all classes
HOST_ONLY = {*SPARSE, "propagate_down_paths", "categorise"}  # rows without zeros, and classes that are known
KERNELS = [name for name in REFERENCE._fields if name not in {"name", *HOST_ONLY}]
WIDTHS = (1, 5, 6, 12, 33, 64)  # of which words of one, two and four numbers divide rows
DTYPES = (np.float64, np.float32)
TOLERANCES = {np.float64: {"rtol": 1e-12, "atol": 1e-14}, np.float32: {"rtol": 2e-5, "atol": 1e-6}}


@pytest.fixture(scope="module")
def verbs():
    return DeviceKernels(Memory())


def matrix_of(seed=0, shape=(5, 7)):
    """Counts with an empty document, an unseen word, and a word of every other document."""
    dense = np.random.default_rng(seed).poisson(0.8, shape)
    dense[:, 0] += 1
    dense[1], dense[:, 3] = 0, 0
    return csr_matrix(dense.astype(float))


def factors(matrix, width, dtype, seed=1):
    rng = np.random.default_rng(seed)
    row_factor = simplex_rows(rng, matrix.shape[0], width).astype(dtype)
    column_factor = np.ascontiguousarray(simplex_rows(rng, width, matrix.shape[1]).T).astype(dtype)
    column_factor[4] = 0  # a word that no component can produce
    return row_factor, column_factor


def put_arrays(verbs, *arrays):
    device_arrays = [verbs.memory.put(array) for array in arrays]
    return device_arrays, [each.array for each in device_arrays]


def by_rows(verbs, matrix, dtype, size):
    """Segments, indices and data of the rows on the device; and what must be kept alive meanwhile."""
    device_arrays = []

    def move(array):
        device_arrays.append(verbs.memory.put(array))
        return device_arrays[-1].array

    cut = Segments.from_rows(matrix.indptr, size).move_arrays(move)
    return device_arrays, cut, move(matrix.indices.astype(np.int32)), move(matrix.data.astype(dtype))


def test_device_kernels_have_reference_signatures():
    for verb in KERNELS:
        parameters = list(inspect.signature(getattr(REFERENCE, verb)).parameters)
        assert list(inspect.signature(getattr(load("cuda"), verb)).parameters) == parameters, verb
    for verb in HOST_ONLY:
        with pytest.raises(NotImplementedError, match=verb):
            getattr(load("cuda"), verb)()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", WIDTHS)
def test_sweeps_match_reference(verbs, width, dtype):
    matrix = matrix_of()
    data = matrix.data.astype(dtype)
    row_factor, column_factor = factors(matrix, width, dtype)
    out, mixture, mixture_only = np.zeros_like(row_factor), np.empty_like(data), np.empty_like(data)
    REFERENCE.document_counts(matrix.indptr, matrix.indices, data, row_factor, column_factor, out, mixture)
    REFERENCE.mixtures(matrix.indptr, matrix.indices, row_factor, column_factor, mixture_only)
    size = 3 if width == 5 else 1024  # documents in several segments, or whole
    device_counts, cut, indices, counts = by_rows(verbs, matrix, dtype, size)
    assert (cut.n_places > 0) == (size == 3)
    device_arrays, (device_rows, device_columns) = put_arrays(verbs, row_factor, column_factor)
    results = [verbs.memory.empty(array.shape, dtype) for array in (out, mixture, mixture_only)]
    verbs.document_counts(cut, indices, counts, device_rows, device_columns, results[0].array, results[1].array)
    verbs.mixtures(cut, indices, device_rows, device_columns, results[2].array)
    for result, expected in zip(results, (out, mixture, mixture_only), strict=True):
        np.testing.assert_allclose(result.numpy(), expected, **TOLERANCES[dtype])
    del device_counts, device_arrays


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [5, 12])
def test_scattered_counts_match_reference(verbs, width, dtype):
    matrix = matrix_of()
    data = matrix.data.astype(dtype)
    row_factor, column_factor = factors(matrix, width, dtype)
    out, mixture, sums = np.zeros_like(row_factor), np.empty_like(data), np.zeros_like(column_factor)
    REFERENCE.document_counts(matrix.indptr, matrix.indices, data, row_factor, column_factor, out, mixture)
    columns = matrix.tocsc()
    starts = np.array([0, matrix.shape[0]])
    REFERENCE.word_counts(
        columns.indptr[None], starts, columns.indices, columns.data.astype(dtype), column_factor, row_factor, sums
    )
    device_counts, cut, indices, counts = by_rows(verbs, matrix, dtype, 1024)
    device_arrays, (device_rows, device_columns) = put_arrays(verbs, row_factor, column_factor)
    results = [verbs.memory.empty(array.shape, dtype) for array in (out, mixture, sums)]
    verbs.scattered_counts(cut, indices, counts, device_rows, device_columns, *(array.array for array in results))
    for result, expected in zip(results, (out, mixture, sums), strict=True):
        np.testing.assert_allclose(result.numpy(), expected, **TOLERANCES[dtype])
    del device_counts, device_arrays


@pytest.mark.parametrize("n_tiles", [1, 2, 4])
def test_transpose_and_word_sweeps_match_reference(verbs, n_tiles):
    """Test one tile or several, with words whole or in segments: equal sums, and columns in the order of rows."""
    matrix = matrix_of(shape=(6, 6))
    columns, n_docs = matrix.tocsc(), matrix.shape[0]
    size = -(-n_docs // n_tiles)
    tallies = np.zeros((n_tiles, 6), np.int32)
    device_arrays, (table, indptr, indices, data) = put_arrays(
        verbs, tallies, matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data
    )
    for tile in range(n_tiles):
        rows = slice(tile * size, min((tile + 1) * size, n_docs))
        first, last = int(matrix.indptr[rows.start]), int(matrix.indptr[rows.stop])
        verbs.tally(indices[first:last], table[tile])
        tallies[tile] = np.bincount(matrix.indices[first:last], minlength=6)
    np.testing.assert_array_equal(device_arrays[0].numpy(), tallies)
    starts = compute_word_starts(tallies)
    np.testing.assert_array_equal(starts[0], columns.indptr[:-1])
    np.testing.assert_array_equal(starts[-1], columns.indptr[1:])
    places, out_indices, out_data = (verbs.memory.put(a) for a in (starts[:-1], columns.indices, columns.data))
    verbs.fill(out_data.array, 0.0)
    verbs.transpose(indptr, indices, data, places.array, out_indices.array, out_data.array)
    np.testing.assert_array_equal(out_indices.numpy(), columns.indices)
    np.testing.assert_array_equal(out_data.numpy(), columns.data)
    row_factor, column_factor = factors(matrix, 5, np.float64)
    expected, products = np.zeros_like(column_factor), np.zeros((6, 5))
    tile_starts = np.array([0, n_docs])
    REFERENCE.word_counts(
        columns.indptr[None], tile_starts, columns.indices, columns.data, column_factor, row_factor, expected
    )
    REFERENCE.word_products(columns.indptr[None], tile_starts, columns.indices, columns.data, row_factor, products)
    device_counts = []

    def move(array):
        device_counts.append(verbs.memory.put(array))
        return device_counts[-1].array

    for size_limit, min_nonzeros in ((1024, 32), (2, 32), (2, 1), (1024, 1)):
        cut = Segments.from_words(starts, size_limit, min_nonzeros)
        places_in_segments = sorted(t for s in range(len(cut.rows)) for t in range(cut.begins[s], cut.ends[s]))
        assert places_in_segments == list(range(matrix.nnz))
        cut = cut.move_arrays(move)
        out = verbs.memory.empty(expected.shape, np.float64)
        arguments = (cut, None, out_indices.array, out_data.array)
        verbs.word_counts(*arguments, move(column_factor), move(row_factor), out.array)
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-12, atol=1e-14)
        verbs.word_products(*arguments, move(row_factor), out.array)
        np.testing.assert_allclose(out.numpy(), products, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [1, 6, 12, 33])
def test_row_products_match_reference(verbs, width, dtype):
    matrix = matrix_of()
    data = matrix.data.astype(dtype)
    column_factor = factors(matrix, width, dtype)[1]
    for wanted_dtype, size in ((dtype, 1024), (np.float64, 2)):
        expected = np.zeros((matrix.shape[0], width), wanted_dtype)
        REFERENCE.row_products(matrix.indptr, matrix.indices, data, column_factor, expected)
        device_counts, cut, indices, counts = by_rows(verbs, matrix, dtype, size)
        device_arrays, (device_columns,) = put_arrays(verbs, column_factor)
        out = verbs.memory.empty(expected.shape, wanted_dtype)
        verbs.row_products(cut, indices, counts, device_columns, out.array)
        np.testing.assert_allclose(out.numpy(), expected, **TOLERANCES[dtype])
        del device_counts, device_arrays


@pytest.mark.parametrize("folding", [Folding(0.0, 1.0, 4), Folding(0.1, 0.8, 3), Folding(0.3, 1.0, 40, 1e-2)])
@pytest.mark.parametrize("width", [1, 5, 12])
def test_fold_in(verbs, width, folding):
    matrix = matrix_of()
    row_factor, column_factor = factors(matrix, width, np.float64)
    tempered_columns, slow = column_factor**folding.inverse_temperature, row_factor.copy()
    REFERENCE.fold_in(matrix.indptr, matrix.indices, matrix.data, slow, tempered_columns, folding)
    arrays = (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data,
        row_factor,
        tempered_columns,
    )
    device_arrays, on_device = put_arrays(verbs, *arrays)
    verbs.fold_in(*on_device, folding)
    np.testing.assert_allclose(device_arrays[3].numpy(), slow, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dense_kernels_match_reference(verbs, dtype):
    rng = np.random.default_rng(3)
    old, new = rng.random((2, 5, 7)).astype(dtype)
    new[2, 3] = 0
    weights, values = rng.random((2, 11)).astype(dtype)

    def assert_equal(verb, *arguments, out=None):
        """A verb of arrays and numbers, all of whose arrays are compared afterwards; and what it returns."""
        host = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        device_arrays = [verbs.memory.put(a) if isinstance(a, np.ndarray) else a for a in arguments]
        device = [a.array if hasattr(a, "array") else a for a in device_arrays]
        expected, result = getattr(REFERENCE, verb)(*host), getattr(verbs, verb)(*device)
        assert (expected is None) == (result is None)
        if expected is not None:
            np.testing.assert_allclose(result, expected, rtol=1e-12 if dtype == np.float64 else 1e-6)
        for host_array, device_array in zip(host, device_arrays, strict=True):
            if isinstance(host_array, np.ndarray):
                np.testing.assert_allclose(device_array.numpy(), host_array, **TOLERANCES[dtype])

    assert_equal("extrapolate", old, new, 2.5, np.empty_like(new))
    assert_equal("power", new, 0.7, np.empty_like(new))
    assert_equal("logarithms", new, np.empty_like(new))
    assert_equal("column_sums", new, np.empty(7))
    assert_equal("scale_columns", new, 0.3, rng.random(7).astype(dtype))
    assert_equal("weighted_sum", weights, values)
    assert_equal("sum_of_logs", old)
    assert_equal("sum_of_logs", new)
    assert_equal("posteriors", 50 * old, np.log(rng.random(7)), 0.6)
    empty = new.copy()
    empty[1] = 0
    for smoothing in (0.0, 0.3):
        assert_equal("normalise_rows", empty, smoothing)


def test_sums_in_parts_match_whole_sums(verbs, monkeypatch):
    monkeypatch.setattr("topiarist.kernels.cuda.verbs.PART_COLUMNS", 3)
    monkeypatch.setattr("topiarist.kernels.cuda.verbs.MIN_PART_ROWS", 2)
    counts = np.random.default_rng(4).random((5, 8))
    counts[2] = 0
    expected, sums = counts.copy(), np.empty(8)
    REFERENCE.normalise_rows(expected, 0.1)
    device_arrays, (first, second, total) = put_arrays(verbs, counts, counts, sums)
    verbs.normalise_rows(first, 0.1)
    verbs.column_sums(second, total)
    np.testing.assert_allclose(device_arrays[0].numpy(), expected, rtol=1e-13)
    np.testing.assert_allclose(device_arrays[2].numpy(), counts.sum(axis=0), rtol=1e-13)
    weights = np.random.default_rng(5).random(8)
    device_arrays, (first, scale) = put_arrays(verbs, counts + 0.1, weights)
    np.testing.assert_allclose(verbs.row_logs(first, scale, 1e-300), np.log(counts + 0.1) @ weights, rtol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_path_kernels_match_reference(verbs, dtype, monkeypatch):
    monkeypatch.setattr("topiarist.kernels.cuda.verbs.PART_COLUMNS", 3)
    rng = np.random.default_rng(6)
    mask = trees.balanced(2)
    mask = np.concatenate([mask, np.zeros((len(mask), 1), bool)], axis=1)  # a node on no path at all
    n_classes, n_nodes = mask.shape
    row_factor = rng.random((n_nodes, 7)).astype(dtype)
    paths = make_paths(mask, rng.random(mask.shape), dtype)
    words, counts = np.empty((7, n_classes), dtype), rng.random((7, n_classes)).astype(dtype)
    REFERENCE.sum_along_paths(row_factor, paths, 0, words)
    words[2, 1] = 0
    out, sums = np.empty_like(row_factor), np.empty(len(paths.classes))
    REFERENCE.distribute_along_paths(row_factor, words, counts, paths, 0, out, sums)
    device_arrays, (device_rows, device_words, device_count) = put_arrays(verbs, row_factor, words, counts)
    device_counts, device_paths = put_arrays(verbs, *paths)
    path_words, distributed_counts, pair_totals = (verbs.memory.empty(a.shape, a.dtype) for a in (words, out, sums))
    verbs.sum_along_paths(device_rows, Paths(*device_paths), 0, path_words.array)
    expected = np.empty_like(words)
    REFERENCE.sum_along_paths(row_factor, paths, 0, expected)
    np.testing.assert_allclose(path_words.numpy(), expected, **TOLERANCES[dtype])
    verbs.distribute_along_paths(
        device_rows, device_words, device_count, Paths(*device_paths), 0, distributed_counts.array, pair_totals.array
    )
    np.testing.assert_allclose(distributed_counts.numpy(), out, **TOLERANCES[dtype])
    np.testing.assert_allclose(pair_totals.numpy(), sums, **TOLERANCES[dtype])
    verbs.fill(pair_totals.array, 0.0)
    no_rows = verbs.memory.empty((0, 7), dtype)
    verbs.distribute_along_paths(
        device_rows, device_words, device_count, Paths(*device_paths), 0, no_rows.array, pair_totals.array
    )
    np.testing.assert_allclose(pair_totals.numpy(), sums, **TOLERANCES[dtype])
    del device_arrays, device_counts


def test_shape_uses_widest_fitting_words():
    results = {(width, dtype): Shape.for_width(width, dtype) for width in (1, 5, 6, 8, 12, 4096) for dtype in DTYPES}
    assert all(shape.words * shape.wide * LANES >= width for (width, _), shape in results.items())
    assert all(width % shape.wide == 0 for (width, _), shape in results.items())
    assert all(shape.wide * np.dtype(dtype).itemsize <= 16 for (_, dtype), shape in results.items())
    assert all(shape.full == (shape.words * shape.wide * LANES == width) for (width, _), shape in results.items())
    assert (Shape.for_width(8 * LANES, np.float32).wide, Shape.for_width(8 * LANES, np.float64).wide) == (4, 2)
    assert results[5, np.float32].wide == 1
    assert results[4096, np.float64].group == 1


def test_segments_keep_places_of_row_adjacent():
    indptr = np.array([0, 5, 5, 6, 13])
    cut = Segments.from_rows(indptr, 3)
    assert cut.rows.tolist() == [0, 0, 1, 2, 3, 3, 3]
    assert cut.begins.tolist() == [0, 3, 5, 5, 6, 9, 12]
    assert cut.ends.tolist() == [3, 5, 5, 6, 9, 12, 13]
    assert cut.places.tolist() == [0, 1, -1, -1, 2, 3, 4]
    assert cut.long_rows.tolist() == [0, 3]
    assert cut.long_ends.tolist() == [0, 2, 5]
    assert cut.n_places == 5


def test_segments_sweep_tiles_in_order():
    """Word 0 is frequent and cut by tile; word 1 is not, and comes last."""
    starts = compute_word_starts(np.array([[3, 1, 0], [4, 0, 0]]))
    cut = Segments.from_words(starts, 1024, 3)
    assert cut.rows.tolist() == [0, 0, 1, 2]
    assert cut.begins.tolist() == [0, 3, 7, 8]
    assert cut.ends.tolist() == [3, 7, 8, 8]
    assert cut.places.tolist() == [0, 1, -1, -1]
    assert segments.count_tiles(100_000, 128, 4) == 4


def test_memory_reuses_blocks_without_overlap():
    memory = Memory(limit=4096)
    first = memory.empty((100,), np.float32)
    transposed = memory.empty((10, 10), np.float32).T
    third = memory.empty((10, 10), np.float32)
    assert memory.held_bytes == 3 * 512
    assert transposed.T.flags.c_contiguous
    assert not transposed.flags.c_contiguous
    del first
    fourth = memory.empty((90,), np.float64)
    assert memory.held_bytes == 3 * 512 + round_up(720)
    fifth = memory.empty((128,), np.float32)
    assert memory.held_bytes == 3 * 512 + round_up(720)
    del transposed, third, fourth, fifth
    with pytest.raises(MemoryError, match="at most 4,096 bytes"):
        memory.empty((2000,), np.float64)
    assert memory.held_bytes == 0
    assert memory.peak_bytes <= 4096


class Warp:
    """A warp of 32 Python threads that shuffles as a device does: for the telling that the simulator cannot run."""

    def __init__(self):
        self.barrier, self.slots, self.own = threading.Barrier(32), [0.0] * 32, threading.local()

    def shfl_sync(self, mask, value, source):
        self.slots[self.own.lane] = value
        self.barrier.wait()
        value_taken = self.slots[source]
        self.barrier.wait()
        return value_taken

    def shfl_xor_sync(self, mask, value, offset):
        return self.shfl_sync(mask, value, self.own.lane ^ offset)

    def run(self, function):
        def work(lane):
            self.own.lane = lane
            return function(lane)

        with ThreadPoolExecutor(32) as pool:
            return list(pool.map(work, range(32)))


def test_shuffles_match_numpy(monkeypatch):
    words = {
        name: getattr(shuffles, name).py_func for name in ("exchange_halves", "sum_lanes", "spread", "take", "warp_sum")
    }
    warp = Warp()
    for name, function in words.items():
        monkeypatch.setattr(shuffles, name, function)
    monkeypatch.setattr(shuffles, "cuda", warp)
    values = np.random.default_rng(0).random((32, 8))
    for group in (1, 2, 4, 8):
        spread = warp.run(lambda lane, group=group: words["spread"](values[lane, :group], lane))
        expected = values[:, np.arange(32) // (32 // group)].sum(axis=0)
        np.testing.assert_allclose(spread, expected, rtol=1e-14)
    assert warp.run(lambda lane: words["take"](lane, 12)) == [12] * 32
    np.testing.assert_allclose(
        warp.run(lambda lane: words["warp_sum"](values[lane, 0])), values[:, 0].sum(), rtol=1e-14
    )
    largest = warp.run(lambda lane: shuffles.warp_max.py_func(values[lane, 1]))
    assert largest == [values[:, 1].max()] * 32
