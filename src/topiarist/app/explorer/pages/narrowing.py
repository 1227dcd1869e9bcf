"""Ways to narrow a search: by topic, date, kind of file, tag, label and column, each with how many it would leave."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import Any

from topiarist.app.explorer import addresses
from topiarist.app.explorer.values import Choice, TopicLine, topic_line
from topiarist.app.explorer.view import View
from topiarist.app.languages.catalogues import all_worded, worded
from topiarist.errors import UsageError
from topiarist.store.document_table import counts_among
from topiarist.text.dates import following
from topiarist.text.fields import DATE, NUMBER, Field, number_text
from topiarist.text.query import LIKE, LONGEST, Filter, Query, field_key, parse

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
    "date": "of {}",
    "like": "like {}",
}
COLUMNS, RANGES = 8, 5  # columns that narrow, and ranges of a column of numbers


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

    def pointing(self, id: str) -> tuple[str, str]:
        """The same search for more like a document, and for others; nothing where its id cannot be typed.

        What can be typed without a minus can be typed with it.
        """
        like, unlike = Filter(LIKE, id), Filter(LIKE, id, exclude=True)
        said = self.saying(like)
        if said is None or len(said) == LONGEST:
            return "", ""
        return self.address(q=said), self.address(q=said.removesuffix(str(like)) + str(unlike))

    def saying(self, *conditions: Filter) -> str | None:
        """The query with conditions in it; None where they cannot be typed."""
        said = " ".join([self.typed.read_as or self.q, *map(str, conditions)]).strip()
        fits = len(said) <= LONGEST and parse(said, self.typed.fields).items == (*self.typed.items, *conditions)
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
    columns = database.kept(
        f"columns {view.mark} {search.parts}", lambda: view.collection.columns.counts_among(looked.tolist())
    )
    found = (
        _narrowing(kind, {one: n for one, n in known.items() if n < len(looked)}, scale, search)
        for kind, known in kinds.items()
    )
    own = (
        _by_column(one, columns[one.name], len(looked), scale, search)
        for one in view.collection.fields
        if one.name in columns
    )
    return (*(one for one in found if one.ways), *islice((one for one in own if one.ways), COLUMNS))


def _by_column(
    field: Field, known: list[tuple[Any, int]], looked: int, scale: float, search: SearchAddress
) -> Narrowing:
    """By a column: the most frequent categories, years or months, or ranges of numbers that hold about as many each."""
    if field.kind == NUMBER:
        ways = {name: times for name, times in _ranges(known).items() if times < looked}
        names = list(ways)
    else:
        ways = dict(_dates(dict(known))[1]) if field.kind == DATE else dict(known)
        ways = {name: times for name, times in ways.items() if times < looked}
        best = sorted(ways, key=lambda name: (-ways[name], name))[: DATES if field.kind == DATE else SHOWN]
        names = sorted(best) if field.kind == DATE else best
    found = []
    for name in names:
        condition = Filter(field_key(field), name, column=field.name, of=field.kind)
        said = search.saying(condition)
        if said is not None:
            found.append(Way(name, round(ways[name] * scale), search.address(q=said)))
    return Narrowing(field.name, tuple(found), len(ways) - len(found), scale > 1)


def _ranges(known: list[tuple[Any, int]]) -> dict[str, int]:
    """Numbers in at most so many ranges, from a value to a value, each with about as many documents."""
    values = sorted(known)
    if len(values) <= RANGES:
        return {number_text(value): times for value, times in values}
    share, found = sum(times for _, times in values) / RANGES, dict[str, int]()
    first, held, done = values[0][0], 0, 0
    for place, (value, times) in enumerate(values):
        held += times
        last = place == len(values) - 1
        if last or done + held >= share * (len(found) + 1):
            ends = number_text(first), number_text(value)
            found[ends[0] if ends[0] == ends[1] else "..".join(ends)] = held
            first, held, done = (first if last else values[place + 1][0]), 0, done + held
    return found


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
            found.append((worded("of {}").format(value), (item, until)))
        else:
            said = f"{item.kind} {value}" if item.column else all_worded(SAID)[item.kind].format(value)
            found.append((f"{worded('not ') * item.exclude}{said}", (item,)))
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
            found.append(Choice(all_worded(SAID)[kind].format(value), search.address(**{kind: None}), True))
    return tuple(found)
