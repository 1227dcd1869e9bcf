"""Tests of executors: order of addition, blocks in files, and files of row parameters."""

import gc
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from tests.oracles import textbook
from topiarist.errors import InputError, ResourceError
from topiarist.execution import BlockStore, InProcess
from topiarist.execution.executors import BASE_BYTES, PARAMETER_COPIES, Sums, tree_sum
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.kernels.shard import Shard
from topiarist.models import em, hplsa, plsa
from topiarist.models.engine.host import Engine
from topiarist.storage.array_files import EvenRows, RowFile, Scratch, find_handles, open_handles

COUNTS = sp.csr_matrix(textbook.planted(np.random.default_rng(0), 90, 40, 3, length=50)[0])
SIZE = 20


class Term(str):
    """String whose sum shows the order of addition."""

    def __add__(self, other):
        return Term("(" + "".join([self, other]) + ")")


@pytest.fixture
def store(tmp_path):
    return BlockStore.write(tmp_path / "store", COUNTS, block_size=SIZE)


@pytest.fixture
def engine():
    with Threads(2) as threads:
        yield Engine(load(), threads)


@pytest.mark.parametrize(
    ("number", "sum_"), [(1, "a"), (2, "(ab)"), (3, "((ab)c)"), (6, "(((ab)(cd))(ef))"), (7, "(((ab)(cd))((ef)g))")]
)
def test_tree_sum_adds_neighbours_first(number, sum_):
    assert tree_sum(map(Term, "abcdefg"[:number])) == sum_


def test_tree_sum_of_runs_equals_whole_sum():
    letters = [Term(letter) for letter in "abcdefghijklmnopqrstu"]
    for number in range(1, len(letters) + 1):
        for size in (1, 2, 4, 8):
            runs = [tree_sum(letters[at : min(at + size, number)]) for at in range(0, number, size)]
            assert tree_sum(runs) == tree_sum(letters[:number])


def test_sums_hold_one_value_per_level():
    sums = Sums()
    for number in range(100):
        sums.add(number)
        assert len(sums._partial) <= 7
    assert sums.total() == sum(range(100))


def run(engine, blocks, model=None, executor=None, **rules):
    model = model or plsa.Plsa(engine, 0.01, 0.05)
    rules = em.Rules(**{"max_iter": 12, "tol": 0.0, **rules})
    return em.run(model, blocks, plsa.create_start(blocks, 3, np.random.default_rng(0), 0.01), rules, executor=executor)


def assert_same_bits(first, second):
    assert first.objectives == second.objectives
    np.testing.assert_array_equal(first.state.shared.by_word, second.state.shared.by_word)
    for rows, others in zip(first.state.local, second.state.local, strict=True):
        np.testing.assert_array_equal(open_handles(rows), open_handles(others))


def shards(dtype):
    return [Shard.from_matrix(COUNTS[at : at + SIZE], dtype) for at in range(0, 90, SIZE)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("accelerate", [True, False])
def test_files_give_bits_of_memory(store, engine, dtype, accelerate):
    in_memory = run(engine, shards(dtype), accelerate=accelerate)
    in_files = run(engine, store.blocks(dtype), accelerate=accelerate)
    assert len(in_memory.state.local) == 5
    assert all(isinstance(rows, RowFile) for rows in in_files.state.local)
    assert_same_bits(in_memory, in_files)


def test_files_give_bits_of_memory_for_hplsa(store, engine):
    mask = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]], bool)
    model, rules = hplsa.Hplsa(engine, mask, 0.01), em.Rules(8, 0.0)
    fits = [
        em.run(model, blocks, hplsa.create_start(blocks, mask, np.random.default_rng(0), 0.01), rules)
        for blocks in (shards("float64"), store.blocks("float64"))
    ]
    assert fits[0].objectives == fits[1].objectives
    np.testing.assert_array_equal(*(fit.state.shared.word_given_topic for fit in fits))


def test_row_files_live_until_last_reference(store, engine):
    fit = run(engine, store.blocks())
    (folder,) = store.folder.glob("scratch-*")
    assert len(list(folder.iterdir())) == 5  # files of older states are deleted
    del fit
    gc.collect()
    assert not folder.exists()


def test_row_files_use_scratch_folder(store, engine, tmp_path):
    (tmp_path / "other").mkdir()
    fit = run(engine, store.blocks(), executor=InProcess(scratch=tmp_path / "other"))
    assert fit.state.local[0].folder.parent == tmp_path / "other"
    with pytest.raises(ResourceError, match="folder for row parameters"):
        run(engine, store.blocks(), executor=InProcess(scratch=tmp_path / "missing"))


def test_executor_refuses_pass_exceeding_memory(store, engine):
    block = max(block.nbytes for block in store.blocks()) + 2 * SIZE * 3 * 4
    parameters = (PARAMETER_COPIES + 3) * 40 * 3 * 4  # 5 blocks
    need = BASE_BYTES + block + parameters
    assert run(engine, store.blocks(), executor=InProcess(memory=need)).steps == 12
    with pytest.raises(ResourceError, match=r"a pass takes 4\.0 MB: 0\.0 MB for a block with its rows") as caught:
        run(engine, store.blocks(), executor=InProcess(memory=need - block // 2))
    assert "% of the documents, or increase memory." in caught.value.hint
    with pytest.raises(ResourceError, match="8 copies of the parameters") as caught:
        run(engine, store.blocks(), executor=InProcess(memory=BASE_BYTES))
    assert caught.value.hint == "Increase memory."
    assert (
        run(engine, shards("float32"), executor=InProcess(memory=1), max_iter=1).steps == 1
    )  # memory blocks are not limited


class Counting(InProcess):
    passes = 0

    def total(self, *arguments):
        result = super().total(*arguments)
        self.passes += 1
        return result


def test_extrapolation_memory_checked_before_first_pass(store, engine):
    """Extrapolation takes three times the rows, which can be more than a block with its rows before and after."""
    n_components, small = 500, BASE_BYTES + (PARAMETER_COPIES + 3) * 40 * 500 * 4
    blocks, rows = store.blocks("float32"), SIZE * n_components * 4
    assert max(block.nbytes for block in blocks) < rows

    def fit(memory):
        start = plsa.create_start(blocks, n_components, np.random.default_rng(0), 0.01)
        return em.run(plsa.Plsa(engine, 0.01), blocks, start, em.Rules(5, 0.0), executor=memory)

    executor = Counting(memory=small + 3 * rows - 1)
    with pytest.raises(ResourceError, match="a pass takes"):
        fit(executor)
    assert executor.passes == 0
    assert fit(Counting(memory=small + 3 * rows)).steps == 5


PEAK = """
import re, sys
from pathlib import Path
import numpy as np
from topiarist import PLSA
from topiarist.errors import ResourceError
from topiarist.execution import BlockStore, InProcess

def status(name):
    return 1024 * int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

def fit(X, memory=None):
    executor = InProcess(memory=memory)
    return PLSA(32, random_state=0, max_iter=6, tol=0, dtype="float32", n_threads=2, executor=executor).fit(X)

fit(np.random.default_rng(0).poisson(1.0, (200, 100)))  # compile and import before the measurement
try:
    fit(BlockStore.open(sys.argv[1]), 1)
except ResourceError as error:
    memory = 1e6 * float(re.search(r"a pass takes ([0-9.]+) MB", str(error))[1]) + 1e5
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
fit(BlockStore.open(sys.argv[1]), memory)
print(memory, status("VmHWM") - before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="requires the peak memory of Linux")
def test_fit_stays_within_memory_limit(tmp_path):
    rng = np.random.default_rng(0)
    words = np.minimum(20 * rng.pareto(0.6, (4096, 100)), 19_999).astype(np.int64)
    block = sp.csr_matrix((np.ones(words.size), words.ravel(), np.arange(0, words.size + 1, 100)), shape=(4096, 20_000))
    store = BlockStore.write(tmp_path / "s", (block for _ in range(16)), block_size=None)
    done = subprocess.run([sys.executable, "-c", PEAK, str(store.folder)], capture_output=True, text=True, check=True)
    memory, peak = map(float, done.stdout.split())
    assert peak <= memory
    size = sum(entry["bytes"] for block in store.manifest.blocks for entry in block.files.values())
    assert memory < size


def test_opened_loads_nested_handles():
    rows = EvenRows(2, 4, "<f4")
    pair = open_handles((rows, 7))
    np.testing.assert_array_equal(pair[0], np.full((2, 4), 0.25, np.float32))
    assert pair[1] == 7
    block = open_handles(hplsa.Block(rows, None))
    assert isinstance(block, hplsa.Block)
    assert list(find_handles(hplsa.Block(rows, None))) == [rows]
    assert list(find_handles(np.eye(2))) == []
    assert rows.nbytes == 32


def test_pickled_row_file_keeps_file(tmp_path):
    scratch = Scratch(tmp_path)
    rows = scratch.rows()
    rows.save(np.eye(3))
    copy = pickle.loads(pickle.dumps(rows))
    np.testing.assert_array_equal(copy.load(), np.eye(3))
    del copy
    assert rows.load().shape == (3, 3)
    path = rows.path
    del rows
    with pytest.raises(InputError, match="does not exist"):
        RowFile(path).load()


def test_row_file_save_errors_leave_no_files(tmp_path):
    with pytest.raises(ResourceError, match="cannot write"):
        RowFile(str(tmp_path / "missing" / "rows.npy")).save(np.eye(2))
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        RowFile(str(tmp_path / "rows.npy")).save(np.array([{}]))
    assert list(tmp_path.iterdir()) == []


def test_scratch_array_deletes_file_after_use(tmp_path):
    array = Scratch(tmp_path).array((4, 3), np.float32)
    array[:] = 5
    part = array[1:]
    del array
    assert len(list(tmp_path.glob("scratch-*/*.npy"))) == 1
    assert part.sum() == 45
    del part
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_pickled_engine_uses_one_thread(engine):
    copy = pickle.loads(pickle.dumps(plsa.Plsa(engine, 0.5)))
    assert copy.engine.kernels is engine.kernels
    assert copy.engine.threads.n_threads == 1
    assert copy.word_smoothing == 0.5
