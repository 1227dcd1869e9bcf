"""How much is done, and how long the rest will take: estimated from this very run, never from a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

TOLD_FROM = 0.1  # of the work: before, nobody knows
LARGEST_JUMP = 1.5
LATE = 2.0  # times what was told have passed without news: it was wrong
ONE_BY_ONE = 32  # leaves up to which a step adds one, then more
LEAST_GAIN = 0.01  # of each leaf, at which growing ends
WINDOW = 4  # leaves over which a gain is looked at
MOST_LEAVES = 512
FITTING = 0.25  # of the work is done when there are no more leaves: the tree is fitted patiently, to all words


class Remaining:
    """Seconds that are left, told only when a tenth is done; they never jump up by more than half."""

    def __init__(self) -> None:
        self._share = 0.0
        self._left: float | None = None
        self._at = 0.0

    @property
    def share(self) -> float:
        """How much is done; it never falls."""
        return self._share

    def update(self, elapsed: float, share: float) -> None:
        """So much is done after so many seconds."""
        self._share = max(self._share, min(share, 1.0))
        if self._share < TOLD_FROM:
            return
        left = elapsed * (1.0 - self._share) / self._share
        shown = self.left(elapsed)
        self._left = left if shown is None else min(left, LARGEST_JUMP * shown)
        self._at = elapsed

    def left(self, elapsed: float) -> float | None:
        """Seconds that are left now; None if that is not known.

        Without news they do not fall below half, and when twice as long has passed as was told nobody knows.
        """
        if self._left is None or elapsed - self._at > LATE * self._left:
            return None
        return max(self._left / 2, self._left - (elapsed - self._at))


def growth_share(n_leaves: Sequence[int], criterion: Sequence[float], goal: int | None) -> float:
    """How much of the work is done when a tree has grown so far.

    A step takes as long as there are leaves. Without a goal, growing ends when a leaf gains less than one hundredth of
    all that was gained; gains are taken to fall as those of a logarithm do.
    """
    now = n_leaves[-1]
    end = float(goal or _expected_end(n_leaves, criterion))
    return (1.0 - FITTING) * min(_work(now) / max(_work(end), 1e-9), 1.0)


def _work(leaves: float) -> float:
    slow = min(leaves, ONE_BY_ONE)
    return slow * slow / 2 + ONE_BY_ONE * (leaves - slow)


def _expected_end(n_leaves: Sequence[int], criterion: Sequence[float]) -> float:
    now, usual = n_leaves[-1], 30.0
    earlier = [place for place, leaves in enumerate(n_leaves) if leaves <= now - WINDOW]
    if not earlier:
        return usual
    first, before, last = (-math.log(max(criterion[place], 1e-300)) for place in (0, earlier[-1], -1))
    each = (last - before) / ((now - n_leaves[earlier[-1]]) * max(last - first, 1e-12))
    wanted = max(each, LEAST_GAIN) / LEAST_GAIN * now * math.log(max(now, 2))
    end = float(now)
    while end * math.log(max(end, 2.0)) < wanted and end < MOST_LEAVES:
        end *= 1.05
    return min(end, MOST_LEAVES)
