"""Where work runs: threads over pieces, executors over blocks, blocks in files. Knows addition, not models.

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
