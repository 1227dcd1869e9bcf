"""The command line: parse, call one task, print. Numerical libraries are loaded by the commands, not by ``--help``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run ``topiarist``; what goes wrong becomes one sentence and an exit code (see ``errors``)."""
    from topiarist.app.cli.failures import explained

    with explained(debug="--debug" in sys.argv):
        from topiarist.app.cli.commands import app

        app(prog_name="topiarist", standalone_mode=True)
