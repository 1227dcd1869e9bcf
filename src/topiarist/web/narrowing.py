"""Conditions that narrow a search (topic, date, file type, tag, label, column), with numbers of documents."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import Any

from topiarist.display.locale.catalogues import translate, translate_table
from topiarist.errors import UsageError
from topiarist.storage.document_table import counts_among
from topiarist.text.fields import DATE, NUMBER, Field, format_number
from topiarist.text.query import LIKE, MAX_QUERY_CHARACTERS, NO_VALUE, Filter, Query, field_key, parse
from topiarist.web import addresses
from topiarist.web.values import Choice, TopicLine, build_topic_line
from topiarist.web.view import View

BRANCHES = 8  # topics of the answer
SHOWN, DATES = 8, 12  # of each other kind, and of dates
MAX_COUNTED = 5_000  # documents that are looked at; of more, as many that are spread evenly
FILTER_TEXTS = {
    "topic": "under {}",
    "tag": "tagged {}",
    "label": "labelled {}",
    "type": "of type {}",
    "before": "before {}",
    "after": "after {}",
    "since": "since {}",
    "until": "until {}",
    "date": "of {}",
    "like": "like {}",
    "undated": "without a date",
}
COLUMNS, RANGES = 8, 5  # columns that narrow, and ranges of a column of numbers


@dataclass(frozen=True)
class SearchAddress:
    """Parameters of a search address."""

    typed: Query
    q: str
    by: str | None = None
    topic: int | None = None
    tag: str | None = None
    label: str | None = None

    @property
    def parts(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "typed"}

    def address(self, **changes: Any) -> str:
        values = {**self.parts, **changes}
        return addresses.search(values.pop("q"), **values)

    def with_condition(self, condition: Filter) -> str:
        """Return the address with a condition; empty if neither query nor parameters can express it."""
        text = self.add_to_query(condition)
        if text is not None:
            return self.address(q=text)
        return self.address(**{condition.kind: condition.value}) if condition.kind in ("tag", "label") else ""

    def link_like_and_unlike(self, id: str) -> tuple[str, str]:
        """Return the searches for documents like and unlike a document; empty if its id cannot be typed."""
        like_filter, unlike_filter = Filter(LIKE, id), Filter(LIKE, id, exclude=True)
        text = self.add_to_query(like_filter)
        if text is None or len(text) == MAX_QUERY_CHARACTERS:
            return "", ""
        return self.address(q=text), self.address(q=text.removesuffix(str(like_filter)) + str(unlike_filter))

    def add_to_query(self, *conditions: Filter) -> str | None:
        """Return the query with conditions; None if they cannot be typed."""
        text = " ".join([self.typed.read_as or self.q, *map(str, conditions)]).strip()
        items = (*self.typed.items, *conditions)
        fits = len(text) <= MAX_QUERY_CHARACTERS and parse(text, self.typed.fields).items == items
        return text if fits else None


@dataclass(frozen=True)
class Way:
    """Link that narrows a search."""

    name: str
    documents: int  # that it would leave; about, where only some were looked at
    address: str


@dataclass(frozen=True)
class Narrowing:
    """Ways of one kind to narrow a search."""

    kind: str
    ways: tuple[Way, ...]
    more: int  # that are not shown
    some: bool  # numbers are estimates by some of the documents


def list_branches(view: View, rows: Any, search: SearchAddress) -> tuple[tuple[TopicLine, ...], int]:
    """Return the topics with most hits in the order of the tree, and the number of other topics with hits."""
    if not len(rows):
        return (), 0
    under = view.counts_under(rows)
    matching_nodes = [node for node in range(len(view.tree)) if under[node] and node != view.tree.root]
    best = set(sorted(matching_nodes, key=lambda node: (-under[node], node))[:BRANCHES])
    lines = []
    for node in view.tree.in_order(lambda child: (-under[child], child)):
        if node not in best:
            continue
        line = build_topic_line(view, node, int(under[node]))
        lines.append(TopicLine(**{**vars(line), "address": search.address(topic=line.id)}))
    return tuple(lines), len(matching_nodes) - len(best)


def list_narrowings(view: View, rows: Any, search: SearchAddress) -> tuple[Narrowing, ...]:
    """Return links that narrow a search by columns, dates, types, tags and labels; none for one hit."""
    if len(rows) < 2:
        return ()
    sample_rows = rows[:: -(-len(rows) // MAX_COUNTED)]
    database = view.collection.generation.database
    value_counts = database.get_cached(
        f"narrow {view.mark} {search.parts}", lambda: counts_among(database, sample_rows.tolist())
    )
    dates, times = _group_dates(value_counts["date"])
    kinds = {dates: times, "type": _count_types(value_counts["source"])}
    kinds |= {kind: _spell_filters(kind, value_counts, search) for kind in ("tag", "label")}
    scale = len(rows) / len(sample_rows)
    columns = database.get_cached(
        f"columns {view.mark} {search.parts}", lambda: view.collection.columns.counts_among(sample_rows.tolist())
    )
    result = (
        _create_narrowing(kind, {item: n for item, n in value_counts.items() if n < len(sample_rows)}, scale, search)
        for kind, value_counts in kinds.items()
    )
    column_filters = (
        _narrow_by_column(item, columns[item.name], len(sample_rows), scale, search)
        for item in view.collection.fields
        if item.name in columns
    )
    return (*(item for item in result if item.ways), *islice((item for item in column_filters if item.ways), COLUMNS))


def _narrow_by_column(
    field: Field, value_counts: list[tuple[Any, int]], n_sampled: int, scale: float, search: SearchAddress
) -> Narrowing:
    """Return the frequent values of a column, its periods, or ranges of numbers of similar size."""
    if field.kind == NUMBER:
        ways = {name: times for name, times in _divide_into_ranges(value_counts).items() if times < n_sampled}
        names = list(ways)
    else:
        ways = dict(_group_dates(dict(value_counts))[1]) if field.kind == DATE else dict(value_counts)
        ways = {name: times for name, times in ways.items() if times < n_sampled}
        best = sorted(ways, key=lambda name: (-ways[name], name))[: DATES if field.kind == DATE else SHOWN]
        names = sorted(best) if field.kind == DATE else best
    result = []
    for name in names:
        condition = Filter(field_key(field), name, column=field.name, of=field.kind)
        text = search.add_to_query(condition)
        if text is not None:
            result.append(Way(name, round(ways[name] * scale), search.address(q=text)))
    return Narrowing(field.name, tuple(result), len(ways) - len(result), scale > 1)


def _divide_into_ranges(value_counts: list[tuple[Any, int]]) -> dict[str, int]:
    """Return at most ``RANGES`` ranges of numbers with similar numbers of documents."""
    values = sorted(value_counts)
    if len(values) <= RANGES:
        return {format_number(value): times for value, times in values}
    share, result = sum(times for _, times in values) / RANGES, dict[str, int]()
    first, n_documents, done = values[0][0], 0, 0
    for place, (value, times) in enumerate(values):
        n_documents += times
        last = place == len(values) - 1
        if last or done + n_documents >= share * (len(result) + 1):
            ends = format_number(first), format_number(value)
            result[ends[0] if ends[0] == ends[1] else "..".join(ends)] = n_documents
            first, n_documents, done = (first if last else values[place + 1][0]), 0, done + n_documents
    return result


def _spell_filters(kind: str, value_counts: dict[str, dict[str, int]], search: SearchAddress) -> dict[str, int]:
    """Return tags or labels, with spellings that a query cannot distinguish only if they differ."""
    result = value_counts[kind]
    other = {name: number for name, number in value_counts[f"exact {kind}"].items() if result.get(name) != number}
    return result | {name: number for name, number in other.items() if search.add_to_query(Filter(kind, name)) is None}


def _create_narrowing(kind: str, value_counts: dict[str, int], scale: float, search: SearchAddress) -> Narrowing:
    """Return the most frequent values of one kind as links; dates in their order."""
    is_date = kind in ("year", "month")
    best = sorted(value_counts, key=lambda name: (-value_counts[name], name))[: DATES if is_date else SHOWN]
    ways = []
    for name in sorted(best) if is_date else best:
        address = search.with_condition(Filter("date" if is_date else kind, name))
        if address:
            ways.append(Way(name, round(value_counts[name] * scale), address))
    return Narrowing(kind, tuple(ways), len(value_counts) - len(ways), scale > 1)


def _group_dates(months: dict[str, int]) -> tuple[str, dict[str, int]]:
    """Return numbers of documents by year, or by month if all are of one year."""
    years: Counter[str] = Counter()
    for month, times in months.items():
        years[month[:4]] += times
    return ("year", years) if len(years) != 1 else ("month", months)


def _count_types(sources: dict[str, int]) -> dict[str, int]:
    """Return the number of documents of each file type; empty for a single type."""
    type_counts: Counter[str] = Counter()
    for source, times in sources.items():
        _, dot, suffix = source.lower().removesuffix(".gz").rpartition("/")[2].rpartition(".")
        if dot and suffix.isalnum() and suffix.isascii():
            type_counts[suffix] += times
    return type_counts if len(type_counts) > 1 else {}


def describe_conditions(view: View, query: Query) -> list[tuple[str, Filter]]:
    """Return the filters of a query, each with its description."""
    result: list[tuple[str, Filter]] = []
    for item in query.filters:
        value = _find_topic_name(view, item.value) if item.kind == "topic" else item.value
        kind = "undated" if item.kind == DATE and item.value.casefold() == NO_VALUE else item.kind
        text = f"{item.kind} {value}" if item.column else translate_table(FILTER_TEXTS)[kind].format(value)
        result.append((f"{translate('not ') * item.exclude}{text}", item))
    return result


def _find_topic_name(view: View, typed: str) -> str:
    """Return the name of a typed topic; the typed text if it does not exist."""
    try:
        return view.names[view.shape.node(view.shape.find(typed))]
    except UsageError:
        return typed


def list_chips(view: View, query: Query, search: SearchAddress) -> tuple[Choice, ...]:
    """Return the current conditions in words, each with the address of the search without it."""
    result = []
    for name, remaining_query in describe_conditions(view, query):
        rest = " ".join(str(item) for item in query.items if item != remaining_query)
        result.append(Choice(name, search.address(q=rest), True))
    for kind in ("tag", "label"):
        value = getattr(search, kind)
        if value:
            result.append(
                Choice(translate_table(FILTER_TEXTS)[kind].format(value), search.address(**{kind: None}), True)
            )
    return tuple(result)
