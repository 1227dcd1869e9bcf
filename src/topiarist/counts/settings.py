"""How texts become counts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from topiarist.errors import UsageError
from topiarist.text.tokens import Tokenizer

MIN_DOCUMENTS = 3  # that have a word which is counted
MIN_SHARE = 1e-5  # of very many documents: what fewer have tells their topics from others no more


@dataclass(frozen=True, slots=True)
class PhraseSettings:
    """Which pairs of adjacent words are joined to one: those that occur together often and not by chance.

    ``threshold`` is the least normalised pointwise mutual information (1: only ever together, 0: by chance).
    """

    threshold: float = 0.5
    min_count: int = 20

    def __post_init__(self) -> None:
        if not -1 <= self.threshold <= 1:
            raise UsageError(
                f"the phrase threshold must lie between -1 and 1, got {self.threshold}",
                hint="0.5 joins clear phrases",
            )
        if self.min_count < 1:
            raise UsageError(f"phrases need a min_count of at least 1, got {self.min_count}", hint="20")


@dataclass(frozen=True, slots=True)
class CountSettings:
    """How texts become counts; the defaults need no knowledge of the language.

    ``min_documents``: leave out words of fewer documents; ``min_document_share``: of a smaller share of them, too (0:
    none). ``max_document_share``: leave out words of a larger share of the documents (1: none). ``max_words``: keep at
    most so many, those in most documents. ``numbers``: keep tokens without letters. ``stop_words``: a language, or the
    words. ``stem``: a language. ``titles``: count the words of a document's title as well, unless its text begins with
    them. ``segmenter``: what knows the words of a script without spaces, "chinese", "japanese" or "thai"; pairs of
    letters otherwise.
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
            raise UsageError(f"min_documents must be at least 1, got {self.min_documents}", hint="1 keeps every word")
        if not 0 <= self.min_document_share < 1:
            raise UsageError(
                f"min_document_share must be at least 0 and below 1, got {self.min_document_share}",
                hint="0 leaves it to min_documents",
            )
        if not 0 < self.max_document_share <= 1:
            raise UsageError(
                f"max_document_share must be above 0 and at most 1, got {self.max_document_share}",
                hint="0.5 leaves out words of more than half of the documents",
            )
        if self.max_words is not None and self.max_words < 1:
            raise UsageError(f"max_words must be at least 1, got {self.max_words}", hint="None keeps every word")

    def fewest(self, n_docs: int) -> int:
        """Return how many of so many documents must have a word that is kept."""
        return max(self.min_documents, math.ceil(self.min_document_share * n_docs - 1e-9))

    @property
    def tokenizer(self) -> Tokenizer:
        """Return the tokeniser these settings ask for."""
        return Tokenizer(numbers=self.numbers, words=self.segmenter)
