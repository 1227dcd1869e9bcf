"""A fitted tree seen from further away: as many classes as comparing every document with a query can afford.

A search by meaning reads each document in every class. Hundreds of them tell hardly more about likeness than dozens
(nodes that told most stay apart, see ``hierarchy.views``), and cost time and memory in proportion.
"""

from __future__ import annotations

from typing import Any

from topiarist.estimators.similarity.lenses import lens_of
from topiarist.hierarchy.growth.headings import gains
from topiarist.hierarchy.tree_model import TreeModel, cut_at
from topiarist.hierarchy.views import view


class CoarseModel:
    """The upper part of a fitted tree, which reads documents as the whole does."""

    def __init__(self, model: Any, tree_model: TreeModel) -> None:
        whole = lens_of(model)
        self.tree_model_ = tree_model
        self._shares = not whole.one_class
        self.class_smoothing = whole.smoothing
        self.inverse_temperature_ = whole.inverse_temperature
        self.effective_length_ = whole.effective_length
        if whole.class_tokens is not None:
            self.class_tokens_ = tree_model.class_prior * whole.class_tokens.sum()


def coarse(model: Any, n_classes: int) -> Any:
    """A fitted tree with at most so many classes; itself where it has no more, or where its root has more children."""
    fitted: TreeModel | None = getattr(model, "tree_model_", None)
    if fitted is None or fitted.n_classes <= n_classes:
        return model
    told = gains(fitted.tree, fitted.class_nodes, fitted.word_given_class(), fitted.class_prior)
    nodes = view(fitted.tree, told, n_classes)
    return model if nodes == (fitted.tree.root,) else CoarseModel(model, cut_at(fitted, nodes))
