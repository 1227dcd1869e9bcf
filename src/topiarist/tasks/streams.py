"""Learning from batches: ``partial_fit`` for streams, and ``online=True`` for large collections."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from topiarist.errors import UsageError
from topiarist.models import em, online, plsa
from topiarist.models.engine import Engine
from topiarist.tasks import options
from topiarist.tasks.progress import counting, prepare_kernels


class LearnsFromStreams:
    """What an estimator with PLSA's attributes needs to learn batch by batch."""

    def partial_fit(self: Any, X: Any, y: Any = None) -> Any:
        """Learn from one more batch of a stream; the first one needs at least ``n_components`` documents.

        A stream may bring words that the first batches lacked, so every word keeps some probability: without
        ``word_smoothing`` as if it had been counted a hundredth of a time. After ``fit`` the stream goes on from there,
        untempered, and ``history_`` begins anew.
        """
        first = not hasattr(self, "components_")
        self._check_options()
        self._check_stream_options("partial_fit")
        batch = self._counts(X, reset=first)
        with options.running(self) as engine:
            if first:
                self._start_stream(engine, batch, options.generator(self.random_state))
            self._absorb(engine, batch)
            self.component_given_doc_ = self._reader(engine)(batch)
        self.n_iter_, self.converged_, self.stopped_ = self.n_batches_, False, "stream"
        return self

    def _fit_online(self: Any, engine: Engine, counts: Any, rng: np.random.Generator) -> None:
        sample = counts[np.sort(rng.permutation(counts.shape[0])[: self.batch_size])]
        enough = np.count_nonzero(np.diff(sample.indptr)) >= self.n_components
        self._start_stream(engine, sample if enough else counts, rng)
        lengths = np.asarray(counts.sum(axis=1, dtype=np.float64)).ravel()
        epochs: list[float] = []
        self.stopped_ = "max_iter"
        try:
            with counting(
                "PLSA, batches", -(-len(lengths) // self.batch_size) * self.max_iter, self.verbose
            ) as one_more:
                while len(epochs) < self.max_iter and self.stopped_ == "max_iter":
                    order, total = rng.permutation(len(lengths)), 0.0
                    for start in range(0, len(order), self.batch_size):
                        rows = np.sort(order[start : start + self.batch_size])
                        self._absorb(engine, counts[rows])
                        total += self.history_[-1] * lengths[rows].sum()
                        one_more()
                    epochs.append(total / lengths.sum())
                    if len(epochs) > 1 and epochs[-1] - epochs[-2] < self.tol:
                        self.stopped_ = "converged"
        except KeyboardInterrupt:
            if not self.n_batches_:
                raise
            self.stopped_ = "interrupted"
        self.n_iter_, self.converged_ = len(epochs), self.stopped_ == "converged"

    def _start_stream(self: Any, engine: Engine, batch: Any, rng: np.random.Generator) -> None:
        """Fit the first batch as a small collection: a stream sees a document once and could not mend a poor start."""
        dtype = options.working_dtype(self.dtype, batch, self.n_components)
        prepare_kernels(dtype, device=self.device)
        shard = engine.shard(batch, dtype, self.n_components)
        model = replace(self._model(engine), word_smoothing=online.smoothing(self.word_smoothing))
        fit = em.run(
            model,
            [shard],
            lambda: engine.to_device(plsa.initial([shard], self.n_components, rng, model.word_smoothing)),
            em.Rules(online.FIRST_STEPS, self.tol, float(batch.sum(dtype=np.float64))),
        )
        self.components_ = engine.to_host(fit.state.shared).word_given_component
        self.component_prior_ = np.full(self.n_components, 1.0 / self.n_components, dtype)
        self.component_smoothing_ = float(self.component_smoothing)
        self._forget_stream(0, 0.0)
        self.history_ = np.empty(0)

    def _forget_stream(self: Any, n_docs: int, n_tokens: float) -> None:
        """Stand where a stream of so many documents would have led: what comes next goes on from there."""
        self.n_batches_, self.n_tokens_seen_ = -(-n_docs // self.batch_size), n_tokens
        self._stream: online.Stream | None = None

    def _absorb(self: Any, engine: Engine, batch: Any) -> None:
        if self._stream is None:
            joint = self.components_.T * self.component_prior_
            self._stream = online.Stream(np.ascontiguousarray(joint), self.n_batches_, self.n_tokens_seen_)
            self.history_, self.heldout_history_, self.inverse_temperature_ = np.empty(0), np.empty(0), 1.0
        model = self._model(engine)
        shard = engine.shard(batch, self.components_.dtype, self.n_components)
        stream, log_likelihood = online.absorb(model, self._stream, plsa.Params.of(self.components_), shard)
        tokens = max(stream.tokens - self._stream.tokens, 1.0)
        self._stream, self.n_batches_, self.n_tokens_seen_ = stream, stream.batches, stream.tokens
        self.components_ = stream.params(model).word_given_component
        self.component_prior_ = engine.normalise_rows(stream.word_component.sum(axis=0)[None], 0.0)[0]
        self.history_ = np.append(self.history_, log_likelihood / tokens)

    def _check_stream_options(self: Any, what: str) -> None:
        for name, plain in (
            ("inverse_temperature", 1.0),
            ("heldout_fraction", None),
            ("n_init", 1),
            ("executor", None),
        ):
            if getattr(self, name) != plain:
                raise UsageError(f"{name} does not go with {what}", hint="leave one of the two out")
