"""Another tree beside this one: an earlier state of the collection, or a collection that was named at the start."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from topiarist.app.explorer.frame import shown_name
from topiarist.app.explorer.view import View
from topiarist.arrays import Ints
from topiarist.collection.shape import changes
from topiarist.collection.state import at, earlier
from topiarist.errors import UsageError
from topiarist.hierarchy.tree import Tree
from topiarist.measures.comparison import Comparison, Homes, compare
from topiarist.measures.node_matching import aligned
from topiarist.measures.placed_documents import Placed, summed_up
from topiarist.measures.side_by_side import SideBySide, side_by_side
from topiarist.store import edit_log
from topiarist.store.database import Database

T = TypeVar("T")
STATES = 30  # earlier ones to choose from


@dataclass(frozen=True)
class Other:
    """A tree to compare with: how an address names it, and what it is."""

    key: str
    name: str


@dataclass(frozen=True, eq=False)
class Side:
    """One of two trees. ``here``: it is the one that all other pages show, so that its topics have pages."""

    title: str
    tree: Tree
    names: tuple[str, ...]
    given: frozenset[int]  # nodes that somebody gave their names
    words: tuple[tuple[str, ...], ...]
    topics: tuple[int, ...]
    order: tuple[int, ...]  # nodes as they are read
    here: bool


@dataclass(frozen=True, eq=False)
class Both:
    """Two trees over the documents that both have; ``homes`` of each of these, and its row in this collection."""

    a: Side
    b: Side
    found: Comparison
    table: Homes
    homes_a: Ints
    homes_b: Ints
    rows: Ints
    key: tuple[str, str]  # which other tree, and its state; copies of a folder have the same marks


class Once(Generic[T]):
    """Something that is made when it is first asked for; whoever asks for something else need not wait."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make, self._lock, self._made = make, threading.Lock(), list[T]()

    def __call__(self) -> T:
        """Make it, or give what was made."""
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]


def others(view: View) -> tuple[Other, ...]:
    """What there is to compare with: collections named at the start, then earlier states, the latest first."""

    def states() -> tuple[Other, ...]:
        database = view.collection.generation.database
        return tuple(
            Other(f"state-{entry.before}", f"before: {_step(database, entry)} ({entry.time[:16].replace('T', ' ')})")
            for entry in earlier(view.collection)[:STATES]
        )

    given = (Other(f"with-{place}", name or "collection") for place, (name, _) in enumerate(view.beside, 1))
    return (*given, *view.remembered("earlier states", states))


def _step(database: Database, entry: edit_log.Edit) -> str:
    said = changes.in_words(database, entry)
    return said if len(said) <= 80 else f"{said[:79].rstrip()}…"


def chosen(view: View, key: str) -> Other | None:
    """The tree of an address; the first, if it names none; nothing where there is none at all."""
    known = others(view)
    if not key:
        return known[0] if known else None
    for other in known:
        if other.key == key:
            return other
    raise UsageError("no page compares with this tree: its state is not kept", hint="another tree to compare with")


def both_of(view: View, other: Other) -> Both:
    """The two trees, compared once for as long as neither changes."""
    kind, _, number = other.key.partition("-")
    if kind == "with":
        beside = view.beside[int(number) - 1][1]()
        key = (other.key, beside.mark)
        make = Once(lambda: _both(view, view, beside, (shown_name(view), other.name), key))
        return view.remembered(("beside", *key), lambda: make)()

    def before() -> Both:
        with at(view.collection, int(number)) as was:
            return _both(view, View(was), view, (f"{other.name[:1].upper()}{other.name[1:]}", "Now"), (other.key, ""))

    make = Once(before)
    return view.remembered(("beside", other.key), lambda: make)()


def level_of(view: View, both: Both, level: int | None) -> SideBySide:
    """The two trees at a level."""
    key = ("level", both.key, level)
    return view.remembered(key, lambda: side_by_side(both.a.tree, both.b.tree, both.table, level))


def _both(view: View, a: View, b: View, titles: tuple[str, str], key: tuple[str, str]) -> Both:
    """Two views side by side: A as it is read elsewhere, B so that as few streams as possible cross."""
    one, other = a.collection.placed, b.collection.placed
    shared_a, shared_b = aligned(one, other)
    table = Homes.of(shared_a, shared_b)
    row = {name: place for place, name in enumerate((one if a is view else other).ids)}
    rows = np.fromiter((row[name] for name in shared_a.ids), np.int64, shared_a.n_docs)
    first = a.ordered()
    where = _middles(b.tree, table, first)
    second = b.tree.in_order(lambda child: (where[child], child))
    return Both(
        _side(a, one, titles[0], first, a is view), _side(b, other, titles[1], second, b is view),
        compare(one, other), table, shared_a.homes, shared_b.homes, rows,
        key,
    )  # fmt: skip


def _side(view: View, placed: Placed, title: str, order: tuple[int, ...], here: bool) -> Side:
    given = frozenset(node for node, topic in enumerate(view.shape.topics) if topic in view.shape.titles)
    return Side(title, view.tree, view.names, given, placed.words, view.shape.topics, order, here)


def _middles(tree: Tree, table: Homes, order: Sequence[int]) -> list[float]:
    """Where the documents under each node of B are in A, on average; last if there are none."""
    place = np.empty(len(order))
    place[list(order)] = np.arange(len(order))
    sums = summed_up(tree, np.bincount(table.columns, table.n * place[table.rows], len(tree)))
    sizes = summed_up(tree, np.bincount(table.columns, table.n, len(tree)))
    found: list[float] = np.where(sizes > 0, sums / np.maximum(sizes, 1), np.inf).tolist()
    return found
