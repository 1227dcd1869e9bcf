"""How far something is, for commands that have one thing to do."""

from __future__ import annotations

import time
from typing import Self

from rich.progress import Progress

from topiarist.app.cli.terminal.console import Console

PATIENCE = 2.0  # seconds before it is worth telling how far it is


class Bar:
    """How far a report is, on a terminal, if it takes longer than a moment."""

    def __init__(self, name: str) -> None:
        self.name, self.began, self.bar = name, time.monotonic(), Progress(console=Console(stderr=True), transient=True)

    def __enter__(self) -> Self:
        return self

    def __call__(self, done: int, total: int) -> None:
        """So much is done."""
        if not self.bar.console.is_terminal or time.monotonic() - self.began < PATIENCE:
            return
        if not self.bar.tasks:
            self.bar.add_task(self.name, total=total)
            self.bar.start()
        self.bar.update(self.bar.tasks[0].id, completed=done)

    def __exit__(self, *_: object) -> None:
        self.bar.stop()
