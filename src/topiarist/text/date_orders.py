"""The order of day and month in the dates of each source.

The dates of a source decide its order, never those of another source. If they do not, the requested order holds;
without one, ambiguous dates are not read. A date such as 22/01/25 does not decide: it can begin with the year.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from topiarist.text.dates import AUTO, DAY_FIRST, MIXED, MONTH_FIRST, ORDERS, ParsedDate

UNDECIDED = "undecided"
SHORT_YEARS = "read as 1950 to 2049"


@dataclass
class OrderEvidence:
    """Numbers of dates of a source that allow each order of day and month."""

    n_day_first: int = 0  # dates that only this order allows
    n_month_first: int = 0
    n_ambiguous: int = 0
    n_dotted: int = 0  # ambiguous dates with dots
    n_open: int = 0  # dates that can begin with a year of two digits
    n_short: int = 0  # dates with a year of two digits
    example: str = ""  # an ambiguous date

    def add(self, parsed: ParsedDate, text: str = "", times: int = 1) -> None:
        """Count a date that occurs ``times`` times."""
        self.n_short += times * parsed.has_short_year
        if parsed.iso:
            return
        if _can_begin_with_year(parsed):
            self.n_open += times
            self.example = self.example or text
        elif parsed.day_first and parsed.month_first:
            self.n_ambiguous += times
            self.n_dotted += times * parsed.has_dots
            self.example = self.example or text
        else:
            self.n_day_first += times * bool(parsed.day_first)
            self.n_month_first += times * bool(parsed.month_first)

    @property
    def n_unread(self) -> int:
        """Number of dates that are not read without an order."""
        return self.n_ambiguous + self.n_open

    @property
    def order(self) -> str:
        """Order that the dates decide, or an empty string."""
        if self.n_day_first and self.n_month_first:
            return MIXED
        if self.n_day_first or self.n_month_first:
            return DAY_FIRST if self.n_day_first else MONTH_FIRST
        return DAY_FIRST if self.n_ambiguous and self.n_dotted == self.n_ambiguous else ""


def _can_begin_with_year(parsed: ParsedDate) -> bool:
    """Return whether a date of three numbers of two digits may be year, month and day."""
    last = int(parsed.day_first[2:4] or 0) if parsed.has_short_year and not parsed.has_dots else 0
    return 1 <= last <= 31


class DateOrders:
    """Order of day and month by source, from the dates of each source and the requested order."""

    def __init__(self, requested: str = AUTO) -> None:
        self.requested = requested if requested in ORDERS else ""
        self.evidence: dict[str, OrderEvidence] = defaultdict(OrderEvidence)

    def add(self, source: str, parsed: ParsedDate, text: str, times: int = 1) -> None:
        """Count a date of a source, unless both orders give the same date."""
        if parsed and (not parsed.iso or parsed.has_short_year):
            self.evidence[source].add(parsed, text, times)

    def get_order(self, source: str) -> str:
        """Return the order of a source; an empty string if it is undecided or not needed."""
        evidence = self.evidence.get(source)
        if evidence is None:
            return ""
        is_proven = evidence.order != MIXED and bool(evidence.n_day_first or evidence.n_month_first)
        return evidence.order if is_proven else self.requested or evidence.order  # dots are a habit, no proof

    @property
    def ambiguous_sources(self) -> list[str]:
        """Sources with dates whose order of day and month is undecided."""
        return [source for source in self.undecided_sources if self.evidence[source].n_ambiguous]

    @property
    def undecided_sources(self) -> list[str]:
        """Sources with dates that are not read, among them dates that can begin with a year of two digits."""
        return [
            source for source, evidence in self.evidence.items() if evidence.n_unread and not self.get_order(source)
        ]

    def describe_order(self, source: str) -> str:
        """Return the order of a source, what decided it, and the century of years of two digits, in words."""
        order, evidence = self.get_order(source), self.evidence[source]
        if not evidence.n_day_first + evidence.n_month_first + evidence.n_unread:
            return f"years of two digits {SHORT_YEARS}"
        decision = self._describe_decision(source) if order else UNDECIDED
        return f"{decision}; years of two digits {SHORT_YEARS}" if evidence.n_short and order else decision

    def _describe_decision(self, source: str) -> str:
        """Return the order of the dates of a source and the reason for it, as text for a message."""
        order, evidence = self.get_order(source), self.evidence[source]
        if self.requested and order == self.requested:
            return f"{order}, as was asked"
        n_decided = evidence.n_day_first + evidence.n_month_first
        if order == MIXED:
            numbers = f"{evidence.n_day_first:,} day-first, {evidence.n_month_first:,} month-first"
            return f"day and month in both orders ({numbers})"
        contrast = f", though {self.requested} was asked" if self.requested else ""
        reason = f"decided by {n_decided:,} of {n_decided + evidence.n_unread:,} dates{contrast}"
        return f"{order}, {reason if n_decided else 'as dates with dots are written'}"

    def describe_unread(self) -> str:
        """Return the number of dates without a decided order, in words; an empty string if there are none."""
        sources = self.undecided_sources
        if not sources:
            return ""
        number, first = sum(self.evidence[source].n_unread for source in sources), sources[0]
        where = f"{first or 'documents without a source'}{' and others' * (len(sources) > 1)}"
        dates, verb = ("1 date", "is") if number == 1 else (f"{number:,} dates", "are")
        short = not any(self.evidence[source].n_ambiguous for source in sources)
        return (
            f"{dates} of {where}, such as {self.evidence[first].example}, {verb} not read, "
            f"for {'the year' * short or 'day and month'} may be {'first' * short or 'either'}: "
            f"--dates {' or '.join(ORDERS)}"
        )

    def common_order(self, except_source: str = "") -> str:
        """Return the one order of all sources but one; an empty string if they differ."""
        orders = {order for source in self.evidence if source != except_source and (order := self.get_order(source))}
        return orders.pop() if len(orders) == 1 and orders <= set(ORDERS) else ""


def summarise_orders(descriptions: Iterable[tuple[str, str]], *, partial: bool = False) -> list[str]:
    """Return sentences on the orders of sources: the description of a single source, or numbers of sources by order.

    ``descriptions``: each source with its ``describe_order``. ``partial``: there are more sources than these.
    """
    known = list(descriptions)
    if len(known) == 1:
        ((source, description),) = known
        return [f"{f'of {source}: ' if source else ''}{description}"]
    times, first = Counter[str](), dict[str, str]()
    for source, description in known:
        description, _, years = description.partition("; ")
        if years:
            known_years = f"years of two digits {SHORT_YEARS}"
            times[known_years] += 1
            first.setdefault(known_years, source)
        order, _, reason = description.partition(",")
        kind = description if reason.endswith("asked") and "though" not in reason else order
        times[kind] += 1
        first.setdefault(kind, source)
    return [
        f"{kind}{',' if ',' in kind else ''} in {'at least ' * partial}{number:,} source{'s' * (number != 1)}, "
        f"{first[kind]} among them"
        for kind, number in times.items()
    ]
