"""Reporters of long operations."""

import pytest
from rich.console import Console

from topiarist import progress
from topiarist.progress import NotebookReporter, RichReporter, report_in_notebook


def test_notebook_reporter_omits_phase_stopped_by_error(monkeypatch):
    monkeypatch.setattr(progress, "is_notebook", lambda: True)
    monkeypatch.setattr(NotebookReporter, "_show", lambda self, message, share=None: None)

    def grow(fails):
        with report_in_notebook("Growing", None) as reporter:
            reporters.append(reporter)
            reporter.begin_phase("Reading")
            reporter.begin_phase("Growing")
            if fails:
                raise ValueError("no memory")

    reporters = []
    grow(fails=False)
    with pytest.raises(ValueError, match="no memory"):
        grow(fails=True)
    assert [[item.text for item in reporter.completed] for reporter in reporters] == [
        ["Reading", "Growing"],
        ["Reading"],
    ]


def test_rich_reporter_waits_and_needs_terminal(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with RichReporter("Writing", Console(stderr=True), 2.0) as reporter:
        for seconds, terminal, bars in ((1.0, True, 0), (3.0, False, 0), (3.0, True, 1)):
            now[0] = seconds
            monkeypatch.setattr(reporter.bar.console, "_force_terminal", terminal)
            reporter.show_steps(1, 2)
            assert len(reporter.bar.tasks) == bars
