"""Scikit-learn's vectorizers in the place of our counter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from topiarist.counts.pruning import vocabulary_of
from topiarist.counts.validation import Csr, check_counts
from topiarist.counts.vocabulary import Vocabulary
from topiarist.errors import InputError, UsageError


def count_with(vectorizer: Any, texts: Iterable[str]) -> Csr:
    """Return the counts of texts by a scikit-learn vectorizer, which is fitted to them if it is not yet."""
    if not hasattr(vectorizer, "transform") or not hasattr(vectorizer, "get_feature_names_out"):
        raise UsageError(
            f"expected a fitted or unfitted text vectorizer, got {type(vectorizer).__name__}",
            hint="CountVectorizer or TfidfVectorizer of scikit-learn",
        )
    from sklearn.exceptions import NotFittedError

    kept = list(texts)
    try:
        vectorizer.get_feature_names_out()
    except NotFittedError:
        return check_counts(vectorizer.fit_transform(kept), name="counts")
    return check_counts(vectorizer.transform(kept), name="counts")


def vocabulary_with(vectorizer: Any, counts: Csr) -> Vocabulary:
    """Return the vocabulary of counts made by a scikit-learn vectorizer."""
    words = tuple(map(str, vectorizer.get_feature_names_out()))
    if len(words) != counts.shape[1]:
        raise InputError(f"expected {counts.shape[1]} words from the vectorizer, got {len(words)}")
    return vocabulary_of(counts, words)
