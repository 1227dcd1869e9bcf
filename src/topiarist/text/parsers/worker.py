"""Worker process of the parsers: resource limits first, then one request after the other until the pipe closes."""

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
from typing import Any, BinaryIO

from topiarist.errors import describe_foreign_error
from topiarist.text.parsers import protocol, sandbox
from topiarist.text.parsers.limits import ExtractError, Extractor, Limits, Options, Part, PartReader, Source

_ALARM_GRACE = 10.0  # seconds after the limit of the reader: the alarm ends only orphans
_REQUEST_LIMIT = 1 << 40  # the reader is trusted
_MAX_REASON_LENGTH = 300
_MAX_NAME_LENGTH = 200
OFFICE = ("pypdfium2", "lxml", "python_calamine")  # packages of the extra ``office``
_MAX_COLUMNS, _MAX_VALUE_LENGTH = 200, 1_001  # one character more than is kept, so that the reader sees the cut


def _load(place: str) -> Any:
    """Return a function of ``module:function``, whose module is loaded when it is first needed."""
    module, _, name = place.partition(":")
    return lambda *arguments: getattr(import_module(f"topiarist.text.parsers.{module}"), name)(*arguments)


EXTRACTORS: Mapping[str, Extractor] = {
    "pdf": _load("pdf:extract_pdf"),
    "docx": _load("word:extract_docx"),
    "html": _load("html:extract_html"),
    "mail": _load("mail:extract_mail"),
    "msg": _load("mail:extract_msg"),
    "latex": _load("markup:extract_latex"),
    "rtf": _load("markup:extract_rtf"),
    "slides": _load("office:extract_slides"),
    "opendocument": _load("office:extract_opendocument"),
    "epub": _load("office:extract_epub"),
}
PARTERS: Mapping[str, PartReader] = {
    "archive": _load("archives:read_archive_members"),
    "spreadsheet": _load("rows.spreadsheet:read_spreadsheet_rows"),
    "json": _load("rows.json_values:read_json_values"),
    "xml": _load("rows.xml_elements:read_xml_elements"),
    "parquet": _load("rows.parquet:read_parquet_rows"),
    "recognised": _load("pdf:read_page_images"),
}


def main() -> None:
    serve(EXTRACTORS, PARTERS)


def serve(extractors: Mapping[str, Extractor], parters: Mapping[str, PartReader] | None = None) -> None:
    """Answer requests on standard input until it closes.

    Tests pass `extractors` and `parters` that hang, crash or use too much memory.
    """
    if hasattr(signal, "SIGINT"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the reader handles Ctrl-C and ends this process
    requests, replies = _open_private_streams()
    try:
        hello, _ = protocol.receive(requests, 0)
        limits = _parse_limits(hello)
        sandbox.drop_network_access()
        _restrict_files(hello)
        _limit_memory(limits)
        protocol.send(replies, {"ready": 1})
        parts: Iterator[Part] = iter(())
        while True:
            header, data = protocol.receive(requests, _REQUEST_LIMIT)
            _set_alarm(limits)
            source: Source = str(header.get("path", "")) or io.BytesIO(data)
            if "parts" in header:
                parts = _start_parts((parters or {})[str(header["parser"])], source, limits, header)
            has_parts = "parts" in header or "next" in header
            reply, text = _answer_safely(
                partial(_next_part, parts)
                if has_parts
                else partial(_answer, extractors, str(header.get("parser")), source),
                limits,
            )
            protocol.send(replies, reply, text)
            _clear_alarm()
    except (protocol.BrokenFrameError, BrokenPipeError):
        return  # the reader has closed the pipe


def _open_private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return the pipes under new file descriptors, so that a parser that prints cannot break the protocol."""
    requests = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    null_device = os.open(os.devnull, os.O_RDWR)
    os.dup2(null_device, sys.stdin.fileno())
    os.dup2(null_device, sys.stdout.fileno())
    return requests, replies


def _parse_limits(hello: protocol.Header) -> Limits:
    integers = {limit.name: int(hello[limit.name]) for limit in fields(Limits) if limit.name != "seconds"}
    return Limits(seconds=float(hello["seconds"]), **integers)


def _restrict_files(hello: protocol.Header) -> None:
    """Restrict the process to the sources and the scratch folder of this reading, if they are known."""
    if "readable" not in hello:
        return
    scratch = str(hello["scratch"])
    tempfile.tempdir = os.environ["TMPDIR"] = scratch
    sandbox.drop_file_access([*json.loads(str(hello["readable"])), scratch], [scratch])


def _limit_memory(limits: Limits) -> None:
    """Limit the memory of this process, and disable core dumps, which would contain documents of users."""
    try:
        import resource
    except ImportError:  # Windows: the time limit remains
        return
    for kind, value in ((resource.RLIMIT_AS, limits.memory_bytes), (resource.RLIMIT_CORE, 0)):
        try:
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError):
            continue  # a lower limit is in force already, or the system has none


def _set_alarm(limits: Limits) -> None:
    # The reader kills a late worker. If the reader was killed, this alarm ends the worker.
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, limits.seconds + _ALARM_GRACE)


def _clear_alarm() -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


Answer = tuple[protocol.Header, bytes]


def _answer(extractors: Mapping[str, Extractor], parser: str, source: Source, limits: Limits) -> Answer:
    """Return the text of a document, followed by its attachments."""
    extracted = extractors[parser](source, limits)
    # One character more than allowed, so that the reader sees the cut.
    text = extracted.text[: limits.characters + 1].encode("utf-8", "replace")[: limits.raw_bytes]
    reply: protocol.Header = {
        "title": extracted.title[:1000],
        "date": extracted.date[:200],
        "note": extracted.note[:300],
    }
    reply["file_date"] = extracted.file_date[:200]
    reply["scanned"] = extracted.scanned
    reply["columns"] = json.dumps(
        [(name[:100], value[:_MAX_VALUE_LENGTH]) for name, value in extracted.columns[:_MAX_COLUMNS]]
    )
    if extracted.attachments:
        reply["attached"] = json.dumps(
            [(attachment.name[:_MAX_NAME_LENGTH], len(attachment.data)) for attachment in extracted.attachments]
        )
        text = b"".join([text, *(attachment.data for attachment in extracted.attachments)])
    return reply, text


def _start_parts(parter: PartReader, source: Source, limits: Limits, options: Options) -> Iterator[Part]:
    """Yield the parts of a file; a parser that fails at once fails at the first part."""
    yield from parter(source, limits, options)


def _next_part(parts: Iterator[Part], limits: Limits) -> Answer:
    part = next(parts, None)
    return ({"end": 1}, b"") if part is None else ({"part": 1, **part.facts}, part.data)


def _answer_safely(work: Callable[[Limits], Answer], limits: Limits) -> Answer:
    """Return the answer of a parser, or the reason of its failure."""
    try:
        return work(limits)
    except MemoryError:
        return {"failed": f"needs more than {limits.memory_bytes >> 20:,} MB of memory", "spent": 1}, b""
    except ExtractError as error:
        return {"failed": str(error)[:_MAX_REASON_LENGTH]}, b""
    except RecursionError:
        return {"failed": "nested too deeply"}, b""
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        advice = ": pip install 'topiarist[office]'" if package in OFFICE else ""
        return {"failed": f"needs {package}, which is not installed{advice}"}, b""
    except OSError as error:
        return {"failed": (error.strerror or str(error)).lower()[:_MAX_REASON_LENGTH]}, b""
    except Exception as error:
        # Any error of a parser on an unknown file costs that file only.
        return {"failed": f"could not be parsed: {describe_foreign_error(error)}"[:_MAX_REASON_LENGTH]}, b""
