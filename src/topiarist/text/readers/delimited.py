"""CSV and TSV: header, rows, and a way on after a malformed row."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from functools import partial

from topiarist.text.extract import ExtractError
from topiarist.text.readers.items import File, Setting, Trouble
from topiarist.text.readers.lines import READ_ERRORS, Line, line_limit, numbered_lines, opened, reason_of
from topiarist.text.readers.tables import Row, Rows, table_reader

_TOO_LONG = "the line is too long"
_NOT_CLOSED = "a quotation mark is opened here and not closed"

# A line costs about as much as this many characters, in time and in memory.
_LINE_COST = 64
# What may be read again: so much, and so many times what was read from the file. Files with a few open quotation
# marks stay far below; one made of nothing else would otherwise be read again from each of its lines.
_AGAIN = 1 << 20
_TIMES_AGAIN = 8


class _Feed:
    """Lines for `csv.reader`, which remembers those of the record at hand and can take them back.

    A record that goes on for more than `longest` characters is malformed. So is one that would go on over lines
    that were taken back, once too much has been read again: from there on each of these is a record of its own.
    """

    def __init__(self, lines: Iterator[Line], longest: int) -> None:
        self._lines = lines
        self._longest = longest
        self._returned: deque[Line] = deque()
        self._read = self._read_again = self._size = 0  # in characters, with what lines cost
        self.record: list[Line] = []
        self.too_long: list[int] = []

    def begin(self) -> None:
        """The next line is the first of a record."""
        self.record = []
        self._size = 0

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        if self.record and (self._size > self._longest or (self._returned and self._is_spent())):
            raise csv.Error(_NOT_CLOSED)
        again = bool(self._returned)
        while True:
            line = self._returned.popleft() if again else next(self._lines)
            if line.text is not None:
                break
            self.too_long.append(line.number)
        cost = len(line.text) + _LINE_COST
        self._read_again += cost if again else 0
        self._read += 0 if again else cost
        self._size += cost
        self.record.append(line)
        return line.text

    def take_back(self, *, keep: int) -> None:
        """All lines of the record but the first `keep` are read again, as records of their own."""
        self._returned.extendleft(reversed(self.record[keep:]))

    def told(self) -> Iterator[Trouble]:
        """The lines that were passed over since somebody asked."""
        numbers, self.too_long = self.too_long, []
        return (Trouble(_TOO_LONG, number) for number in numbers)

    def _is_spent(self) -> bool:
        return self._read_again > _AGAIN + _TIMES_AGAIN * self._read


def _rows(delimiters: str, file: File, setting: Setting) -> Rows:
    with opened(file) as stream:
        # The default of 128 KiB is less than a long article. It holds for the process: only ever raise it.
        csv.field_size_limit(max(csv.field_size_limit(), min(line_limit(setting.limits), 2**31 - 1)))
        feed = _Feed(numbered_lines(stream, setting.limits), line_limit(setting.limits))
        try:
            header, delimiter = _header(feed, delimiters)
            yield from _records(feed, header, delimiter)
        except StopIteration:  # no line that could be a header
            yield from feed.told()
        except READ_ERRORS as error:
            last = feed.record[-1].number if feed.record else 0
            yield Trouble(f"{reason_of(error)}; what came before is kept", last + 1)


def _header(feed: _Feed, delimiters: str) -> tuple[list[str], str]:
    """The names of the columns, and the sign between them that makes the most of them."""
    line = next(feed)
    while not line.strip():
        feed.begin()
        line = next(feed)
    delimiter = max(delimiters, key=lambda sign: len(_cells(line, sign)))
    feed.take_back(keep=0)
    feed.begin()
    try:
        # From the feed again: a name in quotation marks may go over several lines.
        cells = next(csv.reader(feed, delimiter=delimiter))
    except csv.Error as error:
        raise ExtractError(f"malformed in its first line: {error}") from error
    names: list[str] = []
    taken: set[str] = set()
    for number, cell in enumerate(cells, start=1):
        name = cell.strip() or f"column {number}"
        names.append(name if name not in taken else f"{name} {number}")
        taken.add(names[-1])
    return names, delimiter


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])


def _records(feed: _Feed, header: list[str], delimiter: str) -> Rows:
    records = csv.reader(feed, delimiter=delimiter)
    is_first = True
    while True:
        feed.begin()
        wrong = ""
        cells: list[str] = []
        try:
            cells = next(records)
        except StopIteration:
            yield from feed.told()
            break
        except csv.Error as error:
            wrong = f"malformed: {error}"
        yield from feed.told()
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
        if is_first:  # of the others, each would cost as much as the header is long
            cells += [""] * (len(header) - len(cells))
            is_first = False
        yield Row(first.number, dict(zip(header, cells, strict=False)))


def _fault(cells: list[str], header: list[str], record: list[Line]) -> str:
    """What is wrong with a record that was parsed. Missing cells at the end of a line are not."""
    if len(record) > 1:
        quotes = sum((line.text or "").count('"') for line in record)
        if quotes % 2 or len(cells) != len(header):
            return f"malformed: {_NOT_CLOSED}"
    if any(cell.strip() for cell in cells[len(header) :]):
        return f"{len(cells)} cells where the header has {len(header)}; is there a delimiter in unquoted text?"
    return ""


read_csv = table_reader(partial(_rows, ",;\t|"))
read_tsv = table_reader(partial(_rows, "\t"))
