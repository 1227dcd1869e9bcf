"""HPLSA as a scikit-learn estimator: documents in several classes, words at every level of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from threadpoolctl import threadpool_limits

from topiarist.arrays import DTypeLike, Floats, Seed
from topiarist.counts.column_map import without_columns
from topiarist.counts.validation import token_counts
from topiarist.counts.weighting import shortened
from topiarist.errors import UsageError
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.display import ShownEstimator
from topiarist.estimators.common.progress import fitting
from topiarist.estimators.common.stored_counts import Documents, read_store, refuse
from topiarist.estimators.tree import chosen_words, growth_sample, preparation, stored_ground
from topiarist.estimators.tree.chosen_words import SeedWords, Words
from topiarist.estimators.tree.posteriors import PlacesDocuments
from topiarist.estimators.tree.tree_streams import StreamsHPLSA
from topiarist.hierarchy.growth import loop as growing
from topiarist.hierarchy.growth.annealed import hplsa_schedule
from topiarist.hierarchy.growth.hplsa_species import HplsaSpecies, hplsa_params
from topiarist.hierarchy.growth.species import Steps
from topiarist.hierarchy.growth.start import placed
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_model import TreeModel, TreeTopics
from topiarist.models import em, hplsa
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.scale.executors import Executor


@options.common_options(
    max_iter="EM steps at most after the tree has grown.",
    random_state=options.seed_of("the held-out tokens and of growth"),
)
class HPLSA(StreamsHPLSA, PlacesDocuments, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ShownEstimator):  # type: ignore[misc]
    """Hierarchical PLSA: a document mixes classes, a class is a node of a tree and speaks with the words of its path.

    Parameters
    ----------
    n_classes : int or None, default None
        Leaves of the tree. None: the smallest tree that predicts held-out tokens within 1 % as well as the best.
    tree : Tree or None
        Fit this tree instead of growing one.
    class_nodes : "leaves" or "all", default "leaves"
        Which nodes of a given tree are classes.
    topic_mix : "ml", "uniform" or "heldout", default "ml"
        Where P(topic | class) comes from: all tokens, nowhere (even on the path), or held-out tokens, which put general
        words high and special words low.
    growth : "guided" or "annealed", default "guided"
        How splits are found: by geometry and repaired by EM, or by raising the inverse temperature as in the paper.
    headings : bool, default True
        Build the upper tree of guided growth anew from its leaves; see ``CAM``.
    schedule : sequence of float or None
        Inverse temperatures of annealed growth; None is the paper's.
    variant : "em", "cem" or "sem", default "em"
        Tokens shared among classes, given to the best one, or drawn.
    heldout_fraction : float, default 0.1
        Share of each document's tokens that is held out where the above asks for it.
    effective_length : float or None, default None
        A longer document weighs as if it had so many tokens. None: every token counts.
    word_smoothing, class_smoothing : float, default 0.01 and 0
        Pseudo-counts for each word of a topic, and for each class of a document.
    max_classes : int, default 512
        Leaves at most when held-out tokens choose.
    seed_words : mapping, list of lists or None
        Words that belong together: each is given prior tokens of (H6), as if one in a hundred tokens of the documents
        under its node were this word. With a ``tree``, words by the number or the name of a node; without one, groups
        of words, each of which goes to the node of the grown tree where it is most at home, in the last EM run.
    ignore_words : list or None
        Words that the tree must not see. Words are numbers of columns, or names where the counts have them.

    Attributes
    ----------
    tree_ : Tree
        The tree.
    class_nodes_ : tuple
        The node of each class; the leaves of the tree in their order, or all nodes.
    class_prior_ : array (n_classes,)
        P(class).
    doc_given_class_ : array (n_classes, n_documents)
        P(document | class); rows sum to one.
    topic_given_class_ : array (n_classes, n_nodes)
        P(topic | class), zero off the path; rows sum to one.
    word_given_topic_ : array (n_nodes, n_words)
        P(word | topic); rows sum to one.
    class_given_doc_ : array (n_documents, n_classes)
        P(class | document) of the training documents: what ``transform`` returns for them.
    labels_ : array (n_documents,)
        The most probable class of each training document.
    curve_ : Curve or None
        Held-out perplexity against the number of leaves, with ``plot``; None on a given tree.
    history_ : array
        The objective of the last EM run, over all tokens: of its start and after every step.
    inverse_temperature_ : float
        1, unless annealing found that held-out tokens prefer less.
    n_iter_, converged_, stopped_
        Steps of that run, whether there was nothing more to gain, and the reason: "converged", "max_iter", or
        "interrupted" (Ctrl-C keeps the best tree so far).
    grown_ : str
        Why growing ended: "heldout", "reached", "exhausted", "interrupted", or "given".
    seeds_ : array (n_seeds, 2)
        Node and column of each seed word.
    stream_, n_batches_, n_tokens_seen_
        In a stream (``partial_fit``): a record of each batch as it was before it was learned from, and how much there
        has been. There are no training documents then, and no attributes of theirs.
    """

    def __init__(
        self,
        n_classes: int | None = None,
        *,
        tree: Tree | None = None,
        class_nodes: str = "leaves",
        topic_mix: hplsa.TopicMix = "ml",
        growth: str = "guided",
        headings: bool = True,
        schedule: Any = None,
        variant: hplsa.Variant = "em",
        heldout_fraction: float = 0.1,
        effective_length: float | None = None,
        word_smoothing: float = 0.01,
        class_smoothing: float = 0.0,
        max_classes: int = 512,
        seed_words: SeedWords | None = None,
        ignore_words: Words | None = None,
        dtype: DTypeLike | None = None,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Seed = None,
        device: str = "cpu",
        n_threads: int | None = None,
        executor: Executor | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_classes = n_classes
        self.tree = tree
        self.class_nodes = class_nodes
        self.topic_mix = topic_mix
        self.growth = growth
        self.headings = headings
        self.schedule = schedule
        self.variant = variant
        self.heldout_fraction = heldout_fraction
        self.effective_length = effective_length
        self.word_smoothing = word_smoothing
        self.class_smoothing = class_smoothing
        self.max_classes = max_classes
        self.seed_words = seed_words
        self.ignore_words = ignore_words
        self.dtype = dtype
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.device = device
        self.n_threads = n_threads
        self.executor = executor
        self.verbose = verbose

    def fit(
        self, X: Documents, y: object = None, *, journal: growing.Journal | None = None, placed: bool = True
    ) -> HPLSA:
        """Grow a tree (or fit the given one) on a matrix of counts (documents × words); ``y`` is ignored.

        A ``journal`` keeps checkpoints of a tree that grows long, and a fit that was killed goes on from the last one.

        A ``BlockStore`` is fitted block by block, by guided growth or on a given tree; of more than 32,768 documents so
        many are drawn, which propose splits and headings. Of more than 262,144 documents in files so many are drawn
        that the tree grows from; all of them teach it then, in ten steps at most. Without ``placed`` there is nothing
        for each document of a store (``class_given_doc_``, ``labels_``): ``transform`` and ``predict`` have it.
        """
        self._check_options()
        if stored_counts.is_stored(X, self.executor):
            self._fit_stored(X, journal, placed=placed)
            return self
        counts = self._counts(X, reset=True)
        seeds = chosen_words.seeded_nodes(self, self.tree) if self.tree is not None else {}
        groups = chosen_words.seeded_groups(self) if self.tree is None else []
        dtype = options.working_dtype(self.dtype, counts, preparation.TILE_COLUMNS)
        prepare_kernels(dtype, "paths", device=self.device)
        with options.running(self) as engine, threadpool_limits(limits=1, user_api="blas"):
            rng = options.generator(self.random_state)
            seed = int(rng.integers(2**31))
            ground = preparation.prepared(engine, counts, self.effective_length, self.heldout_fraction, dtype, seed)
            species = self._species(engine, ground, rng, seeds)
            grown = self._grown(species, ground, journal)
            shard = engine.shard(shortened(counts, self.effective_length), dtype, preparation.TILE_COLUMNS)
            seeds = seeds or chosen_words.homes(groups, grown.stage.parts)
            species = replace(species, block=hplsa.Block(shard), seeds=seeds)
            self._learn(species, grown, species.state(grown.stage.parts))
            self.class_given_doc_ = self._reader(engine)(counts)
            self._lengths = token_counts(counts)
            self.class_prior_ = hplsa.class_prior(self.class_given_doc_, self._lengths)
            self.labels_ = self.class_given_doc_.argmax(axis=1)
            self._forget_stream(counts.shape[0], species.tokens)
        return self

    def _fit_stored(self, X: Documents, journal: growing.Journal | None, *, placed: bool) -> None:
        """Grow a tree (or fit the given one) to a store, see ``stored_ground``."""
        if self.tree is None:
            refuse(self, "chance parts documents in memory", growth="guided")
        length = self.effective_length
        with stored_ground.site(self, X) as site:
            seeds = chosen_words.seeded_nodes(self, self.tree) if self.tree is not None else {}
            groups = chosen_words.seeded_groups(self) if self.tree is None else []
            with site.prepared(length) as (ground, drawn, sampled):
                species = self._species(site.engine, ground, site.rng, seeds)
                grown = self._grown(species, ground, journal, site.most)
            del ground
            parts, beta = grown.stage.parts, grown.stage.inverse_temperature
            seeds = seeds or chosen_words.homes(groups, parts)
            stored_ground.say_where_memory_ended_it(self, grown, site.most)
            with site.weighed(length, drawn) as all_tokens:
                block = hplsa.Block(all_tokens.block.training)
                species = replace(species, block=block, seeds=seeds, stored=all_tokens.stored)
                if sampled:  # everybody finds a place in what has grown
                    model = self._model(site.engine, parts)
                    reader = stored_counts.Reader(*model, beta, site.dtype, length, site.ignored)
                    places = read_store(site.store, reader, self.executor).parts
                    self._learn(species, grown, em.State(model[1], places), growth_sample.LAST_STEPS)
                else:
                    self._learn(species, grown, species.state(parts))
            answers = read_store(site.store, self._reader(site.engine), self.executor)
            self.class_prior_ = answers.tokens / answers.tokens.sum()
            preparation.forget(self, "class_given_doc_", "labels_", "_lengths")
            if placed:
                self.class_given_doc_, self.labels_ = answers.rows(), answers.labels()
                lengths = (token_counts(without_columns(block.counts(), site.ignored)) for block in site.store.blocks())
                self._lengths = answers.kept((len(site.store),), np.float64, lengths)
            self._forget_stream(len(site.store), species.tokens)

    def _species(
        self, engine: Engine, ground: preparation.Ground, rng: np.random.Generator, seeds: dict[int, list[int]]
    ) -> HplsaSpecies:
        return HplsaSpecies(
            engine, hplsa.Block(ground.training, ground.heldout), rng, self.topic_mix, self.variant,
            self.word_smoothing, self.class_smoothing, executor=self.executor, seeds=seeds, stored=ground.stored,
        )  # fmt: skip

    def _grown(
        self,
        species: HplsaSpecies,
        ground: preparation.Ground,
        journal: growing.Journal | None,
        most: int | None = None,
    ) -> growing.Growth:
        """The tree, with words learned from the tokens that were not held out."""
        if self.tree is not None:
            return self._on_tree(self.tree, species, ground)
        schedule = self._schedule() or hplsa_schedule()
        annealing = (schedule, species.lengths) if self.growth == "annealed" else None
        return preparation.grown_tree(self, species, ground.vectors, annealing, journal, most=most)

    def _on_tree(self, tree: Tree, species: HplsaSpecies, ground: preparation.Ground) -> growing.Growth:
        """A start on the given tree; where held-out tokens decide about the levels, these are settled first."""
        classes = tree.leaves if self.class_nodes == "leaves" else tuple(range(len(tree)))
        start = placed(tree, classes, ground.vectors, species.words_of, species.rng)
        start = replace(start, each=species.each)
        if species.seeds:
            start = chosen_words.sown(start, ground.counts, species.seeds, species.words_of)
        if self.topic_mix != "heldout":
            return preparation.given(growing.Stage(start, 0.0))
        patient = replace(species, steps=Steps(last=self.max_iter, tol=self.tol))
        return preparation.given(growing.begun(patient, start, last=True))

    def _learn(
        self, species: HplsaSpecies, grown: growing.Growth, start: em.State, most_steps: int | None = None
    ) -> None:
        """Learn from all tokens, with the tree as it is."""
        parts, beta = grown.stage.parts, grown.stage.inverse_temperature
        model = species.model(parts)
        tol = self.tol if self.variant != "sem" else -np.inf
        steps = self.max_iter if most_steps is None else min(self.max_iter, most_steps)
        rules = em.Rules(steps, tol, species.tokens, accelerate=model.monotone)
        with fitting("HPLSA, all tokens", rules, show=bool(self.verbose)) as watch:
            fit = preparation.last_run(model, species.blocks, start, rules, beta, watch=watch, executor=self.executor)
        self._keep_fit(parts.tree, parts.class_nodes, fit)
        self.seeds_ = chosen_words.pairs(species.seeds)
        self.curve_, self.grown_ = preparation.curve_of(grown), grown.reason
        self.stopped_ = "interrupted" if grown.reason == "interrupted" else fit.reason

    def _keep_fit(self, tree: Tree, class_nodes: tuple[int, ...], fit: em.Fit) -> None:
        shared: hplsa.Params = fit.state.shared
        self.tree_, self.class_nodes_, self.inverse_temperature_ = tree, class_nodes, fit.inverse_temperature
        self.word_given_topic_, self.topic_given_class_ = shared.word_given_topic, shared.topic_given_class
        self.seeds_, ignored = chosen_words.pairs({}), chosen_words.ignored_columns(self)
        if len(ignored):  # smoothing has given them a little
            self.word_given_topic_[:, ignored] = 0.0
            self.word_given_topic_ /= self.word_given_topic_.sum(axis=1, keepdims=True)
        self.history_, self.n_iter_, self.converged_ = np.array(fit.objectives), fit.steps, fit.converged

    @property
    def doc_given_class_(self) -> Floats:
        """P(document | class) of the training documents, (n_classes, n_documents); rows sum to one."""
        return hplsa.doc_given_class(self.class_given_doc_, self._lengths)

    _number = "n_classes"
    _shares = True  # a document mixes classes, its tokens have them one by one

    def _reader(self, engine: Engine) -> stored_counts.Reader:
        dtype = self.word_given_topic_.dtype
        prepare_kernels(dtype, "paths", device=self.device)
        ignored = chosen_words.ignored_columns(self)
        return stored_counts.Reader(
            *self._model(engine), self.inverse_temperature_, dtype, self.effective_length, ignored
        )

    def _take(self, model: TreeModel) -> None:
        self.tree_, self.class_nodes_, self.class_prior_ = model.tree, model.class_nodes, model.class_prior
        self.word_given_topic_, self.topic_given_class_ = model.word_given_node, model.node_given_class

    def _model(self, engine: Engine, tree: TreeTopics | None = None) -> tuple[hplsa.Hplsa, hplsa.Params]:
        tree = tree or self._topics
        return hplsa.Hplsa(engine, tree.path_mask, class_smoothing=self.class_smoothing), hplsa_params(tree)

    @property
    def _topics(self) -> TreeTopics:
        """The tree while P(class) is not known yet: documents that are folded in tell it."""
        return TreeTopics(self.tree_, tuple(self.class_nodes_), self.word_given_topic_, self.topic_given_class_)

    def _schedule(self) -> tuple[float, ...]:
        """The given inverse temperatures, checked; nothing where none were given."""
        if self.schedule is None:
            return ()
        hint = "(0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)"
        if not isinstance(self.schedule, Sequence | np.ndarray) or not len(self.schedule):
            raise UsageError(f"schedule must be a sequence of inverse temperatures, got {self.schedule!r}", hint=hint)
        if self.growth != "annealed" or self.tree is not None:
            raise UsageError("schedule is for annealed growth only", hint="growth='annealed', and no tree")
        return tuple(options.check_number("schedule", beta, 0.01, 1.0, hint=hint) for beta in self.schedule)

    def _check_options(self) -> None:
        preparation.check_common(self)
        preparation.check_number_of_leaves(self, "n_classes", "max_classes")
        chosen_words.check_chosen_words(self)
        options.check_one_of("class_nodes", self.class_nodes, ("leaves", "all"))
        options.check_one_of("topic_mix", self.topic_mix, ("ml", "uniform", "heldout"))
        options.check_one_of("variant", self.variant, ("em", "cem", "sem"))
        options.check_number("word_smoothing", self.word_smoothing, 0.0, hint="0.01")
        options.check_number("class_smoothing", self.class_smoothing, 0.0, hint="0")
        if self.effective_length is not None:
            options.check_number("effective_length", self.effective_length, 1.0, hint="35, or None")
        if self.class_nodes == "all" and self.tree is None:
            raise UsageError("class_nodes='all' needs a given tree", hint="tree=Tree.from_paths([...])")
        self._schedule()

    @property
    def _n_features_out(self) -> int:
        return len(self.class_prior_)
