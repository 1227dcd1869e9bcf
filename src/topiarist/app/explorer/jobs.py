"""A fit that runs beside the pages: how far it is, how it is stopped, and how it ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from topiarist.app.remaining_time import Remaining
from topiarist.app.words import counted, time_left
from topiarist.estimators.common.progress import Watching

Phase = Literal["none", "running", "done", "stopped", "failed"]


@dataclass(frozen=True, kw_only=True)
class JobPage:
    """How the fit goes, or how the last one ended."""

    phase: Phase
    sentence: str
    running: bool = False
    stoppable: bool = False  # steps are to come, and nobody has stopped it yet
    iteration: int = 0
    about: int | None = None  # iterations in all, once that can be told
    left: float | None = None  # seconds, likewise
    seconds: float = 0.0
    error: str = ""


class Job(Watching):
    """A fit, told by the thread that does it and looked at by requests."""

    def __init__(self, began: Callable[[], Any] = lambda: None) -> None:
        """``began`` is called when the first step is done: nobody else can change the tree from then to the end."""
        self.at, self._began = time.monotonic(), began
        self.iteration = 0
        self.about: int | None = None
        self.error = ""
        self.shown = self.stopped = self.done = self.holds = self.ending = False
        self.recorded = False  # the new tree is on the disk: what is edited now wants another fit
        self._seconds = 0.0
        self._remaining = Remaining()
        self._stop = threading.Event()

    @property
    def elapsed(self) -> float:
        """Seconds until now, or until the end."""
        return self._seconds if self.done else time.monotonic() - self.at

    @property
    def stopping(self) -> bool:
        """Whether somebody wants it to end with what it has."""
        return self._stop.is_set()

    def stop(self) -> None:
        """End after this step; the best so far is kept. After the last step there is nothing to stop."""
        if not self.ending:
            self._stop.set()

    def step(self, done: int, about: int | None) -> None:
        """See ``Watching``."""
        if not self.holds:
            self._began()
            self.holds = True
        self.iteration, self.about = done, about
        if about:
            self._remaining.update(self.elapsed, done / about)
        if self.stopping:
            self.stopped = True
            raise KeyboardInterrupt

    def finishing(self) -> None:
        """See ``Watching``."""
        self.ending = True

    def end(self, error: str = "") -> None:
        """It is over."""
        self.error, self._seconds = error, self.elapsed
        self.done, self.holds = True, False

    def page(self) -> JobPage:
        """What there is to tell now."""
        if self.done:
            phase: Phase = "failed" if self.error else "stopped" if self.stopped else "done"
            return JobPage(
                phase=phase,
                sentence=self._ended(phase),
                running=False,
                stoppable=False,
                iteration=self.iteration,
                about=self.iteration,
                left=None,
                seconds=round(self.elapsed, 1),
                error=self.error,
            )
        left = None if self.ending or self.stopping else self._remaining.left(self.elapsed)
        return JobPage(
            phase="running",
            sentence=self._going(left),
            running=True,
            stoppable=not (self.ending or self.stopping),
            iteration=self.iteration,
            about=self.about,
            left=left,
            seconds=round(self.elapsed, 1),
        )

    def _ended(self, phase: str) -> str:
        if phase == "failed":
            return f"The fit did not work: {self.error}."
        if phase == "done":
            return "The new tree is ready."
        steps = counted(self.iteration, "iteration")
        return f"Stopped after {steps}; the best tree so far is ready."

    def _going(self, left: float | None) -> str:
        if self.ending:
            return "Refitting, last step: topics are described and written."
        if self.stopping:
            return "Stopping after this iteration; the best tree so far is kept."
        if not self.iteration:
            return "Refitting, getting ready."
        about = f" of about {self.about}" if self.about else ""
        return f"Refitting, iteration {self.iteration}{about}{'' if left is None else f', {time_left(left)} left'}."


NO_JOB = JobPage(phase="none", sentence="Nothing is fitted now.")
