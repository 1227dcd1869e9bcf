"""Sample of documents from which a tree grows.

Splits, the number of leaves and the levels are as certain with a quarter of a million documents as with ten million,
and growing takes hundreds of passes. So a tree grows from a sample. Then all documents teach its words.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from topiarist.arrays import Array
from topiarist.execution.blocks import BlockStore
from topiarist.models import cam
from topiarist.models.engine import Shard
from topiarist.models.engine.host import Engine
from topiarist.trees.growth.growing_models import make_cam_params
from topiarist.trees.growth.loop import Growth
from topiarist.trees.growth.stored_documents import draw_documents

MAX_GROWTH_DOCUMENTS = 1 << 18  # documents
MIN_BLOCK_SIZE = 1 << 16  # documents of a block of them
LAST_STEPS = 10  # over all documents: they learn the words of a tree that a large sample has settled
SAMPLE = "sample"  # a folder


def draw_sample(n_docs: int, seed: int) -> Array | None:
    """Return the rows in memory that a tree grows from; None for all rows."""
    return draw_documents([n_docs], seed, MAX_GROWTH_DOCUMENTS)[0] if n_docs > MAX_GROWTH_DOCUMENTS else None


@contextmanager
def open_growth_store(store: BlockStore, seed: int, folder: Path) -> Iterator[tuple[BlockStore, Array | None]]:
    """Yield the store that a tree grows from and its rows in the full store; None if it is the full store.

    A sample is written to ``folder``, in blocks of at least ``MIN_BLOCK_SIZE`` documents, because every pass adds words
    × leaves numbers for each block.
    """
    sizes = [block.documents for block in store.manifest.blocks]
    if len(store) <= MAX_GROWTH_DOCUMENTS:
        yield store, None
        return
    sample_rows = draw_documents(sizes, seed, MAX_GROWTH_DOCUMENTS)
    pieces = (block.counts()[rows] for block, rows in zip(store.blocks(), sample_rows, strict=True))
    size = max(*sizes, MIN_BLOCK_SIZE)
    smaller = BlockStore.write(folder / SAMPLE, pieces, block_size=size, dtype=store.manifest.dtype)
    yield (
        smaller,
        np.concatenate([rows + start for rows, start in zip(sample_rows, _compute_starts(sizes), strict=True)]),
    )


def map_to_store(
    store: BlockStore, store_rows: Array, sample_rows: tuple[Array, ...], sizes: tuple[int, ...]
) -> tuple[Array, ...]:
    """Return the rows in the full store of documents drawn from the blocks of a sample."""
    all_rows = store_rows[
        np.concatenate([rows + start for rows, start in zip(sample_rows, _compute_starts(sizes), strict=True)])
    ]
    bounds = np.append(_compute_starts([block.documents for block in store.manifest.blocks]), len(store))
    cuts = np.searchsorted(all_rows, bounds)
    return tuple(all_rows[a:b] - start for (a, b), start in zip(pairwise(cuts.tolist()), bounds[:-1], strict=True))


def with_all_documents(growth: Growth, engine: Engine, shard: Shard) -> Growth:
    """Return the growth of a sample with the posteriors of all documents in its tree."""
    parts = growth.stage.parts
    posterior = cam.Cam(engine, parts.path_mask).fold_in(
        make_cam_params(parts), shard.rows, growth.stage.inverse_temperature
    )
    return replace(growth, stage=replace(growth.stage, parts=replace(parts, class_given_doc=posterior)))


def _compute_starts(sizes: list[int] | tuple[int, ...]) -> Array:
    return np.append(0, np.cumsum(sizes)[:-1]).astype(np.int64)
