"""Edits of a tree: functions that return a new tree and the origin of its nodes.

Untouched nodes keep their names and their order. Nodes behind removed ones move up, so that numbers have no gaps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from topiarist.errors import InputError
from topiarist.trees.tree import Tree, make_child_name


@dataclass(frozen=True)
class Edit:
    """An edited tree; ``origin`` has the old node whose parameters each node inherits, −1 for none."""

    tree: Tree
    origin: tuple[int, ...]


def split(tree: Tree, leaf: int, n_children: int = 2) -> Edit:
    """Give a leaf ``n_children`` children that inherit from it; it keeps its number, and they come last."""
    return split_leaves(tree, [leaf], n_children)


def split_leaves(tree: Tree, leaves: Iterable[int], n_children: int = 2) -> Edit:
    """Split several leaves, one after the other."""
    parents, names = list[int](), list[str]()
    for leaf in map(tree.check_node, leaves):
        if not tree.is_leaf(leaf) or leaf in parents:
            raise InputError(
                f"expected a leaf to split, got {_describe_node(tree, leaf)}, which has children",
                hint=_list_leaves(tree),
            )
        if n_children < 2:
            raise InputError(f"expected to split {_describe_node(tree, leaf)} into at least 2, got {n_children}")
        parents += (leaf,) * n_children
        names += (make_child_name(tree.names[leaf], position) for position in range(1, n_children + 1))
    return Edit(Tree((*tree.parents, *parents), (*tree.names, *names)), (*range(len(tree)), *parents))


def collapse(tree: Tree, nodes: Iterable[int]) -> Edit:
    """Remove inner nodes; their children move to the nearest remaining node above."""
    removed_nodes = {tree.check_node(node) for node in nodes}
    for node in removed_nodes:
        if node == tree.root:
            raise InputError(
                "expected inner nodes below the root to collapse, got the root", hint="Cut below the root."
            )
        if tree.is_leaf(node):
            raise InputError(
                f"expected inner nodes to collapse, got the leaf {_describe_node(tree, node)}", hint="Use prune or cut."
            )
    parents = list(tree.parents)
    for node in tree.depth_first():
        if parents[node] in removed_nodes:
            parents[node] = parents[parents[node]]
    return _keep_nodes(tree, [node not in removed_nodes for node in range(len(tree))], parents)


def cut(tree: Tree, nodes: Iterable[int]) -> Edit:
    """Remove everything below some nodes, which become leaves."""
    new_leaves = {tree.check_node(node) for node in nodes}
    is_kept = [True] * len(tree)
    for node in tree.depth_first()[1:]:
        parent = tree.parents[node]
        is_kept[node] = is_kept[parent] and parent not in new_leaves
    return _keep_nodes(tree, is_kept, tree.parents)


def prune(tree: Tree, leaves: Iterable[int], *, single_children: bool = True) -> Edit:
    """Keep only some leaves and the nodes above them.

    With ``single_children=False``, inner nodes with only one remaining child are collapsed, except for the root.
    """
    is_kept = [False] * len(tree)
    for leaf in leaves:
        node = tree.check_node(leaf)
        if not tree.is_leaf(node):
            raise InputError(
                f"expected leaves to keep, got {_describe_node(tree, node)}, which has children",
                hint="Cut this node first.",
            )
        while node >= 0 and not is_kept[node]:
            is_kept[node] = True
            node = tree.parents[node]
    if not is_kept[tree.root]:
        raise InputError("expected at least one leaf to keep, got none", hint=_list_leaves(tree))
    edit = _keep_nodes(tree, is_kept, tree.parents)
    if single_children:
        return edit
    single_parents = [
        node for node in range(len(edit.tree)) if len(edit.tree.children(node)) == 1 and node != edit.tree.root
    ]
    smaller = collapse(edit.tree, single_parents)
    return Edit(smaller.tree, tuple(edit.origin[node] for node in smaller.origin))


def merge(tree: Tree, siblings: Sequence[int], name: str | None = None) -> Edit:
    """Merge siblings into the first one, which takes over the children of all."""
    nodes = list(dict.fromkeys(tree.check_node(node) for node in siblings))
    if len(nodes) < 2:
        raise InputError(f"expected at least two nodes to merge, got {len(nodes)}")
    first = nodes[0]
    for other in nodes[1:]:
        if tree.parents[other] != tree.parents[first]:
            raise InputError(
                f"expected siblings to merge, got {_describe_node(tree, first)} and {_describe_node(tree, other)}, "
                "which have different parents",
                hint="Move one node first.",
            )
    merged_nodes = set(nodes[1:])
    parents = [first if parent in merged_nodes else parent for parent in tree.parents]
    names = tree.names if name is None else _replace_name(tree, first, name)
    return _keep_nodes(tree, [node not in merged_nodes for node in range(len(tree))], parents, names)


def move(tree: Tree, node: int, new_parent: int) -> Edit:
    """Move a node and everything below it to another parent. A leaf may get its first child, or lose its last."""
    node, new_parent = tree.check_node(node), tree.check_node(new_parent)
    if node == tree.root:
        raise InputError("expected a node below the root to move, got the root")
    if node in tree.path(new_parent):
        raise InputError(
            f"expected a new parent outside of {_describe_node(tree, node)}, got {_describe_node(tree, new_parent)}",
            hint="Pass a node outside of the branch that moves.",
        )
    parents = list(tree.parents)
    parents[node] = new_parent
    return _keep_nodes(tree, [True] * len(tree), parents)


def rename(tree: Tree, node: int, name: str) -> Edit:
    """Change the name of a node."""
    return _keep_nodes(tree, [True] * len(tree), tree.parents, _replace_name(tree, tree.check_node(node), name))


def _replace_name(tree: Tree, node: int, name: str) -> tuple[str, ...]:
    return (*tree.names[:node], name, *tree.names[node + 1 :])


def _keep_nodes(
    tree: Tree, is_kept: Sequence[bool], parents: Sequence[int], names: Sequence[str] | None = None
) -> Edit:
    """Return the tree of the remaining nodes; ``parents`` are remaining nodes too, by their old numbers."""
    names = tree.names if names is None else names
    origin = tuple(node for node in range(len(tree)) if is_kept[node])
    number = {old: new for new, old in enumerate(origin)}
    number[-1] = -1
    return Edit(Tree(tuple(number[parents[old]] for old in origin), tuple(names[old] for old in origin)), origin)


def _describe_node(tree: Tree, node: int) -> str:
    return f"node {node} ({tree.names[node]!r})" if tree.names[node] else "the root"


def _list_leaves(tree: Tree) -> str:
    numbers = ", ".join(map(str, tree.leaves[:5]))
    return f"Choose one of the {len(tree.leaves)} leaves: {numbers}{', …' * (len(tree.leaves) > 5)}."
