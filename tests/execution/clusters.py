"""Local test clusters, and fits on them that can be compared bit by bit."""

import threading
import time

import numpy as np
import scipy.sparse as sp

from tests.oracles import textbook
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.models import em, plsa
from topiarist.models.engine.host import Engine
from topiarist.storage.array_files import open_handles

PAGES = {
    "dashboard_address": "127.0.0.1:0",
    "worker_dashboard_address": "127.0.0.1:0",
}  # no dashboard for other machines
QUIET = {"threads_per_worker": 1, "silence_logs": 50, **PAGES}
COUNTS = sp.csr_matrix(textbook.planted(np.random.default_rng(0), 300, 60, 4, length=60)[0])
SECONDS = 300  # a generous limit, for machines with a high load


def run(store, executor, **rules):
    blocks = store.blocks("float64")
    with Threads(2) as threads:
        model = plsa.Plsa(Engine(load(), threads), 0.01, 0.05)
        start = plsa.create_start(blocks, 4, np.random.default_rng(0), 0.01)
        return em.run(model, blocks, start, em.Rules(**{"max_iter": 7, "tol": 0.0, **rules}), executor=executor)


def assert_same_bits(first, second):
    assert first.objectives == second.objectives
    np.testing.assert_array_equal(first.state.shared.by_word, second.state.shared.by_word)
    for rows, others in zip(first.state.local, second.state.local, strict=True):
        np.testing.assert_array_equal(open_handles(rows), open_handles(others))


def wait_until(condition, description):
    """Wait for a condition, or fail after ``SECONDS``."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, f"timed out: {description}"
        time.sleep(0.001)


def run_with_limit(work):
    """Run ``work`` with a time limit; return its result or raise its error."""
    results, errors = [], []

    def attempt():
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert not thread.is_alive(), "work does not end"
    if errors:
        raise errors.pop()
    return results.pop()
