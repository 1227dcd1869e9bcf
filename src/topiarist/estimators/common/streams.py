"""Learning from batches, one telling for all estimators: ``partial_fit``, more words, and what the stream is like."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from topiarist.arrays import Csr
from topiarist.errors import UsageError
from topiarist.estimators.common import options, stored_counts
from topiarist.models import misfits, online
from topiarist.models.drift import BatchRecord, Drift, find_drift, likelihoods
from topiarist.models.engine.host import Engine
from topiarist.scale.blocks import BlockFile

SCORED = 2048  # documents of a batch that are scored before it is learned from, at most
PREDICTING = 0.1  # pseudo-count of a class in half a document: its most probable mixture alone would promise too much


class LearnsFromStreams:
    """For an estimator that says how its parameters and its statistics belong together.

    ``_begin_stream(engine, X)`` learns from a first batch; ``_stream_model(engine, stream)`` is the model,
    ``_stream_shared()`` its parameters, ``_stream_start()`` the statistics per token that those of a fit stand for, of
    which ``_word_totals(stats)`` are those of each word; ``_stream_block(engine, counts, shard)`` is a batch as the
    E-step wants it; ``_keep_shared(shared, stream)`` takes new parameters over; ``_widen(n_words)`` makes room for
    words in parameters and statistics; ``_untemper()`` leaves behind what only a fit has.
    """

    _plain: tuple[tuple[str, Any], ...] = (("executor", None),)  # what other options must be in a stream
    _learned = "components_"
    stream_: tuple[BatchRecord, ...] = ()

    def learn_more(self: Any, X: Any) -> Any:
        """Learn from more documents of a collection that the model was fitted to.

        They weigh as many tokens as they have, and nothing is forgotten: a hundred words more among a million change
        next to nothing. ``partial_fit`` follows a stream instead, in which the latest documents tell more.
        """
        check_is_fitted(self)
        return self._partial_fit(X, 1.0)

    def _partial_fit(self: Any, X: Any, forgetting: float = online.FORGETTING) -> Any:
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

    def extend_words(self: Any, n_words: int) -> Any:
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
            self._known_words = np.append(self._known_words, np.zeros(more, bool)) if self._streaming else None
            self._misfits = self._misfits.wider(n_words)
        return self

    def drift(self, **settings: Any) -> Drift:
        """When the likelihood of new batches fell for good: ``models.drift.find_drift`` of ``stream_``."""
        return find_drift(likelihoods(self.stream_), **settings)

    def _forget_stream(self: Any, n_docs: int, n_tokens: float) -> None:
        """Stand where a stream of so many documents would have led: what comes next goes on from there."""
        size = getattr(self, "batch_size", None)
        self.n_batches_, self.n_tokens_seen_ = -(-n_docs // size) if size else 0, n_tokens
        self._documents_per_token = n_docs / n_tokens if n_tokens else 0.0
        self._stream = None
        self._streaming, self._known_words = False, None
        self.stream_ = ()
        self._forget_misfits()

    def _enter_stream(self: Any) -> None:
        """Go on from a fit. Later the statistics are kept, never read off the parameters again: those are smoothed."""
        if self._stream is None:
            self._stream = online.Stream(self._stream_start(), self.n_batches_, self.n_tokens_seen_)

    def _forget_misfits(self: Any) -> None:
        """Collect them anew, from the next batch on."""
        self._usual, self._misfits = misfits.RecentScores(), misfits.Misfits(seed=getattr(self, "_stream_seed", 0))
        self._collecting_since = len(self.stream_)

    def _batch(self: Any, X: Any) -> tuple[Csr, Any]:
        """Counts; and where they are a block on disk, the handle that opens them as the sweeps want them."""
        if isinstance(X, BlockFile):
            validate_data(self, X, reset=False, skip_check_array=True)
            return X.counts(), X
        return self._counts(X, reset=False), None

    def _absorb(
        self: Any, engine: Engine, counts: Csr, shard: Any = None, *, judge: bool = True,
        forgetting: float = online.FORGETTING,
    ) -> None:  # fmt: skip
        if not self._streaming:
            self._streaming, self.history_ = True, np.empty(0)
            seed = int(options.generator(self.random_state).integers(2**31))
            self._stream_seed, self._misfits = seed, misfits.Misfits(seed=seed)
            self._untemper()
        self._enter_stream()
        if self._known_words is None:
            self._known_words = self._word_totals(self._stream.stats) * self.n_tokens_seen_ > online.SEEN
        model, shared = self._stream_model(engine, self._stream), self._stream_shared()
        new_words = self._share_of_new_words(counts)
        if judge:
            self._judge(model, shared, counts, new_words)
        block = self._stream_block(engine, counts, shard)
        stream, log_likelihood = online.absorb(model, self._stream, shared, block, forgetting)
        del block
        learned = stream.tokens > self._stream.tokens
        self._stream, self.n_batches_, self.n_tokens_seen_ = stream, stream.batches, stream.tokens
        if learned:
            self._keep_shared(stream.params(self._stream_model(engine, stream)), stream)
        self.history_ = np.append(self.history_, log_likelihood)

    def _judge(self: Any, model: Any, shared: Any, counts: Csr, new_words: float) -> None:
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

    def _share_of_new_words(self: Any, counts: Csr) -> float:
        """The share of the tokens whose words had never come; they have now."""
        new = ~self._known_words[counts.indices]
        share = float(counts.data[new].sum(dtype=np.float64)) / max(float(counts.data.sum(dtype=np.float64)), 1.0)
        self._known_words[counts.indices[new]] = True
        return share

    def _scorer(self, model: Any) -> Any:
        """The model as it predicts unseen tokens."""
        return model

    def _length(self: Any) -> float | None:
        """The effective length of documents."""
        return None

    def _keep_batch(self: Any, engine: Engine, counts: Csr) -> None:
        """What an estimator keeps of a batch's documents."""

    def _check_stream_options(self: Any, what: str) -> None:
        for name, plain in self._plain:
            if getattr(self, name) != plain:
                hint = f"{name}={plain!r}; a model that was fitted otherwise: set_params({name}={plain!r})"
                raise UsageError(f"{name} does not go with {what}", hint=hint)
