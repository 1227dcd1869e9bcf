"""Tests of cluster addresses."""

import pytest

pytest.importorskip("distributed")

from distributed import Client, LocalCluster

from tests.execution.clusters import QUIET
from topiarist.errors import ResourceError, UsageError
from topiarist.execution import cluster_address
from topiarist.execution.cluster_address import connect, parse_local_workers


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
    monkeypatch.setattr(cluster_address, "CONNECT_TIMEOUT", 1)
    with (
        pytest.raises(ResourceError, match=r"there is no cluster at tcp://127\.0\.0\.1:1"),
        connect("tcp://127.0.0.1:1"),
    ):
        pass
    with pytest.raises(ResourceError, match="there is no cluster at nonsense"), connect("nonsense://x"):
        pass
