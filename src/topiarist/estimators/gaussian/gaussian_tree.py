"""Topic tree from a Gaussian mixture: latent space, mixture, its hierarchy, and the words of every node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from topiarist.arrays import TINY, ArrayLike, Csr, Floats, Matrix
from topiarist.estimators.category.class_learning import Plan
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.base import EstimatorOptions
from topiarist.estimators.common.stored_counts import ReadsCounts
from topiarist.estimators.flat.lsi import LSI
from topiarist.estimators.gaussian.ggm import GGM
from topiarist.estimators.gaussian.mixture_hierarchy import MixtureHierarchy
from topiarist.estimators.tree.fitted_tree import make_sparse_shares
from topiarist.estimators.tree.posteriors import FilesDocuments
from topiarist.estimators.tree.refit import learn_paths
from topiarist.models import em
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.gaussian.overlaps import MEASURES
from topiarist.trees.growth.merges import Merges, build_multiway_tree
from topiarist.trees.growth.parts import GrowthState, collapse_negligible
from topiarist.trees.tree import Tree

WORD_SMOOTHING = 0.01
SELECTION_DOCUMENTS = 5000  # documents that the number of components is chosen by
SIZES = (1, 2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 48, 64, 96, 128, 192, 256)
MIN_DOCUMENTS_EACH = 10  # at least, on average, of a component
PATIENCE = 2  # sizes worse than the best, one after the other, that end the search
N_STARTS = 2  # one at clusters, one as the paper has it
EFFECTIVE_LENGTH = 35.0  # a longer document weighs as if it had so many tokens, as in the other models


@options.estimator(random_state=options.describe_seed("all steps"), device='Only "cpu".', X=options.COUNTS_IN_MEMORY)
class GaussianTree(ReadsCounts, FilesDocuments, TransformerMixin, EstimatorOptions):  # type: ignore[misc]
    """Topic tree of counts from ``LSI``, ``GGM`` without labels and ``MixtureHierarchy``.

    Parameters
    ----------
    n_components : int or None, default None
        Number of leaves. None: chosen by AIC, with mixtures fitted to a sample of 5,000 documents.
    n_dimensions : int, default 20
        Dimensions of the latent space.
    max_components : int, default 40
        Maximum number of leaves if the number is chosen.
    measure : str, default "kl"
        Measure of ``MixtureHierarchy``. "kl" leads to flat trees, the other measures to deep ones.
    headings : bool, default True
        Build headings with 3 to 8 children from the merges of the mixture. A node keeps two children if its own merge
        costs much more than those below it. False keeps the binary merges, without the negligible ones.
    negligible : float, default 0.1
        Without headings, remove inner nodes that explain less than this share of the words below them. 0 keeps all.

    Attributes
    ----------
    tree_ : Tree
        Merges of the mixture as a tree, with headings or without negligible merges.
    class_nodes_ : tuple
        Node of each component, a leaf.
    class_prior_, topic_given_class_, word_given_topic_
        P(component), P(node | component) and P(word | node), as in ``HPLC``.
    labels_ : array (n_documents,)
        Most probable component of each document.
    aic_curve_ : dict
        AIC by number of components, extrapolated to all documents. Empty if the number is given.
    lsi_, ggm_, hierarchy_
        Fitted steps. ``hierarchy_.tree_`` has every merge.
    """

    n_components: int | None = None
    _: KW_ONLY
    n_dimensions: int = 20
    max_components: int = 40
    measure: str = "kl"
    headings: bool = True
    negligible: float = 0.1

    _on_host = True
    _rows_of_documents = "_class_given_doc"

    def fit(self, X: Matrix, y: ArrayLike | None = None) -> GaussianTree:
        """Fit all steps to counts (documents × words); ``y`` is ignored."""
        self._check_options()
        counts = stored_counts.check_counts_in_memory(self, X, "GaussianTree", reset=True)
        seed = int(options.make_generator(self.random_state).integers(2**31))
        max_dimensions = min(counts.shape)
        self.lsi_ = LSI(min(self.n_dimensions, max_dimensions), unit_length=max_dimensions > 1, random_state=seed)
        points = self.lsi_.fit_transform(counts)
        curve: dict[int, float] = {}
        number = self.n_components
        if number is None:
            number, curve = self._choose_n_components(points, seed)
        self.aic_curve_ = curve
        self.ggm_ = GGM(
            number, n_init=N_STARTS, random_state=seed, n_threads=self.n_threads, executor=self.executor,
            verbose=self.verbose,
        ).fit(points)  # fmt: skip
        self.hierarchy_ = MixtureHierarchy(self.measure, random_state=seed).fit(self.ggm_)
        self.class_prior_ = np.asarray(self.hierarchy_.weight_)
        posterior = self._compute_posterior(points)
        self._learn_words(counts, posterior, seed)
        self._class_given_doc, self.labels_ = posterior, posterior.argmax(axis=1)
        return self

    def _choose_n_components(self, points: Floats, seed: int) -> tuple[int, dict[int, float]]:
        """Return the number of components with the lowest AIC, searched in long steps and then around the best."""
        n_docs = len(points)
        if n_docs > SELECTION_DOCUMENTS:
            points = points[np.sort(np.random.default_rng(seed).permutation(n_docs)[:SELECTION_DOCUMENTS])]
        max_size = max(1, min(self.max_components, n_docs // MIN_DOCUMENTS_EACH))
        ranks: dict[int, tuple[bool, float]] = {}

        def try_sizes(sizes: Sequence[int]) -> int:
            """Fit mixtures of these sizes until the AIC is worse ``PATIENCE`` times; return the best."""
            worse = 0
            for size in sizes:
                model = GGM(size, n_init=1, max_iter=50, random_state=seed, n_threads=self.n_threads).fit(points)
                ranks[size] = (model.degenerate_, _extrapolate_aic(model, n_docs / len(points)))
                worse = 0 if ranks[size] == min(ranks.values()) else worse + 1
                if worse == PATIENCE:
                    break
            return min(ranks, key=lambda size: (ranks[size], size))

        best = try_sizes(sorted({*(size for size in SIZES if size <= max_size), max_size}))
        tried_sizes = sorted(ranks)
        place = tried_sizes.index(best)
        neighbours = (tried_sizes[max(0, place - 1)], best, tried_sizes[min(place + 1, len(tried_sizes) - 1)])
        new_sizes = {(neighbours[0] + best) // 2, (best + neighbours[2] + 1) // 2} - ranks.keys()
        best = try_sizes(sorted(new_sizes)) if new_sizes else best
        return best, {size: ranks[size][1] for size in sorted(ranks)}

    def _learn_words(self, counts: Csr, posterior: Floats, seed: int) -> None:
        """Learn the words of nodes and the nodes of paths; remove negligible nodes and learn again."""
        shares = make_sparse_shares(posterior)
        dtype = options.working_dtype(None, counts, posterior.shape[1])
        prepare_kernels(dtype, "paths", "classes")
        self.tree_, self.class_nodes_ = self._build_upper_tree(), tuple(range(posterior.shape[1]))
        with options.open_engine(self) as engine, threadpool_limits(limits=1, user_api="blas"):
            while True:
                plan = Plan(
                    self.tree_, self.class_nodes_, False, False, "heldout", WORD_SMOOTHING, EFFECTIVE_LENGTH, 1.0, 1.0,
                    em.Rules(), dtype, seed,
                )  # fmt: skip
                shared = learn_paths(engine, counts, shares, plan)
                parts = GrowthState(
                    self.tree_, self.class_nodes_, shared.word_given_topic, shared.topic_given_class, posterior
                )
                collapsed = parts if self.headings else collapse_negligible(parts, self.negligible)
                if len(collapsed.tree) == len(self.tree_):
                    break
                self.tree_, self.class_nodes_ = collapsed.tree, collapsed.class_nodes
        self.tree_ = Tree(self.tree_.parents)  # names of merges are numbers: words will say more
        self.word_given_topic_, self.topic_given_class_ = shared.word_given_topic, shared.topic_given_class

    def _build_upper_tree(self) -> Tree:
        """Return the merges of the mixture unchanged, or as headings.

        The cost of a merge is its measure times w₁w₂ / (w₁ + w₂), with the weights of the two clusters.
        """
        linkage, weight = self.hierarchy_.linkage_, self.hierarchy_.weight_.tolist()
        if not self.headings or not len(linkage):
            return self.hierarchy_.tree_
        pairs, costs = list[tuple[int, int]](), list[float]()
        for first_cluster, second_cluster, measure, _ in linkage.tolist():
            first_weight, second_weight = weight[int(first_cluster)], weight[int(second_cluster)]
            pairs.append((int(first_cluster), int(second_cluster)))
            costs.append(measure * first_weight * second_weight / max(first_weight + second_weight, TINY))
            weight.append(first_weight + second_weight)
        return build_multiway_tree(Merges(tuple(pairs), tuple(costs)))

    def _check_options(self) -> None:
        """Raise UsageError for a parameter outside its range."""
        options.check_one_of("headings", self.headings, (True, False))
        if self.n_components is not None:
            options.check_integer("n_components", self.n_components, 1, hint="Use None to have it chosen.")
        options.check_integer("n_dimensions", self.n_dimensions, 2, hint="Use 20.")
        options.check_integer("max_components", self.max_components, 1, hint="Use 40.")
        options.check_one_of("measure", self.measure, MEASURES)
        options.check_number("negligible", self.negligible, 0.0, 1.0, hint="Use 0.1, or 0 to keep every merge.")
        options.check_one_of("device", self.device, ("cpu",))
        options.check_common(self)

    def transform(self, X: Matrix) -> Floats:
        """Return P(component | document); documents do not influence each other."""
        check_is_fitted(self)
        counts = stored_counts.check_counts_in_memory(self, X, "GaussianTree", reset=False)
        return self._compute_posterior(self.lsi_.transform(counts))

    def predict(self, X: Matrix) -> Any:
        """Return the most probable component of each document."""
        return self.transform(X).argmax(axis=1)

    def _compute_posterior(self, points: Floats) -> Floats:
        return self.hierarchy_._compute_posterior(points)


def _extrapolate_aic(model: GGM, times: float) -> float:
    """Return the AIC for a multiple of the documents.

    The log-likelihood of fitted data is too high by half a unit for each parameter, in any number of documents. Without
    this excess it grows with the number of documents.
    """
    n_parameters = float(model.aic_ + model.history_[-1])
    return float(times * (n_parameters / 2 - model.history_[-1]) + n_parameters / 2)
