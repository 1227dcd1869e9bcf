"""Counter of texts as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from topiarist.arrays import Csr
from topiarist.counts.counting import count, count_in
from topiarist.counts.settings import CountSettings, PhraseSettings


class TextCounter(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Transformer of texts to counts with parameters named as in ``CountVectorizer``.

    ``min_df`` and ``max_df`` are numbers of documents if they are integers, else shares. ``stop_words`` is a language
    or a list. Additional parameters: ``numbers`` (keep tokens without letters), ``stem`` (a language), ``phrases``
    (true, or the minimum normalised mutual information) and ``n_jobs`` (processes).
    """

    def __init__(
        self,
        *,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        stop_words: str | Iterable[str] | None = None,
        numbers: bool = False,
        stem: str | None = None,
        phrases: bool | float = False,
        n_jobs: int | None = 1,
    ) -> None:
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.stop_words = stop_words
        self.numbers = numbers
        self.stem = stem
        self.phrases = phrases
        self.n_jobs = n_jobs

    def fit(self, raw_documents: Iterable[str], y: object | None = None) -> TextCounter:
        """Learn the vocabulary of texts."""
        self.fit_transform(raw_documents, y)
        return self

    def fit_transform(self, raw_documents: Iterable[str], y: object | None = None) -> Csr:
        """Learn the vocabulary of texts and return their counts."""
        settings = self._settings()
        texts = raw_documents
        if _is_share(self.min_df) or not _is_share(self.max_df):
            texts = list(texts)
            settings = self._settings(len(texts))
        counts, self.vocabulary_ = count(texts, settings, n_jobs=self.n_jobs)
        self.settings_ = settings
        return counts

    def transform(self, raw_documents: Iterable[str]) -> Csr:
        """Return the counts of texts over the learned vocabulary."""
        check_is_fitted(self, "vocabulary_")
        return count_in(raw_documents, self.vocabulary_, self.settings_, n_jobs=self.n_jobs)

    def get_feature_names_out(self, input_features: object | None = None) -> np.ndarray[Any, Any]:
        """Return the words of the columns."""
        check_is_fitted(self, "vocabulary_")
        return np.array(self.vocabulary_.words, dtype=object)

    def _settings(self, n_docs: int = 1) -> CountSettings:
        """Return the parameters as counting settings; shares of documents become numbers."""
        min_documents = self.min_df * n_docs if _is_share(self.min_df) else self.min_df
        max_share = self.max_df if _is_share(self.max_df) else self.max_df / max(n_docs, self.max_df)
        threshold = PhraseSettings().threshold if self.phrases is True else self.phrases
        words = self.stop_words
        return CountSettings(
            min_documents=max(1, int(np.ceil(min_documents))),
            max_document_share=float(max_share),
            max_words=self.max_features,
            numbers=self.numbers,
            stop_words=words if words is None or isinstance(words, str) else tuple(words),
            stem=self.stem,
            phrases=None if self.phrases is False else PhraseSettings(threshold=threshold),
        )

    def __sklearn_tags__(self) -> Any:
        """Declare text as the input."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = True
        return tags


def _is_share(limit: float) -> bool:
    return isinstance(limit, float | np.floating)
