"""Topiarist shapes document collections into topic trees.

The public names are imported when they are first used, so that ``import topiarist`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    import os

    from topiarist import metrics as metrics
    from topiarist.counts.corpus import Corpus as Corpus
    from topiarist.files.collection import Collection as Collection
    from topiarist.hierarchy.tree import Tree as Tree
    from topiarist.tasks.cam import CAM as CAM
    from topiarist.tasks.categorisers import HPLC as HPLC
    from topiarist.tasks.categorisers import PLC as PLC
    from topiarist.tasks.categorisers import HierarchicalMixture as HierarchicalMixture
    from topiarist.tasks.fisher import FisherKernel as FisherKernel
    from topiarist.tasks.ggm import GGM as GGM
    from topiarist.tasks.hplsa import HPLSA as HPLSA
    from topiarist.tasks.lsi import LSI as LSI
    from topiarist.tasks.mixture_hierarchy import MixtureHierarchy as MixtureHierarchy
    from topiarist.tasks.plsa import PLSA as PLSA
    from topiarist.tasks.pmm import PMM as PMM

    def report(  # said, not imported: what is below the app may name this package and never leads to the app
        collection: Collection | str | os.PathLike[str], path: str | os.PathLike[str], documents: str = "typical"
    ) -> int:
        """See ``topiarist.app.explorer.report``."""


_HOMES = {
    "CAM": "topiarist.tasks.cam",
    "Collection": "topiarist.files.collection",
    "Corpus": "topiarist.counts.corpus",
    "FisherKernel": "topiarist.tasks.fisher",
    "GGM": "topiarist.tasks.ggm",
    "HPLC": "topiarist.tasks.categorisers",
    "HPLSA": "topiarist.tasks.hplsa",
    "HierarchicalMixture": "topiarist.tasks.categorisers",
    "LSI": "topiarist.tasks.lsi",
    "MixtureHierarchy": "topiarist.tasks.mixture_hierarchy",
    "PLC": "topiarist.tasks.categorisers",
    "PLSA": "topiarist.tasks.plsa",
    "PMM": "topiarist.tasks.pmm",
    "Tree": "topiarist.hierarchy.tree",
    "report": "topiarist.app.explorer.report",
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
    "Collection",
    "Corpus",
    "FisherKernel",
    "HierarchicalMixture",
    "MixtureHierarchy",
    "Tree",
    "__version__",
    "metrics",
    "report",
]


def __getattr__(name: str) -> Any:
    if name == "metrics":
        return import_module("topiarist.metrics")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'topiarist' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
