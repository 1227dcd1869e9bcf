"""HPLSA as a scikit-learn estimator: documents mix several classes, and words come from all levels of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from topiarist.arrays import TINY, Csr, DTypeLike, Floats
from topiarist.errors import UsageError
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.base import EMOptions
from topiarist.estimators.common.progress import show_fit
from topiarist.estimators.common.stored_counts import Documents, read_counts, refuse_options
from topiarist.estimators.common.streams import PREDICTIVE_PSEUDO_COUNT
from topiarist.estimators.tree import chosen_words, growth_data, growth_sample, preparation
from topiarist.estimators.tree.abstraction import ReadsDocuments
from topiarist.estimators.tree.chosen_words import SeedWords, Words
from topiarist.estimators.tree.posteriors import PlacesDocuments
from topiarist.estimators.tree.tree_streams import StreamsTree
from topiarist.execution.blocks import BlockFile, BlockStore
from topiarist.models import em, hplsa, online
from topiarist.models.engine import Shard
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.trees.growth import loop as growing
from topiarist.trees.growth.annealed import hplsa_schedule
from topiarist.trees.growth.growing_models import Steps
from topiarist.trees.growth.hplsa_growing import HplsaGrowingModel, make_hplsa_params
from topiarist.trees.growth.start import place_documents
from topiarist.trees.tree import Tree
from topiarist.trees.tree_model import TreeModel, TreeTopics


@options.estimator(
    max_iter="Maximum number of EM steps after growth.",
    random_state=options.describe_seed("the held-out tokens and of growth"),
)
class HPLSA(StreamsTree, ReadsDocuments, PlacesDocuments, ClassNamePrefixFeaturesOutMixin, EMOptions):  # type: ignore[misc]
    """Hierarchical PLSA: a document mixes classes, and a class uses the words of the nodes on its path.

    Parameters
    ----------
    n_classes : int or None, default None
        Number of leaves. None: the smallest tree whose held-out perplexity, after a charge for size, is within 1% of the best.
    tree : Tree or None
        Fit this tree instead of growing one.
    class_nodes : "leaves" or "all", default "leaves"
        Nodes of a given tree that are classes.
    topic_mix : "ml", "uniform" or "heldout", default "ml"
        Source of P(topic | class). "ml": all tokens. "uniform": even along the path; of the paper, not recommended.
        "heldout": held-out tokens, which move general words up and special words down.
    growth : "guided" or "annealed", default "guided"
        How to find splits: "guided" proposes them from the geometry of the documents and refines them by EM. "annealed"
        raises the inverse temperature, as in the paper.
    headings : bool, default True
        Rebuild the upper tree of guided growth from its leaves, see ``CAM``.
    schedule : sequence of float or None
        Inverse temperatures of annealed growth. None: those of the paper.
    variant : "em", "cem" or "sem", default "em"
        E-step: share tokens among classes, assign each to its best class, or draw its class. "cem" and "sem" are of the
        paper, not recommended.
    heldout_fraction : float, default 0.1
        Fraction of each document's tokens that is held out for growth and for ``topic_mix="heldout"``.
    effective_length : float or None, default None
        Weigh a longer document as if it had this many tokens. None: use every token.
    word_smoothing, class_smoothing : float, default 0.01 and 0
        Pseudo-counts for each word of a topic, and for each class of a document.
    max_classes : int, default 512
        Maximum number of leaves if the number is chosen.
    seed_words : mapping, list of lists or None
        Words that belong together. Each gets prior tokens (H6): one in a hundred tokens of the documents under its
        node. With ``tree``: words by number or name of a node. Without it: groups of words; each group is assigned to
        the node where it is most probable, in the last EM run.
    ignore_words : list or None
        Words that the tree ignores. Words are column numbers, or names if the counts have them.

    Attributes
    ----------
    tree_ : Tree
        The tree.
    class_nodes_ : tuple
        Node of each class: the leaves of the tree in their order, or all nodes.
    class_prior_ : array (n_classes,)
        P(class).
    doc_given_class_ : array (n_classes, n_documents)
        P(document | class); rows sum to one.
    topic_given_class_ : array (n_classes, n_nodes)
        P(topic | class), zero outside the path; rows sum to one.
    word_given_topic_ : array (n_nodes, n_words)
        P(word | topic); rows sum to one.
    class_given_doc_ : array (n_documents, n_classes)
        P(class | document) of the training documents, as ``transform`` returns it.
    labels_ : array (n_documents,)
        Most probable class of each training document.
    curve_ : Curve or None
        Held-out perplexity by number of leaves, with ``plot``; None for a given tree.
    history_ : array
        Objective of the last EM run over all tokens: of the start and after every step.
    inverse_temperature_ : float
        1, or less if held-out tokens preferred it during annealing.
    n_iter_, converged_, stopped_
        Number of steps of the last run, whether it converged, and the reason of the stop: "converged", "max_iter" or
        "interrupted" (Ctrl-C keeps the best tree).
    grown_ : str
        Reason why growth ended: "heldout", "reached", "exhausted", "interrupted" or "given".
    seeds_ : array (n_seeds, 2)
        Node and column of each seed word.
    stream_, n_batches_, n_tokens_seen_
        In a stream (``partial_fit``): record of each batch before learning from it, and the number of batches and
        tokens. A stream has no training documents.

    Examples
    --------
    >>> import numpy as np
    >>> from topiarist import HPLSA
    >>> counts = np.random.default_rng(0).poisson(1.0, (60, 20))
    >>> len(HPLSA(2, random_state=0).fit(counts).tree_.leaves)
    2
    """

    n_classes: int | None = None
    _: KW_ONLY
    tree: Tree | None = None
    class_nodes: str = "leaves"
    topic_mix: hplsa.TopicMix = "ml"
    growth: str = "guided"
    headings: bool = True
    schedule: Any = None
    variant: hplsa.Variant = "em"
    heldout_fraction: float = 0.1
    effective_length: float | None = None
    word_smoothing: float = 0.01
    class_smoothing: float = 0.0
    max_classes: int = 512
    seed_words: SeedWords | None = None
    ignore_words: Words | None = None
    dtype: DTypeLike | None = None
    max_iter: int = 100

    def fit(
        self, X: Documents, y: object = None, *, journal: growing.Journal | None = None, keep_posteriors: bool = True
    ) -> HPLSA:
        """Grow a tree, or fit the given one.

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
        A ``BlockStore`` is fitted block by block, by guided growth or on a given tree. Then 32,768 sampled documents
        propose splits and headings. With more than 262,144 documents the tree grows from a sample of that size, and all
        documents teach it in at most ten steps.
        """
        self._check_options()
        if self.tree is None and stored_counts.is_stored(X, self.executor):
            refuse_options(self, "annealed growth needs counts in memory", growth="guided")
        length = self.effective_length
        with growth_data.open_fit_data(self, X) as data:
            seeds, groups = chosen_words.find_seeds(self)
            with data.prepare(length) as (ground, sample_rows, sampled):
                species = HplsaGrowingModel(
                    data.engine, hplsa.Block(ground.training, ground.heldout), data.rng, self.topic_mix, self.variant,
                    self.word_smoothing, self.class_smoothing, executor=self.executor, seeds=seeds, stored=ground.stored,
                )  # fmt: skip
                growth = self._grow(species, ground, journal, data.max_leaves)
            del ground
            parts, beta = growth.stage.parts, growth.stage.inverse_temperature
            seeds = seeds or chosen_words.assign_seed_groups(groups, parts)
            growth_data.warn_memory_limit(self, growth, data.max_leaves)
            with data.weigh(length, sample_rows) as all_tokens:
                block = hplsa.Block(all_tokens.block.training)
                species = replace(species, block=block, seeds=seeds, stored=all_tokens.stored)
                if sampled:  # everybody finds a place in what has grown
                    model = self._model(data.engine, parts)
                    reader = stored_counts.Reader(*model, beta, data.dtype, length, data.ignored)
                    posteriors = read_counts(data.counts, reader, self.executor).parts
                    self._learn_words(species, growth, em.State(model[1], posteriors), growth_sample.LAST_STEPS)
                else:
                    self._learn_words(species, growth, species.state(parts))
                n_tokens = species.tokens
            answers = read_counts(data.counts, self._reader(data.engine), self.executor)
            self.class_prior_ = answers.tokens / answers.tokens.sum()
            self._forget_documents()
            if keep_posteriors or not isinstance(data.counts, BlockStore):
                self.class_given_doc_, self.labels_ = answers.rows(), answers.labels()
                self._lengths = answers.collect((answers.n_docs,), np.float64, data.document_lengths())
            self._reset_stream(answers.n_docs, n_tokens)
        return self

    def _grow(
        self,
        species: HplsaGrowingModel,
        ground: preparation.GrowthData,
        journal: growing.Journal | None,
        max_leaves: int | None = None,
    ) -> growing.Growth:
        """Grow a tree, or fit the given one."""
        if self.tree is not None:
            return self._start_on_tree(self.tree, species, ground)
        schedule = self._check_schedule() or hplsa_schedule()
        annealing = (schedule, species.lengths) if self.growth == "annealed" else None
        return preparation.grow_tree(self, species, ground.vectors, annealing, journal, max_leaves=max_leaves)

    def _start_on_tree(self, tree: Tree, species: HplsaGrowingModel, ground: preparation.GrowthData) -> growing.Growth:
        """Return a start on the given tree; if held-out tokens choose the levels, EM fits these first."""
        classes = tree.leaves if self.class_nodes == "leaves" else tuple(range(len(tree)))
        start = place_documents(tree, classes, ground.vectors, species.estimate_words, species.rng)
        start = replace(start, documents_per_row=species.documents_per_row)
        if species.seeds:
            start = chosen_words.apply_seeds(start, ground.counts, species.seeds, species.estimate_words)
        if self.topic_mix != "heldout":
            return preparation.make_given_growth(growing.Stage(start, 0.0))
        patient = replace(species, steps=Steps(last=self.max_iter, tol=self.tol))
        return preparation.make_given_growth(growing.fit_from_start(patient, start, last=True))

    def _learn_words(
        self, species: HplsaGrowingModel, growth: growing.Growth, start: em.State, most_steps: int | None = None
    ) -> None:
        """Fit the parameters of the final tree to all tokens, and set the fitted attributes."""
        parts, beta = growth.stage.parts, growth.stage.inverse_temperature
        model = species.model(parts)
        tol = self.tol if self.variant != "sem" else -np.inf
        steps = self.max_iter if most_steps is None else min(self.max_iter, most_steps)
        rules = em.Rules(steps, tol, species.tokens, accelerate=model.is_monotone)
        with show_fit("HPLSA, all tokens", rules, show=bool(self.verbose)) as watch:
            fit = preparation.run_last_fit(
                model, species.blocks, start, rules, beta, watch=watch, executor=self.executor
            )
        shared: hplsa.Params = fit.state.shared
        self.tree_, self.class_nodes_ = parts.tree, parts.class_nodes
        self.inverse_temperature_ = fit.inverse_temperature
        self.word_given_topic_, self.topic_given_class_ = shared.word_given_topic, shared.topic_given_class
        ignored = chosen_words.find_ignored_columns(self)
        if len(ignored):  # smoothing has given them a little
            self.word_given_topic_[:, ignored] = 0.0
            self.word_given_topic_ /= self.word_given_topic_.sum(axis=1, keepdims=True)
        self.seeds_ = chosen_words.to_seed_pairs(species.seeds)
        self._store_growth(growth, fit)

    @property
    def doc_given_class_(self) -> Floats:
        """P(document | class) of the training documents, (n_classes, n_documents); rows sum to one."""
        return hplsa.doc_given_class(self.class_given_doc_, self._lengths)

    _number = "n_classes"
    _params, _word_count = staticmethod(make_hplsa_params), "topic_word_count"
    _rows_of_documents = "class_given_doc_"
    _of_documents = (_rows_of_documents, "labels_", "_lengths")
    _shares = True  # a document mixes classes, its tokens have them one by one

    def _reader(self, engine: Engine) -> stored_counts.Reader:
        """Return an object that computes class probabilities of counts."""
        dtype = self.word_given_topic_.dtype
        prepare_kernels(dtype, "paths", device=self.device)
        ignored = chosen_words.find_ignored_columns(self)
        return stored_counts.Reader(
            *self._model(engine), self.inverse_temperature_, dtype, self.effective_length, ignored
        )

    def _take(self, model: TreeModel) -> None:
        self.tree_, self.class_nodes_, self.class_prior_ = model.tree, model.class_nodes, model.class_prior
        self.word_given_topic_, self.topic_given_class_ = model.word_given_node, model.node_given_class

    def _model(self, engine: Engine, tree: TreeTopics | None = None) -> tuple[hplsa.Hplsa, hplsa.Params]:
        tree = tree or self._tree_topics
        return hplsa.Hplsa(engine, tree.path_mask, class_smoothing=self.class_smoothing), make_hplsa_params(tree)

    @property
    def _tree_topics(self) -> TreeTopics:
        """Tree without P(class), which is only known after folding in."""
        return TreeTopics(self.tree_, tuple(self.class_nodes_), self.word_given_topic_, self.topic_given_class_)

    def _check_schedule(self) -> tuple[float, ...]:
        """Return the given inverse temperatures, or an empty tuple; raise UsageError for invalid ones."""
        if self.schedule is None:
            return ()
        hint = "Use (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)."
        if not isinstance(self.schedule, Sequence | np.ndarray) or not len(self.schedule):
            raise UsageError(f"schedule must be a sequence of inverse temperatures, got {self.schedule!r}", hint=hint)
        if self.growth != "annealed" or self.tree is not None:
            raise UsageError("schedule is for annealed growth only", hint="Use growth='annealed' without a tree.")
        return tuple(options.check_number("schedule", beta, 0.01, 1.0, hint=hint) for beta in self.schedule)

    def _check_options(self) -> None:
        """Raise UsageError for a parameter outside its range."""
        preparation.check_common(self)
        preparation.check_number_of_leaves(self, "n_classes", "max_classes")
        chosen_words.check_chosen_words(self)
        options.check_one_of("class_nodes", self.class_nodes, ("leaves", "all"))
        options.check_one_of("topic_mix", self.topic_mix, ("ml", "uniform", "heldout"))
        options.check_one_of("variant", self.variant, ("em", "cem", "sem"))
        options.check_number("word_smoothing", self.word_smoothing, 0.0, hint="Use 0.01.")
        options.check_number("class_smoothing", self.class_smoothing, 0.0, hint="Use 0.")
        if self.effective_length is not None:
            options.check_number("effective_length", self.effective_length, 1.0, hint="Use 35 or None.")
        if self.class_nodes == "all" and self.tree is None:
            raise UsageError("class_nodes='all' needs a given tree", hint="Pass tree=Tree.from_paths([...]).")
        self._check_schedule()

    @property
    def _n_features_out(self) -> int:
        return len(self.class_prior_)

    def _get_length(self) -> float | None:
        return self.effective_length

    def _stream_model(self, engine: Engine, stream: online.Stream) -> hplsa.Hplsa:
        """Return the model for one batch of a stream."""
        return hplsa.Hplsa(
            engine, self.tree_.path_mask(self.class_nodes_), online.limit_smoothing(self.word_smoothing),
            self.class_smoothing, self.topic_mix, self.variant, stream.batches,
            seeds=self._stream_seeds(self.tree_.path_mask(self.class_nodes_), self.class_prior_, stream.tokens),
        )  # fmt: skip

    def _make_scorer(self, model: hplsa.Hplsa) -> hplsa.Hplsa:
        return replace(model, class_smoothing=max(PREDICTIVE_PSEUDO_COUNT, model.class_smoothing))

    def _remove_temperature(self) -> None:
        self.inverse_temperature_ = 1.0

    def _stream_start(self) -> hplsa.Stats:
        """Return the statistics with which a stream continues the fitted parameters."""
        mix = self.class_prior_[:, None] * self.topic_given_class_
        pseudo: Any = float(self.word_smoothing)
        seeds = self._stream_seeds(self.tree_.path_mask(self.class_nodes_), self.class_prior_, self.n_tokens_seen_)
        if seeds is not None:
            pseudo = np.full(self.word_given_topic_.shape, pseudo)
            np.add.at(pseudo, (seeds.nodes, seeds.columns), seeds.tokens)
        words = online.expected_counts(self.word_given_topic_, mix.sum(axis=0), pseudo, self.n_tokens_seen_)
        return hplsa.Stats(words, mix * (self.heldout_fraction if self.topic_mix == "heldout" else 1.0), 0.0)

    def _stream_block(self, engine: Engine, counts: Csr, shard: BlockFile | None) -> hplsa.Block | Shard:
        dtype = self.word_given_topic_.dtype
        if self.topic_mix == "heldout":
            return hplsa.Block(*self._split_block(engine, counts, dtype))
        return self._make_block(engine, counts, shard, dtype)

    def _keep_shared(self, shared: hplsa.Params, stream: online.Stream) -> None:
        self.word_given_topic_, self.topic_given_class_ = shared.word_given_topic, shared.topic_given_class
        prior = stream.stats.class_topic_count.sum(axis=1, dtype=np.float64)
        self.class_prior_ = prior / max(prior.sum(), TINY)
