"""Where the benchmarks find their data, keep their files and which interpreters they use."""

from __future__ import annotations

import os
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED_DATA = Path(os.environ.get("TOPIARIST_BENCH_DATA") or REPOSITORY.parent / "shared" / "data")
BUNDLED_CORPUS = REPOSITORY / "src" / "topiarist" / "data" / "arxiv-2014.jsonl.gz"
CACHE = REPOSITORY / "bench-cache"
COUNTS = CACHE / "counts"
RESULTS = CACHE / "results"
REPORT = REPOSITORY / "benchmarks" / "RESULTS.md"
C_SOURCE = REPOSITORY / "benchmarks" / "c" / "plsa_pass.c"
C_LIBRARY = CACHE / "plsa_pass.so"
PEER_PYTHON = REPOSITORY / ".venv-bench" / "bin" / "python"


def peer_python() -> str:
    """Return the interpreter of the peers' environment, or this one where it has not been made."""
    return str(PEER_PYTHON) if PEER_PYTHON.exists() else sys.executable
