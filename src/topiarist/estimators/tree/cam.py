"""Cluster-abstraction model as a scikit-learn estimator: a topic tree from unlabelled documents."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from topiarist.arrays import Array, Csr, DTypeLike, Floats, Matrix
from topiarist.counts.vectors import check_vectors, project_to_leading_axes, widen_directions
from topiarist.errors import UsageError
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.base import EMOptions
from topiarist.estimators.common.progress import show_fit
from topiarist.estimators.common.stored_counts import Documents
from topiarist.estimators.tree import chosen_words, growth_data, growth_sample, preparation
from topiarist.estimators.tree.abstraction import ReadsDocuments
from topiarist.estimators.tree.chosen_words import SeedWords, Words
from topiarist.estimators.tree.document_levels import LEVEL_TOKENS, compute_perplexity, mean_log_likelihood
from topiarist.estimators.tree.posteriors import PlacesDocuments
from topiarist.estimators.tree.tree_streams import StreamsTree
from topiarist.execution.blocks import BlockFile, BlockStore
from topiarist.metrics.topic_quality import keep_known_words
from topiarist.models import cam, em, online
from topiarist.models.directions import Directions
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine, weighted_total
from topiarist.trees.growth import loop as growing
from topiarist.trees.growth.annealed import cam_schedule, critical_temperature
from topiarist.trees.growth.growing_models import CamGrowingModel, Steps, flatten_paths, make_cam_params
from topiarist.trees.growth.start import place_documents
from topiarist.trees.tree import Tree
from topiarist.trees.tree_model import TreeModel

GROWTH_DIMENSIONS = 96  # of the vectors while a tree grows; its last steps use all dimensions
DEFAULT_CONCENTRATION = 40.0  # of vectors beside words; if held-out tokens reject it, a tree of words is tried
CONCENTRATIONS = (0.0, 5.0, 10.0, 20.0, DEFAULT_CONCENTRATION)
MAX_PERPLEXITY_LOSS = 0.01  # perplexity of held-out tokens that vectors may cost before they are left aside
EFFECTIVE_LENGTHS = (15.0, 35.0, 100.0, None)  # tried when the effective length is to be chosen by held-out data


def _make_directions(directions: Floats | None, concentration: float) -> Directions | None:
    return None if directions is None else Directions.from_vectors(directions, concentration)


@options.estimator(
    max_iter="Maximum number of EM steps after growth. With more than 32 leaves at most 20, after a sample at most 10.",
    random_state=options.describe_seed("the held-out tokens and of growth"),
    executor="Executor of the blocks of a ``BlockStore``. None: this process. See docs/how-to/scale.md.",
)
class CAM(StreamsTree, ReadsDocuments, PlacesDocuments, ClassNamePrefixFeaturesOutMixin, EMOptions):  # type: ignore[misc]
    """Cluster-abstraction model: each document belongs to one leaf, each word comes from a node of the path to it.

    Parameters
    ----------
    n_clusters : int or None, default None
        Number of leaves. None: the smallest tree whose held-out perplexity, after a charge for size, is within 1% of the best.
    tree : Tree or None
        Fit this tree instead of growing one. Its leaves are the clusters.
    growth : "guided" or "annealed", default "guided"
        How to find splits: "guided" proposes them from the geometry of the documents and refines them by EM. "annealed"
        lowers the temperature, as in the paper.
    headings : bool, default True
        Rebuild the upper tree of guided growth from its leaves, with 3 to 8 headings at a node. False keeps the upper
        tree as it grew.
    levels : True, False or "document", default True
        False takes every word from the leaf, which is flat distributional clustering. "document": each document has
        levels P(node | cluster, document) of its own around P(node | cluster), in predictions and descriptions.
    heldout_fraction : float, default 0.1
        Fraction of each document's tokens held out to choose the levels P(node | cluster) and the number of leaves.
    effective_length : float, "heldout" or None, default 35
        Weigh a longer document as if it had this many tokens, because its words are not independent. None: use every
        token. "heldout": chosen among a few lengths.
    word_smoothing : float, default 3.0
        Pseudo-tokens of the collection's words at each node.
    root_smoothing : float, default 0.1
        Pseudo-tokens at the root, as a share of the collection. They keep every word possible in every cluster.
    max_clusters : int, default 512
        Maximum number of leaves if the number is chosen.
    seed_words : mapping, list of lists or None
        Words that belong together. Each gets prior tokens (C3): one in a hundred tokens of the documents under its
        node. With ``tree``: words by number or name of a node. Without it: groups of words; each group is assigned to
        the node where it is most probable, in the last EM run.
    ignore_words : list or None
        Words that the tree ignores. Words are column numbers, or names if the counts have them.
    concentration : float or "heldout", default "heldout"
        Weight κ of the vectors that ``fit`` gets: nats between a document that agrees with a cluster and one at a right
        angle to it. 0: vectors are ignored. "heldout": 40, or 0 if a tree of words has a held-out perplexity lower by
        more than 1%.

    Attributes
    ----------
    tree_ : Tree
        The tree. Cluster *c* is its leaf ``tree_.leaves[c]``.
    cluster_prior_ : array (n_clusters,)
        P(cluster).
    node_given_cluster_ : array (n_clusters, n_nodes)
        P(node | cluster), zero outside the path; rows sum to one.
    word_given_node_ : array (n_nodes, n_words)
        P(word | node); rows sum to one.
    cluster_given_doc_ : array (n_documents, n_clusters)
        P(cluster | document) of the training documents, as ``transform`` returns it.
    labels_ : array (n_documents,)
        Most probable cluster of each training document.
    curve_ : Curve or None
        Held-out perplexity by number of leaves, with ``plot``; None for a given tree.
    history_ : array
        Objective of the last EM run over all tokens, with fixed levels: of the start and after every step.
    effective_length_, temperature_ : float
        Values that were used. The temperature is above 1 if annealing stopped early; it flattens posteriors.
    n_iter_, converged_, stopped_
        Number of steps of the last run, whether it converged, and the reason of the stop: "converged", "max_iter" or
        "interrupted" (Ctrl-C keeps the best tree).
    grown_ : str
        Reason why growth ended: "heldout", "reached", "exhausted", "interrupted" or "given".
    seeds_ : array (n_seeds, 2)
        Node and column of each seed word.
    directions_ : array (n_clusters, n_dimensions) or None
        Mean direction of the vectors of each cluster, of length one; None for a tree fitted to words only.
    concentration_ : float
        Weight κ that was used; 0 without vectors.
    stream_, n_batches_, n_tokens_seen_
        In a stream (``partial_fit``): record of each batch before learning from it, and the number of batches and
        tokens, weighted by the effective length. A stream has no training documents.

    Examples
    --------
    >>> import numpy as np
    >>> from topiarist import CAM
    >>> counts = np.random.default_rng(0).poisson(1.0, (60, 20))
    >>> len(CAM(2, random_state=0).fit(counts).tree_.leaves)
    2
    """

    n_clusters: int | None = None
    _: KW_ONLY
    tree: Tree | None = None
    growth: str = "guided"
    headings: bool = True
    levels: bool | str = True
    heldout_fraction: float = 0.1
    effective_length: float | str | None = 35.0
    word_smoothing: float = 3.0
    root_smoothing: float = 0.1
    max_clusters: int = 512
    seed_words: SeedWords | None = None
    ignore_words: Words | None = None
    concentration: float | str = "heldout"
    dtype: DTypeLike | None = None
    max_iter: int = 50
    tol: float = 1e-5

    def fit(
        self,
        X: Documents,
        y: object = None,
        *,
        vectors: Floats | None = None,
        journal: growing.Journal | None = None,
        keep_posteriors: bool = True,
    ) -> CAM:
        """Grow a tree, or fit the given one.

        Parameters
        ----------
        vectors : array (n_documents, n_dimensions) or None
            Embeddings of the documents; zeros for a document without one. Only their directions count. Not possible
            with a ``BlockStore``.

        Raises
        ------
        UsageError
            If options do not go together.
        InputError
            If there are fewer documents with words than leaves.
        ResourceError
            If the executor allows too little memory.

        Notes
        -----
        A ``BlockStore`` is fitted block by block, and so are counts that are too large for a ``device``. Then 32,768
        sampled documents propose splits and headings. With more than 262,144 documents the tree grows from a sample of
        that size, and all documents teach its words in at most ten steps.
        """
        self._check_options()
        length = self.effective_length
        in_memory = vectors is not None or isinstance(length, str)
        if in_memory and stored_counts.is_stored(X, self.executor):
            if vectors is not None:
                raise UsageError(
                    "vectors require counts in memory, got counts in files", hint="Load the counts into memory."
                )
            raise UsageError("effective_length='heldout' needs counts in memory", hint="Use 35 or None.")
        if vectors is not None and self.concentration != 0:
            options.check_required_values(self, "vectors", device="cpu", executor=None)
        with growth_data.open_fit_data(self, X, lambda counts: in_memory or self._fits_device(counts)) as data:
            n_docs, directions = data.counts.shape[0], None
            if vectors is not None and self.concentration != 0:
                directions = widen_directions(check_vectors(vectors, n_docs))
            seeds, groups = chosen_words.find_seeds(self)
            best, sample_rows, sampled = self._grow_best(data, seeds, journal, directions)
            growth, length, self.concentration_ = best
            seeds = seeds or chosen_words.assign_seed_groups(groups, growth.stage.parts)
            growth_data.warn_memory_limit(self, growth, data.max_leaves)
            directions = directions if self.concentration_ else None
            self._fit_words(
                data, growth, length, seeds, directions, sample_rows, sampled=sampled, keep_posteriors=keep_posteriors
            )
        return self

    def _fit_words(
        self,
        data: growth_data.FitData,
        growth: growing.Growth,
        length: float | None,
        seeds: dict[int, list[int]],
        directions: Floats | None = None,
        sample_rows: tuple[Array, ...] = (),
        *,
        sampled: bool = False,
        keep_posteriors: bool = True,
    ) -> None:
        """Learn the words of a grown tree from all tokens, and compute the posteriors of the documents."""
        with data.weigh(length, sample_rows, directions) as all_tokens:
            n_tokens = float(all_tokens.words.sum())
            species = CamGrowingModel(
                data.engine, all_tokens.block, all_tokens.words / n_tokens, np.random.default_rng(0),
                self.word_smoothing, self.root_smoothing, seeds=seeds,
                joined=_make_directions(directions, self.concentration_), stored=all_tokens.stored,
            )  # fmt: skip
            if sampled and all_tokens.stored is None:
                growth = growth_sample.with_all_documents(growth, data.engine, all_tokens.block.training)
            self._learn_words(species, growth, length, n_tokens, sampled=sampled)
        self._forget_documents()
        if keep_posteriors or not isinstance(data.counts, BlockStore):
            reader = self._reader(data.engine)
            answers = stored_counts.read_counts(data.counts, reader, self.executor, directions)
            self.cluster_given_doc_, self.labels_ = answers.rows(), answers.labels()
        self._reset_stream(data.counts.shape[0], n_tokens)

    def _grow_best(
        self,
        data: growth_data.FitData,
        seeds: dict[int, list[int]],
        journal: growing.Journal | None,
        directions: Floats | None,
    ) -> tuple[tuple[growing.Growth, float | None, float], tuple[Array, ...], bool]:
        """Return the tree of the best effective length with its vector weight, then the sample that it grew from."""
        leading = None if directions is None else project_to_leading_axes(directions, GROWTH_DIMENSIONS)
        lengths = EFFECTIVE_LENGTHS if isinstance(self.effective_length, str) else (self.effective_length,)
        is_single = len(lengths) == 1
        best, best_likelihood = None, -np.inf
        for length in lengths:
            with data.prepare(length, leading, sample_memory=True) as (ground, sample_rows, sampled):
                growth, weight = self._grow_with_vectors(data, ground, seeds, journal if is_single else None)
                stage, likelihood = growth.stage, 0.0
                if not is_single:
                    likelihood = preparation.compute_heldout_likelihood(data.engine, ground, stage)
            if best is None or likelihood > best_likelihood:
                best, best_likelihood = (growth, length, weight), likelihood
            if growth.reason == "interrupted":
                best = (replace(best[0], reason="interrupted"), *best[1:])
                break
        assert best is not None  # noqa: S101  there is at least one length
        return best, sample_rows, sampled

    def _fits_device(self, counts: Csr) -> bool:
        """Return whether a device has memory for all growth data; otherwise it computes block by block."""
        if self.device == "cpu":
            return True
        dtype = options.working_dtype(self.dtype, counts, preparation.TILE_COLUMNS)
        leaves = len(self.tree.leaves) if self.tree is not None else self.n_clusters or self.max_clusters
        with options.open_engine(self) as engine:
            return engine.fits_device(counts, dtype, leaves)

    def _grow_with_vectors(
        self,
        data: growth_data.FitData,
        ground: preparation.GrowthData,
        seeds: dict[int, list[int]],
        journal: growing.Journal | None,
    ) -> tuple[growing.Growth, float]:
        """Return a tree and its vector weight; a tree of words if held-out tokens reject the vectors.

        Growth is random, and with good vectors both trees differ by less than 1%. Vectors of other documents make
        held-out tokens a third less likely.
        """
        chooses, concentration = isinstance(self.concentration, str), 0.0
        if ground.directions is not None:
            concentration = DEFAULT_CONCENTRATION if chooses else float(self.concentration)
        growth = self._grow(data, ground, seeds, journal, concentration)
        if not concentration or not chooses or growth.reason == "interrupted":
            return growth, concentration
        if preparation.choose_concentration(data.engine, ground, growth.stage, CONCENTRATIONS) > 0:
            return growth, concentration
        growth_without = self._grow(data, ground, seeds, None, 0.0)
        likelihood, likelihood_without = (
            preparation.compute_heldout_likelihood(data.engine, ground, candidate.stage)
            for candidate in (growth, growth_without)
        )
        is_worse = likelihood_without > likelihood + math.log1p(MAX_PERPLEXITY_LOSS)
        return (growth_without, 0.0) if is_worse else (growth, concentration)

    def _grow(
        self,
        data: growth_data.FitData,
        ground: preparation.GrowthData,
        seeds: dict[int, list[int]],
        journal: growing.Journal | None,
        concentration: float,
    ) -> growing.Growth:
        """Grow a tree, or fit the given one."""
        rng, directions = data.rng, ground.directions if concentration else None
        species = CamGrowingModel(
            data.engine, cam.Block(ground.training, ground.heldout, directions), ground.collection, rng,
            self.word_smoothing, self.root_smoothing, bool(self.levels), executor=self.executor, seeds=seeds,
            joined=_make_directions(directions, concentration), stored=ground.stored,
        )  # fmt: skip
        if self.tree is not None:
            start = place_documents(
                self.tree, self.tree.leaves, ground.space(concentration), species.estimate_words, rng
            )
            start = replace(start, documents_per_row=species.documents_per_row)
            start = chosen_words.apply_seeds(start, ground.counts, seeds, species.estimate_words) if seeds else start
            start = start if self.levels else flatten_paths(start)
            steps = Steps(last=self.max_iter, tol=self.tol)
            rules = em.Rules(self.max_iter, self.tol)
            with show_fit("CAM on the given tree", rules, show=bool(self.verbose)) as watch:
                stage = growing.fit_from_start(replace(species, steps=steps, watch=watch), start, last=True)
            return preparation.make_given_growth(stage)
        annealing = None
        if self.growth == "annealed":
            temperature = max(critical_temperature(ground.counts), 1.0)
            annealing = (cam_schedule(temperature), np.ones(ground.counts.shape[0]))
        return preparation.grow_tree(  # without levels inner nodes say nothing, and stay all the same
            self, species, ground.space(concentration), annealing, journal, keep_all=not self.levels,
            max_leaves=data.max_leaves,
        )  # fmt: skip

    def _learn_words(
        self, species: CamGrowingModel, growth: growing.Growth, length: float | None, n_tokens: float, *, sampled: bool
    ) -> None:
        """Fit the parameters of the final tree to all tokens, and set the fitted attributes."""
        parts = growth.stage.parts
        steps, tol = Steps(last=self.max_iter, tol=self.tol).get_limits(parts.n_classes, last=True)
        steps = min(steps, growth_sample.LAST_STEPS) if sampled else steps
        rules = em.Rules(steps, tol, n_tokens, accelerate=False)
        with show_fit("CAM, all tokens", rules, show=bool(self.verbose)) as watch:
            fit = preparation.run_last_fit(
                species.model(parts, "fixed"), species.blocks, species.state(parts), rules,
                growth.stage.inverse_temperature, watch=watch, executor=self.executor,
            )  # fmt: skip
        shared: cam.Params = fit.state.shared
        self.tree_, self.effective_length_, self.temperature_ = parts.tree, length, 1.0 / fit.inverse_temperature
        self.word_given_node_, self.node_given_cluster_ = shared.word_given_node, shared.node_given_cluster
        self.cluster_prior_, self.directions_ = shared.cluster_prior, fit.state.shared.directions
        self.seeds_ = chosen_words.to_seed_pairs(dict(species.seeds))
        self._store_growth(growth, fit)

    def fit_transform(self, X: Documents, y: object = None, *, vectors: Floats | None = None) -> Any:
        """Fit, and return P(cluster | document) of the training documents."""
        return self.fit(X, vectors=vectors).transform(X, vectors=vectors)

    def fit_predict(self, X: Documents, y: object = None, *, vectors: Floats | None = None) -> Any:
        """Fit, and return the most probable cluster of each document."""
        return self.fit(X, vectors=vectors).labels_

    def transform(self, X: Documents, *, vectors: Floats | None = None) -> Floats:
        """Return P(cluster | document), (n_documents, n_clusters); documents do not influence each other.

        ``X`` can be a ``BlockStore``. ``vectors`` are optional for every tree and are used if the tree knows
        directions.
        """
        check_is_fitted(self)
        if vectors is None or getattr(self, "directions_", None) is None:
            return stored_counts.read(self, X).rows()
        counts = self._counts(X, reset=False, purpose="transform with vectors")
        directions = check_vectors(vectors, counts.shape[0], self.directions_.shape[1])
        with options.open_engine(self) as engine, threadpool_limits(limits=1, user_api="blas"):
            return self._reader(engine)(counts, directions)

    def predict(self, X: Documents, *, vectors: Floats | None = None) -> Any:
        """Return the most probable cluster of each document."""
        if vectors is None:
            return super().predict(X)
        return self.transform(X, vectors=vectors).argmax(axis=1)

    def score(self, X: Matrix, y: object = None) -> float:
        """Return the mean log-likelihood per token, with ``levels="document"`` by the levels of each document."""
        if self.levels != "document":
            return super().score(X)
        counts, posterior = self._read_documents(X, "score")
        known_counts = keep_known_words(self.components_, counts)
        return mean_log_likelihood(known_counts, known_counts, self.tree_model_, posterior)

    def perplexity(self, X: Matrix) -> float:
        """Return the perplexity by document completion, with ``levels="document"`` by the levels of each first half."""
        if self.levels != "document":
            return super().perplexity(X)
        check_is_fitted(self)
        counts = keep_known_words(self.components_, self._counts(X, reset=False, purpose="perplexity"))
        with options.open_engine(self) as engine:
            return compute_perplexity(counts, self.tree_model_, self._reader(engine))

    joins_vectors = True
    _number = "n_clusters"
    _params, _word_count = staticmethod(make_cam_params), "node_word_count"
    _rows_of_documents = "cluster_given_doc_"
    _of_documents = (_rows_of_documents, "labels_")

    def _reader(self, engine: Engine) -> stored_counts.Reader:
        """Return an object that computes cluster probabilities of counts."""
        dtype = self.word_given_node_.dtype
        prepare_kernels(dtype, "paths", device=self.device)
        ignored = chosen_words.find_ignored_columns(self)
        return stored_counts.Reader(
            *self._model(engine), 1.0 / self.temperature_, dtype, self.effective_length_, ignored
        )

    @property
    def tree_model_(self) -> TreeModel:
        """Tree with its parameters, under the names that all tree models share."""
        return TreeModel(
            self.tree_,
            self.tree_.leaves,
            self.word_given_node_,
            self.node_given_cluster_,
            self.cluster_prior_,
            level_tokens=LEVEL_TOKENS if self.levels == "document" else None,
        )

    def _take(self, model: TreeModel) -> None:
        self.tree_, self.cluster_prior_ = model.tree, model.class_prior
        self.word_given_node_, self.node_given_cluster_ = model.word_given_node, model.node_given_class

    def _model(self, engine: Engine, tree: TreeModel | None = None) -> tuple[cam.Cam, cam.Params]:
        """Return the model and its parameters; with directions if they fit the tree."""
        tree = tree or self.tree_model_
        directions = getattr(self, "directions_", None)
        if directions is None or len(directions) != tree.n_classes:
            return cam.Cam(engine, tree.path_mask), make_cam_params(tree)
        joined = Directions(self.concentration_, np.zeros(directions.shape[1]))
        return cam.Cam(engine, tree.path_mask, vector_model=joined), replace(
            make_cam_params(tree), directions=directions
        )

    def _check_options(self) -> None:
        """Raise UsageError for a parameter outside its range."""
        preparation.check_common(self)
        preparation.check_number_of_leaves(self, "n_clusters", "max_clusters")
        chosen_words.check_chosen_words(self)
        options.check_one_of("levels", self.levels, (True, False, "document"))
        options.check_number("word_smoothing", self.word_smoothing, 0.0, hint="Use 3.0.")
        options.check_number("root_smoothing", self.root_smoothing, 0.0, hint="Use 0.1.")
        if self.concentration != "heldout":
            options.check_number("concentration", self.concentration, 0.0, hint="Use 40 or 'heldout'.")
        if self.effective_length is not None and self.effective_length != "heldout":
            options.check_number("effective_length", self.effective_length, 1.0, hint="Use 35, None or 'heldout'.")

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_prior_)

    def _get_length(self) -> float | None:
        return self.effective_length_

    def _stream_model(self, engine: Engine, stream: online.Stream) -> cam.Cam:
        """Return the model; its prior has the words of the stream instead of the collection."""
        collection = self._word_totals(stream.stats) + 1e-3 / max(stream.tokens, 1.0)
        mask, levels = self.tree_.path_mask(), "heldout" if self.levels else "fixed"
        return cam.Cam(
            engine, mask, levels, collection / collection.sum(), self._compute_prior_tokens(stream.tokens),  # type: ignore[arg-type]
            self.node_given_cluster_, self._stream_seeds(mask, self.cluster_prior_, stream.tokens),
        )  # fmt: skip

    def _compute_prior_tokens(self, tokens: float) -> Floats:
        """Return the pseudo-tokens of each node; the root has more."""
        prior = np.full(len(self.tree_), float(self.word_smoothing))
        prior[self.tree_.root] += float(self.root_smoothing) * tokens
        return prior

    def _remove_temperature(self) -> None:
        self.temperature_ = 1.0

    def _stream_start(self) -> cam.Stats:
        """Return the statistics with which a stream continues the fitted parameters."""
        mix = self.cluster_prior_[:, None] * self.node_given_cluster_
        weights, words = mix.sum(axis=0), self.word_given_node_
        collection = weighted_total(weights, words)
        pseudo = self._compute_prior_tokens(self.n_tokens_seen_)[:, None] * (collection / collection.sum())
        seeds = self._stream_seeds(self.tree_.path_mask(), self.cluster_prior_, self.n_tokens_seen_)
        if seeds is not None:
            np.add.at(pseudo, (seeds.nodes, seeds.columns), seeds.tokens)
        counts = online.expected_counts(words, weights, pseudo, self.n_tokens_seen_)
        documents = self.cluster_prior_ * self._documents_per_token
        return cam.Stats(counts, mix * (self.heldout_fraction if self.levels else 1.0), documents, 0.0)

    def _stream_block(self, engine: Engine, counts: Csr, shard: BlockFile | None) -> cam.Block:
        dtype = self.word_given_node_.dtype
        if self.levels:
            return cam.Block(*self._split_block(engine, counts, dtype))
        return cam.Block(self._make_block(engine, counts, shard, dtype))

    def _keep_shared(self, shared: cam.Params, stream: online.Stream) -> None:
        self.word_given_node_, self.node_given_cluster_ = shared.word_given_node, shared.node_given_cluster
        self.cluster_prior_ = shared.cluster_prior
        self._documents_per_token = float(stream.stats.cluster_count.sum())
