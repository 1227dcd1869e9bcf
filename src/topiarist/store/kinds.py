"""Which classes a model file may name, and what shapes their arrays must have.

A file names a class, and only one of these is ever made of it. A new estimator is one line here. Shapes are checked
because the compiled sweeps trust them: a table of 100 words in the place of one of 1,000 would be read past its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from operator import attrgetter
from typing import Any, cast

import numpy as np
from scipy.sparse import issparse


@dataclass(frozen=True)
class Kind:
    """Where a class lives; and for attributes the names of their axes, a name standing for one length everywhere.

    "words" is ``n_features_in_``, "nodes" and "leaves" are those of ``tree_``; an attribute with "?" need not be there,
    "[]" stands for each of a list, which may differ.
    """

    home: str
    shapes: Mapping[str, str] = field(default_factory=dict)

    @property
    def type(self) -> Any:
        """The class."""
        return loaded(self.home)


def _stream(**statistics: str) -> dict[str, str]:
    """What a model has that may be in a stream."""
    shapes = {"_known_words?": "words", "_misfits.counts?": "misfits words", "_misfits.keys?": "misfits"}
    return shapes | {f"_stream.stats.{name}?": axes for name, axes in statistics.items()}


_CATEGORISER = {
    "classes_": "classes", "class_nodes_": "classes", "class_prior_": "classes", "class_tokens_": "classes",
    "topic_given_class_": "classes nodes", "word_given_topic_": "nodes words", "_word_given_class": "words classes",
}  # fmt: skip

ESTIMATORS = {
    "CAM": Kind("topiarist.estimators.tree.cam:CAM", {
        "word_given_node_": "nodes words", "node_given_cluster_": "leaves nodes", "cluster_prior_": "leaves",
        "cluster_given_doc_?": "documents leaves", "labels_?": "documents",
        **_stream(node_word_count="nodes words", cluster_node_count="leaves nodes", cluster_count="leaves"),
    }),
    "FisherKernel": Kind(
        "topiarist.estimators.similarity.fisher_kernel:FisherKernel", {"_lenses[].by_word": "words topics"}
    ),
    "GGM": Kind("topiarist.estimators.gaussian.ggm:GGM", {
        "component_prior_": "components", "component_mean_": "components words", "component_count_": "components",
        "component_covariance_": "components words words", "class_given_component_": "components classes",
        "classes_": "classes", "labels_?": "documents", "_frame.centre": "words", "_frame.scale": "words",
    }),
    "GaussianTree": Kind("topiarist.estimators.gaussian.gaussian_tree:GaussianTree", {
        "class_nodes_": "classes", "class_prior_": "classes", "topic_given_class_": "classes nodes",
        "word_given_topic_": "nodes words",
    }),
    "HPLC": Kind("topiarist.estimators.category.categorisers:HPLC", _CATEGORISER),
    "HPLSA": Kind("topiarist.estimators.tree.hplsa:HPLSA", {
        "word_given_topic_": "nodes words", "topic_given_class_": "classes nodes", "class_prior_": "classes",
        "class_nodes_": "classes", "class_given_doc_?": "documents classes", "labels_?": "documents",
        "_lengths?": "documents", **_stream(topic_word_count="nodes words", class_topic_count="classes nodes"),
    }),
    "HierarchicalMixture": Kind("topiarist.estimators.category.categorisers:HierarchicalMixture", _CATEGORISER),
    "LSI": Kind("topiarist.estimators.flat.lsi:LSI", {
        "singular_values_": "dimensions", "word_factors_": "words dimensions", "kept_": "words", "_idf?": "words",
    }),
    "MixtureHierarchy": Kind("topiarist.estimators.gaussian.mixture_hierarchy:MixtureHierarchy", {
        "components_": "leaves", "weight_": "leaves", "linkage_": "merges 4", "node_members_": "nodes leaves",
    }),
    "PLC": Kind("topiarist.estimators.category.categorisers:PLC", _CATEGORISER),
    "PLSA": Kind("topiarist.estimators.flat.plsa:PLSA", {
        "components_": "components words", "component_prior_": "components",
        "component_given_doc_?": "documents components", **_stream(word_component_count="words components"),
    }),
    "PMM": Kind("topiarist.estimators.category.pmm:PMM", {
        "classes_": "classes", "word_given_label_": "classes words", "label_bias_": "classes classes",
        "label_prior_": "classes", "label_threshold_?": "classes", "_known": "words",
    }),
}  # fmt: skip

# Values that estimators hold: frozen dataclasses, stored field by field.
VALUES = {
    "BatchRecord": "topiarist.models.drift:BatchRecord",
    "CAM.Stats": "topiarist.models.cam:Stats",
    "Checkpoint": "topiarist.hierarchy.growth.loop:Checkpoint",
    "Curve": "topiarist.estimators.tree.preparation:Curve",
    "Frame": "topiarist.estimators.gaussian.ggm:Frame",
    "HPLSA.Stats": "topiarist.models.hplsa:Stats",
    "Lens": "topiarist.models.fisher.scores:Lens",
    "Misfits": "topiarist.models.misfits:Misfits",
    "Parts": "topiarist.hierarchy.growth.parts:Parts",
    "PLSA.Stats": "topiarist.models.plsa:Stats",
    "Record": "topiarist.hierarchy.growth.loop:Record",
    "Stage": "topiarist.hierarchy.growth.loop:Stage",
    "Stream": "topiarist.models.online:Stream",
    "Tree": "topiarist.hierarchy.tree:Tree",
    "Usual": "topiarist.models.misfits:Usual",
}

# The same for values whose arrays must fit each other.
SHAPES_OF_VALUES = {
    "Lens": {
        "by_word": "words topics", "word_information?": "words topics", "mix?": "classes topics",
        "class_prior": "classes", "class_tokens?": "classes", "class_information?": "classes",
    },
}  # fmt: skip

_ESTIMATOR_NAMES = {kind.home: name for name, kind in ESTIMATORS.items()}
_VALUE_NAMES = {home: name for name, home in VALUES.items()}


def loaded(home: str) -> Any:
    """The class at a place of this registry."""
    module, name = home.split(":")
    return getattr(import_module(module), name)


def estimator_name(thing: Any) -> str | None:
    """The name of an estimator's class in files; None for anything else."""
    return _ESTIMATOR_NAMES.get(_home(thing))


def value_name(thing: Any) -> str | None:
    """The same for values."""
    return _VALUE_NAMES.get(_home(thing))


def _home(thing: Any) -> str:
    return f"{type(thing).__module__}:{type(thing).__qualname__}"


def check_estimator(model: Any, kind: Kind) -> None:
    """Raise ValueError where attributes of a model do not fit each other."""
    lengths = _known_lengths(model)
    if "words" not in lengths and any("words" in axes for axes in kind.shapes.values()):
        raise ValueError("there is no number n_features_in_")
    check_shapes(model, kind.shapes, lengths)


def check_shapes(thing: Any, shapes: Mapping[str, str], lengths: dict[str, int]) -> None:
    """Raise ValueError where attributes do not have the shapes they should; new lengths are added to those known."""
    for name, axes in shapes.items():
        several, _, inner = name.partition("[].")
        if inner:
            for part in _attribute(thing, several) or ():
                check_shapes(part, {inner: axes}, dict(lengths))
            continue
        value, optional = _attribute(thing, name.removesuffix("?")), name.endswith("?")
        if value is None and optional:
            continue
        shape, wanted = _shape(value), axes.split()
        if shape is None or not _fits(shape, wanted, lengths):
            known = " × ".join(f"{lengths[axis]} {axis}" if axis in lengths else axis for axis in wanted)
            found = "is not there" if shape is None else f"has the shape {shape}"
            raise ValueError(f"{name.removesuffix('?')} should be {known}, and {found}")
        lengths |= dict(zip(wanted, shape, strict=True))


def _known_lengths(model: Any) -> dict[str, int]:
    lengths = {"4": 4}
    if type(n_words := getattr(model, "n_features_in_", None)) is int:
        lengths["words"] = n_words
    if (tree := getattr(model, "tree_", None)) is not None:
        lengths |= {"nodes": len(tree), "leaves": len(tree.leaves)}
    return lengths


def _attribute(model: Any, name: str) -> Any:
    try:
        return attrgetter(name)(model)
    except AttributeError:
        return None


def _shape(value: Any) -> tuple[int, ...] | None:
    if isinstance(value, np.ndarray) or issparse(value):
        return tuple(cast(Any, value).shape)
    return (len(value),) if isinstance(value, tuple) else None


def _fits(shape: tuple[int, ...], wanted: list[str], lengths: dict[str, int]) -> bool:
    here: dict[str, int] = {}
    return len(shape) == len(wanted) and all(
        lengths.get(axis, here.setdefault(axis, length)) == length for axis, length in zip(wanted, shape, strict=True)
    )
