"""Dask: the bits of one process, whoever computes them."""

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

from tests.scale.clusters import COUNTS, QUIET, assert_same_bits, contents, run, write_parquet
from topiarist import CAM, HPLSA, PLSA
from topiarist.counts import CountSettings
from topiarist.errors import InputError, UsageError
from topiarist.estimators.tree import stored_ground
from topiarist.kernels import load
from topiarist.models import em, plsa
from topiarist.models.engine.host import Engine
from topiarist.scale import BlockStore, DaskExecutor, InProcess, dask
from topiarist.scale.dask import LARGE, LAST, _places, pack, unpack
from topiarist.scale.threads import Threads

TREE = {"random_state": 0, "max_iter": 1}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return BlockStore.write(tmp_path_factory.mktemp("dask") / "store", COUNTS, block_size=32)  # 10 blocks


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return BlockStore.write(tmp_path_factory.mktemp("dask") / "few", COUNTS[:90], block_size=16)  # 6 blocks


GROWN = {
    CAM: ("word_given_node_", "node_given_cluster_", "cluster_prior_", "cluster_given_doc_", "history_"),
    HPLSA: ("word_given_topic_", "topic_given_class_", "class_prior_", "class_given_doc_", "history_"),
}


@pytest.fixture(scope="module")
def trees(few):
    with patch.object(stored_ground, "MOST_DRAWN", 50):
        return {kind: kind(2, **TREE).fit(few) for kind in GROWN}


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(processes=False, n_workers=3, **QUIET) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("tasks_per_thread", [1, 2, 100])
def test_a_cluster_gives_the_bits_of_one_process(store, client, tasks_per_thread):
    executor = DaskExecutor(client, tasks_per_thread=tasks_per_thread)
    assert_same_bits(run(store, InProcess()), run(store, executor))
    assert not list(store.folder.glob("scratch-*"))


def test_a_single_block(tmp_path, client):
    store = BlockStore.write(tmp_path / "s", COUNTS)
    assert_same_bits(run(store, InProcess(), max_iter=2), run(store, DaskExecutor(client), max_iter=2))


def test_an_estimator_on_a_cluster(store, client):
    settings = {"n_components": 4, "random_state": 0, "max_iter": 20, "word_smoothing": 0.01}
    here, there = PLSA(**settings).fit(store), PLSA(**settings, executor=DaskExecutor(client)).fit(store)
    np.testing.assert_array_equal(here.components_, there.components_)
    np.testing.assert_array_equal(here.component_given_doc_, there.component_given_doc_)
    np.testing.assert_array_equal(here.component_prior_, there.component_prior_)
    np.testing.assert_array_equal(there.transform(store), here.transform(COUNTS))


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_a_tree_grows_the_same_on_any_number_of_workers(few, trees, n_workers, monkeypatch):
    monkeypatch.setattr(stored_ground, "MOST_DRAWN", 50)  # of 90: the others are in files alone
    with LocalCluster(processes=False, n_workers=n_workers, **QUIET) as cluster, Client(cluster) as client:
        for kind, learned in GROWN.items():
            there = kind(2, **TREE, executor=DaskExecutor(client)).fit(few)
            assert there.tree_ == trees[kind].tree_
            for name in learned:
                np.testing.assert_array_equal(getattr(there, name), getattr(trees[kind], name))
    del there
    assert not list(few.folder.glob("scratch-*"))


def test_an_executor_is_not_copied_with_its_estimator(client):
    model = PLSA(2, executor=DaskExecutor(client))
    assert clone(model).executor is model.executor


def test_counts_in_memory_become_blocks_for_the_cluster(tmp_path, client):
    executor = DaskExecutor(client, scratch=tmp_path)
    model = PLSA(4, random_state=0, max_iter=5, executor=executor).fit(COUNTS)
    assert model.component_given_doc_.shape == (300, 4)
    np.testing.assert_array_equal(model.transform(COUNTS), model.component_given_doc_)
    np.testing.assert_allclose(model.history_, PLSA(4, random_state=0, max_iter=5).fit(COUNTS).history_)
    assert not list(tmp_path.iterdir())


def test_what_goes_wrong_on_a_worker_is_said_here(tmp_path, client):
    store = BlockStore.write(tmp_path / "s", COUNTS, block_size=100)
    (store.folder / "block-000001" / "data.npy").write_bytes(b"nothing")
    words = plsa.Params.of(np.full((4, 60), 1 / 60))
    start = em.State(words, plsa.even_local(store.blocks(), 4, np.dtype(np.float64)))
    model = plsa.Plsa(Engine(load(), Threads(1)))
    with pytest.raises(InputError, match=r"data\.npy is not an array"):
        em.step(model, store.blocks("float64"), start, 1.0, DaskExecutor(client, retries=0))


def test_blocks_in_memory_are_refused(client):
    with pytest.raises(UsageError, match="a cluster computes blocks that are files"):
        DaskExecutor(client).total(lambda block, rows: (1, rows), [np.eye(2)], [np.eye(2)])
    with pytest.raises(UsageError, match=r"client must be a distributed\.Client"):
        DaskExecutor("tcp://127.0.0.1:8786")


def test_tasks_go_to_workers_in_shares_that_follow_their_threads():
    """Few come home in their order, one from each worker after the other; of many neighbours stay together."""
    assert _places({"a": 1, "b": 1}, 4) == ["a", "b", "a", "b"]
    assert _places({"a": 3, "b": 1}, 4) == ["a", "b", "a", "a"]
    assert _places({"a": 1, "b": 1, "c": 1}, 2) == ["a", "b"]
    assert _places({"a": 1, "b": 1}, 2 * LAST) == ["a"] * LAST + ["b"] * LAST
    assert _places({"a": 3, "b": 1}, 2 * LAST).count("a") == 3 * LAST // 2


@pytest.mark.parametrize(("said", "calls"), [("65536", 2), ("1000", 0), (None, 0)])
def test_workers_keep_memory_unless_somebody_has_said_how_much(monkeypatch, said, calls):
    told = []
    monkeypatch.setattr(dask.ctypes, "CDLL", lambda name: SimpleNamespace(mallopt=lambda *given: told.append(given)))
    monkeypatch.delenv(dask.TRIM, raising=False)
    if said is not None:
        monkeypatch.setenv(dask.TRIM, said)
    dask.keep_memory.__wrapped__()
    assert len(told) == calls


def test_parcels_keep_values_and_alignment(tmp_path):
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
    with pytest.raises(InputError, match="a folder that all workers see"):
        unpack(parcel)


def test_only_numbers_of_parcels_are_in_files(tmp_path):
    path = tmp_path / "parcel"
    text, array = "words " * LARGE, np.arange(LARGE, dtype=np.float64)
    for value in (text, (text, array), [array, {"text": text}], array):
        parcel = pack(value, str(path))
        assert b"words" not in path.read_bytes()
        assert isinstance(parcel.frames[0], bytes)
        assert parcel.size == (0 if value is text else array.nbytes)
        back = unpack(parcel)
        assert str(back) == str(value)


ON_A_DEVICE = """
import sys, numpy as np
from distributed import Client
from topiarist.models import em, plsa
from topiarist.models.engine.cuda import CudaEngine
from topiarist.scale import BlockStore, DaskExecutor, InProcess
from topiarist.scale.threads import Threads

store = BlockStore.write(sys.argv[1], np.random.default_rng(0).poisson(0.7, (6, 5)), block_size=3)
blocks = store.blocks("float64")
model = plsa.Plsa(CudaEngine.start(Threads(1)), 0.1)
start = plsa.initial(blocks, 2, np.random.default_rng(0), 0.1)
here, objective = em.step(model, blocks, start, 1.0, InProcess())
page = "127.0.0.1:0"
with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=page) as client:
    there, again = em.step(model, blocks, start, 1.0, DaskExecutor(client))
print(objective == again, np.array_equal(here.shared.by_word, there.shared.by_word))
"""


def test_workers_may_compute_on_devices_of_their_own(tmp_path):
    """Which engine and which executor are independent choices; the device is numba's simulator."""
    command = [sys.executable, "-c", ON_A_DEVICE, str(tmp_path / "s")]
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.stdout.split() == ["True", "True"], done.stderr


def test_dask_is_imported_by_those_who_ask_for_it_only():
    script = (
        "import sys, numpy as np, topiarist.scale\n"
        "from topiarist import PLSA; PLSA(2, max_iter=2).fit(np.eye(4) + 1)\n"
        "print(sorted({'dask', 'distributed'} & set(sys.modules)))\n"
        "sys.modules['distributed'] = None\n"
        "try: topiarist.scale.DaskExecutor(None)\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    first, second, third = done.stdout.strip().splitlines()
    assert first == "[]"
    assert second == "ResourceError a cluster needs the package distributed"
    assert "pip install topiarist[dask]" in third


def test_workers_write_the_store_that_one_process_writes(tmp_path, client):
    parts = write_parquet(tmp_path / "parts")
    here = BlockStore.from_parquet(parts, tmp_path / "here", CountSettings(stem="en"), block_size=30)
    there = BlockStore.from_parquet(parts, tmp_path / "there", CountSettings(stem="en"), block_size=30, client=client)
    assert len(there.blocks()) > 6
    assert contents(here.folder) == contents(there.folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "parts", "there"]


def test_what_a_worker_cannot_read_is_said_here(tmp_path, client):
    parts = write_parquet(tmp_path / "parts")
    (parts / "part-3.parquet").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"part-3\.parquet is not Parquet"):
        BlockStore.from_parquet(parts, tmp_path / "x", client=client)
    with pytest.raises(UsageError, match=r"client must be a distributed\.Client"):
        BlockStore.from_parquet(parts, tmp_path / "x", client="tcp://127.0.0.1:8786")
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def test_tasks_have_names_that_the_dashboard_can_show(tmp_path, client, monkeypatch):
    keys, calls = set(), client.map
    monkeypatch.setattr(
        client, "map", lambda *a, **k: keys.update(key.split("-")[0] for key in k["key"]) or calls(*a, **k)
    )
    store = BlockStore.from_parquet(write_parquet(tmp_path / "parts"), tmp_path / "s", block_size=30, client=client)
    PLSA(2, max_iter=2, executor=DaskExecutor(client)).fit(store)
    assert keys == {"survey", "summarise", "merge", "count", "sweep", "add"}
