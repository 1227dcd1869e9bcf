"""Settings of the conversion of texts to counts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from topiarist.errors import UsageError
from topiarist.text.tokens import Tokenizer

MIN_DOCUMENTS = 3  # with a counted word
MIN_SHARE = 1e-5  # of the documents: rarer words do not help to separate topics


@dataclass(frozen=True, slots=True)
class PhraseSettings:
    """Thresholds for pairs of adjacent words that are joined to phrases.

    ``threshold`` is the minimum normalised pointwise mutual information (1: always together, 0: by chance).
    ``min_count`` is the minimum number of occurrences of the pair.
    """

    threshold: float = 0.5
    min_count: int = 20

    def __post_init__(self) -> None:
        if not -1 <= self.threshold <= 1:
            raise UsageError(
                f"expected a phrase threshold between -1 and 1, got {self.threshold}",
                hint="Use 0.5 to join clear phrases.",
            )
        if self.min_count < 1:
            raise UsageError(f"expected a min_count of at least 1, got {self.min_count}", hint="Use 20.")


@dataclass(frozen=True, slots=True)
class CountSettings:
    """Settings of the conversion of texts to counts, with defaults for any language.

    ``min_documents`` and ``min_document_share`` are the minimum number and share of documents with a word (share 0:
    no limit), and ``max_document_share`` is the maximum share (1: no limit). ``max_words`` keeps the words in most
    documents. ``numbers`` keeps tokens without letters. ``stop_words`` is a language or the words. ``stem`` is a
    language. ``titles`` counts the words of titles, unless the text begins with the title. ``segmenter`` segments a
    script without spaces: "chinese", "japanese" or "thai". The default counts pairs of letters.
    """

    min_documents: int = MIN_DOCUMENTS
    max_document_share: float = 1.0
    max_words: int | None = None
    numbers: bool = False
    stop_words: str | tuple[str, ...] | None = None
    stem: str | None = None
    phrases: PhraseSettings | None = None
    titles: bool = True
    segmenter: str = ""
    min_document_share: float = 0.0

    def __post_init__(self) -> None:
        if self.stop_words is not None and not isinstance(self.stop_words, str):
            object.__setattr__(self, "stop_words", tuple(sorted(self.stop_words)))
        if self.min_documents < 1:
            raise UsageError(
                f"min_documents must be at least 1, got {self.min_documents}", hint="Use 1 to keep every word."
            )
        if not 0 <= self.min_document_share < 1:
            raise UsageError(
                f"min_document_share must be at least 0 and below 1, got {self.min_document_share}",
                hint="Use 0 to apply min_documents only.",
            )
        if not 0 < self.max_document_share <= 1:
            raise UsageError(
                f"max_document_share must be above 0 and at most 1, got {self.max_document_share}",
                hint="Use 0.5 to leave out words of more than half of the documents.",
            )
        if self.max_words is not None and self.max_words < 1:
            raise UsageError(f"max_words must be at least 1, got {self.max_words}", hint="Use None to keep every word.")

    def min_document_count(self, n_docs: int) -> int:
        """Return the minimum number of documents of a kept word, for ``n_docs`` documents."""
        return max(self.min_documents, math.ceil(self.min_document_share * n_docs - 1e-9))

    @property
    def tokenizer(self) -> Tokenizer:
        """Return the tokeniser of these settings."""
        return Tokenizer(numbers=self.numbers, words=self.segmenter)
