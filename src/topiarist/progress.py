"""Progress of long operations: one event value, one reporter interface, and reporters for terminals and notebooks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

from topiarist.cards import Item, is_notebook, render_card

if TYPE_CHECKING:
    from rich.console import Console

PHASE, NOTE, DETAIL, READ, SIZES, GROWTH, STEPS, ENDING = (
    "phase", "note", "detail", "read", "sizes", "growth", "steps", "ending",
)  # fmt: skip
UPDATE_SECONDS = 0.2  # between two updates of a card in a notebook


@dataclass(frozen=True, kw_only=True)
class ProgressEvent:
    """One event of a long operation.

    ``kind`` is PHASE (a phase begins), NOTE (a result of the phase), DETAIL (the current work), READ (``done``
    documents were read), SIZES (``sizes`` of the counts, before growth), GROWTH (``record``, a
    ``trees.growth.loop.Record`` of the tree so far), STEPS (``done`` of about ``total``) or ENDING (no more steps
    follow).
    """

    kind: str
    text: str = ""
    done: int = 0
    total: int | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    record: Any = None


class ProgressReporter:
    """Receiver of progress events; this one ignores them.

    ``report`` may raise an error to stop the operation. KeyboardInterrupt stops a fit or growth and keeps the best so
    far.
    """

    def report(self, event: ProgressEvent) -> None:
        """Receive an event."""

    def begin_phase(self, name: str) -> None:
        self.report(ProgressEvent(kind=PHASE, text=name))

    def add_note(self, text: str) -> None:
        """Report a result of the phase."""
        self.report(ProgressEvent(kind=NOTE, text=text))

    def show_detail(self, text: str) -> None:
        """Report the current work of the phase."""
        self.report(ProgressEvent(kind=DETAIL, text=text))

    def show_read(self, number: int) -> None:
        """Report the number of documents that were read."""
        self.report(ProgressEvent(kind=READ, done=number))

    def show_sizes(self, sizes: Mapping[str, int]) -> None:
        """Report the sizes of the counts before growth."""
        self.report(ProgressEvent(kind=SIZES, sizes=sizes))

    def show_growth(self, record: Any) -> None:
        """Report the record of a growing tree."""
        self.report(ProgressEvent(kind=GROWTH, record=record))

    def show_steps(self, done: int, total: int | None = None) -> None:
        """Report the number of steps done, of about ``total``."""
        self.report(ProgressEvent(kind=STEPS, done=done, total=total))

    def begin_ending(self) -> None:
        """Report that no more steps follow: results are described and written."""
        self.report(ProgressEvent(kind=ENDING))


class RichReporter(ProgressReporter):
    """Reporter that draws one progress bar on a terminal.

    With ``patience`` the bar appears after so many seconds, on terminals only, and disappears at the end.
    """

    def __init__(self, title: str, console: Console | None = None, patience: float | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self.title, self.patience, self.began = title, patience, time.monotonic()
        columns = (TextColumn("{task.description}"), BarColumn(30), TextColumn("{task.fields[text]}"))
        self.bar = Progress(
            *columns, TimeElapsedColumn(), console=console or Console(stderr=True), transient=patience is not None
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def report(self, event: ProgressEvent) -> None:
        if self.patience is not None:
            early = time.monotonic() - self.began < self.patience
            if early or not self.bar.console.is_terminal:
                return
        if not self.bar.tasks:
            self.bar.add_task(self.title, total=None, text="")
            self.bar.start()
        task = self.bar.tasks[0]
        total = task.total if event.total is None else event.total
        self.bar.update(task.id, total=total, completed=event.done, text=describe_event(event))


class NotebookReporter(ProgressReporter):
    """Reporter that updates a card in a notebook: phases with their seconds, notes, and the current work."""

    def __init__(self, title: str) -> None:
        self.title, self.phase, self.completed = title, "", list[Item]()
        self._began, self._last_update = time.monotonic(), 0.0
        self._display_handle: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        if failure is None:
            self._end_phase()
        self._show("")

    def report(self, event: ProgressEvent) -> None:
        if event.kind == PHASE:
            self._end_phase()
            self.phase = event.text
            self._show(event.text)
        elif event.kind == NOTE:
            self._add_completed(event.text)
        elif (text := describe_event(event)) and time.monotonic() - self._last_update >= UPDATE_SECONDS:
            share = event.done / event.total if event.total else None
            self._show(f"{self.phase}: {text}" if self.phase else text, share)

    def _end_phase(self) -> None:
        if self.phase:
            self._add_completed(self.phase)
        self.phase = ""

    def _add_completed(self, text: str) -> None:
        self.completed.append(Item(text, f"{time.monotonic() - self._began:.0f} s"))

    def _show(self, message: str, share: float | None = None) -> None:
        display: Any = import_module("IPython.display")
        self._last_update = time.monotonic()
        html = display.HTML(render_card(self.title, items=self.completed, note=message, share=share))
        if self._display_handle is None:
            self._display_handle = display.display(html, display_id=True)
        else:
            self._display_handle.update(html)


def describe_event(event: ProgressEvent) -> str:
    """Return the progress of an event in a few words."""
    if event.kind == READ:
        return f"{event.done:,} documents"
    if event.record is not None:
        leaves, perplexity = event.record.n_leaves[-1], event.record.perplexity[-1]
        return f"{leaves:,} topics, held-out perplexity {perplexity:,.0f}"
    if event.kind == STEPS:
        return f"step {event.done:,}{f' of at most {event.total:,}' if event.total else ''}{event.text}"
    return event.text


@contextmanager
def open_reporter(title: str, *, show: bool) -> Iterator[ProgressReporter | None]:
    """Return a reporter for a notebook or terminal; None without ``show``."""
    if not show:
        yield None
        return
    with NotebookReporter(title) if is_notebook() else RichReporter(title) as reporter:
        yield reporter


@contextmanager
def report_in_notebook(title: str, verbose: bool | None) -> Iterator[ProgressReporter]:
    """Return a reporter for a notebook; elsewhere, and if ``verbose`` is False, one that ignores events."""
    if verbose is False or not is_notebook():
        yield ProgressReporter()
        return
    with NotebookReporter(title) as reporter:
        yield reporter
