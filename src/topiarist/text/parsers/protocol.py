"""Frames on a pipe between the reader and its workers.

    frame = length of the header (4 bytes) · length of the payload (8 bytes) · header · payload

Both lengths are big-endian. The header is a flat JSON object of strings and numbers, the payload raw bytes. A worker
that a hostile file controls can send a wrong text, but no code.
"""

from __future__ import annotations

import json
import struct
from typing import BinaryIO

Header = dict[str, str | int | float]

_LENGTHS = struct.Struct(">IQ")
_HEADER_LIMIT = 1 << 20


class BrokenFrameError(Exception):
    """End of the other process, or bytes that are no frame."""


def send(stream: BinaryIO, header: Header, payload: bytes = b"") -> None:
    encoded = json.dumps(header).encode("ascii")
    stream.write(_LENGTHS.pack(len(encoded), len(payload)) + encoded)
    stream.write(payload)
    stream.flush()


def receive(stream: BinaryIO, payload_limit: int) -> tuple[Header, bytes]:
    """Read one frame; `BrokenFrameError` if it claims more than `payload_limit` bytes."""
    header_length, payload_length = _LENGTHS.unpack(_read_exactly(stream, _LENGTHS.size))
    if header_length > _HEADER_LIMIT or payload_length > payload_limit:
        raise BrokenFrameError("a frame larger than allowed")
    try:
        header = json.loads(_read_exactly(stream, header_length))
    except ValueError as error:
        raise BrokenFrameError("a header that is not JSON") from error
    if not isinstance(header, dict):
        raise BrokenFrameError("a header that is not an object")
    return header, _read_exactly(stream, payload_length)


def _read_exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise BrokenFrameError("the other side ended")
    return data
