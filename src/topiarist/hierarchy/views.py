"""Nested views of one tree: as much as somebody wants to see.

The losses that built the headings say what a reader gains by opening a node (``headings.gains``). ``view`` opens what
tells most, until enough nodes are to be seen; ``views`` stop where the next opening would tell much less than the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from topiarist.errors import InputError
from topiarist.hierarchy.tree import Tree

STEPS = {"coarse": (4, 8), "normal": (10, 25), "fine": (30, 60)}  # nodes to be seen at once
NEAR = 2  # openings before and after a view that are compared: one alone may be chance


def view(tree: Tree, gain: Sequence[float], n_nodes: int) -> tuple[int, ...]:
    """At most ``n_nodes`` nodes that hold all documents between them: the nodes that tell most have been opened.

    Views are nested: every node of a smaller one is in a larger one too, or has been opened there. The root is seen by
    itself only where its children are too many.
    """
    if n_nodes < 1:
        raise InputError(f"expected to see at least 1 node, got {n_nodes}")
    *_, (seen, _) = takewhile(lambda step: len(step[0]) <= n_nodes, _openings(tree, gain))
    return seen


def views(tree: Tree, gain: Sequence[float]) -> dict[str, tuple[int, ...]]:
    """The views called coarse (4 to 8 nodes), normal (10 to 25) and fine (30 to 60).

    Each ends where the next two openings would tell much less than the last two: at the largest relative drop of the
    gain in its range. A tree with fewer nodes than that shows all it has.
    """
    steps, beyond = list[tuple[tuple[int, ...], float]](), 0
    for step in _openings(tree, gain):  # as far as a view goes, and what is compared with it
        steps.append(step)
        beyond += len(step[0]) > STEPS["fine"][1]
        if beyond == NEAR:
            break
    told = [last for _, last in steps]
    found = {}
    for name, (low, high) in STEPS.items():
        fitting = [number for number, step in enumerate(steps) if len(step[0]) <= high]
        within = [number for number in fitting if len(steps[number][0]) >= low]
        found[name] = steps[max(within, key=lambda number: _drop(told, number), default=fitting[-1])][0]
    return found


def _drop(told: Sequence[float], number: int) -> float:
    """How much more the last openings told than the next ones would; 1 where there is nothing to compare."""
    last, following = told[max(1, number - NEAR + 1) : number + 1], told[number + 1 : number + 1 + NEAR]
    if not last or not following:
        return 1.0
    return (sum(last) / len(last)) / max(sum(following) / len(following), 1e-300)


def _openings(tree: Tree, gain: Sequence[float]) -> Iterator[tuple[tuple[int, ...], float]]:
    """The views one after the other, each with what the last opening told."""
    seen, last = [tree.root], 0.0
    yield tuple(seen), last
    while closed := [node for node in seen if not tree.is_leaf(node)]:
        best = max(closed, key=lambda node: (gain[node], -node))
        last = gain[best] if len(seen) == 1 and seen[0] == tree.root else min(gain[best], last)
        place = seen.index(best)
        seen = [*seen[:place], *tree.children(best), *seen[place + 1 :]]
        yield tuple(seen), last
