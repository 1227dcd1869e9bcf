"""Tables to take away: documents with their topics, topics with their words, words with their probabilities.

``topiarist export`` writes them. Rows are plain dictionaries, made as they are asked for: memory does not grow with the
collection. ``write`` puts them into CSV, JSON lines or Parquet, under a name of its own until the file is complete.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import Any, BinaryIO, TextIO

import numpy as np

from topiarist.errors import InputError, ResourceError, UsageError
from topiarist.hierarchy import exchange
from topiarist.hierarchy.levels import deepest_certain
from topiarist.hierarchy.tree import Tree
from topiarist.measures.placed_documents import CERTAIN, Placed, upwards
from topiarist.store.sealed_folder import new_file

FORMATS = ("csv", "jsonl", "parquet")
DOCUMENT_FIELDS = ("id", "path", "leaf", "share", "level", "certain", "labels", "topics")
TOPIC_FIELDS = ("id", "parent", "path", "name", "level", "size", "share", "words")
WORD_FIELDS = ("topic", "path", "rank", "word", "probability")
BLOCK_CELLS = 1 << 22  # documents × nodes that are looked at together
BATCH = 10_000  # rows of a Parquet row group
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
BETWEEN = " | "  # in a cell of several texts; a spreadsheet would cut at a comma or semicolon

Row = dict[str, Any]


def documents(
    placed: Placed,
    labels: Iterable[Sequence[str]] | None = None,
    facts: Iterable[Mapping[str, Any]] | None = None,
    *,
    rho: float = CERTAIN,
    n_topics: int = 3,
    further: Iterable[Mapping[str, Any]] | None = None,
) -> Iterator[Row]:
    """A row for each document: where it is, how surely, and what else it is about.

    ``path``, ``leaf`` and ``share`` are those of its most probable class; ``certain`` is the deepest node of which it
    has more than ``rho``, ``level`` the depth of that. ``topics`` are the ``n_topics`` largest shares, as
    ``{"path", "share"}``. ``labels`` and ``facts`` (title, date, …: they follow the id) come in the order of documents,
    and so does what is ``further`` known, which stands at the end.
    """
    tree, paths = placed.tree, _Paths(placed.tree)
    own_labels, own_facts = _beside(labels, placed.n_docs, "labels"), _beside(facts, placed.n_docs, "facts")
    own_further = _beside(further, placed.n_docs, "columns")
    n_rows, above = max(1, BLOCK_CELLS // len(tree)), upwards(tree)[list(placed.class_nodes)]
    for start in range(0, placed.n_docs, n_rows):
        shares = placed.shares[start : start + n_rows]
        nodes = (shares @ above).toarray()
        nodes[:, tree.root] = 1.0  # of everything, whatever small shares were left out
        sure = deepest_certain(tree, nodes, rho).tolist()
        homes, largest = (side[start : start + n_rows].tolist() for side in (placed.homes, placed.largest))
        for row, (home, share, certain) in enumerate(zip(homes, largest, sure, strict=True)):
            name, given = placed.ids[start + row], next(own_labels) or ()
            yield {"id": name, **(next(own_facts) or {})} | {
                "id": name,
                "path": paths[home],
                "leaf": tree.names[home],
                "share": share,
                "level": tree.depths[certain],
                "certain": paths[certain],
                "labels": [given] if isinstance(given, str) else list(given),
                "topics": _largest(shares, row, placed.class_nodes, paths, n_topics),
                **(next(own_further) or {}),
            }


def topics(tree: Tree, words: Sequence[Sequence[str]] = (), sizes: Sequence[float] = ()) -> Iterator[Row]:
    """A row for each node, depth first; see ``exchange.rows``."""
    return exchange.rows(tree, words, sizes)


def words(tree: Tree, word_given_node: Any, vocabulary: Sequence[str], *, n_words: int | None = 50) -> Iterator[Row]:
    """A row for each of the ``n_words`` most probable words of each node (None: all that are possible there)."""
    shape = np.shape(word_given_node)
    if shape != (len(tree), len(vocabulary)):
        raise InputError(f"expected P(word | node) of shape {(len(tree), len(vocabulary))}, got {shape}")
    for node in tree.depth_first():
        probability = np.asarray(word_given_node[node])
        order = np.argsort(-probability, kind="stable")[:n_words]
        path = exchange.path_text(tree, node)
        for rank, column in enumerate(order[probability[order] > 0].tolist(), 1):
            yield {
                "topic": node, "path": path, "rank": rank, "word": vocabulary[column],
                "probability": float(probability[column]),
            }  # fmt: skip


class _Paths(dict[int, str]):
    """The path of each node as text, made when it is first needed."""

    def __init__(self, tree: Tree) -> None:
        super().__init__()
        self.tree = tree

    def __missing__(self, node: int) -> str:
        self[node] = exchange.path_text(self.tree, node)
        return self[node]


def _largest(shares: Any, row: int, nodes: Sequence[int], paths: _Paths, n: int) -> list[Row]:
    """The largest shares of a document, of equal ones the first by path."""
    entries = slice(shares.indptr[row], shares.indptr[row + 1])
    pairs = zip(shares.indices[entries].tolist(), shares.data[entries].tolist(), strict=True)
    named = ((-share, paths[nodes[column]]) for column, share in pairs if share > 0)
    return [{"path": path, "share": -share} for share, path in sorted(named)[:n]]


def _beside(values: Iterable[Any] | None, n_docs: int, name: str) -> Iterator[Any]:
    """One value for each document, None where nothing is known."""
    n = 0
    for value in itertools.repeat(None, n_docs) if values is None else values:
        n += 1
        yield value
    raise InputError(f"expected {name} of each of {n_docs} documents, got {n}", hint="an empty one where there is none")


def format_of(path: str | Path) -> str:
    """The format of a file, by the end of its name."""
    suffix = PurePath(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise UsageError(
            f"expected a file that ends in {', '.join('.' + known for known in FORMATS)}, got {path}",
            hint="--format csv",
        )
    return suffix


def write(
    rows: Iterable[Row],
    to: str | Path | BinaryIO,
    format: str | None = None,
    fields: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
) -> int:
    """Write rows to a file, or to an open binary stream such as ``sys.stdout.buffer``; return how many there were.

    The format of a file is by default that of its name. ``fields`` are the columns if there is no row to tell them,
    ``types`` what Parquet has to know where the first rows are silent: "text", "texts", "number" or "numbers".
    """
    kind = format or (format_of(to) if isinstance(to, str | Path) else "csv")
    if kind not in WRITERS:
        raise UsageError(f"format must be one of {', '.join(FORMATS)}, got {kind!r}", hint="'csv'")
    if kind == "parquet":
        _arrow()  # before anything is made
    counted = _Counted(rows)
    writer = partial(write_parquet, types=types or {}) if kind == "parquet" else WRITERS[kind]
    if isinstance(to, str | Path):
        with new_file(to) as file:
            writer(counted, file, fields)
    else:
        writer(counted, to, fields)
        to.flush()
    return counted.n


class _Counted:
    """Rows that are counted as they pass."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows, self.n = rows, 0

    def __iter__(self) -> Iterator[Row]:
        for row in self._rows:
            self.n += 1
            yield row


def write_csv(rows: Iterable[Row], file: BinaryIO, fields: Sequence[str] = ()) -> None:
    """CSV (RFC 4180, UTF-8) with a line of names. Cells that a spreadsheet would run begin with an apostrophe."""
    text = io.TextIOWrapper(file, "utf-8", errors="replace", newline="", write_through=True)
    try:
        writer, columns = csv.writer(text), list[str]()
        for row in rows:
            if not columns:
                writer.writerow(map(_cell, columns := list(row)))
            _check_columns(row, columns)
            writer.writerow([_cell(row.get(name)) for name in columns])
        if not columns:
            writer.writerow(map(_cell, fields))
    finally:
        text.detach()  # the file is not ours to close


def _cell(value: Any) -> Any:
    """What stands in a cell: numbers as they are, texts guarded, lists joined."""
    if isinstance(value, list | tuple):
        return guarded(BETWEEN.join(str(_cell(item)) for item in value))
    if isinstance(value, Mapping):
        return guarded(" ".join(str(_cell(part)) for part in value.values()))
    if isinstance(value, float):
        return f"{value:.6g}" if math.isfinite(value) else ""
    return guarded(value) if isinstance(value, str) else value


def guarded(text: str) -> str:
    """A text that no spreadsheet takes for a formula: an apostrophe stands before one that looks like it."""
    return f"'{text}" if text.startswith(FORMULA) else text


def write_jsonl(rows: Iterable[Row], file: BinaryIO, fields: Sequence[str] = ()) -> None:
    """JSON lines in UTF-8; numbers that JSON does not know are null."""
    for row in rows:
        plain = {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in row.items()
        }
        line = json.dumps(plain, ensure_ascii=False, allow_nan=False)
        file.write(line.encode("utf-8", "backslashreplace") + b"\n")


def write_parquet(
    rows: Iterable[Row], file: BinaryIO, fields: Sequence[str] = (), types: Mapping[str, str] | None = None
) -> None:
    """Parquet, some thousand rows at a time; the first of them tell the types of the columns."""
    pyarrow = _arrow()
    from pyarrow import parquet

    waiting = iter(rows)
    batch = list(itertools.islice(waiting, BATCH))
    schema = _schema(pyarrow, batch, fields, types or {})
    with parquet.ParquetWriter(file, schema) as writer:
        while batch:
            for row in batch:
                _check_columns(row, schema.names)
            try:
                writer.write_table(pyarrow.Table.from_pylist(batch, schema))
            except (pyarrow.ArrowException, TypeError, ValueError, UnicodeError) as error:
                raise InputError(
                    f"a value does not fit its column: {error}", hint="--format jsonl, which takes any"
                ) from error
            batch = list(itertools.islice(waiting, BATCH))


def arrow_table(rows: Sequence[Row], types: Mapping[str, str] | None = None) -> Any:
    """Rows as a table of pyarrow."""
    pyarrow = _arrow("a table of Arrow")
    schema = _schema(pyarrow, rows, (), types or {})
    try:
        return pyarrow.Table.from_pylist(list(rows), schema)
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"a value does not fit its column: {error}", hint="the rows as they are") from error


def _schema(pyarrow: Any, batch: Sequence[Row], fields: Sequence[str], types: Mapping[str, str]) -> Any:
    """The types of the columns by the first rows; where these are silent, by what our tables hold."""
    topic = pyarrow.struct([("path", pyarrow.string()), ("share", pyarrow.float64())])
    texts, number = pyarrow.list_(pyarrow.string()), pyarrow.float64()
    known = {
        "labels": texts, "words": texts, "topics": pyarrow.list_(topic), "parent": pyarrow.int64(), "size": number,
        "share": number, "probability": number, "level": pyarrow.int64(), "rank": pyarrow.int64(),
    }  # fmt: skip
    kinds = {"text": pyarrow.string(), "texts": texts, "number": number, "numbers": pyarrow.list_(number)}
    known |= {name: kinds[kind] for name, kind in types.items()}
    names = list(batch[0]) if batch else list(fields)
    found = []
    for name in names:
        kind = known.get(name)
        if kind is None:
            kind = pyarrow.array([row.get(name) for row in batch]).type
        found.append((name, pyarrow.string() if pyarrow.types.is_null(kind) else kind))
    return pyarrow.schema(found)


def _check_columns(row: Row, columns: Sequence[str]) -> None:
    """A column that comes late has no place any more."""
    if len(row) > len(columns) or not row.keys() <= set(columns):
        late = next(name for name in row if name not in columns)
        raise InputError(f"expected the columns {', '.join(columns)}, got {late!r} in a later row", hint="jsonl")


def _arrow(why: str = "writing Parquet") -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ResourceError(
            f"{why} needs pyarrow, which is not installed.", hint="pip install 'topiarist[parquet]'"
        ) from error
    return pyarrow


WRITERS: dict[str, Callable[[Iterable[Row], BinaryIO, Sequence[str]], None]] = {
    "csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet
}  # fmt: skip


def safe_cell(value: Any) -> Any:
    """The value, with an apostrophe before text that a spreadsheet would run; numbers stay numbers."""
    return guarded(value) if isinstance(value, str) else value


def write_sheet(file: TextIO, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Write a table to a file opened with ``newline=""``; how many rows there were below the header."""
    writer = csv.writer(file)
    writer.writerow([safe_cell(cell) for cell in header])
    number = 0
    for row in rows:
        writer.writerow([safe_cell(cell) for cell in row])
        number += 1
    return number
