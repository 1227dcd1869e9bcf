"""Tests of the Dask executor: equal bits for any number of workers."""

import os
import subprocess
import sys
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

pytest.importorskip("distributed")

from distributed import Client, LocalCluster
from sklearn.base import clone

from tests.execution.clusters import COUNTS, QUIET, assert_same_bits, run
from topiarist import CAM, HPLSA, PLSA
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.estimators.tree import growth_data
from topiarist.execution import BlockStore, DaskExecutor, InProcess, dask
from topiarist.execution.dask import (
    MAX_FINAL_SUMS,
    MIN_FILE_BYTES,
    _assign_workers,
    connect,
    pack,
    parse_local_workers,
    unpack,
)
from topiarist.execution.threads import Threads
from topiarist.kernels import load
from topiarist.models import em, plsa
from topiarist.models.engine.host import Engine

TREE = {"random_state": 0, "max_iter": 1}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return BlockStore.write(tmp_path_factory.mktemp("dask") / "store", COUNTS, block_size=32)  # 10 blocks


@pytest.fixture(scope="module")
def small_store(tmp_path_factory):
    return BlockStore.write(tmp_path_factory.mktemp("dask") / "small", COUNTS[:90], block_size=16)  # 6 blocks


LEARNED_NAMES = {
    CAM: ("word_given_node_", "node_given_cluster_", "cluster_prior_", "cluster_given_doc_", "history_"),
    HPLSA: ("word_given_topic_", "topic_given_class_", "class_prior_", "class_given_doc_", "history_"),
}


@pytest.fixture(scope="module")
def trees(small_store):
    with patch.object(growth_data, "MAX_DRAWN", 50):
        return {kind: kind(2, **TREE).fit(small_store) for kind in LEARNED_NAMES}


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(processes=False, n_workers=3, **QUIET) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("tasks_per_thread", [1, 2, 100])
def test_cluster_gives_bits_of_one_process(store, client, tasks_per_thread):
    executor = DaskExecutor(client, tasks_per_thread=tasks_per_thread)
    assert_same_bits(run(store, InProcess()), run(store, executor))
    assert not list(store.folder.glob("scratch-*"))


def test_cluster_computes_single_block(tmp_path, client):
    store = BlockStore.write(tmp_path / "s", COUNTS)
    assert_same_bits(run(store, InProcess(), max_iter=2), run(store, DaskExecutor(client), max_iter=2))


def test_estimator_on_cluster_equals_one_process(store, client):
    settings = {"n_components": 4, "random_state": 0, "max_iter": 20, "word_smoothing": 0.01}
    local, remote = PLSA(**settings).fit(store), PLSA(**settings, executor=DaskExecutor(client)).fit(store)
    np.testing.assert_array_equal(local.components_, remote.components_)
    np.testing.assert_array_equal(local.component_given_doc_, remote.component_given_doc_)
    np.testing.assert_array_equal(local.component_prior_, remote.component_prior_)
    np.testing.assert_array_equal(remote.transform(store), local.transform(COUNTS))


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_tree_growth_independent_of_number_of_workers(small_store, trees, n_workers, monkeypatch):
    monkeypatch.setattr(growth_data, "MAX_DRAWN", 50)  # of 90: the others are in files alone
    with LocalCluster(processes=False, n_workers=n_workers, **QUIET) as cluster, Client(cluster) as client:
        for kind, names in LEARNED_NAMES.items():
            remote = kind(2, **TREE, executor=DaskExecutor(client)).fit(small_store)
            assert remote.tree_ == trees[kind].tree_
            for name in names:
                np.testing.assert_array_equal(getattr(remote, name), getattr(trees[kind], name))
    del remote
    assert not list(small_store.folder.glob("scratch-*"))


def test_clone_keeps_executor(client):
    model = PLSA(2, executor=DaskExecutor(client))
    assert clone(model).executor is model.executor


def test_cluster_fit_writes_counts_to_blocks(tmp_path, client):
    executor = DaskExecutor(client, scratch=tmp_path)
    model = PLSA(4, random_state=0, max_iter=5, executor=executor).fit(COUNTS)
    assert model.component_given_doc_.shape == (300, 4)
    np.testing.assert_array_equal(model.transform(COUNTS), model.component_given_doc_)
    np.testing.assert_allclose(model.history_, PLSA(4, random_state=0, max_iter=5).fit(COUNTS).history_)
    assert not list(tmp_path.iterdir())


def test_worker_error_reaches_driver(tmp_path, client):
    store = BlockStore.write(tmp_path / "s", COUNTS, block_size=100)
    (store.folder / "block-000001" / "data.npy").write_bytes(b"nothing")
    words = plsa.Params.of(np.full((4, 60), 1 / 60))
    start = em.State(words, plsa.create_uniform_rows(store.blocks(), 4, np.dtype(np.float64)))
    model = plsa.Plsa(Engine(load(), Threads(1)))
    with pytest.raises(InputError, match=r"data\.npy is not an array"):
        em.step(model, store.blocks("float64"), start, 1.0, DaskExecutor(client, retries=0))


def test_cluster_rejects_blocks_in_memory(client):
    with pytest.raises(UsageError, match="expected blocks in files"):
        DaskExecutor(client).total(lambda block, rows: (1, rows), [np.eye(2)], [np.eye(2)])
    with pytest.raises(UsageError, match=r"client must be a distributed\.Client"):
        DaskExecutor("tcp://127.0.0.1:8786")


def test_assign_workers_follows_thread_counts():
    assert _assign_workers({"a": 1, "b": 1}, 4) == ["a", "b", "a", "b"]
    assert _assign_workers({"a": 3, "b": 1}, 4) == ["a", "b", "a", "a"]
    assert _assign_workers({"a": 1, "b": 1, "c": 1}, 2) == ["a", "b"]
    assert _assign_workers({"a": 1, "b": 1}, 2 * MAX_FINAL_SUMS) == ["a"] * MAX_FINAL_SUMS + ["b"] * MAX_FINAL_SUMS
    assert _assign_workers({"a": 3, "b": 1}, 2 * MAX_FINAL_SUMS).count("a") == 3 * MAX_FINAL_SUMS // 2


@pytest.mark.parametrize(("setting", "calls"), [("65536", 2), ("1000", 0), (None, 0)])
def test_keep_memory_respects_user_setting(monkeypatch, setting, calls):
    options = []
    library = SimpleNamespace(mallopt=lambda *arguments: options.append(arguments))
    monkeypatch.setattr(dask.ctypes, "CDLL", lambda name: library)
    monkeypatch.delenv(dask.TRIM, raising=False)
    if setting is not None:
        monkeypatch.setenv(dask.TRIM, setting)
    dask.keep_memory.__wrapped__()
    assert len(options) == calls


def test_parcel_keeps_values_and_alignment(tmp_path):
    large = np.random.default_rng(0).random((300, 64))
    value = plsa.Params(large.T), np.arange(3), "text"
    words, small, text = unpack(pack(value, str(tmp_path / "parcel")))
    np.testing.assert_array_equal(words.by_word, large)
    assert words.by_word.ctypes.data % 64 == 0
    assert words.by_word.flags.writeable
    copy = unpack(pack(value, str(tmp_path / "parcel")), map=False)[0].by_word
    assert np.array_equal(copy, large)
    assert copy.ctypes.data % 64 == 0
    assert (small.tolist(), text) == ([0, 1, 2], "text")
    parcel = pack(value, str(tmp_path / "other"))
    assert sum(map(len, parcel.frames)) < 4000  # what is large is in the file
    (tmp_path / "other").unlink()
    with pytest.raises(InputError, match="folder that all workers see"):
        unpack(parcel)


def test_parcel_file_contains_arrays_only(tmp_path):
    path = tmp_path / "parcel"
    text, array = "words " * MIN_FILE_BYTES, np.arange(MIN_FILE_BYTES, dtype=np.float64)
    for value in (text, (text, array), [array, {"text": text}], array):
        parcel = pack(value, str(path))
        assert b"words" not in path.read_bytes()
        assert isinstance(parcel.frames[0], bytes)
        assert parcel.size == (0 if value is text else array.nbytes)
        restored = unpack(parcel)
        assert str(restored) == str(value)


ON_A_DEVICE = """
import sys, numpy as np
from distributed import Client
from topiarist.models import em, plsa
from topiarist.models.engine.cuda import CudaEngine
from topiarist.execution import BlockStore, DaskExecutor, InProcess
from topiarist.execution.threads import Threads

store = BlockStore.write(sys.argv[1], np.random.default_rng(0).poisson(0.7, (6, 5)), block_size=3)
blocks = store.blocks("float64")
model = plsa.Plsa(CudaEngine.start(Threads(1)), 0.1)
start = plsa.create_start(blocks, 2, np.random.default_rng(0), 0.1)
here, objective = em.step(model, blocks, start, 1.0, InProcess())
page = "127.0.0.1:0"
with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=page) as client:
    there, again = em.step(model, blocks, start, 1.0, DaskExecutor(client))
print(objective == again, np.array_equal(here.shared.by_word, there.shared.by_word))
"""


def test_worker_computes_on_device(tmp_path):
    """Compute on numba's CUDA simulator: engine and executor are independent choices."""
    command = [sys.executable, "-c", ON_A_DEVICE, str(tmp_path / "s")]
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.stdout.split() == ["True", "True"], done.stderr


def test_execution_imports_dask_on_demand():
    script = (
        "import sys, numpy as np, topiarist.execution\n"
        "from topiarist import PLSA; PLSA(2, max_iter=2).fit(np.eye(4) + 1)\n"
        "print(sorted({'dask', 'distributed'} & set(sys.modules)))\n"
        "sys.modules['distributed'] = None\n"
        "try: topiarist.execution.DaskExecutor(None)\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    first, second, third = done.stdout.strip().splitlines()
    assert first == "[]"
    assert second == "ResourceError the package distributed is not installed"
    assert "pip install topiarist[dask]" in third


def test_task_keys_name_functions(tmp_path, client, monkeypatch):
    keys, calls = set(), client.map
    monkeypatch.setattr(
        client, "map", lambda *a, **k: keys.update(key.split("-")[0] for key in k["key"]) or calls(*a, **k)
    )
    store = BlockStore.write(tmp_path / "s", COUNTS, block_size=30)
    PLSA(2, max_iter=2, executor=DaskExecutor(client)).fit(store)
    assert keys == {"sweep", "add"}


def test_parse_local_workers():
    assert parse_local_workers("local:3") == 3
    assert parse_local_workers("tcp://somewhere:8786") is None
    for address in ("local:", "local:0", "local:two", "local:-1"):
        with pytest.raises(UsageError, match="expected a number of workers"):
            parse_local_workers(address)


def test_connect_uses_existing_scheduler():
    with LocalCluster(processes=False, protocol="tcp", host="127.0.0.1", n_workers=1, **QUIET) as cluster:
        with connect(cluster.scheduler_address) as client:
            assert client.submit(sum, [1, 2]).result() == 3
        with Client(cluster) as other:
            assert len(other.nthreads()) == 1  # earlier workers stay


def test_connect_reports_missing_scheduler(monkeypatch):
    monkeypatch.setattr(dask, "CONNECT_TIMEOUT", 1)
    with (
        pytest.raises(ResourceError, match=r"there is no cluster at tcp://127\.0\.0\.1:1"),
        connect("tcp://127.0.0.1:1"),
    ):
        pass
    with pytest.raises(ResourceError, match="there is no cluster at nonsense"), connect("nonsense://x"):
        pass
