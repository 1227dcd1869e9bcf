"""A mailbox in one file, message by message. The standard library's reader would index all of it first."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future

from topiarist.text.extract import Extracted, ExtractError, Task
from topiarist.text.readers.inside.nested import parsed
from topiarist.text.readers.items import File, Item, Setting, Trouble
from topiarist.text.readers.lines import READ_ERRORS, opened, reason_of

_SENDER = re.compile(rb"From \S")
_TIME = re.compile(rb"\d\d:\d\d")
_QUOTED = re.compile(rb">+From ")
_LINE_BYTES = 1 << 20
_SEPARATOR_BYTES = 1000  # an address has at most 320, a date about 30


def read_mbox(file: File, setting: Setting) -> Iterator[Item]:
    """The messages of a mailbox, parsed by the workers while the next ones are cut out."""
    waiting: deque[tuple[int, Future[Extracted]]] = deque()
    broken = ""
    messages = _messages(file, setting.limits.raw_bytes)
    number = 0
    while True:
        try:
            message = next(messages)
        except StopIteration:
            break
        except READ_ERRORS as error:
            broken = reason_of(error)
            break
        number += 1
        waiting.append((number, setting.pool.submit(Task("mail", data=message))))
        if len(waiting) > 2 * setting.limits.workers:
            yield from parsed(file, *waiting.popleft(), setting)
    while waiting:
        yield from parsed(file, *waiting.popleft(), setting)
    if broken:
        yield Trouble(f"{broken}; what came before is kept", number + 1)


def _messages(file: File, most: int) -> Iterator[bytes]:
    """The bytes of each message, at most `most`: text comes first, and long tails are attachments."""
    message: list[bytes] = []
    size, started, after_blank = 0, False, True
    with opened(file) as stream:
        while line := stream.readline(_LINE_BYTES):
            if after_blank and _is_separator(line):
                if started:
                    yield b"".join(message)
                message, size, started = [], 0, True
            elif not started and line.strip():
                raise ExtractError("not a mailbox: it does not begin with a “From ” line")
            elif size < most:
                message.append(line[1:] if _QUOTED.match(line) else line)
                size += len(line)
            after_blank = not line.strip()
    if started:
        yield b"".join(message)


def _is_separator(line: bytes) -> bool:
    """Whether a line is “From ”, a sender and a time. Two searches: in one pattern they would backtrack."""
    sender = _SENDER.match(line)
    return sender is not None and _TIME.search(line, sender.end(), _SEPARATOR_BYTES) is not None
