"""Registry of the models that can grow a topic tree.

``Recipe``, the command line, growing and the model page read it. Estimators are loaded when they are needed, so that
importing this module is cheap.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

GROWTHS = ("guided", "annealed")


@dataclass(frozen=True, kw_only=True)
class TreeModelKind:
    """Model that can grow a topic tree, with its capabilities.

    The first parameter of the estimator is the number of leaves, and None lets it choose. It also takes
    ``random_state``, ``n_threads`` and ``verbose``. A fitted one has ``tree_model_`` and ``transform``.
    """

    estimator: str  # module:class
    description: str  # in a sentence for people
    devices: tuple[str, ...] = ("cpu",)  # where it can be fitted; one that can choose takes ``device``
    growths: tuple[str, ...] = ("guided",)  # how it can be grown; a kind with several ways takes ``growth``
    topic_mixes: tuple[str, ...] = ()  # how levels of a topic can be mixed; a kind with any takes ``topic_mix``
    online: bool = False  # whether it learns from batches: ``partial_fit``, ``learn_more``
    headings: bool = False  # whether its upper tree may be built anew: it takes ``headings``
    resumes: bool = False  # whether ``fit`` takes a ``journal`` of checkpoints
    accepts_word_lists: bool = False  # whether users can choose its words: ``seed_words``, ``ignore_words``
    blocks: bool = False  # whether it grows from a ``BlockStore``: it takes ``executor``
    accepts_vectors: bool = False  # whether ``fit`` and ``transform`` take ``vectors`` beside words
    mixes_classes: bool = False  # whether a document mixes classes; else it has one

    @property
    def class_name(self) -> str:
        return self.estimator.partition(":")[2]

    def load(self) -> Any:
        module, _, name = self.estimator.partition(":")
        return getattr(import_module(module), name)


TREE_MODELS = {
    "cam": TreeModelKind(
        estimator="topiarist.estimators.tree.cam:CAM", description="a cluster-abstraction model",
        devices=("cpu", "cuda"), growths=GROWTHS, online=True, headings=True, resumes=True, blocks=True,
        accepts_word_lists=True, accepts_vectors=True,
    ),
    "hplsa": TreeModelKind(
        estimator="topiarist.estimators.tree.hplsa:HPLSA", description="a hierarchical probabilistic semantic model",
        devices=("cpu", "cuda"), growths=GROWTHS, topic_mixes=("ml", "uniform", "heldout"), online=True, headings=True,
        resumes=True, accepts_word_lists=True, blocks=True, mixes_classes=True,
    ),
    "ggm": TreeModelKind(
        estimator="topiarist.estimators.gaussian.gaussian_tree:GaussianTree",
        description="a mixture of Gaussians with its hierarchy", headings=True,
    ),
}  # fmt: skip

# What a tree is fitted with that people have shaped, or that was given with its labels: see ``estimators.tree.refit``.
REFITTED_DESCRIPTIONS = {
    "HierarchicalMixture": "a hierarchical mixture",
    "HPLC": "a hierarchical probabilistic categoriser",
}


def describe_model(model: object) -> str | None:
    """Return the description of the kind of a fitted model; None for an unknown kind."""
    known = {kind.class_name: kind.description for kind in TREE_MODELS.values()}
    return (known | REFITTED_DESCRIPTIONS).get(type(model).__name__)


def join_names(names: Iterable[str] | None = None, last: str = "or") -> str:
    """Return the names of some models, all by default, as a phrase: cam, hplsa or ggm."""
    *first, last_name = list(TREE_MODELS if names is None else names)
    return f"{', '.join(first)} {last} {last_name}" if first else last_name


def list_online_models() -> list[str]:
    return [name for name, kind in TREE_MODELS.items() if kind.online]
