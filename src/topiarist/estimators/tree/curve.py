"""Curve of held-out perplexity by number of leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Curve:
    """Held-out perplexity by number of leaves, and the position of the selected tree.

    Trees are compared by ``criterion``: the perplexity, with one nat for each parameter fitted to the same tokens.
    """

    n_leaves: Any
    perplexity: Any
    criterion: Any
    place: int

    @property
    def chosen(self) -> int:
        return int(self.n_leaves[self.place])

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as JSON data."""
        values = {name: np.asarray(getattr(self, name)).tolist() for name in ("n_leaves", "perplexity", "criterion")}
        return {**values, "place": self.place, "chosen": self.chosen}

    @classmethod
    def from_dict(cls, body: Mapping[str, Any]) -> Curve:
        """Return the curve from JSON data."""
        leaves, perplexity, criterion = (np.array(body[name]) for name in ("n_leaves", "perplexity", "criterion"))
        return cls(leaves, perplexity, criterion, int(body["place"]))

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve with matplotlib and return the axes."""
        from topiarist.trees.picture import draw_curve

        return draw_curve(ax, self.n_leaves, self.criterion, self.place, perplexity=self.perplexity)
