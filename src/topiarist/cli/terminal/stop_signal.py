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
    """Second Ctrl-C, which no handler on the way catches."""


@dataclass
class Stop:
    """State of an interrupt. Phases: begin (stop at once), grow (after this step), finish (after the last write)."""

    phase: str = "begin"
    is_requested: bool = False

    def check(self) -> None:
        if self.is_requested:
            raise KeyboardInterrupt


@contextmanager
def handle_interrupts(say: Callable[[str], None], stop: Stop) -> Iterator[None]:
    """Handle Ctrl-C within a block: the first stops after this step, the second at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle_signal(_: int, __: Any) -> None:
        if stop.is_requested:
            raise AtOnceError
        stop.is_requested = True
        if stop.phase == "begin":
            raise KeyboardInterrupt
        say(STOPPING if stop.phase == "grow" else FINISHING)

    previous_handler = signal.signal(signal.SIGINT, handle_signal)
    try:
        yield
    except AtOnceError:
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, previous_handler)
