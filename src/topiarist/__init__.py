"""Topic trees of document collections.

Public names are imported on first use, so that ``import topiarist`` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from topiarist.version import __version__ as __version__

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

_NAMES = {  # public names by module
    "collection.collection": "Collection",
    "collection.describe.flat_topics": "distinctive find_topics set_general_words_aside",
    "collection.describe.plots": "plot_compare plot_curve plot_time plot_tree",
    "collection.describe.topic_tree": "describe_tree grow_tree",
    "collection.grow.recipe": "Recipe",
    "collection.search.index": "SearchIndex",
    "counts.corpus": "Corpus",
    "estimators.category.categorisers": "HPLC PLC HierarchicalMixture",
    "estimators.category.category_learner": "CategoryLearner",
    "estimators.category.pmm": "PMM",
    "estimators.flat.lsi": "LSI",
    "estimators.flat.plsa": "PLSA",
    "estimators.gaussian.ggm": "GGM",
    "estimators.gaussian.mixture_hierarchy": "MixtureHierarchy",
    "estimators.model_folder": "load_model load_vocabulary save_model",
    "estimators.similarity.fisher_kernel": "FisherKernel",
    "estimators.tree.cam": "CAM",
    "estimators.tree.hplsa": "HPLSA",
    "text.demo": "demo_documents",
    "text.documents": "Document",
    "text.readers": "read",
    "trees.tree": "Tree",
    "web.report": "report",
}
_MODULES = {name: f"topiarist.{module}" for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(("__version__", "metrics", *_MODULES))


def __getattr__(name: str) -> Any:
    if name == "metrics":
        return import_module("topiarist.metrics")
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'topiarist' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
