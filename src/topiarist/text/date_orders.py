"""The order of day and month in each source of dates: its own dates decide it, and never those of another source.

Where they do not tell, it is what somebody asked for; where nobody did, it is undecided, and such dates are not read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from topiarist.text.dates import AUTO, MIXED, ORDERS, Evidence, Read

UNDECIDED = "undecided"


class DateOrders:
    """What the dates of sources say about the order of day and month."""

    def __init__(self, asked: str = AUTO) -> None:
        self.asked = asked if asked in ORDERS else ""
        self.seen: dict[str, Evidence] = defaultdict(Evidence)

    def see(self, source: str, read: Read, text: str, times: int = 1) -> None:
        """One date of a source; those that are the same in either order say nothing."""
        if read and not read.iso:
            self.seen[source].see(read, text, times)

    def of(self, source: str) -> str:
        """The order of a source; nothing where it is undecided, or where it needs none."""
        evidence = self.seen.get(source)
        if evidence is None:
            return ""
        own = evidence.order
        told = own in ORDERS and bool(evidence.day or evidence.month)  # dots are a habit, and no proof
        return own if told else self.asked or own

    @property
    def undecided(self) -> list[str]:
        """The sources whose dates may have either order."""
        return [source for source, evidence in self.seen.items() if evidence.needed and not self.of(source)]

    def said(self, source: str) -> str:
        """How the order of a source was decided, in words."""
        order, evidence = self.of(source), self.seen[source]
        if not order:
            return UNDECIDED
        if self.asked and order == self.asked:
            return f"{order}, as was asked"
        if order == MIXED:
            return f"day and month in both orders ({evidence.day:,} day-first, {evidence.month:,} month-first)"
        decided = evidence.day + evidence.month
        by = f"decided by {decided:,} of {decided + evidence.either:,} dates"
        though = f", though {self.asked} was asked" if self.asked else ""
        return f"{order}, {by}{though}" if decided else f"{order}, as dates with dots are written"

    @property
    def undecided_said(self) -> str:
        """How many dates are not read because nothing tells what comes first in them; nothing where there are none."""
        found = self.undecided
        if not found:
            return ""
        number, first = sum(self.seen[one].either for one in found), found[0]
        where = f"{first or 'documents without a source'}{' and others' * (len(found) > 1)}"
        many = "1 date" if number == 1 else f"{number:,} dates"
        return (
            f"{many} of {where}, such as {self.seen[first].example}, {'is' if number == 1 else 'are'} not read, "
            f"for day and month may be either: --dates {' or '.join(ORDERS)}"
        )

    def common(self, but: str = "") -> str:
        """The one order of all sources but one that have any; empty where they differ."""
        found = {order for source in self.seen if source != but and (order := self.of(source))}
        return found.pop() if len(found) == 1 and found <= set(ORDERS) else ""


def orders_said(said: Iterable[tuple[str, str]], *, least: bool = False) -> list[str]:
    """How the orders of sources were decided: of one by what, of several how many have it.

    ``least``: these are not all sources.
    """
    known = list(said)
    if len(known) == 1:
        ((source, how),) = known
        return [f"{f'of {source}: ' if source else ''}{how}"]
    times, first = Counter[str](), dict[str, str]()
    for source, how in known:
        order, _, why = how.partition(",")
        kind = how if why.endswith("asked") and "though" not in why else order
        times[kind] += 1
        first.setdefault(kind, source)
    some = "at least " if least else ""
    return [
        f"{kind}{',' if ',' in kind else ''} in {some}{_sources(number)}, {first[kind]} among them"
        for kind, number in times.items()
    ]


def _sources(number: int) -> str:
    return f"{number:,} source{'s' * (number != 1)}"
