"""Tests of the layout and the memory of a device, run by ``test_cuda`` in numba's simulator or on a device.

``tests/models/cuda_cases.py`` compares what the kernels compute with the reference.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests import simulator
from topiarist.kernels.cuda import segments, shuffles
from topiarist.kernels.cuda.memory import Memory, round_up
from topiarist.kernels.cuda.segments import Segments, compute_word_starts
from topiarist.kernels.cuda.sweeps import Shape
from topiarist.kernels.cuda.warp import LANES

simulator.patient()

DTYPES = (np.float64, np.float32)


def test_shape_uses_widest_fitting_words():
    results = {(width, dtype): Shape.for_width(width, dtype) for width in (1, 5, 6, 8, 12, 4096) for dtype in DTYPES}
    assert all(shape.words * shape.wide * LANES >= width for (width, _), shape in results.items())
    assert all(width % shape.wide == 0 for (width, _), shape in results.items())
    assert all(shape.wide * np.dtype(dtype).itemsize <= 16 for (_, dtype), shape in results.items())
    assert all(shape.full == (shape.words * shape.wide * LANES == width) for (width, _), shape in results.items())
    assert (Shape.for_width(8 * LANES, np.float32).wide, Shape.for_width(8 * LANES, np.float64).wide) == (4, 2)
    assert results[5, np.float32].wide == 1
    assert results[4096, np.float64].group == 1


def test_segments_keep_places_of_row_adjacent(monkeypatch):
    indptr = np.array([0, 5, 5, 6, 13])
    monkeypatch.setattr(segments, "SEGMENT_NONZEROS", 3)
    cut = Segments.from_rows(indptr)
    assert cut.rows.tolist() == [0, 0, 1, 2, 3, 3, 3]
    assert cut.begins.tolist() == [0, 3, 5, 5, 6, 9, 12]
    assert cut.ends.tolist() == [3, 5, 5, 6, 9, 12, 13]
    assert cut.places.tolist() == [0, 1, -1, -1, 2, 3, 4]
    assert cut.long_rows.tolist() == [0, 3]
    assert cut.long_ends.tolist() == [0, 2, 5]
    assert cut.n_places == 5


def test_segments_sweep_tiles_in_order(monkeypatch):
    """Word 0 is frequent and cut by tile; word 1 is not, and comes last."""
    starts = compute_word_starts(np.array([[3, 1, 0], [4, 0, 0]]))
    monkeypatch.setattr(segments, "MIN_TILE_NONZEROS", 3)
    cut = Segments.from_words(starts)
    assert cut.rows.tolist() == [0, 0, 1, 2]
    assert cut.begins.tolist() == [0, 3, 7, 8]
    assert cut.ends.tolist() == [3, 7, 8, 8]
    assert cut.places.tolist() == [0, 1, -1, -1]
    assert segments.count_tiles(100_000, 128, 4) == 4


@pytest.mark.parametrize(("size", "min_nonzeros"), [(1024, 16), (2, 16), (2, 1), (1024, 1)])
def test_segments_cover_each_place_once(monkeypatch, size, min_nonzeros):
    monkeypatch.setattr(segments, "SEGMENT_NONZEROS", size)
    monkeypatch.setattr(segments, "MIN_TILE_NONZEROS", min_nonzeros)
    tallies = np.random.default_rng(0).poisson([0.0, 0.3, 1.0, 5.0, 40.0], (3, 5))
    cut = Segments.from_words(compute_word_starts(tallies))
    places = [place for begin, end in zip(cut.begins, cut.ends, strict=True) for place in range(begin, end)]
    assert sorted(places) == list(range(tallies.sum()))
    words = np.repeat(cut.rows, cut.ends - cut.begins)[np.argsort(places)]
    assert words.tolist() == np.repeat(np.arange(5), tallies.sum(axis=0)).tolist()


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
