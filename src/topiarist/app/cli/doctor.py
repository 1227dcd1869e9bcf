"""``topiarist doctor``: is everything here that topiarist needs?"""

from __future__ import annotations

import importlib.util
import platform
import sqlite3
import time
from ctypes.util import find_library
from importlib.metadata import version

from rich.table import Table

from topiarist import __version__
from topiarist.app.cli.consoles import Console
from topiarist.scale.threads import available_cores

PARTS = ("numpy", "scipy", "scikit-learn", "numba")
EXTRAS = {"parquet": "pyarrow", "plot": "matplotlib"}


SETS = {
    "float32": ("paths", "active", "classes", "search"),
    "float64": ("paths", "active", "classes", "search", "labels"),
}


def run(*, warm: bool) -> None:
    """Print versions and findings; with ``warm`` compile the kernels."""
    from topiarist.kernels import cache
    from topiarist.tasks.progress import prepare_kernels

    console = Console()
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_row("topiarist", __version__)
    table.add_row("Python", f"{platform.python_version()} on {platform.system()}, {available_cores()} cores")
    for name in PARTS:
        table.add_row(name, version(name))
    for extra, module in EXTRAS.items():
        found = importlib.util.find_spec(module) is not None
        table.add_row(
            f"[{extra}]".replace("[", "\\["),
            version(module) if found else f"not installed: pip install 'topiarist\\[{extra}]'",
        )
    table.add_row("GPU", _gpu())
    table.add_row(
        "full-text search",
        "SQLite " + sqlite3.sqlite_version + (" with FTS5" if _has_fts5() else " WITHOUT FTS5"),
    )
    missing = [
        dtype
        for dtype, sets in SETS.items()
        if not all(cache.is_ready(name) for name in (dtype, *(f"{dtype}-{part}" for part in sets)))
    ]
    if warm and missing:
        began = time.perf_counter()
        with console.status("Compiling the numerical kernels"):
            for dtype in missing:
                prepare_kernels(dtype, *SETS[dtype], notice=lambda _: None)
        table.add_row("kernels", f"compiled just now in {time.perf_counter() - began:.1f} s")
    else:
        table.add_row(
            "kernels",
            "will be compiled at the first fit; --warm does it now" if missing else "ready",
        )
    console.print(table)


def _gpu() -> str:
    """What ``device="cuda"`` would use; numba is asked only where there is a driver at all."""
    if not (find_library("cuda") or find_library("nvcuda")):
        return "no CUDA driver: everything runs on the processor"
    from numba import cuda

    if not cuda.is_available():  # type: ignore[no-untyped-call]
        return "a CUDA driver, but no toolkit that numba finds: pip install 'topiarist\\[cuda12]' (or cuda13)"
    name = cuda.gpus[0].name
    return f"{name.decode() if isinstance(name, bytes) else name}, for device='cuda'"


def _has_fts5() -> bool:
    try:
        sqlite3.connect(":memory:").execute("CREATE VIRTUAL TABLE t USING fts5(x)")
    except sqlite3.OperationalError:
        return False
    return True
