"""PLC, HPLC and the hierarchical mixture as classifiers on a given tree, and the calibration of their certainties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from topiarist.arrays import Array, ArrayLike, Csr, Dtype, DTypeLike, Floats, Matrix, Seed
from topiarist.errors import InputError, UsageError
from topiarist.estimators.category import explanation, stored_training
from topiarist.estimators.category.class_learning import (
    Categoriser,
    Learned,
    Plan,
    check_words,
    fold_numbers,
    learn,
    sharpened,
)
from topiarist.estimators.category.given_labels import Labels, class_nodes, labels_to_score, read_labels
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.display import ShownEstimator
from topiarist.estimators.common.options import LARGEST_SINGLE_COUNT
from topiarist.estimators.common.progress import fitting
from topiarist.estimators.common.stored_counts import Documents, ReadsCounts
from topiarist.estimators.tree.posteriors import FilesDocuments
from topiarist.hierarchy import levels
from topiarist.hierarchy.tree import Tree
from topiarist.models import em
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.scale.blocks import BlockStore
from topiarist.scale.executors import Executor


class DocumentCategoriser(ReadsCounts, FilesDocuments, ClassifierMixin, ShownEstimator):  # type: ignore[misc]
    """Base of the categorisers. ``_shares``: tokens choose their classes alone (K2), or a document has one (K3)."""

    _shares = True
    _on_host = True

    def fit(self, X: Documents, y: Matrix) -> Self:
        """Learn from counts (documents × words) and labels.

        ``y`` has a label for each document, −1 (in a list of texts also "-1" or None) for one without; or it is a 0/1
        matrix with a column for each label, and a document with several labels counts once for each.

        A ``BlockStore`` teaches block by block, where the ``executor`` computes; what "cv" and ``calibrate`` ask for is
        found by 65,536 of its documents with a label, and as many without, in memory.
        """
        self._check_options()
        if isinstance(X, BlockStore):
            self._fit_stored(X, y)
            return self
        counts = self._counts(X, reset=True)
        labels = read_labels(y, counts.shape[0])
        check_words(counts, labels)
        plan = self._plan(labels, options.working_dtype(self.dtype, counts, len(labels.classes)))
        with self._at_work(plan) as engine:
            plan = self._settled(engine, counts, labels, plan)
            with self._shown(plan) as watch:
                learned = learn(engine, counts, labels, plan, watch)
            self._calibrate(engine, counts, labels, plan)
        self._keep(labels, plan, learned)
        return self

    def _fit_stored(self, X: BlockStore, y: Matrix) -> None:
        """The same from files, see ``stored_training``."""
        with stored_counts.as_store(self, X) as store:
            labels = read_labels(y, len(store))
            plan = self._plan(labels, options.precision(self.dtype, store.nnz, store.largest, len(labels.classes)))
            memory, chooses = getattr(self.executor, "memory", None), self._chooses()
            stored_training.check_room(store, labels, plan, memory, chooses=chooses)
            with self._at_work(plan) as engine:
                sample = stored_training.choosing_sample(store, labels, plan.seed) if chooses else None
                if sample is not None:
                    plan = self._settled(engine, *sample, plan)
                with self._shown(plan) as watch:
                    learned = stored_training.learn_stored(engine, store, labels, plan, watch, self.executor)
                if sample is not None:
                    self._calibrate(engine, *sample, plan)
                else:
                    self.sharpness_, self.floor_ = 1.0, 0.0
        self._keep(labels, plan, learned)

    @contextmanager
    def _at_work(self, plan: Plan) -> Iterator[Engine]:
        """What computes."""
        for kind in {plan.dtype, np.dtype(np.float32)} if self._chooses() else {plan.dtype}:
            prepare_kernels(kind, "paths", "classes")
        with options.running(self) as engine, threadpool_limits(limits=1, user_api="blas"):
            yield engine

    def _shown(self, plan: Plan) -> Any:
        return fitting(type(self).__name__, plan.rules, show=bool(self.verbose))

    def _calibrate(self, engine: Engine, counts: Csr, labels: Labels, plan: Plan) -> None:
        self.sharpness_, self.floor_ = 1.0, 0.0
        if self.calibrate:
            self.sharpness_, self.floor_ = fitted_sharpness(engine, counts, labels, plan)

    def _seed(self) -> int:
        return int(options.generator(0 if self.random_state is None else self.random_state).integers(2**31))

    def _plan(self, labels: Labels, dtype: Dtype) -> Plan:
        tree, nodes = class_nodes(self.tree, labels.classes)
        # the maximum-likelihood words of a flat tree are known: those of each class, and none of the root (K1)
        flat = self.tree is None or (self.topic_mix == "ml" and tree.depth == 1 and tree.root not in nodes)
        rules = em.Rules(self.max_iter, self.tol)
        smoothing = 0.01 if self.smoothing == "cv" else float(self.smoothing)
        weight = 0.0 if self.unlabelled_weight == "cv" else float(self.unlabelled_weight)
        return Plan(
            tree, nodes, flat, self._shares, self.topic_mix, smoothing, self.effective_length, weight,
            float(self.inverse_temperature), rules, dtype, self._seed(),
        )  # fmt: skip

    def _settled(self, engine: Engine, counts: Csr, labels: Labels, plan: Plan) -> Plan:
        """The plan with what cross-validation was asked to choose; smoothing without the unlabelled documents."""
        if self.smoothing == "cv":
            weight = plan.unlabelled_weight
            alone = replace(plan, unlabelled_weight=0.0)
            plan = chosen(engine, counts, labels, alone, "smoothing", SMOOTHINGS)
            plan = replace(plan, unlabelled_weight=weight)
        if self.unlabelled_weight == "cv" and (labels.of_row < 0).any():
            plan = chosen(engine, counts, labels, plan, "unlabelled_weight", WEIGHTS)
        return plan

    def _chooses(self) -> bool:
        return "cv" in (self.smoothing, self.unlabelled_weight) or bool(self.calibrate)

    def _keep(self, labels: Labels, plan: Plan, learned: Learned) -> None:
        self.classes_, self.tree_, self.class_nodes_ = labels.classes, plan.tree, plan.class_nodes
        self.smoothing_, self.unlabelled_weight_ = plan.smoothing, plan.unlabelled_weight
        self.class_tokens_ = learned.class_tokens
        self.class_prior_ = learned.class_tokens / learned.class_tokens.sum()
        self.topic_given_class_, self.word_given_topic_ = learned.topic_given_class, learned.word_given_topic
        self._class_word_table = learned.class_word_table
        fit = learned.fit
        self.history_, self.n_iter_, self.converged_ = np.array(fit.objectives), max(1, fit.steps), fit.converged
        self.stopped_ = fit.reason

    def predict_proba(self, X: Documents) -> Floats:
        """P(class | document), each document by itself; columns are ``classes_``. Of a ``BlockStore`` too."""
        check_is_fitted(self)
        return stored_counts.read(self, X)

    def predict(self, X: Documents) -> Any:
        """The most probable class of each document."""
        rows = self.predict_proba(X)
        return self.classes_[rows.argmax(axis=1)]

    def score(self, X: Documents, y: Matrix, sample_weight: ArrayLike | None = None) -> float:
        """The share of documents whose class is predicted; those without a label (−1 or None) are left out."""
        rows = self.predict(X)
        known, labelled = labels_to_score(y, len(rows))
        weight = None if sample_weight is None else np.asarray(sample_weight)[labelled]
        return float(accuracy_score(known, rows[labelled], sample_weight=weight))

    def predict_log_proba(self, X: Documents) -> Floats:
        """Logarithms of ``predict_proba``; nothing is less probable than 1e-30."""
        return np.log(np.maximum(self.predict_proba(X), 1e-30))

    def without_known_words(self, X: Documents) -> Any:
        """True for each document that has no word of the training documents: its answer is ``class_prior_``."""
        check_is_fitted(self)
        counts = self._counts(X, reset=False)
        known = self._class_word_table.max(axis=1) > 0
        return np.asarray(counts @ known.astype(np.float64)).ravel() == 0

    def level_curve(self, X: Documents, y: Matrix, rho: Sequence[float] = levels.RHOS) -> levels.LevelCurve:
        """Accuracy against coverage of ``predict_path`` as ``rho`` moves, on documents whose labels are known."""
        check_is_fitted(self)
        places = dict(zip(self.classes_.tolist(), self.class_nodes_, strict=True))
        given = np.asarray(y).tolist()
        unknown = next((label for label in given if label not in places), None)
        if unknown is not None:
            raise InputError(f"no class is called {unknown!r}", hint=f"labels as in classes_: {self.classes_[:5]}")
        return levels.level_curve(
            self.tree_, self.class_nodes_, self.predict_proba(X), np.array([places[label] for label in given]), rho
        )

    def explain(
        self, x: Matrix, *, n_words: int = 8, n_labels: int = 3, words: Sequence[str] | None = None
    ) -> explanation.Explanation:
        """Why a document is filed where it is: the words that spoke for each label, and for each step down the tree.

        ``x`` is one document: a row of counts, as an array, a list or a matrix of one row. ``words`` are the names
        of the columns.
        """
        check_is_fitted(self)
        row, counts, names = explanation.asked(self, x, words, n_words, n_labels)
        view = explanation.View(
            self.tree_, self.class_nodes_, self.classes_, self._class_word_table, self.class_prior_, names,
            self._reading_length,
        )  # fmt: skip
        return explanation.explained(view, counts, self.predict_proba(row)[0], n_words, n_labels)

    @property
    def components_(self) -> Floats:
        """P(word | class), (n_classes, n_words)."""
        return self._class_word_table.T

    def _reader(self, engine: Engine) -> Categoriser:
        prepare_kernels(self._class_word_table.dtype, "paths", "classes")
        return Categoriser(
            engine, self._class_word_table, self.class_tokens_, self._shares, self._reading_length, self.sharpness_,
            self.floor_,
        )  # fmt: skip

    @property
    def _reading_length(self) -> float | None:
        return None if self._shares else self.effective_length

    def _counts(self, X: Documents, *, reset: bool) -> Csr:
        return stored_counts.checked(self, X, "this method", reset=reset)

    def _check_options(self) -> None:
        options.check_one_of("topic_mix", self.topic_mix, ("ml", "uniform", "heldout"))
        if self.smoothing != "cv":
            options.check_number("smoothing", self.smoothing, 0.0, hint="0.01 or 'cv'")
        if self.unlabelled_weight != "cv":
            options.check_number("unlabelled_weight", self.unlabelled_weight, 0.0, hint="0.2 or 'cv'")
        if self.effective_length is not None:
            options.check_number("effective_length", self.effective_length, 1.0, hint="40, or None")
        if self.calibrate not in (True, False):
            raise UsageError(f"calibrate must be True or False, got {self.calibrate!r}")
        options.check_number("inverse_temperature", self.inverse_temperature, 0.01, 1.0, hint="1.0")
        options.check_common(self)


SMOOTHINGS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
WEIGHTS = (0.0, 0.05, 0.2, 0.5, 1.0)
FOLDS = 5
SHARPEST = 1000.0
FLOORS = (1e-9, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0)


def unseen_posteriors(engine: Engine, counts: Csr, labels: Labels, plan: Plan) -> tuple[Floats, Any]:
    """P(class | document) of labelled documents, each told by a model that has not seen it; and their classes."""
    if float(counts.data.max(initial=0)) <= LARGEST_SINGLE_COUNT:
        plan = replace(plan, dtype=np.dtype(np.float32))  # precise enough to compare
    told = [
        (Categoriser(engine, learned.class_word_table, learned.class_tokens, plan.shares, plan.reading_length), out)
        for out, learned in _without_folds(engine, counts, labels, plan)
    ]
    rows = np.concatenate([categoriser(counts[labels.rows[out]]) for categoriser, out in told])
    return rows, np.concatenate([labels.of_row[out] for _, out in told])


def _without_folds(engine: Engine, counts: Csr, labels: Labels, plan: Plan) -> Iterator[tuple[Any, Any]]:
    folds = fold_numbers(labels, plan.seed + 1, FOLDS)
    known = labels.of_row >= 0
    for fold in range(FOLDS):
        out = np.flatnonzero(known & (folds == fold))
        if len(out):
            yield out, learn(engine, counts, labels.only(np.flatnonzero(~(known & (folds == fold)))), plan)


def chosen(engine: Engine, counts: Csr, labels: Labels, plan: Plan, name: str, values: tuple[float, ...]) -> Plan:
    """The plan with the value that puts most unseen documents into their class; between equals the most likely one."""
    best, best_score = plan, (-1.0, -np.inf)
    for value in values:
        candidate = replace(plan, **{name: value})  # type: ignore[arg-type]
        rows, truth = unseen_posteriors(engine, counts, labels, candidate)
        score = float(np.mean(rows.argmax(axis=1) == truth)), _mean_log(rows, truth)
        if score > best_score:
            best, best_score = candidate, score
    return best


def fitted_sharpness(engine: Engine, counts: Csr, labels: Labels, plan: Plan) -> tuple[float, float]:
    """The power of P(class | document), and its floor, under which the classes of unseen documents are most probable.

    Shares of tokens may be exactly zero, and a class without a share may still be right: the floor says how often.
    """
    rows, truth = unseen_posteriors(engine, counts, labels, plan)
    limit = np.log(SHARPEST)
    found = []
    for floor in FLOORS:

        def loss(logarithm: float, floor: float = floor) -> float:
            return -_mean_log(sharpened(rows, float(np.exp(logarithm)), floor), truth)

        best = minimize_scalar(loss, bounds=(-limit, limit), method="bounded")
        found.append((float(best.fun), float(np.exp(best.x)), floor))
    _, power, floor = min(found)
    return power, floor


def _mean_log(rows: Floats, truth: Array) -> float:
    given = rows[np.arange(len(truth)), truth].astype(np.float64)
    return float(np.log(np.maximum(given, 1e-12)).mean())


CATEGORISING = {
    "random_state": "Seed of the folds. None deals them as the seed 0 does: the same documents give the same bits.",
    "device": "Where to compute: the processor, which known classes do not keep busy.",
    "executor": "Where blocks of a ``BlockStore`` teach and are read; None is this process. See docs/how-to/scale.md.",
}


@options.common_options(**CATEGORISING)
class HPLC(DocumentCategoriser):
    """Hierarchical probabilistic latent categorisation: classes at the nodes of a given tree share words along it.

    Parameters
    ----------
    tree : Tree or None
        Names of nodes (or paths to them) are the labels; classes may sit at any node. None: no hierarchy, as ``PLC``.
    topic_mix : "heldout", "uniform" or "ml", default "heldout"
        Where P(topic | class) comes from: documents held out in turn, nowhere (even on the path), or the training
        documents themselves, which puts all weight on the classes' own words and is then no better than ``PLC``.
    smoothing : float or "cv", default 0.01
        Pseudo-count for each known word of a topic. "cv": chosen by cross-validation.
    effective_length : float or None, default 40
        A longer document weighs as if it had so many tokens. None: every token counts.
    unlabelled_weight : float or "cv", default 0.2
        What a token of a document without a label counts. 0 leaves them out. "cv": chosen by cross-validation.
    calibrate : bool, default False
        Sharpen or flatten P(class | document) as cross-validation says, so that 0.9 means nine in ten. Takes five
        more fits. The predicted classes stay the same.
    inverse_temperature : float, default 1.0
        Below 1: tempered training.

    Attributes
    ----------
    classes_ : array (n_classes,)
        The labels, sorted.
    class_nodes_ : tuple
        The node of each class.
    class_prior_ : array (n_classes,)
        P(class), by tokens; the answer for a document without known words.
    topic_given_class_ : array (n_classes, n_nodes)
        P(topic | class), zero off the path; rows sum to one.
    word_given_topic_ : array (n_nodes, n_words)
        P(word | topic); rows sum to one, and words that no training document has are zero.
    tree_ : Tree
        The tree; without one a root and a leaf for each class.
    class_tokens_ : array (n_classes,)
        #α: the tokens of each class as training weighs them, after ``effective_length`` and ``unlabelled_weight``.
    smoothing_, unlabelled_weight_ : float
        What was given or chosen.
    sharpness_, floor_ : float
        What ``calibrate`` found: P(class | document) is ∝ (P + floor) to the power of sharpness. 1 and 0 without it.
    history_ : array
        The objective of the last EM run: of its start and after every step.
    n_iter_, converged_, stopped_
        Steps of that run, whether there was nothing more to gain, and the reason it ended.
    """

    _shares = True

    def __init__(
        self,
        tree: Tree | None = None,
        *,
        topic_mix: str = "heldout",
        smoothing: float | str = 0.01,
        effective_length: float | None = 40.0,
        unlabelled_weight: float | str = 0.2,
        calibrate: bool = False,
        inverse_temperature: float = 1.0,
        dtype: DTypeLike | None = None,
        max_iter: int = 30,
        tol: float = 1e-4,
        random_state: Seed = None,
        device: str = "cpu",
        n_threads: int | None = None,
        executor: Executor | None = None,
        verbose: int = 0,
    ) -> None:
        self.tree = tree
        self.topic_mix = topic_mix
        self.smoothing = smoothing
        self.effective_length = effective_length
        self.unlabelled_weight = unlabelled_weight
        self.calibrate = calibrate
        self.inverse_temperature = inverse_temperature
        self.dtype = dtype
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.device = device
        self.n_threads = n_threads
        self.executor = executor
        self.verbose = verbose


class HierarchicalMixture(HPLC):
    """Hierarchical naive Bayes: trained as ``HPLC``, but a document has one class, which all its words tell together.

    Parameters and attributes are those of ``HPLC``. P(class | document) is the product over all words, so that it is
    nearly always close to 0 or 1: an effective length or ``calibrate`` makes it say how certain the class is.
    """

    _shares = False


@options.common_options(**CATEGORISING)
class PLC(DocumentCategoriser):
    """Probabilistic latent categorisation: ``HPLC`` without a hierarchy.

    Nothing is iterated in training, unless there are unlabelled documents.

    Parameters
    ----------
    smoothing, effective_length, unlabelled_weight, calibrate, inverse_temperature
        As those of ``HPLC``.

    Attributes
    ----------
    classes_, class_prior_, topic_given_class_, word_given_topic_, tree_ and the others of ``HPLC``
        The tree is a root, which says nothing, and a leaf for each class.
    """

    tree = None
    topic_mix = "ml"

    def __init__(
        self,
        *,
        smoothing: float | str = 0.01,
        effective_length: float | None = 40.0,
        unlabelled_weight: float | str = 0.2,
        calibrate: bool = False,
        inverse_temperature: float = 1.0,
        dtype: DTypeLike | None = None,
        max_iter: int = 30,
        tol: float = 1e-4,
        random_state: Seed = None,
        device: str = "cpu",
        n_threads: int | None = None,
        executor: Executor | None = None,
        verbose: int = 0,
    ) -> None:
        self.smoothing = smoothing
        self.effective_length = effective_length
        self.unlabelled_weight = unlabelled_weight
        self.calibrate = calibrate
        self.inverse_temperature = inverse_temperature
        self.dtype = dtype
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.device = device
        self.n_threads = n_threads
        self.executor = executor
        self.verbose = verbose
