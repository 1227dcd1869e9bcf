"""Finding a node by what people call it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from topiarist.errors import InputError
from topiarist.text.spelling import proposed

if TYPE_CHECKING:
    from topiarist.hierarchy.tree import Tree

SHOWN = 5


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
