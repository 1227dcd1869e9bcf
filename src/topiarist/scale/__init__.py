"""Where work runs: threads over pieces, executors over blocks, blocks in files. Knows addition, not models.

Floor plan:

    block_folder     The folder of a block store: its manifest, and how documents and counts are written into blocks.
    blocks           Counts as files: a collection that need not fit in memory, in blocks that any process can open.
    cluster_address  A cluster by its address: that of a scheduler, or so many workers on this machine for as long as
                     they are needed.
    dask             Many machines: blocks that are files, computed by the workers of a Dask cluster.
    executors        Where blocks of documents are computed: map, then add.
    parquet          From Parquet to a store in two maps, on one machine or many: the words of each partition, then its
                     counts.
    threads          Threads over fixed pieces of work: the number of threads decides when a piece is done, never what
                     comes out.

Names are imported when they are first used: Dask only by those who ask for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topiarist.scale.blocks import BlockStore
    from topiarist.scale.dask import DaskExecutor
    from topiarist.scale.executors import InProcess

_HOMES = {"BlockStore": "blocks", "DaskExecutor": "dask", "InProcess": "executors"}

__all__ = ["BlockStore", "DaskExecutor", "InProcess"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
