"""What does a second worker bring, and does it change a single bit? arXiv 2011-2013, 128 components, Dask."""

from __future__ import annotations

import hashlib
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks import data, ours
from benchmarks.bars import WORKER_SPEEDUP
from benchmarks.paths import CACHE
from benchmarks.settings import Settings
from benchmarks.timing import seconds_of

COLLECTION = "arxiv-2011-2013"
N_COMPONENTS = 128
BLOCK_SIZE = 48_128  # 4 blocks: as many on either worker
WORKERS = (1, 2)
PASSES_A_ROUND = 3
N_THREADS = 2  # of the driver, between two passes


def main(settings: Settings) -> dict:
    """Passes on one and on two workers of one thread, in turn; what counts is the median of ratios of neighbours."""
    from topiarist.execution import BlockStore, InProcess

    counts = data.counts(COLLECTION)
    n_passes = PASSES_A_ROUND * settings.rounds
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        store = BlockStore.write(Path(folder) / "store", data.load(counts), block_size=BLOCK_SIZE)
        with _cluster(1) as one, _cluster(2) as two:
            walks = [ours.Walk(store, N_COMPONENTS, executor, N_THREADS) for executor in (one, two)]
            pairs = [tuple(seconds_of(walk.step) for walk in walks) for _ in range(n_passes + 1)][1:]
        alone = ours.Walk(store, N_COMPONENTS, InProcess())
        for _ in range(n_passes + 1):
            alone.step()
    digests = [_digest(walk.state.shared.by_word) for walk in (*walks, alone)]
    rows = {
        "seconds": [statistics.median(pair[place] for pair in pairs) for place in range(2)],
        "speed_up": statistics.median(first / second for first, second in pairs),
        "best_speed_up": min(pair[0] for pair in pairs) / min(pair[1] for pair in pairs),
        "same_bits": len(set(digests)) == 1,
    }
    print(f"[dask] {rows}", flush=True)
    return {
        "collection": COLLECTION,
        "documents_from": data.provenance(COLLECTION),
        "counts": data.describe(counts),
        "n_components": N_COMPONENTS,
        "n_blocks": len(store.manifest.blocks),
        "workers": list(WORKERS),
        "n_passes": n_passes,
        "bar": WORKER_SPEEDUP,
        **rows,
    }


@contextmanager
def _cluster(n_workers: int) -> Iterator[object]:
    """An executor with worker processes of one thread each, warm; on this machine only."""
    from distributed import Client, LocalCluster

    from topiarist.execution import DaskExecutor

    pages = {"dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, host="127.0.0.1", **pages) as cluster,
        Client(cluster) as client,
    ):
        yield DaskExecutor(client)


def _digest(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
