"""The cluster-abstraction model as a scikit-learn estimator: a tree of topics from unlabelled documents."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from topiarist.arrays import Csr, DTypeLike, Floats, Seed
from topiarist.counts.vectors import check_vectors, leading_part, widened
from topiarist.counts.weighting import shortened
from topiarist.errors import UsageError
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.display import ShownEstimator
from topiarist.estimators.common.progress import fitting
from topiarist.estimators.common.stored_counts import Documents
from topiarist.estimators.tree import chosen_words, growth_sample, preparation, stored_ground
from topiarist.estimators.tree.abstraction import ReadsDocuments
from topiarist.estimators.tree.chosen_words import SeedWords, Words
from topiarist.estimators.tree.posteriors import PlacesDocuments
from topiarist.estimators.tree.tree_streams import StreamsCAM
from topiarist.hierarchy.growth import loop as growing
from topiarist.hierarchy.growth.annealed import cam_schedule, critical_temperature
from topiarist.hierarchy.growth.parts import Parts
from topiarist.hierarchy.growth.species import CamSpecies, Steps, cam_params, flattened
from topiarist.hierarchy.growth.start import placed
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_model import TreeModel
from topiarist.models import cam, em
from topiarist.models.directions import Directions
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.scale.executors import Executor

LEADING = 96  # dimensions of vectors in which a tree grows; its last steps, and all that comes later, have all of them
CONCENTRATION = 40.0  # of vectors beside words; where held-out tokens want none of these, a tree of words is tried
CONCENTRATIONS = (0.0, 5.0, 10.0, 20.0, CONCENTRATION)
WORSE = 0.01  # perplexity of held-out tokens that vectors may cost before they are left aside
LENGTHS = (15.0, 35.0, 100.0, None)  # tried when the effective length is to be chosen by held-out data


@dataclass(frozen=True)
class _Begun:
    """What a tree grows from."""

    ground: preparation.Ground
    rng: np.random.Generator
    seeds: dict[int, list[int]]
    journal: growing.Journal | None
    most: int | None = None  # leaves that there is room for


def _joined(directions: Floats | None, concentration: float) -> Directions | None:
    """How vectors weigh beside words; None where there are none."""
    return None if directions is None else Directions.of(directions, concentration)


@options.common_options(
    max_iter="EM steps at most after the tree has grown; 20 at most over more than 32 leaves, 10 after a sample.",
    random_state=options.seed_of("the held-out tokens and of growth"),
    executor="Where the blocks of a ``BlockStore`` are computed; None is this process. See docs/how-to/scale.md.",
)
class CAM(StreamsCAM, ReadsDocuments, PlacesDocuments, ClassNamePrefixFeaturesOutMixin, ShownEstimator):  # type: ignore[misc]
    """Cluster-abstraction model: each document in one cluster, a leaf; each word from a node between leaf and root.

    Parameters
    ----------
    n_clusters : int or None, default None
        Leaves of the tree. None: the smallest tree that predicts held-out tokens within 1 % as well as the best.
    tree : Tree or None
        Fit this tree instead of growing one; its leaves are the clusters.
    growth : "guided" or "annealed", default "guided"
        How splits are found: by geometry and repaired by EM, or by lowering the temperature as in the paper.
    headings : bool, default True
        Build the upper tree of guided growth anew from its leaves: 3 to 8 headings at a node, which can be named. False
        keeps the upper tree that grew.
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
    seed_words : mapping, list of lists or None
        Words that belong together: each is given prior tokens (C3), as if one in a hundred tokens of the documents
        under its node were this word. With a ``tree``, words by the number or the name of a node; without one, groups
        of words, each of which goes to the node of the grown tree where it is most at home, in the last EM run.
    ignore_words : list or None
        Words that the tree must not see. Words are numbers of columns, or names where the counts have them.
    concentration : float or "heldout", default "heldout"
        What vectors weigh beside words, κ, where ``fit`` is given any: as many nats as a document has between agreeing
        with a cluster and being at right angles to it. 0: not at all. "heldout": 40, or 0 where the perplexity
        of held-out tokens is lower by more than 1 % in a tree of words.

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
    seeds_ : array (n_seeds, 2)
        Node and column of each seed word.
    directions_ : array (n_clusters, n_dimensions) or None
        The mean direction of the vectors of each cluster, of length one; None where the tree was fitted to words alone.
    concentration_ : float
        The κ that was used; 0 without vectors.
    stream_, n_batches_, n_tokens_seen_
        In a stream (``partial_fit``): a record of each batch as it was before it was learned from, and how much there
        has been (tokens weighted by the effective length). There are no training documents then.
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        tree: Tree | None = None,
        growth: str = "guided",
        headings: bool = True,
        levels: bool = True,
        heldout_fraction: float = 0.1,
        effective_length: float | str | None = 35.0,
        word_smoothing: float = 3.0,
        root_smoothing: float = 0.1,
        max_clusters: int = 512,
        seed_words: SeedWords | None = None,
        ignore_words: Words | None = None,
        concentration: float | str = "heldout",
        dtype: DTypeLike | None = None,
        max_iter: int = 50,
        tol: float = 1e-5,
        random_state: Seed = None,
        device: str = "cpu",
        n_threads: int | None = None,
        executor: Executor | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.tree = tree
        self.growth = growth
        self.headings = headings
        self.levels = levels
        self.heldout_fraction = heldout_fraction
        self.effective_length = effective_length
        self.word_smoothing = word_smoothing
        self.root_smoothing = root_smoothing
        self.max_clusters = max_clusters
        self.seed_words = seed_words
        self.ignore_words = ignore_words
        self.concentration = concentration
        self.dtype = dtype
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.device = device
        self.n_threads = n_threads
        self.executor = executor
        self.verbose = verbose

    def fit(
        self,
        X: Documents,
        y: object = None,
        *,
        vectors: Floats | None = None,
        journal: growing.Journal | None = None,
        placed: bool = True,
    ) -> CAM:
        """Grow a tree (or fit the given one) on a matrix of counts (documents × words); ``y`` is ignored.

        ``vectors`` (documents × dimensions), of a sentence encoder for instance, decide beside the words; a row of
        zeros is a document without one. Only their directions count.

        A ``journal`` keeps checkpoints of a tree that grows long, and a fit that was killed goes on from the last one.

        Without ``placed`` the documents of a ``BlockStore`` are not placed: there is neither ``cluster_given_doc_`` nor
        ``labels_``, which of very many documents and leaves are many; ``transform`` and ``predict`` have them.

        A ``BlockStore`` is fitted block by block, without vectors, and so are counts that a ``device`` has no room for;
        of more than 32,768 documents so many are drawn, which propose splits and headings. Of more than 262,144
        documents, in files or not, so many are drawn that the tree grows from and its levels are fitted to; all of them
        teach its words, in ten steps at most.
        """
        self._check_options()
        if stored_counts.is_stored(X, self.executor):
            self._fit_stored(X, vectors, journal, placed=placed)
            return self
        counts = self._counts(X, reset=True)
        directions = None
        if vectors is not None and self.concentration != 0:
            options.check_plain(self, "vectors", device="cpu", executor=None)
            directions = widened(check_vectors(vectors, counts.shape[0]))
        seeds = chosen_words.seeded_nodes(self, self.tree) if self.tree is not None else {}
        groups = chosen_words.seeded_groups(self) if self.tree is None else []
        dtype = options.working_dtype(self.dtype, counts, preparation.TILE_COLUMNS)
        if vectors is None and not isinstance(self.effective_length, str) and not self._at_hand(counts, dtype):
            self._fit_stored(counts, vectors, journal, placed=placed)
            return self
        prepare_kernels(dtype, "paths", device=self.device)
        with options.running(self) as engine, threadpool_limits(limits=1, user_api="blas"):
            rng = options.generator(self.random_state)
            seed = int(rng.integers(2**31))
            given = self.effective_length
            lengths: tuple[float | None, ...] = LENGTHS if isinstance(given, str) else (given,)
            best, best_likelihood = None, -np.inf
            weight = self._first_concentration(directions)
            sample = growth_sample.sampled(counts.shape[0], seed)
            some = counts if sample is None else counts[sample]
            leading = None if directions is None else leading_part(directions, LEADING)
            leading = leading if leading is None or sample is None else leading[sample]
            for length in lengths:
                ground = preparation.prepared(engine, some, length, self.heldout_fraction, dtype, seed, leading)
                begun = _Begun(ground, rng, seeds, journal if len(lengths) == 1 else None)
                grown, chosen = self._weighed(engine, begun, weight)
                likelihood = preparation.unseen_likelihood(engine, ground, grown.stage) if len(lengths) > 1 else 0.0
                if best is None or likelihood > best_likelihood:
                    best, best_likelihood = (grown, length, chosen), likelihood
                if grown.reason == "interrupted":
                    best = (replace(best[0], reason="interrupted"), *best[1:])
                    break
            assert best is not None  # noqa: S101  there is at least one length
            seeds = seeds or chosen_words.homes(groups, best[0].stage.parts)
            grown, length, self.concentration_ = best
            self._keep(engine, counts, grown, length, dtype, seeds, directions if self.concentration_ else None)
        return self

    def _at_hand(self, counts: Csr, dtype: DTypeLike) -> bool:
        """Whether a device holds all that a tree grows from; otherwise blocks visit it, as from a ``BlockStore``."""
        if self.device == "cpu":
            return True
        leaves = len(self.tree.leaves) if self.tree is not None else self.n_clusters or self.max_clusters
        with options.running(self) as engine:
            return engine.holds(counts, dtype, leaves)

    def _first_concentration(self, directions: Floats | None) -> float:
        """The weight of vectors that growing begins with."""
        if directions is None:
            return 0.0
        return CONCENTRATION if isinstance(self.concentration, str) else float(self.concentration)

    def _weighed(self, engine: Engine, begun: _Begun, concentration: float) -> tuple[growing.Growth, float]:
        """The tree and the weight of its vectors; where held-out tokens want none of them, a tree of words.

        Both trees are drawn by chance, and differ by a part of a per cent where vectors are good; those of other
        documents make held-out tokens a third less likely.
        """
        grown = self._grown(engine, begun, concentration)
        if not concentration or not isinstance(self.concentration, str) or grown.reason == "interrupted":
            return grown, concentration
        if preparation.best_concentration(engine, begun.ground, grown.stage, CONCENTRATIONS) > 0:
            return grown, concentration
        plain = self._grown(engine, replace(begun, journal=None), 0.0)
        told, alone = (preparation.unseen_likelihood(engine, begun.ground, one.stage) for one in (grown, plain))
        return (plain, 0.0) if alone > told + math.log1p(WORSE) else (grown, concentration)

    def _grown(self, engine: Engine, begun: _Begun, concentration: float) -> growing.Growth:
        """The tree, with words learned from the tokens that were not held out."""
        ground, rng, seeds = begun.ground, begun.rng, begun.seeds
        directions = ground.directions if concentration else None
        species = CamSpecies(
            engine, cam.Block(ground.training, ground.heldout, directions), ground.collection, rng,
            self.word_smoothing, self.root_smoothing, self.levels, executor=self.executor, seeds=seeds,
            joined=_joined(directions, concentration), stored=ground.stored,
        )  # fmt: skip
        if self.tree is not None:
            start = placed(self.tree, self.tree.leaves, ground.space(concentration), species.words_of, rng)
            start = replace(start, each=species.each)
            start = chosen_words.sown(start, ground.counts, seeds, species.words_of) if seeds else start
            start = start if self.levels else flattened(start)
            steps = Steps(last=self.max_iter, tol=self.tol)
            with self._shown("CAM on the given tree") as watch:
                stage = growing.begun(replace(species, steps=steps, watch=watch), start, last=True)
            return preparation.given(stage)
        annealing = None
        if self.growth == "annealed":
            temperature = max(critical_temperature(ground.counts), 1.0)
            annealing = (cam_schedule(temperature), np.ones(ground.counts.shape[0]))
        # without levels inner nodes say nothing, and stay all the same
        space = ground.space(concentration)
        whole, most = not self.levels, begun.most
        return preparation.grown_tree(self, species, space, annealing, begun.journal, whole=whole, most=most)

    def _shown(self, title: str) -> Any:
        return fitting(title, em.Rules(self.max_iter, self.tol), show=bool(self.verbose))

    def _keep(
        self,
        engine: Engine,
        counts: Csr,
        grown: growing.Growth,
        length: float | None,
        dtype: DTypeLike,
        seeds: dict[int, list[int]],
        directions: Floats | None,
    ) -> None:
        """Learn the words from all tokens, with the tree and the levels as they are."""
        rows = shortened(counts, length)
        shard = engine.shard(rows, dtype, preparation.TILE_COLUMNS)
        totals = np.asarray(rows.sum(axis=0), np.float64).ravel()
        species = CamSpecies(
            engine, cam.Block(shard, None, directions), totals / totals.sum(), np.random.default_rng(0),
            self.word_smoothing, self.root_smoothing, seeds=seeds,
            joined=_joined(directions, self.concentration_),
        )  # fmt: skip
        sampled = len(grown.stage.parts.class_given_doc) < counts.shape[0]
        if sampled:
            grown = growth_sample.with_everybody(grown, engine, shard)
        self._learn_words(species, grown, length, float(totals.sum()), sampled=sampled)
        self.cluster_given_doc_ = self._reader(engine)(counts, directions)
        self.labels_ = self.cluster_given_doc_.argmax(axis=1)
        self._forget_stream(counts.shape[0], float(totals.sum()))

    def _learn_words(
        self, species: CamSpecies, grown: growing.Growth, length: float | None, n_tokens: float, *, sampled: bool
    ) -> None:
        """The last EM run, over all tokens, and what is kept of it."""
        parts = grown.stage.parts
        steps, tol = Steps(last=self.max_iter, tol=self.tol).of(parts.n_classes, last=True)
        steps = min(steps, growth_sample.LAST_STEPS) if sampled else steps
        rules = em.Rules(steps, tol, n_tokens, accelerate=False)
        with fitting("CAM, all tokens", rules, show=bool(self.verbose)) as watch:
            fit = preparation.last_run(
                species.model(parts, "fixed"), species.blocks, species.state(parts), rules,
                grown.stage.inverse_temperature, watch=watch, executor=self.executor,
            )  # fmt: skip
        self._keep_tree(parts, grown, fit, length)
        self.seeds_ = chosen_words.pairs(dict(species.seeds))
        self.directions_ = fit.state.shared.directions

    def _fit_stored(
        self, X: Documents, vectors: Floats | None, journal: growing.Journal | None, *, placed: bool
    ) -> None:
        """Grow a tree (or fit the given one) to a store, see ``stored_ground``."""
        if vectors is not None:
            raise UsageError("vectors cannot decide beside counts that are files", hint="counts in memory")
        length = self.effective_length
        if isinstance(length, str):
            raise UsageError("effective_length='heldout' needs counts in memory", hint="35, or None")
        with stored_ground.site(self, X) as site:
            seeds = chosen_words.seeded_nodes(self, self.tree) if self.tree is not None else {}
            groups = chosen_words.seeded_groups(self) if self.tree is None else []
            with site.prepared(length) as (ground, drawn, sampled):
                grown = self._grown(site.engine, _Begun(ground, site.rng, seeds, journal, site.most), 0.0)
            del ground
            seeds = seeds or chosen_words.homes(groups, grown.stage.parts)
            stored_ground.say_where_memory_ended_it(self, grown, site.most)
            with site.weighed(length, drawn) as all_tokens:
                self.concentration_ = 0.0
                species = CamSpecies(
                    site.engine, all_tokens.block, all_tokens.words / all_tokens.words.sum(), np.random.default_rng(0),
                    self.word_smoothing, self.root_smoothing, seeds=seeds, stored=all_tokens.stored,
                )  # fmt: skip
                n_tokens = float(all_tokens.words.sum())
                self._learn_words(species, grown, length, n_tokens, sampled=sampled)
            preparation.forget(self, "cluster_given_doc_", "labels_")
            if placed:
                answers = stored_counts.read_store(site.store, self._reader(site.engine), self.executor)
                self.cluster_given_doc_, self.labels_ = answers.rows(), answers.labels()
            self._forget_stream(len(site.store), n_tokens)

    def _keep_tree(self, parts: Parts, grown: growing.Growth, fit: em.Fit, length: float | None) -> None:
        shared: cam.Params = fit.state.shared
        self.tree_, self.effective_length_, self.temperature_ = parts.tree, length, 1.0 / fit.inverse_temperature
        self.word_given_node_, self.node_given_cluster_ = shared.word_given_node, shared.node_given_cluster
        self.cluster_prior_ = shared.cluster_prior
        self.curve_ = preparation.curve_of(grown)
        self.history_, self.grown_ = np.array(fit.objectives), grown.reason
        self.n_iter_, self.converged_ = fit.steps, fit.converged
        self.stopped_ = "interrupted" if grown.reason == "interrupted" else fit.reason

    def fit_transform(self, X: Documents, y: object = None, *, vectors: Floats | None = None) -> Any:
        """Fit, and return what ``transform`` returns for the training documents."""
        return self.fit(X, vectors=vectors).transform(X, vectors=vectors)

    def fit_predict(self, X: Documents, y: object = None, *, vectors: Floats | None = None) -> Any:
        """Fit, and return the most probable cluster of each document."""
        return self.fit(X, vectors=vectors).labels_

    def transform(self, X: Documents, *, vectors: Floats | None = None) -> Floats:
        """P(cluster | document), each document by itself; of a ``BlockStore`` too.

        Documents may come with vectors or without, whatever the tree was fitted to: what there is decides.
        """
        check_is_fitted(self)
        if vectors is None or getattr(self, "directions_", None) is None:
            return stored_counts.read(self, X)
        counts = self._counts(X, reset=False, what="transform with vectors")
        directions = check_vectors(vectors, counts.shape[0], self.directions_.shape[1])
        with options.running(self) as engine, threadpool_limits(limits=1, user_api="blas"):
            return self._reader(engine)(counts, directions)

    def predict(self, X: Documents, *, vectors: Floats | None = None) -> Any:
        """The most probable cluster of each document."""
        if vectors is None:
            return super().predict(X)
        return self.transform(X, vectors=vectors).argmax(axis=1)

    joins_vectors = True
    _number = "n_clusters"

    def _reader(self, engine: Engine) -> stored_counts.Reader:
        dtype = self.word_given_node_.dtype
        prepare_kernels(dtype, "paths", device=self.device)
        ignored = chosen_words.ignored_columns(self)
        return stored_counts.Reader(
            *self._model(engine), 1.0 / self.temperature_, dtype, self.effective_length_, ignored
        )

    @property
    def tree_model_(self) -> TreeModel:
        """The tree with its parameters, in the names that all models share."""
        return TreeModel(
            self.tree_, self.tree_.leaves, self.word_given_node_, self.node_given_cluster_, self.cluster_prior_
        )

    def _take(self, model: TreeModel) -> None:
        self.tree_, self.cluster_prior_ = model.tree, model.class_prior
        self.word_given_node_, self.node_given_cluster_ = model.word_given_node, model.node_given_class

    def _model(self, engine: Engine, tree: TreeModel | None = None) -> tuple[cam.Cam, cam.Params]:
        tree = tree or self.tree_model_
        known = getattr(self, "directions_", None)
        if known is None or len(known) != tree.n_classes:
            return cam.Cam(engine, tree.path_mask), cam_params(tree)
        joined = Directions(self.concentration_, np.zeros(known.shape[1]))
        return cam.Cam(engine, tree.path_mask, joined=joined), replace(cam_params(tree), directions=known)

    def _check_options(self) -> None:
        preparation.check_common(self)
        preparation.check_number_of_leaves(self, "n_clusters", "max_clusters")
        chosen_words.check_chosen_words(self)
        options.check_one_of("levels", self.levels, (True, False))
        options.check_number("word_smoothing", self.word_smoothing, 0.0, hint="3.0")
        options.check_number("root_smoothing", self.root_smoothing, 0.0, hint="0.1")
        if self.concentration != "heldout":
            options.check_number("concentration", self.concentration, 0.0, hint="40, or 'heldout'")
        if self.effective_length is not None and self.effective_length != "heldout":
            options.check_number("effective_length", self.effective_length, 1.0, hint="35, None or 'heldout'")

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_prior_)
