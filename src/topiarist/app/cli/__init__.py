"""The command line: parse, call one task, print. Numerical libraries are loaded by the commands, not by ``--help``.

Floor plan:

    commands/       The commands of ``topiarist``: each is a module of the room of its verb, and is listed here.
    terminal/       The terminal: where is printed, how far a command is, how it fails and which code it leaves with.
    grow_result     How a grow ends: the sentence of facts, the tree, what was left out, what to type next, the exit
                    code.
    options         How a command declares its options: one frozen value, from which its ``--help`` and its settings are
                    made.
    reading_server  A collection for programs with a language model: four tools that read and none that writes, over one
                    protocol.
    settings_file   Settings: what was typed, else the environment, else ``topiarist.toml``, else the default; and where
                    each came from.
    source_stream   The documents of the sources as a stream, and a digest that tells whether anything has changed.
"""

from __future__ import annotations

import io
import os
import sys

from topiarist.version import __version__


def main() -> None:
    """Run ``topiarist``; its version is told without loading any command."""
    _open_streams()
    if sys.argv[1:] == ["--version"]:
        print(f"topiarist {__version__}")
        return
    from topiarist.errors import lack

    try:
        from topiarist.app.cli.commands import app
    except (ImportError, OSError, MemoryError, RuntimeError) as error:
        missing = lack(error)
        if missing is None:
            raise
        sys.exit(_without_room(f"Error: {missing}", missing.exit_code))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no bars shows question marks, not an error
    sys.argv[1:] = map(argument, sys.argv[1:])
    app(prog_name="topiarist")


def _open_streams() -> None:
    """Streams that the caller has closed lead nowhere: else the first file that is opened would be taken for one."""
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


def _without_room(message: str, code: int) -> int:
    """Say so with what is left."""
    os.write(2, f"{message}\n".encode())
    return code


def argument(given: str) -> str:
    """What was typed, as UTF-8 whatever the locale says; what is not UTF-8 may still be the name of a file."""
    raw = os.fsencode(given)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return given if os.path.lexists(raw) else raw.decode("utf-8", "replace")
