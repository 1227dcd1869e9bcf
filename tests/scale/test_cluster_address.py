"""Clusters by their addresses."""

import pytest

pytest.importorskip("distributed")

from distributed import Client, LocalCluster

from tests.scale.clusters import QUIET
from topiarist.errors import ResourceError, UsageError
from topiarist.scale import cluster_address
from topiarist.scale.cluster_address import connected, local_workers


def test_workers_of_this_machine_are_asked_for_by_number():
    assert local_workers("local:3") == 3
    assert local_workers("tcp://somewhere:8786") is None
    for address in ("local:", "local:0", "local:two", "local:-1"):
        with pytest.raises(UsageError, match="names no number of workers"):
            local_workers(address)


def test_a_scheduler_is_found_by_its_address():
    with LocalCluster(processes=False, protocol="tcp", host="127.0.0.1", n_workers=1, **QUIET) as cluster:
        with connected(cluster.scheduler_address) as client:
            assert client.submit(sum, [1, 2]).result() == 3
        with Client(cluster) as other:
            assert len(other.nthreads()) == 1  # those who were there before stay


def test_where_there_is_no_scheduler_is_said(monkeypatch):
    monkeypatch.setattr(cluster_address, "SECONDS", 1)
    with (
        pytest.raises(ResourceError, match=r"there is no cluster at tcp://127\.0\.0\.1:1"),
        connected("tcp://127.0.0.1:1"),
    ):
        pass
    with pytest.raises(ResourceError, match="there is no cluster at nonsense"), connected("nonsense://x"):
        pass
