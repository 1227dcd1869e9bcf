"""Files as bytes, as text or as numbered lines: compressed or not, in any encoding, however they end."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, AnyStr, BinaryIO

from topiarist.errors import in_words
from topiarist.text.extract import Limits
from topiarist.text.extract.decoding import SAMPLE_BYTES, Decoder
from topiarist.text.extract.packing import PACKINGS, unpacked
from topiarist.text.readers.items import File

if TYPE_CHECKING:
    from typing_extensions import Buffer

# What reading a damaged or vanishing file can raise, whatever its compression.
READ_ERRORS = (OSError, EOFError, zlib.error, lzma.LZMAError)

__all__ = [
    "PACKINGS", "READ_ERRORS", "Line", "Live", "is_live", "line_limit", "numbered_lines", "opened", "read_bytes",
    "reason_of",
]  # fmt: skip

_LINE_SLACK = 65_536  # what stands around the text on a line of a table
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file, with its line end; None when it was too long to be held."""

    number: int
    text: str | None


class Live:
    """A stream that is read as it comes: nobody waits for a sample of it before the first line is passed on."""

    live = True

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read1(self, most: int) -> bytes:
        """What is there, and at least something unless the stream has ended."""
        return _read_some(self._stream, most)

    read = read1


def is_live(stream: object) -> bool:
    """Whether a stream wants to be read as it comes."""
    return bool(getattr(stream, "live", False))


def opened(file: File) -> AbstractContextManager[BinaryIO]:
    """The bytes of a file, unpacked. A stream that the caller brought stays open."""
    if file.stream is not None:
        return nullcontext(file.stream)
    return unpacked(file.path, file.packing)


def reason_of(error: BaseException) -> str:
    """Why a file could not be read, in words."""
    if isinstance(error, EOFError):
        return "the compressed data end early"
    if isinstance(error, gzip.BadGzipFile | zlib.error | lzma.LZMAError):
        return "the compressed data are damaged"
    if isinstance(error, FileNotFoundError):
        return "vanished while reading"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return in_words(error)


def line_limit(limits: Limits) -> int:
    """The longest line that is held, in bytes."""
    return limits.raw_bytes + _LINE_SLACK


def read_bytes(stream: BinaryIO, most: int) -> tuple[bytes, str]:
    """Up to `most` bytes, and why there are no more of them when the data broke off."""
    pieces, size = [], 0
    try:
        # One raw read at a time: a larger request would lose what came before the break.
        while size < most and (piece := _read_some(stream, min(_CHUNK, most - size))):
            pieces.append(piece)
            size += len(piece)
    except READ_ERRORS as error:
        if not pieces:
            raise
        return b"".join(pieces), reason_of(error)
    return b"".join(pieces), ""


def numbered_lines(stream: BinaryIO, limits: Limits) -> Iterator[Line]:
    """Decoded lines. Raises `NotTextError` on a binary file, one of `READ_ERRORS` where data break off."""
    rewound = _Rewound(stream)
    decoder = Decoder(rewound.sample)
    buffered = io.BufferedReader(rewound, SAMPLE_BYTES)
    most = line_limit(limits)
    if decoder.wide:
        text = io.TextIOWrapper(buffered, decoder.encoding, errors="replace", newline="\n")
        lines: Iterator[tuple[int, str | None]] = _whole_lines(lambda: text.readline(most), "\n")
    else:
        lines = (
            (number, line if line is None else decoder.decode(line))
            for number, line in _whole_lines(lambda: buffered.readline(most), b"\n")
        )
    for number, line in lines:
        yield Line(number, line.removeprefix("\ufeff") if line and number == 1 else line)


def _whole_lines(next_piece: Callable[[], AnyStr], end: AnyStr) -> Iterator[tuple[int, AnyStr | None]]:
    """Numbered lines; None in place of one that does not fit into a piece, whose rest is passed over."""
    number = 0
    while piece := next_piece():
        number += 1
        follows = piece if piece.endswith(end) else next_piece()
        if follows is piece or not follows:
            yield number, piece
            continue
        while follows and not follows.endswith(end):
            follows = next_piece()
        yield number, None


class _Rewound(io.RawIOBase):
    """A stream whose first bytes were looked at and are there again."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._broken: BaseException | None = None
        head, enough = b"", 1 if is_live(stream) else SAMPLE_BYTES
        try:
            while len(head) < enough and (piece := _read_some(stream, SAMPLE_BYTES - len(head))):
                head += piece
        except READ_ERRORS as error:
            if not head:
                raise
            self._broken = error
        self.sample = head
        self._head = memoryview(head)

    def readable(self) -> bool:
        """Always: there is nothing else to do with it."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """The next bytes: those seen before, then those that follow, then the break if there was one."""
        target = memoryview(buffer).cast("B")
        if self._head:
            piece = bytes(self._head[: len(target)])
            self._head = self._head[len(piece) :]
        elif self._broken is not None:
            raise self._broken
        else:
            piece = _read_some(self._stream, len(target))
        target[: len(piece)] = piece
        return len(piece)


def _read_some(stream: BinaryIO, most: int) -> bytes:
    read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
    return read(most)
