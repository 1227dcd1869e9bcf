"""The counts that a shaped tree is fitted to: in memory, or of very many documents in blocks in files.

A fit in memory holds every count several times over, and a share of each document in each class. From blocks it holds
one of them at a time. Whether there are blocks, and which, depends on the number of documents alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from topiarist.arrays import Csr, Ints
from topiarist.collection.grow.block_growth import SCRATCH, SMALLEST_BLOCK
from topiarist.estimators.common.stored_counts import block_size
from topiarist.scale import BlockStore

MOST_AT_ONCE = 1 << 18  # documents


@contextmanager
def refit_counts(counts: Csr, rows: Ints | None, folder: Path) -> Iterator[Csr | BlockStore]:
    """The counts of these rows (None: of all); very many are in files in ``folder``, for as long as this lasts."""
    n_docs = counts.shape[0] if rows is None else len(rows)
    if n_docs <= MOST_AT_ONCE:
        yield counts if rows is None else counts[rows]
        return
    for left in folder.glob(f"{SCRATCH}*"):  # of a fit that died
        shutil.rmtree(left, ignore_errors=True)
    size = block_size(n_docs, SMALLEST_BLOCK)
    chosen = np.arange(n_docs) if rows is None else rows
    pieces = (counts[chosen[start : start + size]] for start in range(0, n_docs, size))
    with TemporaryDirectory(dir=folder, prefix=SCRATCH, ignore_cleanup_errors=True) as blocks:
        yield BlockStore.write(Path(blocks) / "counts", pieces, block_size=size, dtype=counts.data.dtype.name)
