"""The cluster-abstraction model as a scikit-learn estimator: a tree of topics from unlabelled documents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from topiarist.counts.validation import check_counts
from topiarist.hierarchy import growth as growing
from topiarist.hierarchy.annealed import Annealed, cam_schedule
from topiarist.hierarchy.critical import critical_temperature
from topiarist.hierarchy.guided import Guided
from topiarist.hierarchy.parts import Parts
from topiarist.hierarchy.placing import placed
from topiarist.hierarchy.species import CamSpecies, Steps, flattened
from topiarist.kernels.shard import Shard, Side
from topiarist.metrics import completion_perplexity, known_counts
from topiarist.models import cam, em
from topiarist.models.engine import Engine, Floats
from topiarist.tasks import options, trees
from topiarist.tasks.progress import growing_tree, prepare_kernels
from topiarist.tasks.reading import ReadsDocuments

LENGTHS = (15.0, 35.0, 100.0, None)  # tried when the effective length is to be chosen by held-out data


class CAM(ReadsDocuments, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Cluster-abstraction model: each document in one cluster, a leaf; each word from a node between leaf and root.

    Parameters
    ----------
    n_clusters : int or None, default None
        Leaves of the tree. None: the smallest tree that predicts held-out tokens within 1 % as well as the best.
    tree : Tree or None
        Fit this tree instead of growing one; its leaves are the clusters.
    growth : "guided" or "annealed", default "guided"
        How splits are found: by geometry and repaired by EM, or by lowering the temperature as in the paper.
    levels : bool, default True
        False lets every word come from the leaf: flat distributional clustering, for comparison.
    heldout_fraction : float, default 0.1
        Share of each document's tokens that decides about the levels P(node | cluster) and the number of leaves.
    effective_length : float, "heldout" or None, default 35
        A longer document weighs as if it had so many tokens, because its words are not independent. None: every token
        counts. "heldout": a few lengths are tried.
    word_smoothing : float, default 3.0
        Pseudo-tokens of the collection's words at each node.
    root_smoothing : float, default 0.1
        The same at the root, as a share of the collection. It keeps every word possible in every cluster.
    max_clusters : int, default 512
        Leaves at most when held-out tokens choose.
    dtype : "float32", "float64" or None
        Precision. None: double for small problems, single for large ones.
    max_iter : int, default 50
        EM steps at most after the tree has grown.
    tol : float, default 1e-5
        Stop when two successive steps each gain less than this, in nats a token.
    random_state : int, RandomState or None
        Seed of the held-out tokens and of growth. The result does not depend on the number of threads.
    device : "cpu"
        Where to compute.
    n_threads : int or None
        Threads; None uses every core.
    executor : object or None
        Where blocks of documents are computed; None is this process.
    verbose : int or bool, default 0
        Draw a progress bar.

    Attributes
    ----------
    tree_ : Tree
        The tree; cluster *c* is its leaf ``tree_.leaves[c]``.
    cluster_prior_ : array (n_clusters,)
        P(cluster).
    node_given_cluster_ : array (n_clusters, n_nodes)
        P(node | cluster), zero off the path; rows sum to one.
    word_given_node_ : array (n_nodes, n_words)
        P(word | node); rows sum to one.
    cluster_given_doc_ : array (n_documents, n_clusters)
        P(cluster | document) of the training documents: what ``transform`` returns for them.
    labels_ : array (n_documents,)
        The most probable cluster of each training document.
    curve_ : Curve or None
        Held-out perplexity against the number of leaves, with ``plot``; None on a given tree.
    history_ : array
        The objective of the last EM run, over all tokens with the levels fixed: of its start and after every step.
    effective_length_, temperature_ : float
        The ones used: the posteriors of clusters are tempered by the latter where annealing stopped before 1.
    n_iter_, converged_, stopped_
        Steps of that run, whether there was nothing more to gain, and the reason: "converged", "max_iter", or
        "interrupted" (Ctrl-C keeps the best tree so far).
    grown_ : str
        Why growing ended: "heldout", "reached", "exhausted", "interrupted", or "given".
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        tree: Any = None,
        growth: str = "guided",
        levels: bool = True,
        heldout_fraction: float = 0.1,
        effective_length: float | str | None = 35.0,
        word_smoothing: float = 3.0,
        root_smoothing: float = 0.1,
        max_clusters: int = 512,
        dtype: Any = None,
        max_iter: int = 50,
        tol: float = 1e-5,
        random_state: Any = None,
        device: str = "cpu",
        n_threads: int | None = None,
        executor: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.tree = tree
        self.growth = growth
        self.levels = levels
        self.heldout_fraction = heldout_fraction
        self.effective_length = effective_length
        self.word_smoothing = word_smoothing
        self.root_smoothing = root_smoothing
        self.max_clusters = max_clusters
        self.dtype = dtype
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.device = device
        self.n_threads = n_threads
        self.executor = executor
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> CAM:
        """Grow a tree (or fit the given one) on a matrix of counts (documents × words); ``y`` is ignored."""
        self._check_options()
        counts = self._counts(X, reset=True)
        dtype = options.working_dtype(self.dtype, counts, trees.TILE_COLUMNS)
        prepare_kernels(dtype, paths=True)
        with options.running(self) as engine:
            rng = options.generator(self.random_state)
            length: Any
            if self.effective_length == "heldout":
                tried = [(self._grown(engine, counts, length, dtype, rng), length) for length in LENGTHS]
                grown, length = min(tried, key=lambda one: trees.perplexity(engine, counts, *one))
            else:
                length = self.effective_length
                grown = self._grown(engine, counts, length, dtype, rng)
            self._keep(engine, counts, grown, length, dtype)
        return self

    def _grown(self, engine: Engine, counts: Any, length: Any, dtype: Any, rng: np.random.Generator) -> growing.Growth:
        """The tree, with words learned from the tokens that were not held out."""
        ground = trees.prepared(counts, length, self.heldout_fraction, dtype, rng)
        species = CamSpecies(
            engine, cam.Block(ground.training, ground.heldout), ground.collection, rng,
            self.word_smoothing, self.root_smoothing, bool(self.levels), executor=self.executor,
        )  # fmt: skip
        if self.tree is not None:
            start = placed(self.tree, self.tree.leaves, ground.vectors, species.words_of, rng)
            start = start if self.levels else flattened(start)
            stage = replace(species, steps=Steps(last=self.max_iter, tol=self.tol)).fitted(start, 1.0, last=True)
            return growing.Growth(stage, (), (), start.n_classes, "given")
        rules, proposer = growing.Rules(self.n_clusters), self._proposer(ground, engine, rng)
        if self.growth == "annealed":
            species = replace(species, steps=trees.ANNEALING)
        if self.growth == "annealed" or not self.levels:
            rules = replace(rules, negligible=0.0)  # the tree of the paper, and one whose inner nodes say nothing
        with growing_tree("CAM", show=bool(self.verbose)) as watch:
            grown = growing.grow(species, proposer, rules, watch)
        trees.said(grown, self.n_clusters, "n_clusters")
        return grown

    def _proposer(self, ground: trees.Ground, engine: Engine, rng: np.random.Generator) -> growing.Proposer:
        fewest = 3.0 if self.n_clusters is None else 1.0
        if self.growth == "annealed":
            schedule = cam_schedule(max(critical_temperature(ground.counts), 1.0))
            weights = np.ones(ground.counts.shape[0])
            return Annealed(schedule, weights, self.n_clusters, self.max_clusters, fewest=fewest)
        return Guided(
            ground.vectors, rng, self.n_clusters, self.max_clusters, fewest=fewest, workers=engine.threads.map
        )

    def _keep(self, engine: Engine, counts: Any, grown: growing.Growth, length: Any, dtype: Any) -> None:
        """Learn the words from all tokens, with the tree and the levels as they are."""
        parts = grown.stage.parts
        rows = trees.weighted(counts, length)
        shard = Shard.of(rows, dtype, trees.TILE_COLUMNS)
        totals = np.asarray(rows.sum(axis=0), np.float64).ravel()
        species = CamSpecies(
            engine, cam.Block(shard), totals / totals.sum(), np.random.default_rng(0),
            self.word_smoothing, self.root_smoothing,
        )  # fmt: skip
        model = species.model(parts, "fixed")
        rules = em.Rules(self.max_iter, self.tol, float(totals.sum()), accelerate=False)
        beta = grown.stage.inverse_temperature
        fit = em.run(
            model, [species.block], species.state(parts), rules, inverse_temperature=beta, executor=self.executor
        )
        self._keep_tree(parts, grown, fit, length)
        self.cluster_given_doc_ = self._posterior(engine, counts)
        self.labels_ = self.cluster_given_doc_.argmax(axis=1)

    def _keep_tree(self, parts: Parts, grown: growing.Growth, fit: em.Fit, length: Any) -> None:
        shared: cam.Params = fit.state.shared
        self.tree_, self.effective_length_, self.temperature_ = parts.tree, length, 1.0 / fit.inverse_temperature
        self.word_given_node_, self.node_given_cluster_ = shared.word_given_node, shared.node_given_cluster
        self.cluster_prior_ = shared.cluster_prior
        self.curve_ = trees.curve_of(grown)
        self.history_, self.grown_ = np.array(fit.objectives), grown.reason
        self.n_iter_, self.converged_ = fit.steps, fit.converged
        self.stopped_ = "interrupted" if grown.reason == "interrupted" else fit.reason

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and return P(cluster | document)."""
        return self.fit(X).cluster_given_doc_

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the most probable cluster of each document."""
        return self.fit(X).labels_

    def transform(self, X: Any) -> Floats:
        """P(cluster | document), each document by itself."""
        check_is_fitted(self)
        counts = self._counts(X, reset=False)
        with options.running(self) as engine:
            return self._posterior(engine, counts)

    def predict(self, X: Any) -> Any:
        """The most probable cluster of each document: a place in ``tree_.leaves``."""
        return self.transform(X).argmax(axis=1)

    @property
    def components_(self) -> Floats:
        """P(word | cluster), (n_clusters, n_words)."""
        return self.node_given_cluster_.astype(self.word_given_node_.dtype) @ self.word_given_node_

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood per token; words unknown to the model are left out."""
        check_is_fitted(self)
        counts = known_counts(self.components_, self._counts(X, reset=False))
        with options.running(self) as engine:
            model, shared = self._model(engine)
            rows = Side.of(counts, self.word_given_node_.dtype)
            total = model.log_likelihood(shared, rows, self._posterior(engine, counts))
        return total / max(float(counts.sum(dtype=np.float64)), 1.0)

    def perplexity(self, X: Any) -> float:
        """Perplexity by document completion: half of each document's tokens choose its cluster, half are scored."""
        check_is_fitted(self)
        counts = self._counts(X, reset=False)
        with options.running(self) as engine:
            return completion_perplexity(self.components_, lambda half: self._posterior(engine, half), counts)

    def _read(self, X: Any) -> tuple[Any, Floats]:
        check_is_fitted(self)
        counts = self._counts(X, reset=False)
        with options.running(self) as engine:
            return counts, self._posterior(engine, counts)

    def _posterior(self, engine: Engine, counts: Any) -> Floats:
        prepare_kernels(self.word_given_node_.dtype, paths=True)
        model, shared = self._model(engine)
        rows = Side.of(trees.weighted(counts, self.effective_length_), shared.word_given_node.dtype)
        return model.posterior(shared, rows, 1.0 / self.temperature_)

    def _model(self, engine: Engine) -> tuple[cam.Cam, cam.Params]:
        shared = cam.Params(self.word_given_node_, self.node_given_cluster_, self.cluster_prior_)
        return cam.Cam(engine, self.tree_.path_mask()), shared

    def _levels(self) -> tuple[Floats, Floats]:
        return self.node_given_cluster_, self.word_given_node_

    def _counts(self, X: Any, *, reset: bool) -> Any:
        counts = check_counts(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        if reset:
            trees.check_size(self.tree, self.n_clusters, "n_clusters", counts)
        return counts

    def _check_options(self) -> None:
        trees.check_common(self)
        trees.check_number_of_leaves(self, "n_clusters", "max_clusters")
        options.check_number("word_smoothing", self.word_smoothing, 0.0, hint="3.0")
        options.check_number("root_smoothing", self.root_smoothing, 0.0, hint="0.1")
        if self.effective_length is not None and self.effective_length != "heldout":
            options.check_number("effective_length", self.effective_length, 1.0, hint="35, None or 'heldout'")

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_prior_)

    def __sklearn_tags__(self) -> Any:
        return trees.tags(super().__sklearn_tags__())
