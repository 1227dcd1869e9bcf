"""Where everything is printed: what a document says never steers the terminal, and a reader may leave.

A title, an id, a label or a name may hold anything, also the signs that move a cursor, set a window's title or turn
the direction of the text. They are taken out here, once, and not where each thing is printed.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from rich import console
from rich.segment import Segment

JOINERS = "\u200c\u200d"  # invisible, harmless, and needed to write several languages
# Where only ASCII can be shown.
PLAIN = {ord(sign): plain for sign, plain in zip("▇▸├┤└│─●·…–→“”", '#>||`|-o,.->""', strict=True)} | {ord("…"): "..."}


def clean(text: str, *, ascii: bool = False) -> str:
    """The text with a space for every sign that is not printed; line breaks stay. ``ascii``: plain bars and lines."""
    if text.isascii() and text.isprintable():
        return text
    if ascii:
        text = text.translate(PLAIN)
    return "".join(sign if sign.isprintable() or sign in "\n" + JOINERS else " " for sign in text)


def json_text(body: Any, *, ascii: bool, indent: int | None = 2) -> str:
    """JSON in which every sign that is not printed is escaped."""
    text = json.dumps(body, indent=indent, ensure_ascii=ascii, allow_nan=False)
    if ascii or text.isprintable():
        return text
    return re.sub(r"[^\n -~]", lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], text)


class Console(console.Console):
    """Rich's, with clean text, without any escapes under ``NO_COLOR``, and with the exceptions of other streams."""

    def __init__(self, **given: Any) -> None:
        if os.environ.get("NO_COLOR"):
            given |= {"color_system": None}
        super().__init__(**given)

    def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
        """What is printed, piece by piece, and clean."""
        ascii = not self.encoding.lower().startswith("utf")
        for piece in super().render(renderable, options):
            yield piece if piece.control else Segment(clean(piece.text, ascii=ascii), piece.style)

    def on_broken_pipe(self) -> None:
        """Raise again; ``explained`` knows what it means."""
        raise


def binary_output() -> BinaryIO:
    """Standard output for bytes: as they are in a pipe or a file, clean on a terminal."""
    return cast(BinaryIO, _Clean(sys.stdout)) if sys.stdout.isatty() else sys.stdout.buffer


class _Clean(io.RawIOBase):
    """Bytes of UTF-8 text on their way to a terminal."""

    def __init__(self, screen: Any) -> None:
        self._screen, self._decoder = screen, codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._screen.write(clean(self._decoder.decode(bytes(data)).replace("\r\n", "\n")))
        return len(data)

    def flush(self) -> None:
        self._screen.flush()


@contextmanager
def undisturbed() -> Iterator[None]:
    """While something is changed for good, a reader of our output who leaves ends the output and not the work."""
    kept = sys.stdout, sys.stderr
    try:
        sys.stdout, sys.stderr = (_deaf(stream) for stream in kept)
        yield
    finally:
        ours, (sys.stdout, sys.stderr) = (sys.stdout, sys.stderr), kept
        for stream in ours:
            stream.flush()


def _deaf(stream: Any) -> Any:
    """The same stream, to which a reader that left is one that does not listen."""
    try:
        number = stream.fileno()
        if os.isatty(number):
            return stream
        stream.flush()
    except (OSError, AttributeError, io.UnsupportedOperation):  # no stream of the system, as in a test
        return stream
    deaf: Any = _Deaf(number, "wb", closefd=False)
    if stream is sys.stderr:  # without a buffer: a signal's handler may write in the midst of a write
        return io.TextIOWrapper(deaf, stream.encoding, "replace", write_through=True)
    return io.TextIOWrapper(io.BufferedWriter(deaf), stream.encoding, "replace")


class _Deaf(io.FileIO):
    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while rest:
                rest = rest[super().write(rest) :]
        except BrokenPipeError:
            silence(self.fileno())
        return size


def silence(number: int) -> None:
    """Let a stream lead nowhere from now on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
