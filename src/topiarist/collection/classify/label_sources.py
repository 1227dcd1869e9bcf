"""Label sources: columns of the documents and tables in files from which categories are learned."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topiarist.collection.classify.judgements import LEAVE, Judgements
from topiarist.collection.describe.statistics import Figures
from topiarist.collection.trends.by_group import BUILT_IN_GROUPINGS, LABEL, list_groupings, load_grouping
from topiarist.errors import InputError, UsageError
from topiarist.text.fields import TEXT, Field
from topiarist.text.parsers import Limits
from topiarist.text.readers.columns import MIN_REPEATS, SUBJECT
from topiarist.text.readers.delimited import CSV_DELIMITERS, TSV_DELIMITERS, read_delimited_rows
from topiarist.text.readers.items import File, ReadFailure
from topiarist.text.readers.jsonl import read_object_rows
from topiarist.text.readers.tables import Row

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

LABEL_COLUMN_NAMES = (
    "label",
    "labels",
    "category",
    "categories",
    "class",
    "tags",
    SUBJECT,
)  # names of columns of labels


@dataclass(frozen=True)
class LabelColumn:
    """Column whose values can be learned as categories."""

    name: str
    values: str  # phrase for the number of values
    has_label_name: bool  # its name is one of ``LABEL_COLUMN_NAMES``
    command: str  # command that learns from the column


def list_label_columns(figures: Figures) -> tuple[LabelColumn, ...]:
    """Return the columns from which categories can be learned, columns with a label name first."""
    fields = {field.name: field for field in figures.collection.fields}
    command = ("topiarist", "learn", figures.collection.folder.display_path, "--from-column")
    columns = [
        LabelColumn(name, values, name in fields and _has_label_name(fields[name]), shlex.join([*command, name]))
        for name, values in list_groupings(figures).items()
        if name in fields or name not in BUILT_IN_GROUPINGS
    ]
    return tuple(sorted(columns, key=lambda column: not column.has_label_name))


def find_default_column(collection: Collection) -> str:
    """Return the only column with a label name; empty without one or with labels. Several are an error."""
    if _has_imported_labels(collection):
        return ""
    columns = [column for column in list_label_columns(Figures(collection)) if column.has_label_name]
    if len(columns) > 1:
        names = ", ".join(f"{column.name} ({column.values})" for column in columns)
        raise UsageError(
            f"no document has labels, and {len(columns)} columns may hold them: {names}",
            hint=f"Run {' or '.join(column.command for column in columns)}.",
        )
    return columns[0].name if columns else ""


def load_labels(collection: Collection, column: str, separator: str = "") -> tuple[str, Mapping[int, tuple[str, ...]]]:
    """Return the name of a column, and the labels that it gives to rows; ``separator`` divides a value into several."""
    name, _, values = load_grouping(Figures(collection), column)
    labels: dict[int, dict[str, None]] = {}
    for row, code in zip(values.rows.tolist(), values.codes.tolist(), strict=True):
        text = values.names[code]
        parts = text.split(separator) if separator else [text]
        labels.setdefault(row, {}).update(dict.fromkeys(part for value in parts if (part := value.strip())))
    return name, {row: tuple(row_labels) for row, row_labels in labels.items() if row_labels}


def are_own_labels(collection: Collection, column: str) -> bool:
    """Return whether a name stands for the labels of the documents, and not for one of their columns."""
    names = {key.casefold() for field in collection.fields for key in (field.name, field.key)}
    return column.strip().casefold() in (LABEL, f"{LABEL}s") and column.strip().casefold() not in names


def _has_label_name(field: Field) -> bool:
    name = field.name.strip().casefold()
    has_titles = name == SUBJECT and field.kind == TEXT and field.documents < MIN_REPEATS * field.different
    return name in LABEL_COLUMN_NAMES and not has_titles


def _has_imported_labels(collection: Collection) -> bool:
    """Return whether any document had labels before judgements of users."""
    judgements = Judgements(collection.generation.database)
    judged_rows = {judgement.row for judgement in judgements.list_current() if judgement.kind != LEAVE}
    labelled_rows = set(collection.documents.labelled_rows())
    return bool(labelled_rows - judged_rows) or any(
        judgements.list_standing(row)[0].before for row in labelled_rows & judged_rows
    )


ID_COLUMN_NAMES = ("id", "document", "doc", "name", "file")
TABLE_LABEL_NAMES = ("label", "labels", "category", "categories", "class", "topic", "path")
BAR, SEPARATORS = ("|", ";|")  # between the labels of one cell
KINDS = {".csv": CSV_DELIMITERS, ".tsv": TSV_DELIMITERS, ".jsonl": "", ".ndjson": ""}  # delimiters of tables


def read_labels(
    path: str, separator: str | None = None, *, failures: list[ReadFailure] | None = None
) -> dict[str, tuple[str, ...]]:
    """Return the labels of each document of a table; ``separator`` divides a cell, by default at | and ;.

    Rows that cannot be read are appended to ``failures``; without this list they are an error.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in KINDS:
        raise UsageError(
            f"expected a table of labels, .csv, .tsv or .jsonl, got {path}", hint="Pass a file such as labels.csv."
        )
    labels_by_id: dict[str, dict[str, None]] = {}
    try:
        for id, value in _read_pairs(path, KINDS[suffix], failures):
            values = value if isinstance(value, list) else _split_cell("" if value is None else str(value), separator)
            labels = (str(label).strip() for label in values if label is not None)
            labels_by_id.setdefault(id, {}).update(dict.fromkeys(filter(None, labels)))
    except FileNotFoundError:
        raise UsageError(
            f"there is no file of labels at {path}", hint="Pass a table with the columns id and label."
        ) from None
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {(error.strerror or str(error)).lower()}", hint="Choose another file."
        ) from None
    result = {id: tuple(labels) for id, labels in labels_by_id.items() if id and labels}
    if not result:
        raise InputError(f"there is no label in {path}", hint="Pass a table with the columns id and label.")
    return result


def _read_pairs(path: str, delimiters: str, failures: list[ReadFailure] | None) -> Iterator[tuple[str, Any]]:
    """Yield the id and the value of the labels of each row; ``delimiters`` is empty for JSON lines."""
    file, limits = File(path, path, None), Limits()
    rows = read_delimited_rows(file, limits, delimiters) if delimiters else read_object_rows(file, limits)
    header: list[str] = []
    for row in rows:
        if not isinstance(row, Row):
            if failures is not None and isinstance(row, ReadFailure):
                failures.append(row)
                continue
            raise InputError(
                f"line {row.place} of {path} cannot be read: {row.reason}", hint="Use one row for each document."
            )
        header = header if header and delimiters else list(row.cells)  # every object has its own keys
        id, label = (_find_column(header, names, path) for names in (ID_COLUMN_NAMES, TABLE_LABEL_NAMES))
        if id in row.cells and label in row.cells:
            yield str(row.cells[id]).strip(), row.cells[label]


def _split_cell(cell: str, separator: str | None) -> list[str]:
    if separator in (None, BAR):
        return re.split(f"[{re.escape(SEPARATORS)}]", cell)
    return cell.split(separator) if separator else [cell]


def _find_column(header: Sequence[str], names: tuple[str, ...], path: str) -> str:
    """Return the first column of ``names`` in a header, without regard to case; raise UsageError otherwise."""
    by_name = {name.lower(): name for name in reversed(header)}
    for name in names:
        if name in by_name:
            return by_name[name]
    raise UsageError(
        f"{path} has no column {names[0]!r}, only {', '.join(header)}", hint=f"Call the column {names[0]}."
    )
