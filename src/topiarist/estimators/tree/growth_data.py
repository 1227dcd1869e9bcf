"""Counts prepared for growth: one block in memory, or block by block in files of a store.

Each block is split by its own seed, so that the result does not depend on the worker. The first block has the seed of
counts in memory, so a store of one block gives the same tree.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack
from threadpoolctl import threadpool_limits

from topiarist.arrays import Array, Csr, Dtype, Floats, Ints
from topiarist.counts.column_map import without_columns
from topiarist.counts.validation import count_tokens
from topiarist.counts.weighting import effective_length_weights, scale_rows, shorten_documents
from topiarist.errors import ResourceError
from topiarist.estimators.common import options
from topiarist.estimators.common.stored_counts import Counts, CountsFile, Documents, iterate_blocks, open_fit_counts
from topiarist.estimators.tree import preparation
from topiarist.estimators.tree.chosen_words import find_ignored_columns
from topiarist.estimators.tree.growth_sample import draw_sample, map_to_store, open_growth_store
from topiarist.estimators.tree.preparation import (
    SPACE_DIMENSIONS,
    TILE_COLUMNS,
    GrowthData,
    check_filled,
    compute_document_vectors,
    split_heldout,
)
from topiarist.execution.block_folder import BlockEntry, write_block
from topiarist.execution.blocks import BlockFile, BlockStore
from topiarist.execution.executors import BASE_BYTES, PARAMETER_COPIES, Executor, InProcess
from topiarist.models import cam
from topiarist.models.engine.compilation import prepare_kernels
from topiarist.models.engine.host import Engine
from topiarist.trees.growth.loop import Growth
from topiarist.trees.growth.stored_documents import MAX_DRAWN, StoredDocuments, draw_documents

TRAINING, HELDOUT, SAMPLE_COUNTS, WEIGHTED = "training", "heldout", "drawn", "weighed"  # folders
SPLIT_FOLDERS = (TRAINING, HELDOUT, SAMPLE_COUNTS)
BYTES_A_COUNT = 40  # of a drawn document, while its place in latent space is found
BYTES_A_SHARE = 32  # of a drawn document in a class, with what is made of it in a round


@dataclass(frozen=True)
class BlockOutput:
    """Files written for blocks: their word totals, and the entries of each folder; instances can be added."""

    words: Floats  # tokens to learn from, weighted
    word_totals: Floats  # all tokens
    entries: Mapping[str, tuple[BlockEntry, ...]]

    def __add__(self, other: BlockOutput) -> BlockOutput:
        entries = {name: entries_of_self + other.entries[name] for name, entries_of_self in self.entries.items()}
        return BlockOutput(self.words + other.words, self.word_totals + other.word_totals, entries)

    def tokens(self, name: str) -> float:
        return math.fsum(entry.tokens for entry in self.entries[name])


@dataclass(frozen=True)
class SplitBlock:
    """Function that splits a block into training tokens, held-out tokens and sampled documents."""

    folder: str
    length: float | None
    fraction: float
    seed: int
    dtype: str
    ignored: Ints

    def __call__(self, counts: Csr, local: tuple[int, Array]) -> tuple[BlockOutput, Floats]:
        """Return the output of the block, and the weight of each sampled document."""
        number, sample_rows = local
        counts = without_columns(counts, self.ignored)
        training, heldout = split_heldout(counts, self.fraction, compute_block_seed(self.seed, number))
        weights = effective_length_weights(counts, self.length)
        weighted_counts = scale_rows(training, weights)
        parts = {TRAINING: weighted_counts, HELDOUT: scale_rows(heldout, weights), SAMPLE_COUNTS: training[sample_rows]}
        entries = {
            name: (write_block(Path(self.folder, name), number, part, _choose_dtype(name, part, self.dtype), None),)
            for name, part in parts.items()
        }
        return BlockOutput(_word_totals(weighted_counts), _word_totals(counts), entries), weights[sample_rows]


@dataclass(frozen=True)
class WeighBlock:
    """Function that weighs all tokens of a block; can be sent to workers."""

    folder: str
    length: float | None
    dtype: str
    ignored: Ints

    def __call__(self, counts: Csr, number: int) -> tuple[BlockOutput, None]:
        rows = shorten_documents(without_columns(counts, self.ignored), self.length)
        entry = write_block(Path(self.folder, WEIGHTED), number, rows, np.dtype(self.dtype), None)
        return BlockOutput(_word_totals(rows), np.zeros(0), {WEIGHTED: (entry,)}), None


def compute_block_seed(seed: int, number: int) -> int:
    """Return the seed that splits the tokens of a block; the first block has the given seed."""
    return seed if not number else int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0])


def _choose_dtype(name: str, part: Csr, dtype: str) -> np.dtype[Any]:
    """Return the precision of a part; sampled documents keep the precision of the counts for the latent space."""
    return part.data.dtype if name == SAMPLE_COUNTS else np.dtype(dtype)


def _word_totals(counts: Csr) -> Floats:
    return np.asarray(counts.sum(axis=0), np.float64).ravel()


@contextmanager
def open_scratch_folder(store: BlockStore, executor: Executor | None, *names: str) -> Iterator[Path]:
    """Yield a temporary folder that all workers can read, with these subfolders."""
    with TemporaryDirectory(dir=_get_scratch(store, executor), prefix="scratch-", ignore_cleanup_errors=True) as folder:
        for name in names:
            Path(folder, name).mkdir()
        yield Path(folder)


def _get_scratch(store: BlockStore, executor: Executor | None) -> str:
    return str(getattr(executor, "scratch", None) or store.folder)


class PreparedGrowth(NamedTuple):
    """Data from which a tree grows, with the sample that they come from."""

    ground: GrowthData
    sample_rows: tuple[Array, ...]  # documents of each block of the whole store that it draws
    sampled: bool  # whether it is a part of all documents


@dataclass(frozen=True)
class FitData:
    """Counts that a tree is fitted to, and settings for preparing their blocks."""

    estimator: Any
    engine: Engine
    counts: Counts
    dtype: Dtype
    max_leaves: int  # leaves that there is room for
    rng: np.random.Generator
    seed: int
    ignored: Ints

    @contextmanager
    def prepare(
        self, length: float | None, vectors: Floats | None = None, *, sample_memory: bool = False
    ) -> Iterator[PreparedGrowth]:
        """Split and weigh the tokens of all documents, or of the sample that a tree grows from.

        ``vectors`` belong to documents in memory. ``sample_memory`` draws a sample from documents in memory, as from
        files.
        """
        fraction, store, executor = self.estimator.heldout_fraction, self.counts, self.estimator.executor
        if not isinstance(store, BlockStore):
            sample = draw_sample(store.shape[0], self.seed) if sample_memory else None
            if sample is not None:
                store, vectors = csr_array(store[sample]), None if vectors is None else vectors[sample]
            ground = preparation.prepare_growth(self.engine, store, length, fraction, self.dtype, self.seed, vectors)
            yield PreparedGrowth(ground, (), sample is not None)
            return
        with (
            open_scratch_folder(store, executor, *SPLIT_FOLDERS) as folder,
            open_growth_store(store, self.seed, folder) as (smaller, store_rows),
        ):
            split_block = SplitBlock(str(folder), length, fraction, self.seed, self.dtype.name, self.ignored)
            ground, documents = prepare_store(self.engine, smaller, split_block, executor)
            documents = replace(documents, scratch=_get_scratch(store, executor))
            sample_rows = documents.drawn_rows
            if store_rows is not None:
                sample_rows = map_to_store(store, store_rows, sample_rows, documents.sizes)
            yield PreparedGrowth(replace(ground, stored=documents), sample_rows, store_rows is not None)

    @contextmanager
    def weigh(
        self, length: float | None, sample_rows: tuple[Array, ...], vectors: Floats | None = None
    ) -> Iterator[WeightedTokens]:
        """Yield counts with shortened documents; in temporary files for counts on disk."""
        if not isinstance(self.counts, BlockStore):
            rows = shorten_documents(self.counts, length)
            block = cam.Block(self.engine.shard(rows, self.dtype, TILE_COLUMNS), None, vectors)
            yield WeightedTokens(block, _word_totals(rows))
            return
        with open_scratch_folder(self.counts, self.estimator.executor, WEIGHTED) as folder:
            weigh = WeighBlock(str(folder), length, self.dtype.name, self.ignored)
            yield weigh_store(self.engine, self.counts, weigh, sample_rows, self.estimator.executor)

    def document_lengths(self) -> Iterator[Floats]:
        return (count_tokens(without_columns(block, self.ignored)) for block in iterate_blocks(self.counts))


@contextmanager
def open_fit_data(estimator: Any, X: Documents, fits: Callable[[Csr], bool] = lambda counts: True) -> Iterator[FitData]:
    """Yield the counts that an estimator fits a tree to; a store that needs too much memory is an error before it is read.

    Counts in memory that ``fits`` rejects are written into a store.
    """
    with open_fit_counts(estimator, X, fits) as counts, options.open_engine(estimator) as engine:
        dtype, max_leaves = options.working_dtype(estimator.dtype, counts, TILE_COLUMNS), _get_max_leaves(estimator)
        if isinstance(counts, BlockStore):
            check_filled(estimator, counts.n_filled, len(counts))
            max_leaves = compute_max_leaves(estimator, counts, dtype)
        prepare_kernels(dtype, "paths", device=estimator.device)
        rng = options.make_generator(estimator.random_state)
        seed, ignored = int(rng.integers(2**31)), find_ignored_columns(estimator)
        with threadpool_limits(limits=1, user_api="blas"):
            yield FitData(estimator, engine, counts, dtype, max_leaves, rng, seed, ignored)


def prepare_store(
    engine: Engine, store: BlockStore, split_block: SplitBlock, executor: Executor | None
) -> tuple[GrowthData, StoredDocuments]:
    """Prepare a store for growth, see ``preparation.prepare_growth``; return the sample and all documents."""
    folder = Path(split_block.folder)
    sizes = [block.shape[0] for block in store.blocks()]
    sample_rows = draw_documents(sizes, split_block.seed, MAX_DRAWN)
    blocks = [CountsFile(block, block.dtype) for block in store.blocks()]
    output, files = (executor or InProcess()).total(split_block, blocks, list(enumerate(sample_rows)))
    totals = output.words + 1e-3 * (output.word_totals > 0)  # see ``preparation.prepared``
    counts: Csr = vstack(
        [block.counts() for block in _list_files(folder, output, SAMPLE_COUNTS, store, split_block.dtype)], format="csr"
    )
    vectors = compute_document_vectors(counts, split_block.seed)
    weighted_counts = scale_rows(counts, np.concatenate([file.load() for file in files]))
    del counts
    pairs = zip(
        *(_list_files(folder, output, name, store, split_block.dtype) for name in (TRAINING, HELDOUT)), strict=True
    )
    documents = StoredDocuments(
        tuple(cam.Block(*pair) for pair in pairs), tuple(sizes), sample_rows,  # handles of shards
        output.tokens(TRAINING), output.tokens(HELDOUT), split_block.dtype, _get_scratch(store, executor),
    )  # fmt: skip
    shard = engine.shard(weighted_counts, split_block.dtype, TILE_COLUMNS)
    return GrowthData(shard, None, None, weighted_counts, totals / totals.sum(), vectors, stored=documents), documents


@dataclass(frozen=True)
class WeightedTokens:
    """All tokens of a collection, weighted, from which the words of a grown tree are learned."""

    block: cam.Block  # of the drawn documents
    words: Floats  # tokens of each
    stored: StoredDocuments | None = None  # None in memory


def weigh_store(
    engine: Engine, store: BlockStore, weigh: WeighBlock, sample_rows: tuple[Array, ...], executor: Executor | None
) -> WeightedTokens:
    """Write the weighted tokens of all blocks; the sampled documents stay the same."""
    blocks = [CountsFile(block, block.dtype) for block in store.blocks()]
    output, _ = (executor or InProcess()).total(weigh, blocks, list(range(len(blocks))))
    files = _list_files(Path(weigh.folder), output, WEIGHTED, store, weigh.dtype)
    sample_counts: Csr = vstack(
        [file.counts()[rows] for file, rows in zip(files, sample_rows, strict=True)], format="csr"
    )
    documents = StoredDocuments(
        tuple(cam.Block(file) for file in files), tuple(file.shape[0] for file in files), sample_rows,  # type: ignore[arg-type]
        output.tokens(WEIGHTED), 0.0, weigh.dtype, _get_scratch(store, executor),
    )  # fmt: skip
    return WeightedTokens(cam.Block(engine.shard(sample_counts, weigh.dtype, TILE_COLUMNS)), output.words, documents)


def _list_files(folder: Path, output: BlockOutput, name: str, store: BlockStore, dtype: str) -> list[BlockFile]:
    return [
        BlockFile(str(folder / name), entry.name, (entry.documents, store.shape[1]), entry.nonzeros, dtype)
        for entry in output.entries[name]
    ]


def compute_max_leaves(estimator: Any, store: BlockStore, dtype: Dtype) -> int:
    """Return the maximum number of leaves that fit into the memory of the executor.

    A requested number of leaves that does not fit raises ResourceError.
    """
    memory, max_leaves = getattr(estimator.executor, "memory", None), int(_get_max_leaves(estimator))
    if memory is None:
        return max_leaves
    n_requested = getattr(estimator, estimator._number)
    if estimator.tree is not None:
        has_all_nodes = getattr(estimator, "class_nodes", "leaves") == "all"
        n_requested = len(estimator.tree) if has_all_nodes else len(estimator.tree.leaves)
    fits = max(max_leaves, n_requested or 1)
    while fits > 1 and estimate_growth_bytes(store, fits, dtype) > memory:
        fits = fits * 15 // 16
    if fits < (n_requested or 2):
        need = estimate_growth_bytes(store, n_requested or 2, dtype)
        raise ResourceError(
            f"a tree of {n_requested or 2:,} leaves takes {need / 1e6:,.1f} MB to fit to these "
            f"{len(store):,} documents with {store.shape[1]:,} words; memory={memory / 1e6:,.1f} MB",
            hint=f"Use at most {fits:,} leaves, smaller blocks, or more memory." if fits > 1 else "Allow more memory.",
        )
    return min(fits, max_leaves)


def _get_max_leaves(estimator: Any) -> int:
    return getattr(estimator, estimator._number.replace("n_", "max_"))  # type: ignore[no-any-return]


def warn_memory_limit(estimator: Any, growth: Growth, max_leaves: int) -> None:
    """Warn if the memory of the executor has limited the number of leaves."""
    if (
        growth.reason == "reached"
        and getattr(estimator, estimator._number) is None
        and max_leaves < _get_max_leaves(estimator)
    ):
        warnings.warn(
            f"growth ended at {growth.chosen:,} leaves, because memory={estimator.executor.memory / 1e6:,.0f} MB holds "
            f"no more than {max_leaves:,}: more memory may give more leaves.",
            UserWarning,
            stacklevel=4,
        )


def estimate_growth_bytes(store: BlockStore, n_leaves: int, dtype: Dtype) -> int:
    """Return the memory in bytes that growing needs beyond an idle process: one pass and the sampled documents."""
    size, n_nodes = dtype.itemsize, 2 * n_leaves - 1
    n_drawn = min(len(store), MAX_DRAWN)
    counts = store.nnz * n_drawn // max(1, len(store))
    copies = PARAMETER_COPIES + math.ceil(math.log2(max(1, len(store.manifest.blocks))))
    blocks = store.manifest.blocks
    block = max(14 * entry.nonzeros + 8 * store.shape[1] + 3 * entry.documents * n_leaves * size for entry in blocks)
    sample_bytes = BYTES_A_COUNT * counts + n_drawn * (16 * SPACE_DIMENSIONS + BYTES_A_SHARE * n_leaves)
    return BASE_BYTES + copies * n_nodes * store.shape[1] * size + block + sample_bytes
