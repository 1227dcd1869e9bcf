"""What estimators of trees do with documents: file them at a certain level, place them, score them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from topiarist.arrays import Array, Csr, Floats
from topiarist.counts.column_map import without_columns
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.stored_counts import Documents, ReadsCounts
from topiarist.estimators.tree import preparation
from topiarist.estimators.tree.chosen_words import ignored_columns
from topiarist.estimators.tree.fitted_tree import posterior
from topiarist.hierarchy import levels
from topiarist.hierarchy.tree import Tree
from topiarist.hierarchy.tree_model import TreeModel
from topiarist.measures.topic_quality import completion_perplexity, known_counts


class FilesDocuments:
    """For an estimator with ``tree_``, and ``predict_proba`` or ``transform`` that tells P(class | document).

    Its tree as a value is ``tree_model_``, which an estimator that calls its parameters otherwise defines anew.
    """

    tree_: Tree
    class_nodes_: tuple[int, ...]
    word_given_topic_: Floats
    topic_given_class_: Floats
    class_prior_: Floats

    @property
    def tree_model_(self) -> TreeModel:
        """The tree with its parameters, in the names that all models share."""
        return TreeModel(
            self.tree_, tuple(self.class_nodes_), self.word_given_topic_, self.topic_given_class_, self.class_prior_
        )

    def node_posterior(self, X: Documents) -> Array:
        """P(node | document), (documents, nodes): the classes at a node and below it together; one at the root."""
        check_is_fitted(self)
        return levels.node_posterior(self.tree_, self.tree_model_.class_nodes, posterior(self, X))

    def predict_path(self, X: Documents, rho: float = 0.9) -> Array:
        """The deepest node whose posterior exceeds ``rho``, for each document: a number in ``tree_``.

        ``paths`` gives their names from the root down. A document that is certain of nothing is filed at the root.
        """
        options.check_number("rho", rho, 0.0, 1.0, hint="0.9")
        return levels.deepest_certain(self.tree_, self.node_posterior(X), rho)

    def paths(self, nodes: Sequence[int]) -> list[tuple[str, ...]]:
        """The names from the root down to each node; the first is empty where the root has no name."""
        check_is_fitted(self)
        return [self.tree_.path_names(int(node)) for node in nodes]


class PlacesDocuments(ReadsCounts, FilesDocuments, TransformerMixin):  # type: ignore[misc]  # it wraps ``transform`` only where that is defined
    """For an estimator that has ``_reader(engine)``, which tells P(class | document), and ``_model``."""

    def fit_transform(self, X: Documents, y: object = None) -> Any:
        """Fit, and return what ``transform`` returns for the training documents."""
        return self.fit(X).transform(X)

    def fit_predict(self, X: Documents, y: object = None) -> Any:
        """Fit, and return the most probable class of each document."""
        return self.fit(X).labels_

    def transform(self, X: Documents) -> Floats:
        """P(class | document), each document by itself; of a ``BlockStore`` too."""
        check_is_fitted(self)
        return stored_counts.read(self, X)

    def predict(self, X: Documents) -> Any:
        """The most probable class of each document."""
        check_is_fitted(self)
        return stored_counts.read_labels(self, X)

    @property
    def components_(self) -> Floats:
        """P(word | class), (n_classes, n_words)."""
        return self.tree_model_.word_given_class()

    def score(self, X: Documents, y: object = None) -> float:
        """Mean log-likelihood per token; words unknown to the model are left out."""
        check_is_fitted(self)
        counts = known_counts(self.components_, self._counts(X, reset=False, what="score"))
        with options.running(self) as engine:
            reader = self._reader(engine)
            total = reader.log_likelihood(counts, reader(counts))
        return float(total) / max(float(counts.data.sum(dtype=np.float64)), 1.0)

    def perplexity(self, X: Documents) -> float:
        """Perplexity by document completion: half of each document's tokens place it, the other half are scored."""
        check_is_fitted(self)
        counts = self._counts(X, reset=False, what="perplexity")
        with options.running(self) as engine:
            return completion_perplexity(self.components_, self._reader(engine), counts)

    def _placed(self, X: Documents, what: str) -> tuple[Csr, Floats]:
        """Counts, and P(class | document)."""
        check_is_fitted(self)
        counts = self._counts(X, reset=False, what=what)
        with options.running(self) as engine:
            return counts, self._reader(engine)(counts)

    def _counts(self, X: Documents, *, reset: bool, what: str = "this method") -> Csr:
        counts = stored_counts.checked(self, X, what, reset=reset)
        counts = without_columns(counts, ignored_columns(self))
        if reset:
            name = self._number
            preparation.check_size(self.tree, getattr(self, name), name, counts)
        return counts
