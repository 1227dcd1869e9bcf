"""What a grow says on the way: a line that keeps changing on a terminal, plain lines elsewhere, or JSON lines."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from rich.cells import cell_len
from rich.live import Live
from rich.text import Text

from topiarist.app.cli.terminal.console import Console
from topiarist.app.cli.terminal.stop_signal import Stop
from topiarist.app.remaining_time import Remaining, growth_share
from topiarist.app.words import clock, one_line, size
from topiarist.collection import FEWEST_TO_JUDGE, Teller, memory_shortage
from topiarist.counts.corpus import Corpus
from topiarist.errors import ResourceError
from topiarist.hierarchy.growth.loop import Record

EVERY = 30.0  # seconds between two lines where there is no terminal
LABEL, LONGEST_BAR, SHORTEST_BAR, ROOMY = 24, 27, 8, 100
PHASES = {"Reading": "begin", "Growing the tree": "grow"}
log = logging.getLogger("topiarist.grow")
_now = time.monotonic


@dataclass
class Phase:
    """What is being done."""

    name: str
    began: float = field(default_factory=lambda: _now())
    remaining: Remaining = field(default_factory=Remaining)
    detail: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return _now() - self.began

    def timing(self) -> str:
        """The time spent and, when that is known, the time left."""
        left = self.remaining.left(self.elapsed)
        return clock(self.elapsed) + (f", about {clock(left)} left" if left is not None else "")


class Progress(Teller):
    """Follows the phases; those who show them say how. Without anybody who does, nothing is shown."""

    def __init__(self, stop: Stop, goal: int | None = None, reading: str = "") -> None:
        self.stop, self.goal, self.title = stop, goal, reading
        self.now: Phase | None = None
        self.n_docs = 0
        self.seconds: dict[str, float] = {}
        self.share_read: Callable[[], float | None] = lambda: None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def phase(self, text: str) -> None:
        """A new phase begins."""
        self._end()
        self.stop.phase = PHASES.get(text, "finish")
        self.now = Phase(f"Reading {self.title}" if text == "Reading" and self.title else text)
        log.info("%s", self.now.name)
        self.begun(self.now)

    def reading(self, number: int) -> None:
        """So many documents have been read."""
        self.n_docs = number
        if self.now is None:
            return
        share = self.share_read()
        if share is not None:
            self.now.remaining.update(self.now.elapsed, share)
        self._moved(f"{number:,} documents", documents=number)

    def doing(self, text: str) -> None:
        """What is done now in the phase."""
        self._moved(text)

    def counted(self, corpus: Corpus, *, in_blocks: bool = False) -> None:
        """All is counted: refuse to grow what would not fit, rather than to swap."""
        self.n_docs = corpus.n_docs
        if not in_blocks and (short := memory_shortage(corpus, self.goal)):
            raise ResourceError(
                f"growing this collection needs about {size(short.needed)} of memory, {size(short.free)} are free",
                hint=f"--memory {size(short.free / 4).replace(' ', '')}, --limit {short.documents_that_fit} or "
                "--min-documents 10",
            )

    def grown(self, record: Record) -> None:
        """The tree has grown a little; this is where Ctrl-C is heard."""
        leaves, perplexity = record.n_leaves[-1], record.perplexity
        if self.now is not None:
            self.now.remaining.update(self.now.elapsed, growth_share(record.n_leaves, record.criterion, self.goal))
            known: dict[str, Any] = {"topics": leaves}
            told = f"{leaves:,} of {self.goal:,} topics" if self.goal else f"{leaves:,} topics"
            if self.n_docs >= FEWEST_TO_JUDGE:
                falling = len(perplexity) < 2 or perplexity[-1] <= max(perplexity[-2:])
                told += f"   held-out perplexity {perplexity[-1]:,.0f} {'↓' if falling else '↑'}"
                known["perplexity"] = round(perplexity[-1], 1)
            self._moved(told, **known)
        self.stop.check()

    def said(self, text: str) -> None:
        """A finding of the phase."""
        log.info("%s", text)
        self.found(text)

    def _moved(self, detail: str, **known: Any) -> None:
        if self.now is not None:
            self.now.detail, self.now.facts = detail, known
            log.debug("%s: %s", self.now.name, detail)
            self.moved(self.now)

    def _end(self) -> None:
        if self.now is not None:
            phase, self.now = self.now, None
            self.seconds[phase.name.split()[0].lower()] = round(phase.elapsed, 3)
            self.ended(phase)

    def begun(self, phase: Phase) -> None:
        """A phase has begun."""

    def moved(self, phase: Phase) -> None:
        """There is something new in a phase."""

    def found(self, text: str) -> None:
        """There is something to say."""

    def ended(self, phase: Phase) -> None:
        """A phase has ended."""

    def say(self, text: str) -> None:
        """A word to the person, at once."""
        sys.stderr.write(f"{text}\n")


class Lines(Progress):
    """One line for each phase, and one every thirty seconds."""

    def __init__(self, console: Console, *given: Any) -> None:
        super().__init__(*given)
        self.console = console
        self._last = _now()
        self._ticking = threading.Event()

    def __enter__(self) -> Progress:
        threading.Thread(target=self._tick, daemon=True, name="progress").start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._ticking.set()
        super().__exit__(*raised)

    def begun(self, phase: Phase) -> None:
        """Its name."""
        self._print(f"{one_line(phase.name)} …")

    def found(self, text: str) -> None:
        """A line of its own."""
        self._print(f"  {text}")

    def ended(self, phase: Phase) -> None:
        """What came of it, and how long it took."""
        self._print(f"  {phase.detail or 'done'}   {clock(phase.elapsed)}")

    def _tick(self) -> None:
        while not self._ticking.wait(1.0):
            self.remind()

    def remind(self) -> None:
        """How far the phase is, if nothing was said for a while."""
        phase = self.now
        if phase is not None and _now() - self._last >= EVERY:
            self._print(f"  {phase.detail + '   ' if phase.detail else ''}{phase.timing()}")

    def _print(self, text: str) -> None:
        self._last = _now()
        self.console.print(Text(text), soft_wrap=True)


class Events(Progress):
    """Every event as a JSON object on a line of standard error."""

    _last = 0.0

    def begun(self, phase: Phase) -> None:
        """Its name."""
        self._print("phase", phase=phase.name)

    def moved(self, phase: Phase) -> None:
        """How far it is; of documents that are read not more than once a second."""
        if "documents" in phase.facts and _now() - self._last < 1.0:
            return
        self._last = _now()
        left = phase.remaining.left(phase.elapsed)
        known = {"seconds": round(phase.elapsed, 3), "left": None if left is None else round(left, 1)}
        self._print("progress", phase=phase.name, **phase.facts, **known)

    def found(self, text: str) -> None:
        """A finding."""
        self._print("said", text=text)

    def ended(self, phase: Phase) -> None:
        """How long it took."""
        self._print("done", phase=phase.name, **phase.facts, seconds=round(phase.elapsed, 3))

    def say(self, text: str) -> None:
        """A word to the person."""
        self._print("said", text=text)

    def _print(self, event: str, **known: Any) -> None:
        sys.stderr.write(json.dumps({"event": event, **known}) + "\n")
        sys.stderr.flush()


class Screen(Progress):
    """A line at the bottom of a terminal that keeps changing, and lines above it that stay."""

    def __init__(self, console: Console, *given: Any) -> None:
        super().__init__(*given)
        self.console = console
        self._live = Live(console=console, transient=True, refresh_per_second=5, get_renderable=self._line)

    def __enter__(self) -> Progress:
        self._live.start()
        return self

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)
        self._live.stop()

    def begun(self, phase: Phase) -> None:
        """What is read is a heading; the other phases are one line each."""
        if phase.name.startswith("Reading"):
            self.console.print(Text(one_line(phase.name)), no_wrap=True, overflow="ellipsis")

    def found(self, text: str) -> None:
        """Below the heading, with the time that it took."""
        spent = "" if self.now is None else clock(self.now.elapsed)
        gap = self.console.width - 1 - 2 - cell_len(text) - len(spent)
        self.console.print(Text.assemble(f"  {text}", (" " * gap + spent if gap > 1 else "", "dim")))

    def ended(self, phase: Phase) -> None:
        """The line as it stands at the end stays."""
        if not phase.name.startswith("Reading"):
            self.console.print(line(phase, self.console.width, done=True), no_wrap=True, overflow="crop")

    def say(self, text: str) -> None:
        """Above the line."""
        self.console.print(Text(text, style="bold"))

    def _line(self) -> Text:
        phase = self.now
        return Text("") if phase is None else line(phase, self.console.width)


def line(phase: Phase, width: int, *, done: bool = False) -> Text:
    """A phase in one line: its name, how far it is, what there is to judge it by, time spent and left."""
    reading = phase.name.startswith("Reading")
    timing = clock(phase.elapsed) if done else phase.timing()
    name = "  " if reading else phase.name.ljust(LABEL if width >= ROOMY else LABEL - 2)
    room = width - 1 - len(name) - len(timing) - 4 - SHORTEST_BAR
    detail = next((one for one in _shorter(phase.detail) if len(one) <= room), "")
    share = 1.0 if done else phase.remaining.share
    bar = "" if reading and not share else _bar(share, min(LONGEST_BAR, room - len(detail) + SHORTEST_BAR))
    gap = max(1, width - 1 - len(name) - len(bar) - 2 - len(detail) - len(timing))
    return Text.assemble(name, (bar, "green"), "  " if bar else "", detail, " " * gap, (timing, "dim"))


def _shorter(detail: str) -> Iterator[str]:
    """What there is to say, in fewer and fewer words."""
    yield detail
    yield detail.replace("held-out ", "").replace("   ", "  ")
    yield detail.split("   ")[0]


def _bar(share: float, length: int) -> str:
    full = round(share * length)
    return "━" * full + "╌" * (length - full)
