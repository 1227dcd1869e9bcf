"""Documents from what people have in Python: data frames of any library, series, lists of texts or of paths.

Columns of a frame are settled as those of a file are: by what is asked for, by their names, or by the length of their
texts; the others are kept with the documents. Rows without a text are left out, and told.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from topiarist.errors import InputError
from topiarist.text.documents import Document, Problem, as_documents
from topiarist.text.readers import Columns, read
from topiarist.text.readers.items import Trouble
from topiarist.text.readers.making import document_from
from topiarist.text.readers.tables import Row, item_from, sample_of, settle

CHARACTERS = 100_000_000  # of a text that are kept
TOLD = 100  # rows that are left out and told one by one


class FrameDocuments:
    """The documents of a data frame; ``problems`` are the rows that are none, known when all were passed."""

    def __init__(self, frame: Any, columns: Columns) -> None:
        self.frame, self.columns = frame, columns
        self.problems: list[Problem] = []
        self._names = [str(name) for name in frame.columns]
        first = sample_of(Row(number, cells) for number, cells in self._rows(frame.head(1_000)))
        self._chosen = settle(columns, first, "the data frame", self._names)
        self.chosen = {self._chosen: 1}  # as readings tell it

    def __iter__(self) -> Iterator[Document]:
        left_out = 0
        self.problems.clear()
        for number, cells in self._rows(self.frame):
            item = item_from(Row(number, cells), self._chosen, self.columns)
            found = None if isinstance(item, Trouble) else document_from(item, "row ", "", CHARACTERS)
            if found is None:
                left_out += 1
                reason = item.reason if isinstance(item, Trouble) else "no text"
                self.problems += [Problem(f"row {number}", reason)] if left_out <= TOLD else []
            else:
                yield found if isinstance(item, Trouble) or item.id else replace(found, id=str(number))
        if left_out > TOLD:
            self.problems.append(Problem("rows", f"{left_out - TOLD:,} more rows like these"))

    def _rows(self, frame: Any) -> Iterator[tuple[int, dict[str, object]]]:
        for number, cells in enumerate(frame.iter_rows(), 1):
            yield number, dict(zip(self._names, map(_plain, cells), strict=True))


def documents_of(source: Any, columns: Columns | None = None) -> Any:
    """What can be grown from, whatever it comes as: a path, paths, documents, texts, a series or a data frame."""
    if isinstance(source, str):
        return source
    if isinstance(source, os.PathLike):
        return os.fspath(source)
    import narwhals

    known = narwhals.from_native(source, allow_series=True, pass_through=True)
    if isinstance(known, narwhals.LazyFrame):
        known = known.collect()
    if isinstance(known, narwhals.DataFrame):
        return FrameDocuments(known, columns or Columns())
    if isinstance(known, narwhals.Series):
        return SeriesDocuments(known)
    if isinstance(source, Sequence) and source and all(isinstance(one, os.PathLike) for one in source):
        return read([os.fspath(one) for one in source], columns=columns or Columns())
    given: Iterable[Document] = source if hasattr(source, "problems") else as_documents(source)
    return given


class SeriesDocuments:
    """The texts of a series, numbered from 1; those that are missing are left out, and told."""

    def __init__(self, series: Any) -> None:
        self.series = series
        self.problems: list[Problem] = []

    def __iter__(self) -> Iterator[Document]:
        self.problems.clear()
        for number, value in enumerate(map(_plain, self.series), 1):
            if isinstance(value, str) and value.strip():
                yield Document(str(number), value)
            elif value is None or isinstance(value, str):
                self.problems.append(Problem(f"row {number}", "no text"))
            else:
                raise InputError(
                    f"expected texts, got {type(value).__name__} in row {number}", hint="a column of strings"
                )


def _plain(value: Any) -> object:
    """A cell as Python has it: None for what is missing, lists for arrays, a day for a moment at midnight."""
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
