"""The command line: parse, call one task, print. Numerical libraries are loaded by the commands, not by ``--help``."""

from __future__ import annotations

import io
import sys


def main() -> None:
    """Run ``topiarist``."""
    from topiarist.app.cli.commands import app

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no bars shows question marks, not an error
    app(prog_name="topiarist")
