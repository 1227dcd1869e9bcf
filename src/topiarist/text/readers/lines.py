"""Files as bytes or as numbered lines of text, compressed or not, in any encoding and with any line ends."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, AnyStr, BinaryIO

from topiarist.errors import describe_error
from topiarist.text.parsers import Limits
from topiarist.text.parsers.decoding import SAMPLE_BYTES, Decoder
from topiarist.text.parsers.limits import open_unpacked
from topiarist.text.readers.items import File

if TYPE_CHECKING:
    from typing_extensions import Buffer

# Errors of reading a damaged or deleted file, in any compression.
READ_ERRORS = (OSError, EOFError, zlib.error, lzma.LZMAError)

_LINE_SLACK = 65_536  # other cells on a line of a table
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """Line of a file with its line end; None if it was too long."""

    number: int
    text: str | None


class UnbufferedStream:
    """Live stream without a sample: each line is passed on as soon as it arrives."""

    live = True

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read1(self, max_bytes: int) -> bytes:
        """Return available bytes, at least one unless the stream has ended."""
        return _read_chunk(self._stream, max_bytes)

    read = read1


def is_live(stream: object) -> bool:
    """Return whether a stream is live."""
    return bool(getattr(stream, "live", False))


def open_file(file: File) -> AbstractContextManager[BinaryIO]:
    """Return the unpacked bytes of a file. A stream of the caller stays open."""
    if file.stream is not None:
        return nullcontext(file.stream)
    return open_unpacked(file.path, file.packing)


def explain_error(error: BaseException) -> str:
    """Return the reason why a file could not be read."""
    if isinstance(error, EOFError):
        return "the compressed data end early"
    if isinstance(error, gzip.BadGzipFile | zlib.error | lzma.LZMAError):
        return "the compressed data are damaged"
    if isinstance(error, FileNotFoundError):
        return "vanished while reading"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return describe_error(error)


def get_line_limit(limits: Limits) -> int:
    """Return the maximum length of a line in bytes."""
    return limits.raw_bytes + _LINE_SLACK


def read_bytes(stream: BinaryIO, max_bytes: int) -> tuple[bytes, str]:
    """Return up to `max_bytes` bytes, and the reason if the data end early."""
    chunks, size = [], 0
    try:
        # One raw read at a time: a larger request would lose the bytes before an error.
        while size < max_bytes and (chunk := _read_chunk(stream, min(_CHUNK, max_bytes - size))):
            chunks.append(chunk)
            size += len(chunk)
    except READ_ERRORS as error:
        if not chunks:
            raise
        return b"".join(chunks), explain_error(error)
    return b"".join(chunks), ""


def numbered_lines(stream: BinaryIO, limits: Limits) -> Iterator[Line]:
    """Yield decoded lines; `NotTextError` for a binary file, one of `READ_ERRORS` if the data end early."""
    stream_with_sample = _Rewindable(stream)
    decoder = Decoder(stream_with_sample.sample)
    buffered = io.BufferedReader(stream_with_sample, SAMPLE_BYTES)
    max_bytes = get_line_limit(limits)
    if decoder.is_wide:
        text = io.TextIOWrapper(buffered, decoder.encoding, errors="replace", newline="\n")
        lines: Iterator[tuple[int, str | None]] = _number_lines(lambda: text.readline(max_bytes), "\n")
    else:
        lines = (
            (number, line if line is None else decoder.decode(line))
            for number, line in _number_lines(lambda: buffered.readline(max_bytes), b"\n")
        )
    for number, line in lines:
        yield Line(number, line.removeprefix("\ufeff") if line and number == 1 else line)


def _number_lines(next_piece: Callable[[], AnyStr], end: AnyStr) -> Iterator[tuple[int, AnyStr | None]]:
    """Yield numbered lines; None for a line longer than one chunk."""
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


class _Rewindable(io.RawIOBase):
    """Stream whose first bytes were read as a sample and are read again."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._error: BaseException | None = None
        head, min_bytes = b"", 1 if is_live(stream) else SAMPLE_BYTES
        try:
            while len(head) < min_bytes and (chunk := _read_chunk(stream, SAMPLE_BYTES - len(head))):
                head += chunk
        except READ_ERRORS as error:
            if not head:
                raise
            self._error = error
        self.sample = head
        self._head = memoryview(head)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Read the next bytes: the sample, then the rest, then the error of the sample if there was one."""
        target = memoryview(buffer).cast("B")
        if self._head:
            piece = bytes(self._head[: len(target)])
            self._head = self._head[len(piece) :]
        elif self._error is not None:
            raise self._error
        else:
            piece = _read_chunk(self._stream, len(target))
        target[: len(piece)] = piece
        return len(piece)


def _read_chunk(stream: BinaryIO, max_bytes: int) -> bytes:
    read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
    return read(max_bytes)
