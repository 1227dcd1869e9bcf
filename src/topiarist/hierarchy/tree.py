"""The tree as a value: who is whose child, and what everyone is called.

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

from topiarist.errors import InputError
from topiarist.hierarchy import checks, origins
from topiarist.hierarchy.node_lookup import Finder
from topiarist.hierarchy.tree_text import render

Bools = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, repr=False)
class Tree:
    """Nodes with a parent (−1 for the root) and a name each.

    Every node but the root needs a name, and siblings need different ones. Without names, nodes are called by their
    position, "1.2" for the second child of the first (see ``shapes.default_names``), and the root has no name.
    """

    parents: tuple[int, ...]
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        parents = checks.whole_numbers(self.parents)
        checks.check_parents(parents)
        object.__setattr__(self, "parents", parents)
        checks.check_reached(parents, self._order)
        names = checks.texts(self.names) or origins.default_names(parents, self._order)
        checks.check_names(parents, names)
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
        return cls(tuple(origins.balanced(n_leaves, 1)))

    @classmethod
    def balanced(cls, branching: int, depth: int) -> Tree:
        """A tree whose inner nodes all have ``branching`` children and whose leaves are all ``depth`` edges down."""
        return cls(tuple(origins.balanced(branching, depth)))

    @classmethod
    def from_paths(cls, paths: Iterable[str | Sequence[str]]) -> Tree:
        """The tree of paths such as "news/sport/tennis" or ("news", "sport", "tennis").

        If all begin with the same name, that is the root; else a root without a name is put above them. An empty first
        name stands for such a root, as in "/news". Nodes are numbered as they first appear, parents before children.
        """
        parents, names = origins.of_paths(paths)
        return cls(tuple(parents), tuple(names))

    @classmethod
    def from_linkage(cls, linkage: Any, names: Sequence[str] | None = None) -> Tree:
        """The tree of a SciPy linkage matrix: node i is SciPy's cluster i, and the root is the last.

        ``names`` are those of the leaves, by default their numbers; inner nodes are called "#12".
        """
        parents, all_names = origins.of_linkage(linkage, names)
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
            waiting += sorted(self.children(found[-1]), key=key)[::-1]
        return tuple(found)

    def path_mask(self, nodes: Sequence[int] | None = None) -> Bools:
        """One row per leaf (or given node), one column per node: true for the node itself and those above it."""
        starts = self.leaves if nodes is None else [self.checked(node) for node in nodes]
        mask = np.zeros((len(starts), len(self)), dtype=np.bool_)
        parents = np.array(self.parents)
        rows, current = np.arange(len(starts)), np.array(starts, dtype=np.intp)
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
