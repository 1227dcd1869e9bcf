"""Registry of the classes that a model file may contain, with the shapes of their arrays.

Only registered classes are created from a file. A new estimator is one entry here. Compiled kernels trust the shapes,
so an array that is too short would be read beyond its end. This module is the ``Registry`` of ``storage.encoding``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from operator import attrgetter
from typing import Any

import numpy as np

from topiarist.estimators.tree_models import TREE_MODELS


@dataclass(frozen=True)
class RegisteredClass:
    """Import path of a class, and the axis names of its array attributes; equal names mean equal lengths.

    "words" is ``n_features_in_``, "nodes" and "leaves" belong to ``tree_``. An attribute with "?" is optional. "[]"
    stands for each element of a list.
    """

    import_path: str
    shapes: Mapping[str, str] = field(default_factory=dict)

    @property
    def type(self) -> Any:
        module, name = self.import_path.split(":")
        return getattr(import_module(module), name)


def _stream_shapes(**statistics: str) -> dict[str, str]:
    return {"_known_words?": "words"} | {f"_stream.stats.{name}?": axes for name, axes in statistics.items()}


_CATEGORISER = {
    "classes_": "classes", "class_nodes_": "classes", "class_prior_": "classes", "class_tokens_": "classes",
    "topic_given_class_": "classes nodes", "word_given_topic_": "nodes words", "_class_word_table": "words classes",
}  # fmt: skip

ESTIMATORS = {
    "CAM": RegisteredClass("topiarist.estimators.tree.cam:CAM", {
        "seeds_?": "seeds pair", "directions_?": "leaves dimensions",
        "word_given_node_": "nodes words", "node_given_cluster_": "leaves nodes", "cluster_prior_": "leaves",
        "cluster_given_doc_?": "documents leaves", "labels_?": "documents",
        **_stream_shapes(node_word_count="nodes words", cluster_node_count="leaves nodes", cluster_count="leaves"),
    }),
    "CategoryLearner": RegisteredClass("topiarist.estimators.category.category_learner:CategoryLearner", {
        "classes_": "classes", "class_nodes_": "classes", "class_prior_": "classes", "label_threshold_?": "classes",
        "_is_known_word": "words", "_model.features.idf": "words", "_model.features.word_factors": "words dimensions",
        "_model.linear.word_weight": "words classes", "_model.linear.latent_weight": "dimensions classes",
        "_model.linear.constant": "classes", "_model.words.log_lift?": "words classes",
        "_model.words.other_lifts?": "parts words classes",
        "_model.prior_shift?": "classes", "_model.threshold?": "classes", "_model.log_odds?": "classes",
        "_model.line?": "3", "_model.linear.vector_weight?": "points classes",
        "_model.class_vectors.weight?": "points classes", "_model.class_vectors.constant?": "classes",
        "_model.space.axes?": "vectors points", "_model.space.centre?": "vectors",
        "_by_words.classes_?": "classes", "_by_words._is_known_word?": "words",
    }),
    "FisherKernel": RegisteredClass(
        "topiarist.estimators.similarity.fisher_kernel:FisherKernel", {"_lenses[].by_word": "words topics"}
    ),
    "GGM": RegisteredClass("topiarist.estimators.gaussian.ggm:GGM", {
        "component_prior_": "components", "component_mean_": "components inner", "component_count_": "components",
        "component_covariance_": "components inner inner", "class_given_component_": "components classes",
        "classes_": "classes", "labels_?": "documents", "_frame.centre": "inner", "_frame.scale": "inner",
        "space_.centre?": "words", "space_.axes?": "words inner",
    }),
    "GaussianTree": RegisteredClass("topiarist.estimators.gaussian.gaussian_tree:GaussianTree", {
        "class_nodes_": "classes", "class_prior_": "classes", "topic_given_class_": "classes nodes",
        "word_given_topic_": "nodes words", "_class_given_doc?": "documents classes", "labels_?": "documents",
    }),
    "HPLC": RegisteredClass("topiarist.estimators.category.categorisers:HPLC", _CATEGORISER),
    "HPLSA": RegisteredClass("topiarist.estimators.tree.hplsa:HPLSA", {
        "seeds_?": "seeds pair",
        "word_given_topic_": "nodes words", "topic_given_class_": "classes nodes", "class_prior_": "classes",
        "class_nodes_": "classes", "class_given_doc_?": "documents classes", "labels_?": "documents",
        "_lengths?": "documents", **_stream_shapes(topic_word_count="nodes words", class_topic_count="classes nodes"),
    }),
    "HierarchicalMixture": RegisteredClass(
        "topiarist.estimators.category.categorisers:HierarchicalMixture", _CATEGORISER
    ),
    "LSI": RegisteredClass("topiarist.estimators.flat.lsi:LSI", {
        "singular_values_": "dimensions", "word_factors_": "words dimensions", "kept_": "words", "_idf?": "words",
    }),
    "MixtureHierarchy": RegisteredClass("topiarist.estimators.gaussian.mixture_hierarchy:MixtureHierarchy", {
        "components_": "leaves", "weight_": "leaves", "linkage_": "merges 4", "node_members_": "nodes leaves",
    }),
    "PLC": RegisteredClass("topiarist.estimators.category.categorisers:PLC", _CATEGORISER),
    "PLSA": RegisteredClass("topiarist.estimators.flat.plsa:PLSA", {
        "components_": "components words", "component_prior_": "components",
        "component_given_doc_?": "documents components", **_stream_shapes(word_component_count="words components"),
    }),
    "PMM": RegisteredClass("topiarist.estimators.category.pmm:PMM", {
        "classes_": "classes", "word_given_label_": "classes words", "label_bias_": "classes classes",
        "label_prior_": "classes", "label_threshold_?": "classes", "_is_known_word": "words",
    }),
}  # fmt: skip

# Values that estimators hold: frozen dataclasses, stored field by field.
VALUES = {
    "BatchRecord": RegisteredClass("topiarist.models.online:BatchRecord"),
    "CAM.Stats": RegisteredClass("topiarist.models.cam:Stats"),
    "Calibration": RegisteredClass("topiarist.estimators.category.calibration:Calibration"),
    "Checkpoint": RegisteredClass("topiarist.trees.growth.loop:Checkpoint"),
    "ClassWords": RegisteredClass("topiarist.estimators.category.class_words:ClassWords"),
    "ClassVectors": RegisteredClass("topiarist.estimators.category.class_vectors:ClassVectors"),
    "Curve": RegisteredClass("topiarist.estimators.tree.curve:Curve"),
    "Features": RegisteredClass("topiarist.estimators.category.linear:Features"),
    "Frame": RegisteredClass("topiarist.estimators.gaussian.ggm:Frame"),
    "HPLSA.Stats": RegisteredClass("topiarist.models.hplsa:Stats"),
    "KernelView": RegisteredClass("topiarist.models.fisher.scores:KernelView", {
        "by_word": "words topics", "word_information?": "words topics", "mix?": "classes topics",
        "class_prior": "classes", "class_tokens?": "classes", "class_information?": "classes",
    }),
    "Linear": RegisteredClass("topiarist.estimators.category.linear:Linear"),
    "OneLabel": RegisteredClass("topiarist.estimators.category.one_label:OneLabel"),
    "GrowthState": RegisteredClass("topiarist.trees.growth.parts:GrowthState"),
    "PLSA.Stats": RegisteredClass("topiarist.models.plsa:Stats"),
    "Record": RegisteredClass("topiarist.trees.growth.loop:Record"),
    "SeveralLabels": RegisteredClass("topiarist.estimators.category.several_labels:SeveralLabels"),
    "SeveralTrial": RegisteredClass("topiarist.estimators.category.several_labels:SeveralTrial"),
    "TunedThresholds": RegisteredClass("topiarist.estimators.category.several_labels:TunedThresholds"),
    "TunedSettings": RegisteredClass("topiarist.estimators.category.one_label:TunedSettings"),
    "Setting": RegisteredClass("topiarist.estimators.category.one_label:Setting"),
    "Trial": RegisteredClass("topiarist.estimators.category.one_label:Trial"),
    "Stage": RegisteredClass("topiarist.trees.growth.loop:Stage"),
    "StoredRows": RegisteredClass("topiarist.trees.growth.parts:StoredRows"),
    "Stream": RegisteredClass("topiarist.models.online:Stream"),
    "Tree": RegisteredClass("topiarist.trees.tree:Tree"),
    "VectorSpace": RegisteredClass("topiarist.estimators.gaussian.vector_space:VectorSpace"),
    "FeatureWeights": RegisteredClass("topiarist.estimators.category.linear:FeatureWeights"),
}  # fmt: skip

_REGISTERED = {"model": ESTIMATORS, "value": VALUES}
_NAMES = {known.import_path: (kind, name) for kind, kinds in _REGISTERED.items() for name, known in kinds.items()}

# A tree model that is registered there needs no line here: its arrays are those of its ``tree_model_``.
_TREE_MODEL = {
    "tree_model_.class_nodes": "classes", "tree_model_.class_prior": "classes",
    "tree_model_.node_given_class": "classes nodes", "tree_model_.word_given_node": "nodes words",
}  # fmt: skip


def names() -> list[str]:
    return list(ESTIMATORS)


def name_of(thing: object) -> tuple[str, str] | None:
    """Return the kind of an object ("model" or "value") and its class name in files; None for other objects."""
    import_path = f"{type(thing).__module__}:{type(thing).__qualname__}"
    if import_path in _NAMES:
        return _NAMES[import_path]
    return next((("model", kind.class_name) for kind in TREE_MODELS.values() if kind.estimator == import_path), None)


def _find_class(kind: str, name: str) -> RegisteredClass:
    """Return a registered class by its name; raise ValueError if there is none."""
    if name in _REGISTERED[kind]:
        return _REGISTERED[kind][name]
    for tree_kind in TREE_MODELS.values():
        if kind == "model" and tree_kind.class_name == name:
            return RegisteredClass(tree_kind.estimator, _TREE_MODEL)
    raise ValueError(f"there is no {kind} of the class {name!r}")


def class_of(kind: str, name: str) -> Any:
    """Return the class with this name in files; raise ValueError if there is none."""
    return _find_class(kind, name).type


def check(kind: str, name: str, thing: object) -> None:
    """Raise ValueError if the arrays of a model or value do not fit each other."""
    shapes = _find_class(kind, name).shapes
    lengths = _find_lengths(thing) if kind == "model" else {}
    if kind == "model" and "words" not in lengths and any("words" in axes for axes in shapes.values()):
        raise ValueError("there is no number n_features_in_")
    check_shapes(thing, shapes, lengths)


def check_shapes(thing: object, shapes: Mapping[str, str], lengths: dict[str, int]) -> None:
    """Raise ValueError for attributes of the wrong shape; new lengths are added to ``lengths``."""
    for name, axes in shapes.items():
        list_name, _, inner = name.partition("[].")
        if inner:
            for part in _get_attribute(thing, list_name) or ():
                check_shapes(part, {inner: axes}, dict(lengths))
            continue
        value, optional = _get_attribute(thing, name.removesuffix("?")), name.endswith("?")
        if value is None and optional:
            continue
        shape, axis_names = _get_shape(value), axes.split()
        if shape is None or not _has_shape(shape, axis_names, lengths):
            expected = " × ".join(f"{lengths[axis]} {axis}" if axis in lengths else axis for axis in axis_names)
            problem = "is not there" if shape is None else f"has the shape {shape}"
            raise ValueError(f"{name.removesuffix('?')} should be {expected}, and {problem}")
        lengths |= dict(zip(axis_names, shape, strict=True))


def _find_lengths(model: object) -> dict[str, int]:
    """Return the known lengths of the axes of a model's arrays, by name."""
    lengths = {"3": 3, "4": 4}
    if type(n_words := getattr(model, "n_features_in_", None)) is int:
        lengths["words"] = n_words
        if hasattr(model, "component_mean_") and getattr(model, "space_", None) is None:
            lengths["inner"] = n_words  # features as they are
    if (tree := getattr(model, "tree_", None)) is not None:
        lengths |= {"nodes": len(tree), "leaves": len(tree.leaves)}
    return lengths


def _get_attribute(model: object, name: str) -> Any:
    try:
        return attrgetter(name)(model)
    except AttributeError:
        return None


def _get_shape(value: object) -> tuple[int, ...] | None:
    if isinstance(value, np.ndarray):
        return tuple(value.shape)
    return (len(value),) if isinstance(value, tuple) else None


def _has_shape(shape: tuple[int, ...], axis_names: list[str], lengths: dict[str, int]) -> bool:
    """Return whether a shape fits named axes; equal names must have equal lengths."""
    lengths_here: dict[str, int] = {}
    return len(shape) == len(axis_names) and all(
        lengths.get(axis, lengths_here.setdefault(axis, length)) == length
        for axis, length in zip(axis_names, shape, strict=True)
    )
