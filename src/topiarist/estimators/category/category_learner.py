"""Given categories, learned as labels allow: from class words with few of them to a linear classifier with many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, cast

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from topiarist.arrays import Array, ArrayLike, Bools, Csr, Floats, Ints, Matrix, Seed
from topiarist.counts.validation import check_counts
from topiarist.counts.vectors import check_vectors, has_vector
from topiarist.errors import InputError, UsageError
from topiarist.estimators.category import explanation, one_label, several_labels
from topiarist.estimators.category.class_learning import check_words
from topiarist.estimators.category.given_labels import (
    class_nodes,
    given_back,
    labels_to_score,
    read_label_matrix,
    read_labels,
)
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.display import ShownEstimator
from topiarist.estimators.common.stored_counts import Documents, ReadsCounts
from topiarist.estimators.tree.posteriors import FilesDocuments
from topiarist.hierarchy import levels
from topiarist.hierarchy.tree import Tree
from topiarist.measures.label_agreement import example_f1
from topiarist.models.labels import choice
from topiarist.scale.blocks import BlockStore

ROWS = 8192  # documents that are read at once


@options.common_options(random_state="Seed of the folds and of the latent dimensions. None is as the seed 0.")
class CategoryLearner(ReadsCounts, FilesDocuments, ClassifierMixin, ShownEstimator):  # type: ignore[misc]
    """Learns given categories, one or several a document, and chooses how by documents held out in turn.

    Between a generative model (the words of each class, to which documents without a label lend theirs) and a linear
    classifier (words by their information, joined with latent dimensions of all documents): the scores of both are
    added. Certainties are those of unseen documents. Documents may come with vectors, which then have a say beside the
    words; who has none is told by a learner of words alone, with weights and certainties of its own.

    Parameters
    ----------
    tree : Tree or None
        Names of nodes (or paths to them) are the labels: the words of a class lean on those above it. Not for several
        labels.
    unlabelled_weight : float or "cv", default "cv"
        What a document without a label (−1 or None) counts. 0 leaves them out of everything. "cv": chosen.
    generative_weight : float or "cv", default "cv"
        From 0, the linear classifier alone, to 1, the words of classes alone. "cv": chosen.

    Attributes
    ----------
    classes_ : array (n_classes,)
        The labels, sorted.
    tree_, class_nodes_
        The tree and the node of each class; without a tree a root and a leaf for each class.
    class_prior_ : array (n_classes,)
        The share of each class: the answer for a document without known words.
    unlabelled_weight_, generative_weight_ : float
        What was given or chosen. With several labels both are 0.
    label_threshold_ : array (n_labels,) or None
        With several labels: what P(label | document) must exceed.
    n_unseen_ : int
        Documents that were held out in turn.
    n_vector_features_ : int
        Dimensions of the vectors that documents came with; 0 without any.
    uses_vectors_ : bool
        Whether they have a say; the learner may leave them aside.
    reason_ : str
        What was chosen, and why, in a sentence.
    """

    _model: one_label.OneLabel | several_labels.SeveralLabels
    _settled: one_label.Settled | several_labels.SettledSeveral
    _by_words: CategoryLearner | None = None  # who tells documents without a vector, where others have one
    label_threshold_: Floats | None

    def __init__(
        self,
        tree: Tree | None = None,
        *,
        unlabelled_weight: float | str = "cv",
        generative_weight: float | str = "cv",
        random_state: Seed = None,
    ) -> None:
        self.tree = tree
        self.unlabelled_weight = unlabelled_weight
        self.generative_weight = generative_weight
        self.random_state = random_state

    def fit(
        self, X: Documents, y: Matrix, *, groups: ArrayLike | None = None, vectors: ArrayLike | None = None
    ) -> Self:
        """Learn from counts (documents × words) and labels.

        ``y`` has a label for each document, −1 (in a list of texts also "-1" or None) for one without; or it is a 0/1
        matrix with a column for each label, and documents may have several. ``groups``: a number or a name for each
        document; those that share it (copies, pages of one report) are held out together, so that none is judged by
        what was learned from another. ``vectors``: a row for each document, as an encoder gives them; zeros for one
        that has none. Documents held out in turn decide how much they weigh.
        """
        self._check_options()
        stored_counts.in_memory(X, "training")
        counts = self._counts(X, reset=True)
        near = None if vectors is None else check_vectors(vectors, counts.shape[0])
        together = _together(groups, counts.shape[0])
        seed = int(options.generator(0 if self.random_state is None else self.random_state).integers(2**31))
        several = y is not None and _is_matrix(y)
        with threadpool_limits(limits=1, user_api="blas"):
            if several:
                self._fit_several(counts, y, seed, together, near)
            else:
                self._fit_one(counts, y, seed, together, near)
        self._known = np.zeros(counts.shape[1], bool)
        self._known[counts.indices] = True
        self.n_vector_features_ = 0 if near is None else near.shape[1]
        self._by_words = None  # that of a fit before this one
        self._by_words = self._words_alone(counts, y, groups)
        return self

    def _words_alone(self, counts: Csr, y: Matrix, groups: ArrayLike | None) -> CategoryLearner | None:
        """The learner of documents without a vector; None where vectors have no say.

        Where nothing could be held out it has the words that this one has learned, which tell more: what documents
        without a label are was guessed with vectors. The certainty is that of words.
        """
        if not self.uses_vectors_:
            return None
        made = CategoryLearner(**self.get_params(deep=False))
        if isinstance(self._model, one_label.OneLabel) and self._settled.trial is None:
            learned = {name: value for name, value in self.__dict__.items() if not name.startswith("_before")}
            made.__dict__.update(learned, _model=self._model.without_vectors(), n_vector_features_=0)
            return made
        before = getattr(self, "_before_by_words", None)
        return made.fit(counts, y, groups=groups) if before is None else before.fit_more(counts, y)

    def _fit_one(self, counts: Csr, y: Matrix, seed: int, together: Ints | None, vectors: Floats | None) -> None:
        labels = read_labels(y, counts.shape[0])
        check_words(counts, labels)
        self.classes_ = labels.classes
        self.tree_, self.class_nodes_ = class_nodes(self.tree, labels.classes)
        wanted = one_label.Wanted(_number(self.unlabelled_weight), _number(self.generative_weight))
        of_row = labels.of_row
        before = getattr(self, "_before", None)
        model, settled = one_label.learn(
            counts, of_row, self.tree_, self.class_nodes_, wanted, seed, before, together, vectors
        )
        self._model, self._settled = model, settled
        setting, trial = settled.setting, settled.trial
        known = of_row[of_row >= 0]
        shares = (np.bincount(known, minlength=len(self.classes_)) + 0.5) * np.exp(model.prior_shift)
        self.class_prior_ = shares / shares.sum()
        self.unlabelled_weight_ = setting.unlabelled_weight if (of_row < 0).any() else 0.0
        self.generative_weight_ = setting.weight
        self.label_threshold_, self._form = None, "single"
        self.n_unseen_ = 0 if trial is None else trial.n_unseen
        self.reason_ = _reason(setting, trial, int((of_row < 0).sum()), model.space is not None)

    def _fit_several(self, counts: Csr, y: Matrix, seed: int, together: Ints | None, vectors: Floats | None) -> None:
        labels = read_label_matrix(y, counts.shape[0])
        self.classes_, self._form = labels.classes, labels.form
        self.tree_, self.class_nodes_ = class_nodes(None, labels.classes)
        before = getattr(self, "_before", None)
        model, settled = several_labels.learn_several(counts, labels.matrix, seed, before, together, vectors)
        self._model, self._settled = model, settled
        trial = settled.trial
        sizes = np.bincount(labels.matrix.indices, minlength=len(self.classes_))
        self.class_prior_ = sizes / labels.matrix.shape[0]
        self.unlabelled_weight_ = self.generative_weight_ = 0.0
        self.label_threshold_ = model.threshold
        self.n_unseen_ = 0 if trial is None else trial.n_unseen
        self.reason_ = _reason_of_several(trial, model.space is not None)

    def fit_more(self, X: Documents, y: Matrix, *, vectors: ArrayLike | None = None) -> CategoryLearner:
        """Another learner, of other documents of the same kind, with what this one has chosen and found of certainty.

        Nothing is held out again: that costs a fraction of ``fit``.
        """
        check_is_fitted(self)
        other = CategoryLearner(**self.get_params(deep=False))
        other._before, other._before_by_words = self._settled, self._by_words
        try:
            return other.fit(X, y, vectors=vectors)
        finally:
            del other._before, other._before_by_words

    @property
    def several_(self) -> bool:
        """Whether documents may have several labels."""
        return self.label_threshold_ is not None

    @property
    def uses_vectors_(self) -> bool:
        """Whether the vectors of documents have a say: not where the learner came to leave them aside."""
        return self._model.sees_vectors

    def predict_proba(self, X: Documents, vectors: ArrayLike | None = None) -> Floats:
        """P(class | document), or of several labels P(label | document), each for itself; columns are ``classes_``.

        ``vectors``: those of the documents, where the learner knows vectors; without them words tell.
        """
        check_is_fitted(self)
        return self._read(X, vectors)

    def _told(self, counts: Csr, vectors: Floats | None) -> Floats:
        there = _there(vectors, counts.shape[0])
        rows = self._model(counts, vectors)
        if self._by_words is not None and not there.all():
            rows[~there] = self._by_words._told(csr_array(counts[~there]), None)
        blank = np.asarray(counts @ self._known.astype(np.float64)).ravel() == 0
        rows[blank & ~(there & self.uses_vectors_)] = self.class_prior_
        return rows

    def predict(self, X: Documents, vectors: ArrayLike | None = None) -> Any:
        """The most probable class of each document; of several labels an indicator matrix, at least one label each."""
        check_is_fitted(self)
        if not self.several_:
            return self.classes_[self.predict_proba(X, vectors).argmax(axis=1)]
        return given_back(csr_array(self.decision_function(X, vectors) > 0), self._form)

    def decision_function(self, X: Documents, vectors: ArrayLike | None = None) -> Floats:
        """Log-odds of the classes (of two: of the second); of several labels, how far each is above what it needs."""
        check_is_fitted(self)
        rows = self.predict_proba(X, vectors)
        if self.label_threshold_ is not None:
            return choice.margins(rows, self.label_needs(len(rows), vectors))
        logs: Floats = np.log(np.maximum(rows, 1e-30))
        return logs[:, 1] - logs[:, 0] if len(self.classes_) == 2 else logs

    def label_needs(self, n_docs: int, vectors: ArrayLike | None = None) -> Floats:
        """With several labels: what P(label | document) must exceed, (documents, labels).

        It is ``label_threshold_``; documents without a vector, where others have one, need what words tell.
        """
        check_is_fitted(self)
        if self.label_threshold_ is None:
            raise UsageError("a document has one label here, the most probable one", hint="predict(X)")
        needs: Floats = np.tile(self.label_threshold_, (n_docs, 1))
        if self._by_words is not None:
            near = None if vectors is None else self._checked(vectors, n_docs)
            needs[~_there(near, n_docs)] = self._by_words.label_threshold_
        return needs

    def predict_log_proba(self, X: Documents, vectors: ArrayLike | None = None) -> Floats:
        """Logarithms of ``predict_proba``; nothing is less probable than 1e-30."""
        return np.log(np.maximum(self.predict_proba(X, vectors), 1e-30))

    def score(
        self,
        X: Documents,
        y: Matrix,
        sample_weight: ArrayLike | None = None,
        vectors: ArrayLike | None = None,
    ) -> float:
        """The share of documents whose class is predicted (without a label: left out); of several, the mean F."""
        rows = self.predict(X, vectors)
        if self.several_:
            return example_f1(y, rows, sample_weight)
        known, labelled = labels_to_score(y, len(rows))
        weight = None if sample_weight is None else np.asarray(sample_weight)[labelled]
        return float(accuracy_score(known, rows[labelled], sample_weight=weight))

    def node_posterior(self, X: Documents, vectors: ArrayLike | None = None) -> Array:
        """P(node | document), (documents, nodes): the classes at a node and below it together; one at the root."""
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
        """Why a document gets its labels: the words that spoke for each, and for each step down the tree.

        ``x`` is one document: a row of counts, as an array, a list or a matrix of one row. ``words`` are the names of
        the columns. ``vectors``: a matrix of one row, the document's vector; it is in the probabilities, and no word
        has a part in it.
        """
        check_is_fitted(self)
        row, counts, names = explanation.asked(self, x, words, n_words, n_labels)
        known = self._known[counts.indices]
        there = _there(None if vectors is None else self._checked(vectors, 1), 1)
        teller = self if self._by_words is None or there.all() else self._by_words
        parts = teller._model.word_parts(counts)[known].astype(np.float64)
        return explanation.explained_by_parts(
            explanation.Classes(self.tree_, self.class_nodes_, self.classes_, teller.class_prior_),
            explanation.Words(counts.indices[known], counts.data[known].astype(np.float64), names),
            parts,
            self.predict_proba(row, vectors)[0],
            n_words,
            n_labels,
        )  # fmt: skip

    def _read(self, X: Documents, vectors: ArrayLike | None) -> Floats:
        counts = self._counts(X, reset=False)
        near = None if vectors is None else self._checked(vectors, counts.shape[0])
        parts = (block.counts() for block in counts.blocks()) if isinstance(counts, BlockStore) else (counts,)
        rows, first = list[Floats](), 0
        for part in parts:
            for at in range(0, max(part.shape[0], 1), ROWS):
                some = csr_array(part[at : at + ROWS])
                rows.append(self._told(some, None if near is None else near[first : first + some.shape[0]]))
                first += some.shape[0]
        return np.concatenate(rows) if len(rows) > 1 else rows[0]

    def _checked(self, vectors: ArrayLike, n_docs: int) -> Floats:
        known = getattr(self, "n_vector_features_", 0)
        if not known:
            raise InputError(
                "this learner was fitted without vectors", hint="fit(X, y, vectors=…), or leave them out here"
            )
        return check_vectors(vectors, n_docs, known)

    def _counts(self, X: Documents, *, reset: bool) -> Any:
        counts = X if isinstance(X, BlockStore) else check_counts(cast("Matrix", X))
        validate_data(self, X, reset=reset, skip_check_array=True)
        return counts

    def _check_options(self) -> None:
        for name in ("unlabelled_weight", "generative_weight"):
            if getattr(self, name) != "cv":
                options.check_number(name, getattr(self, name), 0.0, 1.0, hint="0.5 or 'cv'")
        options.check_common(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _there(vectors: Floats | None, n_docs: int) -> Bools:
    """Which documents have a vector."""
    return np.zeros(n_docs, np.bool_) if vectors is None else has_vector(vectors)


def _together(groups: ArrayLike | None, n_docs: int) -> Ints | None:
    if groups is None:
        return None
    found = np.unique(np.asarray(groups), return_inverse=True)[1]
    if found.shape != (n_docs,):
        raise InputError(
            f"groups must have a number for each of the {n_docs:,} documents, got {found.shape}", hint="or none at all"
        )
    return found


def _is_matrix(y: Any) -> bool:
    try:
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    except ValueError:  # lists of labels, which reading them refuses in words
        return False
    return len(shape) == 2 and shape[1] > 1


def _number(value: float | str) -> float | None:
    return None if value == "cv" else float(value)


def _reason(setting: one_label.Setting, trial: one_label.Trial | None, n_free: int, with_vectors: bool) -> str:
    lying = with_vectors and setting.near > 0
    linear = f"A linear classifier{' of words and vectors' if with_vectors and setting.vectorial else ''}"
    alone = "" if lying else " alone"
    ways = {0.0: f"{linear}{alone}", 1.0: f"The words of the categories{alone}"}
    way = ways.get(
        setting.weight, f"{linear} ({1 - setting.weight:.0%}) and the words of the categories ({setting.weight:.0%})"
    )
    if lying:
        way += ", with how near the vectors of each category are"
    free = ""
    if n_free:
        counted = f"count {setting.unlabelled_weight:g}" if setting.unlabelled_weight else "count nothing"
        if lying and setting.lent != setting.unlabelled_weight:
            counted += f" by words and {setting.lent:g} by vectors"
        free = f", where documents without a label {counted}"
    if trial is None:
        return f"{way}{free}, as usual: there is one label for each category, and nothing could be held out to choose."
    share = [number / trial.n_unseen for number in (trial.right, trial.right_linear, trial.right_words)]
    without = "" if trial.right_without is None else (
        f", without the documents that have no label {trial.right_without / trial.n_unseen:.0%}"
    )  # fmt: skip
    by_vectors = (
        "" if trial.right_vectors is None else f", the vectors alone {trial.right_vectors / trial.n_unseen:.0%}"
    )
    left = ""
    if trial.right_vectors is not None and not setting.near:
        if setting.vectorial and setting.weight == 1.0 and n_free and setting.unlabelled_weight:
            left = " The vectors only help to guess what documents without a label are."
        elif not setting.vectorial or setting.weight == 1.0:
            left = " The vectors were left aside: documents held out are told no better with them."
    return (
        f"{way}{free}: {share[0]:.0%} of {trial.n_unseen:,} labelled documents held out in turn are right; the linear "
        f"classifier alone {share[1]:.0%}, the words alone {share[2]:.0%}{by_vectors}{without}.{left}"
    )


def _reason_of_several(trial: several_labels.SeveralTrial | None, with_vectors: bool) -> str:
    seen = "words, latent dimensions and vectors" if with_vectors else "words and latent dimensions"
    way = f"A linear classifier for each label, on {seen}"
    if trial is None:
        return f"{way}, as usual: there are too few documents to hold any out."
    without = "" if trial.f_without is None else f"; without the vectors {trial.f_without:.2f}"
    return (
        f"{way}; how probable a label must be was chosen on {trial.n_unseen:,} documents held out in turn: F "
        f"{trial.f:.2f}, and {trial.f_even:.2f} where every classifier decides for itself{without}."
    )
