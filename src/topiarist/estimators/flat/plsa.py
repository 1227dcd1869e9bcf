"""PLSA as a scikit-learn estimator: topics of a collection, and the topics of each document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from topiarist.arrays import TINY, Csr, DTypeLike, Floats
from topiarist.counts.split import split_tokens
from topiarist.counts.validation import count_tokens
from topiarist.errors import InputError
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.base import EMOptions
from topiarist.estimators.common.progress import show_fit, show_pieces
from topiarist.estimators.common.stored_counts import Documents
from topiarist.estimators.common.streams import PREDICTIVE_PSEUDO_COUNT, LearnsFromStreams
from topiarist.estimators.tree.posteriors import FoldsDocumentsIn
from topiarist.execution.blocks import BlockFile, BlockStore
from topiarist.metrics.topic_quality import keep_known_words
from topiarist.models import em, online, plsa
from topiarist.models.engine import Shard
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.models.online import Stream

HELDOUT_FRACTION = 0.1


@options.estimator(random_state=options.describe_seed("the start and of the held-out tokens"))
class PLSA(FoldsDocumentsIn, LearnsFromStreams, ClassNamePrefixFeaturesOutMixin, EMOptions):  # type: ignore[misc]
    """Probabilistic latent semantic analysis: documents as mixtures of components, components as word distributions.

    Parameters
    ----------
    n_components : int, default 10
        Number of components (topics).
    inverse_temperature : float or "heldout", default 1.0
        Values below 1 flatten the posteriors, which reduces overfitting. "heldout": lowered while held-out tokens
        become more probable.
    word_smoothing, component_smoothing : float, default 0.0
        Pseudo-counts for each word of a component, and for each component of a document. 0 is maximum likelihood; 0.01
        and 0.05 predict held-out text better.
    heldout_fraction : float or None, default None
        Fraction of each document's tokens held out to stop the fit early. None: no early stop, or 0.1 if
        ``inverse_temperature="heldout"``.
    n_init : int, default 1
        Number of random starts. The best fit is kept.
    online : bool, default False
        Learn from batches, in at most ``max_iter`` passes. Not possible with tempering, held-out tokens or several
        starts.
    batch_size : int, default 1024
        Number of documents in a batch of an online fit.
    accelerate : bool, default True
        Use over-relaxed steps, which never lower the objective. False is textbook EM.

    Attributes
    ----------
    components_ : array (n_components, n_words)
        P(word | component); rows sum to one.
    component_prior_ : array (n_components,)
        P(component).
    component_given_doc_ : array (n_documents, n_components)
        P(component | document) of the training documents, as ``transform`` returns it.
    history_ : array
        Objective of the start and after every step: log-likelihood plus log-prior, tempered if asked. It never falls by
        more than rounding: 1e-9 of its size in double precision, 1e-7 in single precision. Online: log-likelihood per
        token of each batch before learning from it.
    heldout_history_ : array
        Log-likelihood per held-out token after every step; empty without held-out tokens.
    n_iter_, converged_, stopped_
        Number of steps (online: passes, in a stream: batches), whether the fit converged, and the reason of the stop:
        "converged", "heldout", "max_iter", "interrupted" (Ctrl-C keeps the best fit) or "stream".
    stream_, n_batches_, n_tokens_seen_
        Record of each batch of a stream before learning from it, and the number of batches and tokens.
    inverse_temperature_, component_smoothing_ : float
        Values that were used. ``transform`` uses the same.

    Examples
    --------
    >>> import numpy as np
    >>> from topiarist import PLSA
    >>> PLSA(2, random_state=0).fit_transform(np.eye(5) + 1).shape
    (5, 2)
    """

    n_components: int = 10
    _: KW_ONLY
    inverse_temperature: float | str = 1.0
    word_smoothing: float = 0.0
    component_smoothing: float = 0.0
    heldout_fraction: float | None = None
    n_init: int = 1
    online: bool = False
    batch_size: int = 1024
    accelerate: bool = True
    dtype: DTypeLike | None = None
    max_iter: int = 200

    _stream_option_values = (
        ("inverse_temperature", 1.0),
        ("heldout_fraction", None),
        ("n_init", 1),
        ("executor", None),
    )

    def fit(self, X: Documents, y: object = None) -> PLSA:
        """Learn the components.

        Raises
        ------
        UsageError
            If an option is invalid or not possible with a ``BlockStore``.
        InputError
            If fewer documents than ``n_components`` have words.
        """
        self._check_options()
        if stored_counts.is_stored(X, self.executor):
            tempering = {"inverse_temperature": 1.0} if self.inverse_temperature == "heldout" else {}
            stored_counts.refuse_options(
                self, "held-out tokens need counts in memory", heldout_fraction=None, **tempering
            )
            stored_counts.refuse_options(self, "online fits need counts in memory; use partial_fit", online=False)
        with stored_counts.open_fit_counts(self, X) as counts, options.open_engine(self) as engine:
            rng = options.make_generator(self.random_state)
            n_tokens = counts.n_tokens if isinstance(counts, BlockStore) else float(count_tokens(counts).sum())
            fit = None
            if self.online:
                self._fit_online(engine, cast(Csr, counts), rng)
            else:
                fit = self._fit_batch(engine, counts, rng)
            answers = stored_counts.read_counts(counts, self._reader(engine, fit), self.executor)
            if fit is not None:
                self.components_ = engine.to_host(fit.state).shared.word_given_component
                self.inverse_temperature_ = fit.inverse_temperature
                self.component_smoothing_ = float(self.component_smoothing)
                self.heldout_history_ = np.array(fit.heldout)
                self._store_steps(fit)
                self._reset_stream(counts.shape[0], n_tokens)
            self.component_prior_ = (answers.tokens / n_tokens).astype(self.components_.dtype)
            self.component_given_doc_ = answers.rows()
        return self

    def _fit_batch(self, engine: Engine, counts: Csr | BlockStore, rng: np.random.Generator) -> em.Fit:
        """Fit all documents at once, with held-out tokens if the parameters require them."""
        if isinstance(counts, BlockStore):
            stored_counts.check_filled(counts.n_filled, len(counts), self.n_components, "n_components")
        dtype = options.working_dtype(self.dtype, counts, self.n_components)
        prepare_kernels(dtype, device=self.device)
        if isinstance(counts, BlockStore):
            return self._run(engine, counts.blocks(dtype), counts.n_tokens, None, rng)
        training, validation = counts, None
        if self.heldout_fraction is not None or self.inverse_temperature == "heldout":
            fraction = self.heldout_fraction or HELDOUT_FRACTION
            training, validation = split_heldout(counts, fraction, rng, self._check_enough)
        shards = engine.make_shards(training, dtype, self.n_components)
        judge = make_heldout_likelihood(self._model(engine), validation, shards)
        return self._run(engine, shards, float(training.data.sum(dtype=np.float64)), judge, rng)

    def _run(
        self,
        engine: Engine,
        blocks: Sequence[Any],
        weight: float,
        judge: Callable[[em.State], float] | None,
        rng: np.random.Generator,
    ) -> em.Fit:
        """Run EM from ``n_init`` starts; return the best fit without its document rows."""
        model = self._model(engine)
        executor, to_place = stored_counts.choose_executor(engine, blocks, self.executor)
        rules = em.Rules(self.max_iter, self.tol, weight, accelerate=self.accelerate)
        with show_fit(f"PLSA, {self.n_components} components", rules, show=bool(self.verbose)) as watch:

            def run_at(start: Callable[[], em.State] | em.State, inverse_temperature: float) -> em.Fit:
                return em.run(
                    model, blocks, start, rules,
                    inverse_temperature=inverse_temperature, heldout=judge, watch=watch, executor=executor,
                )  # fmt: skip

            def start() -> em.State:
                state: em.State = to_place(
                    plsa.create_start(blocks, self.n_components, rng, float(self.word_smoothing))
                )
                return state

            def one_start() -> em.Fit:
                if self.inverse_temperature == "heldout":
                    return em.cool(run_at, start)
                return run_at(start, float(self.inverse_temperature))

            best = em.run_starts(one_start, self.n_init)
        return replace(best, state=em.State(best.state.shared, ()))  # documents are folded in again, from all tokens

    def fit_transform(self, X: Documents, y: object = None) -> Floats:
        """Fit, and return P(component | document)."""
        return self.fit(X).component_given_doc_

    def partial_fit(self, X: Documents, y: object = None) -> PLSA:
        """Learn from one more batch of a stream.

        Later batches can bring new words, so every word keeps some probability. Without ``word_smoothing`` a new word
        counts as 0.01 tokens. After ``fit`` the stream continues from there, and ``history_`` starts again. See
        docs/how-to/follow-a-stream.md.

        Parameters
        ----------
        X : array, sparse matrix or block of a BlockStore (n_documents, n_words)
            Counts of the batch. The first one needs at least ``n_components`` documents.

        Raises
        ------
        UsageError
            With tempering, held-out tokens or several starts. Change these options with ``set_params`` after a fit.
        """
        return self._partial_fit(X)

    def _begin_stream(self, X: Documents) -> None:
        """Fit the model to the first batch of a stream."""
        batch = self._counts(X.counts() if isinstance(X, BlockFile) else X, reset=True)
        with options.open_engine(self) as engine:
            self._fit_first_batch(engine, batch, options.make_generator(self.random_state))
            self._absorb(engine, batch, judge=False)
            self._keep_batch(engine, batch)

    def _keep_batch(self, engine: Engine, counts: Csr) -> None:
        self.component_given_doc_ = self._reader(engine)(counts)

    def _fit_online(self, engine: Engine, counts: Csr, rng: np.random.Generator) -> None:
        """Fit the model in random batches until an epoch gains less than ``tol``."""
        sample = counts[np.sort(rng.permutation(counts.shape[0])[: self.batch_size])]
        has_enough_documents = np.count_nonzero(np.diff(sample.indptr)) >= self.n_components
        self._fit_first_batch(engine, sample if has_enough_documents else counts, rng)
        lengths = count_tokens(counts)
        epochs: list[float] = []
        self.stopped_ = "max_iter"
        try:
            n_batches = -(-len(lengths) // self.batch_size) * self.max_iter
            with show_pieces("PLSA, batches", n_batches, show=bool(self.verbose)) as advance:
                while len(epochs) < self.max_iter and self.stopped_ == "max_iter":
                    order, total = rng.permutation(len(lengths)), 0.0
                    for start in range(0, len(order), self.batch_size):
                        rows = np.sort(order[start : start + self.batch_size])
                        if lengths[rows].any():  # documents without words teach nothing
                            self._absorb(engine, counts[rows], judge=False)
                            total += self.history_[-1] * lengths[rows].sum()
                        advance()
                    epochs.append(total / lengths.sum())
                    if len(epochs) > 1 and epochs[-1] - epochs[-2] < self.tol:
                        self.stopped_ = "converged"
        except KeyboardInterrupt:
            if not self.n_batches_:
                raise
            self.stopped_ = "interrupted"
        self.n_iter_, self.converged_ = len(epochs), self.stopped_ == "converged"

    def _fit_first_batch(self, engine: Engine, batch: Csr, rng: np.random.Generator) -> None:
        """Fit the first batch as a small collection, because a stream reads each document only once."""
        dtype = options.working_dtype(self.dtype, batch, self.n_components)
        prepare_kernels(dtype, device=self.device)
        shard = engine.shard(batch, dtype, self.n_components)
        model = replace(self._model(engine), word_smoothing=online.limit_smoothing(self.word_smoothing))
        fit = em.run(
            model,
            [shard],
            lambda: engine.to_device(plsa.create_start([shard], self.n_components, rng, model.word_smoothing)),
            em.Rules(online.FIRST_STEPS, self.tol, float(batch.data.sum(dtype=np.float64))),
            executor=engine.executor,
        )
        self.components_ = engine.to_host(fit.state.shared).word_given_component
        self.component_prior_ = np.full(self.n_components, 1.0 / self.n_components, dtype)
        self.component_smoothing_ = float(self.component_smoothing)
        self._reset_stream(0, 0.0)

    def _stream_model(self, engine: Engine, stream: Stream) -> plsa.Plsa:
        return plsa.Plsa(engine, online.limit_smoothing(self.word_smoothing), float(self.component_smoothing))

    def _make_scorer(self, model: plsa.Plsa) -> plsa.Plsa:
        return replace(model, component_smoothing=max(PREDICTIVE_PSEUDO_COUNT, model.component_smoothing))

    def _stream_shared(self) -> plsa.Params:
        return plsa.Params.of(self.components_)

    def _remove_temperature(self) -> None:
        self.heldout_history_, self.inverse_temperature_ = np.empty(0), 1.0

    def _stream_start(self) -> plsa.Stats:
        smoothing = float(self.word_smoothing) if self.n_tokens_seen_ else 0.0
        words = np.ascontiguousarray(self.components_)
        joint = online.expected_counts(words, self.component_prior_, smoothing, self.n_tokens_seen_)
        return plsa.Stats(np.ascontiguousarray(joint.T), 0.0)

    def _word_totals(self, stats: plsa.Stats) -> Floats:
        totals: Floats = stats.word_component_count.sum(axis=1, dtype=np.float64)
        return totals

    def _stream_block(self, engine: Engine, counts: Csr, shard: BlockFile | None) -> Shard:
        dtype = self.components_.dtype
        if shard is None:
            return engine.shard(counts, dtype, self.n_components)
        return replace(shard, dtype=dtype.name).load()

    def _keep_shared(self, shared: plsa.Params, stream: Stream) -> None:
        self.components_ = shared.word_given_component
        prior = stream.stats.word_component_count.sum(axis=0, dtype=np.float64)
        self.component_prior_ = (prior / max(prior.sum(), TINY)).astype(self.components_.dtype)

    def _widen(self, n_words: int) -> None:
        """Add new words to the parameters and the statistics of the stream."""
        stream = self._enter_stream()
        counts = stream.stats.word_component_count
        tokens = counts.sum(axis=0, dtype=np.float64) * self.n_tokens_seen_
        self.components_ = plsa.Params.of(online.add_words(self.components_, tokens, n_words)).word_given_component
        padding = ((0, n_words - len(counts)), (0, 0))
        self._stream = replace(stream, stats=plsa.Stats(np.pad(counts, padding), 0.0))

    def _reader(self, engine: Engine, fit: em.Fit | None = None) -> stored_counts.Reader:
        """Return an object that folds in counts, with the parameters of a fit or the fitted ones."""
        if fit is not None:
            shared: plsa.Params = fit.state.shared
            return stored_counts.Reader(self._model(engine), shared, fit.inverse_temperature, shared.by_word.dtype)
        prepare_kernels(self.components_.dtype, device=self.device)
        model, shared = plsa.Plsa(engine, 0.0, self.component_smoothing_), plsa.Params.of(self.components_)
        return stored_counts.Reader(model, shared, self.inverse_temperature_, shared.by_word.dtype)

    def _counts(self, X: Documents, *, reset: bool, purpose: str = "this method") -> Any:
        """Return checked counts; with ``reset``, raise InputError for too few documents."""
        counts = stored_counts.check_counts_in_memory(self, X, purpose, reset=reset)
        if reset:
            self._check_enough(counts, "")
        return counts

    def _check_enough(self, counts: Csr, suffix: str) -> None:
        filled = int(np.count_nonzero(np.diff(counts.indptr)))
        stored_counts.check_filled(filled, counts.shape[0], self.n_components, "n_components", suffix)

    def _model(self, engine: Engine) -> plsa.Plsa:
        return plsa.Plsa(engine, float(self.word_smoothing), float(self.component_smoothing))

    def _check_options(self) -> None:
        """Raise UsageError for a parameter outside its range."""
        options.check_integer("n_components", self.n_components, 1, hint="Use n_components=20.")
        options.check_integer("n_init", self.n_init, 1)
        options.check_integer("batch_size", self.batch_size, 1)
        options.check_common(self)
        options.check_number("word_smoothing", self.word_smoothing, 0.0, hint="Use 0.01.")
        options.check_number("component_smoothing", self.component_smoothing, 0.0, hint="Use 0.05.")
        if self.heldout_fraction is not None:
            options.check_number("heldout_fraction", self.heldout_fraction, 0.001, 0.9, hint="Use 0.1.")
        if self.inverse_temperature != "heldout":
            hint = "1.0, or 'heldout' to have it chosen"
            options.check_number("inverse_temperature", self.inverse_temperature, 0.01, 1.0, hint=hint)
        if self.online:
            self._check_stream_options("online=True")

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])


def split_heldout(
    counts: Csr, fraction: float, rng: np.random.Generator, check: Callable[[Csr, str], None]
) -> tuple[Any, Any]:
    """Split counts into checked tokens to learn from and held-out ones. Raise InputError without any."""
    training, validation = split_tokens(counts, (1 - fraction, fraction), seed=int(rng.integers(2**31)))
    check(training, " without the held-out tokens")
    # a word that only held-out tokens hold has no probability under any parameters: it would judge nothing
    validation = keep_known_words(np.asarray(training.sum(axis=0), np.float64)[None], validation)
    if not validation.nnz:
        raise InputError(
            f"heldout_fraction={fraction} leaves no held-out token of a word that the rest holds",
            hint="Add documents, or use a larger heldout_fraction or None.",
        )
    return training, validation


def make_heldout_likelihood(
    model: plsa.Plsa, validation: Csr | None, shards: Sequence[Shard]
) -> Callable[[em.State], float] | None:
    """Return the log-likelihood per held-out token as a function of a state; None without held-out tokens."""
    if validation is None:
        return None
    ends = np.cumsum([0, *(shard.shape[0] for shard in shards)]).tolist()
    parts = [validation[start:stop] for start, stop in pairwise(ends)] if len(shards) > 1 else [validation]
    sides = [model.engine.view_counts(part, shards[0].rows.data.dtype) for part in parts]
    tokens = max(float(validation.data.sum(dtype=np.float64)), 1.0)

    def of_state(state: em.State) -> float:
        pairs = zip(sides, state.local, strict=True)
        return sum(model.log_likelihood(state.shared, side, local) for side, local in pairs) / tokens

    return of_state
