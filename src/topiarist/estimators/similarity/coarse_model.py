"""Reduced tree of a fitted model, with few enough classes to compare every document with a query.

A similarity search reads each document in every class. Hundreds of classes improve similarity hardly more than dozens,
and cost time and memory in proportion. Nodes that gain most stay separate, see ``trees.views``.
"""

from __future__ import annotations

from typing import Any

from topiarist.estimators.similarity.lenses import make_kernel_view
from topiarist.trees.growth.headings import compute_gains
from topiarist.trees.tree_model import TreeModel, cut_model
from topiarist.trees.views import select_view


class CoarseModel:
    """Upper part of a fitted tree that reads documents like the full model."""

    def __init__(self, model: Any, tree_model: TreeModel) -> None:
        view = make_kernel_view(model)
        self.tree_model_ = tree_model
        self._shares = not view.one_class
        self.class_smoothing = view.smoothing
        self.inverse_temperature_ = view.inverse_temperature
        self.effective_length_ = view.effective_length
        if view.class_tokens is not None:
            self.class_tokens_ = tree_model.class_prior * view.class_tokens.sum()


def make_coarse_model(model: Any, n_classes: int) -> Any:
    """Return a fitted tree with at most ``n_classes`` classes.

    The model itself is returned if it has no more classes, or if its root has more children.
    """
    fitted_tree: TreeModel | None = getattr(model, "tree_model_", None)
    if fitted_tree is None or fitted_tree.n_classes <= n_classes:
        return model
    gain = compute_gains(
        fitted_tree.tree, fitted_tree.class_nodes, fitted_tree.word_given_class(), fitted_tree.class_prior
    )
    nodes = select_view(fitted_tree.tree, gain, n_classes)
    return model if nodes == (fitted_tree.tree.root,) else CoarseModel(model, cut_model(fitted_tree, nodes))
