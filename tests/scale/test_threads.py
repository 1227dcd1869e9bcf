"""Threads: results in order, errors come through, nobody works on after one."""

import threading
import time

import numpy as np
import pytest

from topiarist.scale.executors import InProcess
from topiarist.scale.threads import Threads, _quota, available_cores


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_results_come_in_the_order_of_the_pieces(n_threads):
    with Threads(n_threads) as threads:
        assert threads.map(lambda n: n * n, list(range(100))) == [n * n for n in range(100)]
        assert threads.map(lambda n: n, []) == []
        assert threads.map(lambda n: n + 1, [1]) == [2]


def test_several_threads_really_work_at_once():
    meeting = threading.Barrier(3, timeout=10)
    with Threads(3) as threads:
        threads.map(lambda _: meeting.wait(), list(range(3)))  # a lone thread would wait for ever


def test_an_error_comes_through_and_stops_the_rest():
    done = []

    def work(number):
        if number == 3:
            raise ValueError("piece 3")
        time.sleep(0.001)
        done.append(number)

    with Threads(2) as threads, pytest.raises(ValueError, match="piece 3"):
        threads.map(work, list(range(10_000)))
    assert len(done) < 5_000


def test_scratch_is_kept_by_each_thread_for_itself():
    with Threads(2) as threads:
        first = threads.scratch(100, np.float32)
        assert (first.shape, first.dtype) == ((100,), np.float32)
        assert np.shares_memory(first, threads.scratch(10, np.float64))
        assert threads.scratch(1000, np.float64).shape == (1000,)
        meeting = threading.Barrier(2, timeout=10)

        def work(number):
            mine = threads.scratch(5, np.float64)
            mine[:] = number
            meeting.wait()
            return mine.tolist()

        assert threads.map(work, [1, 2]) == [[1.0] * 5, [2.0] * 5]


def test_all_cores_by_default():
    with Threads() as threads:
        assert threads.n_threads == available_cores() >= 1


@pytest.mark.parametrize(("text", "cores"), [("150000 100000", 2), ("100000 100000", 1), ("max 100000", 1 << 16)])
def test_a_container_may_grant_fewer_cores(tmp_path, text, cores):
    (tmp_path / "cpu.max").write_text(text)
    assert _quota(tmp_path / "cpu.max") == cores
    assert _quota(tmp_path / "missing") == 1 << 16


def test_in_process_adds_in_order_and_keeps_rows_apart():
    total, rows = InProcess().total(lambda block, row: (f"<{block}>", row + 1), ["a", "b", "c"], [1, 2, 3])
    assert total == "<a><b><c>"
    assert rows == (2, 3, 4)
