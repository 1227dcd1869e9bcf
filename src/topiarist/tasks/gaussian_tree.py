"""A tree of documents by Gaussian mixtures: latent space, mixture, its hierarchy, and the words of every node."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from topiarist.counts.validation import check_counts
from topiarist.hierarchy.tree import Tree
from topiarist.models import em
from topiarist.models.engine import Floats
from topiarist.tasks import options
from topiarist.tasks.categorising import Plan
from topiarist.tasks.crowns import sparse_shares
from topiarist.tasks.filing import FilesDocuments
from topiarist.tasks.ggm import GGM
from topiarist.tasks.lsi import LSI
from topiarist.tasks.mixture_hierarchy import MixtureHierarchy
from topiarist.tasks.progress import prepare_kernels
from topiarist.tasks.refitting import paths_from_shares

SMOOTHING = 0.01
LENGTH = 35.0  # a longer document weighs as if it had so many tokens, as in the other models


class GaussianTree(FilesDocuments, BaseEstimator):  # type: ignore[misc]
    """Counts to a tree: ``LSI``, ``GGM`` without labels, ``MixtureHierarchy``, and topics along its paths.

    Parameters
    ----------
    n_components : int or None, default None
        Leaves. None: chosen by AIC.
    n_dimensions : int, default 20
        Dimensions of the latent space.
    max_components : int, default 40
        Leaves at most when they are chosen.
    measure : str, default "modified_l2"
        As that of ``MixtureHierarchy``.
    random_state, device, n_threads, executor, verbose
        As those of ``CAM``.

    Attributes
    ----------
    tree_ : Tree
        The merges as a tree; component *k* is its node *k*.
    class_nodes_ : tuple
        The node of each component.
    class_prior_, topic_given_class_, word_given_topic_
        P(component), P(node | component), P(word | node), as those of ``HPLC``.
    lsi_, ggm_, hierarchy_
        The fitted steps.
    """

    _on_host = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_dimensions: int = 20,
        max_components: int = 40,
        measure: str = "modified_l2",
        random_state: Any = None,
        device: str = "cpu",
        n_threads: int | None = None,
        executor: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_dimensions = n_dimensions
        self.max_components = max_components
        self.measure = measure
        self.random_state = random_state
        self.device = device
        self.n_threads = n_threads
        self.executor = executor
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> GaussianTree:
        """Fit all steps to counts (documents × words); ``y`` is ignored."""
        counts = check_counts(X)
        validate_data(self, X, reset=True, skip_check_array=True)
        seed = int(options.generator(self.random_state).integers(2**31))
        self.lsi_ = LSI(min(self.n_dimensions, min(counts.shape)), random_state=seed)
        points = self.lsi_.fit_transform(counts)
        self.ggm_ = GGM(
            self.n_components, max_components=min(self.max_components, max(1, len(points) // 10)),
            random_state=seed, n_threads=self.n_threads, verbose=self.verbose,
        ).fit(points)  # fmt: skip
        self.hierarchy_ = MixtureHierarchy(self.measure, random_state=seed).fit(self.ggm_)
        self.tree_ = Tree(self.hierarchy_.tree_.parents)  # its names are numbers: words will say more
        self.class_nodes_ = tuple(range(len(self.hierarchy_.components_)))
        self.class_prior_ = np.asarray(self.hierarchy_.weight_)
        self._learn_words(counts, self._posterior(points), seed)
        return self

    def _learn_words(self, counts: Any, rows: Floats, seed: int) -> None:
        dtype = options.working_dtype(None, counts, len(self.class_nodes_))
        prepare_kernels(dtype, "paths", "classes")
        plan = Plan(
            self.tree_, self.class_nodes_, False, False, "heldout", SMOOTHING, LENGTH, 1.0, 1.0, em.Rules(), dtype, seed
        )
        with options.running(self) as engine, threadpool_limits(limits=1, user_api="blas"):
            shared = paths_from_shares(engine, counts, sparse_shares(rows), plan)
        self.word_given_topic_, self.topic_given_class_ = shared.word_given_topic, shared.topic_given_class

    def transform(self, X: Any) -> Floats:
        """P(component | document), each document by itself."""
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self._posterior(self.lsi_.transform(check_counts(X)))

    def _posterior(self, points: Floats) -> Floats:
        return self.hierarchy_._posterior(points)
