"""Learning from batches, one telling for all estimators: ``partial_fit``, more words, and what the stream is like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from topiarist.arrays import Array, Bools, Csr, Doubles, Floats, Seed
from topiarist.errors import UsageError
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.stored_counts import Documents
from topiarist.models import misfits, online
from topiarist.models.drift import BatchRecord, Drift, find_drift, likelihoods
from topiarist.models.engine.host import Engine
from topiarist.scale.blocks import BlockFile
from topiarist.scale.executors import Executor

SCORED = 2048  # documents of a batch that are scored before it is learned from, at most
PREDICTING = 0.1  # pseudo-count of a class in half a document: its most probable mixture alone would promise too much


class LearnsFromStreams:
    """For an estimator that says how its parameters and its statistics belong together."""

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
    _untemper: Callable[[], None]  # leaves behind what only a fit has
    # of the stream
    n_batches_: int
    n_tokens_seen_: float
    _documents_per_token: float
    _stream: online.Stream | None
    _stream_seed: int
    _streaming: bool
    _known_words: Bools | None
    _usual: misfits.RecentScores
    _misfits: misfits.Misfits
    _collecting_since: int

    _plain: tuple[tuple[str, Any], ...] = (("executor", None),)  # what other options must be in a stream
    _learned = "components_"
    stream_: tuple[BatchRecord, ...] = ()

    def learn_more(self, X: Documents) -> Self:
        """Learn from more documents of a collection that the model was fitted to.

        They weigh as many tokens as they have, and nothing is forgotten: a hundred words more among a million change
        next to nothing. ``partial_fit`` follows a stream instead, in which the latest documents tell more.
        """
        check_is_fitted(self)
        return self._partial_fit(X, 1.0)

    def _partial_fit(self, X: Documents, forgetting: float = online.FORGETTING) -> Self:
        stored_counts.in_memory(X, "partial_fit")
        first = not hasattr(self, self._learned)
        self._check_options()
        self._check_stream_options("partial_fit")
        if first:
            self._begin_stream(X)
        else:
            counts, shard = self._batch(X)
            with options.running(self) as engine:
                self._absorb(engine, counts, shard, forgetting=forgetting)
                self._keep_batch(engine, counts)
        self.n_iter_, self.converged_, self.stopped_ = self.n_batches_, False, "stream"
        return self

    def extend_words(self, n_words: int) -> Self:
        """Make room for new words: ``n_words`` columns from now on, the old ones where they were.

        A new word begins as if it had been counted a hundredth of a time at every node; ``partial_fit`` with wider
        counts then learns where it belongs. Nothing happens if there are as many columns already.
        """
        check_is_fitted(self)
        options.check_integer("n_words", n_words, 1)
        if n_words < self.n_features_in_:
            raise UsageError(
                f"n_words must be at least {self.n_features_in_}, the words there are already; got {n_words}",
                hint="columns keep their places, and none goes away",
            )
        if n_words > self.n_features_in_:
            more = n_words - self.n_features_in_
            self._enter_stream()
            self._widen(n_words)
            self.n_features_in_ = int(n_words)
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_  # the new columns have none
            words = self._known_words if self._streaming else None
            self._known_words = None if words is None else np.append(words, np.zeros(more, bool))
            self._misfits = self._misfits.wider(n_words)
        return self

    def drift(self, **settings: Any) -> Drift:
        """When the likelihood of new batches fell for good: ``models.drift.find_drift`` of ``stream_``."""
        return find_drift(likelihoods(self.stream_), **settings)

    def _forget_stream(self, n_docs: int, n_tokens: float) -> None:
        """Stand where a stream of so many documents would have led: what comes next goes on from there."""
        size = getattr(self, "batch_size", None)
        self.n_batches_, self.n_tokens_seen_ = -(-n_docs // size) if size else 0, n_tokens
        self._documents_per_token = n_docs / n_tokens if n_tokens else 0.0
        self._stream = None
        self._streaming, self._known_words = False, None
        self.stream_ = ()
        self._forget_misfits()

    def _enter_stream(self) -> online.Stream:
        """Go on from a fit. Later the statistics are kept, never read off the parameters again: those are smoothed."""
        if self._stream is None:
            self._stream = online.Stream(self._stream_start(), self.n_batches_, self.n_tokens_seen_)
        return self._stream

    def _forget_misfits(self) -> None:
        """Collect them anew, from the next batch on."""
        self._usual, self._misfits = misfits.RecentScores(), misfits.Misfits(seed=getattr(self, "_stream_seed", 0))
        self._collecting_since = len(self.stream_)

    def _batch(self, X: Documents) -> tuple[Csr, BlockFile | None]:
        """Counts; and where they are a block on disk, the handle that opens them as the sweeps want them."""
        if isinstance(X, BlockFile):
            validate_data(self, X, reset=False, skip_check_array=True)
            return X.counts(), X
        return self._counts(X, reset=False), None

    def _absorb(
        self, engine: Engine, counts: Csr, shard: BlockFile | None = None, *, judge: bool = True,
        forgetting: float = online.FORGETTING,
    ) -> None:  # fmt: skip
        if not self._streaming:
            self._streaming, self.history_ = True, np.empty(0)
            seed = int(options.generator(self.random_state).integers(2**31))
            self._stream_seed, self._misfits = seed, misfits.Misfits(seed=seed)
            self._untemper()
        before = self._enter_stream()
        if self._known_words is None:
            self._known_words = self._word_totals(before.stats) * self.n_tokens_seen_ > online.SEEN
        model, shared = self._stream_model(engine, before), self._stream_shared()
        new_words = share_of_new_words(self._known_words, counts)
        if judge:
            self._judge(model, shared, counts, new_words)
        block = self._stream_block(engine, counts, shard)
        stream, log_likelihood = online.absorb(model, before, shared, block, forgetting)
        del block
        learned = stream.tokens > before.tokens
        self._stream, self.n_batches_, self.n_tokens_seen_ = stream, stream.batches, stream.tokens
        if learned:
            self._keep_shared(stream.params(self._stream_model(engine, stream)), stream)
        self.history_ = np.append(self.history_, log_likelihood)

    def _judge(self, model: misfits.Folds, shared: object, counts: Csr, new_words: float) -> None:
        """Score a batch, or a sample of a large one, and remember the documents that fit badly."""
        sample = counts
        if counts.shape[0] > SCORED:
            rng = np.random.default_rng((self._stream_seed, self.n_batches_))
            sample = counts[np.sort(rng.choice(counts.shape[0], SCORED, replace=False))]
        seed = (self._stream_seed + self.n_batches_) % 2**31
        scores = misfits.completion_scores(self._scorer(model), shared, sample, self._length(), seed)
        bad = self._usual.unusual(scores)
        self._usual = self._usual.joined(scores)
        self._misfits = self._misfits.joined(sample[np.flatnonzero(bad)], self.n_batches_)
        tokens = float(counts.data.sum(dtype=np.float64))
        record = BatchRecord(counts.shape[0], tokens, scores.mean, new_words, float(np.mean(bad)))
        self.stream_ = (*self.stream_, record)

    def _scorer(self, model: Any) -> misfits.Folds:
        """The model as it predicts unseen tokens."""
        scorer: misfits.Folds = model
        return scorer

    def _length(self) -> float | None:
        """The effective length of documents."""
        return None

    def _keep_batch(self, engine: Engine, counts: Csr) -> None:
        """What an estimator keeps of a batch's documents."""

    def _check_stream_options(self, what: str) -> None:
        for name, plain in self._plain:
            if getattr(self, name) != plain:
                hint = f"{name}={plain!r}; a model that was fitted otherwise: set_params({name}={plain!r})"
                raise UsageError(f"{name} does not go with {what}", hint=hint)


def share_of_new_words(known: Bools, counts: Csr) -> float:
    """The share of the tokens whose words had never come; they have now."""
    new = ~known[counts.indices]
    share = float(counts.data[new].sum(dtype=np.float64)) / max(float(counts.data.sum(dtype=np.float64)), 1.0)
    known[counts.indices[new]] = True
    return share
