"""Two trees over the documents that both have: an earlier state of a collection and now, or two collections."""

from __future__ import annotations

from dataclasses import dataclass

from topiarist.collection.describe.figures import Figures
from topiarist.hierarchy.tree import Tree
from topiarist.measures.comparison import Comparison, compare
from topiarist.measures.side_by_side import SharedDocuments, shared_documents


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeSide:
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
class TwoTrees:
    """Two trees, compared, and the documents that both have, by their rows in the collection that is shown."""

    a: TreeSide
    b: TreeSide
    found: Comparison
    shared: SharedDocuments
    key: tuple[str, str]  # which other tree, and its state; copies of a folder have the same marks


def two_trees(shown: Figures, a: Figures, b: Figures, titles: tuple[str, str], key: tuple[str, str]) -> TwoTrees:
    """A as it is read elsewhere, B so that as few streams as possible cross; ``shown`` is one of them."""
    one, other = a.collection.placed, b.collection.placed
    shared, first = shared_documents(one, other, rows_of_a=a is shown), a.ordered()
    left = _side(a, one.words, titles[0], first, a is shown)
    right = _side(b, other.words, titles[1], shared.order(b.tree, first), b is shown)
    return TwoTrees(left, right, compare(one, other), shared, key)


def _side(
    figures: Figures, words: tuple[tuple[str, ...], ...], title: str, order: tuple[int, ...], here: bool
) -> TreeSide:
    shape = figures.shape
    return TreeSide(
        title=title,
        tree=figures.tree,
        names=figures.names,
        given=frozenset(node for node, topic in enumerate(shape.topics) if topic in shape.titles),
        words=words,
        topics=shape.topics,
        order=order,
        here=here,
    )
