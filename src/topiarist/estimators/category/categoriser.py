"""What the three categorisers do alike: fit, tell the class of documents, file them, say why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from topiarist.counts.validation import check_counts
from topiarist.errors import InputError, UsageError
from topiarist.estimators.category import cross_validation, explanation
from topiarist.estimators.category.class_learning import Categoriser, Learned, Plan, check_words, learn
from topiarist.estimators.category.given_labels import Labels, class_nodes, labels_to_score, read_labels
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.progress import fitting, prepare_kernels
from topiarist.estimators.tree.fitted_tree import FilesDocuments
from topiarist.hierarchy import levels
from topiarist.models import em
from topiarist.models.engine.host import Engine, Floats


class DocumentCategoriser(FilesDocuments, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the categorisers. ``_shares``: tokens choose their classes alone (K2), or a document has one (K3)."""

    _shares = True
    _on_host = True

    def fit(self: Any, X: Any, y: Any) -> Any:
        """Learn from counts (documents × words) and labels.

        ``y`` has a label for each document, −1 (in a list of texts also "-1" or None) for one without; or it is a 0/1
        matrix with a column for each label, and a document with several labels counts once for each.
        """
        self._check_options()
        stored_counts.in_memory(X, "training")
        counts = self._counts(X, reset=True)
        labels = read_labels(y, counts.shape[0])
        check_words(counts, labels)
        dtype = options.working_dtype(self.dtype, counts, len(labels.classes))
        for kind in {dtype, np.dtype(np.float32)} if self._chooses() else {dtype}:
            prepare_kernels(kind, "paths", "classes")
        plan = self._plan(labels, dtype)
        with options.running(self) as engine, threadpool_limits(limits=1, user_api="blas"):
            plan = self._settled(engine, counts, labels, plan)
            with fitting(type(self).__name__, plan.rules, show=bool(self.verbose)) as watch:
                learned = learn(engine, counts, labels, plan, watch)
            self.sharpness_, self.floor_ = 1.0, 0.0
            if self.calibrate:
                self.sharpness_, self.floor_ = cross_validation.fitted_sharpness(engine, counts, labels, plan)
        self._keep(labels, plan, learned)
        return self

    def _plan(self: Any, labels: Labels, dtype: np.dtype[Any]) -> Plan:
        tree, nodes = class_nodes(self.tree, labels.classes)
        # the maximum-likelihood words of a flat tree are known: those of each class, and none of the root (K1)
        flat = self.tree is None or (self.topic_mix == "ml" and tree.depth == 1 and tree.root not in nodes)
        seed = int(options.generator(self.random_state).integers(2**31))
        rules = em.Rules(self.max_iter, self.tol)
        smoothing = 0.01 if self.smoothing == "cv" else float(self.smoothing)
        weight = 0.0 if self.unlabelled_weight == "cv" else float(self.unlabelled_weight)
        return Plan(
            tree, nodes, flat, self._shares, self.topic_mix, smoothing, self.effective_length, weight,
            float(self.inverse_temperature), rules, dtype, seed,
        )  # fmt: skip

    def _settled(self: Any, engine: Engine, counts: Any, labels: Labels, plan: Plan) -> Plan:
        """The plan with what cross-validation was asked to choose; smoothing without the unlabelled documents."""
        if self.smoothing == "cv":
            weight = plan.unlabelled_weight
            alone = replace(plan, unlabelled_weight=0.0)
            plan = cross_validation.chosen(engine, counts, labels, alone, "smoothing", cross_validation.SMOOTHINGS)
            plan = replace(plan, unlabelled_weight=weight)
        if self.unlabelled_weight == "cv" and (labels.of_row < 0).any():
            plan = cross_validation.chosen(engine, counts, labels, plan, "unlabelled_weight", cross_validation.WEIGHTS)
        return plan

    def _chooses(self: Any) -> bool:
        return "cv" in (self.smoothing, self.unlabelled_weight) or bool(self.calibrate)

    def _keep(self: Any, labels: Labels, plan: Plan, learned: Learned) -> None:
        self.classes_, self.tree_, self.class_nodes_ = labels.classes, plan.tree, plan.class_nodes
        self.smoothing_, self.unlabelled_weight_ = plan.smoothing, plan.unlabelled_weight
        self.class_tokens_ = learned.class_tokens
        self.class_prior_ = learned.class_tokens / learned.class_tokens.sum()
        self.topic_given_class_, self.word_given_topic_ = learned.topic_given_class, learned.word_given_topic
        self._class_word_table = learned.class_word_table
        fit = learned.fit
        self.history_, self.n_iter_, self.converged_ = np.array(fit.objectives), max(1, fit.steps), fit.converged
        self.stopped_ = fit.reason

    def predict_proba(self: Any, X: Any) -> Floats:
        """P(class | document), each document by itself; columns are ``classes_``. Of a ``BlockStore`` too."""
        check_is_fitted(self)
        return stored_counts.read(self, X)

    def predict(self: Any, X: Any) -> Any:
        """The most probable class of each document."""
        rows = self.predict_proba(X)
        return self.classes_[rows.argmax(axis=1)]

    def score(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of documents whose class is predicted; those without a label (−1 or None) are left out."""
        rows = self.predict(X)
        known, labelled = labels_to_score(y, len(rows))
        weight = None if sample_weight is None else np.asarray(sample_weight)[labelled]
        return float(accuracy_score(known, rows[labelled], sample_weight=weight))

    def predict_log_proba(self: Any, X: Any) -> Floats:
        """Logarithms of ``predict_proba``; nothing is less probable than 1e-30."""
        logs: Floats = np.log(np.maximum(self.predict_proba(X), 1e-30))
        return logs

    def without_known_words(self: Any, X: Any) -> Any:
        """True for each document that has no word of the training documents: its answer is ``class_prior_``."""
        check_is_fitted(self)
        counts = self._counts(X, reset=False)
        known = self._class_word_table.max(axis=1) > 0
        return np.asarray(counts @ known.astype(np.float64)).ravel() == 0

    def level_curve(self: Any, X: Any, y: Any, rho: Sequence[float] = levels.RHOS) -> levels.LevelCurve:
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
        self: Any, x: Any, *, n_words: int = 8, n_labels: int = 3, words: Sequence[str] | None = None
    ) -> explanation.Explanation:
        """Why a document is filed where it is: the words that spoke for each label, and for each step down the tree.

        ``x`` is one document: a row of counts, as an array, a list or a matrix of one row. ``words`` are the names
        of the columns.
        """
        check_is_fitted(self)
        options.check_integer("n_words", n_words, 1)
        options.check_integer("n_labels", n_labels, 1)
        row = explanation.one_row(x)
        counts = self._counts(row, reset=False)
        if counts.shape[0] != 1:
            raise InputError(f"expected one document, got {counts.shape[0]}", hint="X[[0]]")
        explanation.check_names(words, counts.shape[1])
        names = words if words is not None else getattr(self, "feature_names_in_", None)
        view = explanation.View(
            self.tree_, self.class_nodes_, self.classes_, self._class_word_table, self.class_prior_, names,
            self._reading_length,
        )  # fmt: skip
        return explanation.explained(view, counts, self.predict_proba(row)[0], n_words, n_labels)

    @property
    def components_(self: Any) -> Floats:
        """P(word | class), (n_classes, n_words)."""
        components: Floats = self._class_word_table.T
        return components

    def _reader(self: Any, engine: Engine) -> Categoriser:
        prepare_kernels(self._class_word_table.dtype, "paths", "classes")
        return Categoriser(
            engine, self._class_word_table, self.class_tokens_, self._shares, self._reading_length, self.sharpness_,
            self.floor_,
        )  # fmt: skip

    @property
    def _reading_length(self: Any) -> float | None:
        return None if self._shares else self.effective_length

    def _counts(self: Any, X: Any, *, reset: bool) -> Any:
        stored_counts.in_memory(X, "this method")
        counts = check_counts(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return counts

    def _check_options(self: Any) -> None:
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
        options.check_integer("max_iter", self.max_iter, 1)
        options.check_number("tol", self.tol, 0.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # as naive Bayes: two coordinates of a point are not counts
        return tags
