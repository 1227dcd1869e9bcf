"""The command line: parse, call one task, print. Numerical libraries are loaded by the commands, not by ``--help``."""

from __future__ import annotations

import io
import os
import sys

from topiarist.version import __version__


def main() -> None:
    """Run ``topiarist``; ``--version`` loads no command."""
    _open_streams()
    if sys.argv[1:] == ["--version"]:
        print(f"topiarist {__version__}")
        return
    from topiarist.errors import to_limit_error

    try:
        from topiarist.cli.commands import app
    except (ImportError, OSError, MemoryError, RuntimeError) as error:
        missing = to_limit_error(error)
        if missing is None:
            raise
        sys.exit(_write_raw(f"Error: {missing}", missing.exit_code))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no bars shows question marks, not an error
    sys.argv[1:] = map(argument, sys.argv[1:])
    app(prog_name="topiarist")


def _open_streams() -> None:
    """Open the null device for closed standard streams, so that no file takes their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # which takes the lowest number that is free
    for name, number in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115


def _write_raw(message: str, code: int) -> int:
    os.write(2, f"{message}\n".encode())
    return code


def argument(text: str) -> str:
    """Return an argument as UTF-8; other bytes can be the name of a file."""
    raw = os.fsencode(text)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return text if os.path.lexists(raw) else raw.decode("utf-8", "replace")
