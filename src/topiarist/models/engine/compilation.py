"""Which kernels are not compiled yet, and compiling them: some seconds, once on a machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

from topiarist.arrays import DTypeLike

FIRST_RUN = "Compiling numerical kernels that are new on this machine (about 10 seconds; they are kept)"
_said: set[str] = set()  # in this process


def missing_kernels(dtype: DTypeLike, *sets: str) -> dict[str, Callable[[DTypeLike], None]]:
    """The functions that compile what is not in the cache yet, by the names of the cache; see ``prepare_kernels``."""
    from topiarist.kernels import cache

    wanted = {str(dtype): "counts", **{f"{dtype}-{name}": name for name in sets}}
    modules = {name: import_module(f"topiarist.kernels.{verbs}.compiled") for name, verbs in wanted.items()}
    return {name: module.prepare for name, module in modules.items() if not cache.is_ready(name)}


def prepare_kernels(
    dtype: DTypeLike, *sets: str, notice: Callable[[str], None] | None = None, device: str = "cpu"
) -> None:
    """Make sure the kernels of a precision are compiled, which takes some seconds once.

    ``sets`` are those beyond flat models: "paths", "active", "labels", "classes", "search". Those of other devices are
    compiled when they are first used.
    """
    if device != "cpu":
        return
    try:
        from topiarist.kernels import cache

        missing = missing_kernels(dtype, *sets)
    except ImportError:  # no compiler: ``kernels.load`` says so
        return
    if not missing:
        return
    if not _said:  # more kernels of the same run are no news
        if notice is not None:
            notice(FIRST_RUN)
        else:
            sys.stderr.write(f"topiarist: {FIRST_RUN} …\n")
    _said.add(FIRST_RUN)
    for name, prepare in missing.items():
        prepare(dtype)
        cache.keep(name)
