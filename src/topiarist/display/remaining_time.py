"""Estimate of the remaining time from the progress of the same run."""

from __future__ import annotations

import math
from collections.abc import Sequence

MIN_REPORTED_SHARE = 0.1  # of the work; estimates before are too uncertain
MAX_JUMP = 1.5
STALE_FACTOR = 2.0  # times the estimate without progress; the estimate is dropped then
MAX_SINGLE_STEPS = 32  # leaves; steps add one leaf up to here, then several
MIN_GAIN = 0.01  # gain of a leaf at which growth ends, as a share of the total gain
WINDOW = 4  # leaves over which the gain is averaged
MAX_LEAVES = 512
FIT_SHARE = 0.25  # of the work; the final fit to all words


class RemainingTime:
    """Estimate of the remaining seconds, available from a tenth of the work; increases by at most half."""

    def __init__(self) -> None:
        self._share = 0.0
        self._left: float | None = None
        self._at = 0.0

    @property
    def share(self) -> float:
        """Share of the work that is done; never decreases."""
        return self._share

    def update(self, elapsed: float, share: float) -> None:
        """Record the share of the work that is done after ``elapsed`` seconds."""
        self._share = max(self._share, min(share, 1.0))
        if self._share < MIN_REPORTED_SHARE:
            return
        left = elapsed * (1.0 - self._share) / self._share
        remaining = self.left(elapsed)
        self._left = left if remaining is None else min(left, MAX_JUMP * remaining)
        self._at = elapsed

    def left(self, elapsed: float) -> float | None:
        """Return the remaining seconds, or None without an estimate.

        Without progress they do not fall below half of the estimate. After twice the estimate they are unknown.
        """
        if self._left is None or elapsed - self._at > STALE_FACTOR * self._left:
            return None
        return max(self._left / 2, self._left - (elapsed - self._at))


def growth_share(n_leaves: Sequence[int], criterion: Sequence[float], goal: int | None) -> float:
    """Return the done share of a grow. Without a goal, the end is estimated from falling gains.

    A step takes time in proportion to the leaves. Without a goal, growth ends if a leaf gains less than one hundredth
    of the total gain. Gains are expected to fall as those of a logarithm.
    """
    now = n_leaves[-1]
    end = float(goal or _expected_end(n_leaves, criterion))
    return (1.0 - FIT_SHARE) * min(_work(now) / max(_work(end), 1e-9), 1.0)


def _work(leaves: float) -> float:
    slow = min(leaves, MAX_SINGLE_STEPS)
    return slow * slow / 2 + MAX_SINGLE_STEPS * (leaves - slow)


def _expected_end(n_leaves: Sequence[int], criterion: Sequence[float]) -> float:
    """Return the number of leaves at which growth is expected to end, from the falling gains."""
    now, usual_leaves = n_leaves[-1], 30.0
    earlier = [place for place, leaves in enumerate(n_leaves) if leaves <= now - WINDOW]
    if not earlier:
        return usual_leaves
    first, earlier_gain, last = (-math.log(max(criterion[place], 1e-300)) for place in (0, earlier[-1], -1))
    gain = (last - earlier_gain) / ((now - n_leaves[earlier[-1]]) * max(last - first, 1e-12))
    expected = max(gain, MIN_GAIN) / MIN_GAIN * now * math.log(max(now, 2))
    end = float(now)
    while end * math.log(max(end, 2.0)) < expected and end < MAX_LEAVES:
        end *= 1.05
    return min(end, MAX_LEAVES)
