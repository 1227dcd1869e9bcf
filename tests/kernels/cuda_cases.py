"""Every verb on a device says what the reference says. Run by ``test_cuda`` in numba's simulator, or on a device."""

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
from topiarist.kernels.active import compiled
from topiarist.kernels.cuda import segments, shuffles
from topiarist.kernels.cuda.memory import Memory, rounded
from topiarist.kernels.cuda.segments import Segments, word_starts
from topiarist.kernels.cuda.sweeps import Shape
from topiarist.kernels.cuda.verbs import Verbs
from topiarist.kernels.cuda.warp import LANES
from topiarist.models.engine.host import paths_of

simulator.patient()

REFERENCE = load("reference")
HELD = ("count_held", "keep_held", "held_word_products")  # what a device adds up of all classes
HOST_ONLY = {*compiled.VERBS, *HELD, "hand_down", "categorise"}  # sparse rows, and classes that are known
VERBS = [name for name in REFERENCE._fields if name not in {"name", *HOST_ONLY}]
WIDTHS = (1, 5, 6, 12, 33, 64)  # of which words of one, two and four numbers divide rows
DTYPES = (np.float64, np.float32)
CLOSE = {np.float64: {"rtol": 1e-12, "atol": 1e-14}, np.float32: {"rtol": 2e-5, "atol": 1e-6}}


@pytest.fixture(scope="module")
def verbs():
    return Verbs(Memory())


def matrix_of(seed=0, shape=(5, 7)):
    """Counts with an empty document, an unseen word, and a word of every other document."""
    dense = np.random.default_rng(seed).poisson(0.8, shape)
    dense[:, 0] += 1
    dense[1], dense[:, 3] = 0, 0
    return csr_matrix(dense.astype(float))


def factors(matrix, width, dtype, seed=1):
    rng = np.random.default_rng(seed)
    own = simplex_rows(rng, matrix.shape[0], width).astype(dtype)
    other = np.ascontiguousarray(simplex_rows(rng, width, matrix.shape[1]).T).astype(dtype)
    other[4] = 0  # a word that no component can produce
    return own, other


def put(verbs, *arrays):
    held = [verbs.memory.put(array) for array in arrays]
    return held, [each.array for each in held]


def by_rows(verbs, matrix, dtype, size):
    """Segments, indices and data of the rows on the device; and what must be kept alive meanwhile."""
    held = []

    def move(array):
        held.append(verbs.memory.put(array))
        return held[-1].array

    cut = Segments.of_rows(matrix.indptr, size).moved(move)
    return held, cut, move(matrix.indices.astype(np.int32)), move(matrix.data.astype(dtype))


def test_same_names_and_arguments():
    for verb in VERBS:
        wanted = list(inspect.signature(getattr(REFERENCE, verb)).parameters)
        assert list(inspect.signature(getattr(load("cuda"), verb)).parameters) == wanted, verb
    for verb in HOST_ONLY:
        with pytest.raises(NotImplementedError, match=verb):
            getattr(load("cuda"), verb)()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", WIDTHS)
def test_sweeps(verbs, width, dtype):
    matrix = matrix_of()
    data = matrix.data.astype(dtype)
    own, other = factors(matrix, width, dtype)
    out, mixture, alone = np.zeros_like(own), np.empty_like(data), np.empty_like(data)
    REFERENCE.document_counts(matrix.indptr, matrix.indices, data, own, other, out, mixture)
    REFERENCE.mixtures(matrix.indptr, matrix.indices, own, other, alone)
    size = 3 if width == 5 else 1024  # documents in several segments, or whole
    kept, cut, indices, counts = by_rows(verbs, matrix, dtype, size)
    assert (cut.n_places > 0) == (size == 3)
    held, (mine, others) = put(verbs, own, other)
    found = [verbs.memory.empty(array.shape, dtype) for array in (out, mixture, alone)]
    verbs.document_counts(cut, indices, counts, mine, others, found[0].array, found[1].array)
    verbs.mixtures(cut, indices, mine, others, found[2].array)
    for got, wanted in zip(found, (out, mixture, alone), strict=True):
        np.testing.assert_allclose(got.numpy(), wanted, **CLOSE[dtype])
    del kept, held


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [5, 12])
def test_one_sweep_with_atomic_additions(verbs, width, dtype):
    matrix = matrix_of()
    data = matrix.data.astype(dtype)
    own, other = factors(matrix, width, dtype)
    out, mixture, sums = np.zeros_like(own), np.empty_like(data), np.zeros_like(other)
    REFERENCE.document_counts(matrix.indptr, matrix.indices, data, own, other, out, mixture)
    columns = matrix.tocsc()
    starts = np.array([0, matrix.shape[0]])
    REFERENCE.word_counts(columns.indptr[None], starts, columns.indices, columns.data.astype(dtype), other, own, sums)
    kept, cut, indices, counts = by_rows(verbs, matrix, dtype, 1024)
    held, (mine, others) = put(verbs, own, other)
    found = [verbs.memory.empty(array.shape, dtype) for array in (out, mixture, sums)]
    verbs.scattered_counts(cut, indices, counts, mine, others, *(array.array for array in found))
    for got, wanted in zip(found, (out, mixture, sums), strict=True):
        np.testing.assert_allclose(got.numpy(), wanted, **CLOSE[dtype])
    del kept, held


@pytest.mark.parametrize("n_tiles", [1, 2, 4])
def test_rows_to_columns_and_sweeps_by_words(verbs, n_tiles):
    """In one tile or several, words whole or in segments: the same sums, and columns in the order of rows."""
    matrix = matrix_of(shape=(6, 6))
    columns, n_docs = matrix.tocsc(), matrix.shape[0]
    size = -(-n_docs // n_tiles)
    tallies = np.zeros((n_tiles, 6), np.int32)
    held, (table, indptr, indices, data) = put(
        verbs, tallies, matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data
    )
    for tile in range(n_tiles):
        rows = slice(tile * size, min((tile + 1) * size, n_docs))
        first, last = int(matrix.indptr[rows.start]), int(matrix.indptr[rows.stop])
        verbs.tally(indices[first:last], table[tile])
        tallies[tile] = np.bincount(matrix.indices[first:last], minlength=6)
    np.testing.assert_array_equal(held[0].numpy(), tallies)
    starts = word_starts(tallies)
    np.testing.assert_array_equal(starts[0], columns.indptr[:-1])
    np.testing.assert_array_equal(starts[-1], columns.indptr[1:])
    places, out_indices, out_data = (verbs.memory.put(a) for a in (starts[:-1], columns.indices, columns.data))
    verbs.fill(out_data.array, 0.0)
    verbs.transpose(indptr, indices, data, places.array, out_indices.array, out_data.array)
    np.testing.assert_array_equal(out_indices.numpy(), columns.indices)
    np.testing.assert_array_equal(out_data.numpy(), columns.data)
    own, other = factors(matrix, 5, np.float64)
    wanted, products = np.zeros_like(other), np.zeros((6, 5))
    tile_starts = np.array([0, n_docs])
    REFERENCE.word_counts(columns.indptr[None], tile_starts, columns.indices, columns.data, other, own, wanted)
    REFERENCE.word_products(columns.indptr[None], tile_starts, columns.indices, columns.data, own, products)
    kept = []

    def move(array):
        kept.append(verbs.memory.put(array))
        return kept[-1].array

    for longest, least in ((1024, 32), (2, 32), (2, 1), (1024, 1)):
        cut = Segments.of_words(starts, longest, least)
        covered = sorted(t for s in range(len(cut.rows)) for t in range(cut.begins[s], cut.ends[s]))
        assert covered == list(range(matrix.nnz))
        cut = cut.moved(move)
        out = verbs.memory.empty(wanted.shape, np.float64)
        arguments = (cut, None, out_indices.array, out_data.array)
        verbs.word_counts(*arguments, move(other), move(own), out.array)
        np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-12, atol=1e-14)
        verbs.word_products(*arguments, move(own), out.array)
        np.testing.assert_allclose(out.numpy(), products, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [1, 6, 12, 33])
def test_row_products(verbs, width, dtype):
    matrix = matrix_of()
    data = matrix.data.astype(dtype)
    other = factors(matrix, width, dtype)[1]
    for wanted_dtype, size in ((dtype, 1024), (np.float64, 2)):
        wanted = np.zeros((matrix.shape[0], width), wanted_dtype)
        REFERENCE.row_products(matrix.indptr, matrix.indices, data, other, wanted)
        kept, cut, indices, counts = by_rows(verbs, matrix, dtype, size)
        held, (others,) = put(verbs, other)
        out = verbs.memory.empty(wanted.shape, wanted_dtype)
        verbs.row_products(cut, indices, counts, others, out.array)
        np.testing.assert_allclose(out.numpy(), wanted, **CLOSE[dtype])
        del kept, held


@pytest.mark.parametrize("folding", [Folding(0.0, 1.0, 4), Folding(0.1, 0.8, 3), Folding(0.3, 1.0, 40, 1e-2)])
@pytest.mark.parametrize("width", [1, 5, 12])
def test_fold_in(verbs, width, folding):
    matrix = matrix_of()
    own, other = factors(matrix, width, np.float64)
    tempered, slow = other**folding.inverse_temperature, own.copy()
    REFERENCE.fold_in(matrix.indptr, matrix.indices, matrix.data, slow, tempered, folding)
    arrays = (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, own, tempered)
    held, on_device = put(verbs, *arrays)
    verbs.fold_in(*on_device, folding)
    np.testing.assert_allclose(held[3].numpy(), slow, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_whole_arrays(verbs, dtype):
    rng = np.random.default_rng(3)
    old, new = rng.random((2, 5, 7)).astype(dtype)
    new[2, 3] = 0
    weights, values = rng.random((2, 11)).astype(dtype)

    def same(verb, *arguments, out=None):
        """A verb of arrays and numbers, all of whose arrays are compared afterwards; and what it returns."""
        host = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        held = [verbs.memory.put(a) if isinstance(a, np.ndarray) else a for a in arguments]
        device = [a.array if hasattr(a, "array") else a for a in held]
        wanted, got = getattr(REFERENCE, verb)(*host), getattr(verbs, verb)(*device)
        assert (wanted is None) == (got is None)
        if wanted is not None:
            np.testing.assert_allclose(got, wanted, rtol=1e-12 if dtype == np.float64 else 1e-6)
        for here, there in zip(host, held, strict=True):
            if isinstance(here, np.ndarray):
                np.testing.assert_allclose(there.numpy(), here, **CLOSE[dtype])

    same("look_ahead", old, new, 2.5, np.empty_like(new))
    same("power", new, 0.7, np.empty_like(new))
    same("logarithms", new, np.empty_like(new))
    same("column_sums", new, np.empty(7))
    same("scale_columns", new, 0.3, rng.random(7).astype(dtype))
    same("weighted_sum", weights, values)
    same("sum_of_logs", old)
    same("sum_of_logs", new)
    same("posteriors", 50 * old, np.log(rng.random(7)), 0.6)
    empty = new.copy()
    empty[1] = 0
    for smoothing in (0.0, 0.3):
        same("normalise_rows", empty, smoothing)


def test_long_rows_and_columns_in_pieces(verbs, monkeypatch):
    """What is added up piece by piece is the same as in one go."""
    monkeypatch.setattr("topiarist.kernels.cuda.verbs.PIECE", 3)
    monkeypatch.setattr("topiarist.kernels.cuda.verbs.ROWS", 2)
    counts = np.random.default_rng(4).random((5, 8))
    counts[2] = 0
    wanted, sums = counts.copy(), np.empty(8)
    REFERENCE.normalise_rows(wanted, 0.1)
    held, (here, there, total) = put(verbs, counts, counts, sums)
    verbs.normalise_rows(here, 0.1)
    verbs.column_sums(there, total)
    np.testing.assert_allclose(held[0].numpy(), wanted, rtol=1e-13)
    np.testing.assert_allclose(held[2].numpy(), counts.sum(axis=0), rtol=1e-13)
    weights = np.random.default_rng(5).random(8)
    held, (here, scale) = put(verbs, counts + 0.1, weights)
    np.testing.assert_allclose(verbs.row_logs(here, scale, 1e-300), np.log(counts + 0.1) @ weights, rtol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_paths(verbs, dtype, monkeypatch):
    monkeypatch.setattr("topiarist.kernels.cuda.verbs.PIECE", 3)
    rng = np.random.default_rng(6)
    mask = trees.balanced(2)
    mask = np.concatenate([mask, np.zeros((len(mask), 1), bool)], axis=1)  # a node on no path at all
    n_classes, n_nodes = mask.shape
    own = rng.random((n_nodes, 7)).astype(dtype)
    paths = paths_of(mask, rng.random(mask.shape), dtype)
    words, counts = np.empty((7, n_classes), dtype), rng.random((7, n_classes)).astype(dtype)
    REFERENCE.climb(own, paths, 0, words)
    words[2, 1] = 0
    out, sums = np.empty_like(own), np.empty(len(paths.classes))
    REFERENCE.descend(own, words, counts, paths, 0, out, sums)
    held, (mine, given, counted) = put(verbs, own, words, counts)
    kept, along = put(verbs, *paths)
    climbed, handed, added = (verbs.memory.empty(a.shape, a.dtype) for a in (words, out, sums))
    verbs.climb(mine, Paths(*along), 0, climbed.array)
    wanted = np.empty_like(words)
    REFERENCE.climb(own, paths, 0, wanted)
    np.testing.assert_allclose(climbed.numpy(), wanted, **CLOSE[dtype])
    verbs.descend(mine, given, counted, Paths(*along), 0, handed.array, added.array)
    np.testing.assert_allclose(handed.numpy(), out, **CLOSE[dtype])
    np.testing.assert_allclose(added.numpy(), sums, **CLOSE[dtype])
    verbs.fill(added.array, 0.0)
    nothing = verbs.memory.empty((0, 7), dtype)
    verbs.descend(mine, given, counted, Paths(*along), 0, nothing.array, added.array)
    np.testing.assert_allclose(added.numpy(), sums, **CLOSE[dtype])
    del held, kept


def test_words_are_as_wide_as_rows_and_lanes_allow():
    found = {(width, dtype): Shape.of(width, dtype) for width in (1, 5, 6, 8, 12, 4096) for dtype in DTYPES}
    assert all(shape.words * shape.wide * LANES >= width for (width, _), shape in found.items())
    assert all(width % shape.wide == 0 for (width, _), shape in found.items())
    assert all(shape.wide * np.dtype(dtype).itemsize <= 16 for (_, dtype), shape in found.items())
    assert all(shape.full == (shape.words * shape.wide * LANES == width) for (width, _), shape in found.items())
    assert (Shape.of(8 * LANES, np.float32).wide, Shape.of(8 * LANES, np.float64).wide) == (4, 2)
    assert found[5, np.float32].wide == 1
    assert found[4096, np.float64].group == 1


def test_segments_keep_the_sums_of_a_row_together():
    indptr = np.array([0, 5, 5, 6, 13])
    cut = Segments.of_rows(indptr, 3)
    assert cut.rows.tolist() == [0, 0, 1, 2, 3, 3, 3]
    assert cut.begins.tolist() == [0, 3, 5, 5, 6, 9, 12]
    assert cut.ends.tolist() == [3, 5, 5, 6, 9, 12, 13]
    assert cut.places.tolist() == [0, 1, -1, -1, 2, 3, 4]
    assert cut.long_rows.tolist() == [0, 3]
    assert cut.long_ends.tolist() == [0, 2, 5]
    assert cut.n_places == 5


def test_tiles_are_swept_in_turn():
    """Word 0 is frequent and cut by tile; word 1 is not, and comes last."""
    starts = word_starts(np.array([[3, 1, 0], [4, 0, 0]]))
    cut = Segments.of_words(starts, 1024, 3)
    assert cut.rows.tolist() == [0, 0, 1, 2]
    assert cut.begins.tolist() == [0, 3, 7, 8]
    assert cut.ends.tolist() == [3, 7, 8, 8]
    assert cut.places.tolist() == [0, 1, -1, -1]
    assert segments.tiles_of(100_000, 128, 4) == 4


def test_places_are_used_again_and_never_twice_at_once():
    memory = Memory(limit=4096)
    first = memory.empty((100,), np.float32)
    transposed = memory.empty((10, 10), np.float32).T
    third = memory.empty((10, 10), np.float32)
    assert memory.held == 3 * 512
    assert transposed.T.flags.c_contiguous
    assert not transposed.flags.c_contiguous
    del first
    fourth = memory.empty((90,), np.float64)
    assert memory.held == 3 * 512 + rounded(720)
    fifth = memory.empty((128,), np.float32)
    assert memory.held == 3 * 512 + rounded(720)
    del transposed, third, fourth, fifth
    with pytest.raises(MemoryError, match="4,096 may be used"):
        memory.empty((2000,), np.float64)
    assert memory.held == 0
    assert memory.peak <= 4096


class Warp:
    """A warp of 32 Python threads that shuffles as a device does: for the telling that the simulator cannot run."""

    def __init__(self):
        self.barrier, self.slots, self.own = threading.Barrier(32), [0.0] * 32, threading.local()

    def shfl_sync(self, mask, value, source):
        self.slots[self.own.lane] = value
        self.barrier.wait()
        taken = self.slots[source]
        self.barrier.wait()
        return taken

    def shfl_xor_sync(self, mask, value, offset):
        return self.shfl_sync(mask, value, self.own.lane ^ offset)

    def run(self, function):
        def work(lane):
            self.own.lane = lane
            return function(lane)

        with ThreadPoolExecutor(32) as pool:
            return list(pool.map(work, range(32)))


def test_shuffles_add_up_and_hand_round(monkeypatch):
    words = {name: getattr(shuffles, name).py_func for name in ("exchange", "fold", "spread", "take", "warp_sum")}
    warp = Warp()
    for name, function in words.items():
        monkeypatch.setattr(shuffles, name, function)
    monkeypatch.setattr(shuffles, "cuda", warp)
    values = np.random.default_rng(0).random((32, 8))
    for group in (1, 2, 4, 8):
        spread = warp.run(lambda lane, group=group: words["spread"](values[lane, :group], lane))
        wanted = values[:, np.arange(32) // (32 // group)].sum(axis=0)
        np.testing.assert_allclose(spread, wanted, rtol=1e-14)
    assert warp.run(lambda lane: words["take"](lane, 12)) == [12] * 32
    np.testing.assert_allclose(
        warp.run(lambda lane: words["warp_sum"](values[lane, 0])), values[:, 0].sum(), rtol=1e-14
    )
    largest = warp.run(lambda lane: shuffles.warp_max.py_func(values[lane, 1]))
    assert largest == [values[:, 1].max()] * 32
