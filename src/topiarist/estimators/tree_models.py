"""The kinds of trees that a collection can be grown with: one line each, read by everybody who offers or grows them.

``Recipe``, the command line, growing, storing and the explorer's page about the model all ask here. Estimators are
named by their place and loaded when they are needed: this module is light.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, kw_only=True)
class TreeModelKind:
    """A kind of tree.

    The estimator's first parameter is the number of leaves (None: it chooses), and it takes ``random_state``,
    ``n_threads`` and ``verbose``. It has ``tree_model_`` when it is fitted, and ``transform``.
    """

    estimator: str  # module:class
    called: str  # in a sentence for people
    devices: tuple[str, ...] = ("cpu",)  # where it can be fitted; one that can choose takes ``device``
    online: bool = False  # whether it learns from batches: ``partial_fit``, ``learn_more``
    headings: bool = False  # whether its upper tree may be built anew: it takes ``headings``
    resumes: bool = False  # whether ``fit`` takes a ``journal`` of checkpoints
    chooses: bool = False  # whether people may choose its words: it takes ``seed_words`` and ``ignore_words``
    blocks: bool = False  # whether it grows from a ``BlockStore``: it takes ``executor``
    joins: bool = False  # whether ``fit`` and ``transform`` take ``vectors`` beside words
    mixes: bool = False  # whether a document mixes classes; else it has one

    @property
    def class_name(self) -> str:
        """The name of the estimator's class."""
        return self.estimator.partition(":")[2]

    def load(self) -> Any:
        """The class of the estimator."""
        module, _, name = self.estimator.partition(":")
        return getattr(import_module(module), name)


TREE_MODELS = {
    "cam": TreeModelKind(
        estimator="topiarist.estimators.tree.cam:CAM", called="a cluster-abstraction model",
        devices=("cpu", "cuda"), online=True, headings=True, resumes=True, chooses=True, blocks=True, joins=True,
    ),
    "hplsa": TreeModelKind(
        estimator="topiarist.estimators.tree.hplsa:HPLSA", called="a hierarchical probabilistic semantic model",
        devices=("cpu", "cuda"), online=True, headings=True, resumes=True, chooses=True, blocks=True,
        mixes=True,
    ),
    "ggm": TreeModelKind(
        estimator="topiarist.estimators.gaussian.gaussian_tree:GaussianTree",
        called="a mixture of Gaussians with its hierarchy", headings=True,
    ),
}  # fmt: skip

# What a tree is fitted with that people have shaped, or that was given with its labels: see ``estimators.tree.refit``.
REFITTED = {
    "HierarchicalMixture": "a hierarchical mixture",
    "HPLC": "a hierarchical probabilistic categoriser",
}


def called(model: object) -> str | None:
    """What people call the kind of a fitted model; None for one that is not known."""
    known = {kind.class_name: kind.called for kind in TREE_MODELS.values()}
    return (known | REFITTED).get(type(model).__name__)


def listed(names: Iterable[str] | None = None, last: str = "or") -> str:
    """The names of some kinds of trees, all by default, in a sentence: cam, hplsa or ggm."""
    *first, end = list(TREE_MODELS if names is None else names)
    return f"{', '.join(first)} {last} {end}" if first else end


def online_models() -> list[str]:
    """The kinds that learn from batches."""
    return [name for name, kind in TREE_MODELS.items() if kind.online]
