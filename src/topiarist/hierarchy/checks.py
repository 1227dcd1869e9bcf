"""What makes parents and names a tree, and what to say when they do not."""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Iterable, Sequence
from typing import Any

from topiarist.errors import InputError


def whole_numbers(parents: Any) -> tuple[int, ...]:
    """The parents as plain numbers."""
    try:
        return tuple(map(operator.index, parents))
    except TypeError:
        raise InputError(
            f"expected the number of each node's parent, got {reprlib.repr(parents)}",
            hint="whole numbers, and −1 for the root",
        ) from None


def texts(names: Any) -> tuple[str, ...]:
    """The names as plain texts."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"expected one name per node, got {reprlib.repr(names)}", hint="a list of texts")
    given = tuple(names)
    for name in given:
        if not isinstance(name, str):
            raise InputError(f"expected names as text, got {reprlib.repr(name)}", hint="str(name)")
    return given


def check_parents(parents: Sequence[int]) -> None:
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


def check_reached(parents: Sequence[int], reached: Sequence[int]) -> None:
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


def check_names(parents: Sequence[int], names: Sequence[str]) -> None:
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
