"""PMM as a scikit-learn estimator: documents with several labels, and the calibration of their thresholds."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, validate_data

from topiarist.arrays import Array, ArrayLike, Csr, Floats, Matrix, Seed, Unchecked
from topiarist.counts.validation import check_counts
from topiarist.errors import InputError, UsageError
from topiarist.estimators.category.explanation import one_row
from topiarist.estimators.category.given_labels import given_back, read_label_matrix
from topiarist.estimators.common import options
from topiarist.estimators.common.display import ShownEstimator
from topiarist.estimators.common.progress import fitting
from topiarist.estimators.common.stored_counts import Documents, ReadsCounts
from topiarist.measures.label_agreement import example_f1
from topiarist.models import em
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.models.labels import choice, pmm
from topiarist.models.labels.label_sets import Block, Grouped, grouped
from topiarist.scale.blocks import BlockStore
from topiarist.scale.executors import Executor
from topiarist.store.array_files import Scratch


@options.common_options(
    tol="Stop when a step moves no probability by more than this.",
    random_state="For scikit-learn's sake: nothing is drawn, and the same data give the same bits.",
    device="As elsewhere. Labels are too few to keep a device busy: the processor computes in either case.",
    executor="Where blocks of label sets are computed; None is this process.",
)
class PMM(ReadsCounts, ClassifierMixin, ShownEstimator):  # type: ignore[misc]
    """Parametric mixture model: a document with several labels mixes the words of its labels.

    Parameters
    ----------
    order : 1 or 2, default 1
        1: the labels of a document have even shares. 2: of each pair of labels one may be louder; that is learned.
    word_prior : float, default 2
        Dirichlet concentration ξ of each label's words: ξ − 1 pseudo-counts for each word, also those not in ``X``'s
        documents. More limits how many labels are predicted.
    bias_prior : float, default 2
        The same, ζ, for the bias of a pair of labels (``order=2``).
    label_prior : None or "calibrated", default None
        None: all sets of labels are equally probable beforehand, as in the paper, and prediction is greedy.
        "calibrated": a label is predicted where its share of the document exceeds a threshold of its own, which five
        folds of the training documents decide. Usually more accurate, most of all where some labels are frequent.
        With one label for each document there is nothing to decide: it does nothing, and a warning says so.

    Attributes
    ----------
    classes_ : array (n_labels,)
        The labels: the columns of a data frame, else their numbers; of single labels, the labels.
    word_given_label_ : array (n_labels, n_words)
        P(word | label); rows sum to one.
    label_bias_ : array (n_labels, n_labels)
        How loud a label (row) is beside another (column), between 0 and 1; ½ throughout when ``order=1``.
    label_prior_ : array (n_labels,)
        The share of the training documents that have each label.
    label_threshold_ : array (n_labels,) or None
        What the share of each label must exceed (``label_prior="calibrated"``).
    history_ : array
        The objective (M3) of the start and after every step.
    n_iter_, converged_, stopped_
        Steps made, whether a step moved less than ``tol``, and the reason to stop: "converged", "max_iter" or
        "interrupted" (Ctrl-C keeps the best so far).
    """

    _on_host = True

    def __init__(
        self,
        order: int = 1,
        *,
        word_prior: float = 2.0,
        bias_prior: float = 2.0,
        label_prior: str | None = None,
        max_iter: int = 5000,
        tol: float = 1e-11,
        random_state: Seed = None,
        device: str = "cpu",
        n_threads: int | None = None,
        executor: Executor | None = None,
        verbose: int = 0,
    ) -> None:
        self.order = order
        self.word_prior = word_prior
        self.bias_prior = bias_prior
        self.label_prior = label_prior
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.device = device
        self.n_threads = n_threads
        self.executor = executor
        self.verbose = verbose

    def fit(self, X: Documents, y: Matrix) -> PMM:
        """Learn from counts (documents × words, or a ``BlockStore``) and labels.

        ``y`` is an indicator matrix (documents × labels) of 0 and 1, dense or sparse; every document has a label. Or it
        holds one label for each document.
        """
        self._check_options()
        counts = self._counts(X, reset=True)
        labels = read_label_matrix(y, counts.shape[0])
        if self.label_prior == "calibrated" and labels.form == "single":
            warnings.warn(
                "label_prior='calibrated' decides how many labels a document has: with one label each it does nothing",
                stacklevel=2,
            )
        prepare_kernels("float64", "labels")
        with options.running(self) as engine:
            fitted = fitted_mixture(engine, counts, labels.matrix, self)
            calibrates = self.label_prior == "calibrated" and labels.form != "single"
            self.label_threshold_ = calibrated(engine, counts, labels.matrix, self) if calibrates else None
        self.classes_, self._form = labels.classes, labels.form
        self.word_given_label_, self.label_bias_ = fitted.by_word.T, fitted.label_bias
        self.label_prior_, self._known = fitted.label_docs / counts.shape[0], fitted.known
        fit = fitted.fit
        self.history_, self.n_iter_ = np.array(fit.objectives), max(fit.steps, 1)
        self.converged_, self.stopped_ = fit.converged, fit.reason
        return self

    def predict(self, X: Documents) -> Any:
        """The labels of each document: an indicator matrix of the kind that ``fit`` got, or one label each.

        A document without any word that was in the training documents gets the most frequent label, and a warning.
        """
        check_is_fitted(self)
        counts = self._counts(X, reset=False)
        if self._form == "single":
            return self.classes_[self._likelihoods(counts, warn=True).argmax(axis=1)]
        with options.running(self) as engine:
            parts = [self._chosen(engine, part) for part in parts_of(counts, len(self.classes_))]
        joined = (np.concatenate([getattr(part, name) for part in parts]) for name in ("data", "indices"))
        ends = np.concatenate([[0], *(np.diff(part.indptr) for part in parts)]).cumsum()
        return given_back(csr_array((*joined, ends), shape=(counts.shape[0], len(self.classes_))), self._form)

    def decision_function(self, X: Documents) -> Floats:
        """How much speaks for each label, (n_documents, n_labels): above zero for those that ``predict`` gives.

        By how much a predicted label raised the log-likelihood when it joined the labels before it (the first: how far
        it was ahead of the second best), and how much any other label would add. Calibrated: how far the share of the
        label is above its threshold. With single labels: the log-likelihood of each (of two: the difference), and the
        logarithm of its frequency for a document without known words.
        """
        check_is_fitted(self)
        counts = self._counts(X, reset=False)
        if self._form == "single":
            values = self._likelihoods(counts)
            return values[:, 1] - values[:, 0] if len(self.classes_) == 2 else values
        with options.running(self) as engine:
            parts = parts_of(counts, len(self.classes_))
            return np.concatenate([self._gains(engine, part) for part in parts])

    def explain(self, x: Documents, labels: ArrayLike | None = None, *, n_words: int | None = None) -> list[Evidence]:
        """Which words of a document decided: an ``Evidence`` for each label, the words with the largest part first.

        ``labels`` are names from ``classes_``; None: those that ``predict`` gives, in the order in which they were
        chosen. The parts of all words add up to the label's ``decision_function``; calibrated, to its share; of single
        labels, to how far the label is ahead of the best other one. Without known words the prior decides, and no word.
        """
        check_is_fitted(self)
        counts = self._counts(x if isinstance(x, BlockStore) else one_row(cast("Matrix", x)), reset=False)
        if isinstance(counts, BlockStore) or counts.shape[0] != 1:
            raise InputError(
                f"explain takes one document, got {counts.shape[0]}", hint="X[[0]] is the first one as a matrix"
            )
        if n_words is not None:
            options.check_integer("n_words", n_words, 1, hint="10, or None for all")
        with options.running(self) as engine:
            return evidence(self, engine, counts, labels, n_words)

    def score(self, X: Documents, y: Matrix, sample_weight: ArrayLike | None = None) -> float:
        """The mean F of the documents, ``metrics.example_f1``; with single labels that is the accuracy."""
        check_is_fitted(self)
        predicted = self.predict(X)
        if self._form == "single":
            return float(accuracy_score(y, predicted, sample_weight=sample_weight))
        return example_f1(y, predicted, sample_weight)

    @property
    def _mixture(self) -> choice.Mixture:
        bias = self.label_bias_ if self.order == 2 else np.empty((0, 0))
        return choice.Mixture(self.word_given_label_.T, bias, self.label_prior_ > 0)

    def _chosen(self, engine: Engine, counts: Csr) -> Any:
        """A sparse matrix of labels; the prior's answer where no word is known."""
        blank = self._without_known_words(counts)
        if self.label_threshold_ is None:
            chosen = choice.chosen_labels(engine, self._mixture, counts)
        else:
            chosen = csr_array(choice.margins(self._shares(engine, counts), self.label_threshold_) > 0)
        if not len(blank):
            return chosen
        self._warn(len(blank))
        changed = chosen.tolil()
        changed[blank] = 0
        changed[blank, int(self.label_prior_.argmax())] = 1
        return csr_array(changed)

    def _gains(self, engine: Engine, counts: Csr) -> Floats:
        if self.label_threshold_ is None:
            gains = choice.label_gains(engine, self._mixture, counts)[1]
        else:
            gains = choice.margins(self._shares(engine, counts), self.label_threshold_)
        blank = self._without_known_words(counts)
        gains[blank] = prior_margins(self.label_prior_)
        return gains

    def _shares(self, engine: Engine, counts: Csr) -> Floats:
        return choice.shares(engine, self.word_given_label_.T, counts)

    def _likelihoods(self, counts: Csr | BlockStore, *, warn: bool = False) -> Floats:
        """The log-likelihood of each single label; how frequent labels are where no word is known."""
        values, blank = [], 0
        with options.running(self) as engine:
            for part in parts_of(counts, len(self.classes_)):
                values.append(choice.label_likelihoods(engine, self._mixture, part))
                bare = self._without_known_words(part)
                values[-1][bare] = np.log(self.label_prior_)
                blank += len(bare)
        if blank and warn:
            self._warn(blank)
        return np.concatenate(values)

    def _without_known_words(self, counts: Csr) -> Any:
        known = np.add.reduceat(np.append(self._known[counts.indices], False), counts.indptr[:-1])
        return np.flatnonzero((known == 0) | (np.diff(counts.indptr) == 0))

    def _warn(self, number: int) -> None:
        label = self.classes_[int(self.label_prior_.argmax())]
        warnings.warn(
            f"{number} documents have no word that was in the training documents: they get the most frequent label, "
            f"{label}",
            stacklevel=4,
        )

    def _counts(self, X: Documents, *, reset: bool) -> Any:
        counts = X if isinstance(X, BlockStore) else check_counts(cast("Matrix", X))
        validate_data(self, X, reset=reset, skip_check_array=True)
        return counts

    def _check_options(self) -> None:
        options.check_one_of("order", self.order, (1, 2))
        options.check_one_of("label_prior", self.label_prior, (None, "calibrated"))
        options.check_number("word_prior", self.word_prior, 1.0, hint="2.0 adds one of each word to each label")
        options.check_number("bias_prior", self.bias_prior, 1.0, hint="2.0")
        options.check_common(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


FOLDS = 5
FOLD_RULES = {"max_iter": 200, "tol": 1e-5}  # thresholds need no more
NUMBERS = 1 << 24  # documents × labels read at once


@dataclass(frozen=True)
class Fitted:
    """What a fit found."""

    fit: em.Fit
    by_word: Floats  # (n_words, n_labels)
    label_bias: Floats  # (n_labels, n_labels)
    label_docs: Any  # documents of each label
    known: Any  # bool (n_words,): words of the training documents


def fitted_mixture(engine: Engine, counts: Csr | BlockStore, labels: Csr, settings: PMM, **rules: Any) -> Fitted:
    """Fit a ``PMM``'s model to counts and labels, both sparse by rows (counts may be a ``BlockStore``)."""
    data = grouped(_with_labels(counts, labels), counts.shape[1])
    model = pmm.Pmm(
        engine, data.pattern, data.alone, settings.order,
        float(settings.word_prior) - 1.0, float(settings.bias_prior) - 1.0,
    )  # fmt: skip
    chosen = {"max_iter": settings.max_iter, "tol": settings.tol, **rules}
    told = em.Rules(weight=max(data.n_tokens, 1.0), movement=model.movement, turns_back=model.turns_back, **chosen)
    shown = bool(settings.verbose) and not rules
    with fitting(f"PMM{settings.order}", told, show=shown) as watch, _placed(data, settings.executor) as blocks:
        found = _run(model, data, blocks, told, watch, settings.executor)
    shared: pmm.Params = found.state.shared
    n_labels = data.pattern.n_labels
    bias = shared.bias if settings.order == 2 else np.broadcast_to(0.5, (n_labels, n_labels))
    known = np.zeros(data.pattern.n_words, bool)
    known[data.pattern.words] = True
    return Fitted(found, shared.by_word(data.pattern), bias, data.label_docs, known)


def _run(
    model: pmm.Pmm,
    data: Grouped,
    blocks: Sequence[Block],
    rules: em.Rules,
    watch: Callable[[em.Loop], None] | None,
    executor: Executor | None,
) -> em.Fit:
    start = pmm.initial(model, data)
    if blocks:
        return em.run(model, blocks, start, rules, watch=watch, executor=executor)
    objective = model.log_prior(start.shared)  # single labels only: the start is the optimum, and one step says so
    return em.Fit(start, (objective, objective), (), 1, "converged")


@contextmanager
def _placed(data: Grouped, executor: Executor | None) -> Iterator[Any]:
    """The blocks; in files as long as this lasts, where the executor needs them there."""
    if not getattr(executor, "needs_files", False):
        yield data.blocks
        return
    with tempfile.TemporaryDirectory(dir=getattr(executor, "scratch", None), prefix="topiarist-") as folder:
        scratch = Scratch(Path(folder))
        yield [_in_files(block, scratch) for block in data.blocks]


def _in_files(block: Block, scratch: Scratch) -> Block:
    def kept(array: Array) -> Any:
        file = scratch.rows()
        file.save(array)
        return file

    return Block(type(block.sets)(*map(kept, block.sets)), kept(block.pair_members), kept(block.pair_labels))


def _with_labels(counts: Csr | BlockStore, labels: Csr) -> Iterator[tuple[Any, Any]]:
    """Parts of the collection with their labels."""
    if not isinstance(counts, BlockStore):
        yield counts, labels
        return
    place = 0
    for block in counts.blocks():
        part = block.counts()
        yield part, csr_array(labels[place : place + part.shape[0]])
        place += part.shape[0]


def parts_of(counts: Csr | BlockStore, n_labels: int) -> Iterator[Any]:
    """Counts of so many documents that an array of documents × labels is small."""
    size = max(1, NUMBERS // n_labels)
    for part in (block.counts() for block in counts.blocks()) if isinstance(counts, BlockStore) else (counts,):
        if part.shape[0] <= size:
            yield part
        else:
            yield from (csr_array(part[start : start + size]) for start in range(0, part.shape[0], size))


def calibrated(engine: Engine, counts: Csr | BlockStore, labels: Csr, settings: PMM) -> Floats:
    """(M8): thresholds from shares of documents by models that have not seen them."""
    if isinstance(counts, BlockStore):
        counts = csr_array(counts.sample(len(counts)))
    fold = np.arange(counts.shape[0]) % min(FOLDS, counts.shape[0])
    shares = np.zeros((counts.shape[0], labels.shape[1]))
    for number in range(int(fold.max()) + 1 if counts.shape[0] > 1 else 0):
        rest, here = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        seen = fitted_mixture(engine, csr_array(counts[rest]), csr_array(labels[rest]), settings, **FOLD_RULES)
        shares[here] = choice.shares(engine, seen.by_word, csr_array(counts[here]))
    return choice.best_thresholds(shares, labels)


def prior_margins(label_prior: Floats) -> Floats:
    """What speaks for each label where words say nothing: log-frequencies, above zero for the most frequent alone."""
    logs = np.log(np.maximum(label_prior, 1e-12))
    best = int(logs.argmax())
    margins: Floats = logs - logs[best]
    others = np.delete(logs, best)
    margins[best] = max(logs[best] - others.max(), 1e-12) if len(others) else 1.0
    return margins


@dataclass(frozen=True)
class Evidence:
    """Why a document has a label, or has not: words and what each adds, the most first."""

    label: Any
    predicted: bool
    total: float  # the parts of all words of the document together
    words: Any  # names of the columns where they are known, else their numbers
    parts: Floats

    def __str__(self) -> str:
        told = ", ".join(f"{word} {part:+.3g}" for word, part in zip(self.words[:10], self.parts[:10], strict=True))
        return f"{self.label} ({'predicted' if self.predicted else 'not predicted'}, {self.total:+.3g}): {told}"


def evidence(estimator: PMM, engine: Engine, counts: Csr, labels: Unchecked, n_words: int | None) -> list[Evidence]:
    """For ``PMM.explain``: the parts of each word in the decision about each label."""
    mixture, classes = estimator._mixture, estimator.classes_
    words, x = counts.indices, counts.data.astype(np.float64)
    share = None
    if len(estimator._without_known_words(counts)):  # the prior's answer, which no word has a part in
        words, x, ranks, gains = words[:0], x[:0], np.zeros(len(classes), int), np.zeros(len(classes))
        chosen = np.array([estimator.label_prior_.argmax()])
    elif estimator._form == "single":  # every label against the best of the others
        ranks, gains = np.zeros(len(classes), int), choice.label_likelihoods(engine, mixture, counts)[0]
        chosen = np.array([gains.argmax()])
    elif estimator.label_threshold_ is None:
        ranks, gains = (rows[0] for rows in choice.label_gains(engine, mixture, counts))
        chosen = np.flatnonzero(ranks)[np.argsort(ranks[np.flatnonzero(ranks)])]
    else:
        share = choice.shares(engine, mixture.by_word, counts)[0]
        gains = choice.margins(share[None], estimator.label_threshold_)[0]
        ranks, chosen = gains > 0, np.flatnonzero(gains > 0)
        chosen = chosen[np.argsort(-gains[chosen])]
    names = getattr(estimator, "feature_names_in_", None)
    told = []
    for label in chosen if labels is None else _label_numbers(labels, classes):
        if share is None:
            parts = choice.contributions(mixture, words, x, ranks, gains, int(label))
        else:
            parts = choice.word_shares(mixture.by_word, words, x, share, int(label))
        order = np.argsort(-parts, kind="stable")[:n_words]
        shown = words[order] if names is None else names[words[order]]
        total = float(parts.sum())
        told.append(Evidence(classes[label], bool(label in chosen), total, shown, parts[order]))
    return told


def _label_numbers(labels: Unchecked, classes: Array) -> list[int]:
    wanted = [labels] if isinstance(labels, str) or np.ndim(labels) == 0 else list(labels)
    places = {name: number for number, name in enumerate(classes.tolist())}
    unknown = [name for name in wanted if name not in places]
    if unknown:
        raise UsageError(f"there is no label {unknown[0]!r}", hint=f"one of {', '.join(map(str, classes[:10]))}")
    return [places[name] for name in wanted]
