"""How the groups of a mixture join step by step: groups at a cut, and where their merges are drawn."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from topiarist.arrays import Array
from topiarist.collection.describe.figures import Figures
from topiarist.counts.validation import column_totals


class Merges:
    """The linkage of a tree that was made by joining groups; clusters have SciPy's numbers.

    Nodes of the tree may be fewer: merges that say little are removed from it. A cluster is therefore known by its
    components, and belongs to the deepest topic under which they all lie.
    """

    def __init__(self, figures: Figures) -> None:
        self.figures = figures
        self.linkage: Array = np.asarray(figures.collection.model.hierarchy_.linkage_)
        self.n_leaves = len(self.linkage) + 1
        self.parts: list[tuple[int, int]] = [(int(one), int(other)) for one, other in self.linkage[:, :2]]
        self.members: list[list[int]] = [[leaf] for leaf in range(self.n_leaves)]
        for one, other in self.parts:
            self.members.append(self.members[one] + self.members[other])
        self.sizes: Array = column_totals(figures.collection.shares)

    def size(self, cluster: int) -> int:
        """Documents of a cluster."""
        return round(float(self.sizes[self.members[cluster]].sum()))

    def node(self, cluster: int) -> int:
        """The deepest topic under which all components of a cluster lie."""
        under = self.figures.mask[self.members[cluster]].all(axis=0)
        return max(np.flatnonzero(under).tolist(), key=lambda node: self.figures.tree.depths[node])

    def is_alone(self, cluster: int) -> bool:
        """Whether the topic of a cluster has no other components."""
        return int(self.figures.mask[:, self.node(cluster)].sum()) == len(self.members[cluster])

    def largest_first(self, cluster: int) -> list[int]:
        """The components of a cluster."""
        return sorted(self.members[cluster], key=lambda member: (-self.sizes[member], member))

    def groups(self, wanted: int) -> list[int]:
        """The clusters when only so many are left."""
        left = set(range(self.n_leaves))
        for step in range(self.n_leaves - wanted):
            left -= set(self.parts[step])
            left.add(self.n_leaves + step)
        return sorted(left)

    def rows(self, collapsed: list[int] | None) -> dict[int, float]:
        """The row of each cluster: leaves, or collapsed groups, from the top down, the others between their parts."""
        n_leaves, ends = self.n_leaves, set(collapsed or ())
        rows: dict[int, float] = {}
        waiting = [2 * n_leaves - 2]
        while waiting:
            node = waiting.pop()
            if node < n_leaves or node in ends:
                rows[node] = len(rows) + 0.5
            else:
                waiting += reversed(self.parts[node - n_leaves])
        for step, parts in enumerate(self.parts):
            one, other = rows.get(parts[0]), rows.get(parts[1])
            if one is not None and other is not None:
                rows.setdefault(n_leaves + step, (one + other) / 2)
        return rows

    @cached_property
    def scale(self) -> list[float]:
        """The place of each merge in the width: by the logarithm of its height, for most merges are low."""
        heights = np.maximum(self.linkage[:, 2], 1e-12)
        for step, parts in enumerate(self.parts):  # never before its parts: where heights fall, brackets would cross
            below = [heights[part - self.n_leaves] for part in parts if part >= self.n_leaves]
            heights[step] = max([heights[step], *below])
        low, high = np.log(heights.min()), np.log(heights.max())
        found: list[float] = (0.08 + 0.88 * (np.log(heights) - low) / max(high - low, 1e-12)).tolist()
        return found

    def cut(self, wanted: int) -> float:
        """Between the last merge that is done and the first that is not."""
        done = self.n_leaves - wanted
        before = self.scale[done - 1] if done else 0.0
        after = self.scale[done] if done < len(self.parts) else 1.0
        return (before + after) / 2
