"""Fitted models as lenses: what a Fisher kernel needs of PLSA, HPLSA, CAM, HPLC and mixtures on a tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from topiarist.arrays import DTypeLike, Floats
from topiarist.errors import UsageError
from topiarist.hierarchy.tree_model import TreeModel
from topiarist.models.engine import SMALLEST_MIXTURE
from topiarist.models.fisher.scores import Lens

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

KINDS = ("PLSA", "HPLSA", "CAM", "PLC", "HPLC", "HierarchicalMixture")
OF_STRANGERS = ("word_given_topic_", "topic_given_class_", "class_prior_")
WANTED = (
    f"sizes such as (1, 64), models of the kinds {', '.join(KINDS)}, or anything fitted that has word_given_topic_, "
    "topic_given_class_ and class_prior_"
)


def is_fitted(model: BaseEstimator | int) -> bool:
    """True when there is something to look through."""
    return _parameters(model) is not None


def can_be_fitted(model: BaseEstimator | int) -> bool:
    """True for a model of a kind that is known to be something to look through once it is fitted."""
    return any(kind.__module__.startswith("topiarist.") and kind.__name__ in KINDS for kind in type(model).__mro__)


def has_levels(model: BaseEstimator | int) -> bool:
    """True when a model, fitted or not, shares its topics among classes: a tree does, a size or PLSA does not."""
    known = _parameters(model)
    if known is not None:
        return known[1] is not None
    return can_be_fitted(model) and all(kind.__name__ != "PLSA" for kind in type(model).__mro__)


def lens_of(model: BaseEstimator | int, dtype: DTypeLike = np.float64) -> Lens:
    """A fitted model as a lens, in this precision; shared where it has it already."""
    known = _parameters(model)
    if known is None:
        raise UsageError(f"expected a fitted model, got {model!r}", hint=WANTED)
    words, mix, prior = known
    shares = bool(getattr(model, "_shares", False))  # tokens have their classes one by one; else a document has one
    smoothing = getattr(model, "component_smoothing_", getattr(model, "class_smoothing", 0.0))
    beta = getattr(model, "inverse_temperature_", 1.0 / getattr(model, "temperature_", 1.0))
    lengths = ("_reading_length", "effective_length_", "effective_length")
    length = next((getattr(model, name) for name in lengths if hasattr(model, name)), None)
    sizes = getattr(model, "class_tokens_", None)
    return Lens(
        _possible(np.ascontiguousarray(np.asarray(words).T, dtype=dtype)),
        None if mix is None else np.asarray(mix, np.float64),
        np.asarray(prior, np.float64),
        one_class=mix is not None and not shares,
        smoothing=float(smoothing),
        inverse_temperature=float(beta),
        effective_length=None if length is None or isinstance(length, str) else float(length),
        class_tokens=None if sizes is None or not shares else np.asarray(sizes, np.float64),
    )


def kernel_sets(lenses: Iterable[Lens]) -> list[str]:
    """The compiled kernels that reading and comparing through these lenses takes, beyond those of flat models."""
    known = list(lenses)
    classes = ["classes"] if any(lens.class_tokens is not None for lens in known) else []
    return ["search", *(["paths"] if any(lens.one_class for lens in known) else []), *classes]


def tree_of(model: BaseEstimator | int) -> tuple[Any, tuple[int, ...]] | None:
    """The tree of a fitted model and the node of each of its classes; None for a flat one."""
    fitted: TreeModel | None = getattr(model, "tree_model_", None)
    return None if fitted is None else (fitted.tree, fitted.class_nodes)


def _possible(by_word: Floats) -> Any:
    """Probabilities that the kernels take for none are none, here as there; shared where all are possible."""
    hardly = (by_word > 0) & (by_word <= SMALLEST_MIXTURE)
    return np.where(hardly, by_word.dtype.type(0), by_word) if hardly.any() else by_word


def _parameters(model: BaseEstimator | int) -> tuple[Any, Any, Any] | None:
    """P(word|topic), P(topic|class) (None: flat) and P(class) of a fitted model: of a tree, of PLSA, of a stranger."""
    fitted: TreeModel | None = getattr(model, "tree_model_", None)
    if fitted is not None:
        return fitted.word_given_node, fitted.node_given_class, fitted.class_prior
    if all(hasattr(model, name) for name in OF_STRANGERS):
        words, mix, prior = (getattr(model, name) for name in OF_STRANGERS)
        return words, mix, prior
    if hasattr(model, "components_") and hasattr(model, "component_prior_"):
        return model.components_, None, model.component_prior_
    return None
