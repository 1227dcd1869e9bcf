"""A collection that is files, prepared for growth: tokens parted and weighed block by block, into files beside it.

Each block is parted by a seed of its own, so that it does not matter who parts it, and when. The first block has the
seed that counts in memory have: a store of one block grows the tree of these.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import vstack
from threadpoolctl import threadpool_limits

from topiarist.arrays import Array, Csr, Dtype, Floats, Ints
from topiarist.counts.column_map import without_columns
from topiarist.counts.weighting import effective_length_weights, scale_rows, shortened
from topiarist.errors import ResourceError
from topiarist.estimators.common import options
from topiarist.estimators.common.stored_counts import CountsFile, Documents, as_store
from topiarist.estimators.tree.chosen_words import ignored_columns
from topiarist.estimators.tree.growth_sample import drawn_of_all, growing_store
from topiarist.estimators.tree.preparation import (
    DIMENSIONS,
    TILE_COLUMNS,
    Ground,
    check_filled,
    document_vectors,
    parted,
)
from topiarist.hierarchy.growth.loop import Growth
from topiarist.hierarchy.growth.stored_documents import MOST_DRAWN, StoredDocuments, drawn_documents
from topiarist.models import cam
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.scale.block_folder import BlockEntry, write_block
from topiarist.scale.blocks import BlockFile, BlockStore
from topiarist.scale.executors import COPIES, OWN, Executor, InProcess

TRAINING, HELDOUT, DRAWN, WEIGHED = "training", "heldout", "drawn", "weighed"  # folders
PARTED = (TRAINING, HELDOUT, DRAWN)
BYTES_A_COUNT = 40  # of a drawn document, while its place in latent space is found
BYTES_A_SHARE = 32  # of a drawn document in a class, with what is made of it in a round


@dataclass(frozen=True)
class Written:
    """What was written of blocks, in numbers that add up: their words, and by folder their entries in order."""

    words: Floats  # tokens to learn from, weighted
    everywhere: Floats  # all tokens
    entries: Mapping[str, tuple[BlockEntry, ...]]

    def __add__(self, other: Written) -> Written:
        entries = {name: own + other.entries[name] for name, own in self.entries.items()}
        return Written(self.words + other.words, self.everywhere + other.everywhere, entries)

    def tokens(self, name: str) -> float:
        """Of a folder."""
        return math.fsum(entry.tokens for entry in self.entries[name])


@dataclass(frozen=True)
class PartBlock:
    """Parts the tokens of a block, as a function that may travel: to learn from, held out, and the drawn documents."""

    folder: str
    length: float | None
    fraction: float
    seed: int
    dtype: str
    ignored: Ints

    def __call__(self, counts: Csr, own: tuple[int, Array]) -> tuple[Written, Floats]:
        """What was written; and for each drawn document how much its tokens weigh."""
        number, drawn = own
        counts = without_columns(counts, self.ignored)
        training, heldout = parted(counts, self.fraction, block_seed(self.seed, number))
        weights = effective_length_weights(counts, self.length)
        learned = scale_rows(training, weights)
        parts = {TRAINING: learned, HELDOUT: scale_rows(heldout, weights), DRAWN: training[drawn]}
        entries = {
            name: (write_block(Path(self.folder, name), number, part, _kept_type(name, part, self.dtype), None),)
            for name, part in parts.items()
        }
        return Written(_word_totals(learned), _word_totals(counts), entries), weights[drawn]


@dataclass(frozen=True)
class WeighBlock:
    """Weighs all tokens of a block, likewise."""

    folder: str
    length: float | None
    dtype: str
    ignored: Ints

    def __call__(self, counts: Csr, number: int) -> tuple[Written, None]:
        """What was written."""
        rows = shortened(without_columns(counts, self.ignored), self.length)
        entry = write_block(Path(self.folder, WEIGHED), number, rows, np.dtype(self.dtype), None)
        return Written(_word_totals(rows), np.zeros(0), {WEIGHED: (entry,)}), None


def block_seed(seed: int, number: int) -> int:
    """The seed that the tokens of a block are parted by; that of the first is the one given."""
    return seed if not number else int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0])


def _kept_type(name: str, part: Csr, dtype: str) -> np.dtype[Any]:
    """Drawn documents stay as they are: latent space is found in the precision of the counts."""
    return part.data.dtype if name == DRAWN else np.dtype(dtype)


def _word_totals(counts: Csr) -> Floats:
    return np.asarray(counts.sum(axis=0), np.float64).ravel()


@contextmanager
def scratch_folder(store: BlockStore, executor: Executor | None, *names: str) -> Iterator[Path]:
    """A folder that all who compute see, with these folders in it; gone at the end."""
    with TemporaryDirectory(dir=_scratch(store, executor), prefix="scratch-", ignore_cleanup_errors=True) as folder:
        for name in names:
            Path(folder, name).mkdir()
        yield Path(folder)


def _scratch(store: BlockStore, executor: Executor | None) -> str:
    """Where files lie that are needed on the way: all who compute see it."""
    return str(getattr(executor, "scratch", None) or store.folder)


class Prepared(NamedTuple):
    """What a tree grows from."""

    ground: Ground
    drawn: tuple[Array, ...]  # documents of each block of the whole store that it draws
    sampled: bool  # whether it is a part of all documents


@dataclass(frozen=True)
class Site:
    """A store where a tree is to grow, and what decides how its blocks are prepared."""

    estimator: Any
    engine: Engine
    store: BlockStore
    dtype: Dtype
    most: int  # leaves that there is room for
    rng: np.random.Generator
    seed: int
    ignored: Ints

    @contextmanager
    def prepared(self, length: float | None) -> Iterator[Prepared]:
        """Tokens parted and weighed, of all documents or of so many as a tree grows from."""
        store, executor = self.store, self.estimator.executor
        with (
            scratch_folder(store, executor, *PARTED) as folder,
            growing_store(store, self.seed, folder) as (smaller, chosen),
        ):
            fraction = self.estimator.heldout_fraction
            how = PartBlock(str(folder), length, fraction, self.seed, self.dtype.name, self.ignored)
            ground, everyone = prepared(self.engine, smaller, how, executor)
            everyone = replace(everyone, scratch=_scratch(store, executor))
            drawn = everyone.drawn
            if chosen is not None:
                drawn = drawn_of_all(store, chosen, drawn, everyone.sizes)
            yield Prepared(replace(ground, stored=everyone), drawn, chosen is not None)

    @contextmanager
    def weighed(self, length: float | None, drawn: tuple[Array, ...]) -> Iterator[Weighed]:
        """All tokens of all documents."""
        with scratch_folder(self.store, self.estimator.executor, WEIGHED) as folder:
            how = WeighBlock(str(folder), length, self.dtype.name, self.ignored)
            yield weighed(self.engine, self.store, how, drawn, self.estimator.executor)


@contextmanager
def site(estimator: Any, X: Documents) -> Iterator[Site]:
    """The place where an estimator fits a store; what has no room there is refused before anything is read."""
    with as_store(estimator, X) as store, options.running(estimator) as engine:
        name = estimator._number
        check_filled(estimator.tree, getattr(estimator, name), name, store.n_filled, len(store))
        dtype = options.precision(estimator.dtype, store.nnz, store.largest, TILE_COLUMNS)
        most = room_for_leaves(estimator, store, dtype)
        prepare_kernels(dtype, "paths", device=estimator.device)
        rng = options.generator(estimator.random_state)
        seed, ignored = int(rng.integers(2**31)), ignored_columns(estimator)
        with threadpool_limits(limits=1, user_api="blas"):
            yield Site(estimator, engine, store, dtype, most, rng, seed, ignored)


def prepared(
    engine: Engine, store: BlockStore, how: PartBlock, executor: Executor | None
) -> tuple[Ground, StoredDocuments]:
    """See ``preparation.prepared``; and all documents of the store."""
    folder = Path(how.folder)
    sizes = [block.shape[0] for block in store.blocks()]
    drawn = drawn_documents(sizes, how.seed, MOST_DRAWN)
    blocks = [CountsFile(block, block.dtype) for block in store.blocks()]
    written, files = (executor or InProcess()).total(how, blocks, list(enumerate(drawn)))
    totals = written.words + 1e-3 * (written.everywhere > 0)  # see ``preparation.prepared``
    counts: Csr = vstack([block.counts() for block in _files(folder, written, DRAWN, store, how.dtype)], format="csr")
    vectors = document_vectors(counts, how.seed)
    learned = scale_rows(counts, np.concatenate([file.load() for file in files]))
    del counts
    pairs = zip(*(_files(folder, written, name, store, how.dtype) for name in (TRAINING, HELDOUT)), strict=True)
    everyone = StoredDocuments(
        tuple(cam.Block(*pair) for pair in pairs), tuple(sizes), drawn,  # handles of shards
        written.tokens(TRAINING), written.tokens(HELDOUT), how.dtype, _scratch(store, executor),
    )  # fmt: skip
    shard = engine.shard(learned, how.dtype, TILE_COLUMNS)
    return Ground(shard, None, None, learned, totals / totals.sum(), vectors, stored=everyone), everyone


@dataclass(frozen=True)
class Weighed:
    """All tokens of a store, weighed: what the words of a grown tree are learned from."""

    block: cam.Block  # of the drawn documents
    words: Floats  # tokens of each
    stored: StoredDocuments


def weighed(
    engine: Engine, store: BlockStore, how: WeighBlock, drawn: tuple[Array, ...], executor: Executor | None
) -> Weighed:
    """Write them beside the store; the same documents are drawn as before."""
    blocks = [CountsFile(block, block.dtype) for block in store.blocks()]
    written, _ = (executor or InProcess()).total(how, blocks, list(range(len(blocks))))
    files = _files(Path(how.folder), written, WEIGHED, store, how.dtype)
    own: Csr = vstack([file.counts()[some] for file, some in zip(files, drawn, strict=True)], format="csr")
    everyone = StoredDocuments(
        tuple(cam.Block(file) for file in files), tuple(file.shape[0] for file in files), drawn,  # type: ignore[arg-type]
        written.tokens(WEIGHED), 0.0, how.dtype, _scratch(store, executor),
    )  # fmt: skip
    return Weighed(cam.Block(engine.shard(own, how.dtype, TILE_COLUMNS)), written.words, everyone)


def _files(folder: Path, written: Written, name: str, store: BlockStore, dtype: str) -> list[BlockFile]:
    """The blocks of a folder as handles."""
    return [
        BlockFile(str(folder / name), one.name, (one.documents, store.shape[1]), one.nonzeros, dtype)
        for one in written.entries[name]
    ]


def room_for_leaves(estimator: Any, store: BlockStore, dtype: Dtype) -> int:
    """Leaves of the largest tree that may grow: as many as allowed, or fewer where the executor has an allowance.

    A number of leaves that somebody has asked for is refused if there is no room for it.
    """
    memory, most = getattr(estimator.executor, "memory", None), int(_most(estimator))
    if memory is None:
        return most
    asked = getattr(estimator, estimator._number)
    if estimator.tree is not None:
        every = getattr(estimator, "class_nodes", "leaves") == "all"
        asked = len(estimator.tree) if every else len(estimator.tree.leaves)
    fits = max(most, asked or 1)
    while fits > 1 and growth_bytes(store, fits, dtype) > memory:
        fits = fits * 15 // 16
    if fits < (asked or 2):
        need = growth_bytes(store, asked or 2, dtype)
        raise ResourceError(
            f"a tree of {asked or 2:,} leaves takes {need / 1e6:,.1f} MB to fit to these "
            f"{len(store):,} documents with {store.shape[1]:,} words; memory={memory / 1e6:,.1f} MB",
            hint=f"at most {fits:,} leaves, smaller blocks, or more memory" if fits > 1 else "more memory",
        )
    return min(fits, most)


def _most(estimator: Any) -> int:
    return getattr(estimator, estimator._number.replace("n_", "max_"))  # type: ignore[no-any-return]


def say_where_memory_ended_it(estimator: Any, grown: Growth, most: int) -> None:
    """A warning where more leaves would have come, had there been room."""
    if grown.reason == "reached" and getattr(estimator, estimator._number) is None and most < _most(estimator):
        warnings.warn(
            f"growth ended at {grown.chosen:,} leaves, because memory={estimator.executor.memory / 1e6:,.0f} MB holds "
            f"no more than {most:,}: more memory may give more leaves.",
            UserWarning,
            stacklevel=4,
        )


def growth_bytes(store: BlockStore, n_leaves: int, dtype: Dtype) -> int:
    """Bytes that growing takes beyond an idle process: a pass, and the drawn documents."""
    size, n_nodes = dtype.itemsize, 2 * n_leaves - 1
    n_drawn = min(len(store), MOST_DRAWN)
    counts = store.nnz * n_drawn // max(1, len(store))
    copies = COPIES + math.ceil(math.log2(max(1, len(store.manifest.blocks))))
    blocks = store.manifest.blocks
    block = max(14 * one.nonzeros + 8 * store.shape[1] + 3 * one.documents * n_leaves * size for one in blocks)
    drawn = BYTES_A_COUNT * counts + n_drawn * (16 * DIMENSIONS + BYTES_A_SHARE * n_leaves)
    return OWN + copies * n_nodes * store.shape[1] * size + block + drawn
