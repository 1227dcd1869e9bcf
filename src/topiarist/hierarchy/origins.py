"""Where trees come from: parents and names out of paths, linkage matrices and plain numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from topiarist.errors import InputError

DOTTED_DEPTH = 32  # below it a dotted name is no longer read by anyone, and names must not grow with the depth
MOST_NODES = 10_000_000

Shape = tuple[list[int], list[str]]  # the parent and the name of every node


def default_names(parents: Sequence[int], order: Iterable[int]) -> tuple[str, ...]:
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


def of_paths(paths: Iterable[str | Sequence[str]]) -> Shape:
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


def balanced(branching: int, depth: int) -> list[int]:
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


def of_linkage(linkage: Any, names: Sequence[str] | None) -> Shape:
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
