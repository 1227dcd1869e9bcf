"""The process that parses. Limits first, then one request after the other until the pipe closes."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import partial
from importlib import import_module
from typing import BinaryIO

from topiarist.errors import in_words
from topiarist.text.extract import files, network, protocol
from topiarist.text.extract.limits import Extracted, ExtractError, Extractor, Limits, Part, Parter, Source, Told

_ALARM_GRACE = 10.0  # after the reader's own limit: only an orphan lives to hear it
_REQUEST_LIMIT = 1 << 40  # the reader is trusted
_LONGEST_REASON = 300
_LONGEST_NAME = 200
OFFICE = ("pypdfium2", "docx2python", "lxml", "python_calamine")  # packages of the extra of that name
_MOST_COLUMNS, _LONGEST_VALUE = 200, 1_001  # one character more than is kept tells that it was cut


def _extractor(module: str) -> Extractor:
    """The function of a module here, which is loaded when it is first needed."""

    def extract(source: Source, limits: Limits) -> Extracted:
        found: Extracted = import_module(f"topiarist.text.extract.{module}").extract(source, limits)
        return found

    return extract


def _parter(module: str) -> Parter:
    """The same for files that hold many documents."""

    def parts(source: Source, limits: Limits, told: Told) -> Iterator[Part]:
        found: Iterator[Part] = import_module(f"topiarist.text.extract.{module}").parts(source, limits, told)
        return found

    return parts


EXTRACTORS: Mapping[str, Extractor] = {
    name: _extractor(module)
    for name, module in {
        "pdf": "pdf",
        "docx": "docx",
        "html": "html",
        "mail": "mail",
        "msg": "msg",
        "latex": "latex",
        "rtf": "office.rtf",
        "slides": "office.slides",
        "opendocument": "office.opendocument",
        "epub": "office.epub",
    }.items()
}
PARTERS: Mapping[str, Parter] = {
    name: _parter(module)
    for name, module in {
        "archive": "archives",
        "spreadsheet": "rows.spreadsheet",
        "json": "rows.json_values",
        "xml": "rows.xml_elements",
        "parquet": "rows.parquet",
        "recognised": "recognised_pages",
    }.items()
}


def main() -> None:
    """Serve the real parsers."""
    serve(EXTRACTORS, PARTERS)


def serve(extractors: Mapping[str, Extractor], parters: Mapping[str, Parter] | None = None) -> None:
    """Answer requests on standard input until it closes.

    `extractors` and `parters` are where tests put parsers that hang, crash or eat memory.
    """
    if hasattr(signal, "SIGINT"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the reader, which then ends this process
    requests, replies = _private_streams()
    try:
        hello, _ = protocol.receive(requests, 0)
        limits = _limits(hello)
        network.leave()
        _without_files(hello)
        _confine(limits)
        protocol.send(replies, {"ready": 1})
        parts: Iterator[Part] = iter(())
        while True:
            header, data = protocol.receive(requests, _REQUEST_LIMIT)
            _arm(limits)
            source: Source = str(header.get("path", "")) or io.BytesIO(data)
            if "parts" in header:
                parts = _begun((parters or {})[str(header["parser"])], source, limits, header)
            many = "parts" in header or "next" in header
            reply, text = _safely(
                partial(_next_part, parts) if many else partial(_answer, extractors, str(header.get("parser")), source),
                limits,
            )
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
    whole = {limit.name: int(hello[limit.name]) for limit in fields(Limits) if limit.name != "seconds"}
    return Limits(seconds=float(hello["seconds"]), **whole)


def _without_files(hello: protocol.Header) -> None:
    """Read nothing but the sources, and write nothing but into the folder of this reading, where that is known."""
    if "readable" not in hello:
        return
    scratch = str(hello["scratch"])
    tempfile.tempdir = os.environ["TMPDIR"] = scratch
    files.leave([*json.loads(str(hello["readable"])), scratch], [scratch])


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


Answer = tuple[protocol.Header, bytes]


def _answer(extractors: Mapping[str, Extractor], parser: str, source: Source, limits: Limits) -> Answer:
    """The text of a document, and behind it the files that came with it."""
    found = extractors[parser](source, limits)
    # One character more than allowed tells the reader that the text was cut.
    text = found.text[: limits.characters + 1].encode("utf-8", "replace")[: limits.raw_bytes]
    reply: protocol.Header = {"title": found.title[:1000], "date": found.date[:200], "note": found.note[:300]}
    reply["scanned"] = found.scanned
    reply["columns"] = json.dumps(
        [(name[:100], value[:_LONGEST_VALUE]) for name, value in found.columns[:_MOST_COLUMNS]]
    )
    if found.attached:
        reply["attached"] = json.dumps([(one.name[:_LONGEST_NAME], len(one.data)) for one in found.attached])
        text = b"".join([text, *(one.data for one in found.attached)])
    return reply, text


def _begun(parter: Parter, source: Source, limits: Limits, told: Told) -> Iterator[Part]:
    """The parts of a file; a parser that fails at once fails when the first part is asked for."""
    yield from parter(source, limits, told)


def _next_part(parts: Iterator[Part], limits: Limits) -> Answer:
    part = next(parts, None)
    return ({"end": 1}, b"") if part is None else ({"part": 1, **part.facts}, part.data)


def _safely(work: Callable[[Limits], Answer], limits: Limits) -> Answer:
    """What a parser answers, or why it does not."""
    try:
        return work(limits)
    except MemoryError:
        return {"failed": f"needs more than {limits.memory_bytes >> 20:,} MB of memory", "spent": 1}, b""
    except ExtractError as error:
        return {"failed": str(error)[:_LONGEST_REASON]}, b""
    except RecursionError:
        return {"failed": "nested too deeply"}, b""
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        advice = ": pip install 'topiarist[office]'" if package in OFFICE else ""
        return {"failed": f"needs {package}, which is not installed{advice}"}, b""
    except OSError as error:
        return {"failed": (error.strerror or str(error)).lower()[:_LONGEST_REASON]}, b""
    except Exception as error:
        # Whatever a parser raises on a file that strangers wrote costs that file only.
        return {"failed": f"could not be parsed: {in_words(error)}"[:_LONGEST_REASON]}, b""
