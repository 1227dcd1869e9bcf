"""Co-occurrence of words in documents, which shows whether words belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topiarist.arrays import Array, Csr
from topiarist.models.engine import load_kernels


@dataclass(frozen=True, eq=False)
class Cooccurrence:
    """Documents of each word."""

    ends: Array
    docs: Array
    n_docs: int

    @classmethod
    def from_counts(cls, counts: Csr) -> Cooccurrence:
        """Create from counts, documents × words."""
        by_word = counts.tocsc()
        return cls(by_word.indptr.astype(np.int64), by_word.indices.astype(np.int32), counts.shape[0])

    def count_pairs(self, words: Sequence[int] | Array) -> Array:
        """Count the documents that contain both words of each pair; on the diagonal, each word."""
        columns = np.asarray(words, np.int64)
        counts = np.zeros((len(columns), len(columns)), np.int64)
        load_kernels().count_cooccurrences(self.ends, self.docs, columns, self.n_docs, counts)
        return counts
