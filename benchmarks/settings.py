"""How long and with whom: the options of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Rounds of interleaved timing, the time after which a slow system leaves them, a choice of what is measured."""

    rounds: int = 7
    scaling_rounds: int = 2
    seconds_per_system: float = 40.0
    only: tuple[str, ...] = ()
    quick: bool = False
    full: bool = False
    collections: tuple[str, ...] = ()
    labels: tuple[int | None, ...] = ()  # of a class; None is all
    draws: int | None = None  # of labels, runs of a review, or queries
    folder: str = ""  # of a large collection
    processes: int = 1
    go_on: bool = False

    def of_collections(self, names: Iterable[str]) -> list[str]:
        """Return the collections that this run includes, in their order."""
        return [name for name in names if not self.collections or name in self.collections]

    def chosen(self, names: Iterable[str]) -> list[str]:
        """Return the names that this run includes, in their order."""
        return [name for name in names if not self.only or name in self.only]

    def shortened(self, checkpoints: dict[str, list[int]]) -> dict[str, list[int]]:
        """Return the checkpoints; in a quick run only a tenth of each system's first one."""
        if not self.quick:
            return checkpoints
        return {name: [max(1, points[0] // 10)] for name, points in checkpoints.items()}
