"""What a categoriser learns from when documents are files: all that have a label, and a sample of those that have none.

Labels are given by people, and are few; they and the words of their documents are one table. Documents without a label
only help, and a quarter of a million of them help as much as ten million.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topiarist.arrays import Csr
from topiarist.errors import ResourceError
from topiarist.estimators.category.given_labels import Labels
from topiarist.scale.blocks import BlockStore

MOST_UNLABELLED = 1 << 18  # documents
BYTES_A_COUNT = 40  # of a document in memory, with what training makes of it


def learned_from(store: BlockStore, labels: Labels, seed: int, memory: Any = None) -> tuple[Csr, Labels]:
    """These documents' counts in memory, and their labels; ``memory`` are the bytes that they may take."""
    has = np.zeros(len(store), bool)
    has[labels.rows[labels.of_row >= 0]] = True
    without = np.flatnonzero(~has)
    if len(without) > MOST_UNLABELLED:
        without = np.random.default_rng(seed).choice(without, MOST_UNLABELLED, replace=False)
    has[without] = True
    chosen = np.flatnonzero(has)
    need = BYTES_A_COUNT * store.nnz * len(chosen) // max(1, len(store))
    if memory is not None and need > memory:
        raise ResourceError(
            f"learning from {len(chosen):,} documents takes about {need / 1e6:,.1f} MB; memory={memory / 1e6:,.1f} MB",
            hint="fewer labels, a store of fewer documents, or more memory",
        )
    places = np.flatnonzero(has[labels.rows])
    kept = labels.only(places)
    return store.rows(chosen), Labels(kept.classes, np.searchsorted(chosen, kept.rows), kept.of_row)
