"""Whose topics predict unseen words best? Document completion, 64 components, two collections, with times."""

from __future__ import annotations

from benchmarks.bars import QUALITY_TIME_SHARE
from benchmarks.completion import trajectories
from benchmarks.settings import Settings

COLLECTIONS = ("20newsgroups", "arxiv-demo")
N_COMPONENTS = 64
N_THREADS = 2
CHECKPOINTS = {
    "topiarist": [10, 15, 20, 30, 50, 100, 200],
    "tomotopy-lda": [200, 400],
    "bigartm-smoothed": [100],
    "gensim-multicore": [5],
    "sklearn-lda-online": [5],
    "sklearn-lda-batch": [10],
}
LDA = ("tomotopy-lda", "gensim-multicore", "sklearn-lda-online", "sklearn-lda-batch")
OURS = "topiarist"


def main(settings: Settings) -> dict:
    """Train every system on every collection, one after the other."""
    checkpoints = settings.shortened(CHECKPOINTS)
    parts = {
        name: trajectories("quality", name, checkpoints, N_COMPONENTS, N_THREADS, settings) for name in COLLECTIONS
    }
    for part in parts.values():
        part |= verdict(part["rows"])
    return {"collections": parts, "bar": QUALITY_TIME_SHARE}


def verdict(rows: dict) -> dict:
    """Return the best perplexity of the LDA peers, their shortest training, and when ours was as good."""
    ends = [row["points"][-1] for name, row in rows.items() if name in LDA and row["points"]]
    if not ends or not rows.get(OURS, {}).get("points"):
        return {}
    best = min(point["perplexity"] for name in LDA for point in rows.get(name, {}).get("points", []))
    reached = [point for point in rows[OURS]["points"] if point["perplexity"] <= best]
    return {
        "best": best,
        "fastest": min(point["seconds"] for point in ends),
        "reached": min(reached, key=lambda point: point["seconds"]) if reached else None,
    }
