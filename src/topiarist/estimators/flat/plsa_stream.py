"""PLSA from batches: ``partial_fit`` for streams, and ``online=True`` for large collections."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from topiarist.arrays import Csr, Floats
from topiarist.counts.validation import token_counts
from topiarist.estimators.common import options
from topiarist.estimators.common.progress import counting
from topiarist.estimators.common.streams import PREDICTING, LearnsFromStreams
from topiarist.models import em, online, plsa
from topiarist.models.engine import Shard
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.scale.blocks import BlockFile


class StreamsPLSA(LearnsFromStreams):
    """What an estimator with PLSA's attributes needs to learn batch by batch."""

    _plain = (
        ("inverse_temperature", 1.0), ("heldout_fraction", None), ("n_init", 1), ("sparse", False), ("executor", None)
    )  # fmt: skip

    def partial_fit(self: Any, X: Any, y: Any = None) -> Any:
        """Learn from one more batch of a stream; the first one needs at least ``n_components`` documents.

        A stream may bring words that the first batches lacked, so every word keeps some probability: without
        ``word_smoothing`` as if it had been counted a hundredth of a time. After ``fit`` the stream goes on from there,
        and ``history_`` begins anew. Tempering, held-out tokens, several starts and ``sparse`` are refused: where a fit
        had them, ``set_params`` takes them back first. See docs/how-to/follow-a-stream.md.
        """
        return self._partial_fit(X)

    def _begin_stream(self: Any, X: Any) -> None:
        batch = self._counts(X.counts() if isinstance(X, BlockFile) else X, reset=True)
        with options.running(self) as engine:
            self._start_stream(engine, batch, options.generator(self.random_state))
            self._absorb(engine, batch, judge=False)
            self._keep_batch(engine, batch)

    def _keep_batch(self: Any, engine: Engine, counts: Csr) -> None:
        self.component_given_doc_ = self._reader(engine)(counts)

    def _fit_online(self: Any, engine: Engine, counts: Any, rng: np.random.Generator) -> None:
        sample = counts[np.sort(rng.permutation(counts.shape[0])[: self.batch_size])]
        enough = np.count_nonzero(np.diff(sample.indptr)) >= self.n_components
        self._start_stream(engine, sample if enough else counts, rng)
        lengths = token_counts(counts)
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
                        self._absorb(engine, counts[rows], judge=False)
                        if lengths[rows].any():
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
            em.Rules(online.FIRST_STEPS, self.tol, float(batch.data.sum(dtype=np.float64))),
            executor=engine.executor,
        )
        self.components_ = engine.to_host(fit.state.shared).word_given_component
        self.component_prior_ = np.full(self.n_components, 1.0 / self.n_components, dtype)
        self.component_smoothing_ = float(self.component_smoothing)
        self._forget_stream(0, 0.0)

    def _stream_model(self: Any, engine: Engine, stream: online.Stream) -> plsa.Plsa:
        return plsa.Plsa(engine, online.smoothing(self.word_smoothing), float(self.component_smoothing))

    def _scorer(self, model: plsa.Plsa) -> plsa.Plsa:
        return replace(model, component_smoothing=max(PREDICTING, model.component_smoothing))

    def _stream_shared(self: Any) -> plsa.Params:
        return plsa.Params.of(self.components_)

    def _untemper(self: Any) -> None:
        self.heldout_history_, self.inverse_temperature_ = np.empty(0), 1.0

    def _stream_start(self: Any) -> plsa.Stats:
        smoothing = float(self.word_smoothing) if self.n_tokens_seen_ else 0.0
        words = np.ascontiguousarray(self.components_)
        joint = online.expected_counts(words, self.component_prior_, smoothing, self.n_tokens_seen_)
        return plsa.Stats(np.ascontiguousarray(joint.T), 0.0)

    def _word_totals(self: Any, stats: plsa.Stats) -> Floats:
        totals: Floats = stats.word_component_count.sum(axis=1, dtype=np.float64)
        return totals

    def _stream_block(self: Any, engine: Engine, counts: Csr, shard: Any) -> Shard:
        dtype = self.components_.dtype
        if shard is None:
            return engine.shard(counts, dtype, self.n_components)
        opened: Shard = replace(shard, dtype=dtype.name).load()
        return opened

    def _keep_shared(self: Any, shared: plsa.Params, stream: online.Stream) -> None:
        self.components_ = shared.word_given_component
        prior = stream.stats.word_component_count.sum(axis=0, dtype=np.float64)
        self.component_prior_ = (prior / max(prior.sum(), 1e-300)).astype(self.components_.dtype)

    def _widen(self: Any, n_words: int) -> None:
        counts = self._stream.stats.word_component_count
        tokens = counts.sum(axis=0, dtype=np.float64) * self.n_tokens_seen_
        self.components_ = plsa.Params.of(online.wider(self.components_, tokens, n_words)).word_given_component
        more = ((0, n_words - len(counts)), (0, 0))
        self._stream = replace(self._stream, stats=plsa.Stats(np.pad(counts, more), 0.0))
