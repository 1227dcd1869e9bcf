"""Clocks: the running estimates of a pass's time, and a stop-watch that evaluation does not run on."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

LEAST_SECONDS = 0.3
ALPHA = 0.1
ETA = 0.01
"""Dirichlet priors of every LDA in the comparison (components of a document, words of a component)."""


@dataclass(frozen=True)
class Snapshot:
    """What a system knows at a checkpoint, and the training seconds it took to get there."""

    iterations: int
    seconds: float
    component_given_doc: np.ndarray
    word_given_component: np.ndarray


def seconds_of(function: Callable[[], object]) -> float:
    """Return the wall-clock seconds of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


@dataclass
class Best:
    """Running minimum of a timer: on a busy machine the least disturbed measurement is the truest."""

    timer: Callable[[], float]
    estimate: float = float("inf")

    def __call__(self) -> float:
        taken = 0.0
        while taken < LEAST_SECONDS:  # fast systems are timed several times a round
            seconds = self.timer()
            self.estimate = min(self.estimate, seconds)
            taken += seconds
        return self.estimate


@dataclass
class Difference:
    """Time of one iteration from runs of ``few`` and ``many`` iterations, for libraries that hide their loop.

    The minimum is kept for either length separately: the minimum of differences would reward a disturbed
    short run. A long run that does not take at least half as long again as a short one measures only the
    disturbances of the set-up, and the estimate is then NaN. The first call also makes one short run that is
    not counted (compilation, first touch of memory).
    """

    run: Callable[[int], object]
    few: int
    many: int
    shortest: dict[int, float] = field(default_factory=dict)

    def __call__(self) -> float:
        if not self.shortest:
            self.run(self.few)
        for n_iterations in (self.few, self.many):
            taken = seconds_of(lambda n=n_iterations: self.run(n))
            self.shortest[n_iterations] = min(taken, self.shortest.get(n_iterations, float("inf")))
        short, long = self.shortest[self.few], self.shortest[self.many]
        return (long - short) / (self.many - self.few) if long > 1.5 * short else float("nan")


def running(timer: Callable[[], float]) -> Callable[[], float]:
    """Return a timer whose every answer is the best estimate so far."""
    return timer if isinstance(timer, Difference) else Best(timer)
