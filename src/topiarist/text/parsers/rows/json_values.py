"""Objects of a JSON file (.json), by ijson; the whole file is never in memory.

A file is a list of objects, an object with lists of objects (the first is read), a sequence of objects, or a single
object, which is one document.
"""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterator
from typing import BinaryIO, Protocol

from topiarist.text.parsers.decoding import SAMPLE_BYTES, Decoder
from topiarist.text.parsers.limits import ExtractError, Limits, Options, Part, Source, open_unpacked
from topiarist.text.parsers.rows.batches import batch_rows, create_fault, create_remark

_UTF8 = ("utf-8", "utf-8-sig")
_MAX_DEPTH = 200  # objects within each other


class _Readable(Protocol):
    def read(self, size: int = -1) -> bytes: ...


class _AsUtf8:
    """Stream of a file in another encoding as UTF-8, without its byte order mark."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._reader = codecs.getreader(encoding)(stream, "replace")
        self._first = True

    def read(self, size: int = -1) -> bytes:
        text = self._reader.read(size)
        if self._first:
            text, self._first = text.removeprefix("\ufeff"), not text
        return text.encode("utf-8", "replace")


def read_json_values(source: Source, limits: Limits, options: Options) -> Iterator[Part]:
    """Yield the objects of a file as rows."""
    packing = str(options.get("packing", ""))
    prefix, single = _find_objects(source, packing)
    if prefix.removesuffix(".item") not in ("", "item"):
        list_name = prefix.removesuffix(".item")
        yield create_remark(f"the objects under “{list_name}” are documents; other values of the file are skipped")
    faults: list[Part] = []
    yield from batch_rows(_read_rows(source, packing, (prefix, single), faults), limits.characters + 1)
    yield from faults


def _read_rows(
    source: Source, packing: str, location: tuple[str, bool], faults: list[Part]
) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the number and the object of each value in a JSON file; append faults to ``faults``."""
    import ijson

    prefix, single = location
    place = 0
    try:
        for value in ijson.items(_open_utf8(source, packing), prefix, use_float=True, multiple_values=not prefix):
            place += 1
            if isinstance(value, dict):
                yield (0 if single else place), value
            elif isinstance(value, str):
                yield place, {"text": value}
            else:
                faults.append(create_fault(f"expected a JSON object, found {_describe_type(value)}", place=place))
    except (ijson.JSONError, UnicodeError) as error:
        reason = str(error).splitlines()[0][:100]
        if not place:
            raise ExtractError(f"not JSON: {reason}") from error
        faults.append(create_fault(f"not JSON from here on ({reason}); earlier objects are kept", place=place + 1))
    except EOFError:
        faults.append(create_fault("the compressed data end early; earlier objects are kept", place=place + 1))


def _find_objects(source: Source, packing: str) -> tuple[str, bool]:
    """Return ijson's path to the objects, and whether there is only one. Raise ExtractError if not JSON."""
    import ijson

    stream = _open_utf8(source, packing)
    head = stream.read(1 << 20)
    text = head.decode("utf-8", "replace").lstrip()
    if not text:
        raise ExtractError("not JSON: the file is empty")
    if text.startswith("["):
        return "item", False
    first, _, rest = text.partition("\n")
    if rest.strip() and _is_object(first):
        return "", False
    depth = 0
    try:
        for path, event, _ in ijson.parse(_open_utf8(source, packing), multiple_values=True):
            depth += (event in ("start_map", "start_array")) - (event in ("end_map", "end_array"))
            if depth > _MAX_DEPTH:
                raise ExtractError("nested too deeply")
            if event == "start_map" and path.endswith(".item") and path.count(".item") == 1:
                return path, False
            if event == "end_map" and not path:
                break
    except (ijson.JSONError, UnicodeError) as error:
        raise ExtractError(f"not JSON: {str(error).splitlines()[0][:100]}") from error
    return "", True


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _open_utf8(source: Source, packing: str) -> _Readable:
    """Return a stream of the file, from its start, in UTF-8."""
    if isinstance(source, io.BytesIO):
        source = io.BytesIO(source.getvalue())
    stream = open_unpacked(source, packing)
    encoding = Decoder(stream.read(SAMPLE_BYTES)).encoding
    stream.seek(0)
    return stream if encoding == "utf-8" else _AsUtf8(stream, encoding)


def _describe_type(value: object) -> str:
    return {list: "a list", bool: "true or false", type(None): "null"}.get(type(value), "a number")
