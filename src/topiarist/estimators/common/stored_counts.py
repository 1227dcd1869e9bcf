"""Counts in memory and counts in block stores: how estimators check, read and compute them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Array, Csr, Dtype, DTypeLike, Floats, Ints, Matrix
from topiarist.counts.column_map import without_columns
from topiarist.counts.validation import check_counts, count_tokens
from topiarist.counts.weighting import shorten_documents
from topiarist.errors import InputError, UsageError
from topiarist.estimators.common import options
from topiarist.execution.blocks import BlockFile, BlockStore
from topiarist.execution.executors import BASE_BYTES, Executor, InProcess
from topiarist.models.engine.host import Engine, weighted_total
from topiarist.storage.array_files import HEADER_BYTES, EmptyRows, RowFile, Scratch, find_handles, open_handles

MAX_MEMORY_BYTES = 64 << 20  # bytes: an array with a row for each document that is larger stays in a file
MAX_LIMITED_BYTES = BASE_BYTES // 4  # the same if memory is limited
N_BLOCKS = 32  # that counts in memory are cut into for a cluster, if there are enough documents
MAX_WORD_RATIO = 8  # a model that knows more words than this times those of the documents is narrowed to them
MIN_BLOCK_SIZE, MAX_BLOCK_SIZE = 1 << 12, 1 << 16
Counts: TypeAlias = "Csr | BlockStore"  # checked counts: one block in memory, or several in files
Documents: TypeAlias = "Matrix | BlockFile | BlockStore"  # counts, of documents × words
SAMPLE_HINT = "Use store.sample(20_000), or block.counts() of each block in store.blocks()."


class Fitted(options.RunsOnEngine, Protocol):
    """Fitted estimator that can read documents."""

    def _counts(self, X: Documents, *, reset: bool) -> Csr: ...

    def _reader(self, engine: Engine) -> CountsReader: ...


class CountsReader(Protocol):
    """Function from counts to P(component | document)."""

    @property
    def dtype(self) -> Dtype:
        """Precision of the rows."""

    @property
    def n_components(self) -> int:
        """Number of columns of the rows."""

    def __call__(self, counts: Csr, vectors: Floats | None = None) -> Floats:
        """Return a row for each document."""


class ReadsCounts:
    """Mixin that gives scikit-learn the tags of an estimator of counts."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        if tags.transformer_tags is not None:
            tags.transformer_tags.preserves_dtype = []
        if tags.classifier_tags is not None:
            tags.classifier_tags.poor_score = True  # as naive Bayes: two coordinates of a point are not counts
        return tags


@dataclass(frozen=True)
class Reader:
    """Function from counts to P(component | document) by folding in; can be sent to workers."""

    model: Any
    shared: Any
    inverse_temperature: float
    dtype: Dtype
    effective_length: float | None = None
    ignored: Ints | None = None  # columns that it must not see

    @property
    def n_components(self) -> int:
        return int(self.shared.n_components)

    def __call__(self, counts: Csr, vectors: Floats | None = None) -> Floats:
        if self.ignored is not None:
            counts = without_columns(counts, self.ignored)
        engine = self.model.engine
        counts, shared = _select_words(counts, self.shared)
        shared = engine.to_device(shared)
        if vectors is not None:
            side = engine.view_counts(shorten_documents(counts, self.effective_length), self.dtype)
            rows: Floats = self.model.fold_in(shared, side, self.inverse_temperature, vectors)
            return rows
        sides = engine.view_blocks(shorten_documents(counts, self.effective_length), self.dtype, shared.n_components)
        parts = [engine.to_host(self.model.fold_in(shared, side, self.inverse_temperature)) for side in sides]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def log_likelihood(self, counts: Csr, rows: Floats) -> float:
        """Return the log-likelihood of counts, with the rows of their documents."""
        engine, total, start = self.model.engine, 0.0, 0
        for side in engine.view_blocks(counts, self.dtype, self.shared.n_components):
            total += self.model.log_likelihood(self.shared, side, rows[start : start + side.n_rows])
            start += side.n_rows
        return total


def _select_words(counts: Csr, shared: Any) -> tuple[Csr, Any]:
    """Return counts and parameters reduced to the words of the documents, if these are few, as in a query.

    Only models that precompute values for all their words have ``select_words``.
    """
    if not hasattr(shared, "select_words") or not 0 < MAX_WORD_RATIO * counts.nnz <= counts.shape[1]:
        return counts, shared
    columns, places = np.unique(counts.indices, return_inverse=True)
    entries = counts.data, places.astype(counts.indices.dtype), counts.indptr
    return csr_array(entries, shape=(counts.shape[0], len(columns))), shared.select_words(columns)


@dataclass(frozen=True)
class CountsFile:
    """Block of counts in files, read by document in one precision."""

    block: BlockFile
    dtype: str

    @property
    def folder(self) -> str:
        return self.block.folder

    @property
    def nbytes(self) -> int:
        stored, dtype = np.dtype(self.block.dtype), np.dtype(self.dtype)
        sizes = (4, stored.itemsize, dtype.itemsize if dtype != stored else 0)
        return 4 * (self.block.shape[0] + 1) + self.block.nonzeros * sum(sizes) + 3 * HEADER_BYTES

    def load(self) -> Csr:
        return self.block.counts()

    def prefetch(self) -> None:
        self.block.prefetch(("indptr", "indices", "data"))


@dataclass(frozen=True)
class ReadBlock:
    """Reader as a function of one block."""

    reader: CountsReader

    def __call__(self, counts: Csr, vectors: Floats | None) -> tuple[Floats, Floats]:
        """Return the tokens of each component, without ignored words, and a row for each document."""
        rows = self.reader(counts) if vectors is None else self.reader(counts, vectors)
        ignored = getattr(self.reader, "ignored", None)
        visible_counts = counts if ignored is None else without_columns(counts, ignored)
        return weighted_total(count_tokens(visible_counts), rows), rows


def read(estimator: Fitted, X: Documents) -> ReadResult:
    """Return P(component | document) for counts in memory or a store, as ``transform`` does."""
    counts = check_input(estimator, X, reset=False)
    with options.open_engine(estimator) as engine:
        return read_counts(counts, estimator._reader(engine), estimator.executor)


@dataclass(frozen=True)
class ReadResult:
    """Rows of P(component | document) of all blocks, and the tokens of each component."""

    tokens: Floats
    parts: tuple[Floats | RowFile, ...]
    n_docs: int
    in_memory: int  # bytes: what is larger stays in a file

    def rows(self) -> Floats:
        first = open_handles(self.parts[0])
        pieces: Floats = self.collect((self.n_docs, first.shape[1]), first.dtype, map(open_handles, self.parts))
        return pieces

    def labels(self) -> Any:
        return self.collect((self.n_docs,), np.intp, (open_handles(part).argmax(axis=1) for part in self.parts))

    def collect(self, shape: tuple[int, ...], dtype: DTypeLike, pieces: Iterable[Array]) -> Any:
        """Return one array with the entries of all blocks, one entry per document."""
        first = self.parts[0]
        if not isinstance(first, RowFile):
            return next(iter(pieces))
        return make_array(shape, dtype, first.folder.parent, pieces, self.in_memory)


def read_counts(
    counts: Counts, reader: CountsReader, executor: Executor | None, vectors: Floats | None = None
) -> ReadResult:
    """Compute the rows of the model for counts in memory or on disk, block by block."""
    if not isinstance(counts, BlockStore):
        tokens, parts = InProcess().total(ReadBlock(reader), [counts], [vectors])
        return ReadResult(tokens, parts, counts.shape[0], MAX_MEMORY_BYTES)
    dtype, n_columns = np.dtype(reader.dtype).str, reader.n_components
    blocks = [CountsFile(block, dtype) for block in counts.blocks()]
    rows = [EmptyRows(file.block.shape[0], n_columns, dtype) for file in blocks]
    tokens, parts = (executor or InProcess()).total(ReadBlock(reader), blocks, rows)
    limited = getattr(executor, "memory", None) is not None
    return ReadResult(
        tokens, parts, len(counts), min(MAX_MEMORY_BYTES, MAX_LIMITED_BYTES) if limited else MAX_MEMORY_BYTES
    )


def make_array(shape: tuple[int, ...], dtype: DTypeLike, folder: Path, parts: Iterable[Array], in_memory: int) -> Any:
    """Join arrays into one; a file in ``folder`` if it exceeds ``in_memory`` bytes."""
    if np.prod(shape) * np.dtype(dtype).itemsize > in_memory:
        return Scratch(folder).array(shape, dtype, parts)
    array, place = np.empty(shape, dtype), 0
    for part in parts:
        array[place : place + len(part)] = part
        place += len(part)
    return array


def is_stored(X: Documents, executor: Executor | None) -> bool:
    """Return whether the counts are in files, or must be for this executor."""
    return isinstance(X, BlockStore) or needs_files(executor)


def needs_files(executor: Executor | None) -> bool:
    return bool(getattr(executor, "needs_files", False))


def choose_executor(
    engine: Engine, blocks: Sequence[object], executor: Executor | None
) -> tuple[Executor, Callable[[Any], Any]]:
    """Return the executor of the blocks, and the function that moves a state to its device.

    Blocks in files are computed on the host.
    """
    if any(find_handles(blocks[0])):
        return executor or InProcess(), lambda state: state
    return executor or engine.executor, engine.to_device


def check_counts_in_memory(estimator: object, X: Documents, purpose: str, *, reset: bool) -> Csr:
    """Return checked counts in memory; unless ``reset`` is true, their columns must be the columns of the fit."""
    refuse_store(X, purpose)
    counts = check_counts(cast("Matrix", X))
    _check_feature_number(estimator, X, reset=reset)
    return counts


def check_documents(estimator: object, X: Documents, *, reset: bool) -> Counts:
    counts = X if isinstance(X, BlockStore) else check_counts(cast("Matrix", X))
    _check_feature_number(estimator, X, reset=reset)
    return counts


def iterate_blocks(counts: Counts) -> Iterator[Csr]:
    """Yield the counts of each block; counts in memory are one block."""
    if isinstance(counts, BlockStore):
        yield from (block.counts() for block in counts.blocks())
    else:
        yield counts


def refuse_store(X: Documents, purpose: str, executor: Executor | None = None) -> None:
    """Raise UsageError for a store, or for an executor that needs one, if counts must be in memory."""
    if isinstance(X, BlockStore):
        raise UsageError(f"{purpose} needs counts in memory, and this is a BlockStore", hint=SAMPLE_HINT)
    if needs_files(executor):
        raise UsageError(
            f"{purpose} needs counts in memory, which {type(executor).__name__} does not compute on",
            hint="Leave executor out. A tree that was grown on a sample can transform a BlockStore.",
        )


def choose_block_size(n_docs: int, smallest: int = MIN_BLOCK_SIZE) -> int:
    """Return the number of documents in a block; it depends on the number of documents only."""
    return min(MAX_BLOCK_SIZE, max(smallest, -(-n_docs // N_BLOCKS)))


def check_input(estimator: Fitted, X: Documents, *, reset: bool) -> Counts:
    """Return checked counts in memory, or a store unchanged; without ``reset`` it has the columns of the fit."""
    if isinstance(X, BlockStore):
        _check_feature_number(estimator, X, reset=reset)
        return X
    return estimator._counts(X, reset=reset)


@contextmanager
def open_fit_counts(
    estimator: Fitted, X: Documents, fits: Callable[[Csr], bool] = lambda counts: True
) -> Iterator[Counts]:
    """Yield the counts of a fit: counts in memory as one block, or a store for the duration of the fit.

    Counts in memory are written to files if the executor needs files, or if ``fits`` rejects them. Their blocks depend
    on the counts only.
    """
    counts = check_input(estimator, X, reset=True)
    if isinstance(counts, BlockStore) or (not needs_files(estimator.executor) and fits(counts)):
        yield counts
        return
    size = choose_block_size(counts.shape[0])
    scratch = getattr(estimator.executor, "scratch", None)
    with tempfile.TemporaryDirectory(dir=scratch, prefix="topiarist-") as folder:
        yield BlockStore.write(Path(folder) / "counts", counts, block_size=size, dtype=counts.data.dtype.name)


def refuse_options(estimator: object, reason: str, **plain: object) -> None:
    """Raise UsageError for options that need all counts in memory."""
    options.check_required_values(
        estimator, f"counts that are files: {reason}", "counts in memory and no executor", **plain
    )


def check_filled(filled: int, n_docs: int, n_wanted: int, name: str, suffix: str = "") -> None:
    """Raise InputError if fewer documents have words than ``n_wanted``, the value of ``name``."""
    if filled < n_wanted:
        raise InputError(
            f"{name}={n_wanted} needs at least as many documents with words, got {filled}{suffix} (n_samples={n_docs})",
            hint=f"Use {name}={max(1, filled // 10)}, or add documents.",
        )


def _check_feature_number(estimator: Any, X: Any, *, reset: bool) -> None:
    """Record the number of columns on ``reset``; else compare it with the recorded one."""
    from sklearn.utils.validation import validate_data

    validate_data(estimator, X, reset=reset, skip_check_array=True)
