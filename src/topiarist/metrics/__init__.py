"""Metrics of topic models, clusterings, trees and label predictions.

docs/reference/metrics.md has the exact definitions. ``perplexity``, ``npmi_coherence`` and ``topic_diversity`` take
any fitted model with ``transform`` and ``components_``, including the estimators of scikit-learn. ``gini`` and
``purity`` compare clusters with labels, ``dendrogram_purity`` and ``tree_f1`` compare a tree with labels, and
``example_f1`` compares predicted label sets. ``interpolated_precision`` evaluates a ranking. The public names are
imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topiarist.metrics.label_agreement import example_f1 as example_f1
    from topiarist.metrics.label_agreement import gini as gini
    from topiarist.metrics.label_agreement import interpolated_precision as interpolated_precision
    from topiarist.metrics.label_agreement import purity as purity
    from topiarist.metrics.topic_quality import name_exam as name_exam
    from topiarist.metrics.topic_quality import npmi_coherence as npmi_coherence
    from topiarist.metrics.topic_quality import parent_child_coherence as parent_child_coherence
    from topiarist.metrics.topic_quality import parent_child_diversity as parent_child_diversity
    from topiarist.metrics.topic_quality import perplexity as perplexity
    from topiarist.metrics.topic_quality import sibling_diversity as sibling_diversity
    from topiarist.metrics.topic_quality import topic_diversity as topic_diversity
    from topiarist.metrics.trees import BestNode as BestNode
    from topiarist.metrics.trees import best_nodes as best_nodes
    from topiarist.metrics.trees import dendrogram_purity as dendrogram_purity
    from topiarist.metrics.trees import tree_f1 as tree_f1
    from topiarist.trees.levels import calibration_error as calibration_error
    from topiarist.trees.levels import level_curve as level_curve

_MODULES = {
    "BestNode": "topiarist.metrics.trees",
    "best_nodes": "topiarist.metrics.trees",
    "calibration_error": "topiarist.trees.levels",
    "dendrogram_purity": "topiarist.metrics.trees",
    "example_f1": "topiarist.metrics.label_agreement",
    "gini": "topiarist.metrics.label_agreement",
    "interpolated_precision": "topiarist.metrics.label_agreement",
    "level_curve": "topiarist.trees.levels",
    "name_exam": "topiarist.metrics.topic_quality",
    "npmi_coherence": "topiarist.metrics.topic_quality",
    "parent_child_coherence": "topiarist.metrics.topic_quality",
    "parent_child_diversity": "topiarist.metrics.topic_quality",
    "perplexity": "topiarist.metrics.topic_quality",
    "purity": "topiarist.metrics.label_agreement",
    "sibling_diversity": "topiarist.metrics.topic_quality",
    "topic_diversity": "topiarist.metrics.topic_quality",
    "tree_f1": "topiarist.metrics.trees",
}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
