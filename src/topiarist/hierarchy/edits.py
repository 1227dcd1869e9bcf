"""Changing a tree: functions that return the new tree, and where each of its nodes comes from.

What was not touched keeps its name and its order. Nodes that go leave no gaps: those behind them move up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from topiarist.errors import InputError
from topiarist.hierarchy.tree import Tree, child_name


@dataclass(frozen=True)
class Edit:
    """A changed tree. ``origin`` has for each of its nodes the old node whose parameters it inherits, −1 for none."""

    tree: Tree
    origin: tuple[int, ...]


def split(tree: Tree, leaf: int, n: int = 2) -> Edit:
    """Give a leaf ``n`` children, which inherit from it. The leaf keeps its number, the children come last."""
    return split_each(tree, [leaf], n)


def split_each(tree: Tree, leaves: Iterable[int], n: int = 2) -> Edit:
    """The same for some leaves, one after the other."""
    parents, names = list[int](), list[str]()
    for leaf in map(tree.checked, leaves):
        if not tree.is_leaf(leaf) or leaf in parents:
            raise InputError(
                f"expected a leaf to split, got {_said(tree, leaf)}, which has children", hint=_leaves(tree)
            )
        if n < 2:
            raise InputError(f"expected to split {_said(tree, leaf)} into at least 2, got {n}")
        parents += (leaf,) * n
        names += (child_name(tree.names[leaf], position) for position in range(1, n + 1))
    return Edit(Tree((*tree.parents, *parents), (*tree.names, *names)), (*range(len(tree)), *parents))


def collapse(tree: Tree, nodes: Iterable[int]) -> Edit:
    """Remove inner nodes; their children go to the nearest node above that stays."""
    gone = {tree.checked(node) for node in nodes}
    for node in gone:
        if node == tree.root:
            raise InputError("expected inner nodes below the root to collapse, got the root", hint="cut below it")
        if tree.is_leaf(node):
            raise InputError(
                f"expected inner nodes to collapse, got the leaf {_said(tree, node)}", hint="prune, or cut"
            )
    above = list(tree.parents)
    for node in tree.depth_first():
        if above[node] in gone:
            above[node] = above[above[node]]
    return _kept(tree, [node not in gone for node in range(len(tree))], above)


def cut(tree: Tree, nodes: Iterable[int]) -> Edit:
    """Remove everything below each of these nodes, so that it becomes a leaf."""
    ends = {tree.checked(node) for node in nodes}
    kept = [True] * len(tree)
    for node in tree.depth_first()[1:]:
        parent = tree.parents[node]
        kept[node] = kept[parent] and parent not in ends
    return _kept(tree, kept, tree.parents)


def prune(tree: Tree, leaves: Iterable[int], *, single_children: bool = True) -> Edit:
    """Keep only these leaves and the nodes above them.

    With ``single_children=False`` inner nodes that then have only one child are collapsed, but never the root.
    """
    kept = [False] * len(tree)
    for leaf in leaves:
        node = tree.checked(leaf)
        if not tree.is_leaf(node):
            raise InputError(
                f"expected leaves to keep, got {_said(tree, node)}, which has children", hint="cut it first"
            )
        while node >= 0 and not kept[node]:
            kept[node] = True
            node = tree.parents[node]
    if not kept[tree.root]:
        raise InputError("expected at least one leaf to keep, got none", hint=_leaves(tree))
    edit = _kept(tree, kept, tree.parents)
    if single_children:
        return edit
    lonely = [node for node in range(len(edit.tree)) if len(edit.tree.children(node)) == 1 and node != edit.tree.root]
    smaller = collapse(edit.tree, lonely)
    return Edit(smaller.tree, tuple(edit.origin[node] for node in smaller.origin))


def merge(tree: Tree, siblings: Sequence[int], name: str | None = None) -> Edit:
    """Make siblings one node: the first of them, which the children of all go to."""
    together = list(dict.fromkeys(tree.checked(node) for node in siblings))
    if len(together) < 2:
        raise InputError(f"expected at least two nodes to merge, got {len(together)}")
    first = together[0]
    for other in together[1:]:
        if tree.parents[other] != tree.parents[first]:
            raise InputError(
                f"expected siblings to merge, got {_said(tree, first)} and {_said(tree, other)}, "
                "which hang from different nodes",
                hint="move one of them first",
            )
    gone = set(together[1:])
    parents = [first if parent in gone else parent for parent in tree.parents]
    names = tree.names if name is None else _renamed(tree, first, name)
    return _kept(tree, [node not in gone for node in range(len(tree))], parents, names)


def move(tree: Tree, node: int, new_parent: int) -> Edit:
    """Hang a node, with all that is below it, from another one. A leaf may get its first child, or lose its last."""
    node, new_parent = tree.checked(node), tree.checked(new_parent)
    if node == tree.root:
        raise InputError("expected a node below the root to move, got the root")
    if node in tree.path(new_parent):
        raise InputError(
            f"expected a new parent outside of {_said(tree, node)}, got {_said(tree, new_parent)}",
            hint="a node that is neither itself nor below it",
        )
    parents = list(tree.parents)
    parents[node] = new_parent
    return _kept(tree, [True] * len(tree), parents)


def rename(tree: Tree, node: int, name: str) -> Edit:
    """Call a node something else."""
    return _kept(tree, [True] * len(tree), tree.parents, _renamed(tree, tree.checked(node), name))


def _renamed(tree: Tree, node: int, name: str) -> tuple[str, ...]:
    return (*tree.names[:node], name, *tree.names[node + 1 :])


def _kept(tree: Tree, kept: Sequence[bool], parents: Sequence[int], names: Sequence[str] | None = None) -> Edit:
    """The tree of the nodes that are kept; ``parents`` are kept nodes too, in the old numbers."""
    names = tree.names if names is None else names
    origin = tuple(node for node in range(len(tree)) if kept[node])
    number = {old: new for new, old in enumerate(origin)}
    number[-1] = -1
    return Edit(Tree(tuple(number[parents[old]] for old in origin), tuple(names[old] for old in origin)), origin)


def _said(tree: Tree, node: int) -> str:
    return f"node {node} ({tree.names[node]!r})" if tree.names[node] else "the root"


def _leaves(tree: Tree) -> str:
    shown = ", ".join(map(str, tree.leaves[:5]))
    return f"one of the {len(tree.leaves)} leaves: {shown}{', …' * (len(tree.leaves) > 5)}"
