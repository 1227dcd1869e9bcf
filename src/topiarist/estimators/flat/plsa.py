"""PLSA as a scikit-learn estimator: topics of a collection, and the topics of each document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from topiarist.arrays import Csr, DTypeLike, Floats, Seed
from topiarist.counts.split import split_tokens
from topiarist.counts.validation import token_counts
from topiarist.errors import InputError
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.display import ShownEstimator
from topiarist.estimators.common.progress import counting, fitting
from topiarist.estimators.common.stored_counts import Documents, ReadsCounts
from topiarist.estimators.common.streams import PREDICTING, LearnsFromStreams
from topiarist.measures.topic_quality import completion_perplexity, known_counts
from topiarist.models import em, online, plsa, sparse_plsa
from topiarist.models.engine import Shard
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine, weighted_total
from topiarist.scale.blocks import BlockFile
from topiarist.scale.executors import Executor

HELDOUT_FRACTION = 0.1


@options.common_options(random_state=options.seed_of("the start and of the held-out tokens"))
class PLSA(ReadsCounts, LearnsFromStreams, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ShownEstimator):  # type: ignore[misc]
    """Probabilistic latent semantic analysis: documents as mixtures of components, components as word distributions.

    Parameters
    ----------
    n_components : int, default 10
        How many components (topics).
    inverse_temperature : float or "heldout", default 1.0
        Below 1 the posteriors are flattened, which guards against over-fitting. "heldout" lowers it as long as
        held-out tokens become more probable.
    word_smoothing, component_smoothing : float, default 0.0
        Pseudo-counts added to each word of a component, and to each component of a document (Dirichlet concentration
        minus one). 0 is maximum likelihood; 0.01 and 0.05 predict unseen text better.
    heldout_fraction : float or None, default None
        Share of each document's tokens kept aside to stop when they no longer become more probable. None: no such
        stop (a tenth when ``inverse_temperature="heldout"``).
    n_init : int, default 1
        Starts; the best one is kept.
    online : bool, default False
        Learn from batches of documents, ``max_iter`` times through the collection at most. Plain or smoothed only: no
        tempering, no held-out tokens, one start.
    batch_size : int, default 1024
        Documents in a batch, when online.
    accelerate : bool, default True
        Over-relaxed steps, which never lower the objective. False is textbook EM.
    sparse : bool, default False
        Follow only the components that a document still uses: faster from some hundred components on. Not with
        ``component_smoothing`` or tempering, which never let a proportion become zero. See docs/models/plsa.md.

    Attributes
    ----------
    components_ : array (n_components, n_words)
        P(word | component); rows sum to one.
    component_prior_ : array (n_components,)
        P(component).
    component_given_doc_ : array (n_documents, n_components)
        P(component | document) of the training documents: what ``transform`` returns for them.
    history_ : array
        The objective (log-likelihood plus log-prior; tempered if asked) of the start and after every step. It never
        falls by more than rounding: 1e-9 of its size in double precision, 1e-7 in single. In online
        mode the log-likelihood per token of each batch before it was learned from.
    heldout_history_ : array
        Log-likelihood per held-out token after every step, if tokens were held out.
    n_iter_, converged_, stopped_
        Steps made (online: times through the collection; in a stream: batches), whether there was nothing more to
        gain, and the reason: "converged", "heldout", "max_iter", "interrupted" (Ctrl-C keeps the best so far) or
        "stream" (``partial_fit`` never ends by itself).
    truncation_bound_ : float
        With ``sparse``: nats a token that better proportions could have gained at most when the steps ended.
    stream_, n_batches_, n_tokens_seen_
        A record of each batch of a stream before it was learned from, and how much there has been.
    inverse_temperature_, component_smoothing_ : float
        The ones used (or found): ``transform`` uses the same.
    """

    _plain = (
        ("inverse_temperature", 1.0), ("heldout_fraction", None), ("n_init", 1), ("sparse", False), ("executor", None)
    )  # fmt: skip

    def __init__(
        self,
        n_components: int = 10,
        *,
        inverse_temperature: float | str = 1.0,
        word_smoothing: float = 0.0,
        component_smoothing: float = 0.0,
        heldout_fraction: float | None = None,
        n_init: int = 1,
        online: bool = False,
        batch_size: int = 1024,
        accelerate: bool = True,
        sparse: bool = False,
        dtype: DTypeLike | None = None,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Seed = None,
        device: str = "cpu",
        n_threads: int | None = None,
        executor: Executor | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.inverse_temperature = inverse_temperature
        self.word_smoothing = word_smoothing
        self.component_smoothing = component_smoothing
        self.heldout_fraction = heldout_fraction
        self.n_init = n_init
        self.online = online
        self.batch_size = batch_size
        self.accelerate = accelerate
        self.sparse = sparse
        self.dtype = dtype
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.device = device
        self.n_threads = n_threads
        self.executor = executor
        self.verbose = verbose

    def fit(self, X: Documents, y: object = None) -> PLSA:
        """Learn the components of a matrix of counts (documents × words) or a ``BlockStore``; ``y`` is ignored."""
        self._check_options()
        if hasattr(self, "truncation_bound_"):
            del self.truncation_bound_
        if stored_counts.is_stored(X, self.executor):
            self._fit_stored(X)
            return self
        counts = self._counts(X, reset=True)
        with options.running(self) as engine:
            rng = options.generator(self.random_state)
            if self.online:
                self._fit_online(engine, counts, rng)
                self._keep_documents(counts, self._reader(engine)(counts))
            else:
                fit = self._fit_batch(engine, counts, rng)
                documents = self._reader(engine, fit)(counts)
                self._keep_fit(replace(fit, state=engine.to_host(fit.state)))
                self._keep_documents(counts, documents)
        return self

    def _fit_stored(self, X: Documents) -> None:
        """Fit to a store; only parameters and a block at a time are in memory."""
        tempered = {"inverse_temperature": 1.0} if self.inverse_temperature == "heldout" else {}
        stored_counts.refuse(self, "held-out tokens are drawn in memory", heldout_fraction=None, **tempered)
        stored_counts.refuse(self, "batches are drawn in memory; give them to partial_fit", online=False)
        stored_counts.refuse(self, "lists of components are kept in memory", sparse=False)
        n_components = self.n_components
        with stored_counts.as_store(self, X) as store, options.running(self) as engine:
            stored_counts.check_filled(store, n_components, f"n_components={n_components}")
            dtype = options.precision(self.dtype, store.nnz, store.largest, n_components)
            prepare_kernels(dtype, device=self.device)
            rng = options.generator(self.random_state)
            fit = self._run(engine, store.blocks(dtype), store.n_tokens, None, rng)
            answers = stored_counts.read_store(store, self._reader(engine, fit), self.executor)
            self._keep_fit(fit)
            self.component_prior_ = (answers.tokens / store.n_tokens).astype(self.components_.dtype)
            self.component_given_doc_ = answers.rows()
            self._forget_stream(len(store), store.n_tokens)

    def _fit_batch(self, engine: Engine, counts: Csr, rng: np.random.Generator) -> em.Fit:
        training, validation = self._heldout_split(counts, rng)
        dtype = options.working_dtype(self.dtype, counts, self.n_components)
        prepare_kernels(dtype, *(["active"] if self.sparse else []), device=self.device)
        shards = engine.shards(training, dtype, self.n_components)
        judge = likelihood(self._model(engine), validation, shards)
        return self._run(engine, shards, float(training.data.sum(dtype=np.float64)), judge, rng)

    def _run(
        self,
        engine: Engine,
        blocks: Sequence[Any],
        weight: float,
        judge: Callable[[em.State], float] | None,
        rng: np.random.Generator,
    ) -> em.Fit:
        model = self._model(engine)
        if isinstance(model, sparse_plsa.SparsePlsa):
            model = model.of(blocks, self.n_components)
        executor, seated = stored_counts.seat(engine, blocks, self.executor)
        rules = em.Rules(self.max_iter, self.tol, weight, accelerate=self.accelerate)
        with fitting(f"PLSA, {self.n_components} components", rules, show=bool(self.verbose)) as watch:

            def run_at(start: Callable[[], em.State] | em.State, inverse_temperature: float) -> em.Fit:
                return em.run(
                    model, blocks, start, rules,
                    inverse_temperature=inverse_temperature, heldout=judge, watch=watch, executor=executor,
                )  # fmt: skip

            def start() -> em.State:
                state: em.State = seated(plsa.initial(blocks, self.n_components, rng, float(self.word_smoothing)))
                return state

            def one_start() -> em.Fit:
                if self.inverse_temperature == "heldout":
                    return em.cool(run_at, start)
                return run_at(start, float(self.inverse_temperature))

            best = em.best_of(one_start, self.n_init)
        if isinstance(model, sparse_plsa.SparsePlsa):
            self.truncation_bound_ = model.bound(best.state, blocks) / weight
        return replace(best, state=em.State(best.state.shared, ()))  # documents are folded in again, from all tokens

    def _keep_fit(self, fit: em.Fit) -> None:
        self.inverse_temperature_, self.component_smoothing_ = fit.inverse_temperature, float(self.component_smoothing)
        self.components_ = fit.state.shared.word_given_component
        self.history_, self.heldout_history_ = np.array(fit.objectives), np.array(fit.heldout)
        self.n_iter_, self.converged_, self.stopped_ = fit.steps, fit.converged, fit.reason

    def _keep_documents(self, counts: Csr, component_given_doc: Floats) -> None:
        """Made by the same E-step that ``transform`` makes, so that the two can never disagree."""
        lengths = token_counts(counts)
        prior = weighted_total(lengths, component_given_doc)
        self.component_prior_ = (prior / lengths.sum()).astype(self.components_.dtype)
        self.component_given_doc_ = component_given_doc
        if not self.online:
            self._forget_stream(counts.shape[0], float(lengths.sum()))

    def fit_transform(self, X: Documents, y: object = None) -> Floats:
        """Fit, and return P(component | document)."""
        return self.fit(X).component_given_doc_

    def transform(self, X: Documents) -> Floats:
        """P(component | document) by folding in: each document by itself, the learned words fixed.

        Of a ``BlockStore`` too; where the rows are many, the array lies in a file as long as it is used.
        """
        check_is_fitted(self)
        return stored_counts.read(self, X)

    def score(self, X: Documents, y: object = None) -> float:
        """Mean log-likelihood per token of documents that are folded in; words unknown to the model are left out."""
        check_is_fitted(self)
        counts = known_counts(self.components_, self._counts(X, reset=False, what="score"))
        with options.running(self) as engine:
            reader = self._reader(engine)
            total = reader.log_likelihood(counts, reader(counts))
        return total / max(float(counts.data.sum(dtype=np.float64)), 1.0)

    def perplexity(self, X: Documents) -> float:
        """Perplexity by document completion: half of each document's tokens folded in, the other half scored."""
        check_is_fitted(self)
        counts = self._counts(X, reset=False, what="perplexity")
        with options.running(self) as engine:
            return completion_perplexity(self.components_, self._reader(engine), counts)

    def partial_fit(self, X: Documents, y: object = None) -> PLSA:
        """Learn from one more batch of a stream; the first one needs at least ``n_components`` documents.

        A stream may bring words that the first batches lacked, so every word keeps some probability: without
        ``word_smoothing`` as if it had been counted a hundredth of a time. After ``fit`` the stream goes on from there,
        and ``history_`` begins anew. Tempering, held-out tokens, several starts and ``sparse`` are refused: where a fit
        had them, ``set_params`` takes them back first. See docs/how-to/follow-a-stream.md.
        """
        return self._partial_fit(X)

    def _begin_stream(self, X: Documents) -> None:
        batch = self._counts(X.counts() if isinstance(X, BlockFile) else X, reset=True)
        with options.running(self) as engine:
            self._start_stream(engine, batch, options.generator(self.random_state))
            self._absorb(engine, batch, judge=False)
            self._keep_batch(engine, batch)

    def _keep_batch(self, engine: Engine, counts: Csr) -> None:
        self.component_given_doc_ = self._reader(engine)(counts)

    def _fit_online(self, engine: Engine, counts: Csr, rng: np.random.Generator) -> None:
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
                        if lengths[rows].any():  # documents without words teach nothing
                            self._absorb(engine, counts[rows], judge=False)
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

    def _start_stream(self, engine: Engine, batch: Csr, rng: np.random.Generator) -> None:
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

    def _stream_model(self, engine: Engine, stream: online.Stream) -> plsa.Plsa:
        return plsa.Plsa(engine, online.smoothing(self.word_smoothing), float(self.component_smoothing))

    def _scorer(self, model: plsa.Plsa) -> plsa.Plsa:
        return replace(model, component_smoothing=max(PREDICTING, model.component_smoothing))

    def _stream_shared(self) -> plsa.Params:
        return plsa.Params.of(self.components_)

    def _untemper(self) -> None:
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

    def _keep_shared(self, shared: plsa.Params, stream: online.Stream) -> None:
        self.components_ = shared.word_given_component
        prior = stream.stats.word_component_count.sum(axis=0, dtype=np.float64)
        self.component_prior_ = (prior / max(prior.sum(), 1e-300)).astype(self.components_.dtype)

    def _widen(self, n_words: int) -> None:
        stream = self._enter_stream()
        counts = stream.stats.word_component_count
        tokens = counts.sum(axis=0, dtype=np.float64) * self.n_tokens_seen_
        self.components_ = plsa.Params.of(online.wider(self.components_, tokens, n_words)).word_given_component
        more = ((0, n_words - len(counts)), (0, 0))
        self._stream = replace(stream, stats=plsa.Stats(np.pad(counts, more), 0.0))

    def _reader(self, engine: Engine, fit: em.Fit | None = None) -> stored_counts.Reader:
        if fit is not None:
            shared: plsa.Params = fit.state.shared
            return stored_counts.Reader(self._model(engine), shared, fit.inverse_temperature, shared.by_word.dtype)
        prepare_kernels(self.components_.dtype, device=self.device)
        model, shared = plsa.Plsa(engine, 0.0, self.component_smoothing_), plsa.Params.of(self.components_)
        return stored_counts.Reader(model, shared, self.inverse_temperature_, shared.by_word.dtype)

    def _counts(self, X: Documents, *, reset: bool, what: str = "this method") -> Any:
        counts = stored_counts.checked(self, X, what, reset=reset)
        if reset:
            self._check_enough(counts, "")
        return counts

    def _check_enough(self, counts: Csr, left: str) -> None:
        filled = int(np.count_nonzero(np.diff(counts.indptr)))
        if filled < self.n_components:
            raise InputError(
                f"n_components={self.n_components} needs at least as many documents with words; "
                f"{filled} came{left} (n_samples={counts.shape[0]})",
                hint=f"n_components={max(1, filled // 10)}, or more documents",
            )

    def _model(self, engine: Engine) -> plsa.Plsa:
        kind = sparse_plsa.SparsePlsa if self.sparse else plsa.Plsa
        return kind(engine, float(self.word_smoothing), float(self.component_smoothing))

    def _heldout_split(self, counts: Csr, rng: np.random.Generator) -> tuple[Any, Any]:
        if self.heldout_fraction is None and self.inverse_temperature != "heldout":
            return counts, None
        return split(counts, self.heldout_fraction or HELDOUT_FRACTION, rng, self._check_enough)

    def _check_options(self) -> None:
        options.check_integer("n_components", self.n_components, 1, hint="n_components=20")
        options.check_integer("n_init", self.n_init, 1)
        options.check_integer("batch_size", self.batch_size, 1)
        options.check_common(self)
        options.check_number("word_smoothing", self.word_smoothing, 0.0, hint="0.01")
        options.check_number("component_smoothing", self.component_smoothing, 0.0, hint="0.05")
        if self.heldout_fraction is not None:
            options.check_number("heldout_fraction", self.heldout_fraction, 0.001, 0.9, hint="0.1")
        if self.inverse_temperature != "heldout":
            hint = "1.0, or 'heldout' to have it chosen"
            options.check_number("inverse_temperature", self.inverse_temperature, 0.01, 1.0, hint=hint)
        if options.check_one_of("sparse", self.sparse, (False, True)):
            plain: dict[str, Any] = {
                "inverse_temperature": 1.0,
                "component_smoothing": 0.0,
                "accelerate": True,
                "online": False,
            }
            options.check_plain(self, "sparse=True", **plain, device="cpu")
        if self.online:
            self._check_stream_options("online=True")

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])


def split(counts: Csr, fraction: float, rng: np.random.Generator, check: Callable[[Csr, str], None]) -> tuple[Any, Any]:
    """Tokens to learn from, which are checked, and tokens to judge by."""
    training, validation = split_tokens(counts, (1 - fraction, fraction), seed=int(rng.integers(2**31)))
    check(training, " without the held-out tokens")
    # a word that only held-out tokens hold has no probability under any parameters: it would judge nothing
    validation = known_counts(np.asarray(training.sum(axis=0), np.float64)[None], validation)
    if not validation.nnz:
        raise InputError(
            f"heldout_fraction={fraction} leaves no held-out token of a word that the rest holds",
            hint="more documents, a larger heldout_fraction, or None",
        )
    return training, validation


def likelihood(model: plsa.Plsa, validation: Csr | None, shards: Sequence[Shard]) -> Callable[[em.State], float] | None:
    """Log-likelihood per held-out token of a state, or None without held-out tokens; ``shards`` say who has which."""
    if validation is None:
        return None
    ends = np.cumsum([0, *(shard.shape[0] for shard in shards)]).tolist()
    parts = [validation[start:stop] for start, stop in pairwise(ends)] if len(shards) > 1 else [validation]
    sides = [model.engine.side(part, shards[0].rows.data.dtype) for part in parts]
    tokens = max(float(validation.data.sum(dtype=np.float64)), 1.0)

    def of_state(state: em.State) -> float:
        pairs = zip(sides, state.local, strict=True)
        return sum(model.log_likelihood(state.shared, side, local) for side, local in pairs) / tokens

    return of_state
