"""Tables of a collection for Python: documents, topics, words and shares as Arrow, pandas or polars.

Whatever takes Arrow takes a table as it is (``polars.DataFrame(table)``, DuckDB, pandas): it hands its columns over by
the Arrow interface.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.cards import MOST_ROWS, card
from topiarist.collection.describe.tables import Row, arrow_table
from topiarist.errors import ResourceError

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

WORDS = 20  # of each topic


class Table:
    """Rows with names, made when they are first asked for."""

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
        """The columns by name."""
        names = self.rows[0] if self.rows else {}
        return {name: [row.get(name) for row in self.rows] for name in names}

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __repr__(self) -> str:
        names = list(self.columns)
        shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        return f"<Table {self.name}: {len(self):,} rows, columns {shown}>"

    def _repr_html_(self) -> str:
        names = list(self.columns)
        note = f"{len(self) - MOST_ROWS:,} more rows" if len(self) > MOST_ROWS else ""
        return card(
            f"{self.name}: {len(self):,} rows", header=names[:10], note=note,
            rows=([row.get(name) for name in names[:10]] for row in self.rows[:MOST_ROWS]),
        )  # fmt: skip

    def to_arrow(self) -> Any:
        """As a pyarrow Table."""
        return arrow_table(self.rows, self._types)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow interface, by which other libraries take it."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """As a pandas DataFrame."""
        return _library("pandas").DataFrame(self.columns)

    def to_polars(self) -> Any:
        """As a polars DataFrame."""
        return _library("polars").DataFrame(self.columns, strict=False, infer_schema_length=None)


class Tables:
    """The tables of a collection: ``documents``, ``topics``, ``words``, ``shares``, ``over_time``, ``by_group``."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def __repr__(self) -> str:
        return "<Tables: documents, topics, words, shares, over_time(), by_group(column)>"

    @property
    def documents(self) -> Table:
        """A row for each document: id, title, source, date, its place in the tree, labels, tags, its own columns."""
        return self._exported("documents")

    @property
    def topics(self) -> Table:
        """A row for each topic: its number, the one above, path, name, level, size, share and words."""
        return self._exported("topics")

    @property
    def words(self) -> Table:
        """A row for each of the most probable words of each topic."""
        return self._exported("words")

    @property
    def shares(self) -> Table:
        """A row for each document with its share of each topic of the first view; columns are called like topics."""
        return Table("shares", lambda: _shares(self._collection))

    def over_time(self, by: str = "auto") -> Table:
        """A row for each topic and period: its share with its interval, the documents of the period, bursts."""
        return Table("over_time", lambda: self._collection.over_time(by).rows(), {"share": "number"})

    def by_group(self, column: str) -> Table:
        """A row for each group and topic: its share, that of the others, and how many times as much it is."""
        return Table("by_group", lambda: self._collection.by_group(column).rows())

    def _exported(self, what: str) -> Table:
        from topiarist.collection.describe.export import exported_table

        found = exported_table(self._collection, what, n_words=WORDS, texts=False, rho=0.5)
        return Table(what, lambda: found.rows, found.types)


def _shares(collection: Collection) -> Iterator[Row]:
    """Documents × topics; a name that several topics have is told with the path to it."""
    from topiarist.collection.describe.figures import Figures
    from topiarist.collection.spread.over_time import path_text

    figures = Figures(collection)
    nodes = sorted(collection.tree.view("normal"), key=figures.ordered().index)
    names = _apart([figures.names[node] for node in nodes], [path_text(figures, node) for node in nodes])
    shares = np.asarray((collection.shares @ figures.mask[:, nodes].astype(np.float64)), np.float64)
    for id, row in zip(collection.documents.ids(), shares.round(6).tolist(), strict=False):
        yield {"id": id, **dict(zip(names, row, strict=True))}


def _apart(names: Sequence[str], paths: Sequence[str]) -> list[str]:
    return [path if names.count(name) > 1 or name == "id" else name for name, path in zip(names, paths, strict=True)]


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ResourceError(
            f"a table for {name} needs it, and it is not installed", hint=f"pip install {name}"
        ) from error
