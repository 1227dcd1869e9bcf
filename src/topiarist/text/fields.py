"""Columns of documents: their kinds, their values, and the ranges that queries ask for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from topiarist.errors import UsageError
from topiarist.text.date_orders import DateOrders, summarise_orders
from topiarist.text.dates import MAX_LENGTH, ORDERS, get_next_date, read_date
from topiarist.text.spelling import find_likeliest_name

TEXT, CATEGORY, NUMBER, DATE = KINDS = ("text", "category", "number", "date")
MAX_COLUMNS = 100  # columns of a collection
MAX_NAME_LENGTH, MAX_VALUE_LENGTH = 100, 1_000  # characters
MAX_VALUES = 50  # of one column in one document
MIN_KIND_SHARE = 0.95  # share of values that are numbers or dates in such a column
MAX_CATEGORIES, MAX_CATEGORY_LENGTH = 200, 100
ALL, NONE = "all", "none"
MISSING_VALUES = frozenset(("n/a", "n.a.", "#n/a", "none", "null", "nil", "nan", "-", "--", "---", "–", "—"))

_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?")
_DATE_NAMES = frozenset(
    ["date", "datum", "fecha", "datetime", "timestamp", "created", "updated", "modified", "published", "posted"]
)
_RANGE = re.compile(r"(?P<low>.*?)\s*\.\.\s*(?P<high>.*)")
_BOUND = re.compile(r"(?P<sign>>=|<=|>|<|=)\s*(?P<value>.+)")

Cells = tuple[tuple[str, str], ...]  # names and values of columns, in order; a name can occur several times


def is_missing(text: str) -> bool:
    """Return whether a cell is empty or holds a word for a missing value."""
    return not text or text.isspace() or text.strip().casefold() in MISSING_VALUES


@lru_cache(maxsize=1024)
def column_key(name: str) -> str:
    """Return the name of a column in queries: lower-case letters, digits and underscores."""
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    letters = "".join(sign for sign in decomposed if not unicodedata.combining(sign))
    return re.sub(r"[^\w.]+", "_", letters).strip("_.") or "column"


def parse_number(text: str) -> float | None:
    """Return a number as programs write it, or None.

    None for a code with leading zeros, 1,234 or 12%.
    """
    match = _NUMBER.fullmatch(text.strip()) if len(text) <= MAX_LENGTH else None
    number = float(match[0]) if match else None
    return None if number is None or number in (float("inf"), float("-inf")) else number


def format_number(number: float) -> str:
    return f"{number:.15g}"


@dataclass(frozen=True)
class Field:
    """Column of a collection: its name, its kind and a summary of its values."""

    name: str
    kind: str = TEXT
    documents: int = 0  # number with a value
    different: int = 0  # number of different values
    unread: int = 0  # number of values that are no number or date in a column of such values
    first: str = ""  # smallest and largest number or date
    last: str = ""
    note: str = ""  # on the order of dates and on cut values

    @property
    def key(self) -> str:
        """Name of the column in queries."""
        return column_key(self.name)


@dataclass(frozen=True)
class ColumnKind:
    """Kind of a column, the order of its dates and a note on both."""

    kind: str
    order: str = ""
    note: str = ""


def judge_column(
    name: str, values: Iterable[tuple[str, int]], n_longer: int, orders: Callable[[], DateOrders]
) -> ColumnKind:
    """Return the kind of a column by its different values and how often each occurs.

    Values beyond ``n_longer`` are too long for a number or a date. ``orders`` returns the order of day and month of
    each source. A column of dates stays a text if no source decides the order; the note says so. If some sources decide
    it, the ambiguous dates of the others are not read.
    """
    counts = list(values)
    total = sum(times for _, times in counts) + n_longer
    if not total:
        return ColumnKind(TEXT)
    is_date_column = bool(_DATE_NAMES & set(re.split(r"[\W_]+", column_key(name))))
    needs_order, n_dates = False, 0
    for text, times in counts:
        read = read_date(text, figures=is_date_column)
        n_dates += times * bool(read)
        needs_order |= bool(read) and (not read.iso or read.has_short_year)
    if n_dates >= MIN_KIND_SHARE * total:
        return _judge_dates(orders()) if needs_order else ColumnKind(DATE)
    if sum(times for text, times in counts if parse_number(text) is not None) >= MIN_KIND_SHARE * total:
        return ColumnKind(NUMBER)
    longest = max((len(text) for text, _ in counts), default=0)
    has_few_values = len(counts) <= min(MAX_CATEGORIES, total / 2)
    return ColumnKind(CATEGORY if has_few_values and not n_longer and longest <= MAX_CATEGORY_LENGTH else TEXT)


def _judge_dates(orders: DateOrders) -> ColumnKind:
    """Return the kind of a column of dates: date, or text if every order is undecided."""
    ambiguous = orders.undecided_sources
    descriptions = [(source, orders.describe_order(source)) for source in orders.evidence if source not in ambiguous]
    if not descriptions:
        example = orders.evidence[ambiguous[0]].example
        note = f"dates such as {example} may have the day or the month first: --dates {' or '.join(ORDERS)}"
        return ColumnKind(TEXT, note=note)
    sentences = [descriptions[0][1]] if len(orders.evidence) == 1 else summarise_orders(descriptions)
    sentences += [orders.describe_unread()] if ambiguous else []
    return ColumnKind(DATE, orders.common_order(), "; ".join(sentences))


@dataclass(frozen=True)
class Span:
    """Range of values; None is an open end."""

    low: float | str | None = None
    high: float | str | None = None
    excludes_low: bool = False
    excludes_high: bool = False


def parse_span(text: str, kind: str) -> Span | None:
    """Return the range that a user typed for a number or a date; None if the text is no range.

    Examples: 10, 10..20, >=10, 2004, 2004-03..2005.
    """
    read = _find_date_range if kind == DATE else _number_ends
    if match := _RANGE.fullmatch(text):
        low, high = match["low"].strip(), match["high"].strip()
        if not low and not high:
            return None
        ends = [None if not end else read(end) for end in (low, high)]
        if (low and ends[0] is None) or (high and ends[1] is None):
            return None
        start, last = ends[0] or Span(), ends[1] or Span()
        return Span(start.low, last.high, excludes_high=last.excludes_high)
    sign, value = "=", text.strip()
    if bound := _BOUND.fullmatch(value):
        sign, value = bound["sign"], bound["value"]
    span = read(value)
    if span is None:
        return None
    low, high, below = span.low, span.high, span.excludes_high
    return {
        "=": span, ">=": Span(low), ">": Span(high, excludes_low=not below), "<": Span(None, low, excludes_high=True),
        "<=": Span(None, high, excludes_high=below),
    }[sign]  # fmt: skip


def _number_ends(text: str) -> Span | None:
    number = parse_number(text)
    return None if number is None else Span(number, number)


def _find_date_range(text: str) -> Span | None:
    """Return the range of a year, month or day: from its start to the start of the next."""
    iso = read_date(text, typed=True).iso[:10]
    return Span(iso, get_next_date(iso) or "9999", excludes_high=True) if iso else None


def select_columns(choice: str, names: Sequence[str]) -> frozenset[str] | None:
    """Return the names of the requested columns; None for all. Raise UsageError for an unknown one."""
    if choice == ALL:
        return None
    requested = [] if choice == NONE else [name.strip() for name in choice.split(",") if name.strip()]
    by_key = {column_key(name): name for name in names}
    columns = set()
    for name in requested:
        if name not in names and column_key(name) not in by_key:
            nearest = find_likeliest_name(name, names)
            listed = ", ".join(list(names)[:5]) + (" …" if len(names) > 5 else "")
            raise UsageError(
                f"no column {name} was read"
                + (f"; the columns are: {listed}" if names else ": the documents have no columns"),
                hint=f'Set columns = "{nearest}".' if nearest else 'Set columns = "all" or columns = "none".',
            )
        columns.add(name if name in names else by_key[column_key(name)])
    return frozenset(columns)
