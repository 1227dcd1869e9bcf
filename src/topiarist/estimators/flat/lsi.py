"""Latent semantic indexing as a scikit-learn transformer: counts in, few dense features out."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from topiarist.arrays import ArrayLike, Bools, Csr, Doubles, Ints, Matrix, Seed
from topiarist.counts.lsi import LatentSpace, truncated_svd
from topiarist.counts.split import split_tokens
from topiarist.counts.validation import check_counts, column_totals
from topiarist.counts.weighting import inverse_document_frequency, tfidf, unit_rows
from topiarist.errors import InputError, UsageError
from topiarist.estimators.common import options
from topiarist.estimators.common.display import ShownEstimator
from topiarist.estimators.common.stored_counts import ReadsCounts
from topiarist.estimators.gaussian import ggm

TRIED = (1, 2, 3, 5, 8, 12, 16, 24, 32, 48, 64, 96)  # dimensions, where they are chosen
N_FOLDS = 5


@options.common_options(random_state=options.seed_of("the decomposition and of folds"))
class LSI(ReadsCounts, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ShownEstimator):  # type: ignore[misc]
    """Counts to unit rows, to a truncated singular value decomposition, to points of few dimensions.

    Parameters
    ----------
    n_dimensions : int or None, default 16
        Dimensions. None: by cross-validation; with labels (−1: none) those that classify held-out documents best, else
        those from which the other half of each document's words is told best. One dimension is tried only without
        ``unit_length``.
    min_count : int, default 1
        Words that occur less often in the fitted counts are left out.
    weighting : "counts" or "idf", default "idf"
        What rows are made of: counts as they are, or times the inverse document frequency.
    unit_length : bool, default True
        Bring the points to length one as well: direction is subject, length hardly more than certainty about it.
    max_dimensions : int, default 64
        At most so many are tried.

    Attributes
    ----------
    n_dimensions_ : int
        The number used.
    singular_values_ : array (n_dimensions,)
        Singular values, falling.
    word_factors_ : array (n_words, n_dimensions)
        Directions in the space of words; zero for a word that was left out.
    kept_ : array (n_words,)
        Which words are used.
    curve_ : dict or None
        The criterion by number of dimensions, the lower the better, where it was chosen.
    """

    def __init__(
        self,
        n_dimensions: int | None = 16,
        *,
        min_count: int = 1,
        weighting: str = "idf",
        unit_length: bool = True,
        max_dimensions: int = 64,
        random_state: Seed = None,
    ) -> None:
        self.n_dimensions = n_dimensions
        self.min_count = min_count
        self.weighting = weighting
        self.unit_length = unit_length
        self.max_dimensions = max_dimensions
        self.random_state = random_state

    def fit(self, X: Matrix, y: ArrayLike | None = None) -> LSI:
        """Decompose counts (documents × words); labels serve only to choose the number of dimensions."""
        self._check_options()
        counts = self._counts(X, reset=True)
        self.kept_ = column_totals(counts) >= self.min_count
        if not self.kept_.any():
            raise InputError(
                f"no word occurs {self.min_count} times; the most frequent one {column_totals(counts).max():g} times",
                hint="a smaller min_count",
            )
        rng = options.generator(self.random_state)
        self._idf = self._idf_of(counts)
        seed = int(rng.integers(2**31))
        with threadpool_limits(limits=1, user_api="blas"):
            space, self.curve_ = self._space(counts, y, seed, rng)
        self.n_dimensions_ = len(space.singular_values)
        self.singular_values_ = np.asarray(space.singular_values, np.float64)
        self.word_factors_ = np.asarray(space.word_factors, np.float64)
        return self

    def transform(self, X: Matrix) -> Doubles:
        """The points of documents, (n_documents, n_dimensions)."""
        check_is_fitted(self)
        return self._points(self._weighted(self._counts(X, reset=False), self.kept_, self._idf), self.word_factors_)

    def words_of(self, points: ArrayLike) -> Doubles:
        """The weight of every word at points of the space, (n_points, n_words): back from dimensions to words."""
        check_is_fitted(self)
        return np.atleast_2d(np.asarray(points, np.float64)) @ self.word_factors_.T

    def _space(
        self, counts: Csr, y: ArrayLike | None, seed: int, rng: np.random.Generator
    ) -> tuple[LatentSpace, dict[int, float] | None]:
        rows = self._weighted(counts, self.kept_, self._idf)
        most = min(*counts.shape, int(self.kept_.sum()))
        if self.n_dimensions is not None:
            if self.n_dimensions > most:
                warnings.warn(
                    f"n_dimensions={self.n_dimensions}, but {counts.shape[0]} documents with {int(self.kept_.sum())}"
                    f" words span at most {most}: so many are used",
                    UserWarning,
                    stacklevel=3,
                )
            return truncated_svd(rows, min(self.n_dimensions, most), seed=seed), None
        least = 2 if self.unit_length else 1  # on a line all points of length one are the same, or its opposite
        sizes = [size for size in TRIED if least <= size <= min(self.max_dimensions, most)] or [min(least, most)]
        codes = ggm.encoded(y, np.empty((counts.shape[0], 0)))[1]
        labelled = int((codes >= 0).sum())
        if labelled > N_FOLDS and len(np.unique(codes[codes >= 0])) > 1:
            curve = self._classified(counts, codes, sizes, seed, rng)
        else:
            curve = self._completed(counts, sizes, seed)
        best = min(curve, key=lambda size: (round(curve[size], 12), size))
        return truncated_svd(rows, best, seed=seed), curve

    def _classified(
        self, counts: Csr, codes: Ints, sizes: list[int], seed: int, rng: np.random.Generator
    ) -> dict[int, float]:
        """Share of held-out labels that one Gaussian for each class, of one covariance, gets wrong.

        Words, their weights and the space come from the other documents alone.
        """
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        from topiarist.models.gaussian.selection import folds_of

        folds, labelled = folds_of(codes, N_FOLDS, rng), codes >= 0
        wrong = dict.fromkeys(sizes, 0.0)
        for fold in range(N_FOLDS):
            train, others = labelled & (folds != fold), counts[folds != fold]
            kept = column_totals(others) >= self.min_count
            rows = self._weighted(counts, kept if kept.any() else self.kept_, self._idf_of(others))
            space = truncated_svd(rows[folds != fold], max(sizes), seed=seed)
            points = self._points(rows, np.asarray(space.word_factors, np.float64), unit=False)
            for size in sizes:
                here = self._brought(points[:, :size])
                if len(np.unique(codes[train])) < 2:
                    continue
                rule = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(here[train], codes[train])
                held = folds == fold
                wrong[size] += float((rule.predict(here[held]) != codes[held]).sum())
        return {size: value / int(labelled.sum()) for size, value in wrong.items()}

    def _completed(self, counts: Csr, sizes: list[int], seed: int) -> dict[int, float]:
        """Mean squared error of one half of each document's words, told from the other half through the space."""
        halves = split_tokens(counts, (0.5, 0.5), seed=seed)
        idf = self._idf_of(halves[0])
        seen, unseen = (self._weighted(part, self.kept_, idf) for part in halves)
        space = truncated_svd(seen, max(sizes), seed=seed)
        factors = np.asarray(space.word_factors, np.float64)
        there, wanted = np.asarray(seen @ factors), np.asarray(unseen @ factors)
        total = float((unseen.data.astype(np.float64) ** 2).sum())
        gains = np.cumsum((2 * there * wanted - there**2).sum(axis=0))
        return {size: (total - float(gains[size - 1])) / counts.shape[0] for size in sizes if size <= len(gains)}

    def _idf_of(self, counts: Csr) -> Doubles | None:
        return inverse_document_frequency(counts) if self.weighting == "idf" else None

    def _weighted(self, counts: Csr, words: Bools, idf: Doubles | None) -> Csr:
        kept = counts.copy()
        kept.data = np.where(words[kept.indices], kept.data, 0.0).astype(kept.data.dtype)
        kept.eliminate_zeros()
        return unit_rows(kept if idf is None else tfidf(kept, idf))

    def _points(self, rows: Csr, factors: Doubles, *, unit: bool = True) -> Doubles:
        points = np.asarray(rows @ factors, np.float64)
        return self._brought(points) if unit else points

    def _brought(self, points: Doubles) -> Doubles:
        if not self.unit_length:
            return points
        length = np.linalg.norm(points, axis=1, keepdims=True)
        return points / np.where(length > 0, length, 1.0)

    def _counts(self, X: Matrix, *, reset: bool) -> Csr:
        counts = check_counts(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return counts

    def _check_options(self) -> None:
        if self.n_dimensions is not None:
            options.check_integer("n_dimensions", self.n_dimensions, 1, hint="16, or None to have it chosen")
        options.check_common(self)
        options.check_integer("max_dimensions", self.max_dimensions, 1, hint="64")
        options.check_number("min_count", self.min_count, 0, hint="40")
        options.check_one_of("weighting", self.weighting, ("counts", "idf"))
        options.check_one_of("unit_length", self.unit_length, (True, False))
        if self.n_dimensions == 1 and self.unit_length:
            raise UsageError(
                "one dimension of length one tells nothing: all points would be 1 or −1",
                hint="2 or more dimensions, or unit_length=False",
            )

    @property
    def _n_features_out(self) -> int:
        return self.n_dimensions_
