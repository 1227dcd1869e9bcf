"""Which classes a model file may name, and what shapes their arrays must have.

A file names a class, and only one of these is ever made of it. A new estimator is one line here. Shapes are checked
because the compiled sweeps trust them: a table of 100 words in the place of one of 1,000 would be read past its end.
This module is the ``Registry`` that ``store.encoding`` is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from operator import attrgetter
from typing import Any, cast

import numpy as np
from scipy.sparse import issparse

from topiarist.estimators.tree_models import TREE_MODELS


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
        module, name = self.home.split(":")
        return getattr(import_module(module), name)


def _stream(**statistics: str) -> dict[str, str]:
    """What a model has that may be in a stream."""
    shapes = {"_known_words?": "words", "_misfits.counts?": "misfits words", "_misfits.keys?": "misfits"}
    return shapes | {f"_stream.stats.{name}?": axes for name, axes in statistics.items()}


_CATEGORISER = {
    "classes_": "classes", "class_nodes_": "classes", "class_prior_": "classes", "class_tokens_": "classes",
    "topic_given_class_": "classes nodes", "word_given_topic_": "nodes words", "_class_word_table": "words classes",
}  # fmt: skip

ESTIMATORS = {
    "CAM": Kind("topiarist.estimators.tree.cam:CAM", {
        "seeds_?": "seeds pair", "directions_?": "leaves dimensions",
        "word_given_node_": "nodes words", "node_given_cluster_": "leaves nodes", "cluster_prior_": "leaves",
        "cluster_given_doc_?": "documents leaves", "labels_?": "documents",
        **_stream(node_word_count="nodes words", cluster_node_count="leaves nodes", cluster_count="leaves"),
    }),
    "CategoryLearner": Kind("topiarist.estimators.category.category_learner:CategoryLearner", {
        "classes_": "classes", "class_nodes_": "classes", "class_prior_": "classes", "label_threshold_?": "classes",
        "_known": "words", "_model.features.idf": "words", "_model.features.word_factors": "words dimensions",
        "_model.linear.word_weight": "words classes", "_model.linear.latent_weight": "dimensions classes",
        "_model.linear.constant": "classes", "_model.words.log_lift?": "words classes",
        "_model.words.further?": "parts words classes",
        "_model.prior_shift?": "classes", "_model.threshold?": "classes", "_model.log_odds?": "classes",
        "_model.line?": "3", "_model.linear.vector_weight?": "points classes", "_model.near.weight?": "points classes",
        "_model.near.constant?": "classes", "_model.space.axes?": "vectors points", "_model.space.centre?": "vectors",
        "_by_words.classes_?": "classes", "_by_words._known?": "words",
    }),
    "FisherKernel": Kind(
        "topiarist.estimators.similarity.fisher_kernel:FisherKernel", {"_lenses[].by_word": "words topics"}
    ),
    "GGM": Kind("topiarist.estimators.gaussian.ggm:GGM", {
        "component_prior_": "components", "component_mean_": "components inner", "component_count_": "components",
        "component_covariance_": "components inner inner", "class_given_component_": "components classes",
        "classes_": "classes", "labels_?": "documents", "_frame.centre": "inner", "_frame.scale": "inner",
        "space_.centre?": "words", "space_.axes?": "words inner",
    }),
    "GaussianTree": Kind("topiarist.estimators.gaussian.gaussian_tree:GaussianTree", {
        "class_nodes_": "classes", "class_prior_": "classes", "topic_given_class_": "classes nodes",
        "word_given_topic_": "nodes words", "_class_given_doc?": "documents classes", "labels_?": "documents",
    }),
    "HPLC": Kind("topiarist.estimators.category.categorisers:HPLC", _CATEGORISER),
    "HPLSA": Kind("topiarist.estimators.tree.hplsa:HPLSA", {
        "seeds_?": "seeds pair",
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

# What attributes were called in files of earlier versions.
FORMER_NAMES = {"_word_given_class": "_class_word_table"}  # 0.1

# Values that estimators hold: frozen dataclasses, stored field by field.
VALUES = {
    "BatchRecord": Kind("topiarist.models.drift:BatchRecord"),
    "CAM.Stats": Kind("topiarist.models.cam:Stats"),
    "Calibration": Kind("topiarist.estimators.category.calibration:Calibration"),
    "Checkpoint": Kind("topiarist.hierarchy.growth.loop:Checkpoint"),
    "ClassWords": Kind("topiarist.estimators.category.class_words:ClassWords"),
    "ClassVectors": Kind("topiarist.estimators.category.class_vectors:ClassVectors"),
    "Curve": Kind("topiarist.estimators.tree.preparation:Curve"),
    "Features": Kind("topiarist.estimators.category.linear:Features"),
    "Frame": Kind("topiarist.estimators.gaussian.ggm:Frame"),
    "HPLSA.Stats": Kind("topiarist.models.hplsa:Stats"),
    "Lens": Kind("topiarist.models.fisher.scores:Lens", {
        "by_word": "words topics", "word_information?": "words topics", "mix?": "classes topics",
        "class_prior": "classes", "class_tokens?": "classes", "class_information?": "classes",
    }),
    "Linear": Kind("topiarist.estimators.category.linear:Linear"),
    "Misfits": Kind("topiarist.models.misfits:Misfits"),
    "OneLabel": Kind("topiarist.estimators.category.one_label:OneLabel"),
    "Parts": Kind("topiarist.hierarchy.growth.parts:Parts"),
    "PLSA.Stats": Kind("topiarist.models.plsa:Stats"),
    "Record": Kind("topiarist.hierarchy.growth.loop:Record"),
    "SeveralLabels": Kind("topiarist.estimators.category.several_labels:SeveralLabels"),
    "SeveralTrial": Kind("topiarist.estimators.category.several_labels:SeveralTrial"),
    "SettledSeveral": Kind("topiarist.estimators.category.several_labels:SettledSeveral"),
    "Settled": Kind("topiarist.estimators.category.one_label:Settled"),
    "Setting": Kind("topiarist.estimators.category.one_label:Setting"),
    "Trial": Kind("topiarist.estimators.category.one_label:Trial"),
    "Stage": Kind("topiarist.hierarchy.growth.loop:Stage"),
    "StoredRows": Kind("topiarist.hierarchy.growth.stored_rows:StoredRows"),
    "Stream": Kind("topiarist.models.online:Stream"),
    "Tree": Kind("topiarist.hierarchy.tree:Tree"),
    "Usual": Kind("topiarist.models.misfits:RecentScores"),
    "VectorSpace": Kind("topiarist.estimators.gaussian.vector_space:VectorSpace"),
    "Worth": Kind("topiarist.estimators.category.linear:Worth"),
}  # fmt: skip

_KINDS = {"model": ESTIMATORS, "value": VALUES}
_NAMES = {known.home: (kind, name) for kind, kinds in _KINDS.items() for name, known in kinds.items()}

# A tree model that is registered there needs no line here: its arrays are those of its ``tree_model_``.
_TREE_MODEL = {
    "tree_model_.class_nodes": "classes", "tree_model_.class_prior": "classes",
    "tree_model_.node_given_class": "classes nodes", "tree_model_.word_given_node": "nodes words",
}  # fmt: skip


def names() -> list[str]:
    """The names of all estimators in files."""
    return list(ESTIMATORS)


def name_of(thing: object) -> tuple[str, str] | None:
    """What a thing is, "model" or "value", and what files call its class; None for anything else."""
    home = f"{type(thing).__module__}:{type(thing).__qualname__}"
    if home in _NAMES:
        return _NAMES[home]
    return next((("model", one.class_name) for one in TREE_MODELS.values() if one.estimator == home), None)


def today(name: str) -> str:
    """What an attribute is called that a file of an earlier version may call otherwise."""
    return FORMER_NAMES.get(name, name)


def _kind(kind: str, name: str) -> Kind:
    if name in _KINDS[kind]:
        return _KINDS[kind][name]
    for one in TREE_MODELS.values():
        if kind == "model" and one.class_name == name:
            return Kind(one.estimator, _TREE_MODEL)
    raise ValueError(f"there is no {kind} of the class {name!r}")


def class_of(kind: str, name: str) -> Any:
    """The class that files call so; ValueError where there is none."""
    return _kind(kind, name).type


def check(kind: str, name: str, thing: object) -> None:
    """Raise ValueError where attributes of a model, or the fields of a value, do not fit each other."""
    shapes = _kind(kind, name).shapes
    lengths = _known_lengths(thing) if kind == "model" else {}
    if kind == "model" and "words" not in lengths and any("words" in axes for axes in shapes.values()):
        raise ValueError("there is no number n_features_in_")
    check_shapes(thing, shapes, lengths)


def check_shapes(thing: object, shapes: Mapping[str, str], lengths: dict[str, int]) -> None:
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


def _known_lengths(model: object) -> dict[str, int]:
    lengths = {"3": 3, "4": 4}
    if type(n_words := getattr(model, "n_features_in_", None)) is int:
        lengths["words"] = n_words
        if hasattr(model, "component_mean_") and getattr(model, "space_", None) is None:
            lengths["inner"] = n_words  # features as they are
    if (tree := getattr(model, "tree_", None)) is not None:
        lengths |= {"nodes": len(tree), "leaves": len(tree.leaves)}
    return lengths


def _attribute(model: object, name: str) -> Any:
    try:
        return attrgetter(name)(model)
    except AttributeError:
        return None


def _shape(value: object) -> tuple[int, ...] | None:
    if isinstance(value, np.ndarray) or issparse(value):
        return tuple(cast(Any, value).shape)
    return (len(value),) if isinstance(value, tuple) else None


def _fits(shape: tuple[int, ...], wanted: list[str], lengths: dict[str, int]) -> bool:
    here: dict[str, int] = {}
    return len(shape) == len(wanted) and all(
        lengths.get(axis, here.setdefault(axis, length)) == length for axis, length in zip(wanted, shape, strict=True)
    )
