"""One system on one pile, in a process of its own: ``python -m benchmarks.comparison.child KIND SYSTEM PILE NUMBER``.

The last line on standard output is the answer, with processor seconds of the fit, peak memory of the process and the
versions of its packages.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib import import_module, metadata
from pathlib import Path

from benchmarks import memory
from benchmarks.comparison.piles import Pile
from benchmarks.comparison.systems import EVERY


def main(kind: str, name: str, folder: str, number: str) -> None:
    """Prepare, fit, tell."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints
    system = EVERY[kind][name]
    module, function = system.function.split(":")
    fit = getattr(import_module(module), function)(Pile(Path(folder)), int(number))
    began, clock = time.process_time(), time.perf_counter()
    answer = fit()
    answer |= {
        "seconds": time.process_time() - began,
        "clock": time.perf_counter() - clock,
        "megabytes": memory.peak() / 2**20,
        "versions": {package: _version(package) for package in system.packages},
    }
    print(json.dumps(answer), file=replies, flush=True)
    os._exit(0)  # some peers end with a crash of their own threads


def _version(package: str) -> str:
    if package == "topiarist":  # a checkout may be newer than what was installed of it
        from topiarist.version import __version__

        return __version__
    return metadata.version(package)


if __name__ == "__main__":
    main(*sys.argv[1:])
