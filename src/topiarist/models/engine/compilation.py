"""Compilation of kernels that are not in the cache, some seconds once on a machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

from topiarist.arrays import DTypeLike

FIRST_RUN = "Compiling numerical kernels that are new on this machine (about 10 seconds; they are kept)"
_messages_shown: set[str] = set()


def missing_kernels(dtype: DTypeLike, *names: str) -> dict[str, Callable[[DTypeLike], None]]:
    """Return the functions that compile kernels missing in the cache, by cache name; see ``prepare_kernels``."""
    from topiarist.kernels import cache

    groups = {str(dtype): "counts", **{f"{dtype}-{name}": name for name in names}}
    modules = {name: import_module(f"topiarist.kernels.{group}.compiled") for name, group in groups.items()}
    return {name: module.prepare for name, module in modules.items() if not cache.is_ready(name)}


def prepare_kernels(
    dtype: DTypeLike, *names: str, notice: Callable[[str], None] | None = None, device: str = "cpu"
) -> None:
    """Compile the kernels of a precision that are not in the cache, which takes some seconds once on a machine.

    ``names`` are groups beyond flat models: "paths", "labels", "classes", "search". Kernels of other devices are
    compiled when they are first used.
    """
    if device != "cpu":
        return
    try:
        from topiarist.kernels import cache

        missing = missing_kernels(dtype, *names)
    except ImportError:  # no compiler: ``kernels.load`` warns
        return
    if not missing:
        return
    if not _messages_shown:  # one message per process is enough
        if notice is not None:
            notice(FIRST_RUN)
        else:
            sys.stderr.write(f"topiarist: {FIRST_RUN} …\n")
    _messages_shown.add(FIRST_RUN)
    for name, prepare in missing.items():
        prepare(dtype)
        cache.mark_ready(name)
