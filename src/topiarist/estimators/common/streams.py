"""Learning from batches for all estimators: ``partial_fit``, new words, and a record of each batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from topiarist.arrays import Array, Bools, Csr, Doubles, Floats, Seed
from topiarist.errors import UsageError
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.stored_counts import Documents
from topiarist.execution.blocks import BlockFile
from topiarist.execution.executors import Executor
from topiarist.models import misfits, online
from topiarist.models.engine.host import Engine

MAX_SCORED_DOCUMENTS = 2048  # documents of a batch that are scored before it is learned from, at most
PREDICTIVE_PSEUDO_COUNT = 0.1  # of a class in half a document, whose best mixture alone promises too much


@options.describe_arguments()
class LearnsFromStreams:
    """Mixin for estimators that learn from batches; each defines its parameters and statistics."""

    # of the estimator
    random_state: Seed
    device: str
    n_threads: int | None
    executor: Executor | None
    n_features_in_: int
    feature_names_in_: Array
    history_: Doubles
    n_iter_: int
    converged_: bool
    stopped_: str
    _counts: Callable[..., Csr]
    _check_options: Callable[[], None]
    # what it says
    _begin_stream: Callable[[Documents], None]  # learns from a first batch
    _stream_model: Callable[[Engine, online.Stream], Any]
    _stream_shared: Callable[[], Any]  # the parameters of that model
    _stream_start: Callable[[], Any]  # the statistics per token that those of a fit stand for
    _word_totals: Callable[[Any], Floats]  # of statistics: those of each word
    _stream_block: Callable[[Engine, Csr, BlockFile | None], Any]  # a batch as the E-step wants it
    _keep_shared: Callable[[Any, online.Stream], None]  # takes new parameters over
    _widen: Callable[[int], None]  # makes room for words in parameters and statistics
    _remove_temperature: Callable[[], None]  # leaves behind what only a fit has
    # of the stream
    n_batches_: int
    n_tokens_seen_: float
    _documents_per_token: float
    _stream: online.Stream | None
    _stream_seed: int
    _streaming: bool
    _known_words: Bools | None

    _stream_option_values: tuple[tuple[str, Any], ...] = (("executor", None),)  # what other options must be in a stream
    _fit_marker = "components_"
    stream_: tuple[online.BatchRecord, ...] = ()

    def continue_fit(self, X: Documents) -> Self:
        """Learn from more documents of the collection that the model was fitted to.

        All documents have equal weight, so few new documents hardly change a large model. Use ``partial_fit`` for a
        stream in which recent documents weigh more.

        Parameters
        ----------
        X : array, sparse matrix or block (n_documents, n_words)
            Counts of the new documents.

        Raises
        ------
        UsageError
            If an option is not possible in a stream.
        """
        check_is_fitted(self)
        return self._partial_fit(X, 1.0)

    def _partial_fit(self, X: Documents, forgetting: float = online.FORGETTING) -> Self:
        """Update the model with a batch; the first call on an unfitted model begins a stream."""
        stored_counts.refuse_store(X, "partial_fit")
        first = not hasattr(self, self._fit_marker)
        self._check_options()
        self._check_stream_options("partial_fit")
        if first:
            self._begin_stream(X)
        else:
            counts, shard = self._read_batch(X)
            with options.open_engine(self) as engine:
                self._absorb(engine, counts, shard, forgetting=forgetting)
                self._keep_batch(engine, counts)
        self.n_iter_, self.converged_, self.stopped_ = self.n_batches_, False, "stream"
        return self

    def extend_words(self, n_words: int) -> Self:
        """Extend the vocabulary; existing columns keep their positions.

        A new word starts with 0.01 tokens at every node. ``partial_fit`` with wider counts then learns its
        distribution.

        Parameters
        ----------
        n_words : int
            New number of columns. Nothing changes if the model has this many already.

        Raises
        ------
        UsageError
            If ``n_words`` is smaller than the number of columns.
        """
        check_is_fitted(self)
        options.check_integer("n_words", n_words, 1)
        if n_words < self.n_features_in_:
            raise UsageError(
                f"n_words must be at least {self.n_features_in_}, the number of words so far, got {n_words}",
                hint="Use at least the number of columns of the first batch.",
            )
        if n_words > self.n_features_in_:
            n_new = n_words - self.n_features_in_
            self._enter_stream()
            self._widen(n_words)
            self.n_features_in_ = int(n_words)
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_  # the new columns have none
            words = self._known_words if self._streaming else None
            self._known_words = None if words is None else np.append(words, np.zeros(n_new, bool))
        return self

    def _reset_stream(self, n_docs: int, n_tokens: float) -> None:
        """Forget the stream, and take a fitted number of documents and tokens as learned."""
        size = getattr(self, "batch_size", None)
        self.n_batches_, self.n_tokens_seen_ = -(-n_docs // size) if size else 0, n_tokens
        self._documents_per_token = n_docs / n_tokens if n_tokens else 0.0
        self._stream = None
        self._streaming, self._known_words = False, None
        self.stream_ = ()

    def _enter_stream(self) -> online.Stream:
        """Return the stream, started from the fit if needed.

        Its statistics are kept, because the smoothed parameters cannot give them back.
        """
        if self._stream is None:
            self._stream = online.Stream(self._stream_start(), self.n_batches_, self.n_tokens_seen_)
        return self._stream

    def _read_batch(self, X: Documents) -> tuple[Csr, BlockFile | None]:
        if isinstance(X, BlockFile):
            validate_data(self, X, reset=False, skip_check_array=True)
            return X.counts(), X
        return self._counts(X, reset=False), None

    def _absorb(
        self, engine: Engine, counts: Csr, shard: BlockFile | None = None, *, judge: bool = True,
        forgetting: float = online.FORGETTING,
    ) -> None:  # fmt: skip
        """Update the parameters and the history with a batch; with ``judge``, score it first."""
        if not self._streaming:
            self._streaming, self.history_ = True, np.empty(0)
            self._stream_seed = int(options.make_generator(self.random_state).integers(2**31))
            self._remove_temperature()
        stream_before = self._enter_stream()
        if self._known_words is None:
            self._known_words = self._word_totals(stream_before.stats) * self.n_tokens_seen_ > online.MIN_EXPECTED_COUNT
        model, shared = self._stream_model(engine, stream_before), self._stream_shared()
        new_words = mark_new_words(self._known_words, counts)
        if judge:
            self._score_batch(model, shared, counts, new_words)
        block = self._stream_block(engine, counts, shard)
        stream, log_likelihood = online.absorb(model, stream_before, shared, block, forgetting)
        del block
        has_learned = stream.tokens > stream_before.tokens
        self._stream, self.n_batches_, self.n_tokens_seen_ = stream, stream.batches, stream.tokens
        if has_learned:
            self._keep_shared(stream.params(self._stream_model(engine, stream)), stream)
        self.history_ = np.append(self.history_, log_likelihood)

    def _score_batch(self, model: misfits.FoldingModel, shared: object, counts: Csr, new_words: float) -> None:
        """Score a batch, or a sample of a large one, and record the result."""
        sample = counts
        if counts.shape[0] > MAX_SCORED_DOCUMENTS:
            rng = np.random.default_rng((self._stream_seed, self.n_batches_))
            sample = counts[np.sort(rng.choice(counts.shape[0], MAX_SCORED_DOCUMENTS, replace=False))]
        seed = (self._stream_seed + self.n_batches_) % 2**31
        scores = misfits.completion_scores(self._make_scorer(model), shared, sample, self._get_length(), seed)
        tokens = float(counts.data.sum(dtype=np.float64))
        record = online.BatchRecord(counts.shape[0], tokens, scores.mean, new_words)
        self.stream_ = (*self.stream_, record)

    def _make_scorer(self, model: Any) -> misfits.FoldingModel:
        """Return the model that predicts held-out tokens."""
        scorer: misfits.FoldingModel = model
        return scorer

    def _get_length(self) -> float | None:
        return None

    def _keep_batch(self, engine: Engine, counts: Csr) -> None:
        """Store the results for the documents of a batch."""

    def _check_stream_options(self, purpose: str) -> None:
        for name, plain in self._stream_option_values:
            if getattr(self, name) != plain:
                hint = f"Use {name}={plain!r}. For a fitted model, call set_params({name}={plain!r})."
                raise UsageError(f"{name} cannot be used with {purpose}", hint=hint)


def mark_new_words(is_known: Bools, counts: Csr) -> float:
    """Mark the words of ``counts`` in ``is_known``; return the share of tokens that were new."""
    new = ~is_known[counts.indices]
    share = float(counts.data[new].sum(dtype=np.float64)) / max(float(counts.data.sum(dtype=np.float64)), 1.0)
    is_known[counts.indices[new]] = True
    return share
