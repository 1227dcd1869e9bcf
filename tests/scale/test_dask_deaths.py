"""Dask: workers that die or leave, a scheduler that stops, passes that are lost."""

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

from tests.scale.clusters import COUNTS, QUIET, assert_same_bits, bounded, contents, run, until, write_parquet
from topiarist import CAM, HPLSA
from topiarist.errors import ResourceError
from topiarist.scale import BlockStore, DaskExecutor, InProcess
from topiarist.scale import dask as clusters


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
    """Loses passes before it computes them."""

    losses = 0

    def _pass(self, *arguments):
        if self.losses:
            self.losses -= 1
            raise CancelledError("lost with a worker")
        return super()._pass(*arguments)


def test_a_lost_pass_is_started_again_but_not_for_ever(store, client):
    executor = Losing(client, retries=2)
    executor.losses = 2
    assert_same_bits(run(store, InProcess(), max_iter=2), run(store, executor, max_iter=2))
    executor.losses = 3
    with pytest.raises(ResourceError, match="the cluster lost the same pass 3 times: lost with a worker"):
        run(store, executor)
    assert not list(store.folder.glob("scratch-*"))


def test_a_cluster_without_workers_is_given_up(store):
    with (
        LocalCluster(processes=False, n_workers=0, **QUIET) as cluster,
        Client(cluster) as client,
        pytest.raises(ResourceError, match=r"no worker for 0\.2 seconds"),
    ):
        run(store, DaskExecutor(client, patience=0.2))
    with pytest.raises(ResourceError, match="the client is closed"):
        run(store, DaskExecutor(client))


class LosesItsWorkers(DaskExecutor):
    """All workers leave while it waits for an answer."""

    def _sum(self, last):
        self.client.cluster.scale(0)
        return super()._sum([self.client.submit(time.sleep, 60, key="never", workers=["tcp://127.0.0.1:1"])])


def test_a_cluster_whose_workers_leave_is_given_up(store):
    with (
        LocalCluster(processes=False, n_workers=1, **QUIET) as cluster,
        Client(cluster) as client,
        pytest.raises(ResourceError, match=r"no worker for 0\.5 seconds"),
    ):
        run(store, LosesItsWorkers(client, patience=0.5))


class LosesItsScheduler(DaskExecutor):
    """The scheduler stops in the middle of a pass."""

    def _sum(self, last):
        self.client.cluster.sync(self.client.cluster.scheduler.close)
        return super()._sum(last)


def test_a_cluster_whose_scheduler_stops_is_given_up(store):
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        LocalCluster(processes=False, n_workers=1, **QUIET) as cluster,
        Client(cluster) as client,
        pytest.raises(ResourceError),
    ):
        bounded(lambda: run(store, LosesItsScheduler(client)))
    gc.collect()
    assert not list(store.folder.glob("scratch-*"))


class Killing(DaskExecutor):
    """Kills a worker process in the middle of its fourth pass: some blocks are done, and no answer has been taken."""

    passes, victim, rows, killed = 0, 0, (), False
    blind = False  # a pass that leaves no rows cannot be looked at

    def _pass(self, function, work, rows, folder):
        self.passes += 1
        self.rows = rows if self.passes == 4 else ()
        return super()._pass(function, work, rows, folder)

    def _sum(self, last):
        if self.passes == 4 and not self.killed:
            if not self.blind:
                until(lambda: any(os.path.exists(row.path) for row in self.rows), "rows of a block")
            os.kill(self.victim, signal.SIGKILL)
            self.killed = True
        return super()._sum(last)


needs_kill = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill so rudely")


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """Three workers that are processes, and may be killed: others are started in their place."""
    import psutil

    folder = str(tmp_path_factory.mktemp("workers"))
    with (
        LocalCluster(processes=True, n_workers=3, host="127.0.0.1", local_directory=folder, **QUIET) as cluster,
        Client(cluster) as client,
    ):
        yield client
        left = pids(client)
    until(lambda: not any(psutil.pid_exists(pid) for pid in left), "the end of all workers")


def pids(client):
    """The processes of the workers; one that has just died, or is being born, is not among them."""
    return list(client.run(os.getpid, on_error="ignore").values())


@needs_kill
def test_a_worker_killed_in_the_middle_of_a_fit_changes_nothing(tmp_path, processes):
    counts = sp.vstack([COUNTS] * 8, format="csr")
    store = BlockStore.write(tmp_path / "store", counts, block_size=64)  # 38 blocks
    executor = Killing(processes, tasks_per_thread=8)
    executor.victim = pids(processes)[0]
    fit = bounded(lambda: run(store, executor))
    assert executor.killed
    until(lambda: executor.victim not in pids(processes), "the end of the victim")
    assert_same_bits(run(store, InProcess()), fit)
    del fit
    assert not list(store.folder.glob("scratch-*"))


@needs_kill
def test_a_worker_killed_while_it_counts_changes_nothing(tmp_path, processes, monkeypatch):
    parts = write_parquet(tmp_path / "parts", n_files=6, rows=1500)
    here = BlockStore.from_parquet(parts, tmp_path / "here", block_size=100)
    victim, answer, killed = pids(processes)[0], clusters.Cluster.answer, []

    def kill_first(cluster, future):
        if future.key.startswith("count-") and not killed:  # some blocks are written, and no answer has been taken
            until(lambda: any(tmp_path.glob(".there-*/block-*")), "a block")
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)
        return answer(cluster, future)

    monkeypatch.setattr(clusters.Cluster, "answer", kill_first)
    there = bounded(lambda: BlockStore.from_parquet(parts, tmp_path / "there", block_size=100, client=processes))
    assert killed
    assert contents(here.folder) == contents(there.folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "parts", "there"]


class Future:
    """A result that is a while on its way, and does not survive to be asked for twice."""

    status, asked = "pending", 0

    def result(self, timeout=None):
        self.asked += 1
        time.sleep(0.2)
        if timeout is not None or self.asked > 1:
            raise UnboundLocalError("cannot access local variable 'result'")
        return "here"


def test_an_answer_that_comes_late_is_asked_for_once(client, monkeypatch):
    monkeypatch.setattr(clusters, "SECONDS_BETWEEN_LOOKS", 0.01)
    cluster, future = DaskExecutor(client).cluster, Future()
    assert cluster.answer(future) == "here"
    with pytest.raises(CancelledError, match="cancelled on its way"):  # a loss, after which a pass is started again
        cluster.answer(future)
    error = client.submit(_late, key="late")
    with pytest.raises(TimeoutError, match="of its own"):
        cluster.answer(error)


def _late():
    raise TimeoutError("of its own")


@needs_kill
@pytest.mark.parametrize(("kind", "name"), [(CAM, "cluster_given_doc_"), (HPLSA, "class_given_doc_")])
def test_a_worker_killed_while_a_tree_grows_changes_nothing(tmp_path, processes, kind, name):
    store = BlockStore.write(tmp_path / "store", COUNTS[:90], block_size=16)  # 6 blocks
    executor = Killing(processes)
    executor.victim, executor.blind = pids(processes)[0], True
    options = {"random_state": 0, "max_iter": 1}
    there = bounded(lambda: kind(2, **options, executor=executor).fit(store))
    assert executor.killed
    here = kind(2, **options).fit(store)
    assert here.tree_ == there.tree_
    np.testing.assert_array_equal(here.tree_model_.word_given_node, there.tree_model_.word_given_node)
    np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
    del there
    assert not list(store.folder.glob("scratch-*"))


def test_a_stream_holds_few_items_and_sends_lost_ones_again(client, monkeypatch):
    cluster = clusters.Cluster.of(client, retries=2)
    ahead, taken, losses = clusters.AHEAD * 3, [], 2

    def items():
        for number in range(40):
            taken.append(number)
            yield number

    answer = clusters.Cluster.answer

    def losing(self, future):
        nonlocal losses
        if len(taken) > 20 and losses:
            losses -= 1
            raise CancelledError("lost with a worker")
        return answer(self, future)

    monkeypatch.setattr(clusters.Cluster, "answer", losing)
    found = []
    for result in cluster.stream(doubled, items()):
        assert len(taken) - len(found) <= ahead + 1
        found.append(result)
    assert found == [2 * number for number in range(40)]
    assert losses == 0
    losses = 3
    with pytest.raises(ResourceError, match="the cluster lost a task doubled-… 3 times: lost with a worker"):
        list(cluster.stream(doubled, range(3)))


@needs_kill
def test_a_worker_killed_in_the_middle_of_a_stream_changes_nothing(processes):
    victim = pids(processes)[0]

    def items():
        for number in range(400):
            if number == 100:
                os.kill(victim, signal.SIGKILL)
            yield number

    stream = clusters.Cluster.of(processes).stream(operator.neg, items())
    assert bounded(lambda: list(stream)) == [-number for number in range(400)]
    until(lambda: victim not in pids(processes), "the end of the victim")


def test_a_stream_that_nobody_listens_to_ends(client):
    stream = clusters.Cluster.of(client).stream(doubled, iter(range(1_000)))
    assert next(stream) == 0
    stream.close()
    until(lambda: not any(key.startswith("doubled-") for key in client.futures), "the end of what was given up")


def test_a_stream_without_a_cluster_is_told():
    with LocalCluster(processes=False, n_workers=1, **QUIET) as cluster, Client(cluster) as client:
        gone = clusters.Cluster.of(client)
    with pytest.raises(ResourceError, match="the client is closed"):
        list(gone.stream(doubled, [1]))


def test_what_fails_in_a_stream_is_said_here(client):
    with pytest.raises(ZeroDivisionError):
        list(clusters.Cluster.of(client, retries=0).stream(inverted, [2, 0]))


def doubled(number):
    return 2 * number


def inverted(number):
    return 1 / number
