"""The order of day and month in the dates of each source.

The dates of a source decide its order, never those of another source. If they do not, the requested order holds;
without one, ambiguous dates are not read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from topiarist.text.dates import AUTO, DAY_FIRST, MIXED, MONTH_FIRST, ORDERS, ParsedDate

UNDECIDED = "undecided"


@dataclass
class OrderEvidence:
    """Numbers of dates of a source that allow each order of day and month."""

    n_day_first: int = 0  # dates that only this order allows
    n_month_first: int = 0
    n_ambiguous: int = 0
    n_dotted: int = 0  # ambiguous dates with dots
    example: str = ""  # an ambiguous date

    def add(self, parsed: ParsedDate, text: str = "", times: int = 1) -> None:
        """Count a date that occurs ``times`` times."""
        if parsed.day_first and parsed.month_first:
            self.n_ambiguous += times
            self.n_dotted += times * parsed.has_dots
            self.example = self.example or text
        else:
            self.n_day_first += times * bool(parsed.day_first)
            self.n_month_first += times * bool(parsed.month_first)

    @property
    def order(self) -> str:
        """Order that the dates decide, or an empty string."""
        if self.n_day_first and self.n_month_first:
            return MIXED
        if self.n_day_first or self.n_month_first:
            return DAY_FIRST if self.n_day_first else MONTH_FIRST
        return DAY_FIRST if self.n_ambiguous and self.n_dotted == self.n_ambiguous else ""


class DateOrders:
    """Order of day and month by source, from the dates of each source and the requested order."""

    def __init__(self, requested: str = AUTO) -> None:
        self.requested = requested if requested in ORDERS else ""
        self.evidence: dict[str, OrderEvidence] = defaultdict(OrderEvidence)

    def add(self, source: str, parsed: ParsedDate, text: str, times: int = 1) -> None:
        """Count a date of a source, unless both orders give the same date."""
        if parsed and not parsed.iso:
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
        """Sources with dates whose order is undecided."""
        return [source for source in self.evidence if not self.get_order(source)]

    def describe_order(self, source: str) -> str:
        """Return the order of a source and what decided it, in words."""
        order, evidence = self.get_order(source), self.evidence[source]
        if not order:
            return UNDECIDED
        if self.requested and order == self.requested:
            return f"{order}, as was asked"
        n_decided = evidence.n_day_first + evidence.n_month_first
        if order == MIXED:
            numbers = f"{evidence.n_day_first:,} day-first, {evidence.n_month_first:,} month-first"
            return f"day and month in both orders ({numbers})"
        contrast = f", though {self.requested} was asked" if self.requested else ""
        reason = f"decided by {n_decided:,} of {n_decided + evidence.n_ambiguous:,} dates{contrast}"
        return f"{order}, {reason if n_decided else 'as dates with dots are written'}"

    def describe_unread(self) -> str:
        """Return the number of dates without a decided order, in words; an empty string if there are none."""
        sources = self.ambiguous_sources
        if not sources:
            return ""
        number, first = sum(self.evidence[source].n_ambiguous for source in sources), sources[0]
        where = f"{first or 'documents without a source'}{' and others' * (len(sources) > 1)}"
        dates, verb = ("1 date", "is") if number == 1 else (f"{number:,} dates", "are")
        return (
            f"{dates} of {where}, such as {self.evidence[first].example}, {verb} not read, "
            f"for day and month may be either: --dates {' or '.join(ORDERS)}"
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
        order, _, reason = description.partition(",")
        kind = description if reason.endswith("asked") and "though" not in reason else order
        times[kind] += 1
        first.setdefault(kind, source)
    return [
        f"{kind}{',' if ',' in kind else ''} in {'at least ' * partial}{number:,} source{'s' * (number != 1)}, "
        f"{first[kind]} among them"
        for kind, number in times.items()
    ]
