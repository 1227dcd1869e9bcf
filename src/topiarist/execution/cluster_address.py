"""Clusters by address: an existing scheduler, or a number of local workers that run as long as the client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from topiarist.errors import ResourceError, UsageError
from topiarist.execution.dask import import_distributed

LOCAL_PREFIX = "local:"  # followed by the number of workers
CONNECT_TIMEOUT = 20  # seconds
LOCALHOST = "127.0.0.1:0"  # the dashboard is not served to other machines


def parse_local_workers(address: str) -> int | None:
    """Return the number of local workers that an address requests; None for the address of a scheduler."""
    if not address.startswith(LOCAL_PREFIX):
        return None
    number = address.removeprefix(LOCAL_PREFIX)
    if not number.isdecimal() or int(number) < 1:
        raise UsageError(
            f"expected a number of workers after 'local:', got {address!r}",
            hint="Pass an address such as local:2 or tcp://machine:8786.",
        )
    return int(number)


@contextmanager
def connect(address: str) -> Iterator[Any]:
    """Connect to a cluster and yield its client; workers that were started for it end with it."""
    number = parse_local_workers(address)
    package = import_distributed()
    if number is None:
        try:
            client = package.Client(address, timeout=CONNECT_TIMEOUT)
        except (OSError, ValueError, TimeoutError) as error:
            raise ResourceError(
                f"there is no cluster at {address}: {error or type(error).__name__}",
                hint="Start one with `dask scheduler` and pass its address, or pass local:2.",
            ) from error
        with client:
            yield client
        return
    with (
        package.LocalCluster(
            n_workers=number,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=LOCALHOST,
            worker_dashboard_address=LOCALHOST,
            silence_logs=50,
        ) as cluster,  # fmt: skip
        package.Client(cluster) as client,
    ):
        yield client
