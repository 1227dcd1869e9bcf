"""Documents from Python objects: data frames of any library, series, lists of texts or of paths.

Columns of a frame are chosen as in a file: by name, or by the length of their texts. The others are stored with the
documents. Rows without a text are skipped and reported.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from topiarist.errors import InputError
from topiarist.text.documents import Document, Problem, as_documents
from topiarist.text.readers import Columns, Reading, ReadingSettings, read
from topiarist.text.readers.items import ReadFailure
from topiarist.text.readers.making import create_document
from topiarist.text.readers.tables import Row, create_item, read_sample, settle_columns

CHARACTERS = 100_000_000  # of a text that are kept
MAX_REPORTED_ROWS = 100  # skipped rows that are reported one by one


class FrameDocuments:
    """Documents of a data frame; ``problems`` are the skipped rows, complete after iteration."""

    def __init__(self, frame: Any, columns: Columns, first: int = 1) -> None:
        self.frame, self.columns, self.first = frame, columns, first
        self.problems: list[Problem] = []
        self._names = [str(name) for name in frame.columns]
        sample = read_sample(Row(number, cells) for number, cells in self._rows(frame.head(1_000)))
        self._table_columns = settle_columns(columns, sample, "the data frame", self._names)
        self.chosen = {self._table_columns: 1}  # as readings tell it
        self.settings = ReadingSettings(columns)

    def __iter__(self) -> Iterator[Document]:
        left_out = 0
        self.problems.clear()
        for number, cells in self._rows(self.frame):
            item = create_item(Row(number, cells), self._table_columns, self.columns)
            document = None if isinstance(item, ReadFailure) else create_document(item, "row ", "", CHARACTERS)
            if document is None:
                left_out += 1
                reason = item.reason if isinstance(item, ReadFailure) else item.note or "no text"
                self.problems += [Problem(f"row {number}", reason)] if left_out <= MAX_REPORTED_ROWS else []
            else:
                yield (
                    document
                    if isinstance(item, ReadFailure) or item.id
                    else replace(document, id=str(self.first + number - 1))
                )
        if left_out > MAX_REPORTED_ROWS:
            self.problems.append(Problem("rows", f"{left_out - MAX_REPORTED_ROWS:,} more rows like these"))

    def _rows(self, frame: Any) -> Iterator[tuple[int, dict[str, object]]]:
        for number, cells in enumerate(frame.iter_rows(), 1):
            yield number, dict(zip(self._names, map(_convert_cell, cells), strict=True))


def open_documents(source: Any, settings: ReadingSettings | None = None, first: int = 1) -> Any:
    """Return the documents of a path, of paths, documents, texts, a series or a data frame.

    ``first`` is the number that the first document without an id gets as its id.
    """
    settings = settings or ReadingSettings()
    if isinstance(source, str | os.PathLike):
        return _read([source], settings)
    import narwhals

    frame = narwhals.from_native(source, allow_series=True, pass_through=True)
    if isinstance(frame, narwhals.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, narwhals.DataFrame):
        return FrameDocuments(frame, settings.columns, first)
    if isinstance(frame, narwhals.Series):
        return SeriesDocuments(frame, first)
    if isinstance(source, Sequence) and source and all(isinstance(item, os.PathLike) for item in source):
        return _read(source, settings)
    return source if hasattr(source, "problems") else as_documents(source, first)


def _read(paths: Sequence[str | os.PathLike[str]], settings: ReadingSettings) -> Reading:
    """Return the documents of files and folders."""
    return read([os.fspath(path) for path in paths], settings.columns, xml_path=settings.xml_path, ocr=settings.ocr)


class SeriesDocuments:
    """Documents of a series of texts, numbered from 1; missing texts are skipped and reported."""

    def __init__(self, series: Any, first: int = 1) -> None:
        self.series, self.first = series, first
        self.problems: list[Problem] = []

    def __iter__(self) -> Iterator[Document]:
        self.problems.clear()
        for number, value in enumerate(map(_convert_cell, self.series), 1):
            if isinstance(value, str) and value.strip():
                yield Document(str(self.first + number - 1), value)
            elif value is None or isinstance(value, str):
                self.problems.append(Problem(f"row {number}", "no text"))
            else:
                raise InputError(
                    f"expected texts, got {type(value).__name__} in row {number}", hint="Pass a column of strings."
                )


def _convert_cell(value: Any) -> object:
    """Convert a cell to a Python value: None if it is missing, lists for arrays, a day for a moment at midnight."""
    if value is None or isinstance(value, str):
        return value
    if hasattr(value, "tolist") and not isinstance(value, datetime.date):
        value = value.tolist()
    if isinstance(value, list | tuple | dict):
        return value
    try:
        if value != value:
            return None
    except (TypeError, ValueError):
        return None
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date()
    return value
