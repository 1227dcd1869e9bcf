"""CSV and TSV files: header, rows, and recovery after malformed rows."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator

from topiarist.text.parsers import ExtractError, Limits
from topiarist.text.readers.items import File, ReadFailure
from topiarist.text.readers.lines import READ_ERRORS, Line, explain_error, get_line_limit, numbered_lines, open_file
from topiarist.text.readers.tables import Row, Rows, table_reader

_TOO_LONG = "the line is too long"
_NOT_CLOSED = "a quotation mark is opened here and not closed"

# Characters that cost as much time and memory as the start of a line.
_LINE_COST = 64
# Limits of reading again: in characters, and as a multiple of those read from the file. Files with a few open quotation
# marks stay far below; a file of open quotation marks would be read again from each line.
_FREE_RETRIES = 1 << 20
_MAX_RETRY_RATIO = 8


class _Feed:
    """Lines for `csv.reader`, which keeps those of the current record and can return them.

    A record of more than `max_length` characters is malformed. A record that would extend over returned lines is
    malformed too, once too much was read again: from there on each of these lines is a record of its own.
    """

    def __init__(self, lines: Iterator[Line], max_length: int) -> None:
        self._lines = lines
        self._max_length = max_length
        self._returned: deque[Line] = deque()
        self._n_read = self._n_reread = self._size = 0  # in characters, with what lines cost
        self.record: list[Line] = []
        self.long_lines: list[int] = []

    def start_record(self) -> None:
        self.record = []
        self._size = 0

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        if self.record and (self._size > self._max_length or (self._returned and self._exceeds_retries())):
            raise csv.Error(_NOT_CLOSED)
        is_retry = bool(self._returned)
        while True:
            line = self._returned.popleft() if is_retry else next(self._lines)
            if line.text is not None:
                break
            self.long_lines.append(line.number)
        cost = len(line.text) + _LINE_COST
        self._n_reread += cost if is_retry else 0
        self._n_read += 0 if is_retry else cost
        self._size += cost
        self.record.append(line)
        return line.text

    def take_back(self, *, keep: int) -> None:
        """Return all lines of the record but the first `keep`, to be read again as records of their own."""
        self._returned.extendleft(reversed(self.record[keep:]))

    def take_long_lines(self) -> Iterator[ReadFailure]:
        """Return a failure for each line skipped as too long, and clear the list."""
        numbers, self.long_lines = self.long_lines, []
        return (ReadFailure(_TOO_LONG, place=number) for number in numbers)

    def _exceeds_retries(self) -> bool:
        return self._n_reread > _FREE_RETRIES + _MAX_RETRY_RATIO * self._n_read


def read_delimited_rows(file: File, limits: Limits, delimiters: str) -> Rows:
    """Yield the rows of a file; its first line decides which of the delimiters it has."""
    with open_file(file) as stream:
        # The default of 128 KiB is less than a long article. It holds for the process: only ever raise it.
        csv.field_size_limit(max(csv.field_size_limit(), min(get_line_limit(limits), 2**31 - 1)))
        feed = _Feed(numbered_lines(stream, limits), get_line_limit(limits))
        try:
            header, delimiter = _read_header(feed, delimiters)
            yield from _read_records(feed, header, delimiter)
        except StopIteration:  # no line that could be a header
            yield from feed.take_long_lines()
        except READ_ERRORS as error:
            last = feed.record[-1].number if feed.record else 0
            yield ReadFailure(f"{explain_error(error)}; earlier rows are kept", place=last + 1)


def _read_header(feed: _Feed, delimiters: str) -> tuple[list[str], str]:
    """Return the column names, and the delimiter that yields most. Raise ExtractError if malformed."""
    line = next(feed)
    while not line.strip():
        feed.start_record()
        line = next(feed)
    delimiter = max(delimiters, key=lambda sign: len(_cells(line, sign)))
    feed.take_back(keep=0)
    feed.start_record()
    try:
        # From the feed again: a name in quotation marks may go over several lines.
        cells = next(csv.reader(feed, delimiter=delimiter))
    except csv.Error as error:
        raise ExtractError(f"malformed in its first line: {error}") from error
    names: list[str] = []
    used: set[str] = set()
    for number, cell in enumerate(cells, start=1):
        name = cell.strip() or f"column {number}"
        names.append(name if name not in used else f"{name} {number}")
        used.add(names[-1])
    return names, delimiter


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])


def _read_records(feed: _Feed, header: list[str], delimiter: str) -> Rows:
    """Yield the rows of a delimited file after its header, and a failure for each malformed line."""
    records = csv.reader(feed, delimiter=delimiter)
    is_first = True
    while True:
        feed.start_record()
        fault = ""
        cells: list[str] = []
        try:
            cells = next(records)
        except StopIteration:
            yield from feed.take_long_lines()
            break
        except csv.Error as error:
            fault = f"malformed: {error}"
        yield from feed.take_long_lines()
        if not fault and not any(cell.strip() for cell in cells):
            continue
        first = feed.record[0]
        fault = fault or _find_fault(cells, header, feed.record)
        if fault:
            feed.take_back(keep=1)
            records = csv.reader(feed, delimiter=delimiter)
            # Tab-separated files often hold quotation marks without a meaning.
            cells = (first.text or "").rstrip("\r\n").split("\t") if delimiter == "\t" else []
            if len(cells) != len(header):
                yield ReadFailure(fault, place=first.number)
                continue
        if is_first:  # only the first: missing cells of each row cost as much as the header
            cells += [""] * (len(header) - len(cells))
            is_first = False
        yield Row(first.number, dict(zip(header, cells, strict=False)))


def _find_fault(cells: list[str], header: list[str], record: list[Line]) -> str:
    """Return the fault of a parsed record. Missing cells at the end of a line are none."""
    if len(record) > 1:
        quotes = sum((line.text or "").count('"') for line in record)
        if quotes % 2 or len(cells) != len(header):
            return f"malformed: {_NOT_CLOSED}"
    if any(cell.strip() for cell in cells[len(header) :]):
        return f"{len(cells)} cells where the header has {len(header)}; is there a delimiter in unquoted text?"
    return ""


CSV_DELIMITERS, TSV_DELIMITERS = ",;\t|", "\t"
read_csv = table_reader(lambda file, setting: read_delimited_rows(file, setting.limits, CSV_DELIMITERS))
read_tsv = table_reader(lambda file, setting: read_delimited_rows(file, setting.limits, TSV_DELIMITERS))
