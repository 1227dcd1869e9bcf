"""How much work something is, counted and not timed: the same on a busy machine as on a quiet one."""

import signal
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


def calls(function, *given):
    """How many calls of functions, ours and built-in ones, it takes to call a function."""
    count = 0

    def counted(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        function(*given)
    finally:
        sys.setprofile(before)
    return count


def peak(function, *given):
    """The most bytes that calling a function holds at once, beyond what was there."""
    tracemalloc.start()
    try:
        function(*given)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def assert_linear(function, small, large, *, slack=1.3):
    """Calls and memory grow no faster than the size: ``small`` and ``large`` are (size, arguments)."""
    for measure in (calls, peak):
        function(*small[1])  # what is made once is there
        less, more = measure(function, *small[1]), measure(function, *large[1])
        times = large[0] / small[0]
        assert more <= slack * times * less, f"{measure.__name__}: {less:,} for {small[0]:,}, {more:,} for {large[0]:,}"


@contextmanager
def promptly(seconds: float = 60.0) -> Iterator[None]:
    """Stop what would go on for minutes: by the processor time of this process, which others do not use up."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "ITIMER_VIRTUAL"):
        yield
        return

    def stop(*_):
        pytest.fail(f"took more than {seconds} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
