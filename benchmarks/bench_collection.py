"""From files to a collection on disk: how long does each phase take, and how much memory; how fast is it afterwards?

The child processes, ``python -m benchmarks.bench_collection HOW FOLDER LIMIT [SOURCE ...]``, grow, open or file, and
say how it went: memory is that of a process that does nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from benchmarks import data, memory
from benchmarks.bars import COLLECTION_FILED, COLLECTION_MEMORY, COLLECTION_MINUTES, COLLECTION_OPENED
from benchmarks.findings import Findings
from benchmarks.paths import CACHE, REPOSITORY
from benchmarks.settings import Settings

NAME, QUICK, N_THREADS, N_FILED = "arxiv-2011-2013", 5_000, 2, 5_000


def main(settings: Settings) -> dict:
    """Grow once, then open and file in processes of their own."""
    folder = CACHE / "collection.topiary"
    shutil.rmtree(folder, ignore_errors=True)
    CACHE.mkdir(exist_ok=True)
    sources = [str(path) for path in data.sources(NAME)]
    try:
        grown = _child("grow", folder, *sources, limit=QUICK if settings.quick else None)
        opened = _child("open", folder)
        filed = _child("file", folder, *sources)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    found = Findings(
        f"{data.provenance(NAME)}: {grown['documents']:,} documents from {len(sources)} compressed JSON-lines files to"
        f" a folder of {size / 1e6:,.0f} MB with texts, counts, a tree of {grown['topics']} topics and both indices;"
        f" {N_THREADS} threads, kernels compiled before. The processor's time is that of all threads together."
    )
    phases = [[name, f"{seconds:.1f} s"] for name, seconds in grown["phases"].items()]
    found.table(["phase", "by the clock"], [*phases, ["all", f"{grown['seconds']:.1f} s"]])
    found.say(
        f"The processor was busy for {grown['busy']:.0f} s. Opened, with its tree and sizes, in"
        f" {opened['seconds']:.2f} s and {opened['peak'] / 1e6:,.0f} MB; {filed['documents']:,} documents were filed at"
        f" {filed['rate']:,.0f} a second."
    )
    found.bar("minutes to grow", grown["seconds"] / 60, COLLECTION_MINUTES, form=".1f")
    found.bar("peak memory of growing, GB", grown["peak"] / 1e9, COLLECTION_MEMORY, form=".2f")
    found.bar("seconds to open", opened["seconds"], COLLECTION_OPENED, form=".2f")
    found.bar("documents filed in a second", filed["rate"], COLLECTION_FILED, least=True, form=",.0f")
    found.values |= {"grow": grown, "open": opened, "file": filed, "bytes": size}
    return found.result()


def _child(how: str, folder: Path, *sources: str, limit: int | None = None) -> dict:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY / "src"), str(REPOSITORY), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, "-m", "benchmarks.bench_collection", how, str(folder), str(limit or 0), *sources]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=REPOSITORY, check=False)
    if done.returncode:
        raise RuntimeError(f"{how} failed: {done.stderr[-2000:]}")
    answer = json.loads(done.stdout.splitlines()[-1])
    print(f"[collection] {how}: {answer}", flush=True)
    return answer


def _grow(folder: str, limit: int | None, sources: list[str]) -> dict:
    from topiarist.cli.terminal.grow_progress import Progress
    from topiarist.cli.terminal.stop_signal import Stop
    from topiarist.collection.grow.fitting import KERNELS
    from topiarist.collection.grow.pipeline import grow_collection
    from topiarist.collection.grow.recipe import Recipe
    from topiarist.collection.grow.state import GrowOptions
    from topiarist.models.engine.compilation import prepare_kernels
    from topiarist.text.readers import read

    for dtype in ("float32", "float64"):
        prepare_kernels(dtype, *KERNELS, notice=lambda _: None)
    with Progress(Stop()) as progress, read(sources, limit=limit) as documents:
        options = GrowOptions(n_threads=N_THREADS, reporter=progress)
        collection = grow_collection(documents, folder, Recipe(), options)
    return {"documents": len(collection), "topics": len(collection.tree.tree.leaves), "phases": progress.seconds}


def _open(folder: str, *_: object) -> dict:
    from topiarist.collection.collection import Collection

    began = time.perf_counter()
    collection = Collection.open(folder)
    assert collection.tree.sizes
    return {"documents": len(collection), "seconds": time.perf_counter() - began}


def _file(folder: str, _: int | None, sources: list[str]) -> dict:
    from topiarist.collection.collection import Collection
    from topiarist.text.readers import read

    collection = Collection.open(folder)
    with read(sources[:1], limit=N_FILED) as reading:
        documents = list(reading)
    list(collection.file(documents[:100]))
    began = time.perf_counter()
    number = sum(1 for _ in collection.file(documents))
    return {"documents": number, "rate": number / (time.perf_counter() - began)}


if __name__ == "__main__":
    HOW, FOLDER, LIMIT, *SOURCES = sys.argv[1:]
    BEGAN, BUSY = time.perf_counter(), time.process_time()
    ANSWER = {"grow": _grow, "open": _open, "file": _file}[HOW](FOLDER, int(LIMIT) or None, SOURCES)
    TIMES = {"seconds": time.perf_counter() - BEGAN, "busy": time.process_time() - BUSY}
    print(json.dumps({**TIMES, **ANSWER, "peak": memory.peak()}))
