"""Execution of work: threads over pieces, executors over blocks, and blocks in files. No module here knows a model.

Names are imported when they are first used. Dask is imported only for a ``DaskExecutor``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topiarist.execution.blocks import BlockStore
    from topiarist.execution.dask import DaskExecutor
    from topiarist.execution.executors import InProcess

_MODULES = {"BlockStore": "blocks", "DaskExecutor": "dask", "InProcess": "executors"}

__all__ = ["BlockStore", "DaskExecutor", "InProcess"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
