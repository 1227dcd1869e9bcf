"""Tests of lost workers, stopped schedulers and repeated passes on a Dask cluster."""

import gc
import operator
import os
import signal
import time
from concurrent.futures import CancelledError

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("distributed")

import dask
from distributed import Client, LocalCluster

from tests.execution.clusters import COUNTS, QUIET, assert_same_bits, run, run_with_limit, wait_until
from topiarist import CAM, HPLSA
from topiarist.errors import ResourceError
from topiarist.execution import BlockStore, DaskExecutor, InProcess
from topiarist.execution import dask as clusters


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return BlockStore.write(tmp_path_factory.mktemp("dask") / "store", COUNTS, block_size=32)  # 10 blocks


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(processes=False, n_workers=3, **QUIET) as cluster,
        Client(cluster) as client,
    ):
        yield client


class Losing(DaskExecutor):
    """Executor that loses passes before it computes them."""

    losses = 0

    def _pass(self, *arguments):
        if self.losses:
            self.losses -= 1
            raise CancelledError("lost with a worker")
        return super()._pass(*arguments)


def test_executor_repeats_lost_pass(store, client):
    executor = Losing(client, retries=2)
    executor.losses = 2
    assert_same_bits(run(store, InProcess(), max_iter=2), run(store, executor, max_iter=2))
    executor.losses = 3
    with pytest.raises(ResourceError, match="lost the same pass 3 times"):
        run(store, executor)
    assert not list(store.folder.glob("scratch-*"))


def test_cluster_without_workers_raises_after_patience(store):
    with (
        LocalCluster(processes=False, n_workers=0, **QUIET) as cluster,
        Client(cluster) as client,
        pytest.raises(ResourceError, match=r"no worker for 0\.2 seconds"),
    ):
        run(store, DaskExecutor(client, patience=0.2))
    with pytest.raises(ResourceError, match="the client is closed"):
        run(store, DaskExecutor(client))


class LosesItsWorkers(DaskExecutor):
    """Executor whose workers all leave while it waits for a sum."""

    def _sum(self, last):
        self.client.cluster.scale(0)
        return super()._sum([self.client.submit(time.sleep, 60, key="never", workers=["tcp://127.0.0.1:1"])])


def test_cluster_losing_workers_raises_after_patience(store):
    with (
        LocalCluster(processes=False, n_workers=1, **QUIET) as cluster,
        Client(cluster) as client,
        pytest.raises(ResourceError, match=r"no worker for 0\.5 seconds"),
    ):
        run(store, LosesItsWorkers(client, patience=0.5))


class LosesItsScheduler(DaskExecutor):
    """Executor whose scheduler stops in the middle of a pass."""

    def _sum(self, last):
        self.client.cluster.sync(self.client.cluster.scheduler.close)
        return super()._sum(last)


def test_stopped_scheduler_raises_error(store):
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        LocalCluster(processes=False, n_workers=1, **QUIET) as cluster,
        Client(cluster) as client,
        pytest.raises(ResourceError),
    ):
        run_with_limit(lambda: run(store, LosesItsScheduler(client)))
    gc.collect()
    assert not list(store.folder.glob("scratch-*"))


class Killing(DaskExecutor):
    """Executor that kills a worker in its fourth pass, after some blocks and before any sum is fetched."""

    passes, victim, rows, killed = 0, 0, (), False
    blind = False  # true for passes that write no rows

    def _pass(self, function, work, rows, folder):
        self.passes += 1
        self.rows = rows if self.passes == 4 else ()
        return super()._pass(function, work, rows, folder)

    def _sum(self, last):
        if self.passes == 4 and not self.killed:
            if not self.blind:
                wait_until(lambda: any(os.path.exists(row.path) for row in self.rows), "rows of a block")
            os.kill(self.victim, signal.SIGKILL)
            self.killed = True
        return super()._sum(last)


needs_kill = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="requires SIGKILL")


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """Start three worker processes that tests can kill; the cluster replaces them."""
    import psutil

    folder = str(tmp_path_factory.mktemp("workers"))
    with (
        LocalCluster(processes=True, n_workers=3, host="127.0.0.1", local_directory=folder, **QUIET) as cluster,
        Client(cluster) as client,
    ):
        yield client
        left = pids(client)
    wait_until(lambda: not any(psutil.pid_exists(pid) for pid in left), "the end of all workers")


def pids(client):
    """Return the process ids of the running workers."""
    return list(client.run(os.getpid, on_error="ignore").values())


@needs_kill
def test_worker_killed_during_fit_keeps_bits(tmp_path, processes):
    counts = sp.vstack([COUNTS] * 8, format="csr")
    store = BlockStore.write(tmp_path / "store", counts, block_size=64)  # 38 blocks
    executor = Killing(processes, tasks_per_thread=8)
    executor.victim = pids(processes)[0]
    fit = run_with_limit(lambda: run(store, executor))
    assert executor.killed
    wait_until(lambda: executor.victim not in pids(processes), "the end of the victim")
    assert_same_bits(run(store, InProcess()), fit)
    del fit
    assert not list(store.folder.glob("scratch-*"))


class Future:
    """Result that arrives late and fails if it is requested twice."""

    status, n_requests = "pending", 0

    def result(self, timeout=None):
        self.n_requests += 1
        time.sleep(0.2)
        if timeout is not None or self.n_requests > 1:
            raise UnboundLocalError("cannot access local variable 'result'")
        return "value"


def test_fetch_result_asks_once(client, monkeypatch):
    monkeypatch.setattr(clusters, "POLL_SECONDS", 0.01)
    cluster, future = DaskExecutor(client).cluster, Future()
    assert cluster.fetch_result(future) == "value"
    with pytest.raises(
        CancelledError, match="cancelled while it was fetched"
    ):  # a loss, after which the pass is repeated
        cluster.fetch_result(future)
    error = client.submit(_late, key="late")
    with pytest.raises(TimeoutError, match="of its own"):
        cluster.fetch_result(error)


def _late():
    raise TimeoutError("of its own")


@needs_kill
@pytest.mark.parametrize(("kind", "name"), [(CAM, "cluster_given_doc_"), (HPLSA, "class_given_doc_")])
def test_worker_killed_during_growth_keeps_bits(tmp_path, processes, kind, name):
    store = BlockStore.write(tmp_path / "store", COUNTS[:90], block_size=16)  # 6 blocks
    executor = Killing(processes)
    executor.victim, executor.blind = pids(processes)[0], True
    options = {"random_state": 0, "max_iter": 1}
    remote = run_with_limit(lambda: kind(2, **options, executor=executor).fit(store))
    assert executor.killed
    local = kind(2, **options).fit(store)
    assert local.tree_ == remote.tree_
    np.testing.assert_array_equal(local.tree_model_.word_given_node, remote.tree_model_.word_given_node)
    np.testing.assert_array_equal(getattr(local, name), getattr(remote, name))
    del remote
    assert not list(store.folder.glob("scratch-*"))


def test_stream_limits_items_and_resends_lost_tasks(client, monkeypatch):
    cluster = clusters.Cluster.from_client(client, retries=2)
    max_waiting, taken, losses = clusters.TASKS_IN_FLIGHT * 3, [], 2

    def items():
        for number in range(40):
            taken.append(number)
            yield number

    fetch_result = clusters.Cluster.fetch_result

    def losing(self, future):
        nonlocal losses
        if len(taken) > 20 and losses:
            losses -= 1
            raise CancelledError("lost with a worker")
        return fetch_result(self, future)

    monkeypatch.setattr(clusters.Cluster, "fetch_result", losing)
    results = []
    for result in cluster.stream(double, items()):
        assert len(taken) - len(results) <= max_waiting + 1
        results.append(result)
    assert results == [2 * number for number in range(40)]
    assert losses == 0
    losses = 3
    with pytest.raises(ResourceError, match="lost a task double-… 3 times"):
        list(cluster.stream(double, range(3)))


@needs_kill
def test_worker_killed_during_stream_keeps_results(processes):
    victim = pids(processes)[0]

    def items():
        for number in range(400):
            if number == 100:
                os.kill(victim, signal.SIGKILL)
            yield number

    stream = clusters.Cluster.from_client(processes).stream(operator.neg, items())
    assert run_with_limit(lambda: list(stream)) == [-number for number in range(400)]
    wait_until(lambda: victim not in pids(processes), "the end of the victim")


def test_closed_stream_cancels_tasks(client):
    stream = clusters.Cluster.from_client(client).stream(double, iter(range(1_000)))
    assert next(stream) == 0
    stream.close()
    wait_until(lambda: not any(key.startswith("double-") for key in client.futures), "the end of cancelled tasks")


def test_stream_reports_closed_client():
    with LocalCluster(processes=False, n_workers=1, **QUIET) as cluster, Client(cluster) as client:
        closed = clusters.Cluster.from_client(client)
    with pytest.raises(ResourceError, match="the client is closed"):
        list(closed.stream(double, [1]))


def test_stream_raises_task_errors(client):
    with pytest.raises(ZeroDivisionError):
        list(clusters.Cluster.from_client(client, retries=0).stream(invert, [2, 0]))


def double(number):
    return 2 * number


def invert(number):
    return 1 / number
