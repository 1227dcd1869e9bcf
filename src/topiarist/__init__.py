"""Topiarist shapes document collections into topic trees.

Floor plan:

    app/         What a person sees. Only this room prints.
    collection/  A collection of documents with its tree: this is the door, and the rooms behind it are one for each
                 verb.
    counts/      Tokens to a Corpus: CSR counts, vocabulary, labels; pruning, weighting, LSI features, token-wise
                 splits.
    estimators/  Estimators with scikit-learn's contract: the public classes, by kind.
    hierarchy/   The tree as a value: building it, editing it, the words that describe its nodes, and showing it.
    kernels/     The arithmetic that every model shares, in several tellings of the same few verbs.
    measures/    How good is it, and how alike: figures with one definition each, and comparisons of trees.
    models/      Pure EM mathematics: one module a model, and the only EM loop.
    scale/       Where work runs: threads over pieces, executors over blocks, blocks in files. Knows addition, not
                 models.
    store/       What is kept on disk, as bytes: sealed folders, arrays, tables. Complete or not there, and checked when
                 read.
    text/        Documents to tokens: readers, tokeniser, stop lists. Knows no matrix.
    arrays       The vocabulary of arrays: what every annotation means by floats, integers, sparse counts or a seed.
    cards        Cards: what an object shows of itself in a notebook. Small, without a script, everything escaped.
    errors       Everything that can go wrong, in words a person can act on.
    metrics      How good is a topic model, a clustering, a tree? Figures with one documented definition each.
    old_paths    Import paths that version 0.1 documented: they work until 0.3, with a warning that says the new one.
    version      The version of this package, said once.

The public names are imported when they are first used, so that ``import topiarist`` costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from topiarist.old_paths import OldPaths
from topiarist.version import __version__

sys.meta_path.append(OldPaths())

if TYPE_CHECKING:
    import os

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
    from topiarist.collection.find.index import SearchIndex as SearchIndex
    from topiarist.collection.grow.recipe import Recipe as Recipe
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
    from topiarist.hierarchy.tree import Tree as Tree
    from topiarist.text.demo import demo_documents as demo_documents
    from topiarist.text.documents import Document as Document
    from topiarist.text.readers import read as read

    def report(  # said, not imported: what is below the app may name this package and never leads to the app
        collection: Collection | str | os.PathLike[str],
        path: str | os.PathLike[str],
        documents: str = "typical",
        language: str = "en",
    ) -> int:
        """See ``topiarist.app.explorer.report``."""


_HOMES = {
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
    "SearchIndex": "topiarist.collection.find.index",
    "Tree": "topiarist.hierarchy.tree",
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
    "report": "topiarist.app.explorer.report",
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
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'topiarist' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
