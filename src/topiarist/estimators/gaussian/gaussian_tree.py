"""A tree of documents by Gaussian mixtures: latent space, mixture, its hierarchy, and the words of every node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from topiarist.arrays import ArrayLike, Csr, Floats, Matrix, Seed
from topiarist.counts.validation import check_counts
from topiarist.estimators.category.class_learning import Plan
from topiarist.estimators.common import options
from topiarist.estimators.common.display import ShownEstimator
from topiarist.estimators.common.stored_counts import ReadsCounts
from topiarist.estimators.flat.lsi import LSI
from topiarist.estimators.gaussian.ggm import GGM
from topiarist.estimators.gaussian.mixture_hierarchy import MixtureHierarchy
from topiarist.estimators.tree.fitted_tree import sparse_shares
from topiarist.estimators.tree.posteriors import FilesDocuments
from topiarist.estimators.tree.refit import paths_from_shares
from topiarist.hierarchy.growth.merges import Merges, multiway
from topiarist.hierarchy.growth.parts import Parts, collapse_negligible
from topiarist.hierarchy.tree import Tree
from topiarist.models import em
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.gaussian.overlaps import MEASURES
from topiarist.scale.executors import Executor

SMOOTHING = 0.01
SAMPLE = 5000  # documents that the number of components is chosen by
SIZES = (1, 2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 48, 64, 96, 128, 192, 256)
DOCUMENTS_EACH = 10  # at least, on average, of a component
PATIENCE = 2  # sizes worse than the best, one after the other, that end the search
N_STARTS = 2  # one at clusters, one as the paper has it
LENGTH = 35.0  # a longer document weighs as if it had so many tokens, as in the other models


@options.common_options(random_state=options.seed_of("all steps"), device='The processor: "cpu".')
class GaussianTree(ReadsCounts, FilesDocuments, TransformerMixin, ShownEstimator):  # type: ignore[misc]
    """Counts to a tree: ``LSI``, ``GGM`` without labels, ``MixtureHierarchy``, and topics along its paths.

    Parameters
    ----------
    n_components : int or None, default None
        Leaves. None: by AIC, of mixtures of several sizes fitted to a sample of 5,000 documents.
    n_dimensions : int, default 20
        Dimensions of the latent space.
    max_components : int, default 40
        Leaves at most when they are chosen.
    measure : str, default "kl"
        As that of ``MixtureHierarchy``. The divergence of what was merged makes bushes, the others rather chains.
    headings : bool, default True
        Let each node take in the dearest merges below it, so that it has 3 to 8 children unless the mixture insists on
        two, as the other trees have headings. False keeps two by two what is not negligible.
    negligible : float, default 0.1
        Without headings, inner nodes that explain less of the words below them are removed, so a node may have more
        than two children; 0 keeps every merge.

    Attributes
    ----------
    tree_ : Tree
        The merges as a tree, with headings or without negligible merges.
    class_nodes_ : tuple
        The node of each component, a leaf.
    class_prior_, topic_given_class_, word_given_topic_
        P(component), P(node | component), P(word | node), as those of ``HPLC``.
    labels_ : array (n_documents,)
        The most probable component of each document.
    aic_curve_ : dict
        The criterion by number of components where it was chosen: AIC as it would be with all documents.
    lsi_, ggm_, hierarchy_
        The fitted steps; ``hierarchy_.tree_`` has every merge.
    """

    _on_host = True
    _rows_of_documents = "_class_given_doc"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_dimensions: int = 20,
        max_components: int = 40,
        measure: str = "kl",
        headings: bool = True,
        negligible: float = 0.1,
        random_state: Seed = None,
        device: str = "cpu",
        n_threads: int | None = None,
        executor: Executor | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_dimensions = n_dimensions
        self.max_components = max_components
        self.measure = measure
        self.headings = headings
        self.negligible = negligible
        self.random_state = random_state
        self.device = device
        self.n_threads = n_threads
        self.executor = executor
        self.verbose = verbose

    def fit(self, X: Matrix, y: ArrayLike | None = None) -> GaussianTree:
        """Fit all steps to counts (documents × words); ``y`` is ignored."""
        self._check_options()
        counts = check_counts(X)
        validate_data(self, X, reset=True, skip_check_array=True)
        seed = int(options.generator(self.random_state).integers(2**31))
        most = min(counts.shape)
        self.lsi_ = LSI(min(self.n_dimensions, most), unit_length=most > 1, random_state=seed)
        points = self.lsi_.fit_transform(counts)
        curve: dict[int, float] = {}
        number = self.n_components
        if number is None:
            number, curve = self._chosen(points, seed)
        self.aic_curve_ = curve
        self.ggm_ = GGM(
            number, n_init=N_STARTS, random_state=seed, n_threads=self.n_threads, executor=self.executor,
            verbose=self.verbose,
        ).fit(points)  # fmt: skip
        self.hierarchy_ = MixtureHierarchy(self.measure, random_state=seed).fit(self.ggm_)
        self.class_prior_ = np.asarray(self.hierarchy_.weight_)
        rows = self._posterior(points)
        self._learn_words(counts, rows, seed)
        self._class_given_doc, self.labels_ = rows, rows.argmax(axis=1)
        return self

    def _chosen(self, points: Floats, seed: int) -> tuple[int, dict[int, float]]:
        """The number of components of the lowest AIC: first in long steps, then between the best and its neighbours."""
        n_docs = len(points)
        if n_docs > SAMPLE:
            points = points[np.sort(np.random.default_rng(seed).permutation(n_docs)[:SAMPLE])]
        most = max(1, min(self.max_components, n_docs // DOCUMENTS_EACH))
        ranks: dict[int, tuple[bool, float]] = {}

        def tried(sizes: Sequence[int]) -> int:
            worse = 0
            for size in sizes:
                model = GGM(size, n_init=1, max_iter=50, random_state=seed, n_threads=self.n_threads).fit(points)
                ranks[size] = (model.degenerate_, _as_with_all(model, n_docs / len(points)))
                worse = 0 if ranks[size] == min(ranks.values()) else worse + 1
                if worse == PATIENCE:
                    break
            return min(ranks, key=lambda size: (ranks[size], size))

        best = tried(sorted({*(size for size in SIZES if size <= most), most}))
        known = sorted(ranks)
        place = known.index(best)
        around = (known[max(0, place - 1)], best, known[min(place + 1, len(known) - 1)])
        between = {(around[0] + best) // 2, (best + around[2] + 1) // 2} - ranks.keys()
        best = tried(sorted(between)) if between else best
        return best, {size: ranks[size][1] for size in sorted(ranks)}

    def _learn_words(self, counts: Csr, rows: Floats, seed: int) -> None:
        """The words of nodes and the nodes of paths; what hardly says anything is removed, the rest learned anew."""
        shares = sparse_shares(rows)
        dtype = options.working_dtype(None, counts, rows.shape[1])
        prepare_kernels(dtype, "paths", "classes")
        self.tree_, self.class_nodes_ = self._upper_tree(), tuple(range(rows.shape[1]))
        with options.running(self) as engine, threadpool_limits(limits=1, user_api="blas"):
            while True:
                plan = Plan(
                    self.tree_, self.class_nodes_, False, False, "heldout", SMOOTHING, LENGTH, 1.0, 1.0, em.Rules(),
                    dtype, seed,
                )  # fmt: skip
                shared = paths_from_shares(engine, counts, shares, plan)
                parts = Parts(self.tree_, self.class_nodes_, shared.word_given_topic, shared.topic_given_class, rows)
                fewer = parts if self.headings else collapse_negligible(parts, self.negligible)
                if len(fewer.tree) == len(self.tree_):
                    break
                self.tree_, self.class_nodes_ = fewer.tree, fewer.class_nodes
        self.tree_ = Tree(self.tree_.parents)  # names of merges are numbers: words will say more
        self.word_given_topic_, self.topic_given_class_ = shared.word_given_topic, shared.topic_given_class

    def _upper_tree(self) -> Tree:
        """The merges of the mixture as they are, or as headings.

        What a merge costs is its measure for each document that it concerns: times w₁w₂ / (w₁ + w₂), the weights of
        the two clusters.
        """
        linkage, weight = self.hierarchy_.linkage_, self.hierarchy_.weight_.tolist()
        if not self.headings or not len(linkage):
            return self.hierarchy_.tree_
        pairs, costs = list[tuple[int, int]](), list[float]()
        for one, other, measure, _ in linkage.tolist():
            first, second = weight[int(one)], weight[int(other)]
            pairs.append((int(one), int(other)))
            costs.append(measure * first * second / max(first + second, 1e-300))
            weight.append(first + second)
        return multiway(Merges(tuple(pairs), tuple(costs)))

    def _check_options(self) -> None:
        options.check_one_of("headings", self.headings, (True, False))
        if self.n_components is not None:
            options.check_integer("n_components", self.n_components, 1, hint="None to have it chosen")
        options.check_integer("n_dimensions", self.n_dimensions, 2, hint="20")
        options.check_integer("max_components", self.max_components, 1, hint="40")
        options.check_one_of("measure", self.measure, MEASURES)
        options.check_number("negligible", self.negligible, 0.0, 1.0, hint="0.1, or 0 to keep every merge")
        options.check_one_of("device", self.device, ("cpu",))
        options.check_common(self)

    def transform(self, X: Matrix) -> Floats:
        """P(component | document), each document by itself."""
        check_is_fitted(self)
        counts = check_counts(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self._posterior(self.lsi_.transform(counts))

    def predict(self, X: Matrix) -> Any:
        """The most probable component of each document."""
        return self.transform(X).argmax(axis=1)

    def _posterior(self, points: Floats) -> Floats:
        return self.hierarchy_._posterior(points)


def _as_with_all(model: GGM, times: float) -> float:
    """AIC as it would be with so many times the documents.

    The log-likelihood of what was fitted flatters by half a unit for each parameter, in any number of documents:
    without that it grows with their number.
    """
    n_parameters = float(model.aic_ + model.history_[-1])
    return float(times * (n_parameters / 2 - model.history_[-1]) + n_parameters / 2)
