"""Labels from a table: a document's id and its label, in several rows or in one cell where it has several."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from topiarist.errors import InputError, UsageError
from topiarist.text.extract.decoding import decode
from topiarist.text.spelling import proposed

IDS = ("id", "document", "doc", "name", "file")
LABELS = ("label", "labels", "category", "categories", "class", "topic", "path")
BAR, SEPARATORS = (
    "|",
    ";|",
)  # between the labels of one cell
KINDS = (".csv", ".tsv", ".jsonl", ".ndjson")


def read_labels(path: str, separator: str | None = None) -> dict[str, tuple[str, ...]]:
    """The labels of each document, each once, in the order of the rows.

    ``separator`` stands between labels in one cell: by default, or with a bar, both a bar and a
    semicolon do; empty for cells of one label.
    The table may be in any encoding that documents may be in.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in KINDS:
        raise UsageError(f"expected a table of labels, .csv, .tsv or .jsonl, got {path}", hint="labels.csv")
    try:
        text = decode(Path(path).read_bytes())
    except FileNotFoundError:
        raise UsageError(
            f"there is no file of labels at {path}", hint="a table with the columns id and label"
        ) from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {(error.strerror or str(error)).lower()}", hint="another file") from None
    found: dict[str, dict[str, None]] = {}
    rows = _objects(text, path) if suffix in (".jsonl", ".ndjson") else _cells(text, suffix, path)
    for name, labels in rows:
        given = labels if isinstance(labels, list) else _parted("" if labels is None else str(labels), separator)
        own = found.setdefault(name, {})
        own.update(dict.fromkeys(plain for label in given if label is not None and (plain := str(label).strip())))
    kept = {name: tuple(labels) for name, labels in found.items() if name and labels}
    if not kept:
        raise InputError(f"there is no label in {path}", hint="a table with the columns id and label")
    return kept


def _parted(cell: str, separator: str | None) -> list[str]:
    """The labels of one cell."""
    if separator in (None, BAR):
        return re.split(f"[{re.escape(SEPARATORS)}]", cell)
    return cell.split(separator) if separator else [cell]


def _cells(text: str, suffix: str, path: str) -> Iterator[tuple[str, Any]]:
    text = text.removeprefix("\ufeff")
    first = text.split("\n", 1)[0]
    divider = "\t" if suffix == ".tsv" else ";" if first.count(";") > first.count(",") else ","
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=divider)
    header = [cell.strip() for cell in next(rows, [])]
    id, label = (_column(header, names, path) for names in (IDS, LABELS))
    for row in rows:
        if len(row) > max(id, label):
            yield row[id].strip(), row[label]


def _objects(text: str, path: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            keys = list(row)
        except (ValueError, TypeError) as error:
            raise InputError(f"line {number} of {path} is not a JSON object", hint='{"id": …, "label": …}') from error
        if not isinstance(row, dict):
            raise InputError(f"line {number} of {path} is not a JSON object", hint='{"id": …, "label": …}')
        id, label = (keys[_column(keys, names, path)] for names in (IDS, LABELS))
        yield str(row[id]).strip(), row[label]


def _column(header: list[str], names: tuple[str, ...], path: str) -> int:
    """The place of the first of these names."""
    lower = [name.lower() for name in header]
    for name in names:
        if name in lower:
            return lower.index(name)
    near = proposed(names[0], header)
    raise UsageError(
        f"which column of {path} is the {names[0]}? It has: {', '.join(header)}", hint=f"{names[0]}, not {near}"
    )
