"""The columns of a table, by the user's choice, by their names or by the length of their texts; reading settings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from topiarist.errors import InputError, TopiaristError, UsageError
from topiarist.text.spelling import find_likeliest_name

# A name of the first list is the text column. A name of the second list only if no other candidate exists.
_SURELY_TEXT = ("text", "body", "content", "full_text", "fulltext")
_LIKELY_TEXT = ("abstract", "description", "summary", "message", "comment", "review", "article", "document")
SUBJECT = "subject"  # of a message: its title; of a book: its field
MIN_REPEATS = 5  # documents per value of a column: with fewer, its values are subjects of messages, not classes
_USUAL_NAMES = {
    "id": ("id",),
    "title": ("title", SUBJECT, "headline"),
    "date": ("date", "published", "created"),
}
_MIN_TEXT_LENGTH = 40  # characters on average; shorter columns hold names, states and similar values
_MIN_LENGTH_RATIO = 3.0
_MAX_LISTED = 5
_MAX_COMPARED, _MAX_COMPARED_LENGTH = 1000, 100  # number of names and their length in the search for a misspelling


class MissingColumnError(UsageError):
    """Named column that a table lacks; ``suggestion`` is the nearest existing name, if any."""

    def __init__(self, message: str, *, hint: str, suggestion: str) -> None:
        super().__init__(message, hint=hint)
        self.suggestion = suggestion


ROLES = ("text", "title", "id", "label", "date")
NONE = "none"  # no column for a role, unless a column has this name


@dataclass(frozen=True, slots=True)
class TableColumns:
    """Columns of one table by role; an empty name for a role without a column."""

    text: str
    id: str
    title: str
    label: str
    date: str


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of the columns (CSV, TSV, Parquet) or keys (JSON lines) by role.

    None lets the reader choose: the text by name or by length, ``id``, ``title`` and ``date`` by their usual names,
    labels never. An empty string means no column, as does ``none`` if no column has that name. The text requires a
    column. A label cell can be a list, or a string of labels with `label_separator` between them; an empty separator
    keeps the string whole. `preferred` are the columns of earlier tables, the most frequent first: they come before
    other choices, and a table can lack them. A column that is named here must be in every table.
    """

    id: str | None = None
    title: str | None = None
    text: str | None = None
    label: str | None = None
    date: str | None = None
    label_separator: str = ";"
    preferred: tuple[TableColumns, ...] = ()

    def override(self, other: Columns) -> Columns:
        """Return these columns, with each role that ``other`` names replaced."""
        overrides = {role: getattr(other, role) for role in ROLES if getattr(other, role) is not None}
        separator = (
            self.label_separator if other.label_separator == Columns().label_separator else other.label_separator
        )
        return replace(self, **overrides, label_separator=separator, preferred=other.preferred or self.preferred)


def choose_columns(
    columns: Columns,
    names: Sequence[str],
    lengths: Mapping[str, float],
    source: str,
    repeated: Collection[str] = (),
) -> TableColumns:
    """Return which column of a table is its text, title, id, label and date.

    Names and the average text length of each column in a sample decide. A requested or required column that does not
    exist is an error. ``repeated`` columns are called subject, but their values are too few for titles.
    """
    columns = _clear_unwanted(columns, names)
    for role in ROLES:
        wanted = getattr(columns, role)
        if wanted and wanted not in names:
            raise _create_missing_column_error(role, wanted, names, columns, source)
    columns = _apply_preferred(columns, names)
    by_lower = {name.lower(): name for name in reversed(names)}
    if columns.preferred and not any(table.title for table in columns.preferred):
        repeated = {*repeated, by_lower.get(SUBJECT, "")}  # it was no title in the earlier tables either
    titled = {lower: name for lower, name in by_lower.items() if name not in repeated}
    roles = {"label": columns.label or ""}
    for role, candidates in _USUAL_NAMES.items():
        requested: str | None = getattr(columns, role)
        roles[role] = _find_first(candidates, titled if role == "title" else by_lower)
        roles[role] = roles[role] if requested is None else requested
    if not columns.text and columns.text is not None:
        raise UsageError("the text requires a column", hint="Name it with --text-column.")
    text = columns.text or _choose_text_column(names, by_lower, lengths, columns)
    if not text:
        raise _create_text_column_error(names, lengths, source)
    for role in _USUAL_NAMES:  # the text column has no other role
        if roles[role] == text and getattr(columns, role) is None:
            roles[role] = ""
    return TableColumns(text=text, **roles)


def _clear_unwanted(columns: Columns, names: Sequence[str]) -> Columns:
    """Return the columns with an empty name for each role set to ``none``."""
    if NONE in names:
        return columns
    cleared: dict[str, Any] = {role: "" for role in ROLES if role != "text" and getattr(columns, role) == NONE}
    return replace(columns, **cleared)


def _apply_preferred(columns: Columns, names: Sequence[str]) -> Columns:
    """Return the columns with unnamed roles filled from earlier tables."""
    if not columns.preferred:
        return columns
    earlier = next((table for table in columns.preferred if table.text in names), columns.preferred[0])
    used = {getattr(columns, role) for role in ROLES}
    usable = {role: getattr(earlier, role) for role in ROLES if getattr(columns, role) is None}
    return replace(columns, **{role: name for role, name in usable.items() if name in names and name not in used})


def list_names(names: Iterable[str]) -> str:
    """Return names for a message, at most ``_MAX_LISTED``."""
    all_names = list(names)
    suffix = f" and {len(all_names) - _MAX_LISTED} more" if len(all_names) > _MAX_LISTED else ""
    return ", ".join(all_names[:_MAX_LISTED]) + suffix


def _find_first(candidates: Sequence[str], by_lower: Mapping[str, str]) -> str:
    return next((by_lower[name] for name in candidates if name in by_lower), "")


def _choose_text_column(
    names: Sequence[str], by_lower: Mapping[str, str], lengths: Mapping[str, float], columns: Columns
) -> str:
    """Return the column with the text, by its name or its average length; empty if undecided."""
    used = {columns.id, columns.title, columns.label, columns.date}
    free = {lower: name for lower, name in by_lower.items() if name not in used}
    if certain := _find_first(_SURELY_TEXT, free):
        return certain
    probable = [free[name] for name in _LIKELY_TEXT if name in free]
    if len(probable) == 1:
        return probable[0]
    open_names = set(free.values())
    ranked = sorted((name for name in names if name in open_names), key=lambda name: -lengths.get(name, 0.0))
    if len(names) == 1 and not columns.preferred:  # later tables need the columns of the collection, or a long text
        return ranked[0] if ranked else ""
    if probable or not ranked:
        return ""
    max_length = lengths.get(ranked[0], 0.0)
    second_length = lengths.get(ranked[1], 0.0) if len(ranked) > 1 else 0.0
    return ranked[0] if max_length >= max(_MIN_TEXT_LENGTH, _MIN_LENGTH_RATIO * second_length) else ""


def _create_missing_column_error(
    role: str, requested: str, names: Sequence[str], columns: Columns, source: str
) -> MissingColumnError:
    """Create the error for a requested column that the table lacks, with the most similar name."""
    candidates = [name for name in names[:_MAX_COMPARED] if len(name) <= _MAX_COMPARED_LENGTH]
    suggestion = find_likeliest_name(requested, candidates)
    earlier = any(getattr(table, role) == requested for table in columns.preferred)
    of_growth = f", though it holds the {role} in the collection" if earlier else ""
    hint = f"Use --{role}-column {suggestion}" if suggestion else f"Use --{role}-column with one of the columns"
    return MissingColumnError(
        f"no column {requested} in {source}{of_growth}; it has: {list_names(names)}",
        hint=f"{hint}." if role == "text" else f"{hint}, or --{role}-column {NONE} for no {role}s.",
        suggestion=suggestion,
    )


def _create_text_column_error(names: Sequence[str], lengths: Mapping[str, float], source: str) -> TopiaristError:
    """Create the error for a table whose text column is unknown, with the longest column as hint."""
    if not lengths:
        return InputError(
            f"no column of {source} holds text; it has {f'the columns {list_names(names)}' if names else 'no columns'}",
            hint="Choose the column of the text (--text-column NAME), or another file.",
        )
    longest = max(names, key=lambda name: lengths.get(name, 0.0))
    average = f"{lengths.get(longest, 0.0):,.0f} characters on average"
    return UsageError(
        f"no column is known to hold the text; {source} has: {list_names(names)}",
        hint=f"Choose the column of the text, such as --text-column {longest} ({average}).",
    )


@dataclass(frozen=True)
class ReadingSettings:
    """Settings of reading that do not depend on the sources.

    ``xml_path`` and ``ocr`` are those of ``read``.
    """

    columns: Columns = field(default_factory=Columns)
    xml_path: str = ""
    ocr: bool | None = None

    def override(self, other: ReadingSettings) -> ReadingSettings:
        """Return these settings, replaced by those that ``other`` sets."""
        ocr = self.ocr if other.ocr is None else other.ocr
        return ReadingSettings(self.columns.override(other.columns), other.xml_path or self.xml_path, ocr)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain JSON data, without the columns of earlier tables."""
        names = {role: getattr(self.columns, role) for role in ROLES}
        separator = self.columns.label_separator
        return {"columns": {**names, "label_separator": separator}, "xml_path": self.xml_path, "ocr": self.ocr}

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> ReadingSettings:
        """Return the settings from the result of ``to_dict``."""
        columns = {name: body["columns"][name] for name in (*ROLES, "label_separator") if name in body["columns"]}
        invalid = [name for name, value in columns.items() if not isinstance(value, str | None)]
        if invalid:
            raise InputError(f"expected the name of the {invalid[0]} column, got {columns[invalid[0]]!r}")
        return cls(Columns(**columns), str(body["xml_path"]), None if body["ocr"] is None else bool(body["ocr"]))
