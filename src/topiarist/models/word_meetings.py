"""In how many documents two words meet: what tells whether words belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Array, Csr
from topiarist.models.engine import load_search_kernels


@dataclass(frozen=True, eq=False)
class WordMeetings:
    """The documents of each word."""

    ends: Array
    docs: Array
    n_docs: int

    @classmethod
    def of(cls, counts: Csr) -> WordMeetings:
        """From counts, documents × words."""
        by_word = counts.tocsc()
        return cls(by_word.indptr.astype(np.int64), by_word.indices.astype(np.int32), counts.shape[0])

    def among(self, words: Sequence[int] | Array) -> Array:
        """How many documents have both, for all pairs of some words; on the diagonal, how many have each."""
        columns = np.asarray(words, np.int64)
        found = np.zeros((len(columns), len(columns)), np.int64)
        load_search_kernels().meetings(self.ends, self.docs, columns, self.n_docs, found)
        return found
