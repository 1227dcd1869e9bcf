"""One process per system: JSON requests on standard input, JSON replies on standard output, a line each.

``python -m benchmarks.worker tomotopy-lda``. Whatever a library prints goes to standard error. A request is
an object with ``do`` and the arguments of one of the ``ACTIONS``; a failing action replies ``{"error": ...}``
and the process lives on.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from importlib import metadata

import numpy as np

from benchmarks import memory
from benchmarks.data import load
from benchmarks.paths import REPOSITORY
from benchmarks.scoring import completion_perplexity
from benchmarks.systems import SYSTEMS, System
from benchmarks.timing import running, seconds_of

Replies = Iterator[dict[str, object]]


class Worker:
    """A system with what it has prepared so far; every public method is an action."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.timer: Callable[[], float] | None = None

    def versions(self) -> Replies:
        """Say which versions of the system's packages run here."""
        packages = (*self.system.packages, "numpy", "scipy")
        yield {"versions": {name: metadata.version(name) for name in packages}}

    def prepare(self, counts: str, n_components: int, n_threads: int) -> Replies:
        """Load counts and make everything ready for timing passes."""
        timer = self.system.function("pass_timer")
        self.timer = running(timer(load(counts), n_components, n_threads))
        yield {"ready": True}

    def time_pass(self) -> Replies:
        """Measure once more; reply with the best estimate so far and the time this round took."""
        estimates: list[float] = []
        spent = seconds_of(lambda: estimates.append(self.timer()))
        seconds = estimates[0] if math.isfinite(estimates[0]) else None
        runs = {str(n): taken for n, taken in getattr(self.timer, "shortest", {}).items()}
        yield {"seconds": seconds, "spent": spent, "runs": runs}

    def complete(self, files: dict[str, str], n_components: int, n_threads: int, checkpoints: list[int]) -> Replies:
        """Train; reply at every checkpoint with the training time and the document-completion perplexity."""
        train, observed, scored = (load(files[part]) for part in ("train", "observed", "scored"))
        take = self.system.function("snapshots")
        for shot in take(train, observed, n_components, n_threads, checkpoints):
            perplexity = completion_perplexity(scored, shot.component_given_doc, shot.word_given_component)
            yield {"iterations": shot.iterations, "seconds": shot.seconds, "perplexity": perplexity}

    def clusters(self, counts: str, seed: int, n_threads: int, **options: int) -> Replies:
        """Fit; reply with the seconds and the cluster of each document."""
        yield from self.system.function("clusters")(load(counts), seed, n_threads, **options)

    def sweeps(self, counts: str, n_threads: int) -> Replies:
        """Reply with the seconds of a sweep, for one worker and for several."""
        yield from self.system.function("sweeps")(load(counts), n_threads)

    def from_texts(self, seed: int, n_threads: int) -> Replies:
        """Read, count and fit; reply with the seconds."""
        yield from self.system.function("from_texts")(seed, n_threads)

    def fit_digest(self, counts: str, n_components: int, n_threads: int, max_iter: int) -> Replies:
        """Fit ours and reply with a digest of the learned bits."""
        from benchmarks import ours

        model = ours.estimator(n_components, n_threads, max_iter).fit(load(counts))
        yield {"digest": hashlib.sha256(np.ascontiguousarray(model.components_).tobytes()).hexdigest()}

    def fit_memory(self, counts: str, n_components: int, n_threads: int, max_iter: int) -> Replies:
        """Fit ours and reply with the peak memory that counts and fit took beyond an idle, warm process.

        The counts come in the type that the fit works in; others are converted, which takes a copy of their values.
        """
        from benchmarks import ours

        ours.warm_up(n_components, n_threads)
        before = memory.current()
        matrix = load(counts).astype(np.float32)
        memory.reset_peak()
        ours.estimator(n_components, n_threads, max_iter).fit(matrix)
        yield {"bytes": memory.peak() - before}


ACTIONS = (
    "versions", "prepare", "time_pass", "complete", "clusters", "sweeps", "from_texts", "fit_digest", "fit_memory"
)  # fmt: skip


def serve(system: System) -> None:
    """Answer requests until standard input ends."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = Worker(system)
    for line in sys.stdin:
        request = json.loads(line)
        action = request.pop("do")
        try:
            if action not in ACTIONS:
                raise ValueError(f"unknown action {action!r}: expected one of {', '.join(ACTIONS)}")
            for reply in getattr(worker, action)(**request):
                print(json.dumps(reply), file=replies, flush=True)
        except Exception as error:
            message = f"{type(error).__name__}: {error}".replace(f"{REPOSITORY}/", "")
            print(json.dumps({"error": message}), file=replies, flush=True)
        print(json.dumps({"done": action}), file=replies, flush=True)


if __name__ == "__main__":
    serve(SYSTEMS[sys.argv[1]])
