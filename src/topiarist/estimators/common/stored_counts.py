"""Collections that are files: which estimators fit them, how all of them read them, and what needs counts in memory."""

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
from topiarist.counts.validation import check_counts, token_counts
from topiarist.counts.weighting import shortened
from topiarist.errors import InputError, UsageError
from topiarist.estimators.common import options
from topiarist.models.engine.host import Engine, weighted_total
from topiarist.scale.blocks import BlockFile, BlockStore
from topiarist.scale.executors import OWN, Executor, InProcess
from topiarist.store.array_files import HEADER, NewRows, RowFile, Scratch, handles

IN_MEMORY = 64 << 20  # bytes: an array with a row for each document that is larger stays in a file
IN_ALLOWANCE = OWN // 4  # the same where memory is limited: three such arrays are no more than what is anybody's own
BLOCKS = 32  # that counts in memory are cut into for a cluster, if there are enough documents
FEW = 8  # times the words that documents have, at most, are the words that a model knows: it is narrowed to them
SMALLEST_BLOCK, LARGEST_BLOCK = 1 << 12, 1 << 16
Documents: TypeAlias = "Matrix | BlockFile | BlockStore"  # counts, of documents × words
SAMPLE = "store.sample(20_000), so many documents in memory; or block.counts() for each of store.blocks()"


class Fitted(options.Runs, Protocol):
    """What reading needs of an estimator."""

    def _counts(self, X: Documents, *, reset: bool) -> Csr: ...

    def _reader(self, engine: Engine) -> Reads: ...


class Reads(Protocol):
    """P(component | document) as a function of counts."""

    @property
    def dtype(self) -> Dtype:
        """The precision of the rows."""

    @property
    def n_components(self) -> int:
        """Columns of the rows."""

    def __call__(self, counts: Csr) -> Floats:
        """A row for each row of the counts."""


class ReadsCounts:
    """For an estimator of counts: what scikit-learn must know of them."""

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
    """P(component | document) by folding in, as a function that may travel."""

    model: Any
    shared: Any
    inverse_temperature: float
    dtype: Dtype
    effective_length: float | None = None
    ignored: Ints | None = None  # columns that it must not see

    @property
    def n_components(self) -> int:
        """Components that the parameters have."""
        return int(self.shared.n_components)

    def __call__(self, counts: Csr, vectors: Floats | None = None) -> Floats:
        """A row for each row of the counts, and of the vectors where there are any beside them."""
        if self.ignored is not None:
            counts = without_columns(counts, self.ignored)
        engine = self.model.engine
        counts, shared = _of_own_words(counts, self.shared)
        shared = engine.to_device(shared)
        if vectors is not None:
            side = engine.side(shortened(counts, self.effective_length), self.dtype)
            rows: Floats = self.model.fold_in(shared, side, self.inverse_temperature, vectors)
            return rows
        sides = engine.sides(shortened(counts, self.effective_length), self.dtype, shared.n_components)
        parts = [engine.to_host(self.model.fold_in(shared, side, self.inverse_temperature)) for side in sides]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def log_likelihood(self, counts: Csr, rows: Floats) -> float:
        """Of counts, whose rows are known."""
        engine, total, start = self.model.engine, 0.0, 0
        for side in engine.sides(counts, self.dtype, self.shared.n_components):
            total += self.model.log_likelihood(self.shared, side, rows[start : start + side.n_rows])
            start += side.n_rows
        return total


def _of_own_words(counts: Csr, shared: Any) -> tuple[Csr, Any]:
    """Counts and parameters of the words alone that the documents have, where these are few: a query has two.

    Of models that work out something for every word of theirs before they read; others read only what is there.
    """
    if not hasattr(shared, "of_words") or not 0 < FEW * counts.nnz <= counts.shape[1]:
        return counts, shared
    columns, places = np.unique(counts.indices, return_inverse=True)
    entries = counts.data, places.astype(counts.indices.dtype), counts.indptr
    return csr_array(entries, shape=(counts.shape[0], len(columns))), shared.of_words(columns)


@dataclass(frozen=True)
class CountsFile:
    """A block as a reader wants it: by document alone, to be read in some precision."""

    block: BlockFile
    dtype: str

    @property
    def folder(self) -> str:
        """That of the store."""
        return self.block.folder

    @property
    def nbytes(self) -> int:
        """Bytes in memory while it is open."""
        stored, wanted = np.dtype(self.block.dtype), np.dtype(self.dtype)
        sizes = (4, stored.itemsize, wanted.itemsize if wanted != stored else 0)
        return 4 * (self.block.shape[0] + 1) + self.block.nonzeros * sum(sizes) + 3 * HEADER

    def load(self) -> Csr:
        """The counts, memory-mapped."""
        return self.block.counts()

    def expect(self) -> None:
        """Ask the system to read the files ahead."""
        self.block.expect(("indptr", "indices", "data"))


@dataclass(frozen=True)
class ReadBlock:
    """A reader as a function of a block's counts."""

    reader: Reads

    def __call__(self, counts: Csr, _: object) -> tuple[Floats, Floats]:
        """The tokens of each component, of words that it may see, and what the reader says of each document."""
        rows, ignored = self.reader(counts), getattr(self.reader, "ignored", None)
        seen = counts if ignored is None else without_columns(counts, ignored)
        return weighted_total(token_counts(seen), rows), rows


def read(estimator: Fitted, X: Documents) -> Floats:
    """What ``transform`` returns, for counts in memory and for a store."""
    if isinstance(X, BlockStore):
        return _read(estimator, X).rows()
    counts = estimator._counts(X, reset=False)
    with options.running(estimator) as engine:
        return estimator._reader(engine)(counts)


def read_labels(estimator: Fitted, X: Documents) -> Any:
    """The place of the largest number in each row that ``read`` returns."""
    return _read(estimator, X).labels() if isinstance(X, BlockStore) else read(estimator, X).argmax(axis=1)


def _read(estimator: Fitted, store: BlockStore) -> Answers:
    _known_features(estimator, store, reset=False)
    with options.running(estimator) as engine:
        return read_store(store, estimator._reader(engine), estimator.executor)


@dataclass(frozen=True)
class Answers:
    """What a reader says of a store: the tokens of each component, and in files the rows of each block."""

    tokens: Floats
    parts: tuple[RowFile, ...]
    n_docs: int
    in_memory: int  # bytes: what is larger stays in a file

    def rows(self) -> Floats:
        """A row for each document."""
        first = self.parts[0].load()
        every: Floats = self.kept((self.n_docs, first.shape[1]), first.dtype, (part.load() for part in self.parts))
        return every

    def labels(self) -> Any:
        """The place of the largest number in each row."""
        return self.kept((self.n_docs,), np.intp, (part.load().argmax(axis=1) for part in self.parts))

    def kept(self, shape: tuple[int, ...], dtype: DTypeLike, parts: Iterable[Array]) -> Any:
        """An array of parts, with something for each document."""
        return room(shape, dtype, self.parts[0].folder.parent, parts, self.in_memory)


def read_store(store: BlockStore, reader: Reads, executor: Executor | None) -> Answers:
    """Have all blocks read."""
    dtype, n_columns = np.dtype(reader.dtype).str, reader.n_components
    blocks = [CountsFile(block, dtype) for block in store.blocks()]
    rows = [NewRows(block.shape[0], n_columns, dtype) for block in store.blocks()]
    tokens, parts = (executor or InProcess()).total(ReadBlock(reader), blocks, rows)
    limited = getattr(executor, "memory", None) is not None
    return Answers(tokens, parts, len(store), min(IN_MEMORY, IN_ALLOWANCE) if limited else IN_MEMORY)


def room(shape: tuple[int, ...], dtype: DTypeLike, folder: Path, parts: Iterable[Array], in_memory: int) -> Any:
    """An array of these parts: in memory if it is small, else in a file that goes when the array does."""
    if np.prod(shape) * np.dtype(dtype).itemsize > in_memory:
        return Scratch(folder).array(shape, dtype, parts)
    array, place = np.empty(shape, dtype), 0
    for part in parts:
        array[place : place + len(part)] = part
        place += len(part)
    return array


def is_stored(X: Documents, executor: Executor | None) -> bool:
    """True when the counts are files, or must be for this executor."""
    return isinstance(X, BlockStore) or bool(getattr(executor, "needs_files", False))


def seat(engine: Engine, blocks: Sequence[object], executor: Executor | None) -> tuple[Executor, Callable[[Any], Any]]:
    """Who computes the blocks, and what brings a start to its place. With blocks that are files that is the host."""
    if any(handles(blocks[0])):
        return executor or InProcess(), lambda state: state
    return executor or engine.executor, engine.to_device


def checked(estimator: object, X: Documents, what: str, *, reset: bool) -> Csr:
    """Counts in memory, checked; the estimator remembers their columns, or compares them with those of its fit."""
    in_memory(X, what)
    counts = check_counts(cast("Matrix", X))
    _known_features(estimator, X, reset=reset)
    return counts


def in_memory(X: Documents, what: str, executor: Executor | None = None) -> None:
    """Refuse a store, or an executor that needs one, where only counts in memory will do."""
    if isinstance(X, BlockStore):
        raise UsageError(f"{what} needs counts in memory, and this is a BlockStore", hint=SAMPLE)
    if getattr(executor, "needs_files", False):
        raise UsageError(
            f"{what} needs counts in memory, which {type(executor).__name__} does not compute on",
            hint="leave executor out; a tree that was grown on a sample reads a BlockStore by transform",
        )


def block_size(n_docs: int, smallest: int = SMALLEST_BLOCK) -> int:
    """Documents in a block, of so many: it depends on nothing else, and neither do the bits of a fit."""
    return min(LARGEST_BLOCK, max(smallest, -(-n_docs // BLOCKS)))


@contextmanager
def as_store(estimator: Fitted, X: Documents) -> Iterator[BlockStore]:
    """The store given, or one of counts in memory for as long as this lasts. Its blocks depend on the counts alone."""
    if isinstance(X, BlockStore):
        _known_features(estimator, X, reset=True)
        yield X
        return
    counts = estimator._counts(X, reset=True)
    size = block_size(counts.shape[0])
    scratch = getattr(estimator.executor, "scratch", None)
    with tempfile.TemporaryDirectory(dir=scratch, prefix="topiarist-") as folder:
        yield BlockStore.write(Path(folder) / "counts", counts, block_size=size, dtype=counts.data.dtype.name)


def refuse(estimator: object, why: str, **plain: object) -> None:
    """Refuse options that need all counts in memory."""
    options.check_plain(estimator, f"counts that are files: {why}", "counts in memory and no executor", **plain)


def check_filled(store: BlockStore, wanted: int, what: str) -> None:
    """Enough documents with words."""
    if store.n_filled < wanted:
        raise InputError(
            f"{what} needs at least as many documents with words; {store.n_filled} came (n_samples={len(store)})",
            hint=f"at most {max(1, store.n_filled // 10)}, or more documents",
        )


def _known_features(estimator: Any, X: Any, *, reset: bool) -> None:
    """Let scikit-learn note, or compare, how many columns there are. It is loaded by who fits, not by who looks."""
    from sklearn.utils.validation import validate_data

    validate_data(estimator, X, reset=reset, skip_check_array=True)
