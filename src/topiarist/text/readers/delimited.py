"""CSV and TSV: header, rows, and a way on after a malformed row."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from functools import partial

from topiarist.text.readers.items import File, Setting, Trouble
from topiarist.text.readers.lines import READ_ERRORS, Line, line_limit, numbered_lines, opened, reason_of
from topiarist.text.readers.tables import Row, Rows, table_reader

_TOO_LONG = "the line is too long"


class _Feed:
    """Lines for `csv.reader`, which remembers those of the record at hand and can take them back."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._returned: deque[Line] = deque()
        self.record: list[Line] = []
        self.too_long: list[int] = []

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        while True:
            line = self._returned.popleft() if self._returned else next(self._lines)
            if line.text is not None:
                break
            self.too_long.append(line.number)
        self.record.append(line)
        return line.text

    def take_back(self, *, keep: int) -> None:
        """All lines of the record but the first `keep` are read again, as records of their own."""
        self._returned.extendleft(reversed(self.record[keep:]))


def _rows(delimiters: str, file: File, setting: Setting) -> Rows:
    with opened(file) as stream:
        # The default of 128 KiB is less than a long article. It holds for the process: only ever raise it.
        csv.field_size_limit(max(csv.field_size_limit(), min(line_limit(setting.limits), 2**31 - 1)))
        feed = _Feed(numbered_lines(stream, setting.limits))
        try:
            header, delimiter = _header(feed, delimiters)
            yield from _records(feed, header, delimiter)
        except StopIteration:
            return
        except READ_ERRORS as error:
            last = feed.record[-1].number if feed.record else 0
            yield Trouble(f"{reason_of(error)}; what came before is kept", last + 1)


def _header(feed: _Feed, delimiters: str) -> tuple[list[str], str]:
    """The names of the columns, and the sign between them that makes the most of them."""
    line = next(feed)
    while not line.strip():
        feed.record.clear()
        line = next(feed)
    delimiter = max(delimiters, key=lambda sign: len(_cells(line, sign)))
    feed.take_back(keep=0)
    names: list[str] = []
    # From the feed again: a name in quotation marks may go over several lines.
    for number, cell in enumerate(next(csv.reader(feed, delimiter=delimiter)), start=1):
        name = cell.strip() or f"column {number}"
        names.append(name if name not in names else f"{name} {number}")
    return names, delimiter


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])


def _records(feed: _Feed, header: list[str], delimiter: str) -> Rows:
    records = csv.reader(feed, delimiter=delimiter)
    while True:
        feed.record = []
        wrong = ""
        cells: list[str] = []
        try:
            cells = next(records)
        except StopIteration:
            break
        except csv.Error as error:
            wrong = f"malformed: {error}"
        yield from (Trouble(_TOO_LONG, number) for number in feed.too_long)
        feed.too_long.clear()
        if not wrong and not any(cell.strip() for cell in cells):
            continue
        first = feed.record[0]
        wrong = wrong or _fault(cells, header, feed.record)
        if wrong:
            feed.take_back(keep=1)
            records = csv.reader(feed, delimiter=delimiter)
            # Tab-separated files often hold bare quotation marks that quote nothing.
            cells = (first.text or "").rstrip("\r\n").split("\t") if delimiter == "\t" else []
            if len(cells) != len(header):
                yield Trouble(wrong, first.number)
                continue
        cells += [""] * (len(header) - len(cells))
        yield Row(first.number, dict(zip(header, cells, strict=False)))


def _fault(cells: list[str], header: list[str], record: list[Line]) -> str:
    """What is wrong with a record that was parsed. Missing cells at the end of a line are not."""
    if len(record) > 1:
        quotes = sum((line.text or "").count('"') for line in record)
        if quotes % 2 or len(cells) != len(header):
            return "malformed: a quotation mark is opened here and not closed"
    if any(cell.strip() for cell in cells[len(header) :]):
        return f"{len(cells)} cells where the header has {len(header)}; is there a delimiter in unquoted text?"
    return ""


read_csv = table_reader(partial(_rows, ",;\t|"))
read_tsv = table_reader(partial(_rows, "\t"))
