"""The first level of a tree that users see, and nested views of the tree.

``select_large_headings`` finds the headings above the first level, so that it has five to twelve topics. The losses
that built the headings measure how informative it is to open a node (``headings.gains``). ``select_view`` opens the
most informative nodes until enough are visible. ``select_views`` stops before a large drop of the gain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

import numpy as np

from topiarist.arrays import TINY, Array
from topiarist.errors import InputError
from topiarist.trees.tree import Tree

MAX_SHARE = 0.25  # of the documents, under a heading of the first level
MAX_FIRST_LEVEL = 12  # topics of the first level; a tree of no more leaves keeps all its headings
VIEW_SIZES = {"normal": (10, 25), "fine": (30, 60)}  # minimum and maximum number of visible nodes
COMPARED_OPENINGS = 2  # openings compared before and after a view; a single one is noisy


def select_large_headings(tree: Tree, sizes: Sequence[float], top: int | None = None) -> tuple[int, ...]:
    """Return the headings above the first level that users see: headings with more than a quarter of the documents.

    ``sizes`` has the documents under each node, and ``top`` is the node above the first level, by default the root.
    The largest heading of the level is replaced by its children, again and again, while the level has at most 12
    topics. A tree of at most 12 leaves keeps all its headings, because all its leaves fit into one view.
    """
    top = tree.root if top is None else top
    if len(tree.leaves_under(top)) <= MAX_FIRST_LEVEL:
        return ()
    level, opened = list(tree.children(top)), list[int]()
    while large := [
        node
        for node in level
        if not tree.is_leaf(node)
        and sizes[node] > MAX_SHARE * sizes[top]
        and len(level) - 1 + len(tree.children(node)) <= MAX_FIRST_LEVEL
    ]:
        largest = max(large, key=lambda node: (sizes[node], -node))
        level.remove(largest)
        level += tree.children(largest)
        opened.append(largest)
    return tuple(sorted(opened))


def select_siblings(tree: Tree, sizes: Sequence[float], number: int, top: int | None = None) -> tuple[int, ...]:
    """Return nodes that hold all documents below ``top`` between them, ``number`` if headings can be opened so.

    Of all ways to open headings, the most even groups are taken: the sum of squared sizes is least. If no way gives the
    number, the next smaller number is taken, or else the children of ``top``. The largest node comes first.
    """
    top = tree.root if top is None else top
    if number < 1:
        raise InputError(f"expected at least 1 node, got {number}")
    prefixes: dict[int, list[Array]] = {}  # by node: least costs of the first children, by number of nodes
    costs: dict[int, Array] = {}
    for node in reversed((top, *tree.descendants(top))):
        steps: list[Array] = [np.zeros(1)]
        for child in tree.children(node):
            steps.append(_add_costs(steps[-1], costs[child], number))
        prefixes[node] = steps
        costs[node] = np.full(max(2, len(steps[-1])), np.inf)
        if len(steps) > 1:
            costs[node][: len(steps[-1])] = steps[-1]
        if node != top or len(steps) == 1:
            costs[node][1] = float(sizes[node]) ** 2
    possible = np.flatnonzero(np.isfinite(costs[top]))
    if not len(possible):  # more children than the number
        return _sort_by_size(tree.children(top), sizes)
    selected, waiting = list[int](), [(top, int(possible[-1]))]
    while waiting:
        node, count = waiting.pop()
        steps = prefixes[node]
        if len(steps) == 1 or (node != top and count == 1):
            selected.append(node)
            continue
        for place in reversed(range(len(steps) - 1)):
            child = tree.children(node)[place]
            sums = [
                steps[place][count - part] + costs[child][part] if count - part < len(steps[place]) else np.inf
                for part in range(1, min(count, len(costs[child]) - 1) + 1)
            ]
            part = 1 + int(np.argmin(sums))
            waiting.append((child, part))
            count -= part
    return _sort_by_size(selected, sizes)


def _add_costs(first: Array, second: Array, number: int) -> Array:
    """Return the least sums of two costs by their joint number of nodes, up to ``number`` nodes."""
    result: Array = np.full(min(len(first) + len(second) - 1, number + 1), np.inf)
    for count, cost in enumerate(first):
        end = min(len(second), len(result) - count)
        if np.isfinite(cost) and end > 0:
            result[count : count + end] = np.minimum(result[count : count + end], cost + second[:end])
    return result


def _sort_by_size(nodes: Sequence[int], sizes: Sequence[float]) -> tuple[int, ...]:
    return tuple(sorted(nodes, key=lambda node: (-sizes[node], node)))


def select_view(tree: Tree, gain: Sequence[float], n_nodes: int) -> tuple[int, ...]:
    """Return at most ``n_nodes`` nodes that hold all documents between them, after opening those of the largest gain.

    Views are nested: every node of a smaller view is in the larger one, or was opened there. The root itself is
    visible only if it has too many children.
    """
    if n_nodes < 1:
        raise InputError(f"expected at least 1 node, got {n_nodes}")
    *_, (nodes, _) = takewhile(lambda step: len(step[0]) <= n_nodes, _iter_views(tree, gain))
    return nodes


def select_views(tree: Tree, gain: Sequence[float]) -> dict[str, tuple[int, ...]]:
    """Return the views called coarse (the first level), normal (10 to 25 nodes) and fine (30 to 60).

    Normal and fine end at the largest relative drop of the gain in their range: between the last two openings and the
    next two. A smaller tree shows all its nodes. A first level of more nodes than the normal view may have is not
    opened.
    """
    steps, n_larger = list[tuple[tuple[int, ...], float]](), 0
    for step in _iter_views(tree, gain):  # up to the largest view and the openings compared with it
        steps.append(step)
        n_larger += len(step[0]) > VIEW_SIZES["fine"][1]
        if n_larger == COMPARED_OPENINGS:
            break
    gains = [last for _, last in steps]
    first = steps[min(1, len(steps) - 1)][0]
    views = {"coarse": first if len(first) <= VIEW_SIZES["normal"][1] else steps[0][0]}
    for name, (low, high) in VIEW_SIZES.items():
        fitting = [number for number, step in enumerate(steps) if len(step[0]) <= high]
        candidates = [number for number in fitting if len(steps[number][0]) >= low]
        views[name] = steps[max(candidates, key=lambda number: _compute_drop(gains, number), default=fitting[-1])][0]
    return views


def _compute_drop(gains: Sequence[float], number: int) -> float:
    """Return the gain of the last openings relative to the next ones; 1 if either is missing."""
    last, following = (
        gains[max(1, number - COMPARED_OPENINGS + 1) : number + 1],
        gains[number + 1 : number + 1 + COMPARED_OPENINGS],
    )
    if not last or not following:
        return 1.0
    return (sum(last) / len(last)) / max(sum(following) / len(following), TINY)


def _iter_views(tree: Tree, gain: Sequence[float]) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield the views in order of size, each with the gain of its last opening."""
    visible, last = [tree.root], 0.0
    yield tuple(visible), last
    while closed := [node for node in visible if not tree.is_leaf(node)]:
        best = max(closed, key=lambda node: (gain[node], -node))
        last = gain[best] if len(visible) == 1 and visible[0] == tree.root else min(gain[best], last)
        place = visible.index(best)
        visible = [*visible[:place], *tree.children(best), *visible[place + 1 :]]
        yield tuple(visible), last
