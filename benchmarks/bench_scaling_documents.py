"""Do time and memory grow in proportion to the counts? arXiv, 12 thousand to 192 thousand documents."""

from __future__ import annotations

import numpy as np

from benchmarks import data
from benchmarks.bars import DOCUMENT_SLOPE, MEMORY_FACTOR
from benchmarks.client import Client, PeerError
from benchmarks.settings import Settings

COLLECTION = "arxiv-2011-2013"
DOCUMENTS = (12_000, 24_000, 48_000, 96_000, 192_000)
SYSTEMS_TIMED = ("topiarist", "c-kernel")
N_COMPONENTS = 64
N_THREADS = 2
FIT_PASSES = 3
FLOAT, INDEX = 4, 4


def main(settings: Settings) -> dict:
    """Time passes on nested subsets, sizes in turn within a round; then fit each size once for its memory."""
    available = data.describe(data.counts(COLLECTION))["documents"]
    sizes = sorted({min(n, available) for n in DOCUMENTS})
    files = {n: data.first_documents(COLLECTION, n) for n in sizes}
    shapes = {n: data.describe(path) for n, path in files.items()}
    rows = {name: _times(name, files, shapes, settings) for name in settings.chosen(dict.fromkeys(SYSTEMS_TIMED))}
    result = {
        "collection": COLLECTION,
        "documents_from": data.provenance(COLLECTION),
        "n_components": N_COMPONENTS,
        "n_threads": N_THREADS,
        "sizes": list(shapes.values()),
        "slope_bar": DOCUMENT_SLOPE,
        "memory_bar": MEMORY_FACTOR,
        "rows": rows,
    }
    if "topiarist" in rows:
        result["memory"] = [_memory(files[n], shapes[n]) for n in sizes]
    return result


def log_log_slope(nonzeros: list[int], seconds: list[float]) -> float:
    """Return the exponent of growth: 1 is proportional."""
    return float(np.polyfit(np.log(nonzeros), np.log(seconds), 1)[0])


def allowance(shape: dict[str, int]) -> int:
    """Return the bytes of the counts, of a column index and of three copies of the parameters."""
    rows = shape["nonzeros"] * (FLOAT + INDEX) + (shape["documents"] + 1) * INDEX
    columns = shape["nonzeros"] * 2 * INDEX + (shape["words"] + 1) * INDEX
    return rows + columns + 3 * (shape["documents"] + shape["words"]) * N_COMPONENTS * FLOAT


def _times(name: str, files: dict, shapes: dict, settings: Settings) -> dict:
    best: dict[int, float] = {}
    try:
        for number in range(settings.scaling_rounds):
            for n, path in files.items():
                with Client(name, N_THREADS) as client:
                    request = {"n_components": N_COMPONENTS, "n_threads": N_THREADS}
                    client.ask("prepare", counts=str(path), **request)
                    for _ in range(settings.rounds):
                        seconds = client.ask("time_pass")["seconds"]
                best[n] = min(seconds, best.get(n, float("inf")))
                print(
                    f"[scaling_documents] round {number + 1}: {name}, {n} documents {1000 * best[n]:.1f} ms",
                    flush=True,
                )
    except PeerError as error:
        print(f"[scaling_documents] {name} cannot run: {error}", flush=True)
        return {"failed": str(error)}
    slope = log_log_slope([shapes[n]["nonzeros"] for n in best], list(best.values())) if len(best) > 1 else None
    return {"seconds": list(best.values()), "slope": slope}


def _memory(path: object, shape: dict[str, int]) -> dict:
    request = {"n_components": N_COMPONENTS, "n_threads": N_THREADS, "max_iter": FIT_PASSES}
    row = {"documents": shape["documents"], "allowance": allowance(shape)}
    with Client("topiarist", N_THREADS) as client:
        try:
            row |= client.ask("fit_memory", counts=str(path), **request)
            used, allowed = row["bytes"] / 1e6, row["allowance"] / 1e6
            print(
                f"[scaling_documents] memory, {shape['documents']} documents: {used:.0f} of {allowed:.0f} MB",
                flush=True,
            )
        except PeerError as error:
            row["failed"] = str(error)
    return row
