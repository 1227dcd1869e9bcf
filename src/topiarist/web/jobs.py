"""Background job of a server: its progress, its stop and its result."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from topiarist.display.formats import time_left
from topiarist.display.locale.catalogues import CountedNoun, Value, translate
from topiarist.display.remaining_time import RemainingTime
from topiarist.progress import ENDING, STEPS, ProgressEvent, ProgressReporter

Phase = Literal["none", "running", "done", "stopped", "failed"]


# The new fit of a tree, the measurement of the stability of its topics, and the learning of categories.
FIT, CHECK, LEARN = "fit", "check", "learn"
SENTENCES = {
    (FIT, "failed"): "The fit failed: {error}.",
    (FIT, "done"): "The new tree is ready.",
    (FIT, "stopped"): "Stopped after {steps}. The best tree is ready.",
    (FIT, "ending"): "Refitting: describing and saving topics.",
    (FIT, "stopping"): "Stopping after this iteration. The best tree is kept.",
    (FIT, "beginning"): "Refitting: preparing.",
    (FIT, "going"): "Refitting, iteration {number}{about}{left}.",
    (FIT, "shows"): "Pages show the previous tree.",
    (FIT, "changed"): "This page shows it.",
    (CHECK, "failed"): "The measurement failed: {error}.",
    (CHECK, "done"): "Topic stability is ready, on topic pages and under Model.",
    (CHECK, "stopped"): "Stopped after {steps}. Results of these trees are ready.",
    (CHECK, "ending"): "Measuring topic stability: comparing trees.",
    (CHECK, "stopping"): "Stopping after this tree. Results are kept.",
    (CHECK, "beginning"): "Measuring topic stability: preparing.",
    (CHECK, "going"): "Measuring topic stability: tree {number}{about}{left}.",
    (CHECK, "shows"): "The tree does not change.",
    (CHECK, "changed"): "",
    (LEARN, "failed"): "The categories were not learned: {error}.",
    (LEARN, "done"): "The categories are learned.",
    (LEARN, "ending"): "Learning the categories.",
    (LEARN, "shows"): "The tree does not change.",
    (LEARN, "changed"): "",
}


@dataclass(frozen=True, kw_only=True)
class JobPage:
    """Progress of the running job, or the result of the last one."""

    phase: Phase
    sentence: str
    running: bool = False
    stoppable: bool = False  # steps are to come, and nobody has stopped it yet
    iteration: int = 0
    about: int | None = None  # iterations in all, once that can be told
    left: float | None = None  # seconds, likewise
    seconds: float = 0.0
    error: str = ""
    beside: str = ""  # what pages show while it runs, and when it is over


class Job(ProgressReporter):
    """Progress of a fit or another long operation, reported by its thread and read by requests."""

    def __init__(self, began: Callable[[], Any] | None = None, kind: str = FIT) -> None:
        """Start the clock; ``began`` is called after the first step, when no other writer can change the tree."""
        self.at, self._began, self.kind = time.monotonic(), began, kind
        self.iteration = 0
        self.about: int | None = None
        self.error = ""
        self.shown = self.stopped = self.done = self.holds = self.ending = False
        self.recorded = False  # the new tree is on the disk: what is edited now wants another fit
        self._seconds = 0.0
        self._remaining = RemainingTime()
        self._stop = threading.Event()

    @property
    def elapsed(self) -> float:
        return self._seconds if self.done else time.monotonic() - self.at

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def stop(self) -> None:
        """Stop after this step and keep the best result; the last step cannot be stopped."""
        if not self.ending:
            self._stop.set()

    def report(self, event: ProgressEvent) -> None:
        """Record a progress event. Raise KeyboardInterrupt if a user has stopped the job."""
        if event.kind == STEPS:
            self.step(event.done, event.total)
        elif event.kind == ENDING:
            self.finish_steps()

    def step(self, done: int, about: int | None) -> None:
        """Record the number of steps done; raise KeyboardInterrupt if a user has stopped the operation."""
        if self._began is not None and not self.holds:
            self._began()
            self.holds = True
        self.iteration, self.about = done, about
        if about:
            self._remaining.update(self.elapsed, done / about)
        if self.stopping:
            self.stopped = True
            raise KeyboardInterrupt

    def finish_steps(self) -> None:
        """Record that no more steps follow."""
        self.ending = True

    def end(self, error: str = "") -> None:
        self.error, self._seconds = error, self.elapsed
        self.done, self.holds = True, False

    def page(self) -> JobPage:
        """Return the progress of the running job, or its result."""
        if self.done:
            phase: Phase = "failed" if self.error else "stopped" if self.stopped else "done"
            return JobPage(
                phase=phase,
                sentence=self._describe_end(phase),
                iteration=self.iteration,
                about=self.iteration,
                seconds=round(self.elapsed, 1),
                error=self.error,
                beside="" if phase == "failed" else self._describe("changed"),
            )
        left = None if self.ending or self.stopping else self._remaining.left(self.elapsed)
        return JobPage(
            phase="running",
            sentence=self._describe_progress(left),
            running=True,
            stoppable=not (self.ending or self.stopping),
            iteration=self.iteration,
            about=self.about,
            left=left,
            seconds=round(self.elapsed, 1),
            beside=self._describe("shows"),
        )

    def _describe(self, what: str, **values: Value) -> str:
        """Return a sentence of this kind of job; empty if it has none."""
        text = SENTENCES[self.kind, what]
        return translate(SENTENCES[self.kind, what], **values) if text else ""

    def _describe_end(self, phase: str) -> str:
        """Return the result of the ended job in words."""
        if phase == "failed":
            return self._describe("failed", error=self.error)
        if phase == "done":
            return self._describe("done")
        return self._describe("stopped", steps=self._count_steps())

    def _count_steps(self) -> CountedNoun:
        return CountedNoun(self.iteration, "iteration") if self.kind == FIT else CountedNoun(self.iteration, "tree")

    def _describe_progress(self, left: float | None) -> str:
        """Return the progress of the running job in words, with the remaining seconds ``left``."""
        if self.ending:
            return self._describe("ending")
        if self.stopping:
            return self._describe("stopping")
        if not self.iteration:
            return self._describe("beginning")
        return self._describe(
            "going",
            number=str(self.iteration),
            about=translate(" of about {number}", number=str(self.about)) if self.about else "",
            left="" if left is None else translate(", {time} left", time=time_left(left)),
        )


NO_JOB = JobPage(phase="none", sentence="Nothing is fitted now.")
