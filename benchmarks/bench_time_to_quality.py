"""How soon are we as good as tomotopy's LDA at its best? 20 Newsgroups, 64 components, two threads."""

from __future__ import annotations

from benchmarks.bars import SPEEDUP_TO_QUALITY
from benchmarks.completion import trajectories
from benchmarks.settings import Settings

COLLECTION = "20newsgroups"
N_COMPONENTS = 64
N_THREADS = 2
CHECKPOINTS = {
    "tomotopy-lda": [50, 100, 200, 400],
    "topiarist": [10, 12, 14, 16, 18, 20, 25, 30, 40, 50, 75, 100, 150, 200],
}
RIVAL, OURS = "tomotopy-lda", "topiarist"


def main(settings: Settings) -> dict:
    """Follow both systems down their perplexities and compare the times at equal quality."""
    result = trajectories(
        "time_to_quality", COLLECTION, settings.shortened(CHECKPOINTS), N_COMPONENTS, N_THREADS, settings
    )
    rows = result["rows"]
    goal = sorted(rows.get(RIVAL, {}).get("points", []), key=lambda point: point["perplexity"])[:1]
    reached = [
        point for point in rows.get(OURS, {}).get("points", []) if goal and point["perplexity"] <= goal[0]["perplexity"]
    ]
    return result | {
        "bar": SPEEDUP_TO_QUALITY,
        "goal": goal[0] if goal else None,
        "reached": reached[0] if reached else None,
    }
