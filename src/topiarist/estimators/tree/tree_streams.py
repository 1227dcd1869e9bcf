"""Trees from batches: what HPLSA and CAM add to a stream that every estimator learns from in the same way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from topiarist.arrays import Bools, Csr, Dtype, Floats
from topiarist.counts.column_map import without_columns
from topiarist.counts.weighting import effective_length_weights, scale_rows, shortened
from topiarist.errors import UsageError
from topiarist.estimators.common import options
from topiarist.estimators.common.stored_counts import Documents
from topiarist.estimators.common.streams import PREDICTING, LearnsFromStreams
from topiarist.estimators.tree import preparation
from topiarist.estimators.tree.chosen_words import by_node, ignored_columns, seeds_of
from topiarist.estimators.tree.posteriors import FilesDocuments
from topiarist.hierarchy.branches import BranchProposal, Graft, Wanted, propose_branches
from topiarist.hierarchy.growth.hplsa_species import hplsa_params
from topiarist.hierarchy.growth.species import cam_params
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_model import TreeModel
from topiarist.models import cam, hplsa, misfits, online
from topiarist.models.engine import Shard
from topiarist.models.engine.host import Engine, weighted_total
from topiarist.models.seeds import Seeds
from topiarist.scale.blocks import BlockFile


class StreamsTree(LearnsFromStreams, FilesDocuments):
    """What HPLSA and CAM share: words at nodes, nodes on paths."""

    tree: Tree | None
    heldout_fraction: float
    word_smoothing: float
    fit: Callable[..., Self]
    _model: Callable[[Engine, TreeModel], tuple[Any, Any]]
    _params: Callable[[TreeModel], Any]
    _take: Callable[[TreeModel], None]
    _grafted: Callable[[Graft, Any], Any]

    _learned = "tree_"

    def partial_fit(self, X: Documents, y: object = None) -> Self:
        """Learn from one more batch of a stream: counts, or a block of a ``BlockStore``.

        After ``fit`` the stream goes on from there, untempered; on a given ``tree`` the first batch is fitted as a
        small collection. What ``fit`` says of its documents is forgotten: ask ``transform``. ``history_`` holds the
        log-likelihood per token of each batch before it was learned from (NaN where it had none), ``stream_`` what else
        is known of it. See docs/how-to/follow-a-stream.md.
        """
        if self.tree is None and not hasattr(self, "tree_"):
            raise UsageError(
                f"{type(self).__name__}.partial_fit learns on a tree, and there is none yet: a batch cannot tell how "
                "many leaves a stream has",
                hint="fit(sample) grows one on a sample of some thousand documents, then go on; or tree=Tree(...)",
            )
        return self._partial_fit(X)

    def propose_branches(self, n_words: int = 8, wanted: Wanted | None = None) -> tuple[BranchProposal, ...]:
        """New leaves for documents of the stream that fit badly, those that gain most first; none if nothing pays.

        ``n_words`` columns describe each of them; ``wanted`` says what a leaf must have. ``adopt`` takes one over.
        """
        check_is_fitted(self)
        if self._misfits.counts is None:
            return ()
        recent = self.stream_[self._collecting_since :][-round(misfits.LIFETIME) :]
        share = sum(one.misfits * one.documents for one in recent) / max(sum(one.documents for one in recent), 1)
        with options.running(self) as engine, threadpool_limits(limits=1, user_api="blas"):
            return propose_branches(
                self.tree_model_, self._misfits.counts, lambda *given: self._scores(engine, *given),
                share=share, n_words=n_words, wanted=wanted, seed=self._stream_seed,
            )  # fmt: skip

    def adopt(self, proposal: BranchProposal, name: str | None = None) -> Self:
        """Give the tree a leaf that was proposed; the stream goes on with it, and begins to look for misfits anew.

        The leaf is the last node. Classes are in the order of the leaves, so that numbers of classes may change.
        """
        check_is_fitted(self)
        stream = self._enter_stream()
        graft = Graft.of(self.tree_model_, proposal, name, proposal.share * self.n_tokens_seen_)
        self._take(graft.grown)
        self._stream = replace(stream, stats=self._grafted(graft, stream.stats))
        self._forget_misfits()
        self._forget_documents()
        return self

    def _scores(self, engine: Engine, tree: TreeModel, observed: Csr, hidden: Csr) -> misfits.Scores:
        """The likelihood of hidden tokens under a tree, in which observed ones place their documents."""
        model, shared = self._model(engine, tree)
        return misfits.hidden_scores(self._scorer(model), shared, observed, hidden, self._length())

    def _begin_stream(self, X: Documents) -> None:
        self.fit(X.counts() if isinstance(X, BlockFile) else X)
        self.n_batches_, self.history_ = 1, np.empty(0)
        self._forget_documents()

    def _keep_batch(self, engine: Engine, counts: Csr) -> None:
        self._forget_documents()

    def _forget_documents(self) -> None:
        for name in self._of_documents:
            vars(self).pop(name, None)

    _of_documents: tuple[str, ...] = ("labels_",)
    _word_count = ""  # the statistics of words, (nodes, words)

    def _parted_block(self, engine: Engine, counts: Csr, dtype: Dtype) -> tuple[Shard, Shard]:
        """Tokens to learn words from, and held-out ones for the levels; a longer document weighs as a short one."""
        seed = (self._stream_seed + self.n_batches_) % 2**31
        weights = effective_length_weights(counts, self._length())
        parts = (scale_rows(part, weights) for part in preparation.parted(counts, self.heldout_fraction, seed))
        training, heldout = (engine.shard(part, dtype, preparation.TILE_COLUMNS) for part in parts)
        return training, heldout

    def _whole_block(self, engine: Engine, counts: Csr, shard: BlockFile | None, dtype: Dtype) -> Shard:
        """All tokens; a block on disk as it lies there, if documents weigh what they have."""
        if self._length() is not None or shard is None:
            return engine.shard(shortened(counts, self._length()), dtype, preparation.TILE_COLUMNS)
        return replace(shard, dtype=dtype.name).load()

    def _stream_seeds(self, mask: Bools, class_prior: Floats, tokens: float) -> Seeds | None:
        """Words that people want at nodes, in proportion to what the stream has brought under each."""
        words = by_node(getattr(self, "seeds_", np.empty((0, 2), np.int64)))
        return seeds_of(words, mask, class_prior.astype(np.float64) * tokens)

    def _batch(self, X: Documents) -> tuple[Csr, BlockFile | None]:
        """Without words that the tree must not see; then a block is not read as it lies on the disk."""
        counts, block = super()._batch(X)
        ignored = ignored_columns(self)
        return without_columns(counts, ignored), block if not len(ignored) else None

    def _stream_shared(self) -> Any:
        return self._params(self.tree_model_)

    def _word_totals(self, stats: Any) -> Floats:
        totals: Floats = getattr(stats, self._word_count).sum(axis=0, dtype=np.float64)
        return totals

    def _widen(self, n_words: int) -> None:
        """P(w|a) and the counts of the stream get more words; these have not been counted yet."""
        stream = self._enter_stream()
        fitted, stats = self.tree_model_, stream.stats
        words, counts = fitted.word_given_node, getattr(stats, self._word_count)
        tokens = counts.sum(axis=1, dtype=np.float64) * self.n_tokens_seen_
        more = np.pad(counts, ((0, 0), (0, n_words - words.shape[1])))
        self._take(replace(fitted, word_given_node=online.wider(words, tokens, n_words)))
        self._stream = replace(stream, stats=replace(stats, **{self._word_count: more}))


class StreamsHPLSA(StreamsTree):
    """HPLSA in a stream."""

    class_smoothing: float
    effective_length: float | None
    topic_mix: hplsa.TopicMix
    variant: hplsa.Variant

    _params, _word_count = staticmethod(hplsa_params), "topic_word_count"
    _rows_of_documents = "class_given_doc_"
    _of_documents = (_rows_of_documents, "labels_", "_lengths")

    def _length(self) -> float | None:
        return self.effective_length

    def _stream_model(self, engine: Engine, stream: online.Stream) -> hplsa.Hplsa:
        return hplsa.Hplsa(
            engine, self.tree_.path_mask(self.class_nodes_), online.smoothing(self.word_smoothing),
            self.class_smoothing, self.topic_mix, self.variant, stream.batches,
            seeds=self._stream_seeds(self.tree_.path_mask(self.class_nodes_), self.class_prior_, stream.tokens),
        )  # fmt: skip

    def _scorer(self, model: hplsa.Hplsa) -> hplsa.Hplsa:
        return replace(model, class_smoothing=max(PREDICTING, model.class_smoothing))

    def _untemper(self) -> None:
        self.inverse_temperature_ = 1.0

    def _stream_start(self) -> hplsa.Stats:
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
            return hplsa.Block(*self._parted_block(engine, counts, dtype))
        return self._whole_block(engine, counts, shard, dtype)

    def _keep_shared(self, shared: hplsa.Params, stream: online.Stream) -> None:
        self.word_given_topic_, self.topic_given_class_ = shared.word_given_topic, shared.topic_given_class
        prior = stream.stats.class_topic_count.sum(axis=1, dtype=np.float64)
        self.class_prior_ = prior / max(prior.sum(), 1e-300)

    def _grafted(self, graft: Graft, stats: hplsa.Stats) -> hplsa.Stats:
        return hplsa.Stats(graft.words(stats.topic_word_count), graft.classes(stats.class_topic_count), 0.0)


class StreamsCAM(StreamsTree):
    """CAM in a stream."""

    root_smoothing: float
    levels: bool
    effective_length_: float | None
    cluster_prior_: Floats
    node_given_cluster_: Floats
    word_given_node_: Floats

    _params, _word_count = staticmethod(cam_params), "node_word_count"
    _rows_of_documents = "cluster_given_doc_"
    _of_documents = (_rows_of_documents, "labels_")

    def _length(self) -> float | None:
        return self.effective_length_

    def _stream_model(self, engine: Engine, stream: online.Stream) -> cam.Cam:
        """With the words of the stream so far in the place of the collection's; all of its tokens are at some node."""
        collection = self._word_totals(stream.stats) + 1e-3 / max(stream.tokens, 1.0)
        mask, levels = self.tree_.path_mask(), "heldout" if self.levels else "fixed"
        return cam.Cam(
            engine, mask, levels, collection / collection.sum(), self._prior_tokens(stream.tokens),  # type: ignore[arg-type]
            self.node_given_cluster_, self._stream_seeds(mask, self.cluster_prior_, stream.tokens),
        )  # fmt: skip

    def _prior_tokens(self, tokens: float) -> Floats:
        prior = np.full(len(self.tree_), float(self.word_smoothing))
        prior[self.tree_.root] += float(self.root_smoothing) * tokens
        return prior

    def _untemper(self) -> None:
        self.temperature_ = 1.0

    def _stream_start(self) -> cam.Stats:
        mix = self.cluster_prior_[:, None] * self.node_given_cluster_
        weights, words = mix.sum(axis=0), self.word_given_node_
        collection = weighted_total(weights, words)
        pseudo = self._prior_tokens(self.n_tokens_seen_)[:, None] * (collection / collection.sum())
        seeds = self._stream_seeds(self.tree_.path_mask(), self.cluster_prior_, self.n_tokens_seen_)
        if seeds is not None:
            np.add.at(pseudo, (seeds.nodes, seeds.columns), seeds.tokens)
        counts = online.expected_counts(words, weights, pseudo, self.n_tokens_seen_)
        documents = self.cluster_prior_ * self._documents_per_token
        return cam.Stats(counts, mix * (self.heldout_fraction if self.levels else 1.0), documents, 0.0)

    def _stream_block(self, engine: Engine, counts: Csr, shard: BlockFile | None) -> cam.Block:
        dtype = self.word_given_node_.dtype
        if self.levels:
            return cam.Block(*self._parted_block(engine, counts, dtype))
        return cam.Block(self._whole_block(engine, counts, shard, dtype))

    def _keep_shared(self, shared: cam.Params, stream: online.Stream) -> None:
        self.word_given_node_, self.node_given_cluster_ = shared.word_given_node, shared.node_given_cluster
        self.cluster_prior_ = shared.cluster_prior
        self._documents_per_token = float(stream.stats.cluster_count.sum())

    def _grafted(self, graft: Graft, stats: cam.Stats) -> cam.Stats:
        words, mix = graft.words(stats.node_word_count), graft.classes(stats.cluster_node_count)
        return cam.Stats(words, mix, graft.classes(stats.cluster_count), 0.0)
