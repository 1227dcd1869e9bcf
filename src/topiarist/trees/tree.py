"""The tree value: parents and names of nodes, construction from paths and linkages, and search by name.

Nodes are numbers from 0 on, in any order; siblings are ordered by their numbers. No function is recursive or takes
more than linear time, so that chains of 100,000 nodes are supported.
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
from topiarist.text.spelling import format_proposals
from topiarist.trees.tree_text import render

DOTTED_DEPTH = 32  # levels with dotted names; longer ones are unreadable and grow with the depth
MAX_NODES = 10_000_000
Shape = tuple[list[int], list[str]]  # parent and name of every node
MAX_LISTED = 5


@dataclass(frozen=True, repr=False)
class Tree:
    """An immutable tree: the parent (−1 for the root) and the name of each node.

    Parameters
    ----------
    parents : sequence of int
        Parent of each node, −1 for the root.
    names : sequence of str, optional
        Names of all nodes but the root, different among siblings. By default, nodes are named by their position: "1.2"
        is the second child of the first.

    Raises
    ------
    InputError
        If there is not exactly one root, the parents form a cycle, or siblings have the same name.

    Examples
    --------
    >>> tree = Tree.from_paths(["animals/cats", "animals/dogs"])
    >>> tree.find("dogs")
    2
    """

    parents: tuple[int, ...]
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        parents = _to_integers(self.parents)
        _check_parents(parents)
        object.__setattr__(self, "parents", parents)
        _check_reached(parents, self._order)
        names = _to_texts(self.names) or _make_default_names(parents, self._order)
        _check_names(parents, names)
        object.__setattr__(self, "names", names)

    @classmethod
    def single(cls) -> Tree:
        """Return the smallest tree: a root without a name."""
        return cls((-1,))

    @classmethod
    def star(cls, n_leaves: int) -> Tree:
        """Return a flat tree: the root and its leaves."""
        if n_leaves < 1:
            raise InputError(
                f"expected at least one leaf, got {n_leaves}", hint="Use Tree.single() for a tree without leaves."
            )
        return cls(tuple(_make_balanced_parents(n_leaves, 1)))

    @classmethod
    def balanced(cls, branching: int, depth: int) -> Tree:
        """Return a tree with ``branching`` children for each inner node and all leaves at ``depth``."""
        return cls(tuple(_make_balanced_parents(branching, depth)))

    @classmethod
    def from_paths(cls, paths: Iterable[str | Sequence[str]]) -> Tree:
        """Build the tree of paths such as "news/sport/tennis" or ("news", "sport", "tennis").

        If all paths begin with the same name, this is the root; otherwise a root without a name is added. An empty
        first name stands for such a root, as in "/news". Nodes are numbered in order of appearance, parents before
        children.
        """
        parents, names = _parse_paths(paths)
        return cls(tuple(parents), tuple(names))

    @classmethod
    def from_linkage(cls, linkage: Any, names: Sequence[str] | None = None) -> Tree:
        """Build the tree of a SciPy linkage matrix: node i is SciPy's cluster i, and the root comes last.

        ``names`` are those of the leaves, by default their numbers; inner nodes are called "#12".
        """
        parents, all_names = _parse_linkage(linkage, names)
        return cls(tuple(parents), tuple(all_names))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Tree:
        """Build the tree that ``to_dict`` wrote."""
        if not isinstance(data, Mapping) or "parents" not in data:
            raise InputError(f"expected a mapping with 'parents' and 'names', got {reprlib.repr(data)}")
        return cls(data["parents"], data.get("names", ()))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the tree as plain JSON data."""
        return {"parents": list(self.parents), "names": list(self.names)}

    def __len__(self) -> int:
        return len(self.parents)

    def __repr__(self) -> str:
        return f"<Tree of {self.n_nodes} nodes, {len(self.leaves)} leaves, depth {self.depth}>"

    def _repr_html_(self) -> str:
        nodes = self.depth_first()
        facts = {"nodes": self.n_nodes, "leaves": len(self.leaves), "depth": self.depth}
        items = (cards.Item(self.names[node] or f"node {node}", depth=self.depths[node]) for node in nodes)
        return cards.render_card("Tree", facts, items=items)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without cached properties."""
        return {"parents": self.parents, "names": self.names}

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.parents)

    @cached_property
    def root(self) -> int:
        """The node without a parent."""
        return self.parents.index(-1)

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """Nodes without children, depth first."""
        return tuple(node for node in self._order if not self._children[node])

    @cached_property
    def headings(self) -> tuple[int, ...]:
        """Nodes with children below the root, depth first."""
        return tuple(node for node in self._order if self._children[node] and node != self.root)

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Number of edges between the root and each node."""
        depths = [0] * len(self)
        for node in self._order[1:]:
            depths[node] = depths[self.parents[node]] + 1
        return tuple(depths)

    @cached_property
    def depth(self) -> int:
        """Number of edges between the root and the deepest node."""
        return max(self.depths)

    @cached_property
    def _children(self) -> tuple[tuple[int, ...], ...]:
        """Children of each node, in the order of their numbers."""
        children: list[list[int]] = [[] for _ in self.parents]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                children[parent].append(node)
        return tuple(map(tuple, children))

    @cached_property
    def _order(self) -> tuple[int, ...]:
        """Nodes in depth-first order, each parent before its children."""
        order, waiting = [], [self.root]
        while waiting:
            order.append(node := waiting.pop())
            waiting.extend(reversed(self._children[node]))
        return tuple(order)

    @cached_property
    def _spans(self) -> tuple[tuple[int, int], ...]:
        """First and last position of each subtree in depth-first order."""
        begins, sizes = [0] * len(self), [1] * len(self)
        for place in range(len(self) - 1, -1, -1):
            node = self._order[place]
            begins[node] = place
            if place:
                sizes[self.parents[node]] += sizes[node]
        return tuple((begin, begin + size) for begin, size in zip(begins, sizes, strict=True))

    @cached_property
    def _nodes_by_name(self) -> dict[str, list[int]]:
        nodes: dict[str, list[int]] = {}
        for node in self._order:
            nodes.setdefault(self.names[node], []).append(node)
        return nodes

    @cached_property
    def _child_by_name(self) -> dict[tuple[int, str], int]:
        return {step: node for node, step in enumerate(zip(self.parents, self.names, strict=True))}

    def check_node(self, node: int) -> int:
        """Return the node as a plain number, or raise ``InputError`` if it does not exist."""
        try:
            number = operator.index(node)
        except TypeError:
            number = -1
        if not 0 <= number < len(self):
            raise InputError(
                f"expected a node from 0 to {len(self) - 1}, got {node!r}", hint="Use tree.find(name) to find a node."
            )
        return number

    def children(self, node: int) -> tuple[int, ...]:
        """Return the children of a node."""
        return self._children[self.check_node(node)]

    def is_leaf(self, node: int) -> bool:
        """Return whether a node has no children."""
        return not self.children(node)

    def path(self, node: int) -> tuple[int, ...]:
        """Return the nodes from the root down to this node, which comes last."""
        nodes = [self.check_node(node)]
        while (parent := self.parents[nodes[-1]]) >= 0:
            nodes.append(parent)
        return tuple(reversed(nodes))

    def path_names(self, node: int) -> tuple[str, ...]:
        """Return the names from the root down to this node; the first is empty if the root has no name."""
        return tuple(self.names[step] for step in self.path(node))

    def ancestors(self, node: int) -> tuple[int, ...]:
        """Return the nodes above this node, the root first."""
        return self.path(node)[:-1]

    def descendants(self, node: int) -> tuple[int, ...]:
        """Return the nodes below this node, depth first."""
        begin, end = self._spans[self.check_node(node)]
        return self._order[begin + 1 : end]

    def leaves_under(self, node: int) -> tuple[int, ...]:
        """Return the leaves below this node, depth first; for a leaf, the leaf itself."""
        begin, end = self._spans[self.check_node(node)]
        return tuple(descendant for descendant in self._order[begin:end] if not self._children[descendant])

    def count_leaves_below(self, node: int) -> int:
        """Return the number of leaves below a node; 0 for a leaf."""
        return 0 if self.is_leaf(node) else len(self.leaves_under(node))

    def depth_first(self) -> tuple[int, ...]:
        """Return all nodes, each before its children, siblings ordered by number."""
        return self._order

    def in_order(self, key: Callable[[int], Any], root: int | None = None) -> tuple[int, ...]:
        """Return the nodes from ``root`` down, each before its children, siblings ordered by ``key``."""
        order, waiting = list[int](), [self.root if root is None else self.check_node(root)]
        while waiting:
            order.append(waiting.pop())
            waiting += sorted(self._children[order[-1]], key=key)[::-1]
        return tuple(order)

    def path_mask(self, nodes: Sequence[int] | None = None) -> Bools:
        """Return one row per leaf (or per element of ``nodes``), true for the node itself and its ancestors."""
        starts = self.leaves if nodes is None else nodes
        current = np.array(starts)
        if current.dtype.kind != "i" or (len(current) and not 0 <= current.min() <= current.max() < len(self)):
            current = np.array(
                [self.check_node(node) for node in starts], dtype=np.intp
            )  # raises for the first invalid node
        mask = np.zeros((len(starts), len(self)), dtype=np.bool_)
        parents, rows = np.array(self.parents), np.arange(len(starts))
        while rows.size:
            mask[rows, current] = True
            current = parents[current]
            rows, current = rows[current >= 0], current[current >= 0]
        return mask

    def find(self, name: str | Sequence[str]) -> int:
        """Return the node with this name, or at the end of this path: "sport", "news/sport", ("news", "sport").

        A path begins at the root or below it. A name of several nodes raises ``InputError``: pass the path instead.
        """
        if not isinstance(name, str):
            return self._find_path(tuple(name))
        nodes = self._nodes_by_name.get(name, [])
        if len(nodes) == 1:
            return nodes[0]
        if nodes:
            paths = ", ".join(repr("/".join(self.path_names(node))) for node in nodes[:MAX_LISTED])
            remainder = f" and {len(nodes) - MAX_LISTED} more" if len(nodes) > MAX_LISTED else ""
            raise InputError(
                f"expected a name that one node has, got {name!r}, which {len(nodes)} have: {paths}{remainder}",
                hint="Pass the full path as a tuple of names.",
            )
        if "/" in name:
            return self._find_path(tuple(name.split("/")))
        raise InputError(f"no node is called {name!r}", hint=format_proposals(name, list(self._nodes_by_name)))

    def _find_path(self, path: tuple[str, ...]) -> int:
        """Return the node at a path, with or without the root; raise InputError if it is missing."""
        if not path:
            raise InputError("expected a name or a path, got an empty path", hint="Use tree.root for the root.")
        walks = [self._walk(path[1:])] if path[0] == self.names[self.root] else []
        walks.append(self._walk(path))
        node, left = min(walks, key=lambda walk: len(walk[1]))
        if not left:
            return node
        where = "/".join(self.path_names(node))
        hint = format_proposals(left[0], [self.names[child] for child in self.children(node)])
        raise InputError(
            f"{repr(where) if node != self.root else 'the root'} has no child called {left[0]!r}", hint=hint or where
        )

    def _walk(self, path: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
        """Follow names down from the root; return the last node and the remaining names."""
        node = self.root
        for step, name in enumerate(path):
            child = self._child_by_name.get((node, name))
            if child is None:
                return node, path[step:]
            node = child
        return node, ()

    def render(
        self,
        label: Callable[[int], str] | None = None,
        *,
        depth: int | None = None,
        width: int | None = None,
        ascii: bool = False,
    ) -> str:
        """Return the tree as text for a terminal, one line per node; see ``trees.tree_text.render``."""
        return render(self, label, depth=depth, width=width, ascii=ascii)


def _to_integers(parents: Any) -> tuple[int, ...]:
    """Return parents as a tuple of integers; raise InputError for other values."""
    try:
        return tuple(map(operator.index, parents))
    except TypeError:
        raise InputError(
            f"expected the number of each node's parent, got {reprlib.repr(parents)}",
            hint="Pass integers, and −1 for the root.",
        ) from None


def _to_texts(names: Any) -> tuple[str, ...]:
    """Return names as a tuple of texts; raise InputError for other values."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"expected one name per node, got {reprlib.repr(names)}", hint="Pass a list of str.")
    texts = tuple(names)
    for name in texts:
        if not isinstance(name, str):
            raise InputError(f"expected names as text, got {reprlib.repr(name)}", hint="Convert it with str(name).")
    return texts


def _check_parents(parents: Sequence[int]) -> None:
    """Raise InputError unless there is exactly one root and each parent is a node."""
    if not parents:
        raise InputError("expected at least a root, got no nodes", hint="Use Tree.single() for the smallest tree.")
    for node, parent in enumerate(parents):
        if not -1 <= parent < len(parents):
            raise InputError(
                f"expected parents from 0 to {len(parents) - 1}, or −1 for the root, got {parent} for node {node}",
                hint="Number the nodes from 0 on.",
            )
    roots = [node for node, parent in enumerate(parents) if parent < 0]
    if len(roots) != 1:
        roots_text = (
            f"{len(roots)}: nodes {', '.join(map(str, roots[:5]))}{', …' * (len(roots) > 5)}" if roots else "none"
        )
        raise InputError(
            f"expected exactly one root (parent −1), got {roots_text}", hint="Give the parent −1 to one node."
        )


def _check_reached(parents: Sequence[int], order: Sequence[int]) -> None:
    """Check that the root reaches every node; the ancestors of any other node form a cycle."""
    if len(order) == len(parents):
        return
    unreached_nodes = set(range(len(parents))).difference(order)
    node, position = min(unreached_nodes), dict[int, int]()
    while node not in position:
        position[node] = len(position)
        node = parents[node]
    steps = [str(step) for step in position if position[step] >= position[node]]
    cycle = " → ".join([*steps[:5], *["…"] * (len(steps) > 5), str(node)])
    raise InputError(
        f"expected every node below the root, got a cycle of parents: {cycle}",
        hint="Change the parent of one node.",
    )


def _check_names(parents: Sequence[int], names: Sequence[str]) -> None:
    """Check that every node but the root has a name, and that siblings have different names."""
    if len(names) != len(parents):
        raise InputError(
            f"expected {len(parents)} names, one per node, got {len(names)}", hint="Omit names to number the nodes."
        )
    first_node: dict[tuple[int, str], int] = {}
    for node, (parent, name) in enumerate(zip(parents, names, strict=True)):
        if not name.strip() and (parent >= 0 or name):
            raise InputError(
                f"expected a name for every node but the root, got {name!r} for node {node}",
                hint="Use a text with more than spaces.",
            )
        other = first_node.setdefault((parent, name), node)
        if other != node:
            parent_text = repr(names[parent]) if names[parent] else "the root"
            raise InputError(
                f"expected siblings with different names, got nodes {other} and {node} under {parent_text}, "
                f"both called {name!r}",
                hint="Rename or merge the nodes.",
            )


def _make_default_names(parents: Sequence[int], order: Iterable[int]) -> tuple[str, ...]:
    """Return dotted positions, "1.2" for the second child of the first; ``order`` has parents before children.

    The root has no name. Nodes more than 32 levels down are named by their number, as in "#4711".
    """
    names, children, depth = [""] * len(parents), [0] * len(parents), [0] * len(parents)
    for node in order:
        parent = parents[node]
        if parent < 0:
            continue
        children[parent] += 1
        depth[node] = depth[parent] + 1
        names[node] = make_child_name(names[parent], children[parent]) if depth[node] <= DOTTED_DEPTH else f"#{node}"
    return tuple(names)


def make_child_name(parent: str, position: int) -> str:
    """Return the default name of a child at a position, counted from 1."""
    return f"{parent}.{position}" if parent else str(position)


def _parse_paths(paths: Iterable[str | Sequence[str]]) -> Shape:
    """Return parents and names of the tree of some paths, nodes numbered in order of appearance."""
    if isinstance(paths, str):
        raise InputError(f"expected several paths, got one text: {paths!r}", hint=f"Pass [{paths!r}].")
    split = [_split_path(path) for path in paths]
    if not split:
        raise InputError(
            "expected at least one path, got none", hint="Pass ['animals/cats', 'animals/dogs'], for example."
        )
    firsts = {parts[0] for parts in split}
    root = firsts.pop() if len(firsts) == 1 else ""
    has_common_root = len(firsts) == 0
    parents, names = [-1], [root]
    numbers: dict[tuple[int, str], int] = {}
    for parts in split:
        node = 0
        for name in parts[1:] if has_common_root or parts[0] == "" else parts:
            child = numbers.setdefault((node, name), len(parents))
            if child == len(parents):
                parents.append(node)
                names.append(name)
            node = child
    return parents, names


def _split_path(path: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names along a path. The first is empty for a root without a name: "/animals/cats"."""
    parts = tuple(path.split("/")) if isinstance(path, str) else tuple(path)
    if not parts or path == "":
        raise InputError("expected paths with at least one name, got an empty path", hint="Remove it.")
    wrong = next((part for part in parts if not isinstance(part, str)), None)
    if wrong is not None:
        raise InputError(
            f"expected names as text, got {wrong!r} in the path {parts}", hint=f"Convert it with str({wrong!r})."
        )
    if not all(part.strip() for part in parts[1:]) or (parts[0] and not parts[0].strip()):
        raise InputError(
            f"expected a name at every step of a path, got {path!r}", hint="Use a path such as 'animals/cats'."
        )
    return parts


def _make_balanced_parents(branching: int, depth: int) -> list[int]:
    """Return the parents of a tree with ``branching`` children per inner node, numbered level by level."""
    if branching < 1 or depth < 0:
        raise InputError(
            f"expected a branching of at least 1 and a depth of at least 0, got {branching} and {depth}",
            hint="Use Tree.balanced(2, 3) for 8 leaves, for example.",
        )
    n_inner, level = 0, 1
    for _ in range(depth):
        n_inner, level = n_inner + level, level * branching
        if n_inner + level > MAX_NODES:
            raise InputError(
                f"expected at most {MAX_NODES:,} nodes, got a branching of {branching} down to depth {depth}",
                hint="Use a smaller depth.",
            )
    return [-1, *(node for node in range(n_inner) for _ in range(branching))]


def _parse_linkage(linkage: Any, names: Sequence[str] | None) -> Shape:
    """Return parents and names of a SciPy linkage matrix: the leaves come first, the root last."""
    try:
        merges = np.asarray(linkage, dtype=np.float64)
    except (TypeError, ValueError):
        merges = np.empty(0)
    if merges.ndim != 2 or merges.shape[1] != 4:
        raise InputError(
            f"expected a linkage matrix with four columns, got the shape {np.shape(linkage)}",
            hint="Pass the output of scipy.cluster.hierarchy.linkage.",
        )
    n_leaves = len(merges) + 1
    if names is not None and len(names) != n_leaves:
        raise InputError(f"expected {n_leaves} names, one for each leaf of the linkage, got {len(names)}")
    pairs = merges[:, :2]
    cluster = n_leaves + np.arange(len(merges))[:, None]
    wrong = ~((pairs >= 0) & (pairs < cluster) & (pairs == np.floor(pairs)))
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        raise InputError(
            f"expected row {row} of the linkage to merge two of the clusters 0 to {n_leaves + row - 1}, "
            f"got {pairs[row, column]:g}",
            hint="Pass the rows in the order in which SciPy made them.",
        )
    merged = pairs.astype(np.int64)
    times = np.bincount(merged.ravel(), minlength=2 * n_leaves - 1)
    if times.max(initial=0) > 1:
        raise InputError(
            f"expected each cluster to be merged once, got cluster {int(times.argmax())} merged {times.max()} times",
            hint="Pass the rows in the order in which SciPy made them.",
        )
    parents = np.full(2 * n_leaves - 1, -1)
    parents[merged] = cluster
    leaf_names = list(names) if names is not None else [str(leaf) for leaf in range(n_leaves)]
    return parents.tolist(), leaf_names + [f"#{node}" for node in range(n_leaves, 2 * n_leaves - 1)]
