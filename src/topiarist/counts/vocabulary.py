"""The words of a collection: one per column of the counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from operator import lt
from types import MappingProxyType
from typing import Any

import numpy as np

from topiarist.arrays import Array, Ints
from topiarist.errors import InputError


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words in sorted order, with how often they occur in the collection they were counted on.

    ``words`` are what people see. Where stemming merged several words into one column, ``forms`` lists all of
    them for that column, the most frequent first, and that one is the word shown. ``phrases`` are the pairs
    ("machine learning") that the counter joined; most of them are words of this vocabulary, some were pruned.
    """

    words: tuple[str, ...]
    document_frequency: Ints
    totals: Ints
    forms: tuple[tuple[str, ...], ...] = ()
    phrases: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        words = tuple(self.words)
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "forms", tuple(map(tuple, self.forms)))
        object.__setattr__(self, "phrases", tuple(self.phrases))
        for name in ("document_frequency", "totals"):
            values = np.array(getattr(self, name), dtype=np.int64)
            values.setflags(write=False)
            object.__setattr__(self, name, values)
            if values.shape != (len(words),):
                raise InputError(f"expected one {name} per word ({len(words)}), got shape {values.shape}")
        if self.forms and len(self.forms) != len(words):
            raise InputError(f"expected forms for each of {len(words)} words, got {len(self.forms)}")
        if not all(map(lt, words, words[1:])):
            first, second = next(pair for pair in pairwise(words) if pair[0] >= pair[1])
            what = f"{first!r} twice" if first == second else f"{first!r} before {second!r}"
            raise InputError(
                f"expected each word once and in sorted order, got {what}",
                hint="sort the words, and the columns of the counts with them",
            )

    @classmethod
    def of(cls, words: Sequence[str]) -> Vocabulary:
        """Return a vocabulary of sorted words whose frequencies are not known: all zero."""
        zeros = np.zeros(len(words), dtype=np.int64)
        return cls(tuple(words), zeros, zeros)

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __getitem__(self, column: int) -> str:
        return self.words[column]

    def __contains__(self, word: object) -> bool:
        return word in self.columns

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return (
            self.words == other.words
            and self.forms == other.forms
            and self.phrases == other.phrases
            and np.array_equal(self.document_frequency, other.document_frequency)
            and np.array_equal(self.totals, other.totals)
        )

    def __hash__(self) -> int:
        return hash((self.words, self.forms, self.phrases))

    @cached_property
    def columns(self) -> Mapping[str, int]:
        """Return the column of every word, and of every form of it."""
        found = {form: column for column, forms in enumerate(self.forms) for form in forms}
        found.update((word, column) for column, word in enumerate(self.words))
        return MappingProxyType(found)

    def column(self, word: str) -> int | None:
        """Return the column of a word or of one of its forms; None when it is unknown."""
        return self.columns.get(word)

    def select(self, keep: Array) -> Vocabulary:
        """Return the vocabulary of the columns for which ``keep`` (a mask) is true."""
        chosen = np.flatnonzero(keep).tolist()
        return Vocabulary(
            words=tuple(self.words[column] for column in chosen),
            document_frequency=self.document_frequency[keep],
            totals=self.totals[keep],
            forms=tuple(self.forms[column] for column in chosen) if self.forms else (),
            phrases=self.phrases,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave the look-up table behind; it is rebuilt where it is needed."""
        return {name: value for name, value in self.__dict__.items() if name != "columns"}
