"""Tests of threads: order of results, errors, scratch arrays."""

import threading
import time

import numpy as np
import pytest

from topiarist.execution.executors import InProcess
from topiarist.execution.threads import Threads, _read_core_quota, count_available_cores


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_map_keeps_order_of_pieces(n_threads):
    with Threads(n_threads) as threads:
        assert threads.map(lambda n: n * n, list(range(100))) == [n * n for n in range(100)]
        assert threads.map(lambda n: n, []) == []
        assert threads.map(lambda n: n + 1, [1]) == [2]


def test_map_runs_threads_concurrently():
    meeting = threading.Barrier(3, timeout=10)
    with Threads(3) as threads:
        threads.map(lambda _: meeting.wait(), list(range(3)))  # a single thread would wait forever


def test_map_raises_error_and_stops():
    done = []

    def work(number):
        if number == 3:
            raise ValueError("piece 3")
        time.sleep(0.001)
        done.append(number)

    with Threads(2) as threads, pytest.raises(ValueError, match="piece 3"):
        threads.map(work, list(range(10_000)))
    assert len(done) < 5_000


def test_scratch_private_to_thread():
    with Threads(2) as threads:
        first = threads.scratch(100, np.float32)
        assert (first.shape, first.dtype) == ((100,), np.float32)
        assert np.shares_memory(first, threads.scratch(10, np.float64))
        assert threads.scratch(1000, np.float64).shape == (1000,)
        meeting = threading.Barrier(2, timeout=10)

        def work(number):
            array = threads.scratch(5, np.float64)
            array[:] = number
            meeting.wait()
            return array.tolist()

        assert threads.map(work, [1, 2]) == [[1.0] * 5, [2.0] * 5]


def test_threads_use_all_cores_by_default():
    with Threads() as threads:
        assert threads.n_threads == count_available_cores() >= 1


@pytest.mark.parametrize(("text", "cores"), [("150000 100000", 2), ("100000 100000", 1), ("max 100000", 1 << 16)])
def test_read_core_quota(tmp_path, text, cores):
    (tmp_path / "cpu.max").write_text(text)
    assert _read_core_quota(tmp_path / "cpu.max") == cores
    assert _read_core_quota(tmp_path / "missing") == 1 << 16


def test_in_process_adds_blocks_in_order():
    total, rows = InProcess().total(lambda block, row: (f"<{block}>", row + 1), ["a", "b", "c"], [1, 2, 3])
    assert total == "<a><b><c>"
    assert rows == (2, 3, 4)
