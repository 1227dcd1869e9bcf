"""Where in the tree the hits of a search are: the next step for whoever found too much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topiarist.measures.placed_documents import CERTAIN

if TYPE_CHECKING:
    from topiarist.collection.collection import Collection

NOTABLE = 0.25  # of the hits in a topic, for it to be shown below its parent


@dataclass(frozen=True)
class Held:
    """A topic, how many of the hits lie under it, and how many documents in all."""

    topic: int
    path: tuple[str, ...]
    documents: int
    all: int


def spread(collection: Collection, rows: Sequence[int]) -> tuple[Held, ...]:
    """The topics that hold hits: headings with the most first, each followed by topics below with a good part of all.

    A document that is under no heading by half is counted nowhere.
    """
    outline, tree = collection.outline, collection.outline.tree
    if not len(rows):
        return ()
    mask = tree.path_mask(outline.class_nodes).astype(np.float64)
    count = np.zeros(len(tree), np.int64)
    for start in range(0, len(rows), 1 << 14):
        count += ((collection.shares[list(rows[start : start + (1 << 14)])] @ mask) >= CERTAIN).sum(axis=0)
    found: list[Held] = []
    waiting = sorted(tree.children(tree.root), key=lambda node: count[node])
    while waiting:
        node = waiting.pop()
        if count[node] and (tree.depths[node] == 1 or count[node] >= NOTABLE * len(rows)):
            size = collection.tree.sizes[node]
            found.append(Held(outline.topics[node], tree.path_names(node)[1:], int(count[node]), size))
            waiting.extend(sorted(tree.children(node), key=lambda child: count[child]))
    return tuple(found)
