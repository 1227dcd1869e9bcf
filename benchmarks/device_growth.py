"""A tree grown on a CUDA device against two threads of its host: ``python -m benchmarks.device_growth``.

``CAM(random_state=0).fit`` of the 192,132 abstracts of arXiv 2011 to 2013, or of the counts in a file (``--counts``, as
``benchmarks.data.save`` writes them). Each line is JSON: a fit, with its seconds by part; the last has both and their
ratio. The first fit on a device compiles and is told apart; ``--fits`` more follow, of which the median counts. Beside
the device, as without it, two threads of the host work (``--threads``).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np

from benchmarks import bars, data

COLLECTION = "arxiv-2011-2013"


class Clock:
    """Seconds by part; a part within another is taken out of it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._open: list[str] = []

    def timed(self, part: str, function: Any) -> Any:
        """The function, watched."""

        @wraps(function)
        def watched(*arguments: Any, **options: Any) -> Any:
            began, above = time.perf_counter(), self._open[-1] if self._open else None
            self._open.append(part)
            try:
                return function(*arguments, **options)
            finally:
                self._open.pop()
                took = time.perf_counter() - began
                self.seconds[part] += took
                if above is not None:
                    self.seconds[above] -= took

        return watched


@contextmanager
def watched_parts() -> Iterator[Clock]:
    """The parts of a fit, each watched while this is open."""
    from topiarist import CAM
    from topiarist.estimators.tree import preparation
    from topiarist.trees.growth import growing_models, guided, loop

    clock, places = Clock(), [
        ("EM on the way", growing_models.CamGrowingModel, "fit"),
        ("judging", growing_models.CamGrowingModel, "evaluate"),
        ("starts of halves", growing_models.CamGrowingModel, "split"),
        ("proposals of splits", guided.GuidedProposer, "propose"),
        ("headings", loop, "add_headings"),
        ("directions of documents", preparation, "compute_document_vectors"),
        ("preparing counts", preparation, "prepare_growth"),
        ("checking counts", CAM, "_counts"),
        ("the fit at the end", CAM, "_learn_words"),
        ("placing all documents", CAM, "_store_tree"),
    ]  # fmt: skip
    before = [getattr(owner, name) for _, owner, name in places]
    try:
        for (part, owner, name), function in zip(places, before, strict=True):
            setattr(owner, name, clock.timed(part, function))
        yield clock
    finally:
        for (_, owner, name), function in zip(places, before, strict=True):
            setattr(owner, name, function)


def fitted(counts: Any, **options: Any) -> dict[str, Any]:
    """One fit: how long it took, and what came of it."""
    from topiarist import CAM

    with watched_parts() as clock:
        began = time.perf_counter()
        model = CAM(random_state=0, **options).fit(counts)
        seconds = time.perf_counter() - began
    curve, parts = model.curve_, {part: round(took, 2) for part, took in clock.seconds.items()}
    return {
        "seconds": seconds, "leaves": len(model.cluster_prior_), "trees": len(curve.n_leaves),
        "perplexity": float(curve.perplexity[curve.place]), "objective": float(model.history_[-1]),
        "parts": {**parts, "other": round(seconds - sum(parts.values()), 2)},
    }  # fmt: skip


def say(what: str, **values: Any) -> None:
    """A line."""
    print(json.dumps({"what": what, **values}), flush=True)


def main() -> None:
    """The device first: its kernels are compiled while nobody waits for figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", help="a file of counts; without it those of the abstracts")
    parser.add_argument("--fits", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--without-host", action="store_true")
    options = parser.parse_args()
    counts = data.load(options.counts or data.counts(COLLECTION))
    counts.data = counts.data.astype(np.float32)
    say("counts", documents=counts.shape[0], words=counts.shape[1], nonzeros=counts.nnz)
    say("device, kernels compiled on the way", **fitted(counts, device="cuda", n_threads=options.threads))
    found = [fitted(counts, device="cuda", n_threads=options.threads) for _ in range(options.fits)]
    for one in found:
        say("device", **one)
    if options.without_host:
        return
    fitted(counts[:2000], n_clusters=4, n_threads=options.threads)
    host = fitted(counts, n_threads=options.threads)
    say(f"{options.threads} threads", **host)
    on_device = statistics.median(one["seconds"] for one in found)
    ratio = host["seconds"] / on_device
    say("growth against two threads", host_s=host["seconds"], device_s=on_device, ratio=ratio, bar=bars.DEVICE_GROWTH)


if __name__ == "__main__":
    main()
