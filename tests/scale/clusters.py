"""Small clusters on this machine, and fits on them that can be compared bit by bit."""

import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

from tests.oracles import textbook
from topiarist.kernels import load
from topiarist.models import em, plsa
from topiarist.models.engine.host import Engine
from topiarist.scale.threads import Threads
from topiarist.store.array_files import opened

PAGES = {"dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}  # nobody else may look
QUIET = {"threads_per_worker": 1, "silence_logs": 50, **PAGES}
COUNTS = sp.csr_matrix(textbook.planted(np.random.default_rng(0), 300, 60, 4, length=60)[0])
SECONDS = 300  # nothing here takes as long, even where ten others want the same cores


def run(store, executor, **rules):
    blocks = store.blocks("float64")
    with Threads(2) as threads:
        model = plsa.Plsa(Engine(load(), threads), 0.01, 0.05)
        start = plsa.initial(blocks, 4, np.random.default_rng(0), 0.01)
        return em.run(model, blocks, start, em.Rules(**{"max_iter": 7, "tol": 0.0, **rules}), executor=executor)


def assert_same_bits(first, second):
    assert first.objectives == second.objectives
    np.testing.assert_array_equal(first.state.shared.by_word, second.state.shared.by_word)
    for rows, others in zip(first.state.local, second.state.local, strict=True):
        np.testing.assert_array_equal(opened(rows), opened(others))


def write_parquet(folder, n_files=6, rows=60, seed=0):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rng = np.random.default_rng(seed)
    words = [f"word{letter}" for letter in "abcdefghijklmnop"]
    folder.mkdir()
    for number in range(n_files):
        texts = [" ".join(rng.choice(words, rng.integers(1, 12))) for _ in range(rows)]
        parquet.write_table(pa.table({"text": texts}), folder / f"part-{number}.parquet", row_group_size=25)
    return folder


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def until(condition, what):
    """Wait for something that must come."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, f"waited for ever: {what}"
        time.sleep(0.001)


def bounded(work):
    """What ``work`` returns or raises, unless it hangs."""
    results, errors = [], []

    def attempt():
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert not thread.is_alive(), "it hangs"
    if errors:
        raise errors.pop()
    return results.pop()
