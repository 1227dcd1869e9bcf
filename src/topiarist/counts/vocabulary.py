"""Vocabulary of a collection, with one word for each column of the counts."""

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
    """Sorted words with their frequencies in the collection.

    ``words`` are displayed. If stemming merged several words into one column, ``forms`` lists them for each column,
    the most frequent and displayed word first. ``phrases`` are the joined pairs of words ("machine learning"),
    including pruned phrases.
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
            fault = f"{first!r} twice" if first == second else f"{first!r} before {second!r}"
            raise InputError(
                f"expected each word once and in sorted order, got {fault}",
                hint="Sort the words, and the columns of the counts with them.",
            )

    @classmethod
    def of(cls, words: Sequence[str]) -> Vocabulary:
        """Return a vocabulary of sorted words with unknown frequencies, set to zero."""
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
        """Return the column of each word and each of its forms."""
        column_of = {form: column for column, forms in enumerate(self.forms) for form in forms}
        column_of.update((word, column) for column, word in enumerate(self.words))
        return MappingProxyType(column_of)

    def column(self, word: str) -> int | None:
        """Return the column of a word or of one of its forms; None for an unknown word."""
        return self.columns.get(word)

    def select(self, keep: Array) -> Vocabulary:
        """Return the vocabulary of the columns for which ``keep`` (a mask) is true."""
        columns = np.flatnonzero(keep).tolist()
        return Vocabulary(
            words=tuple(self.words[column] for column in columns),
            document_frequency=self.document_frequency[keep],
            totals=self.totals[keep],
            forms=tuple(self.forms[column] for column in columns) if self.forms else (),
            phrases=self.phrases,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the look-up table, which is rebuilt on demand."""
        return {name: value for name, value in self.__dict__.items() if name != "columns"}
