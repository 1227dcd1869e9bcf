"""PMM as a scikit-learn estimator: documents with several labels, and calibrated thresholds."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from topiarist.arrays import Array, ArrayLike, Csr, Floats, Matrix, Unchecked
from topiarist.errors import InputError, UsageError
from topiarist.estimators.category.explanation import to_one_row
from topiarist.estimators.category.given_labels import read_label_matrix, to_label_format
from topiarist.estimators.common import options
from topiarist.estimators.common.base import EMOptions
from topiarist.estimators.common.progress import show_fit
from topiarist.estimators.common.stored_counts import Documents, ReadsCounts, check_documents, iterate_blocks
from topiarist.execution.blocks import BlockStore
from topiarist.execution.executors import Executor
from topiarist.metrics.label_agreement import example_f1
from topiarist.models import em
from topiarist.models.engine import SMALLEST_MIXTURE
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.models.labels import choice, pmm
from topiarist.models.labels.label_sets import Block, CountsByLabelSet, group_by_label_set
from topiarist.storage.array_files import Scratch


@options.estimator(
    tol="Stop when a step changes no probability by more than this.",
    random_state="Ignored: nothing is random, and the same data give the same bits.",
    device="Device that must exist. Labels are too few for a device, and the processor computes.",
    executor="Executor of the blocks of label sets. None: this process.",
)
class PMM(ReadsCounts, ClassifierMixin, EMOptions):  # type: ignore[misc]
    """Parametric mixture model: a document with several labels mixes the words of its labels.

    Parameters
    ----------
    order : 1 or 2, default 1
        1: the labels of a document have even shares. 2: the shares of each pair of labels are learned; of the paper, not
        recommended.
    word_prior : float, default 2
        Dirichlet concentration ξ of each label's words: ξ − 1 pseudo-counts for each word. Larger values lead to fewer
        predicted labels.
    bias_prior : float, default 2
        Dirichlet concentration ζ of the bias of a pair of labels (``order=2``).
    label_prior : None or "calibrated", default None
        None: all sets of labels are equally probable, as in the paper, and prediction is greedy. "calibrated": a label
        is predicted if its share of the document exceeds its own threshold, chosen with five folds. This is usually
        more accurate, most of all with frequent labels. It has no effect with one label for each document.

    Attributes
    ----------
    classes_ : array (n_labels,)
        Labels: columns of a data frame, numbers of columns, or single labels.
    word_given_label_ : array (n_labels, n_words)
        P(word | label); rows sum to one.
    label_bias_ : array (n_labels, n_labels)
        Share of a label (row) beside another one (column), between 0 and 1; 0.5 for ``order=1``.
    label_prior_ : array (n_labels,)
        Share of the training documents with each label.
    label_threshold_ : array (n_labels,) or None
        Minimum share of each label (``label_prior="calibrated"``).
    history_ : array
        Objective (M3) of the start and after every step.
    n_iter_, converged_, stopped_
        Number of steps, whether the last step moved less than ``tol``, and the reason of the stop: "converged",
        "max_iter" or "interrupted" (Ctrl-C keeps the best fit).

    Examples
    --------
    >>> import numpy as np
    >>> from topiarist import PMM
    >>> PMM().fit(np.eye(4) + 1, [[1, 0], [0, 1], [1, 1], [1, 0]]).predict(np.eye(4)).shape
    (4, 2)
    """

    order: int = 1
    _: KW_ONLY
    word_prior: float = 2.0
    bias_prior: float = 2.0
    label_prior: str | None = None
    max_iter: int = 5000
    tol: float = 1e-11

    _on_host = True

    def fit(self, X: Documents, y: Matrix) -> PMM:
        """Learn from counts and labels.

        Parameters
        ----------
        y : 0/1 matrix (n_documents, n_labels) or array (n_documents,)
            Labels, dense or sparse. Every document has a label.

        Raises
        ------
        InputError
            If the labels do not fit the documents, or a document has none.
        UsageError
            If an option is invalid.
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
        with options.open_engine(self) as engine:
            fitted = fit_mixture(engine, counts, labels.matrix, self)
            calibrates = self.label_prior == "calibrated" and labels.form != "single"
            self.label_threshold_ = fit_thresholds(engine, counts, labels.matrix, self) if calibrates else None
        self.classes_, self._form = labels.classes, labels.form
        self.word_given_label_, self.label_bias_ = fitted.by_word.T, fitted.label_bias
        self.label_prior_, self._is_known_word = fitted.label_docs / counts.shape[0], fitted.known
        self._store_steps(fitted.fit)
        self.n_iter_ = max(1, self.n_iter_)
        return self

    def predict(self, X: Documents) -> Any:
        """Return the labels of each document.

        Returns
        -------
        0/1 matrix (n_documents, n_labels) or array (n_documents,)
            Labels in the form that ``fit`` got. A document without known words gets the most frequent label, with a
            warning.
        """
        check_is_fitted(self)
        counts = self._counts(X, reset=False)
        if self._form == "single":
            return self.classes_[self._compute_likelihoods(counts, warn=True).argmax(axis=1)]
        with options.open_engine(self) as engine:
            parts = [self._select_labels(engine, part) for part in iterate_parts(counts, len(self.classes_))]
        joined = (np.concatenate([getattr(part, name) for part in parts]) for name in ("data", "indices"))
        ends = np.concatenate([[0], *(np.diff(part.indptr) for part in parts)]).cumsum()
        return to_label_format(csr_array((*joined, ends), shape=(counts.shape[0], len(self.classes_))), self._form)

    def decision_function(self, X: Documents) -> Floats:
        """Return the evidence for each label, (n_documents, n_labels), positive for predicted labels.

        It is the gain of log-likelihood from adding the label to the labels before it; for the first label, its lead
        over the second best. Calibrated: the distance of the share to the threshold. Single labels: the log-likelihood
        of each (for two: the difference), or the log frequency without known words.
        """
        check_is_fitted(self)
        counts = self._counts(X, reset=False)
        if self._form == "single":
            values = self._compute_likelihoods(counts)
            return values[:, 1] - values[:, 0] if len(self.classes_) == 2 else values
        with options.open_engine(self) as engine:
            parts = iterate_parts(counts, len(self.classes_))
            return np.concatenate([self._compute_gains(engine, part) for part in parts])

    def explain(self, x: Documents, labels: ArrayLike | None = None, *, n_words: int | None = None) -> list[Evidence]:
        """Return an ``Evidence`` for each label of a document, with the most important words first.

        Parameters
        ----------
        labels : sequence or None
            Labels from ``classes_`` to explain. None: the predicted labels in the order of their selection.
        n_words : int or None
            Maximum number of words. None: all.

        Returns
        -------
        list of Evidence
            Parts of words, which add up to the ``decision_function`` of the label; calibrated, to its share; for single
            labels, to its lead over the best other label.

        Raises
        ------
        InputError
            If ``x`` is not one document.
        UsageError
            If a label is unknown.
        """
        check_is_fitted(self)
        counts = self._counts(x if isinstance(x, BlockStore) else to_one_row(cast("Matrix", x)), reset=False)
        if isinstance(counts, BlockStore) or counts.shape[0] != 1:
            raise InputError(
                f"explain takes one document, got {counts.shape[0]}", hint="Pass X[[0]], the first one as a matrix."
            )
        if n_words is not None:
            options.check_integer("n_words", n_words, 1, hint="Use 10, or None for all.")
        with options.open_engine(self) as engine:
            return explain_labels(self, engine, counts, labels, n_words)

    def label_given_word(self, labels: ArrayLike) -> Floats:
        """Return P(label | word) in documents that have these labels (M9).

        Parameters
        ----------
        labels : sequence
            Labels from ``classes_``.

        Returns
        -------
        array (n_labels, n_words)
            Columns sum to one; zeros for a word that no training document has.

        Raises
        ------
        UsageError
            If a label is unknown.
        """
        check_is_fitted(self)
        numbers = np.array(_find_labels(labels, self.classes_))
        joint = self._mixture.weights(numbers)[:, None] * self.word_given_label_[numbers]
        shares: Floats = joint / np.maximum(joint.sum(axis=0), SMALLEST_MIXTURE) * self._is_known_word
        return shares

    def score(self, X: Documents, y: Matrix, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean F1 of the documents, ``metrics.example_f1``; with single labels this is the accuracy."""
        check_is_fitted(self)
        predicted = self.predict(X)
        if self._form == "single":
            return float(accuracy_score(y, predicted, sample_weight=sample_weight))
        return example_f1(y, predicted, sample_weight)

    @property
    def _mixture(self) -> choice.Mixture:
        bias = self.label_bias_ if self.order == 2 else np.empty((0, 0))
        return choice.Mixture(self.word_given_label_.T, bias, self.label_prior_ > 0)

    def _select_labels(self, engine: Engine, counts: Csr) -> Any:
        """Return a sparse matrix of labels; the most frequent label for documents without known words."""
        blank = self._without_known_words(counts)
        if self.label_threshold_ is None:
            selected = choice.choose_labels(engine, self._mixture, counts)
        else:
            selected = csr_array(choice.margins(self._compute_shares(engine, counts), self.label_threshold_) > 0)
        if not len(blank):
            return selected
        self._warn_unknown(len(blank))
        labels = selected.tolil()
        labels[blank] = 0
        labels[blank, int(self.label_prior_.argmax())] = 1
        return csr_array(labels)

    def _compute_gains(self, engine: Engine, counts: Csr) -> Floats:
        """Return the gain of adding each label to each document; positive if the label fits."""
        if self.label_threshold_ is None:
            gains = choice.compute_label_gains(engine, self._mixture, counts)[1]
        else:
            gains = choice.margins(self._compute_shares(engine, counts), self.label_threshold_)
        blank = self._without_known_words(counts)
        gains[blank] = compute_prior_margins(self.label_prior_)
        return gains

    def _compute_shares(self, engine: Engine, counts: Csr) -> Floats:
        return choice.fold_in_shares(engine, self.word_given_label_.T, counts)

    def _compute_likelihoods(self, counts: Csr | BlockStore, *, warn: bool = False) -> Floats:
        """Return the log-likelihood of each single label, or its log frequency without known words."""
        values, blank = [], 0
        with options.open_engine(self) as engine:
            for part in iterate_parts(counts, len(self.classes_)):
                values.append(choice.label_likelihoods(engine, self._mixture, part))
                bare = self._without_known_words(part)
                values[-1][bare] = np.log(self.label_prior_)
                blank += len(bare)
        if blank and warn:
            self._warn_unknown(blank)
        return np.concatenate(values)

    def _without_known_words(self, counts: Csr) -> Any:
        n_known = np.add.reduceat(np.append(self._is_known_word[counts.indices], False), counts.indptr[:-1])
        return np.flatnonzero((n_known == 0) | (np.diff(counts.indptr) == 0))

    def _warn_unknown(self, number: int) -> None:
        """Warn that documents without learned words get the most frequent label."""
        label = self.classes_[int(self.label_prior_.argmax())]
        warnings.warn(
            f"{number} documents have no word that was in the training documents: they get the most frequent label, "
            f"{label}",
            stacklevel=4,
        )

    def _counts(self, X: Documents, *, reset: bool) -> Any:
        return check_documents(self, X, reset=reset)

    def _check_options(self) -> None:
        """Raise UsageError for a parameter outside its range."""
        options.check_one_of("order", self.order, (1, 2))
        options.check_one_of("label_prior", self.label_prior, (None, "calibrated"))
        options.check_number("word_prior", self.word_prior, 1.0, hint="Use 2.0 to add one of each word to each label.")
        options.check_number("bias_prior", self.bias_prior, 1.0, hint="Use 2.0.")
        options.check_common(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


N_FOLDS = 5
FOLD_RULES = {"max_iter": 200, "tol": 1e-5}  # thresholds need no more
MAX_NUMBERS = 1 << 24  # documents × labels read at once


@dataclass(frozen=True)
class FittedMixture:
    """Result of a fit."""

    fit: em.Fit
    by_word: Floats  # (n_words, n_labels)
    label_bias: Floats  # (n_labels, n_labels)
    label_docs: Any  # documents of each label
    known: Any  # bool (n_words,): words of the training documents


def fit_mixture(engine: Engine, counts: Csr | BlockStore, labels: Csr, settings: PMM, **rules: Any) -> FittedMixture:
    """Fit the word probabilities of labels with EM; ``rules`` override the stopping rules."""
    data = group_by_label_set(_iterate_labelled(counts, labels), counts.shape[1])
    model = pmm.Pmm(
        engine, data.pattern, data.single_label_counts, settings.order,
        float(settings.word_prior) - 1.0, float(settings.bias_prior) - 1.0,
    )  # fmt: skip
    rule_values = {"max_iter": settings.max_iter, "tol": settings.tol, **rules}
    em_rules = em.Rules(
        weight=max(data.n_tokens, 1.0), movement=model.movement, turns_back=model.turns_back, **rule_values
    )
    show = bool(settings.verbose) and not rules
    start = pmm.create_start(model, data)
    with (
        show_fit(f"PMM{settings.order}", em_rules, show=show) as watch,
        _open_blocks(data, settings.executor) as blocks,
    ):
        if blocks:
            result = em.run(model, blocks, start, em_rules, watch=watch, executor=settings.executor)
        else:  # single labels only: the start is the optimum, and one step says so
            objective = model.log_prior(start.shared)
            result = em.Fit(start, (objective, objective), (), 1, "converged")
    shared: pmm.Params = result.state.shared
    n_labels = data.pattern.n_labels
    bias = shared.bias if settings.order == 2 else np.broadcast_to(0.5, (n_labels, n_labels))
    is_known = np.zeros(data.pattern.n_words, bool)
    is_known[data.pattern.words] = True
    return FittedMixture(result, shared.by_word(data.pattern), bias, data.label_docs, is_known)


@contextmanager
def _open_blocks(data: CountsByLabelSet, executor: Executor | None) -> Iterator[Any]:
    """Yield the blocks of label sets; written to temporary files if the executor needs files."""
    if not getattr(executor, "needs_files", False):
        yield data.blocks
        return
    with tempfile.TemporaryDirectory(dir=getattr(executor, "scratch", None), prefix="topiarist-") as folder:
        scratch = Scratch(Path(folder))
        yield [_write_block(block, scratch) for block in data.blocks]


def _write_block(block: Block, scratch: Scratch) -> Block:
    """Write the arrays of a block to scratch files; return the block with these files."""

    def kept(values: Array) -> Any:
        file = scratch.rows()
        file.save(values)
        return file

    return Block(type(block.sets)(*map(kept, block.sets)), kept(block.pair_members), kept(block.pair_labels))


def _iterate_labelled(counts: Csr | BlockStore, labels: Csr) -> Iterator[tuple[Any, Any]]:
    place = 0
    for part in iterate_blocks(counts):
        yield part, csr_array(labels[place : place + part.shape[0]])
        place += part.shape[0]


def iterate_parts(counts: Csr | BlockStore, n_labels: int) -> Iterator[Any]:
    """Yield parts of the counts, so small that an array of documents × labels fits into memory."""
    size = max(1, MAX_NUMBERS // n_labels)
    for part in iterate_blocks(counts):
        if part.shape[0] <= size:
            yield part
        else:
            yield from (csr_array(part[start : start + size]) for start in range(0, part.shape[0], size))


def fit_thresholds(engine: Engine, counts: Csr | BlockStore, labels: Csr, settings: PMM) -> Floats:
    """Return the threshold of each label, chosen by cross-validation."""
    if isinstance(counts, BlockStore):
        counts = csr_array(counts.sample(len(counts)))
    fold = np.arange(counts.shape[0]) % min(N_FOLDS, counts.shape[0])
    shares = np.zeros((counts.shape[0], labels.shape[1]))
    for number in range(int(fold.max()) + 1 if counts.shape[0] > 1 else 0):
        rest, heldout = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        fitted = fit_mixture(engine, csr_array(counts[rest]), csr_array(labels[rest]), settings, **FOLD_RULES)
        shares[heldout] = choice.fold_in_shares(engine, fitted.by_word, csr_array(counts[heldout]))
    return choice.find_thresholds(shares, labels)


def compute_prior_margins(label_prior: Floats) -> Floats:
    """Return margins for documents without words: log frequencies, positive only for the most frequent label."""
    logs = np.log(np.maximum(label_prior, 1e-12))
    best = int(logs.argmax())
    margins: Floats = logs - logs[best]
    others = np.delete(logs, best)
    margins[best] = max(logs[best] - others.max(), 1e-12) if len(others) else 1.0
    return margins


@dataclass(frozen=True)
class Evidence:
    """Words of a document and their parts in the decision about a label, largest first."""

    label: Any
    predicted: bool
    total: float  # the parts of all words of the document together
    words: Any  # names of the columns where they are known, else their numbers
    parts: Floats

    def __str__(self) -> str:
        words_text = ", ".join(
            f"{word} {part:+.3g}" for word, part in zip(self.words[:10], self.parts[:10], strict=True)
        )
        return f"{self.label} ({'predicted' if self.predicted else 'not predicted'}, {self.total:+.3g}): {words_text}"


def explain_labels(
    estimator: PMM, engine: Engine, counts: Csr, labels: Unchecked, n_words: int | None
) -> list[Evidence]:
    """Return the parts of each word in the decision about each label, for ``PMM.explain``."""
    mixture, classes = estimator._mixture, estimator.classes_
    words, x = counts.indices, counts.data.astype(np.float64)
    share = None
    if len(estimator._without_known_words(counts)):  # the prior's answer, which no word has a part in
        words, x, ranks, gains = words[:0], x[:0], np.zeros(len(classes), int), np.zeros(len(classes))
        selected = np.array([estimator.label_prior_.argmax()])
    elif estimator._form == "single":  # every label against the best of the others
        ranks, gains = np.zeros(len(classes), int), choice.label_likelihoods(engine, mixture, counts)[0]
        selected = np.array([gains.argmax()])
    elif estimator.label_threshold_ is None:
        ranks, gains = (rows[0] for rows in choice.compute_label_gains(engine, mixture, counts))
        selected = np.flatnonzero(ranks)[np.argsort(ranks[np.flatnonzero(ranks)])]
    else:
        share = choice.fold_in_shares(engine, mixture.by_word, counts)[0]
        gains = choice.margins(share[None], estimator.label_threshold_)[0]
        ranks, selected = gains > 0, np.flatnonzero(gains > 0)
        selected = selected[np.argsort(-gains[selected])]
    names = getattr(estimator, "feature_names_in_", None)
    explanations = []
    for label in selected if labels is None else _find_labels(labels, classes):
        if share is None:
            parts = choice.contributions(mixture, words, x, ranks, gains, int(label))
        else:
            parts = choice.word_shares(mixture.by_word, words, x, share, int(label))
        order = np.argsort(-parts, kind="stable")[:n_words]
        word_names = words[order] if names is None else names[words[order]]
        total = float(parts.sum())
        explanations.append(Evidence(classes[label], bool(label in selected), total, word_names, parts[order]))
    return explanations


def _find_labels(labels: Unchecked, classes: Array) -> list[int]:
    """Return the numbers of labels by name; raise UsageError for an unknown name."""
    names = [labels] if isinstance(labels, str) or np.ndim(labels) == 0 else list(labels)
    places = {name: number for number, name in enumerate(classes.tolist())}
    unknown_names = [name for name in names if name not in places]
    if unknown_names:
        raise UsageError(
            f"there is no label {unknown_names[0]!r}", hint=f"Use one of {', '.join(map(str, classes[:10]))}."
        )
    return [places[name] for name in names]
