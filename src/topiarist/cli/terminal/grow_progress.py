"""Progress of a grow: a changing line on a terminal, plain lines elsewhere, or JSON lines."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from rich.cells import cell_len
from rich.live import Live
from rich.text import Text

from topiarist.cli.terminal.console import Console
from topiarist.cli.terminal.stop_signal import Stop
from topiarist.collection.describe.topic_tree import MIN_DOCUMENTS_TO_EVALUATE
from topiarist.collection.grow.estimate import find_memory_shortage
from topiarist.display.formats import clock, one_line, size
from topiarist.display.remaining_time import RemainingTime, growth_share
from topiarist.errors import ResourceError
from topiarist.progress import DETAIL, GROWTH, NOTE, PHASE, READ, SIZES, ProgressEvent, ProgressReporter
from topiarist.trees.growth.loop import Record

LINE_INTERVAL = 30.0  # seconds between two lines where there is no terminal
LABEL, LONGEST_BAR, SHORTEST_BAR, ROOMY = 24, 27, 8, 100
PHASES = {"Reading": "begin", "Growing the tree": "grow"}
log = logging.getLogger("topiarist.grow")
_now = time.monotonic


@dataclass
class Phase:
    """The current phase of a grow."""

    name: str
    began: float = field(default_factory=lambda: _now())
    remaining: RemainingTime = field(default_factory=RemainingTime)
    detail: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def elapsed(self) -> float:
        """Seconds since the phase began."""
        return _now() - self.began

    def timing(self) -> str:
        """Return the time spent and, if it is known, the time left."""
        left = self.remaining.left(self.elapsed)
        return clock(self.elapsed) + (f", about {clock(left)} left" if left is not None else "")


class Progress(ProgressReporter):
    """Reporter of a grow that follows its phases and shows nothing; its subclasses show them."""

    def __init__(self, stop: Stop, goal: int | None = None, reading: str = "") -> None:
        """Set the state; ``goal`` is the number of topics, ``reading`` the name of the source."""
        self.stop, self.goal, self.title = stop, goal, reading
        self.now: Phase | None = None
        self.n_docs = 0
        self.seconds: dict[str, float] = {}
        self.share_read: Callable[[], float | None] = lambda: None
        self.find_slow_file: Callable[[], tuple[str, float] | None] = lambda: None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_phase()

    def report(self, event: ProgressEvent) -> None:
        """Pass an event to the method of its kind. Stop the grow if memory is short."""
        if event.kind == PHASE:
            self._begin_phase(event.text)
        elif event.kind == NOTE:
            log.info("%s", event.text)
            self.show_note(event.text)
        elif event.kind == READ:
            self.n_docs = event.done
            self._update(f"{event.done:,} documents", self.share_read(), documents=event.done)
        elif event.kind == SIZES:
            self._check_memory(event.sizes)
        elif event.kind == GROWTH:
            self._update_growth(event.record)
        elif event.kind == DETAIL:
            self._update(event.text)

    def name_slow_file(self, phase: Phase) -> Phase:
        """Return a phase of reading with the name of a file that takes long; other phases as they are."""
        slow = self.find_slow_file() if phase.name.startswith("Reading") else None
        if slow is None:
            return phase
        return replace(phase, detail=f"{phase.detail or 'no documents yet'}   {one_line(slow[0])}: {clock(slow[1])}")

    def _begin_phase(self, name: str) -> None:
        """End the current phase, begin one and show it. Tell the interrupt state which phase it is."""
        self._end_phase()
        self.stop.phase = PHASES.get(name, "finish")
        self.now = Phase(f"Reading {self.title}" if name == "Reading" and self.title else name)
        log.info("%s", self.now.name)
        self.show_beginning(self.now)

    def _end_phase(self) -> None:
        """End the current phase, record its seconds and show its end."""
        if self.now is not None:
            phase, self.now = self.now, None
            self.seconds[phase.name.split()[0].lower()] = round(phase.elapsed, 3)
            self.show_end(phase)

    def _update(self, detail: str, share: float | None = None, **facts: Any) -> None:
        """Set detail and done share of the current phase, log and show them."""
        if self.now is None:
            return
        if share is not None:
            self.now.remaining.update(self.now.elapsed, share)
        self.now.detail, self.now.facts = detail, facts
        log.debug("%s: %s", self.now.name, detail)
        self.show_change(self.now)

    def _check_memory(self, sizes: Mapping[str, int]) -> None:
        """Record the number of documents. Raise ResourceError if the tree does not fit into memory."""
        self.n_docs = sizes["documents"]
        short = None if sizes["in_blocks"] else find_memory_shortage(sizes, self.goal)
        if short:
            raise ResourceError(
                f"growing this collection needs about {size(short.needed)} of memory, {size(short.free)} are free",
                hint=f"Use --memory {size(short.free / 4).replace(' ', '')}, --limit {short.documents_that_fit} or "
                "min-documents = 10 in topiarist.toml.",
            )

    def _update_growth(self, record: Record) -> None:
        """Show topics and perplexity. Stop the grow if the user has asked for it."""
        leaves, perplexity = record.n_leaves[-1], record.perplexity
        facts: dict[str, Any] = {"topics": leaves}
        detail = f"{leaves:,} of {self.goal:,} topics" if self.goal else f"{leaves:,} topics"
        if self.n_docs >= MIN_DOCUMENTS_TO_EVALUATE:
            falling = len(perplexity) < 2 or perplexity[-1] <= max(perplexity[-2:])
            detail += f"   held-out perplexity {perplexity[-1]:,.0f} {'↓' if falling else '↑'}"
            facts["perplexity"] = round(perplexity[-1], 1)
        self._update(detail, growth_share(record.n_leaves, record.criterion, self.goal), **facts)
        self.stop.check()

    def show_beginning(self, phase: Phase) -> None:
        """Show a phase that has begun."""

    def show_change(self, phase: Phase) -> None:
        """Show the progress of a phase."""

    def show_note(self, text: str) -> None:
        """Show a result."""

    def show_end(self, phase: Phase) -> None:
        """Show a phase that has ended."""

    def print_message(self, text: str) -> None:
        """Print a message to the user at once."""
        sys.stderr.write(f"{text}\n")


class Lines(Progress):
    """One line for each phase, and one every thirty seconds."""

    def __init__(self, console: Console, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.console = console
        self._last = _now()
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        threading.Thread(target=self._tick, daemon=True, name="progress").start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._ended.set()
        super().__exit__(*failure)

    def show_beginning(self, phase: Phase) -> None:
        self._print(f"{one_line(phase.name)} …")

    def show_note(self, text: str) -> None:
        self._print(f"  {text}")

    def show_end(self, phase: Phase) -> None:
        self._print(f"  {phase.detail or 'done'}   {clock(phase.elapsed)}")

    def _tick(self) -> None:
        while not self._ended.wait(1.0):
            self.remind()

    def remind(self) -> None:
        """Print the progress of the phase if no line was printed for thirty seconds."""
        phase = self.now
        if phase is not None and _now() - self._last >= LINE_INTERVAL:
            phase = self.name_slow_file(phase)
            self._print(f"  {phase.detail + '   ' if phase.detail else ''}{phase.timing()}")

    def _print(self, text: str) -> None:
        self._last = _now()
        self.console.print(Text(text), soft_wrap=True)


class Events(Progress):
    """Every event as a JSON object on a line of standard error."""

    _last = 0.0

    def show_beginning(self, phase: Phase) -> None:
        self._print("phase", phase=phase.name)

    def show_change(self, phase: Phase) -> None:
        """Print the progress as JSON; while reading, at most once a second."""
        if "documents" in phase.facts and _now() - self._last < 1.0:
            return
        self._last = _now()
        left = phase.remaining.left(phase.elapsed)
        facts = {"seconds": round(phase.elapsed, 3), "left": None if left is None else round(left, 1)}
        self._print("progress", phase=phase.name, **phase.facts, **facts)

    def show_end(self, phase: Phase) -> None:
        self._print("done", phase=phase.name, **phase.facts, seconds=round(phase.elapsed, 3))

    def print_message(self, text: str) -> None:
        self._print("said", text=text)

    show_note = print_message

    def _print(self, event: str, **facts: Any) -> None:
        sys.stderr.write(json.dumps({"event": event, **facts}) + "\n")
        sys.stderr.flush()


class Screen(Progress):
    """A changing line at the bottom of a terminal, below lines that stay."""

    def __init__(self, console: Console, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.console = console
        self._live = Live(console=console, transient=True, refresh_per_second=5, get_renderable=self._line)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *failure: object) -> None:
        super().__exit__(*failure)
        self._live.stop()

    def show_beginning(self, phase: Phase) -> None:
        if phase.name.startswith("Reading"):
            self.console.print(Text(one_line(phase.name)), no_wrap=True, overflow="ellipsis")

    def show_note(self, text: str) -> None:
        elapsed_text = "" if self.now is None else clock(self.now.elapsed)
        gap = self.console.width - 1 - 2 - cell_len(text) - len(elapsed_text)
        self.console.print(Text.assemble(f"  {text}", (" " * gap + elapsed_text if gap > 1 else "", "dim")))

    def show_end(self, phase: Phase) -> None:
        if not phase.name.startswith("Reading"):
            self.console.print(line(phase, self.console.width, done=True), no_wrap=True, overflow="crop")

    def print_message(self, text: str) -> None:
        self.console.print(Text(text, style="bold"))

    def _line(self) -> Text:
        phase = self.now
        return Text("") if phase is None else line(self.name_slow_file(phase), self.console.width)


def line(phase: Phase, width: int, *, done: bool = False) -> Text:
    """Return a phase in one line: its name, a bar, its progress, and the time spent and left."""
    reading = phase.name.startswith("Reading")
    timing = clock(phase.elapsed) if done else phase.timing()
    name = "  " if reading else phase.name.ljust(LABEL if width >= ROOMY else LABEL - 2)
    room = width - 1 - len(name) - len(timing) - 4 - SHORTEST_BAR
    shorter_details = (
        phase.detail,
        phase.detail.replace("held-out ", "").replace("   ", "  "),
        phase.detail.split("   ")[0],
    )
    detail = next((text for text in shorter_details if len(text) <= room), "")
    share, length = 1.0 if done else phase.remaining.share, min(LONGEST_BAR, room - len(detail) + SHORTEST_BAR)
    full = round(share * length)
    bar = "" if reading and not share else "━" * full + "╌" * (length - full)
    gap = max(1, width - 1 - len(name) - len(bar) - 2 - len(detail) - len(timing))
    return Text.assemble(name, (bar, "green"), "  " if bar else "", detail, " " * gap, (timing, "dim"))
