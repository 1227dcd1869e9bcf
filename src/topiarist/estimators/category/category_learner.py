"""Classifier of given categories that adapts to the number of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from topiarist.arrays import Array, ArrayLike, Bools, Csr, Floats, Ints, Matrix, Seed
from topiarist.counts.vectors import check_vectors, find_rows_with_vectors
from topiarist.errors import InputError, UsageError
from topiarist.estimators.category import explanation, one_label, several_labels
from topiarist.estimators.category.class_learning import check_words
from topiarist.estimators.category.given_labels import (
    compute_accuracy,
    find_class_nodes,
    read_label_matrix,
    read_labels,
    to_label_format,
)
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.base import CompactEstimator
from topiarist.estimators.common.stored_counts import Documents, ReadsCounts
from topiarist.estimators.tree.posteriors import FilesDocuments
from topiarist.metrics.label_agreement import example_f1
from topiarist.models.engine import SMALLEST_MIXTURE
from topiarist.models.labels import choice
from topiarist.trees import levels
from topiarist.trees.tree import Tree

MAX_ROWS = 8192  # documents that are read at once


@options.estimator(random_state="Seed of the folds and of the latent dimensions. None is the same as 0.")
class CategoryLearner(ReadsCounts, FilesDocuments, ClassifierMixin, CompactEstimator):  # type: ignore[misc]
    """Classifier of given categories, one or several for each document, tuned on held-out documents.

    It adds the scores of a generative model and of a linear classifier. The generative model has the words of each
    class and also learns from unlabelled documents. The linear classifier uses weighted words and latent dimensions of
    all documents. Certainties are calibrated on held-out documents. Documents can have vectors. Documents without a
    vector are read by a second learner of words only.

    Parameters
    ----------
    tree : Tree or None
        Tree whose node names, or paths, are the labels: words of a class get a prior from the nodes above it. Not for
        several labels.
    unlabelled_weight : float or "cv", default "cv"
        Weight of an unlabelled document (−1 or None). 0 ignores them. "cv": chosen by cross-validation.
    generative_weight : float or "cv", default "cv"
        Weight between 0, the linear classifier only, and 1, the words of classes only. "cv": chosen by
        cross-validation.

    Attributes
    ----------
    classes_ : array (n_classes,)
        Labels, sorted.
    tree_, class_nodes_
        The tree and the node of each class. Without a given tree: a root and a leaf for each class.
    class_prior_ : array (n_classes,)
        Share of each class, the prediction for a document without known words.
    unlabelled_weight_, generative_weight_ : float
        Values that were used. Both are 0 with several labels.
    label_threshold_ : array (n_labels,) or None
        Minimum of P(label | document) for a predicted label, with several labels.
    n_unseen_ : int
        Number of documents that were held out in turn.
    n_vector_features_ : int
        Dimensions of the vectors; 0 without vectors.
    uses_vectors_ : bool
        Whether vectors influence predictions. Cross-validation can reject them.
    reason_ : str
        Chosen settings and their held-out accuracy, in a sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from topiarist import CategoryLearner
    >>> CategoryLearner().fit(np.eye(8) + 1, list("abababab")).predict(np.eye(8)).shape
    (8,)
    """

    tree: Tree | None = None
    _: KW_ONLY
    unlabelled_weight: float | str = "cv"
    generative_weight: float | str = "cv"
    random_state: Seed = None

    def fit(
        self, X: Documents, y: Matrix, *, groups: ArrayLike | None = None, vectors: ArrayLike | None = None
    ) -> Self:
        """Learn from counts and labels.

        Parameters
        ----------
        X : array or sparse matrix (n_documents, n_words)
            Counts.
        y : array (n_documents,) or 0/1 matrix (n_documents, n_labels)
            Label of each document, −1 for an unlabelled one (in a list of texts also "-1" or None), or several labels.
        groups : array (n_documents,) or None
            Number or name for each document. Documents of a group, such as duplicates, are held out together.
        vectors : array (n_documents, n_dimensions) or None
            Embeddings of the documents; zeros for a document without one. Their weight is tuned on held-out documents.

        Raises
        ------
        InputError
            If the labels, groups or vectors do not fit the documents.
        UsageError
            If an option is invalid, or ``X`` is a ``BlockStore``.
        """
        self._check_options()
        stored_counts.refuse_store(X, "training")
        counts = self._counts(X, reset=True)
        checked_vectors = None if vectors is None else check_vectors(vectors, counts.shape[0])
        group_numbers = _number_groups(groups, counts.shape[0])
        seed = int(options.make_generator(0 if self.random_state is None else self.random_state).integers(2**31))
        has_matrix = y is not None and _is_matrix(y)
        with threadpool_limits(limits=1, user_api="blas"):
            if has_matrix:
                self._fit_several(counts, y, seed, group_numbers, checked_vectors)
            else:
                self._fit_one(counts, y, seed, group_numbers, checked_vectors)
        self._is_known_word = np.zeros(counts.shape[1], bool)
        self._is_known_word[counts.indices] = True
        self.n_vector_features_ = 0 if checked_vectors is None else checked_vectors.shape[1]
        self._by_words: CategoryLearner | None = None  # that of a fit before this one
        self._by_words = self._fit_without_vectors(counts, y, groups)
        return self

    def _fit_without_vectors(self, counts: Csr, y: Matrix, groups: ArrayLike | None) -> CategoryLearner | None:
        """Return the learner for documents without a vector; None if vectors have no influence.

        Without held-out documents it has the words of this learner, which are better because vectors helped to guess
        unlabelled documents. Its certainties come from words.
        """
        if not self.uses_vectors_:
            return None
        learner = CategoryLearner(**self.get_params(deep=False))
        if isinstance(self._model, one_label.OneLabel) and self._tuned.trial is None:
            attributes = {name: value for name, value in self.__dict__.items() if not name.startswith("_previous")}
            learner.__dict__.update(attributes, _model=self._model.without_vectors(), n_vector_features_=0)
            return learner
        previous = getattr(self, "_previous_by_words", None)
        return learner.fit(counts, y, groups=groups) if previous is None else previous.refit(counts, y)

    def _fit_one(self, counts: Csr, y: Matrix, seed: int, group_numbers: Ints | None, vectors: Floats | None) -> None:
        """Learn from one label per document, and set the fitted attributes."""
        labels = read_labels(y, counts.shape[0])
        check_words(np.diff(counts.indptr), labels)
        self.classes_ = labels.classes
        self.tree_, self.class_nodes_ = find_class_nodes(self.tree, labels.classes)
        fixed = one_label.FixedSettings(_get_number(self.unlabelled_weight), _get_number(self.generative_weight))
        of_row = labels.of_row
        previous = getattr(self, "_previous", None)
        model, tuned_settings = one_label.learn(
            counts, of_row, self.tree_, self.class_nodes_, fixed, seed, previous, group_numbers, vectors
        )
        self._model: one_label.OneLabel | several_labels.SeveralLabels = model
        self._tuned: one_label.TunedSettings | several_labels.TunedThresholds = tuned_settings
        setting, trial = tuned_settings.setting, tuned_settings.trial
        known = of_row[of_row >= 0]
        shares = (np.bincount(known, minlength=len(self.classes_)) + 0.5) * np.exp(model.prior_shift)
        self.class_prior_ = shares / shares.sum()
        self.unlabelled_weight_ = setting.unlabelled_weight if (of_row < 0).any() else 0.0
        self.generative_weight_ = setting.weight
        self.label_threshold_: Floats | None = None
        self._form = "single"
        self.n_unseen_ = 0 if trial is None else trial.n_unseen
        self.reason_ = _describe_choice(setting, trial, int((of_row < 0).sum()), model.space is not None)

    def _fit_several(
        self, counts: Csr, y: Matrix, seed: int, group_numbers: Ints | None, vectors: Floats | None
    ) -> None:
        """Learn from several labels per document, and set the fitted attributes."""
        labels = read_label_matrix(y, counts.shape[0])
        self.classes_, self._form = labels.classes, labels.form
        self.tree_, self.class_nodes_ = find_class_nodes(None, labels.classes)
        previous = getattr(self, "_previous", None)
        model, tuned_thresholds = several_labels.learn_several(
            counts, labels.matrix, seed, previous, group_numbers, vectors
        )
        self._model, self._tuned = model, tuned_thresholds
        trial = tuned_thresholds.trial
        sizes = np.bincount(labels.matrix.indices, minlength=len(self.classes_))
        self.class_prior_ = sizes / labels.matrix.shape[0]
        self.unlabelled_weight_ = self.generative_weight_ = 0.0
        self.label_threshold_ = model.threshold
        self.n_unseen_ = 0 if trial is None else trial.n_unseen
        self.reason_ = _describe_several(trial, model.space is not None)

    def refit(self, X: Documents, y: Matrix, *, vectors: ArrayLike | None = None) -> CategoryLearner:
        """Return a learner fitted to other documents with the settings and calibration of this one.

        Nothing is held out again, which takes a fraction of the time of ``fit``.

        Parameters
        ----------
        X, y, vectors
            As in ``fit``.

        Returns
        -------
        CategoryLearner
            A new fitted learner.
        """
        check_is_fitted(self)
        other = CategoryLearner(**self.get_params(deep=False))
        other._previous, other._previous_by_words = self._tuned, self._by_words
        try:
            return other.fit(X, y, vectors=vectors)
        finally:
            del other._previous, other._previous_by_words

    @property
    def several_(self) -> bool:
        return self.label_threshold_ is not None

    @property
    def uses_vectors_(self) -> bool:
        """Whether vectors influence predictions; cross-validation can reject them."""
        return self._model.sees_vectors

    def predict_proba(self, X: Documents, vectors: ArrayLike | None = None) -> Floats:
        """Return P(class | document), or P(label | document) with several labels.

        Parameters
        ----------
        vectors : array (n_documents, n_dimensions) or None
            Embeddings of the documents, for a learner that was fitted with vectors.

        Returns
        -------
        array (n_documents, n_classes)
            Probabilities; columns are ``classes_``.

        Raises
        ------
        InputError
            If vectors are given and the learner was fitted without them.
        """
        check_is_fitted(self)
        return self._read(X, vectors)

    def _compute_probabilities(self, counts: Csr, vectors: Floats | None) -> Floats:
        """Return class probabilities; the class prior for documents without any learned feature."""
        has_vectors = _find_vectors(vectors, counts.shape[0])
        rows = self._model(counts, vectors)
        if self._by_words is not None and not has_vectors.all():
            rows[~has_vectors] = self._by_words._compute_probabilities(csr_array(counts[~has_vectors]), None)
        is_unknown = np.asarray(counts @ self._is_known_word.astype(np.float64)).ravel() == 0
        rows[is_unknown & ~(has_vectors & self.uses_vectors_)] = self.class_prior_
        return rows

    def predict(self, X: Documents, vectors: ArrayLike | None = None) -> Any:
        """Return the most probable class of each document, or its labels.

        Returns
        -------
        array (n_documents,) or 0/1 matrix (n_documents, n_labels)
            Classes, or several labels with at least one for each document.
        """
        check_is_fitted(self)
        if not self.several_:
            return self.classes_[self.predict_proba(X, vectors).argmax(axis=1)]
        return to_label_format(csr_array(self.decision_function(X, vectors) > 0), self._form)

    def decision_function(self, X: Documents, vectors: ArrayLike | None = None) -> Floats:
        """Return log-odds of the classes (for two: of the second), or how far each label is above its threshold."""
        check_is_fitted(self)
        rows = self.predict_proba(X, vectors)
        if self.label_threshold_ is not None:
            return choice.margins(rows, self.label_thresholds(len(rows), vectors))
        logs: Floats = np.log(np.maximum(rows, SMALLEST_MIXTURE))
        return logs[:, 1] - logs[:, 0] if len(self.classes_) == 2 else logs

    def label_thresholds(self, n_docs: int, vectors: ArrayLike | None = None) -> Floats:
        """Return the minimum of P(label | document) for each label, (n_docs, n_labels), with several labels.

        It is ``label_threshold_``, or the threshold of the learner of words for documents without a vector.
        """
        check_is_fitted(self)
        if self.label_threshold_ is None:
            raise UsageError(
                "label_thresholds requires a learner with several labels for each document", hint="Call predict(X)."
            )
        thresholds: Floats = np.tile(self.label_threshold_, (n_docs, 1))
        if self._by_words is not None:
            checked_vectors = None if vectors is None else self._check_vectors(vectors, n_docs)
            thresholds[~_find_vectors(checked_vectors, n_docs)] = self._by_words.label_threshold_
        return thresholds

    def predict_log_proba(self, X: Documents, vectors: ArrayLike | None = None) -> Floats:
        """Return the logarithms of ``predict_proba``, with probabilities of at least 1e-30."""
        return np.log(np.maximum(self.predict_proba(X, vectors), SMALLEST_MIXTURE))

    def score(
        self,
        X: Documents,
        y: Matrix,
        sample_weight: ArrayLike | None = None,
        vectors: ArrayLike | None = None,
    ) -> float:
        """Return the accuracy on labelled documents, or the mean F1 with several labels."""
        rows = self.predict(X, vectors)
        if self.several_:
            return example_f1(y, rows, sample_weight)
        return compute_accuracy(y, rows, sample_weight)

    def node_posterior(self, X: Documents, vectors: ArrayLike | None = None) -> Array:
        """Return P(node | document), (documents, nodes): the sum over the classes at a node and below it."""
        check_is_fitted(self)
        return levels.node_posterior(self.tree_, self.class_nodes_, self.predict_proba(X, vectors))

    def explain(
        self,
        x: Matrix,
        *,
        n_words: int = 8,
        n_labels: int = 3,
        words: Sequence[str] | None = None,
        vectors: ArrayLike | None = None,
    ) -> explanation.Explanation:
        """Return the words for and against each label of a document, and for each step down the tree.

        Parameters
        ----------
        vectors : array (1, n_dimensions) or None
            Embedding of the document. It influences the probabilities, but is not part of the evidence.

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
        is_known = self._is_known_word[request.counts.indices]
        has_vectors = _find_vectors(None if vectors is None else self._check_vectors(vectors, 1), 1)
        learner = self if self._by_words is None or has_vectors.all() else self._by_words
        parts = learner._model.word_parts(request.counts)[is_known].astype(np.float64)
        classes = explanation.Classes(self.tree_, self.class_nodes_, self.classes_, learner.class_prior_)
        posterior = self.predict_proba(request.row, vectors)[0]
        return explanation.explain_by_parts(request, classes, is_known, parts, posterior)

    def _read(self, X: Documents, vectors: ArrayLike | None) -> Floats:
        """Return class probabilities, computed in blocks of documents."""
        counts = self._counts(X, reset=False)
        checked_vectors = None if vectors is None else self._check_vectors(vectors, counts.shape[0])
        rows, first = list[Floats](), 0
        for part in stored_counts.iterate_blocks(counts):
            for start in range(0, max(part.shape[0], 1), MAX_ROWS):
                block = csr_array(part[start : start + MAX_ROWS])
                block_vectors = None if checked_vectors is None else checked_vectors[first : first + block.shape[0]]
                rows.append(self._compute_probabilities(block, block_vectors))
                first += block.shape[0]
        return np.concatenate(rows) if len(rows) > 1 else rows[0]

    def _check_vectors(self, vectors: ArrayLike, n_docs: int) -> Floats:
        """Return checked vectors; raise InputError if the learner was fitted without vectors."""
        n_features = getattr(self, "n_vector_features_", 0)
        if not n_features:
            raise InputError(
                "this learner was fitted without vectors",
                hint="Fit with fit(X, y, vectors=…), or omit the vectors here.",
            )
        return check_vectors(vectors, n_docs, n_features)

    def _counts(self, X: Documents, *, reset: bool) -> Any:
        return stored_counts.check_documents(self, X, reset=reset)

    def _check_options(self) -> None:
        """Raise UsageError for a parameter outside its range."""
        for name in ("unlabelled_weight", "generative_weight"):
            if getattr(self, name) != "cv":
                options.check_number(name, getattr(self, name), 0.0, 1.0, hint="Use 0.5 or 'cv'.")
        options.check_common(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _find_vectors(vectors: Floats | None, n_docs: int) -> Bools:
    return np.zeros(n_docs, np.bool_) if vectors is None else find_rows_with_vectors(vectors)


def _number_groups(groups: ArrayLike | None, n_docs: int) -> Ints | None:
    """Return groups numbered from 0; raise InputError unless each document has one."""
    if groups is None:
        return None
    group_numbers = np.unique(np.asarray(groups), return_inverse=True)[1]
    if group_numbers.shape != (n_docs,):
        raise InputError(
            f"groups must have a number for each of the {n_docs:,} documents, got {group_numbers.shape}",
            hint="Pass one number for each document, or None.",
        )
    return group_numbers


def _is_matrix(y: Any) -> bool:
    """Return whether labels have two axes and more than one column."""
    try:
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    except ValueError:  # lists of labels, which reading them refuses in words
        return False
    return len(shape) == 2 and shape[1] > 1


def _get_number(value: float | str) -> float | None:
    return None if value == "cv" else float(value)


def _describe_choice(setting: one_label.Setting, trial: one_label.Trial | None, n_free: int, with_vectors: bool) -> str:
    """Return a sentence on the chosen features and weights, with their held-out results."""
    uses_class_vectors = with_vectors and setting.class_vector_weight > 0
    linear = f"A linear classifier{' of words and vectors' if with_vectors and setting.vectorial else ''}"
    suffix = "" if uses_class_vectors else " alone"
    ways = {0.0: f"{linear}{suffix}", 1.0: f"The words of the categories{suffix}"}
    way = ways.get(
        setting.weight, f"{linear} ({1 - setting.weight:.0%}) and the words of the categories ({setting.weight:.0%})"
    )
    if uses_class_vectors:
        way += ", with how near the vectors of each category are"
    unlabelled_text = ""
    if n_free:
        weight_text = f"count {setting.unlabelled_weight:g}" if setting.unlabelled_weight else "count nothing"
        if uses_class_vectors and setting.unlabelled_vector_weight != setting.unlabelled_weight:
            weight_text += f" by words and {setting.unlabelled_vector_weight:g} by vectors"
        unlabelled_text = f", where documents without a label {weight_text}"
    if trial is None:
        return (
            f"{way}{unlabelled_text}, as usual: there is one label for each category, and nothing could be held out to "
            "choose."
        )
    share = [number / trial.n_unseen for number in (trial.right, trial.right_linear, trial.right_words)]
    without_text = "" if trial.right_without is None else (
        f", without the documents that have no label {trial.right_without / trial.n_unseen:.0%}"
    )  # fmt: skip
    by_vectors = (
        "" if trial.right_vectors is None else f", the vectors alone {trial.right_vectors / trial.n_unseen:.0%}"
    )
    vector_note = ""
    if trial.right_vectors is not None and not setting.class_vector_weight:
        if setting.vectorial and setting.weight == 1.0 and n_free and setting.unlabelled_weight:
            vector_note = " The vectors only help to guess the categories of unlabelled documents."
        elif not setting.vectorial or setting.weight == 1.0:
            vector_note = " The vectors are not used, because they do not improve the result on held-out documents."
    return (
        f"{way}{unlabelled_text}: {share[0]:.0%} of {trial.n_unseen:,} labelled documents held out in turn are right; "
        f"the linear classifier alone {share[1]:.0%}, the words alone {share[2]:.0%}{by_vectors}{without_text}."
        f"{vector_note}"
    )


def _describe_several(trial: several_labels.SeveralTrial | None, with_vectors: bool) -> str:
    """Return a sentence on the classifiers for several labels, with their held-out results."""
    features = "words, latent dimensions and vectors" if with_vectors else "words and latent dimensions"
    way = f"A linear classifier for each label, on {features}"
    if trial is None:
        return f"{way}, as usual: there are too few documents to hold any out."
    without_text = "" if trial.f_without is None else f"; without the vectors {trial.f_without:.2f}"
    return (
        f"{way}; how probable a label must be was chosen on {trial.n_unseen:,} documents held out in turn: F "
        f"{trial.f:.2f}, and {trial.f_even:.2f} where every classifier decides for itself{without_text}."
    )
