"""Of very many documents so many as a tree grows from: the others change its words, not its shape.

We take the splits, the number of leaves and the levels of a tree to be as sure with a quarter of a million documents as
with ten million, and growing is hundreds of passes over them. So a sample grows, and all documents teach the words of
what has grown, and are placed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from topiarist.arrays import Array
from topiarist.hierarchy.growth.loop import Growth
from topiarist.hierarchy.growth.species import cam_params
from topiarist.hierarchy.growth.stored_documents import drawn_documents
from topiarist.models import cam
from topiarist.models.engine import Shard
from topiarist.models.engine.host import Engine
from topiarist.scale.blocks import BlockStore

MOST_GROWN = 1 << 18  # documents
SMALLEST_BLOCK = 1 << 16  # documents of a block of them
LAST_STEPS = 10  # over all documents: they learn the words of a tree that a large sample has settled
SAMPLE = "sample"  # a folder


def sampled(n_docs: int, seed: int) -> Array | None:
    """The documents in memory that a tree grows from; None: all of them."""
    return drawn_documents([n_docs], seed, MOST_GROWN)[0] if n_docs > MOST_GROWN else None


@contextmanager
def growing_store(store: BlockStore, seed: int, folder: Path) -> Iterator[tuple[BlockStore, Array | None]]:
    """The store that a tree grows from, and which documents of the whole one it has; None: it is the whole one.

    A smaller one lies in ``folder``, in blocks of the size that the whole one has, or ``SMALLEST_BLOCK``: each of the
    hundreds of passes adds words × leaves once for every block.
    """
    sizes = [block.documents for block in store.manifest.blocks]
    if len(store) <= MOST_GROWN:
        yield store, None
        return
    chosen = drawn_documents(sizes, seed, MOST_GROWN)
    pieces = (block.counts()[some] for block, some in zip(store.blocks(), chosen, strict=True))
    size = max(*sizes, SMALLEST_BLOCK)
    smaller = BlockStore.write(folder / SAMPLE, pieces, block_size=size, dtype=store.manifest.dtype)
    yield smaller, np.concatenate([some + start for some, start in zip(chosen, _starts(sizes), strict=True)])


def drawn_of_all(
    store: BlockStore, chosen: Array, drawn: tuple[Array, ...], sizes: tuple[int, ...]
) -> tuple[Array, ...]:
    """The places in the whole store of documents that were drawn from the blocks of a smaller one."""
    places = chosen[np.concatenate([some + start for some, start in zip(drawn, _starts(sizes), strict=True)])]
    bounds = np.append(_starts([block.documents for block in store.manifest.blocks]), len(store))
    cuts = np.searchsorted(places, bounds)
    return tuple(places[a:b] - start for (a, b), start in zip(pairwise(cuts.tolist()), bounds[:-1], strict=True))


def with_everybody(grown: Growth, engine: Engine, shard: Shard) -> Growth:
    """The growth of a sample with all documents in the places that its tree gives them."""
    parts = grown.stage.parts
    places = cam.Cam(engine, parts.path_mask).fold_in(cam_params(parts), shard.rows, grown.stage.inverse_temperature)
    return replace(grown, stage=replace(grown.stage, parts=replace(parts, class_given_doc=places)))


def _starts(sizes: list[int] | tuple[int, ...]) -> Array:
    return np.append(0, np.cumsum(sizes)[:-1]).astype(np.int64)
