"""Which column of a table holds what: as the user says, by its name, or by the length of its texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from topiarist.errors import UsageError
from topiarist.text.spelling import likeliest

# One of the first is taken as it comes. Of the second, only if there is no other to confuse it with.
_SURELY_TEXT = ("text", "body", "content", "full_text", "fulltext")
_LIKELY_TEXT = ("abstract", "description", "summary", "message", "comment", "review", "article", "document")
_USUAL = {
    "id": ("id",),
    "title": ("title", "subject", "headline"),
    "date": ("date", "published", "created"),
}
_SHORTEST_TEXT = 40  # characters on average; shorter columns are names, states and the like
_CLEARLY_LONGER = 3.0
_SHOWN = 5
_COMPARED, _LONGEST_COMPARED = 1000, 100  # names, and characters of one, that are searched for a misspelling


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of the columns (CSV, TSV, Parquet) or keys (JSON lines) that hold what.

    None lets the reader choose: the text by name or by length, ``id``, ``title`` and ``date`` by their usual
    names, labels never. An empty string means that no column is wanted. A label cell may be a list, or a
    string of labels divided by `label_separator`; an empty separator keeps the string whole.
    """

    id: str | None = None
    title: str | None = None
    text: str | None = None
    label: str | None = None
    date: str | None = None
    label_separator: str = ";"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The columns of one table; an empty name where there is none."""

    text: str
    id: str
    title: str
    label: str
    date: str


def choose(columns: Columns, names: Sequence[str], lengths: Mapping[str, float], source: str) -> Chosen:
    """Settle the columns of a table that has `names`, with the average text length of each in a sample."""
    for field in fields(Columns):
        wanted = getattr(columns, field.name)
        if field.name != "label_separator" and wanted and wanted not in names:
            raise _no_such_column(field.name, wanted, names, source)
    by_lower = {name.lower(): name for name in reversed(names)}
    roles = {"label": columns.label or ""}
    for role, usual in _USUAL.items():
        given: str | None = getattr(columns, role)
        roles[role] = _first_of(usual, by_lower) if given is None else given
    if not columns.text and columns.text is not None:
        raise UsageError("the text column cannot be left out", hint="--text-column NAME")
    text = columns.text or _text_column(names, by_lower, lengths, columns)
    if not text:
        raise _which_column(names, lengths, source)
    for role in _USUAL:  # a column chosen by its usual name is not also the text
        if roles[role] == text and getattr(columns, role) is None:
            roles[role] = ""
    return Chosen(text=text, **roles)


def listed(names: Iterable[str]) -> str:
    """Names for a message, cut at five."""
    every = list(names)
    rest = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return ", ".join(every[:_SHOWN]) + rest


def _first_of(usual: Sequence[str], by_lower: Mapping[str, str]) -> str:
    return next((by_lower[name] for name in usual if name in by_lower), "")


def _text_column(
    names: Sequence[str], by_lower: Mapping[str, str], lengths: Mapping[str, float], columns: Columns
) -> str:
    taken = {columns.id, columns.title, columns.label, columns.date}
    free = {lower: name for lower, name in by_lower.items() if name not in taken}
    if sure := _first_of(_SURELY_TEXT, free):
        return sure
    likely = [free[name] for name in _LIKELY_TEXT if name in free]
    if len(likely) == 1:
        return likely[0]
    open_names = set(free.values())
    ranked = sorted((name for name in names if name in open_names), key=lambda name: -lengths.get(name, 0.0))
    if len(names) == 1:
        return ranked[0] if ranked else ""
    if likely or not ranked:
        return ""
    longest = lengths.get(ranked[0], 0.0)
    second = lengths.get(ranked[1], 0.0) if len(ranked) > 1 else 0.0
    return ranked[0] if longest >= max(_SHORTEST_TEXT, _CLEARLY_LONGER * second) else ""


def _no_such_column(role: str, wanted: str, names: Sequence[str], source: str) -> UsageError:
    compared = [name for name in names[:_COMPARED] if len(name) <= _LONGEST_COMPARED]
    nearest = likeliest(wanted, compared)
    return UsageError(
        f"no column {wanted} in {source}; it has: {listed(names)}",
        hint=f"--{role}-column {nearest}" if nearest else f"--{role}-column with one of these",
    )


def _which_column(names: Sequence[str], lengths: Mapping[str, float], source: str) -> UsageError:
    longest = max(names, key=lambda name: lengths.get(name, 0.0))
    average = f"{lengths.get(longest, 0.0):,.0f} characters on average"
    return UsageError(
        f"which column holds the text? {source} has: {listed(names)}",
        hint=f"--text-column {longest}        (longest text: {longest}, {average})",
    )
