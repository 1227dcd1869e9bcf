"""tomotopy's hierarchical models: the nested Chinese restaurant (HLDA) and hierarchical Pachinko allocation (HPA)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import tomotopy
from scipy import sparse

from benchmarks.timing import ALPHA, ETA, seconds_of

DEPTH = 3
WARM_UP, TIMED = 5, 15
UPPER, LOWER = 5, 20


def hlda_clusters(counts: sparse.csr_array, seed: int, n_threads: int, sweeps: int) -> Iterator[dict]:
    """Sample a tree of three levels; reply with the leaf of each document (−1 for one without words).

    One thread whatever is asked for: that is fastest, and only so does the seed decide.
    """
    model, rows = _hlda(counts, seed)
    seconds = seconds_of(lambda: model.train(sweeps, workers=1))
    leaves = np.full(counts.shape[0], -1)
    for row, document in zip(rows, model.docs, strict=True):
        nodes, times = np.unique(np.array(document.topics), return_counts=True)
        levels = np.array([model.level(int(node)) for node in nodes])
        deepest = levels == levels.max()  # the leaf, but for a document of which no word has come down to it
        leaves[row] = nodes[deepest][times[deepest].argmax()]
    yield {"seconds": seconds, "labels": leaves.tolist(), "topics": int(model.live_k)}


def hlda_sweeps(counts: sparse.csr_array, n_threads: int) -> Iterator[dict]:
    """Time sweeps of HLDA with one worker and with all: its threads wait for each other."""
    for workers in sorted({1, n_threads}):
        yield {"workers": workers, **_timed(_hlda(counts, 1)[0], workers, TIMED if workers == 1 else WARM_UP)}


def hpa_sweeps(counts: sparse.csr_array, n_threads: int) -> Iterator[dict]:
    """Time sweeps of HPA with a few topics above many."""
    for workers in sorted({1, n_threads}):
        model = tomotopy.HPAModel(k1=UPPER, k2=LOWER, min_cf=0, rm_top=0, seed=1)
        _add(model, counts)
        yield {"workers": workers, **_timed(model, workers, WARM_UP)}


def _timed(model: tomotopy.LDAModel, workers: int, sweeps: int) -> dict:
    train: Callable[[int], None] = lambda n: model.train(n, workers=workers)  # noqa: E731
    train(WARM_UP)
    return {"seconds": seconds_of(lambda: train(sweeps)) / sweeps, "sweeps": sweeps}


def _hlda(counts: sparse.csr_array, seed: int) -> tuple[tomotopy.HLDAModel, list[int]]:
    model = tomotopy.HLDAModel(depth=DEPTH, alpha=ALPHA, eta=ETA, min_cf=0, rm_top=0, seed=seed + 1)
    return model, _add(model, counts)


def _add(model: tomotopy.LDAModel, counts: sparse.csr_array) -> list[int]:
    """Give the model all documents that have words, and return which these are."""
    from benchmarks.systems.tomotopy_lda import words_of_documents

    rows = []
    for row, words in enumerate(words_of_documents(counts)):
        if words:
            model.add_doc(words)
            rows.append(row)
    return rows
