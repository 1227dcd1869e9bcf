"""Output to terminals and pipes: control characters are removed, and a closed pipe is no error.

Titles, ids, labels and names can hold control characters that move a cursor, set the title of a window or reverse the
direction of text. They are removed here, once for all output.
"""

from __future__ import annotations

import codecs
import io
import json
import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from rich import console
from rich.segment import Segment

PATIENCE = 2.0  # seconds before a progress bar appears
LOG = "topiarist -v"  # the handler of the log
JOINERS = "\u200c\u200d"  # invisible, harmless, and needed to write several languages
# Where only ASCII can be shown.
PLAIN = {ord(sign): plain for sign, plain in zip("▇▸├┤└│─●·…–→“”", '#>||`|-o,.->""', strict=True)} | {ord("…"): "..."}


def clean(text: str, *, ascii: bool = False) -> str:
    """Return the text with spaces for unprintable characters. ``ascii`` also replaces bars and lines."""
    if text.isascii() and text.isprintable():
        return text
    if ascii:
        text = text.translate(PLAIN)
    return "".join(sign if sign.isprintable() or sign in "\n" + JOINERS else " " for sign in text)


def speaks_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def typed_command() -> str:
    """The program as it can be typed again: a path where it is not on the search path."""
    typed = sys.argv[0]
    return typed if os.path.basename(typed) == "topiarist" else "topiarist"


def print_json(body: Any, *, allow_nan: bool = False) -> None:
    """Print one JSON document, with unprintable characters escaped."""
    ascii = not speaks_unicode()
    text = json.dumps(body, indent=2, ensure_ascii=ascii, allow_nan=allow_nan)
    if not ascii:
        text = re.sub(r"[^\n -~]", lambda sign: sign[0] if sign[0].isprintable() else json.dumps(sign[0])[1:-1], text)
    print(text)


class Console(console.Console):
    """Rich's, with clean text, without any escapes under ``NO_COLOR``, and with the exceptions of other streams."""

    def __init__(self, **options: Any) -> None:
        if os.environ.get("NO_COLOR"):
            options |= {"color_system": None}
        super().__init__(**options)

    def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
        """Yield the segments without control characters; in ASCII if the encoding is not UTF."""
        ascii = not self.encoding.lower().startswith("utf")
        for piece in super().render(renderable, options):
            yield piece if piece.control else Segment(clean(piece.text, ascii=ascii), piece.style)

    def on_broken_pipe(self) -> None:
        """Raise again; ``explained`` knows what it means."""
        raise


def log_to_stderr(verbose: int) -> None:
    """Log the library to standard error with ``-v``; otherwise keep it silent."""
    logger = logging.getLogger("topiarist")
    if not verbose:
        logger.handlers = [handler for handler in logger.handlers if handler.name != LOG]
        return
    from rich.logging import RichHandler

    logger.setLevel(logging.INFO if verbose == 1 else logging.DEBUG)
    logger.handlers = [RichHandler(console=Console(stderr=True), show_path=verbose > 1, rich_tracebacks=False)]
    logger.handlers[0].name = LOG


def binary_output() -> BinaryIO:
    """Write bytes to standard output: unchanged in a pipe or file, clean on a terminal."""
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
def protect_streams() -> Iterator[None]:
    """Replace the standard streams within a block, so that a closed pipe raises no error."""
    original_streams = sys.stdout, sys.stderr
    try:
        sys.stdout, sys.stderr = (_ignore_broken_pipe(stream) for stream in original_streams)
        yield
    finally:
        own_streams, (sys.stdout, sys.stderr) = (sys.stdout, sys.stderr), original_streams
        for stream in own_streams:
            stream.flush()


def _ignore_broken_pipe(stream: Any) -> Any:
    """Return a stream that ignores a closed pipe; terminals and test streams unchanged."""
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
        """Write the data. After a closed pipe, drop it and all later data without an error."""
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while rest:
                rest = rest[super().write(rest) :]
        except BrokenPipeError:
            silence(self.fileno())
        return size


def silence(number: int) -> None:
    """Redirect the file descriptor of a stream to the null device."""
    null_device = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null_device, number)
    os.close(null_device)
