"""Ways to narrow a search: by topic, date, kind of file, tag and label, each with how many documents it would leave."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from topiarist.app.explorer import addresses
from topiarist.app.explorer.values import Choice, TopicLine, topic_line
from topiarist.app.explorer.view import View
from topiarist.errors import UsageError
from topiarist.store.document_table import counts_among
from topiarist.text.query import LONGEST, Filter, Query, parse

BRANCHES = 8  # topics of the answer
SHOWN, DATES = 8, 12  # of each other kind, and of dates
COUNTED = 5_000  # documents that are looked at; of more, as many that are spread evenly
SAID = {
    "topic": "under {}",
    "tag": "tagged {}",
    "label": "labelled {}",
    "type": "of type {}",
    "before": "before {}",
    "after": "since {}",
}


@dataclass(frozen=True)
class SearchAddress:
    """A search as its address has it."""

    typed: Query
    q: str
    by: str | None = None
    topic: int | None = None
    tag: str | None = None
    label: str | None = None

    @property
    def parts(self) -> dict[str, Any]:
        """What the address names."""
        return {name: value for name, value in vars(self).items() if name != "typed"}

    def address(self, **changed: Any) -> str:
        """The same search, or one that differs."""
        values = {**self.parts, **changed}
        return addresses.search(values.pop("q"), **values)

    def with_condition(self, *conditions: Filter) -> str:
        """Narrowed: in the query where it can be typed there, else beside it; nothing where it cannot be said."""
        said = self.saying(*conditions)
        if said is not None:
            return self.address(q=said)
        (first, *_) = conditions
        return self.address(**{first.kind: first.value}) if first.kind in ("tag", "label") else ""

    def saying(self, *conditions: Filter) -> str | None:
        """The query with conditions in it; None where they cannot be typed."""
        said = " ".join([self.typed.read_as or self.q, *map(str, conditions)]).strip()
        fits = len(said) <= LONGEST and parse(said).items == (*self.typed.items, *conditions)
        return said if fits else None


@dataclass(frozen=True)
class Way:
    """A way to narrow a search."""

    name: str
    documents: int  # that it would leave; about, where only some were looked at
    address: str


@dataclass(frozen=True)
class Narrowing:
    """Ways of one kind."""

    kind: str
    ways: tuple[Way, ...]
    more: int  # that are not shown
    some: bool  # numbers are estimates by some of the documents


def branches(view: View, rows: Any, search: SearchAddress) -> tuple[tuple[TopicLine, ...], int]:
    """The topics with most of the answer, in the order of the tree; each a way to narrow it."""
    if not len(rows):
        return (), 0
    under = view.counts_under(rows)
    some = [node for node in range(len(view.tree)) if under[node] and node != view.tree.root]
    best = set(sorted(some, key=lambda node: (-under[node], node))[:BRANCHES])
    lines = []
    for node in view.tree.in_order(lambda child: (-under[child], child)):
        if node not in best:
            continue
        line = topic_line(view, node, int(under[node]))
        lines.append(TopicLine(**{**vars(line), "address": search.address(topic=line.id)}))
    return tuple(lines), len(some) - len(best)


def narrowings(view: View, rows: Any, search: SearchAddress) -> tuple[Narrowing, ...]:
    """By date, kind of file, tag and label: what some of the documents have and others have not."""
    if len(rows) < 2:
        return ()
    looked = rows[:: -(-len(rows) // COUNTED)]
    database = view.collection.generation.database
    known = database.kept(f"narrow {view.mark} {search.parts}", lambda: counts_among(database, looked.tolist()))
    dates, times = _dates(known["date"])
    kinds = {dates: times, "type": _types(known["source"])}
    kinds |= {kind: _spelled(kind, known, search) for kind in ("tag", "label")}
    scale = len(rows) / len(looked)
    found = (
        _narrowing(kind, {one: n for one, n in known.items() if n < len(looked)}, scale, search)
        for kind, known in kinds.items()
    )
    return tuple(one for one in found if one.ways)


def _spelled(kind: str, known: dict[str, dict[str, int]], search: SearchAddress) -> dict[str, int]:
    """Tags or labels as they are looked up: in a query large letters are small ones, beside it they are not."""
    found = known[kind]
    other = {name: number for name, number in known[f"exact {kind}"].items() if found.get(name) != number}
    return found | {name: number for name, number in other.items() if search.saying(Filter(kind, name)) is None}


def _narrowing(kind: str, known: dict[str, int], scale: float, search: SearchAddress) -> Narrowing:
    """The ways with most documents: dates in their order, others the most frequent first."""
    when = kind in ("year", "month")
    best = sorted(known, key=lambda name: (-known[name], name))[: DATES if when else SHOWN]
    ways = []
    for name in sorted(best) if when else best:
        spans = (Filter("after", name), Filter("before", following(name)))
        address = search.with_condition(*(spans if when else (Filter(kind, name),)))
        if address:
            ways.append(Way(name, round(known[name] * scale), address))
    return Narrowing(kind, tuple(ways), len(known) - len(ways), scale > 1)


def _dates(months: dict[str, int]) -> tuple[str, dict[str, int]]:
    """By year; by month where all are of one."""
    years: Counter[str] = Counter()
    for month, times in months.items():
        years[month[:4]] += times
    return ("year", years) if len(years) != 1 else ("month", months)


def following(date: str) -> str:
    """The year after a year, the month after a month; nothing for what is neither."""
    year, _, month = date.partition("-")
    if not (len(year) == 4 and year.isdecimal() and year.isascii()) or year == "9999":
        return ""
    if not month:
        return f"{int(year) + 1:04}"
    if not (month.isdecimal() and month.isascii() and 1 <= int(month) <= 12):
        return ""
    return f"{int(year) + 1:04}-01" if int(month) == 12 else f"{year}-{int(month) + 1:02}"


def _types(sources: dict[str, int]) -> dict[str, int]:
    """Kinds of files, where there are several."""
    known: Counter[str] = Counter()
    for source, times in sources.items():
        _, dot, suffix = source.lower().removesuffix(".gz").rpartition("/")[2].rpartition(".")
        if dot and suffix.isalnum() and suffix.isascii():
            known[suffix] += times
    return known if len(known) > 1 else {}


def conditions(view: View, query: Query) -> list[tuple[str, tuple[Filter, ...]]]:
    """What a query asks for beside words, in words; what follows on one date until the next is one condition."""
    found: list[tuple[str, tuple[Filter, ...]]] = []
    left = list(query.filters)
    while left:
        item = left.pop(0)
        value = _topic_name(view, item.value) if item.kind == "topic" else item.value
        until = Filter("before", following(item.value))
        if item.kind == "after" and not item.exclude and until in left:
            left.remove(until)
            found.append((f"of {value}", (item, until)))
        else:
            found.append((f"{'not ' * item.exclude}{SAID[item.kind].format(value)}", (item,)))
    return found


def _topic_name(view: View, typed: str) -> str:
    """A topic by its name, whatever was typed for it; never by a number alone."""
    try:
        return view.names[view.shape.node(view.shape.find(typed))]
    except UsageError:
        return typed


def chips(view: View, query: Query, search: SearchAddress) -> tuple[Choice, ...]:
    """The conditions that hold now; each an address without it."""
    found = []
    for name, gone in conditions(view, query):
        rest = " ".join(str(one) for one in query.items if one not in gone)
        found.append(Choice(name, search.address(q=rest), True))
    for kind in ("tag", "label"):
        value = getattr(search, kind)
        if value:
            found.append(Choice(SAID[kind].format(value), search.address(**{kind: None}), True))
    return tuple(found)
