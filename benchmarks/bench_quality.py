"""Whose topics predict unseen words best? Document completion, 64 components, two collections, with times."""

from __future__ import annotations

from benchmarks.completion import trajectories
from benchmarks.settings import Settings

COLLECTIONS = ("20newsgroups", "arxiv-demo")
N_COMPONENTS = 64
N_THREADS = 2
CHECKPOINTS = {
    "topiarist": [100, 200, 400],
    "tomotopy-lda": [400, 800],
    "bigartm-smoothed": [100, 200],
    "sklearn-lda-online": [10],
    "sklearn-lda-batch": [20],
    "gensim-multicore": [10],
}


def main(settings: Settings) -> dict:
    """Train every system on every collection, one after the other."""
    checkpoints = settings.shortened(CHECKPOINTS)
    return {
        "collections": {
            name: trajectories("quality", name, checkpoints, N_COMPONENTS, N_THREADS, settings) for name in COLLECTIONS
        }
    }
