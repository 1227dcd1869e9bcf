"""What estimators of trees do with documents: place them, score them. One telling for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from topiarist.arrays import Floats
from topiarist.counts.validation import check_counts
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.tree import preparation
from topiarist.estimators.tree.fitted_tree import FilesDocuments
from topiarist.measures.topic_quality import completion_perplexity, known_counts


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
