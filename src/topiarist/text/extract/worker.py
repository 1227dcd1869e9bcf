"""The process that parses. Limits first, then one request after the other until the pipe closes."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import BinaryIO

from topiarist.text.extract import protocol
from topiarist.text.extract.limits import Extracted, ExtractError, Extractor, Limits, Source

_ALARM_GRACE = 10.0  # after the reader's own limit: only an orphan lives to hear it
_REQUEST_LIMIT = 1 << 40  # the reader is trusted


def _pdf(source: Source, limits: Limits) -> Extracted:
    from topiarist.text.extract import pdf

    return pdf.extract(source, limits)


def _docx(source: Source, limits: Limits) -> Extracted:
    from topiarist.text.extract import docx

    return docx.extract(source, limits)


def _html(source: Source, limits: Limits) -> Extracted:
    from topiarist.text.extract import html

    return html.extract(source, limits)


def _mail(source: Source, limits: Limits) -> Extracted:
    from topiarist.text.extract import mail

    return mail.extract(source, limits)


EXTRACTORS: Mapping[str, Extractor] = {"pdf": _pdf, "docx": _docx, "html": _html, "mail": _mail}


def main() -> None:
    """Serve the real parsers."""
    serve(EXTRACTORS)


def serve(extractors: Mapping[str, Extractor]) -> None:
    """Answer requests on standard input until it closes.

    `extractors` is where tests put parsers that hang, crash or eat memory.
    """
    if hasattr(signal, "SIGINT"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the reader, which then ends this process
    requests, replies = _private_streams()
    try:
        hello, _ = protocol.receive(requests, 0)
        limits = _limits(hello)
        _confine(limits)
        protocol.send(replies, {"ready": 1})
        while True:
            header, data = protocol.receive(requests, _REQUEST_LIMIT)
            _arm(limits)
            reply, text = _answer(extractors, header, data, limits)
            protocol.send(replies, reply, text)
            _disarm()
    except (protocol.BrokenFrameError, BrokenPipeError):
        return  # the reader is done


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    """The pipes under new numbers, so that a parser that prints cannot break the protocol."""
    requests = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, sys.stdin.fileno())
    os.dup2(nowhere, sys.stdout.fileno())
    return requests, replies


def _limits(hello: protocol.Header) -> Limits:
    whole = {name: int(hello[name]) for name in ("characters", "memory_bytes", "unpacked_bytes")}
    return replace(Limits(seconds=float(hello["seconds"])), **whole)


def _confine(limits: Limits) -> None:
    """Take the memory this process may have, and no core dumps of other people's documents."""
    try:
        import resource
    except ImportError:  # Windows: the time limit remains
        return
    for kind, value in ((resource.RLIMIT_AS, limits.memory_bytes), (resource.RLIMIT_CORE, 0)):
        try:
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError):
            continue  # a lower limit is in force already, or the system has none


def _arm(limits: Limits) -> None:
    # The reader kills a worker that is late. If the reader itself was killed, this alarm does.
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, limits.seconds + _ALARM_GRACE)


def _disarm() -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


def _answer(
    extractors: Mapping[str, Extractor], header: protocol.Header, data: bytes, limits: Limits
) -> tuple[protocol.Header, bytes]:
    source: Source = str(header["path"]) or io.BytesIO(data)
    try:
        found = extractors[str(header["parser"])](source, limits)
        # One character more than allowed tells the reader that the text was cut.
        text = found.text[: limits.characters + 1].encode("utf-8", "replace")[: limits.raw_bytes]
    except MemoryError:
        return {"failed": f"needs more than {limits.memory_bytes >> 20:,} MB of memory", "spent": 1}, b""
    except ExtractError as error:
        return {"failed": str(error)}, b""
    except RecursionError:
        return {"failed": "nested too deeply"}, b""
    except ModuleNotFoundError as error:
        return {"failed": f"{error.name} is not installed"}, b""
    except OSError as error:
        return {"failed": (error.strerror or str(error)).lower()}, b""
    except Exception as error:
        # Whatever a parser raises on a file that strangers wrote costs that file only.
        return {"failed": f"could not be parsed ({type(error).__name__}: {error})"[:300]}, b""
    return {"title": found.title[:1000], "date": found.date[:100], "note": found.note[:300]}, text
