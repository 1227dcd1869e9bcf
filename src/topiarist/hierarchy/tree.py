"""The tree as a value: who is whose child, what everyone is called; trees from paths and linkages; look-up.

Nodes are numbers from 0 on, in any order; siblings are ordered by their numbers. Nothing here is recursive, and nothing
takes more than linear time, so a chain of 100,000 nodes is a tree like any other.
"""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from topiarist import cards
from topiarist.arrays import Bools
from topiarist.errors import InputError
from topiarist.hierarchy.tree_text import render
from topiarist.text.spelling import proposed

DOTTED_DEPTH = 32  # below it a dotted name is no longer read by anyone, and names must not grow with the depth
MOST_NODES = 10_000_000
Shape = tuple[list[int], list[str]]  # the parent and the name of every node
SHOWN = 5


@dataclass(frozen=True, repr=False)
class Tree:
    """Nodes with a parent (−1 for the root) and a name each.

    Every node but the root needs a name, and siblings need different ones. Without names, nodes are called by their
    position, "1.2" for the second child of the first (see ``_default_names``), and the root has no name.
    """

    parents: tuple[int, ...]
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        parents = _whole_numbers(self.parents)
        _check_parents(parents)
        object.__setattr__(self, "parents", parents)
        _check_reached(parents, self._order)
        names = _texts(self.names) or _default_names(parents, self._order)
        _check_names(parents, names)
        object.__setattr__(self, "names", names)

    @classmethod
    def single(cls) -> Tree:
        """The smallest tree: a root without a name."""
        return cls((-1,))

    @classmethod
    def star(cls, n_leaves: int) -> Tree:
        """A flat tree: the root and its leaves."""
        if n_leaves < 1:
            raise InputError(f"expected at least one leaf, got {n_leaves}", hint="Tree.single() is a root by itself")
        return cls(tuple(_balanced(n_leaves, 1)))

    @classmethod
    def balanced(cls, branching: int, depth: int) -> Tree:
        """A tree whose inner nodes all have ``branching`` children and whose leaves are all ``depth`` edges down."""
        return cls(tuple(_balanced(branching, depth)))

    @classmethod
    def from_paths(cls, paths: Iterable[str | Sequence[str]]) -> Tree:
        """The tree of paths such as "news/sport/tennis" or ("news", "sport", "tennis").

        If all begin with the same name, that is the root; else a root without a name is put above them. An empty first
        name stands for such a root, as in "/news". Nodes are numbered as they first appear, parents before children.
        """
        parents, names = _of_paths(paths)
        return cls(tuple(parents), tuple(names))

    @classmethod
    def from_linkage(cls, linkage: Any, names: Sequence[str] | None = None) -> Tree:
        """The tree of a SciPy linkage matrix: node i is SciPy's cluster i, and the root is the last.

        ``names`` are those of the leaves, by default their numbers; inner nodes are called "#12".
        """
        parents, all_names = _of_linkage(linkage, names)
        return cls(tuple(parents), tuple(all_names))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Tree:
        """The tree that ``to_dict`` wrote."""
        if not isinstance(data, Mapping) or "parents" not in data:
            raise InputError(f"expected a mapping with 'parents' and 'names', got {reprlib.repr(data)}")
        return cls(data["parents"], data.get("names", ()))

    def to_dict(self) -> dict[str, list[Any]]:
        """The tree as plain JSON data."""
        return {"parents": list(self.parents), "names": list(self.names)}

    def __len__(self) -> int:
        return len(self.parents)

    def __repr__(self) -> str:
        return f"<Tree of {self.n_nodes} nodes, {len(self.leaves)} leaves, depth {self.depth}>"

    def _repr_html_(self) -> str:
        nodes = self.depth_first()
        facts = {"nodes": self.n_nodes, "leaves": len(self.leaves), "depth": self.depth}
        items = (cards.Item(self.names[node] or f"node {node}", depth=self.depths[node]) for node in nodes)
        return cards.card("Tree", facts, items=items)

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what can be worked out again."""
        return {"parents": self.parents, "names": self.names}

    @property
    def n_nodes(self) -> int:
        """How many nodes there are."""
        return len(self.parents)

    @cached_property
    def root(self) -> int:
        """The node without a parent."""
        return self.parents.index(-1)

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """The nodes without children, depth first."""
        return tuple(node for node in self._order if not self._children[node])

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """How many edges each node is away from the root."""
        depths = [0] * len(self)
        for node in self._order[1:]:
            depths[node] = depths[self.parents[node]] + 1
        return tuple(depths)

    @cached_property
    def depth(self) -> int:
        """How many edges the deepest node is away from the root."""
        return max(self.depths)

    @cached_property
    def _children(self) -> tuple[tuple[int, ...], ...]:
        children: list[list[int]] = [[] for _ in self.parents]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                children[parent].append(node)
        return tuple(map(tuple, children))

    @cached_property
    def _order(self) -> tuple[int, ...]:
        order, waiting = [], [self.root]
        while waiting:
            order.append(node := waiting.pop())
            waiting.extend(reversed(self._children[node]))
        return tuple(order)

    @cached_property
    def _spans(self) -> tuple[tuple[int, int], ...]:
        """Where each subtree begins and ends in depth-first order."""
        begins, sizes = [0] * len(self), [1] * len(self)
        for place in range(len(self) - 1, -1, -1):
            node = self._order[place]
            begins[node] = place
            if place:
                sizes[self.parents[node]] += sizes[node]
        return tuple((begin, begin + size) for begin, size in zip(begins, sizes, strict=True))

    @cached_property
    def _finder(self) -> Finder:
        return Finder(self)

    def checked(self, node: int) -> int:
        """The node as a plain number, or an error if there is none such."""
        try:
            number = operator.index(node)
        except TypeError:
            number = -1
        if not 0 <= number < len(self):
            raise InputError(
                f"expected a node from 0 to {len(self) - 1}, got {node!r}", hint="tree.find(name) tells a node's number"
            )
        return number

    def children(self, node: int) -> tuple[int, ...]:
        """The children of a node."""
        return self._children[self.checked(node)]

    def is_leaf(self, node: int) -> bool:
        """Whether a node has no children."""
        return not self.children(node)

    def path(self, node: int) -> tuple[int, ...]:
        """The nodes from the root down to this one, which is the last."""
        nodes = [self.checked(node)]
        while (parent := self.parents[nodes[-1]]) >= 0:
            nodes.append(parent)
        return tuple(reversed(nodes))

    def path_names(self, node: int) -> tuple[str, ...]:
        """The names from the root down to this node; the first is empty if the root has no name."""
        return tuple(self.names[step] for step in self.path(node))

    def ancestors(self, node: int) -> tuple[int, ...]:
        """The nodes above this one, the root first."""
        return self.path(node)[:-1]

    def descendants(self, node: int) -> tuple[int, ...]:
        """The nodes below this one, depth first."""
        begin, end = self._spans[self.checked(node)]
        return self._order[begin + 1 : end]

    def leaves_under(self, node: int) -> tuple[int, ...]:
        """The leaves below this node, depth first; a leaf is its own."""
        begin, end = self._spans[self.checked(node)]
        return tuple(below for below in self._order[begin:end] if not self._children[below])

    def depth_first(self) -> tuple[int, ...]:
        """All nodes, each before its children, children in the order of their numbers."""
        return self._order

    def in_order(self, key: Callable[[int], Any], root: int | None = None) -> tuple[int, ...]:
        """The nodes from one down, each before its children, and these by a key: as somebody reads who has an order."""
        found, waiting = list[int](), [self.root if root is None else self.checked(root)]
        while waiting:
            found.append(waiting.pop())
            waiting += sorted(self._children[found[-1]], key=key)[::-1]
        return tuple(found)

    def path_mask(self, nodes: Sequence[int] | None = None) -> Bools:
        """One row per leaf (or given node), one column per node: true for the node itself and those above it."""
        starts = self.leaves if nodes is None else nodes
        current = np.array(starts)
        if current.dtype.kind != "i" or (len(current) and not 0 <= current.min() <= current.max() < len(self)):
            current = np.array([self.checked(node) for node in starts], dtype=np.intp)  # says which is none
        mask = np.zeros((len(starts), len(self)), dtype=np.bool_)
        parents, rows = np.array(self.parents), np.arange(len(starts))
        while rows.size:
            mask[rows, current] = True
            current = parents[current]
            rows, current = rows[current >= 0], current[current >= 0]
        return mask

    def find(self, name: str | Sequence[str]) -> int:
        """The node of this name, or at the end of this path: "sport", "news/sport", ("news", "sport").

        A path begins at the root or below it. A name that several nodes share is an error: give the path.
        """
        return self._finder.find(name)

    def render(
        self,
        label: Callable[[int], str] | None = None,
        *,
        depth: int | None = None,
        width: int | None = None,
        ascii: bool = False,
    ) -> str:
        """The tree as text for a terminal, one line per node; see ``hierarchy.tree_text``."""
        return render(self, label, depth=depth, width=width, ascii=ascii)


def _whole_numbers(parents: Any) -> tuple[int, ...]:
    """The parents as plain numbers."""
    try:
        return tuple(map(operator.index, parents))
    except TypeError:
        raise InputError(
            f"expected the number of each node's parent, got {reprlib.repr(parents)}",
            hint="whole numbers, and −1 for the root",
        ) from None


def _texts(names: Any) -> tuple[str, ...]:
    """The names as plain texts."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"expected one name per node, got {reprlib.repr(names)}", hint="a list of texts")
    given = tuple(names)
    for name in given:
        if not isinstance(name, str):
            raise InputError(f"expected names as text, got {reprlib.repr(name)}", hint="str(name)")
    return given


def _check_parents(parents: Sequence[int]) -> None:
    """There are nodes, parents are nodes, and one node has none."""
    if not parents:
        raise InputError("expected at least a root, got no nodes", hint="Tree.single() is the smallest tree")
    for node, parent in enumerate(parents):
        if not -1 <= parent < len(parents):
            raise InputError(
                f"expected parents from 0 to {len(parents) - 1}, or −1 for the root, got {parent} for node {node}",
                hint="parents are numbers of nodes, counted from 0",
            )
    roots = [node for node, parent in enumerate(parents) if parent < 0]
    if len(roots) != 1:
        came = f"{len(roots)}: nodes {', '.join(map(str, roots[:5]))}{', …' * (len(roots) > 5)}" if roots else "none"
        raise InputError(
            f"expected exactly one root (parent −1), got {came}", hint="one node above all others, with the parent −1"
        )


def _check_reached(parents: Sequence[int], reached: Sequence[int]) -> None:
    """The root reaches every node. From one that it does not reach, going up must come round."""
    if len(reached) == len(parents):
        return
    lost = set(range(len(parents))).difference(reached)
    node, seen = min(lost), dict[int, int]()
    while node not in seen:
        seen[node] = len(seen)
        node = parents[node]
    steps = [str(step) for step in seen if seen[step] >= seen[node]]
    cycle = " → ".join([*steps[:5], *["…"] * (len(steps) > 5), str(node)])
    raise InputError(
        f"expected every node to hang from the root, got a cycle of parents: {cycle}",
        hint="another parent for one of them",
    )


def _check_names(parents: Sequence[int], names: Sequence[str]) -> None:
    """Every node has a name (the root may do without), and siblings have different ones."""
    if len(names) != len(parents):
        raise InputError(
            f"expected {len(parents)} names, one per node, got {len(names)}", hint="no names at all: nodes are numbered"
        )
    seen: dict[tuple[int, str], int] = {}
    for node, (parent, name) in enumerate(zip(parents, names, strict=True)):
        if not name.strip() and (parent >= 0 or name):
            raise InputError(
                f"expected a name for every node but the root, got {name!r} for node {node}", hint="any text but spaces"
            )
        other = seen.setdefault((parent, name), node)
        if other != node:
            above = repr(names[parent]) if names[parent] else "the root"
            raise InputError(
                f"expected siblings with different names, got nodes {other} and {node} under {above}, "
                f"both called {name!r}",
                hint="rename one of them, or merge them",
            )


def _default_names(parents: Sequence[int], order: Iterable[int]) -> tuple[str, ...]:
    """Dotted positions, "1.2" for the second child of the first; ``order`` has parents before children.

    The root has no name. Nodes more than 32 levels down are called by their number, as "#4711".
    """
    names, children, depth = [""] * len(parents), [0] * len(parents), [0] * len(parents)
    for node in order:
        parent = parents[node]
        if parent < 0:
            continue
        children[parent] += 1
        depth[node] = depth[parent] + 1
        names[node] = child_name(names[parent], children[parent]) if depth[node] <= DOTTED_DEPTH else f"#{node}"
    return tuple(names)


def child_name(parent: str, position: int) -> str:
    """The name of a child that nobody has named yet."""
    return f"{parent}.{position}" if parent else str(position)


def _of_paths(paths: Iterable[str | Sequence[str]]) -> Shape:
    """The tree in which every path leads from the root to a node, nodes numbered as they first appear."""
    if isinstance(paths, str):
        raise InputError(f"expected several paths, got one text: {paths!r}", hint=f"[{paths!r}]")
    split = [_parts(path) for path in paths]
    if not split:
        raise InputError("expected at least one path, got none", hint="['animals/cats', 'animals/dogs']")
    firsts = {parts[0] for parts in split}
    root = firsts.pop() if len(firsts) == 1 else ""
    rooted = len(firsts) == 0
    parents, names = [-1], [root]
    numbers: dict[tuple[int, str], int] = {}
    for parts in split:
        node = 0
        for name in parts[1:] if rooted or parts[0] == "" else parts:
            child = numbers.setdefault((node, name), len(parents))
            if child == len(parents):
                parents.append(node)
                names.append(name)
            node = child
    return parents, names


def _parts(path: str | Sequence[str]) -> tuple[str, ...]:
    """The names along a path. The first may be empty, which stands for a root without a name: "/animals/cats"."""
    parts = tuple(path.split("/")) if isinstance(path, str) else tuple(path)
    if not parts or path == "":
        raise InputError("expected paths with at least one name, got an empty path", hint="leave it out")
    wrong = next((part for part in parts if not isinstance(part, str)), None)
    if wrong is not None:
        raise InputError(f"expected names as text, got {wrong!r} in the path {parts}", hint=f"str({wrong!r})")
    if not all(part.strip() for part in parts[1:]) or (parts[0] and not parts[0].strip()):
        raise InputError(f"expected a name at every step of a path, got {path!r}", hint="a path such as 'animals/cats'")
    return parts


def _balanced(branching: int, depth: int) -> list[int]:
    """The parents of a tree whose inner nodes all have ``branching`` children, numbered level by level."""
    if branching < 1 or depth < 0:
        raise InputError(
            f"expected a branching of at least 1 and a depth of at least 0, got {branching} and {depth}",
            hint="Tree.balanced(2, 3) has 8 leaves",
        )
    n_inner, level = 0, 1
    for _ in range(depth):
        n_inner, level = n_inner + level, level * branching
        if n_inner + level > MOST_NODES:
            raise InputError(
                f"expected at most {MOST_NODES:,} nodes, got a branching of {branching} down to depth {depth}",
                hint="a smaller depth",
            )
    return [-1, *(node for node in range(n_inner) for _ in range(branching))]


def _of_linkage(linkage: Any, names: Sequence[str] | None) -> Shape:
    """The tree of a SciPy linkage matrix: node i is SciPy's cluster i, so the leaves come first, the root last."""
    try:
        merges = np.asarray(linkage, dtype=np.float64)
    except (TypeError, ValueError):
        merges = np.empty(0)
    if merges.ndim != 2 or merges.shape[1] != 4:
        raise InputError(
            f"expected a linkage matrix with four columns, got the shape {np.shape(linkage)}",
            hint="scipy.cluster.hierarchy.linkage makes one",
        )
    n_leaves = len(merges) + 1
    if names is not None and len(names) != n_leaves:
        raise InputError(f"expected {n_leaves} names, one for each leaf of the linkage, got {len(names)}")
    pairs = merges[:, :2]
    made = n_leaves + np.arange(len(merges))[:, None]
    wrong = ~((pairs >= 0) & (pairs < made) & (pairs == np.floor(pairs)))
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise InputError(
            f"expected row {row} of the linkage to merge two of the clusters 0 to {n_leaves + row - 1}, "
            f"got {pairs[row, column]:g}",
            hint="the rows in the order in which SciPy made them",
        )
    merged = pairs.astype(np.int64)
    times = np.bincount(merged.ravel(), minlength=2 * n_leaves - 1)
    if times.max(initial=0) > 1:
        raise InputError(
            f"expected each cluster to be merged once, got cluster {int(times.argmax())} merged {times.max()} times",
            hint="the rows in the order in which SciPy made them",
        )
    parents = np.full(2 * n_leaves - 1, -1)
    parents[merged] = made
    leaf_names = list(names) if names is not None else [str(leaf) for leaf in range(n_leaves)]
    return parents.tolist(), leaf_names + [f"#{node}" for node in range(n_leaves, 2 * n_leaves - 1)]


class Finder:
    """The look-up tables of one tree: nodes by name, children by parent and name."""

    def __init__(self, tree: Tree) -> None:
        self._names = tree.names
        self._parents = tree.parents
        self._root = tree.root
        self._by_name: dict[str, list[int]] = {}
        for node in tree.depth_first():
            self._by_name.setdefault(tree.names[node], []).append(node)
        self._by_step = {step: node for node, step in enumerate(zip(tree.parents, tree.names, strict=True))}

    def find(self, name: str | Sequence[str]) -> int:
        """The only node of this name, or the node at the end of this path."""
        if not isinstance(name, str):
            return self._at_the_end_of(tuple(name))
        called = self._by_name.get(name, [])
        if len(called) == 1:
            return called[0]
        if len(called) > 1:
            paths = ", ".join(repr(self._path(node)) for node in called[:SHOWN])
            more = f" and {len(called) - SHOWN} more" if len(called) > SHOWN else ""
            raise InputError(
                f"expected a name that one node has, got {name!r}, which {len(called)} have: {paths}{more}",
                hint="the whole path, as a tuple of names",
            )
        if "/" in name:
            return self._at_the_end_of(tuple(name.split("/")))
        raise InputError(f"no node is called {name!r}", hint=proposed(name, list(self._by_name)))

    def _at_the_end_of(self, path: tuple[str, ...]) -> int:
        if not path:
            raise InputError("expected a name or a path, got an empty path", hint="tree.root is the node above all")
        whole = path[0] == self._names[self._root]
        walks = [self._walk(path[1:])] if whole else []
        walks.append(self._walk(path))
        for node, left in walks:
            if not left:
                return node
        node, left = min(walks, key=lambda walk: len(walk[1]))
        here = [name for (parent, name) in self._by_step if parent == node]
        where = repr(self._path(node)) if node != self._root else "the root"
        raise InputError(f"{where} has no child called {left[0]!r}", hint=proposed(left[0], here) or self._path(node))

    def _walk(self, path: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
        """How far down from the root these names lead, and what is left of them."""
        node = self._root
        for step, name in enumerate(path):
            child = self._by_step.get((node, name))
            if child is None:
                return node, path[step:]
            node = child
        return node, ()

    def _path(self, node: int) -> str:
        names = []
        while node >= 0:
            names.append(self._names[node])
            node = self._parents[node]
        return "/".join(reversed(names))
