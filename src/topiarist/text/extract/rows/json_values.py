"""Objects of a JSON file (.json), one after the other, by ijson: the whole file is never in memory.

A file is a list of objects; or an object with a list of objects in it, of which the first is taken; or objects one
after the other; or one object, which is one document.
"""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterator
from typing import BinaryIO, Protocol

from topiarist.text.extract.decoding import SAMPLE_BYTES, Decoder
from topiarist.text.extract.limits import ExtractError, Limits, Part, Source, Told
from topiarist.text.extract.packing import unpacked
from topiarist.text.extract.rows.batches import batches, fault, remark

_UTF8 = ("utf-8", "utf-8-sig")
_DEEPEST = 200  # objects within each other


class _Readable(Protocol):
    def read(self, size: int = -1) -> bytes: ...


class _AsUtf8:
    """A file in another encoding as UTF-8, without the mark that it may begin with."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._reader = codecs.getreader(encoding)(stream, "replace")
        self._first = True

    def read(self, size: int = -1) -> bytes:
        """Some bytes; none at the end."""
        text = self._reader.read(size)
        if self._first:
            text, self._first = text.removeprefix("\ufeff"), not text
        return text.encode("utf-8", "replace")


def parts(source: Source, limits: Limits, told: Told) -> Iterator[Part]:
    """The objects of a file as rows."""
    packing = str(told.get("packing", ""))
    prefix, single = _where(source, packing)
    if prefix.removesuffix(".item") not in ("", "item"):
        list_name = prefix.removesuffix(".item")
        yield remark(f"the objects under “{list_name}” are documents; what else is in the file is left out")
    faults: list[Part] = []
    yield from batches(_rows(source, packing, (prefix, single), faults), limits.characters + 1)
    yield from faults


def _rows(
    source: Source, packing: str, where: tuple[str, bool], faults: list[Part]
) -> Iterator[tuple[int, dict[str, object]]]:
    import ijson

    prefix, single = where
    place = 0
    try:
        for value in ijson.items(_opened(source, packing), prefix, use_float=True, multiple_values=not prefix):
            place += 1
            if isinstance(value, dict):
                yield (0 if single else place), value
            elif isinstance(value, str):
                yield place, {"text": value}
            else:
                faults.append(fault(f"expected a JSON object, found {_name(value)}", place=place))
    except (ijson.JSONError, UnicodeError) as error:
        said = str(error).splitlines()[0][:100]
        if not place:
            raise ExtractError(f"not JSON: {said}") from error
        faults.append(fault(f"not JSON from here on ({said}); what came before is kept", place=place + 1))
    except EOFError:
        faults.append(fault("the compressed data end early; what came before is kept", place=place + 1))


def _where(source: Source, packing: str) -> tuple[str, bool]:
    """The path to the objects, as ijson says it, and whether there is one object alone."""
    import ijson

    stream = _opened(source, packing)
    head = stream.read(1 << 20)
    text = head.decode("utf-8", "replace").lstrip()
    if not text:
        raise ExtractError("not JSON: the file is empty")
    if text.startswith("["):
        return "item", False
    first, _, rest = text.partition("\n")
    if rest.strip() and _is_whole(first):
        return "", False
    depth = 0
    try:
        for path, event, _ in ijson.parse(_opened(source, packing), multiple_values=True):
            depth += (event in ("start_map", "start_array")) - (event in ("end_map", "end_array"))
            if depth > _DEEPEST:
                raise ExtractError("nested too deeply")
            if event == "start_map" and path.endswith(".item") and path.count(".item") == 1:
                return path, False
            if event == "end_map" and not path:
                break
    except (ijson.JSONError, UnicodeError) as error:
        raise ExtractError(f"not JSON: {str(error).splitlines()[0][:100]}") from error
    return "", True


def _is_whole(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _opened(source: Source, packing: str) -> _Readable:
    """The file from its beginning, as UTF-8."""
    if isinstance(source, io.BytesIO):
        source = io.BytesIO(source.getvalue())
    stream = unpacked(source, packing)
    encoding = Decoder(stream.read(SAMPLE_BYTES)).encoding
    stream.seek(0)
    return stream if encoding == "utf-8" else _AsUtf8(stream, encoding)


def _name(value: object) -> str:
    return {list: "a list", bool: "true or false", type(None): "null"}.get(type(value), "a number")
