"""Learning from batches for trees: the parts that HPLSA and CAM add to ``LearnsFromStreams``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from topiarist.arrays import Bools, Csr, Dtype, Floats
from topiarist.counts.column_map import without_columns
from topiarist.counts.weighting import effective_length_weights, scale_rows, shorten_documents
from topiarist.errors import UsageError
from topiarist.estimators.common import options
from topiarist.estimators.common.stored_counts import Documents
from topiarist.estimators.common.streams import LearnsFromStreams
from topiarist.estimators.tree import preparation
from topiarist.estimators.tree.chosen_words import find_ignored_columns, from_seed_pairs, make_seeds
from topiarist.estimators.tree.posteriors import FilesDocuments
from topiarist.execution.blocks import BlockFile
from topiarist.models import em, online
from topiarist.models.engine import Shard
from topiarist.models.engine.host import Engine
from topiarist.models.path_models import Seeds
from topiarist.trees.growth.loop import Growth
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
    _store_steps: Callable[[em.Fit], None]

    _fit_marker = "tree_"

    def partial_fit(self, X: Documents, y: object = None) -> Self:
        """Learn from one more batch of a stream.

        After ``fit`` the stream continues from there without temperature. On a given ``tree`` the first batch is fitted
        as a small collection. Attributes of training documents are deleted; use ``transform``. ``history_`` is the
        log-likelihood per token of each batch before learning from it (NaN without tokens). See
        docs/how-to/follow-a-stream.md.

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

    def _store_growth(self, growth: Growth, fit: em.Fit) -> None:
        """Store how the tree grew, and the last fit of its words."""
        self._store_steps(fit)
        self.curve_, self.grown_ = preparation.make_curve(growth), growth.reason
        if growth.reason == "interrupted":
            self.stopped_ = "interrupted"

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
        """Add new words to the parameters and the statistics of the stream."""
        stream = self._enter_stream()
        fitted, stats = self.tree_model_, stream.stats
        words, counts = fitted.word_given_node, getattr(stats, self._word_count)
        tokens = counts.sum(axis=1, dtype=np.float64) * self.n_tokens_seen_
        padded = np.pad(counts, ((0, 0), (0, n_words - words.shape[1])))
        self._take(replace(fitted, word_given_node=online.add_words(words, tokens, n_words)))
        self._stream = replace(stream, stats=replace(stats, **{self._word_count: padded}))
