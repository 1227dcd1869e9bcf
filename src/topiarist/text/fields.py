"""What is known of documents beside their texts: named columns, of which kind each is, and what may be asked of it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from topiarist.errors import UsageError
from topiarist.text.date_orders import DateOrders, orders_said
from topiarist.text.dates import LONGEST, ORDERS, following, read_date
from topiarist.text.spelling import likeliest

TEXT, CATEGORY, NUMBER, DATE = KINDS = ("text", "category", "number", "date")
MOST = 100  # columns of a collection
LONGEST_NAME, LONGEST_VALUE = 100, 1_000  # characters
MOST_VALUES = 50  # of one column in one document
NEARLY_ALL = 0.95  # of the values, for a column to be of numbers or dates
MOST_CATEGORIES, LONGEST_CATEGORY = 200, 100
ALL, NONE = "all", "none"
NO_ANSWER = frozenset(("n/a", "n.a.", "#n/a", "none", "null", "nil", "nan", "-", "--", "---", "–", "—"))

_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?")
_DATED = frozenset(
    ["date", "datum", "fecha", "datetime", "timestamp", "created", "updated", "modified", "published", "posted"]
)
_RANGE = re.compile(r"(?P<low>.*?)\s*\.\.\s*(?P<high>.*)")
_BOUND = re.compile(r"(?P<sign>>=|<=|>|<|=)\s*(?P<value>.+)")

Cells = tuple[tuple[str, str], ...]  # names of columns with values, in their order; a name may come several times


def is_missing(text: str) -> bool:
    """Whether a cell says that there is nothing in it."""
    return not text or text.isspace() or text.strip().casefold() in NO_ANSWER


@lru_cache(maxsize=1024)
def key_of(name: str) -> str:
    """A column as it is called in a query: small letters, figures and low lines."""
    apart = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(sign for sign in apart if not unicodedata.combining(sign))
    return re.sub(r"[^\w.]+", "_", plain).strip("_.") or "column"


def number_of(text: str) -> float | None:
    """A number as programs write it; None for anything else: a code with zeros before it, 1,234 or 12 %."""
    found = _NUMBER.fullmatch(text.strip()) if len(text) <= LONGEST else None
    number = float(found[0]) if found else None
    return None if number is None or number in (float("inf"), float("-inf")) else number


def number_text(number: float) -> str:
    """A number as it is typed."""
    return f"{number:.15g}"


@dataclass(frozen=True)
class Field:
    """A column of a collection: its name, its kind, and how its values are spread."""

    name: str
    kind: str = TEXT
    documents: int = 0  # that have a value
    different: int = 0  # values
    unread: int = 0  # values that are no number or date though the others are
    first: str = ""  # the least and the greatest number or date
    last: str = ""
    note: str = ""  # what there is to say of it: the order of its dates, what was cut

    @property
    def key(self) -> str:
        """As it is called in a query."""
        return key_of(self.name)


@dataclass(frozen=True)
class Judged:
    """Of which kind a column is, the order of its dates, and what is to be said about that."""

    kind: str
    order: str = ""
    note: str = ""


def judged(name: str, values: Iterable[tuple[str, int]], n_longer: int, orders: Callable[[], DateOrders]) -> Judged:
    """The kind of a column by its different values with how often each comes; longer ones are neither number nor date.

    ``orders`` tells of each source whether the day or the month is first. A column of dates of which no source tells it
    stays a text, and that is said; where some do not, their dates are not read, and that is said.
    """
    known = list(values)
    total = sum(times for _, times in known) + n_longer
    if not total:
        return Judged(TEXT)
    figures = bool(_DATED & set(re.split(r"[\W_]+", key_of(name))))
    needed, n_dates = False, 0
    for text, times in known:
        read = read_date(text, figures=figures)
        n_dates += times * bool(read)
        needed |= bool(read) and not read.iso
    if n_dates >= NEARLY_ALL * total:
        return _dated(orders()) if needed else Judged(DATE)
    if sum(times for text, times in known if number_of(text) is not None) >= NEARLY_ALL * total:
        return Judged(NUMBER)
    longest = max((len(text) for text, _ in known), default=0)
    few = len(known) <= min(MOST_CATEGORIES, total / 2)
    return Judged(CATEGORY if few and not n_longer and longest <= LONGEST_CATEGORY else TEXT)


def _dated(orders: DateOrders) -> Judged:
    """A column of dates in figures, of which each source has its own order of day and month."""
    open_sources = orders.undecided
    decided = [(source, orders.said(source)) for source in orders.seen if source not in open_sources]
    if not decided:
        example = orders.seen[open_sources[0]].example
        said = f"dates such as {example} may have the day or the month first: --dates {' or '.join(ORDERS)}"
        return Judged(TEXT, note=said)
    told = [decided[0][1]] if len(orders.seen) == 1 else orders_said(decided)
    told += [orders.undecided_said] if open_sources else []
    return Judged(DATE, orders.common(), "; ".join(told))


@dataclass(frozen=True)
class Span:
    """From one value up to another; None where there is no end. ``below``: without the upper end itself."""

    low: float | str | None = None
    high: float | str | None = None
    above: bool = False
    below: bool = False


def span_of(text: str, kind: str) -> Span | None:
    """What somebody typed for a number or a date: 10, 10..20, >=10, 2004, 2004-03..2005; None where it is none."""
    read = _date_ends if kind == DATE else _number_ends
    if found := _RANGE.fullmatch(text):
        low, high = found["low"].strip(), found["high"].strip()
        if not low and not high:
            return None
        ends = [None if not end else read(end) for end in (low, high)]
        if (low and ends[0] is None) or (high and ends[1] is None):
            return None
        first, last = ends[0] or Span(), ends[1] or Span()
        return Span(first.low, last.high, below=last.below)
    sign, value = "=", text.strip()
    if bound := _BOUND.fullmatch(value):
        sign, value = bound["sign"], bound["value"]
    ends_of = read(value)
    if ends_of is None:
        return None
    low, high, below = ends_of.low, ends_of.high, ends_of.below
    return {
        "=": ends_of, ">=": Span(low), ">": Span(high, above=not below), "<": Span(None, low, below=True),
        "<=": Span(None, high, below=below),
    }[sign]  # fmt: skip


def _number_ends(text: str) -> Span | None:
    number = number_of(text)
    return None if number is None else Span(number, number)


def _date_ends(text: str) -> Span | None:
    """A year, month or day: from its beginning until the next."""
    iso = read_date(text, typed=True).iso[:10]
    return Span(iso, following(iso) or "9999", below=True) if iso else None


def wanted(asked: str, names: Sequence[str]) -> frozenset[str] | None:
    """The columns that were asked for, of those that there are; None for all."""
    if asked == ALL:
        return None
    chosen = [] if asked == NONE else [name.strip() for name in asked.split(",") if name.strip()]
    by_key = {key_of(name): name for name in names}
    found = set()
    for name in chosen:
        if name not in names and key_of(name) not in by_key:
            near = likeliest(name, names)
            shown = ", ".join(list(names)[:5]) + (" …" if len(names) > 5 else "")
            raise UsageError(
                f"no column {name} was read"
                + (f"; there are: {shown}" if names else ": there is none beside the text"),
                hint=f"--columns {near}" if near else "--columns all, or --columns none",
            )
        found.add(name if name in names else by_key[key_of(name)])
    return frozenset(found)
