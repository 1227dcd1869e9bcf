"""Tables of documents, topics, words and shares for files and for Arrow, pandas and polars."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import cache, cached_property, partial
from importlib import import_module
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

import numpy as np

from topiarist.cards import MAX_ROWS, render_card
from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.metrics.placed_documents import MIN_CERTAINTY, DocumentAssignments, make_ancestor_matrix
from topiarist.storage.sealed_folder import new_file
from topiarist.text.characters import remove_controls
from topiarist.trees import exchange
from topiarist.trees.levels import deepest_certain
from topiarist.trees.tree import Tree

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

TABLE_FORMATS = ("csv", "excel", "jsonl", "parquet")
BYTE_ORDER_MARK = "\ufeff"  # with it Excel reads UTF-8
DOCUMENT_FIELDS = ("id", "path", "leaf", "share", "level", "certain", "labels", "topics")
TOPIC_FIELDS = ("id", "parent", "path", "name", "level", "size", "share", "words")
WORD_FIELDS = ("topic", "path", "rank", "word", "probability")
BLOCK_CELLS = 1 << 22  # documents × nodes in memory at once
BATCH = 10_000  # rows of a Parquet row group
FORMULA_STARTS = (*"=+-@＝＋－＠", "\t", "\r", "\n")  # spreadsheets read full-width signs like plain ones
SEPARATOR = " | "  # between the texts of a cell; spreadsheets split at commas and semicolons

Row = dict[str, Any]


def iter_document_rows(
    assignments: DocumentAssignments,
    labels: Iterable[Sequence[str]] | None = None,
    facts: Iterable[Mapping[str, Any]] | None = None,
    *,
    rho: float = MIN_CERTAINTY,
    n_topics: int = 3,
    further_facts: Iterable[Mapping[str, Any]] | None = None,
) -> Iterator[Row]:
    """Yield a row for each document: its topic, certainty and other topics.

    ``path``, ``leaf`` and ``share`` belong to its most probable class. ``certain`` is the deepest node with more than
    ``rho`` of it, and ``level`` the depth of this node. ``topics`` are the ``n_topics`` largest shares as
    ``{"path", "share"}``. ``labels``, ``facts`` (title, date, …, after the id) and ``further`` (at the end) are in the
    order of documents.
    """
    tree = assignments.tree
    path = cache(partial(exchange.format_path, tree))
    named_values = {"labels": labels, "facts": facts, "columns": further_facts}
    own_labels, own_facts, own_further = (
        _iter_values(values, assignments.n_docs, name) for name, values in named_values.items()
    )
    n_rows, is_above = max(1, BLOCK_CELLS // len(tree)), make_ancestor_matrix(tree)[list(assignments.class_nodes)]
    for start in range(0, assignments.n_docs, n_rows):
        block = slice(start, start + n_rows)
        shares = assignments.shares[block]
        nodes = (shares @ is_above).toarray()
        nodes[:, tree.root] = 1.0  # small shares are not stored, so the sum can be below 1
        certain_nodes = deepest_certain(tree, nodes, rho).tolist()
        homes, largest = assignments.assigned_nodes[block].tolist(), assignments.largest[block].tolist()
        for row, (node, share, certain) in enumerate(zip(homes, largest, certain_nodes, strict=True)):
            name, document_labels = assignments.ids[start + row], next(own_labels) or ()
            yield {"id": name, **(next(own_facts) or {})} | {
                "id": name,
                "path": path(node),
                "leaf": tree.names[node],
                "share": share,
                "level": tree.depths[certain],
                "certain": path(certain),
                "labels": [document_labels] if isinstance(document_labels, str) else list(document_labels),
                "topics": _list_largest_topics(shares, row, assignments.class_nodes, path, n_topics),
                **(next(own_further) or {}),
            }


def iter_word_rows(
    tree: Tree, word_given_node: Any, vocabulary: Sequence[str], *, n_words: int | None = 50
) -> Iterator[Row]:
    """Yield a row for each of the ``n_words`` most probable words of each node (None: all with P > 0)."""
    shape = np.shape(word_given_node)
    if shape != (len(tree), len(vocabulary)):
        raise InputError(f"expected P(word | node) of shape {(len(tree), len(vocabulary))}, got {shape}")
    for node in tree.depth_first():
        probability = np.asarray(word_given_node[node])
        order = np.argsort(-probability, kind="stable")[:n_words]
        path = exchange.format_path(tree, node)
        for rank, column in enumerate(order[probability[order] > 0].tolist(), 1):
            yield {
                "topic": node, "path": path, "rank": rank, "word": vocabulary[column],
                "probability": float(probability[column]),
            }  # fmt: skip


def _list_largest_topics(shares: Any, row: int, nodes: Sequence[int], path: Callable[[int], str], n: int) -> list[Row]:
    entries = slice(shares.indptr[row], shares.indptr[row + 1])
    pairs = zip(shares.indices[entries].tolist(), shares.data[entries].tolist(), strict=True)
    named = ((-share, path(nodes[column])) for column, share in pairs if share > 0)
    return [{"path": path, "share": -share} for share, path in sorted(named)[:n]]


def _iter_values(values: Iterable[Any] | None, n_docs: int, name: str) -> Iterator[Any]:
    """Yield values, or None without values, and raise InputError if there are fewer than ``n_docs``."""
    n = 0
    for value in itertools.repeat(None, n_docs) if values is None else values:
        n += 1
        yield value
    raise InputError(
        f"expected {name} of each of {n_docs} documents, got {n}", hint="Use an empty value for a document without one."
    )


def find_table_format(path: str | Path) -> str:
    """Return the table format of a file by its suffix."""
    suffix = PurePath(path).suffix.lower().removeprefix(".")
    suffixes = [name for name in TABLE_FORMATS if name != "excel"]  # as a suffix it is no format of ours
    if suffix not in suffixes:
        expected = ", ".join(f".{name}" for name in suffixes)
        raise UsageError(f"expected a file that ends in {expected}, got {path}", hint="Use --format csv.")
    return suffix


def write_table(
    rows: Iterable[Row],
    to: str | Path | BinaryIO,
    format: str | None = None,
    fields: Sequence[str] = (),
    types: Mapping[str, str] = MappingProxyType({}),
) -> int:
    """Write rows to a file, or to an open binary stream such as ``sys.stdout.buffer``; return how many there were.

    The format defaults to the suffix of the file name. ``fields`` are the columns if there are no rows. ``types`` are
    the Parquet types of columns whose first rows are empty: "text", "texts", "number" or "numbers".
    """
    kind = format or (find_table_format(to) if isinstance(to, str | Path) else "csv")
    writers: dict[str, Callable[[Iterable[Row], BinaryIO, Sequence[str]], None]] = {
        "csv": write_csv,
        "excel": partial(write_csv, encoding="utf-8-sig"),  # with a byte-order mark Excel reads UTF-8
        "jsonl": write_jsonl,
        "parquet": partial(write_parquet, types=types),
    }
    if kind not in writers:
        raise UsageError(f"format must be one of {', '.join(TABLE_FORMATS)}, got {kind!r}", hint="Use 'csv'.")
    if kind == "parquet":
        _import_arrow()  # before anything is made
    numbers = itertools.count()
    counted_rows = (row for row, _ in zip(rows, numbers, strict=False))
    with new_file(to) if isinstance(to, str | Path) else nullcontext(to) as file:
        writers[kind](counted_rows, file, fields)
        file.flush()
    return next(numbers)


def write_csv(rows: Iterable[Row], file: BinaryIO, fields: Sequence[str] = (), encoding: str = "utf-8") -> None:
    """Write CSV (RFC 4180) with a header. Cells that a spreadsheet would run begin with an apostrophe."""
    text = io.TextIOWrapper(file, encoding, errors="replace", newline="", write_through=True)
    try:
        writer, columns = csv.writer(text), list[str]()
        for row in rows:
            if not columns:
                writer.writerow(map(_format_cell, columns := list(row)))
            _check_columns(row, columns)
            writer.writerow([_format_cell(row.get(name)) for name in columns])
        if not columns:
            writer.writerow(map(_format_cell, fields))
    finally:
        text.detach()  # the caller closes the file


def _format_cell(value: Any) -> Any:
    """Return a value for a CSV cell: joined lists, six digits, and no formulas."""
    if isinstance(value, list | tuple):
        return guard_formula(SEPARATOR.join(str(_format_cell(item)) for item in value))
    if isinstance(value, Mapping):
        return guard_formula(" ".join(str(_format_cell(part)) for part in value.values()))
    if isinstance(value, float):
        return f"{value:.6g}" if math.isfinite(value) else ""
    return safe_cell(value)


def safe_cell(value: Any) -> Any:
    """Return the value; a text without control characters, with an apostrophe if a spreadsheet would run it."""
    return guard_formula(remove_controls(value)) if isinstance(value, str) else value


def remove_all_controls(value: Any) -> Any:
    """Return a value of a row without control characters in its texts."""
    if isinstance(value, str):
        return remove_controls(value)
    if isinstance(value, list | tuple):
        return [remove_all_controls(item) for item in value]
    if isinstance(value, Mapping):
        return {remove_controls(name): remove_all_controls(part) for name, part in value.items()}
    return value


def guard_formula(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would run as a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA_STARTS) else text  # some programs trim cells


def write_jsonl(rows: Iterable[Row], file: BinaryIO, fields: Sequence[str] = ()) -> None:
    """Write JSON lines in UTF-8; infinite numbers and NaN become null."""
    for row in map(remove_all_controls, rows):
        plain = {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in row.items()
        }
        line = json.dumps(plain, ensure_ascii=False, allow_nan=False)
        file.write(line.encode("utf-8", "backslashreplace") + b"\n")


def write_parquet(
    rows: Iterable[Row], file: BinaryIO, fields: Sequence[str] = (), types: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Write Parquet in row groups of 10,000; the first group determines the types of columns."""
    pyarrow = _import_arrow()
    from pyarrow import parquet

    waiting = map(remove_all_controls, rows)
    batch = list(itertools.islice(waiting, BATCH))
    schema = _make_schema(pyarrow, batch, fields, types)
    with parquet.ParquetWriter(file, schema) as writer:
        while batch:
            for row in batch:
                _check_columns(row, schema.names)
            writer.write_table(
                _make_arrow_table(pyarrow, batch, schema, hint="Use the format jsonl, which takes any value.")
            )
            batch = list(itertools.islice(waiting, BATCH))


def arrow_table(rows: Sequence[Row], types: Mapping[str, str] = MappingProxyType({})) -> Any:
    """Convert rows to a pyarrow table."""
    pyarrow = _import_arrow("a table of Arrow")
    return _make_arrow_table(
        pyarrow, list(rows), _make_schema(pyarrow, rows, (), types), hint="Pass the rows as dictionaries."
    )


def _make_arrow_table(pyarrow: Any, rows: list[Row], schema: Any, hint: str) -> Any:
    try:
        return pyarrow.Table.from_pylist(rows, schema)
    except (pyarrow.ArrowException, TypeError, ValueError, UnicodeError) as error:
        raise InputError(f"a value does not fit its column: {error}", hint=hint) from error


def _make_schema(pyarrow: Any, batch: Sequence[Row], fields: Sequence[str], types: Mapping[str, str]) -> Any:
    """Return the Arrow schema of a table; unknown types are inferred from the first batch."""
    topic = pyarrow.struct([("path", pyarrow.string()), ("share", pyarrow.float64())])
    texts, number = pyarrow.list_(pyarrow.string()), pyarrow.float64()
    kinds = {"text": pyarrow.string(), "texts": texts, "number": number, "numbers": pyarrow.list_(number)}
    column_types = {"labels": texts, "words": texts, "topics": pyarrow.list_(topic)}
    column_types |= dict.fromkeys(("parent", "level", "rank"), pyarrow.int64())
    column_types |= dict.fromkeys(("size", "share", "probability"), number)
    column_types |= {name: kinds[kind] for name, kind in types.items()}
    columns = []
    for name in batch[0] if batch else fields:
        kind = column_types.get(name)
        if kind is None:
            kind = pyarrow.array([row.get(name) for row in batch]).type
        columns.append((name, pyarrow.string() if pyarrow.types.is_null(kind) else kind))
    return pyarrow.schema(columns)


def _check_columns(row: Row, columns: Sequence[str]) -> None:
    """Raise InputError for a column that the first rows do not have."""
    if len(row) > len(columns) or not row.keys() <= set(columns):
        late = next(name for name in row if name not in columns)
        raise InputError(
            f"expected the columns {', '.join(columns)}, got {late!r} in a later row", hint="Use the format jsonl."
        )


def _import_arrow(purpose: str = "writing Parquet") -> Any:
    return _import_library("pyarrow", f"{purpose} needs pyarrow, which is not installed.", "'topiarist[parquet]'")


def write_spreadsheet(file: TextIO, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Write a table to a file opened with ``newline=""``; return the number of rows below the header."""
    writer = csv.writer(file)
    writer.writerow(map(safe_cell, header))
    lengths = [writer.writerow(map(safe_cell, row)) for row in rows]
    return len(lengths)


MAX_WORDS = 20  # of each topic


class Table:
    """Table of named columns, computed at first use."""

    def __init__(
        self, name: str, make: Callable[[], Iterable[Row]], types: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.name = name
        self._make, self._types = make, types

    @cached_property
    def rows(self) -> list[Row]:
        """All rows as dictionaries."""
        return list(self._make())

    @property
    def columns(self) -> dict[str, list[Any]]:
        """Values of each column by its name."""
        names = self.rows[0] if self.rows else {}
        return {name: [row.get(name) for row in self.rows] for name in names}

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __repr__(self) -> str:
        names = list(self.columns)
        listed_names = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        return f"<Table {self.name}: {len(self):,} rows, columns {listed_names}>"

    def _repr_html_(self) -> str:
        """Return a notebook card with the first rows and columns."""
        names = list(self.columns)
        note = f"{len(self) - MAX_ROWS:,} more rows" if len(self) > MAX_ROWS else ""
        return render_card(
            f"{self.name}: {len(self):,} rows", header=names[:10], note=note,
            rows=([row.get(name) for name in names[:10]] for row in self.rows[:MAX_ROWS]),
        )  # fmt: skip

    def to_arrow(self) -> Any:
        """Convert to a pyarrow Table."""
        return arrow_table(self.rows, self._types)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """Convert to a pandas DataFrame."""
        return _import_library("pandas").DataFrame(self.columns)

    def to_polars(self) -> Any:
        """Convert to a polars DataFrame."""
        return _import_library("polars").DataFrame(self.columns, strict=False, infer_schema_length=None)


class Tables:
    """The tables of a collection: ``documents``, ``topics``, ``words``, ``shares``, ``over_time``, ``by_group``."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def __repr__(self) -> str:
        return "<Tables: documents, topics, words, shares, over_time(), by_group(column)>"

    @property
    def documents(self) -> Table:
        """Table of documents: id, title, source, date, topic, labels, tags and columns."""
        return self._make_table("documents")

    @property
    def topics(self) -> Table:
        """Table of topics: number, parent, path, name, level, size, share and words."""
        return self._make_table("topics")

    @property
    def words(self) -> Table:
        """Table of the most probable words of each topic."""
        return self._make_table("words")

    @property
    def shares(self) -> Table:
        """Table of the shares of each document in the topics of the first view; columns are named like topics."""
        return Table("shares", lambda: _iter_share_rows(self._collection))

    def over_time(self, by: str = "auto") -> Table:
        """Return a row for each topic and period: share with interval, documents of the period, bursts."""
        return Table("over_time", lambda: self._collection.over_time(by).rows(), {"share": "number"})

    def by_group(self, column: str) -> Table:
        """Return a row for each group and topic: share, share in the other groups, and their ratio."""
        return Table("by_group", lambda: self._collection.by_group(column).rows())

    def _make_table(self, kind: str) -> Table:
        from topiarist.collection.describe.export import make_table

        exported = make_table(self._collection, kind, n_words=MAX_WORDS, texts=False, rho=0.5)
        return Table(kind, lambda: exported.rows, exported.types)


def _iter_share_rows(collection: Collection) -> Iterator[Row]:
    """Yield for each document its share in every topic of the normal view."""
    from topiarist.collection.describe.statistics import Figures
    from topiarist.collection.trends.topic_shares import path_text

    figures = Figures(collection)
    nodes = sorted(collection.tree.view("normal"), key=figures.ordered().index)
    names = _make_distinct([figures.names[node] for node in nodes], [path_text(figures, node) for node in nodes])
    shares = np.asarray((collection.shares @ figures.mask[:, nodes].astype(np.float64)), np.float64)
    for id, row in zip(collection.documents.ids(), shares.round(6).tolist(), strict=False):
        yield {"id": id, **dict(zip(names, row, strict=True))}


def _make_distinct(names: Sequence[str], paths: Sequence[str]) -> list[str]:
    return [path if names.count(name) > 1 or name == "id" else name for name, path in zip(names, paths, strict=True)]


def _import_library(name: str, problem: str = "", package: str = "") -> Any:
    """Import an optional library; raise ResourceError with an install hint if it is missing."""
    try:
        return import_module(name)
    except ImportError as error:
        problem = problem or f"a table for {name} requires this package, which is not installed"
        raise ResourceError(problem, hint=f"Run pip install {package or name}.") from error
