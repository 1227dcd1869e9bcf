"""What does a hierarchy cost? A pass with 64 leaves of a balanced tree against one of flat PLSA with K = 64."""

from __future__ import annotations

import statistics

from benchmarks import data, ours, report
from benchmarks.bars import TREE_RATIO
from benchmarks.settings import Settings

COLLECTIONS = ("20newsgroups", "arxiv-demo")
DEPTH = 6
N_COMPONENTS = 2**DEPTH
N_THREADS = 2
PAIRS = 5


def main(settings: Settings) -> dict:
    """Time both passes in turn; what counts is the median of the ratios of neighbours, which share their weather."""
    collections = {}
    for name in COLLECTIONS:
        counts = data.counts(name)
        matrix = data.load(counts)
        flat = ours.one_pass_timer(matrix, N_COMPONENTS, N_THREADS)
        tree = ours.tree_pass_timer(matrix, DEPTH, N_THREADS)
        pairs = [(flat(), tree()) for _ in range(settings.rounds * PAIRS)]
        row = {
            "flat": statistics.median(pair[0] for pair in pairs),
            "tree": statistics.median(pair[1] for pair in pairs),
            "ratio": statistics.median(pair[1] / pair[0] for pair in pairs),
        }
        times = f"flat {report.milliseconds(row['flat'])}, tree {report.milliseconds(row['tree'])}"
        print(f"[tree_pass] {name}: {times}, ratio {row['ratio']:.3f}", flush=True)
        collections[name] = row | {"documents_from": data.provenance(name), "counts": data.describe(counts)}
    return {
        "n_components": N_COMPONENTS,
        "n_nodes": 2 * N_COMPONENTS - 1,
        "n_threads": N_THREADS,
        "bar": TREE_RATIO,
        "collections": collections,
    }
