"""How long and with whom: the options of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Rounds of interleaved timing, the time after which a slow system leaves them, a choice of systems."""

    rounds: int = 7
    scaling_rounds: int = 2
    seconds_per_system: float = 40.0
    only: tuple[str, ...] = ()
    quick: bool = False
    full: bool = False

    def chosen(self, names: Iterable[str]) -> list[str]:
        """Return the names that this run includes, in their order."""
        return [name for name in names if not self.only or name in self.only]

    def shortened(self, checkpoints: dict[str, list[int]]) -> dict[str, list[int]]:
        """Return the checkpoints; in a quick run only a tenth of each system's first one."""
        if not self.quick:
            return checkpoints
        return {name: [max(1, points[0] // 10)] for name, points in checkpoints.items()}
