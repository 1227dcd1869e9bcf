"""Latent semantic indexing as a scikit-learn transformer from counts to a few dense features."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from topiarist.arrays import ArrayLike, Csr, Doubles, Matrix, Seed
from topiarist.counts.lsi import truncated_svd
from topiarist.counts.validation import sum_columns
from topiarist.counts.weighting import inverse_document_frequency, tfidf, unit_rows
from topiarist.errors import InputError, UsageError
from topiarist.estimators.common import options, stored_counts
from topiarist.estimators.common.base import CompactEstimator
from topiarist.estimators.common.stored_counts import ReadsCounts


@options.estimator(random_state=options.describe_seed("the decomposition"), X=options.COUNTS_IN_MEMORY)
class LSI(ReadsCounts, ClassNamePrefixFeaturesOutMixin, TransformerMixin, CompactEstimator):  # type: ignore[misc]
    """Latent semantic indexing: truncated singular value decomposition of weighted counts.

    Parameters
    ----------
    n_dimensions : int, default 16
        Dimensions of the space. One dimension is possible only without ``unit_length``.
    min_count : int, default 1
        Ignore words with a smaller total count.
    weighting : "counts" or "idf", default "idf"
        Use plain counts, or counts times the inverse document frequency.
    unit_length : bool, default True
        Scale points to length one. The direction of a point shows its subject.

    Attributes
    ----------
    n_dimensions_ : int
        Number of dimensions that was used.
    singular_values_ : array (n_dimensions,)
        Singular values in decreasing order.
    word_factors_ : array (n_words, n_dimensions)
        Directions in the space of words; zero for ignored words.
    kept_ : array (n_words,)
        Whether each word is used.

    Examples
    --------
    >>> import numpy as np
    >>> from topiarist import LSI
    >>> LSI(2, random_state=0).fit_transform(np.eye(5) + 1).shape
    (5, 2)
    """

    n_dimensions: int = 16
    _: KW_ONLY
    min_count: int = 1
    weighting: str = "idf"
    unit_length: bool = True
    random_state: Seed = None

    def fit(self, X: Matrix, y: ArrayLike | None = None) -> LSI:
        """Decompose counts.

        Raises
        ------
        InputError
            If no word occurs ``min_count`` times.
        """
        self._check_options()
        counts = self._counts(X, reset=True)
        self.kept_ = sum_columns(counts) >= self.min_count
        if not self.kept_.any():
            raise InputError(
                f"no word occurs {self.min_count} times; the largest word count is {sum_columns(counts).max():g}",
                hint="Use a smaller min_count.",
            )
        self._idf = inverse_document_frequency(counts) if self.weighting == "idf" else None
        weighted_counts = self._weigh(counts)
        max_dimensions = min(*counts.shape, int(self.kept_.sum()))
        if self.n_dimensions > max_dimensions:
            warnings.warn(
                f"n_dimensions={self.n_dimensions}, but {counts.shape[0]} documents with {int(self.kept_.sum())}"
                f" words span at most {max_dimensions} dimensions",
                UserWarning,
                stacklevel=2,
            )
        seed = int(options.make_generator(self.random_state).integers(2**31))
        with threadpool_limits(limits=1, user_api="blas"):
            space = truncated_svd(weighted_counts, min(self.n_dimensions, max_dimensions), seed=seed)
        self.n_dimensions_ = len(space.singular_values)
        self.singular_values_ = np.asarray(space.singular_values, np.float64)
        self.word_factors_ = np.asarray(space.word_factors, np.float64)
        return self

    def transform(self, X: Matrix) -> Doubles:
        """Return the points of documents.

        Returns
        -------
        array (n_documents, n_dimensions)
            Points of the latent space.
        """
        check_is_fitted(self)
        points = np.asarray(self._weigh(self._counts(X, reset=False)) @ self.word_factors_, np.float64)
        if not self.unit_length:
            return points
        length = np.linalg.norm(points, axis=1, keepdims=True)
        return points / np.where(length > 0, length, 1.0)

    def words_of(self, points: ArrayLike) -> Doubles:
        """Return the weight of every word at points of the space.

        Parameters
        ----------
        points : array (n_points, n_dimensions)
            Points of the latent space.

        Returns
        -------
        array (n_points, n_words)
            Weights of words.
        """
        check_is_fitted(self)
        return np.atleast_2d(np.asarray(points, np.float64)) @ self.word_factors_.T

    def _weigh(self, counts: Csr) -> Csr:
        """Return the weighted counts of the kept words, in rows of unit length."""
        counts_kept = counts.copy()
        counts_kept.data = np.where(self.kept_[counts_kept.indices], counts_kept.data, 0.0).astype(
            counts_kept.data.dtype
        )
        counts_kept.eliminate_zeros()
        return unit_rows(counts_kept if self._idf is None else tfidf(counts_kept, self._idf))

    def _counts(self, X: Matrix, *, reset: bool) -> Csr:
        return stored_counts.check_counts_in_memory(self, X, "LSI", reset=reset)

    def _check_options(self) -> None:
        """Raise UsageError for a parameter outside its range."""
        options.check_integer("n_dimensions", self.n_dimensions, 1, hint="Use 16.")
        options.check_common(self)
        options.check_number("min_count", self.min_count, 0, hint="Use 40.")
        options.check_one_of("weighting", self.weighting, ("counts", "idf"))
        options.check_one_of("unit_length", self.unit_length, (True, False))
        if self.n_dimensions == 1 and self.unit_length:
            raise UsageError(
                "n_dimensions=1 with unit_length=True would give only the points 1 and −1",
                hint="Use 2 or more dimensions, or unit_length=False.",
            )

    @property
    def _n_features_out(self) -> int:
        return self.n_dimensions_
