"""Kernel views of fitted models: the parameters that a Fisher kernel needs of PLSA, HPLSA, CAM, HPLC and mixtures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import DTypeLike, Floats
from topiarist.errors import UsageError
from topiarist.models.engine import SMALLEST_MIXTURE
from topiarist.models.fisher.scores import KernelView
from topiarist.trees.growth.headings import compute_gains
from topiarist.trees.tree_model import TreeModel, cut_model
from topiarist.trees.views import select_view

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


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


KINDS = ("PLSA", "HPLSA", "CAM", "PLC", "HPLC", "HierarchicalMixture")
REQUIRED_ATTRIBUTES = ("word_given_topic_", "topic_given_class_", "class_prior_")
EXPECTED_MODELS = (
    f"sizes such as (1, 64), models of the kinds {', '.join(KINDS)}, or anything fitted that has word_given_topic_, "
    "topic_given_class_ and class_prior_"
)


def is_fitted(model: BaseEstimator | int) -> bool:
    """Return whether a model has the parameters of a kernel view."""
    return _find_parameters(model) is not None


def can_be_fitted(model: BaseEstimator | int) -> bool:
    """Return whether a model is of a kind that has a kernel view after a fit."""
    return any(kind.__module__.startswith("topiarist.") and kind.__name__ in KINDS for kind in type(model).__mro__)


def has_levels(model: BaseEstimator | int) -> bool:
    """Return whether a model, fitted or not, shares its topics among classes, as trees do."""
    parameters = _find_parameters(model)
    if parameters is not None:
        return parameters[1] is not None
    return can_be_fitted(model) and all(kind.__name__ != "PLSA" for kind in type(model).__mro__)


def make_kernel_view(model: BaseEstimator | int, dtype: DTypeLike = np.float64) -> KernelView:
    """Return the kernel view of a fitted model in this precision; arrays are shared if they have it already."""
    parameters = _find_parameters(model)
    if parameters is None:
        raise UsageError(f"expected a fitted model, got {model!r}", hint=f"Pass {EXPECTED_MODELS}.")
    words, mix, prior = parameters
    shares = bool(getattr(model, "_shares", False))  # tokens have their classes one by one; else a document has one
    smoothing = getattr(model, "component_smoothing_", getattr(model, "class_smoothing", 0.0))
    beta = getattr(model, "inverse_temperature_", 1.0 / getattr(model, "temperature_", 1.0))
    lengths = ("_reading_length", "effective_length_", "effective_length")
    length = next((getattr(model, name) for name in lengths if hasattr(model, name)), None)
    sizes = getattr(model, "class_tokens_", None)
    return KernelView(
        _zero_negligible(np.ascontiguousarray(np.asarray(words).T, dtype=dtype)),
        None if mix is None else np.asarray(mix, np.float64),
        np.asarray(prior, np.float64),
        one_class=mix is not None and not shares,
        smoothing=float(smoothing),
        inverse_temperature=float(beta),
        effective_length=None if length is None or isinstance(length, str) else float(length),
        class_tokens=None if sizes is None or not shares else np.asarray(sizes, np.float64),
    )


def list_kernel_sets(lenses: Iterable[KernelView]) -> list[str]:
    """Return the compiled kernels that the views need, beyond the kernels of flat models."""
    views = list(lenses)
    class_kernels = ["classes"] if any(lens.class_tokens is not None for lens in views) else []
    return ["search", *(["paths"] if any(lens.one_class for lens in views) else []), *class_kernels]


def tree_of(model: BaseEstimator | int) -> tuple[Any, tuple[int, ...]] | None:
    """Return the tree of a fitted model and the node of each class; None for a flat model."""
    fitted: TreeModel | None = getattr(model, "tree_model_", None)
    return None if fitted is None else (fitted.tree, fitted.class_nodes)


def _zero_negligible(by_word: Floats) -> Any:
    """Return the probabilities with zeros for values that the kernels ignore; the same array if there are none."""
    hardly = (by_word > 0) & (by_word <= SMALLEST_MIXTURE)
    return np.where(hardly, by_word.dtype.type(0), by_word) if hardly.any() else by_word


def _find_parameters(model: BaseEstimator | int) -> tuple[Any, Any, Any] | None:
    """Return P(word|topic), P(topic|class) (None: flat) and P(class) of a fitted model; None if it has none."""
    fitted: TreeModel | None = getattr(model, "tree_model_", None)
    if fitted is not None:
        return fitted.word_given_node, fitted.node_given_class, fitted.class_prior
    if all(hasattr(model, name) for name in REQUIRED_ATTRIBUTES):
        words, mix, prior = (getattr(model, name) for name in REQUIRED_ATTRIBUTES)
        return words, mix, prior
    if hasattr(model, "components_") and hasattr(model, "component_prior_"):
        return model.components_, None, model.component_prior_
    return None
