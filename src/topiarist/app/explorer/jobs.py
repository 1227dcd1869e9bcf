"""A piece of work that runs beside the pages: how far it is, how it is stopped, and how it ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from topiarist.app.languages.catalogues import Counted, Value, worded
from topiarist.app.remaining_time import Remaining
from topiarist.app.words import time_left
from topiarist.estimators.common.progress import Watching

Phase = Literal["none", "running", "done", "stopped", "failed"]


FIT, CHECK = "fit", "check"  # the new fit of a tree, and the check how steady its topics are
SENTENCES = {
    (FIT, "failed"): "The fit did not work: {error}.",
    (FIT, "done"): "The new tree is ready.",
    (FIT, "stopped"): "Stopped after {steps}; the best tree so far is ready.",
    (FIT, "ending"): "Refitting, last step: topics are described and written.",
    (FIT, "stopping"): "Stopping after this iteration; the best tree so far is kept.",
    (FIT, "beginning"): "Refitting, getting ready.",
    (FIT, "going"): "Refitting, iteration {number}{about}{left}.",
    (FIT, "shows"): "These pages show the tree as it was.",
    (FIT, "changed"): "This page shows it.",
    (CHECK, "failed"): "The check did not work: {error}.",
    (CHECK, "done"): "How steady each topic is, is known now: it stands with the topic and under Model.",
    (CHECK, "stopped"): "Stopped after {steps}; what the trees so far say is ready.",
    (CHECK, "ending"): "Growing trees from other halves of the documents, last step: trees are compared.",
    (CHECK, "stopping"): "Stopping after this tree; what the trees so far say is kept.",
    (CHECK, "beginning"): "Growing trees from other halves of the documents, getting ready.",
    (CHECK, "going"): "Growing trees from other halves of the documents, tree {number}{about}{left}.",
    (CHECK, "shows"): "The tree stays as it is.",
    (CHECK, "changed"): "",
}


@dataclass(frozen=True, kw_only=True)
class JobPage:
    """How the work goes, or how the last one ended."""

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


class Job(Watching):
    """A fit, or another long piece of work, told by the thread that does it and looked at by requests."""

    def __init__(self, began: Callable[[], Any] | None = None, kind: str = FIT) -> None:
        """``began`` is called when the first step is done: nobody else can change the tree from then to the end.

        Without it the work changes no tree, and keeps nobody out.
        """
        self.at, self._began, self.kind = time.monotonic(), began, kind
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
        if self._began is not None and not self.holds:
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
                beside="" if phase == "failed" else self._said("changed"),
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
            beside=self._said("shows"),
        )

    def _said(self, what: str, **values: Value) -> str:
        text = SENTENCES[self.kind, what]
        return worded(SENTENCES[self.kind, what], **values) if text else ""

    def _ended(self, phase: str) -> str:
        if phase == "failed":
            return self._said("failed", error=self.error)
        if phase == "done":
            return self._said("done")
        return self._said("stopped", steps=self._steps())

    def _steps(self) -> Counted:
        return Counted(self.iteration, "iteration") if self.kind == FIT else Counted(self.iteration, "tree")

    def _going(self, left: float | None) -> str:
        if self.ending:
            return self._said("ending")
        if self.stopping:
            return self._said("stopping")
        if not self.iteration:
            return self._said("beginning")
        return self._said(
            "going",
            number=str(self.iteration),
            about=worded(" of about {number}", number=str(self.about)) if self.about else "",
            left="" if left is None else worded(", {time} left", time=time_left(left)),
        )


NO_JOB = JobPage(phase="none", sentence="Nothing is fitted now.")
