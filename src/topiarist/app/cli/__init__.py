"""The command line: parse, call one task, print. Numerical libraries are loaded by the commands, not by ``--help``."""

from __future__ import annotations

import io
import os
import sys


def main() -> None:
    """Run ``topiarist``."""
    from topiarist.app.cli.commands import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no bars shows question marks, not an error
    sys.argv[1:] = map(argument, sys.argv[1:])
    app(prog_name="topiarist")


def argument(given: str) -> str:
    """What was typed, as UTF-8 whatever the locale says; what is not UTF-8 may still be the name of a file."""
    raw = os.fsencode(given)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return given if os.path.lexists(raw) else raw.decode("utf-8", "replace")
