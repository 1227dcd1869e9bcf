"""Topic trees of document collections.

Public names are imported on first use, so that ``import topiarist`` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from topiarist.version import __version__

if TYPE_CHECKING:
    from topiarist import metrics as metrics
    from topiarist.collection.collection import Collection as Collection
    from topiarist.collection.describe.flat_topics import distinctive as distinctive
    from topiarist.collection.describe.flat_topics import find_topics as find_topics
    from topiarist.collection.describe.flat_topics import set_general_words_aside as set_general_words_aside
    from topiarist.collection.describe.plots import plot_compare as plot_compare
    from topiarist.collection.describe.plots import plot_curve as plot_curve
    from topiarist.collection.describe.plots import plot_time as plot_time
    from topiarist.collection.describe.plots import plot_tree as plot_tree
    from topiarist.collection.describe.topic_tree import describe_tree as describe_tree
    from topiarist.collection.describe.topic_tree import grow_tree as grow_tree
    from topiarist.collection.grow.recipe import Recipe as Recipe
    from topiarist.collection.search.index import SearchIndex as SearchIndex
    from topiarist.counts.corpus import Corpus as Corpus
    from topiarist.estimators.category.categorisers import HPLC as HPLC
    from topiarist.estimators.category.categorisers import PLC as PLC
    from topiarist.estimators.category.categorisers import HierarchicalMixture as HierarchicalMixture
    from topiarist.estimators.category.category_learner import CategoryLearner as CategoryLearner
    from topiarist.estimators.category.pmm import PMM as PMM
    from topiarist.estimators.flat.lsi import LSI as LSI
    from topiarist.estimators.flat.plsa import PLSA as PLSA
    from topiarist.estimators.gaussian.ggm import GGM as GGM
    from topiarist.estimators.gaussian.mixture_hierarchy import MixtureHierarchy as MixtureHierarchy
    from topiarist.estimators.model_folder import load_model as load_model
    from topiarist.estimators.model_folder import load_vocabulary as load_vocabulary
    from topiarist.estimators.model_folder import save_model as save_model
    from topiarist.estimators.similarity.fisher_kernel import FisherKernel as FisherKernel
    from topiarist.estimators.tree.cam import CAM as CAM
    from topiarist.estimators.tree.hplsa import HPLSA as HPLSA
    from topiarist.text.demo import demo_documents as demo_documents
    from topiarist.text.documents import Document as Document
    from topiarist.text.readers import read as read
    from topiarist.trees.tree import Tree as Tree
    from topiarist.web.report import report as report

_MODULES = {
    "CAM": "topiarist.estimators.tree.cam",
    "CategoryLearner": "topiarist.estimators.category.category_learner",
    "Collection": "topiarist.collection.collection",
    "Corpus": "topiarist.counts.corpus",
    "Document": "topiarist.text.documents",
    "FisherKernel": "topiarist.estimators.similarity.fisher_kernel",
    "GGM": "topiarist.estimators.gaussian.ggm",
    "HPLC": "topiarist.estimators.category.categorisers",
    "HPLSA": "topiarist.estimators.tree.hplsa",
    "HierarchicalMixture": "topiarist.estimators.category.categorisers",
    "LSI": "topiarist.estimators.flat.lsi",
    "MixtureHierarchy": "topiarist.estimators.gaussian.mixture_hierarchy",
    "PLC": "topiarist.estimators.category.categorisers",
    "PLSA": "topiarist.estimators.flat.plsa",
    "PMM": "topiarist.estimators.category.pmm",
    "Recipe": "topiarist.collection.grow.recipe",
    "SearchIndex": "topiarist.collection.search.index",
    "Tree": "topiarist.trees.tree",
    "demo_documents": "topiarist.text.demo",
    "describe_tree": "topiarist.collection.describe.topic_tree",
    "distinctive": "topiarist.collection.describe.flat_topics",
    "find_topics": "topiarist.collection.describe.flat_topics",
    "grow_tree": "topiarist.collection.describe.topic_tree",
    "load_model": "topiarist.estimators.model_folder",
    "load_vocabulary": "topiarist.estimators.model_folder",
    "plot_compare": "topiarist.collection.describe.plots",
    "plot_curve": "topiarist.collection.describe.plots",
    "plot_time": "topiarist.collection.describe.plots",
    "plot_tree": "topiarist.collection.describe.plots",
    "read": "topiarist.text.readers",
    "report": "topiarist.web.report",
    "save_model": "topiarist.estimators.model_folder",
    "set_general_words_aside": "topiarist.collection.describe.flat_topics",
}

__all__ = [
    "CAM",
    "GGM",
    "HPLC",
    "HPLSA",
    "LSI",
    "PLC",
    "PLSA",
    "PMM",
    "CategoryLearner",
    "Collection",
    "Corpus",
    "Document",
    "FisherKernel",
    "HierarchicalMixture",
    "MixtureHierarchy",
    "Recipe",
    "SearchIndex",
    "Tree",
    "__version__",
    "demo_documents",
    "describe_tree",
    "distinctive",
    "find_topics",
    "grow_tree",
    "load_model",
    "load_vocabulary",
    "metrics",
    "plot_compare",
    "plot_curve",
    "plot_time",
    "plot_tree",
    "read",
    "report",
    "save_model",
    "set_general_words_aside",
]


def __getattr__(name: str) -> Any:
    if name == "metrics":
        return import_module("topiarist.metrics")
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'topiarist' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
