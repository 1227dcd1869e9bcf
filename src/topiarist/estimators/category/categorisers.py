"""PLC, HPLC and the hierarchical mixture as classifiers on a given tree, and the calibration of their certainties."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from topiarist.arrays import Array, ArrayLike, Csr, Dtype, DTypeLike, Floats, Matrix
from topiarist.errors import InputError, UsageError
from topiarist.estimators.category import explanation
from topiarist.estimators.category.certainty_scale import MIN_DOCUMENTS, CertaintyScale, fit_scale
from topiarist.estimators.category.class_learning import (
    Categoriser,
    LearnedClasses,
    Plan,
    check_words,
    learn,
    number_folds,
)
from topiarist.estimators.category.given_labels import Labels, compute_accuracy, find_class_nodes, read_labels
from topiarist.estimators.category.training_data import (
    MANY_LABELLED,
    N_FOLDS_OF_MANY,
    TrainingData,
    check_memory,
    draw_choosing_sample,
)
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.base import EMOptions
from topiarist.estimators.common.options import MAX_SINGLE_COUNT
from topiarist.estimators.common.progress import show_fit
from topiarist.estimators.common.stored_counts import Documents, ReadsCounts
from topiarist.estimators.tree.posteriors import FilesDocuments
from topiarist.execution.blocks import BlockStore
from topiarist.models import em
from topiarist.models.engine import SMALLEST_MIXTURE
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.trees import levels
from topiarist.trees.tree import Tree


@options.estimator()
class DocumentCategoriser(ReadsCounts, FilesDocuments, ClassifierMixin, EMOptions):  # type: ignore[misc]
    """Base class of the categorisers. With ``_shares`` tokens choose their classes (K2), else documents do (K3)."""

    _: KW_ONLY
    smoothing: float | str = 0.01
    effective_length: float | None = 40.0
    unlabelled_weight: float | str = 0.2
    calibrate: bool = False
    inverse_temperature: float = 1.0
    dtype: DTypeLike | None = None
    max_iter: int = 30

    _shares = True
    _on_host = True

    def fit(self, X: Documents, y: Matrix) -> Self:
        """Learn from counts and labels.

        Parameters
        ----------
        y : array (n_documents,) or 0/1 matrix (n_documents, n_labels)
            Label of each document, −1 for an unlabelled one (in a list of texts also "-1" or None). A document with
            several labels counts once for each.

        Raises
        ------
        InputError
            If the labels do not fit the documents or the tree, or a class has no document with words.
        ResourceError
            If the executor allows too little memory.

        Notes
        -----
        A ``BlockStore`` is read block by block on the ``executor``. "cv" and ``calibrate`` use a sample in memory, of
        65,536 labelled documents and as many unlabelled ones.
        """
        self._check_options()
        counts = stored_counts.check_input(self, X, reset=True)
        labels = read_labels(y, counts.shape[0])
        plan = self._make_plan(labels, options.working_dtype(self.dtype, counts, len(labels.classes)))
        sample: tuple[Csr, Labels] | None = None
        chooses = self._chooses()
        check_memory(counts, labels, plan, self.executor, chooses=chooses)
        data = TrainingData.from_counts(counts, self.executor)
        check_words(data.document_lengths(), labels)
        with self._open_engine(plan) as engine:
            if chooses:
                sample = (
                    draw_choosing_sample(counts, labels, plan.seed)
                    if isinstance(counts, BlockStore)
                    else (counts, labels)
                )
                plan = self._choose_settings(engine, *sample, plan)
            with show_fit(type(self).__name__, plan.rules, show=bool(self.verbose)) as watch:
                result = learn(engine, data, labels, plan, watch)
            self._calibrate(engine, sample, plan)
        self._store_result(labels, plan, result)
        return self

    @contextmanager
    def _open_engine(self, plan: Plan) -> Iterator[Engine]:
        for kind in {plan.dtype, np.dtype(np.float32)} if self._chooses() else {plan.dtype}:
            prepare_kernels(kind, "paths", "classes")
        with options.open_engine(self) as engine, threadpool_limits(limits=1, user_api="blas"):
            yield engine

    def _calibrate(self, engine: Engine, sample: tuple[Csr, Labels] | None, plan: Plan) -> None:
        """Fit the certainties to a sample; without a sample, or with few documents, the posterior is unchanged."""
        scale = fit_certainty_scale(engine, *sample, plan) if self.calibrate and sample is not None else None
        self.sharpness_, self.floor_, self.half_length_ = 1.0, 0.0, None
        if scale is not None:
            self.sharpness_, self.floor_, self.half_length_ = scale.sharpness, scale.floor, scale.half_length

    def _make_plan(self, labels: Labels, dtype: Dtype) -> Plan:
        """Collect the settings of a fit; ``"cv"`` becomes a start value."""
        tree, nodes = find_class_nodes(self.tree, labels.classes)
        # the maximum-likelihood words of a flat tree are known: those of each class, and none of the root (K1)
        flat = self.tree is None or (self.topic_mix == "ml" and tree.depth == 1 and tree.root not in nodes)
        rules = em.Rules(self.max_iter, self.tol)
        smoothing = 0.01 if self.smoothing == "cv" else float(self.smoothing)
        weight = 0.0 if self.unlabelled_weight == "cv" else float(self.unlabelled_weight)
        generator = options.make_generator(0 if self.random_state is None else self.random_state)
        return Plan(
            tree, nodes, flat, self._shares, self.topic_mix, smoothing, self.effective_length, weight,
            float(self.inverse_temperature), rules, dtype, int(generator.integers(2**31)),
        )  # fmt: skip

    def _choose_settings(self, engine: Engine, counts: Csr, labels: Labels, plan: Plan) -> Plan:
        """Return the plan with values chosen by cross-validation; smoothing ignores unlabelled documents."""
        if self.smoothing == "cv":
            weight = plan.unlabelled_weight
            plan_without = replace(plan, unlabelled_weight=0.0)
            plan = choose_value(engine, counts, labels, plan_without, "smoothing", SMOOTHINGS)
            plan = replace(plan, unlabelled_weight=weight)
        if self.unlabelled_weight == "cv" and (labels.of_row < 0).any():
            plan = choose_value(engine, counts, labels, plan, "unlabelled_weight", UNLABELLED_WEIGHTS)
        return plan

    def _chooses(self) -> bool:
        return "cv" in (self.smoothing, self.unlabelled_weight) or bool(self.calibrate)

    def _store_result(self, labels: Labels, plan: Plan, result: LearnedClasses) -> None:
        """Set the fitted attributes."""
        self.classes_, self.tree_, self.class_nodes_ = labels.classes, plan.tree, plan.class_nodes
        self.smoothing_, self.unlabelled_weight_ = plan.smoothing, plan.unlabelled_weight
        self.class_tokens_ = result.class_tokens
        self.class_prior_ = result.class_tokens / result.class_tokens.sum()
        self.topic_given_class_, self.word_given_topic_ = result.topic_given_class, result.word_given_topic
        self._class_word_table = result.class_word_table
        self._store_steps(result.fit)
        self.n_iter_ = max(1, self.n_iter_)

    def predict_proba(self, X: Documents) -> Floats:
        """Return P(class | document).

        Returns
        -------
        array (n_documents, n_classes)
            Posteriors; columns are ``classes_`` and rows sum to one.
        """
        check_is_fitted(self)
        return stored_counts.read(self, X).rows()

    def predict(self, X: Documents) -> Any:
        """Return the most probable class of each document.

        Returns
        -------
        array (n_documents,)
            Classes.
        """
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def score(self, X: Documents, y: Matrix, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on labelled documents.

        Parameters
        ----------
        y : array (n_documents,)
            Labels; −1 or None marks a document that is ignored.

        Returns
        -------
        float
            Share of documents with the right class.
        """
        return compute_accuracy(y, self.predict(X), sample_weight)

    def predict_log_proba(self, X: Documents) -> Floats:
        """Return the logarithms of ``predict_proba``, with probabilities of at least 1e-30."""
        return np.log(np.maximum(self.predict_proba(X), SMALLEST_MIXTURE))

    def without_known_words(self, X: Documents) -> Any:
        """Return whether each document has no known word; its posterior is then ``class_prior_``."""
        check_is_fitted(self)
        counts = self._counts(X, reset=False)
        is_known = self._class_word_table.max(axis=1) > 0
        return np.asarray(counts @ is_known.astype(np.float64)).ravel() == 0

    def level_curve(self, X: Documents, y: Matrix, rho: Sequence[float] = levels.RHOS) -> levels.LevelCurve:
        """Return accuracy against coverage of ``predict_path`` for several ``rho``, on labelled documents."""
        check_is_fitted(self)
        nodes = dict(zip(self.classes_.tolist(), self.class_nodes_, strict=True))
        labels = np.asarray(y).tolist()
        unknown_label = next((label for label in labels if label not in nodes), None)
        if unknown_label is not None:
            raise InputError(
                f"no class is called {unknown_label!r}", hint=f"Use labels of classes_, such as {self.classes_[:5]}."
            )
        return levels.level_curve(
            self.tree_, self.class_nodes_, self.predict_proba(X), np.array([nodes[label] for label in labels]), rho
        )

    def explain(
        self, x: Matrix, *, n_words: int = 8, n_labels: int = 3, words: Sequence[str] | None = None
    ) -> explanation.Explanation:
        """Return the words for and against each label of a document, and for each step down the tree.

        Returns
        -------
        Explanation
            Evidence by label and by step.

        Raises
        ------
        InputError
            If ``x`` is not one document.
        """
        check_is_fitted(self)
        request = explanation.build_explain_request(self, x, words, n_words, n_labels)
        classes = explanation.Classes(self.tree_, self.class_nodes_, self.classes_, self.class_prior_)
        posterior = self.predict_proba(request.row)[0]
        return explanation.explain(request, classes, self._class_word_table, self._reading_length, posterior)

    @property
    def components_(self) -> Floats:
        """P(word | class), (n_classes, n_words)."""
        return self._class_word_table.T

    def _reader(self, engine: Engine) -> Categoriser:
        """Return an object that computes class probabilities of counts."""
        prepare_kernels(self._class_word_table.dtype, "paths", "classes")
        length = self.half_length_
        scale = None if length is None else CertaintyScale(self.sharpness_, length, self.floor_)
        return Categoriser(
            engine, self._class_word_table, self.class_tokens_, self._shares, self._reading_length, scale
        )

    @property
    def _reading_length(self) -> float | None:
        return None if self._shares else self.effective_length

    def _counts(self, X: Documents, *, reset: bool) -> Csr:
        return stored_counts.check_counts_in_memory(self, X, "this method", reset=reset)

    def _check_options(self) -> None:
        """Raise UsageError for a parameter outside its range."""
        options.check_one_of("topic_mix", self.topic_mix, ("ml", "uniform", "heldout"))
        if self.smoothing != "cv":
            options.check_number("smoothing", self.smoothing, 0.0, hint="Use 0.01 or 'cv'.")
        if self.unlabelled_weight != "cv":
            options.check_number("unlabelled_weight", self.unlabelled_weight, 0.0, hint="Use 0.2 or 'cv'.")
        if self.effective_length is not None:
            options.check_number("effective_length", self.effective_length, 1.0, hint="Use 40 or None.")
        if self.calibrate not in (True, False):
            raise UsageError(f"calibrate must be True or False, got {self.calibrate!r}")
        options.check_number("inverse_temperature", self.inverse_temperature, 0.01, 1.0, hint="Use 1.0.")
        options.check_common(self)


SMOOTHINGS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
UNLABELLED_WEIGHTS = (0.0, 0.05, 0.2, 0.5, 1.0)
N_FOLDS = 5
MAX_CALIBRATION_DOCUMENTS = 5_000  # unseen documents: three numbers are fitted to them


def _iterate_folds(
    engine: Engine, counts: Csr, labels: Labels, plan: Plan, n_folds: int
) -> Iterator[tuple[Categoriser, Array]]:
    """Yield models that each lack the documents of one fold, and these documents."""
    if float(counts.data.max(initial=0)) <= MAX_SINGLE_COUNT:
        plan = replace(plan, dtype=np.dtype(np.float32))  # precise enough to compare
    folds, data = number_folds(labels, plan.seed + 1, n_folds), TrainingData.from_counts(counts)
    is_labelled = labels.of_row >= 0
    for fold in range(n_folds):
        heldout = np.flatnonzero(is_labelled & (folds == fold))
        if len(heldout):
            result = learn(engine, data, labels.select(np.flatnonzero(~(is_labelled & (folds == fold)))), plan)
            words, tokens = result.class_word_table, result.class_tokens
            yield Categoriser(engine, words, tokens, plan.shares, plan.reading_length), heldout


def choose_value(engine: Engine, counts: Csr, labels: Labels, plan: Plan, name: str, values: tuple[float, ...]) -> Plan:
    """Return the plan with the value of highest held-out accuracy; ties are resolved by likelihood."""
    best, best_score = plan, (-1.0, -np.inf)
    for value in values:
        candidate = replace(plan, **{name: value})  # type: ignore[arg-type]
        readings = list(_iterate_folds(engine, counts, labels, candidate, N_FOLDS))
        rows = np.concatenate([categoriser(counts[labels.rows[out]]) for categoriser, out in readings])
        truth = np.concatenate([labels.of_row[out] for _, out in readings])
        probabilities = np.maximum(rows[np.arange(len(truth)), truth].astype(np.float64), 1e-12)
        score = float(np.mean(rows.argmax(axis=1) == truth)), float(np.log(probabilities).mean())
        if score > best_score:
            best, best_score = candidate, score
    return best


def fit_certainty_scale(engine: Engine, counts: Csr, labels: Labels, plan: Plan) -> CertaintyScale | None:
    """Return the certainty scale fitted to held-out labelled documents; None with too few documents.

    The only document of a class is left out, because its class is unknown without it. With many documents some folds
    suffice.
    """
    sizes = np.bincount(labels.of_row[labels.of_row >= 0], minlength=len(labels.classes))
    is_usable = (labels.of_row >= 0) & (sizes[labels.of_row] > 1)
    n_known = int(np.count_nonzero(is_usable))
    if n_known < MIN_DOCUMENTS:
        _warn_few_documents(n_known)
        return None
    parts, n_read = [], 0
    for reader, out in _iterate_folds(
        engine, counts, labels, plan, N_FOLDS if n_known < MANY_LABELLED else N_FOLDS_OF_MANY
    ):
        documents = out[is_usable[out]]
        parts.append((*reader.read_as_equally_long(counts[labels.rows[documents]]), labels.of_row[documents]))
        n_read += len(documents)
        if n_read >= MAX_CALIBRATION_DOCUMENTS:
            break
    rows, tokens, truth = (np.concatenate(part) for part in zip(*parts, strict=True))
    has_words = tokens > 0
    if np.count_nonzero(has_words) < MIN_DOCUMENTS:
        _warn_few_documents(int(np.count_nonzero(has_words)))
        return None
    return fit_scale(rows[has_words], tokens[has_words], truth[has_words])


def _warn_few_documents(n_docs: int) -> None:
    """Warn that too few documents are labelled to calibrate the certainties."""
    warnings.warn(
        f"The certainties are not calibrated. Expected at least {MIN_DOCUMENTS} documents with words and a label that "
        f"another document has too, got {n_docs}. Label more documents.",
        UserWarning,
        stacklevel=5,
    )


OPTION_TEXTS = {
    "random_state": "Seed of the folds. None is the same as 0, so that the same documents give the same bits.",
    "device": "Device that must exist. Classes are too few for a device, and the processor computes.",
    "executor": "Executor of the blocks of a ``BlockStore``. None: this process. See docs/how-to/scale.md.",
}


@options.estimator(**OPTION_TEXTS)
class HPLC(DocumentCategoriser):
    """Hierarchical probabilistic latent categoriser: classes at nodes of a given tree share words of their paths.

    Parameters
    ----------
    tree : Tree or None
        Tree whose node names, or paths, are the labels. Classes can be at any node. None: no hierarchy, as ``PLC``.
    topic_mix : "heldout", "uniform" or "ml", default "heldout"
        Source of P(topic | class). "heldout": documents held out in turn. "uniform": even along the path; of the paper,
        not recommended. "ml": the training documents, which leaves each class with its own words only, as ``PLC``.
    smoothing : float or "cv", default 0.01
        Pseudo-count for each known word of a topic. "cv": chosen by cross-validation.
    effective_length : float or None, default 40
        Weigh a longer document as if it had this many tokens. None: use every token.
    unlabelled_weight : float or "cv", default 0.2
        Weight of a token of an unlabelled document. 0 ignores them. "cv": chosen by cross-validation.
    calibrate : bool, default False
        Calibrate P(class | document) by cross-validation, so that 0.9 is right in nine cases of ten. Takes up to five
        more fits. Documents are then read with equal length, which can change the predicted class of a very long or
        very short document between two equally probable classes.
    inverse_temperature : float, default 1.0
        Values below 1 temper the training.

    Attributes
    ----------
    classes_ : array (n_classes,)
        Labels, sorted.
    class_nodes_ : tuple
        Node of each class.
    class_prior_ : array (n_classes,)
        P(class) by tokens, the posterior of a document without known words.
    topic_given_class_ : array (n_classes, n_nodes)
        P(topic | class), zero outside the path; rows sum to one.
    word_given_topic_ : array (n_nodes, n_words)
        P(word | topic); rows sum to one, and words without training documents are zero.
    tree_ : Tree
        The tree. Without a given one: a root and a leaf for each class.
    class_tokens_ : array (n_classes,)
        Weighted tokens of each class, after ``effective_length`` and ``unlabelled_weight``.
    smoothing_, unlabelled_weight_ : float
        Values that were used.
    sharpness_, floor_ : float
        Calibration: P(class | document) ∝ (P + floor) to the power of sharpness · n / (n + half length), for n known
        tokens. 1 and 0 without it.
    half_length_ : float or None
        Calibration: number of tokens at which the power is half of its maximum. None without it.
    history_ : array
        Objective of the last EM run: of the start and after every step.
    n_iter_, converged_, stopped_
        Number of steps of the last run, whether it converged, and the reason of the stop.

    Examples
    --------
    >>> import numpy as np
    >>> from topiarist import HPLC, Tree
    >>> tree = Tree.from_paths(["x/a", "x/b", "y/c"])
    >>> HPLC(tree).fit(np.eye(6) + 1, list("abcabc")).predict_proba(np.eye(6)).shape
    (6, 3)
    """

    tree: Tree | None = None
    _: KW_ONLY
    topic_mix: str = "heldout"


class HierarchicalMixture(HPLC):
    """Hierarchical naive Bayes: trained as ``HPLC``, with one class for all words of a document.

    Parameters and attributes are those of ``HPLC``. P(class | document) is a product over all words, and so it is
    nearly always close to 0 or 1. Use an effective length or ``calibrate`` for meaningful probabilities.
    """

    _shares = False


@options.estimator(**OPTION_TEXTS)
class PLC(DocumentCategoriser):
    """Probabilistic latent categoriser: ``HPLC`` without a hierarchy.

    Training takes one step, unless there are unlabelled documents.

    Parameters
    ----------
    smoothing, effective_length, unlabelled_weight, calibrate, inverse_temperature
        As in ``HPLC``.

    Attributes
    ----------
    classes_, class_prior_, topic_given_class_, word_given_topic_, tree_ and the others of ``HPLC``
        The tree has a root without words and a leaf for each class.

    Examples
    --------
    >>> import numpy as np
    >>> from topiarist import PLC
    >>> PLC().fit(np.eye(4) + 1, list("abab")).predict(np.eye(4)).shape
    (4,)
    """

    tree = None
    topic_mix = "ml"
