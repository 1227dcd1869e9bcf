"""A cluster by its address: that of a scheduler, or so many workers on this machine for as long as they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from topiarist.errors import ResourceError, UsageError
from topiarist.scale.dask import package

LOCAL = "local:"  # before the number of workers on this machine
SECONDS = 20  # to wait for a scheduler
HERE = "127.0.0.1:0"  # pages about the work are for this machine alone


def local_workers(address: str) -> int | None:
    """How many workers an address asks for on this machine; None where it names a scheduler."""
    if not address.startswith(LOCAL):
        return None
    number = address.removeprefix(LOCAL)
    if not number.isdecimal() or int(number) < 1:
        raise UsageError(f"{address!r} names no number of workers", hint="local:2, or tcp://machine:8786")
    return int(number)


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the cluster; workers that were started for it end with it."""
    number = local_workers(address)
    distributed = package()
    if number is None:
        try:
            client = distributed.Client(address, timeout=SECONDS)
        except (OSError, ValueError, TimeoutError) as error:
            raise ResourceError(
                f"there is no cluster at {address}: {error or type(error).__name__}",
                hint="dask scheduler, and its address: tcp://machine:8786; or local:2",
            ) from error
        with client:
            yield client
        return
    with (
        distributed.LocalCluster(
            n_workers=number,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=HERE,
            worker_dashboard_address=HERE,
            silence_logs=50,
        ) as cluster,  # fmt: skip
        distributed.Client(cluster) as client,
    ):
        yield client
