"""What estimators of trees do with documents: file them at a certain level, place them, score them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from topiarist.arrays import Array, Floats
from topiarist.counts.validation import check_counts
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.tree import preparation
from topiarist.estimators.tree.fitted_tree import posterior
from topiarist.hierarchy import levels
from topiarist.hierarchy.tree_model import TreeModel
from topiarist.measures.topic_quality import completion_perplexity, known_counts


class FilesDocuments:
    """For an estimator with ``tree_``, and ``predict_proba`` or ``transform`` that tells P(class | document).

    Its tree as a value is ``tree_model_``, which an estimator that calls its parameters otherwise defines anew.
    """

    @property
    def tree_model_(self: Any) -> TreeModel:
        """The tree with its parameters, in the names that all models share."""
        return TreeModel(
            self.tree_, tuple(self.class_nodes_), self.word_given_topic_, self.topic_given_class_, self.class_prior_
        )

    def node_posterior(self: Any, X: Any) -> Array:
        """P(node | document), (documents, nodes): the classes at a node and below it together; one at the root."""
        check_is_fitted(self)
        return levels.node_posterior(self.tree_, self.tree_model_.class_nodes, posterior(self, X))

    def predict_path(self: Any, X: Any, rho: float = 0.9) -> Array:
        """The deepest node whose posterior exceeds ``rho``, for each document: a number in ``tree_``.

        ``paths`` gives their names from the root down. A document that is certain of nothing is filed at the root.
        """
        options.check_number("rho", rho, 0.0, 1.0, hint="0.9")
        return levels.deepest_certain(self.tree_, self.node_posterior(X), rho)

    def paths(self: Any, nodes: Sequence[int]) -> list[tuple[str, ...]]:
        """The names from the root down to each node; the first is empty where the root has no name."""
        check_is_fitted(self)
        return [self.tree_.path_names(int(node)) for node in nodes]


class PlacesDocuments(FilesDocuments, TransformerMixin):  # type: ignore[misc]  # it wraps ``transform`` only where that is defined
    """For an estimator that has ``_reader(engine)``, which tells P(class | document), and ``_model``."""

    def fit_transform(self: Any, X: Any, y: Any = None) -> Any:
        """Fit, and return what ``transform`` returns for the training documents."""
        return self.fit(X).transform(X)

    def fit_predict(self: Any, X: Any, y: Any = None) -> Any:
        """Fit, and return the most probable class of each document."""
        return self.fit(X).labels_

    def transform(self: Any, X: Any) -> Floats:
        """P(class | document), each document by itself; of a ``BlockStore`` too."""
        check_is_fitted(self)
        return stored_counts.read(self, X)

    def predict(self: Any, X: Any) -> Any:
        """The most probable class of each document."""
        check_is_fitted(self)
        return stored_counts.read_labels(self, X)

    @property
    def components_(self: Any) -> Floats:
        """P(word | class), (n_classes, n_words)."""
        components: Floats = self.tree_model_.word_given_class()
        return components

    def score(self: Any, X: Any, y: Any = None) -> float:
        """Mean log-likelihood per token; words unknown to the model are left out."""
        check_is_fitted(self)
        counts = known_counts(self.components_, self._counts(X, reset=False, what="score"))
        with options.running(self) as engine:
            reader = self._reader(engine)
            total = reader.log_likelihood(counts, reader(counts))
        return float(total) / max(float(counts.data.sum(dtype=np.float64)), 1.0)

    def perplexity(self: Any, X: Any) -> float:
        """Perplexity by document completion: half of each document's tokens place it, the other half are scored."""
        check_is_fitted(self)
        counts = self._counts(X, reset=False, what="perplexity")
        with options.running(self) as engine:
            return completion_perplexity(self.components_, self._reader(engine), counts)

    def _placed(self: Any, X: Any, what: str) -> tuple[Any, Floats]:
        """Counts, and P(class | document)."""
        check_is_fitted(self)
        counts = self._counts(X, reset=False, what=what)
        with options.running(self) as engine:
            return counts, self._reader(engine)(counts)

    def _counts(self: Any, X: Any, *, reset: bool, what: str = "this method") -> Any:
        stored_counts.in_memory(X, what)
        counts = check_counts(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        if reset:
            name = self._number
            preparation.check_size(self.tree, getattr(self, name), name, counts)
        return counts

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = []
        return tags
