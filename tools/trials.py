"""What the tools that let things go wrong have in common: small notes, a command that is forked, and how a run ends.

A command is forked from a process that has loaded everything already: it begins at once, is killed at work and not at
loading, and something may be put around it that lets its calls fail.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = "notes.topiary"
THEMES = ("cat dog mouse fur paw tail whisker claw", "star moon planet orbit comet sky telescope ray")
OUR_OWN = 70  # exit code of a fault of ours
SHOWN = 20  # of what was found wrong
PATIENCE = 600.0  # seconds for a command that nothing was done to


def note(number: int) -> str:
    """A small text on one of two subjects."""
    words = THEMES[number % 2].split()
    picked = " ".join(words[(number + step * (1 + number % 3)) % 8] for step in range(6))
    return f"the story of {picked} and the {words[number % 8]}"


@dataclass(frozen=True)
class Done:
    """How a command ended: its exit code (None: it was killed, for it hung), what it said, what a look at it found."""

    code: int | None
    said: str
    found: Any = None


def run(
    home: Path, arguments: Sequence[str], within: Callable[[Path], Any] | None = None, seconds: float = PATIENCE
) -> Done:
    """Run a command to its end, within something that may let its calls fail."""
    child, log, result = _begun(home, arguments, within)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            found = json.loads(result.read_text()) if result.exists() else None
            return Done(os.waitstatus_to_exitcode(status), log.read_text(errors="replace"), found)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return Done(None, log.read_text(errors="replace"))


def killed(home: Path, after: float, arguments: Sequence[str]) -> bool:
    """Run a command and kill it after so many seconds; whether it was still running."""
    child, _, _ = _begun(home, arguments)
    end = time.monotonic() + after
    while time.monotonic() < end:
        if os.waitpid(child, os.WNOHANG)[0]:
            return False
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def _begun(home: Path, arguments: Sequence[str], within: Callable[[Path], Any] | None = None) -> tuple[int, Path, Path]:
    """A command in a process of its own: its number, where it writes, and where is written what a look found."""
    from topiarist.cli.commands import app

    log, result = home.with_name(f"{home.name}.log"), home.with_name(f"{home.name}.result")
    result.unlink(missing_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child, log, result
    code = OUR_OWN
    try:  # nothing comes back from here
        os.chdir(home)
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(file, stream)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        sys.argv = ["topiarist", *arguments]
        if within is None:
            code = _left(app, arguments)
        else:
            with within(home / FOLDER) as watcher:
                code = _left(app, arguments)
            result.write_text(json.dumps(watcher.told()))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _left(app: Any, arguments: Sequence[str]) -> int:
    """The exit code that a command leaves with."""
    try:
        app(args=list(arguments), prog_name="topiarist")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def finish(wrong: Iterable[str], where: Path, *, keep: bool = False) -> None:
    """Say what was found wrong and leave with 1 then; a folder in which nothing was is removed, unless it is kept."""
    found = list(wrong)
    for one in found[:SHOWN]:
        print(f"WRONG {one}")
    print(f"{len(found):,} found wrong{f', kept in {where}' if found else ''}")
    if found:
        sys.exit(1)
    if not keep:
        shutil.rmtree(where)
