"""Learning from batches for trees: the parts that HPLSA and CAM add to ``LearnsFromStreams``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from topiarist.arrays import TINY, Bools, Csr, Dtype, Floats
from topiarist.counts.column_map import without_columns
from topiarist.counts.weighting import effective_length_weights, scale_rows, shorten_documents
from topiarist.errors import UsageError
from topiarist.estimators.common import options
from topiarist.estimators.common.stored_counts import Documents
from topiarist.estimators.common.streams import PREDICTIVE_PSEUDO_COUNT, LearnsFromStreams
from topiarist.estimators.tree import preparation
from topiarist.estimators.tree.chosen_words import find_ignored_columns, from_seed_pairs, make_seeds
from topiarist.estimators.tree.posteriors import FilesDocuments
from topiarist.execution.blocks import BlockFile
from topiarist.models import cam, hplsa, online
from topiarist.models.engine import Shard
from topiarist.models.engine.host import Engine, weighted_total
from topiarist.models.path_models import Seeds
from topiarist.trees.growth.growing_models import make_cam_params
from topiarist.trees.growth.hplsa_growing import make_hplsa_params
from topiarist.trees.tree import Tree
from topiarist.trees.tree_model import TreeModel


@options.describe_arguments()
class StreamsTree(LearnsFromStreams, FilesDocuments):
    """Mixin for trees that learn from batches."""

    tree: Tree | None
    heldout_fraction: float
    word_smoothing: float
    fit: Callable[..., Self]
    _model: Callable[[Engine, TreeModel], tuple[Any, Any]]
    _params: Callable[[TreeModel], Any]
    _take: Callable[[TreeModel], None]

    _fit_marker = "tree_"

    def partial_fit(self, X: Documents, y: object = None) -> Self:
        """Learn from one more batch of a stream.

        After ``fit`` the stream continues from there without temperature. On a given ``tree`` the first batch is fitted
        as a
        small collection. Attributes of training documents are deleted; use ``transform``. ``history_`` is the
        log-likelihood
        per token of each batch before learning from it (NaN without tokens). See docs/how-to/follow-a-stream.md.

        Parameters
        ----------
        X : array, sparse matrix or block of a BlockStore (n_documents, n_words)
            Counts of the batch.

        Raises
        ------
        UsageError
            Without a tree, or if an option is not possible in a stream.
        """
        if self.tree is None and not hasattr(self, "tree_"):
            raise UsageError(
                f"{type(self).__name__}.partial_fit requires a tree, because a batch does not determine the number of "
                "leaves",
                hint="Call fit(sample) with some thousand documents first, or pass tree=Tree(...).",
            )
        return self._partial_fit(X)

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

    def _split_block(self, engine: Engine, counts: Csr, dtype: Dtype) -> tuple[Shard, Shard]:
        """Return training tokens for the words and held-out tokens for the levels, weighted by effective length."""
        seed = (self._stream_seed + self.n_batches_) % 2**31
        weights = effective_length_weights(counts, self._get_length())
        parts = (scale_rows(part, weights) for part in preparation.split_heldout(counts, self.heldout_fraction, seed))
        training, heldout = (engine.shard(part, dtype, preparation.TILE_COLUMNS) for part in parts)
        return training, heldout

    def _make_block(self, engine: Engine, counts: Csr, shard: BlockFile | None, dtype: Dtype) -> Shard:
        """Return all tokens of a batch; a block on disk is mapped if its documents have their full weight."""
        if self._get_length() is not None or shard is None:
            return engine.shard(shorten_documents(counts, self._get_length()), dtype, preparation.TILE_COLUMNS)
        return replace(shard, dtype=dtype.name).load()

    def _stream_seeds(self, mask: Bools, class_prior: Floats, tokens: float) -> Seeds | None:
        """Return prior tokens of seed words, in proportion to the tokens of the stream under each node."""
        words = from_seed_pairs(getattr(self, "seeds_", np.empty((0, 2), np.int64)))
        return make_seeds(words, mask, class_prior.astype(np.float64) * tokens)

    def _read_batch(self, X: Documents) -> tuple[Csr, BlockFile | None]:
        """Return the counts without ignored words, and the block on disk if no word is ignored."""
        counts, block = super()._read_batch(X)
        ignored = find_ignored_columns(self)
        return without_columns(counts, ignored), block if not len(ignored) else None

    def _stream_shared(self) -> Any:
        return self._params(self.tree_model_)

    def _word_totals(self, stats: Any) -> Floats:
        totals: Floats = getattr(stats, self._word_count).sum(axis=0, dtype=np.float64)
        return totals

    def _widen(self, n_words: int) -> None:
        stream = self._enter_stream()
        fitted, stats = self.tree_model_, stream.stats
        words, counts = fitted.word_given_node, getattr(stats, self._word_count)
        tokens = counts.sum(axis=1, dtype=np.float64) * self.n_tokens_seen_
        padded = np.pad(counts, ((0, 0), (0, n_words - words.shape[1])))
        self._take(replace(fitted, word_given_node=online.add_words(words, tokens, n_words)))
        self._stream = replace(stream, stats=replace(stats, **{self._word_count: padded}))


class StreamsHPLSA(StreamsTree):
    """Learning from batches for HPLSA."""

    class_smoothing: float
    effective_length: float | None
    topic_mix: hplsa.TopicMix
    variant: hplsa.Variant

    _params, _word_count = staticmethod(make_hplsa_params), "topic_word_count"
    _rows_of_documents = "class_given_doc_"
    _of_documents = (_rows_of_documents, "labels_", "_lengths")

    def _get_length(self) -> float | None:
        return self.effective_length

    def _stream_model(self, engine: Engine, stream: online.Stream) -> hplsa.Hplsa:
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


class StreamsCAM(StreamsTree):
    """Learning from batches for CAM."""

    root_smoothing: float
    levels: bool | str
    effective_length_: float | None
    cluster_prior_: Floats
    node_given_cluster_: Floats
    word_given_node_: Floats

    _params, _word_count = staticmethod(make_cam_params), "node_word_count"
    _rows_of_documents = "cluster_given_doc_"
    _of_documents = (_rows_of_documents, "labels_")

    def _get_length(self) -> float | None:
        return self.effective_length_

    def _stream_model(self, engine: Engine, stream: online.Stream) -> cam.Cam:
        """Return the model; its prior has the words of the stream instead of the collection."""
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

    def _remove_temperature(self) -> None:
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
            return cam.Block(*self._split_block(engine, counts, dtype))
        return cam.Block(self._make_block(engine, counts, shard, dtype))

    def _keep_shared(self, shared: cam.Params, stream: online.Stream) -> None:
        self.word_given_node_, self.node_given_cluster_ = shared.word_given_node, shared.node_given_cluster
        self.cluster_prior_ = shared.cluster_prior
        self._documents_per_token = float(stream.stats.cluster_count.sum())
