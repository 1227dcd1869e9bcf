"""The command line: parse, call one task, print. Numerical libraries are loaded by the commands, not by ``--help``."""

from __future__ import annotations


def main() -> None:
    """Run ``topiarist``."""
    from topiarist.app.cli.commands import app

    app(prog_name="topiarist")
