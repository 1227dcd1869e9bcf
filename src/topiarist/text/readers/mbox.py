"""Mailboxes in one file, message by message. The reader of the standard library would index the whole file first."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future

from topiarist.text.parsers import Extracted, ExtractError, Task
from topiarist.text.readers.items import File, Item, ReadFailure, Setting
from topiarist.text.readers.lines import READ_ERRORS, explain_error, open_file
from topiarist.text.readers.nested import read_parsed

_SENDER = re.compile(rb"From \S")
_TIME = re.compile(rb"\d\d:\d\d")
_QUOTED = re.compile(rb">+From ")
_LINE_BYTES = 1 << 20
_SEPARATOR_BYTES = 1000  # an address has at most 320, a date about 30


def read_mbox(file: File, setting: Setting) -> Iterator[Item]:
    """Yield the messages of a mailbox; workers parse them while the next ones are split."""
    waiting: deque[tuple[int, Future[Extracted]]] = deque()
    failure = ""
    messages = _split_messages(file, setting.limits.raw_bytes)
    number = 0
    while True:
        try:
            message = next(messages)
        except StopIteration:
            break
        except READ_ERRORS as error:
            failure = explain_error(error)
            break
        number += 1
        waiting.append((number, setting.pool.submit(Task("mail", data=message))))
        if len(waiting) > 2 * setting.limits.workers:
            yield from read_parsed(file, *waiting.popleft(), setting)
    while waiting:
        yield from read_parsed(file, *waiting.popleft(), setting)
    if failure:
        yield ReadFailure(f"{failure}; earlier messages are kept", place=number + 1)


def _split_messages(file: File, max_bytes: int) -> Iterator[bytes]:
    """Yield the first `max_bytes` bytes of each message: text comes first, long ends are attachments."""
    message: list[bytes] = []
    size, started, after_blank = 0, False, True
    with open_file(file) as stream:
        while line := stream.readline(_LINE_BYTES):
            if after_blank and _is_separator(line):
                if started:
                    yield b"".join(message)
                message, size, started = [], 0, True
            elif not started and line.strip():
                raise ExtractError("not a mailbox: it does not begin with a “From ” line")
            elif size < max_bytes:
                message.append(line[1:] if _QUOTED.match(line) else line)
                size += len(line)
            after_blank = not line.strip()
    if started:
        yield b"".join(message)


def _is_separator(line: bytes) -> bool:
    """Return whether a line is “From ”, a sender and a time. Two searches, because one pattern would backtrack."""
    sender = _SENDER.match(line)
    return sender is not None and _TIME.search(line, sender.end(), _SEPARATOR_BYTES) is not None
