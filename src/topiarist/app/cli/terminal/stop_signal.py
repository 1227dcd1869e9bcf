"""Ctrl-C while a tree grows: once to stop after this step and keep the best tree so far, twice to stop at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

STOPPING = "Stopping after this step; the best tree so far is kept. Again to stop at once."
FINISHING = "Stopping when this is written, in a moment. Again to stop at once."


class AtOnceError(BaseException):
    """Ctrl-C for the second time: unlike the first it is nobody's to catch on the way."""


@dataclass
class Stop:
    """Whether somebody wants to stop, and how that is done in the phase at hand.

    ``phase``: "begin" (nothing to keep: stop at once), "grow" (after this step), "finish" (when all is written).
    """

    phase: str = "begin"
    wanted: bool = False

    def check(self) -> None:
        """Stop here, between two steps, if somebody wants to."""
        if self.wanted:
            raise KeyboardInterrupt


@contextmanager
def stoppable(say: Callable[[str], None], stop: Stop) -> Iterator[None]:
    """Ctrl-C as described above, within the block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def pressed(_: int, __: Any) -> None:
        if stop.wanted:
            raise AtOnceError
        stop.wanted = True
        if stop.phase == "begin":
            raise KeyboardInterrupt
        say(STOPPING if stop.phase == "grow" else FINISHING)

    before = signal.signal(signal.SIGINT, pressed)
    try:
        yield
    except AtOnceError:
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, before)
