"""How much faster are more threads, and do they change a single bit? arXiv 2011-2013, 128 components."""

from __future__ import annotations

import os

from benchmarks import data
from benchmarks.bars import THREAD_SPEEDUPS
from benchmarks.client import Client, PeerError
from benchmarks.settings import Settings

COLLECTION = "arxiv-2011-2013"
N_COMPONENTS = 128
THREADS = (1, 2, 4, 8, 16)
SYSTEMS_TIMED = ("topiarist", "c-kernel")
FIT_PASSES = 3


def main(settings: Settings) -> dict:
    """Time one pass with each number of threads, in rounds; compare the bits of short fits of ours."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = [n for n in THREADS if n <= cores]
    counts = str(data.counts(COLLECTION))
    rows = {name: _times(name, counts, threads, settings) for name in settings.chosen(dict.fromkeys(SYSTEMS_TIMED))}
    if "topiarist" in rows and "failed" not in rows["topiarist"]:
        rows["topiarist"]["digests"] = [_digest(counts, n) for n in threads]
    return {
        "collection": COLLECTION,
        "documents_from": data.provenance(COLLECTION),
        "counts": data.describe(counts),
        "n_components": N_COMPONENTS,
        "threads": threads,
        "bars": {str(n): bar for n, bar in THREAD_SPEEDUPS.items()},
        "rows": rows,
    }


def _times(name: str, counts: str, threads: list[int], settings: Settings) -> dict:
    best: dict[int, float] = {}
    try:
        for number in range(settings.scaling_rounds):
            for n in threads:
                with Client(name, n) as client:
                    client.ask("prepare", counts=counts, n_components=N_COMPONENTS, n_threads=n)
                    for _ in range(settings.rounds):
                        seconds = client.ask("time_pass")["seconds"]
                best[n] = min(seconds, best.get(n, float("inf")))
                print(
                    f"[scaling_threads] round {number + 1}: {name}, {n} threads {1000 * best[n]:.1f} ms",
                    flush=True,
                )
    except PeerError as error:
        print(f"[scaling_threads] {name} cannot run: {error}", flush=True)
        return {"failed": str(error)}
    return {"seconds": list(best.values())}


def _digest(counts: str, n_threads: int) -> str:
    with Client("topiarist", n_threads) as client:
        request = {"n_components": N_COMPONENTS, "n_threads": n_threads, "max_iter": FIT_PASSES}
        digest = client.ask("fit_digest", counts=counts, **request)["digest"]
    print(f"[scaling_threads] {n_threads} threads: bits {digest[:12]}", flush=True)
    return digest
