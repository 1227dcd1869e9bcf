"""Host engine: the array operations of all models, computed by kernels on slices of rows in threads.

All functions give the same bits for any number of threads. A slice owns its rows, and sums across slices (a
log-likelihood, the sum of a column) are added in the order of the slices.

Models access large arrays only through these methods. ``engine.cuda`` has the same methods for arrays on a device.
Small arrays (weights of paths, priors of classes) are NumPy arrays in both cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import TINY, Bools, Csr, DTypeLike, Floats, Ints
from topiarist.execution.executors import Executor, InProcess
from topiarist.execution.threads import Threads
from topiarist.kernels import SMALLEST_MIXTURE, Folding, Kernels, Paths, SparseRows
from topiarist.kernels.shard import CountsView, Shard, allocate_aligned, make_uniform_rows
from topiarist.models.halves import split_in_two_means

SLICE_NUMBERS = 1 << 17  # words times classes of a slice: enough slices for all threads, each worth its call
MAX_DENSE_CLASSES = 64  # for fewer classes sparse rows would save little


@dataclass(frozen=True)
class Engine:
    """Kernels of one backend and the threads that run them."""

    kernels: Kernels
    threads: Threads

    @property
    def executor(self) -> Executor:
        """Executor used if the caller passes none."""
        return InProcess()

    def view_counts(self, counts: Csr, dtype: DTypeLike) -> CountsView:
        """Return the counts by document in the layout of this engine."""
        return CountsView.from_matrix(counts, dtype)

    def view_blocks(self, counts: Csr, dtype: DTypeLike, n_components: int) -> Iterator[CountsView]:
        """Yield the counts in as many blocks of documents as the engine needs: one on the host."""
        yield self.view_counts(counts, dtype)

    def shard(self, counts: Csr, dtype: DTypeLike, n_components: int) -> Shard:
        """Return the counts by document and by word, in tiles for ``n_components`` components."""
        return Shard.from_matrix(counts, dtype, n_components)

    def make_shards(self, counts: Csr, dtype: DTypeLike, n_components: int) -> list[Shard]:
        """Return shards of as many blocks of documents as the engine needs: one on the host."""
        return [self.shard(counts, dtype, n_components)]

    def fits_device(self, counts: Csr, dtype: DTypeLike, n_classes: int) -> bool:
        """Return whether the engine can hold the counts while a tree of ``n_classes`` grows; always true here."""
        return True

    def to_device(self, value: Any) -> Any:
        """Move parameters to where this engine computes: arrays, or values with arrays (see ``em.State``)."""
        return value

    def to_host(self, value: Any) -> Any:
        """Convert parameters to NumPy arrays."""
        return value

    def to_device_of(self, array: Floats, value: Floats) -> Floats:
        """Move a NumPy array to where the other array is."""
        return value

    def uniform_rows(self, n_rows: int, n_components: int, dtype: DTypeLike) -> Floats:
        """Return uniform mixing proportions."""
        return make_uniform_rows(n_rows, n_components, dtype)

    def expected_counts(self, shard: Shard, documents: Floats, words: Floats) -> tuple[Floats, Floats, float]:
        """Return the expected counts by document and by word of one E-step, and the log-likelihood."""
        doc_count, log_likelihood = self.document_counts(shard, documents, words)
        return doc_count, self.word_counts(shard, words, documents), log_likelihood

    def document_counts(self, shard: Shard, documents: Floats, words: Floats) -> tuple[Floats, float]:
        """Return the expected counts by document, and the log-likelihood Σ n log mixture."""
        side, out = shard.rows, allocate_aligned(documents.shape, documents.dtype)

        def compute_slice(rows: slice) -> float:
            """Write expected counts of some documents into ``out``; return their log-likelihood."""
            indptr = side.indptr[rows.start : rows.stop + 1]
            mixture = self.threads.scratch(int(indptr[-1] - indptr[0]), documents.dtype)
            self.kernels.document_counts(indptr, side.indices, side.data, documents[rows], words, out[rows], mixture)
            np.log(mixture, out=mixture)
            return float(self.kernels.weighted_sum(side.data[indptr[0] : indptr[-1]], mixture))

        return out, sum(self.threads.map(compute_slice, side.slices))

    def word_counts(self, shard: Shard, words: Floats, documents: Floats) -> Floats:
        """Return the expected counts by word, in a sweep over the words."""
        tiles, out = shard.words, allocate_aligned(words.shape, words.dtype)
        self.threads.map(
            lambda rows: self.kernels.word_counts(*tiles.part(rows), words[rows], documents, out[rows]),
            tiles.slices(4 * self.threads.n_threads),
        )
        return out

    def log_likelihood(self, side: CountsView, row_factor: Floats, column_factor: Floats) -> float:
        """Return Σ n log mixture, for a third of the work of a sweep; mixtures count as at least 1e-30."""

        def compute_slice(rows: slice) -> float:
            """Return the log-likelihood of the words of some documents."""
            indptr = side.indptr[rows.start : rows.stop + 1]
            mixture = self.threads.scratch(int(indptr[-1] - indptr[0]), row_factor.dtype)
            self.kernels.mixtures(indptr, side.indices, row_factor[rows], column_factor, mixture)
            np.log(np.maximum(mixture, SMALLEST_MIXTURE, out=mixture), out=mixture)
            return float(self.kernels.weighted_sum(side.data[indptr[0] : indptr[-1]], mixture))

        return sum(self.threads.map(compute_slice, side.slices))

    def log_likelihoods(self, side: CountsView, row_factor: Floats, column_factor: Floats) -> Floats:
        """Return the log-likelihood of each row in double precision, as a NumPy array."""
        out = np.zeros(side.n_rows)

        def compute_slice(rows: slice) -> None:
            indptr = side.indptr[rows.start : rows.stop + 1]
            mixture = np.empty(int(indptr[-1] - indptr[0]), row_factor.dtype)
            self.kernels.mixtures(indptr, side.indices, row_factor[rows], column_factor, mixture)
            out[rows] = sum_logs_by_row(indptr, side.data[indptr[0] : indptr[-1]], mixture)

        self.threads.map(compute_slice, side.slices)
        return out

    def fold_in(self, side: CountsView, row_factor: Floats, column_factor: Floats, folding: Folding) -> Floats:
        """Return the rows of ``row_factor`` at their optimum for a fixed ``column_factor``."""
        out = allocate_aligned(row_factor.shape, row_factor.dtype)
        out[:] = row_factor

        self.threads.map(
            lambda rows: self.kernels.fold_in(*side.part(rows), out[rows], column_factor, folding), side.slices
        )
        return out

    def row_products(self, side: CountsView, other: Floats, dtype: DTypeLike | None = None) -> Floats:
        """Return Σ_j n(i,j) other[j] for each row i, added in double precision.

        The result has the type ``dtype``, or that of ``other``.
        """
        out = allocate_aligned((side.n_rows, other.shape[1]), dtype or other.dtype)

        self.threads.map(lambda rows: self.kernels.row_products(*side.part(rows), other, out[rows]), side.slices)
        return out

    def word_products(self, shard: Shard, other: Floats, dtype: DTypeLike | None = None) -> Floats:
        """Return Σ_i n(i,j) other[i] for each word j, like ``row_products``."""
        out = allocate_aligned((shard.shape[1], other.shape[1]), dtype or other.dtype)
        return self._by_word(self.kernels.word_products, shard, other, out)

    def class_words(self, posterior: Floats, *shards: Shard) -> Iterator[Floats]:
        """Yield Σ_d n(d,w) P(c|d) for each word w and class c, of one shard after another.

        A document of a large tree belongs to one or two of hundreds of classes: see ``_keep_classes``.
        """
        if posterior.shape[1] <= MAX_DENSE_CLASSES:
            yield from (self.word_products(shard, posterior) for shard in shards)
            return
        sparse_rows = self._keep_classes(posterior)
        for shard in shards:
            out = allocate_aligned((shard.shape[1], posterior.shape[1]), posterior.dtype)
            yield self._by_word(self.kernels.sparse_word_products, shard, sparse_rows, out)

    def _keep_classes(self, posterior: Floats) -> SparseRows:
        """Return the non-negligible classes of each document as sparse rows.

        The omitted shares of a document are together below the rounding error of the sums.
        """
        n_docs, n_classes = posterior.shape
        min_share, slices = compute_min_share(posterior), slice_rows(posterior)
        sizes = np.empty(n_docs, np.int64)
        self.threads.map(lambda rows: self.kernels.count_kept_classes(posterior[rows], min_share, sizes[rows]), slices)
        ends = np.append(0, np.cumsum(sizes))
        numbers = np.empty(ends[-1], np.uint16 if n_classes <= 1 << 16 else np.uint32)
        sparse_rows = SparseRows(ends, numbers, np.empty(ends[-1], posterior.dtype))

        def compute_slice(rows: slice) -> None:
            self.kernels.keep_classes(
                posterior[rows], min_share, sparse_rows._replace(ends=ends[rows.start : rows.stop + 1])
            )

        self.threads.map(compute_slice, slices)
        return sparse_rows

    def _by_word(self, multiply: Callable[..., None], shard: Shard, other: Floats | SparseRows, out: Floats) -> Floats:
        """Multiply the words of a shard with ``other`` into ``out``, in slices; return ``out``."""
        tiles, slices = shard.words, shard.words.slices(4 * self.threads.n_threads)
        self.threads.map(lambda rows: multiply(*tiles.part(rows), other, out[rows]), slices)
        return out

    def group_words(self, shard: Shard, groups: Sequence[Ints], collection: Floats, prior_tokens: float) -> Floats:
        """Return P(w) of each group of documents, smoothed by ``prior_tokens`` tokens of the collection's P(w)."""
        words = [sum_documents(shard.rows, group, len(collection)) + prior_tokens * collection for group in groups]
        return np.stack([(counts / counts.sum()).astype(shard.rows.data.dtype) for counts in words])

    def class_tables(self, shard: Shard, class_given_doc: Floats) -> tuple[Floats, Floats]:
        """Return the expected tokens of each word in each class, and the expected documents with that word."""
        rows, shape = shard.rows, shard.shape
        tokens = csr_array((rows.data, rows.indices, rows.indptr), shape=shape)
        presence = csr_array((np.sign(rows.data), rows.indices, rows.indptr), shape=shape)
        shares: Any = np.ascontiguousarray(class_given_doc)
        is_sparse = shares.shape[1] > MAX_DENSE_CLASSES
        if is_sparse:  # only those that hold something of a document, see ``class_words``
            shares = csr_array(np.where(shares >= compute_min_share(shares), shares, 0))
        sums = [csr_array(table.T) @ shares for table in (tokens, presence)]
        counts, having = (np.ascontiguousarray((table.toarray() if is_sparse else table).T) for table in sums)
        return counts, having

    def split_in_two(
        self, points: Floats, groups: Sequence[Ints], seeds: Sequence[int], min_size: float
    ) -> list[tuple[float, Any]]:
        """Return ``split_in_two_means`` of each group of points: the gain, and the points on the first side."""
        return self.threads.map(
            lambda n: split_in_two_means(points[groups[n]], seeds[n], min_size), list(range(len(groups)))
        )

    def leading_factors(self, matrix: Csr, number: int, seed: int) -> tuple[Floats, Floats, Floats] | None:
        """Return U, S, Vᵀ of a large matrix if the engine is faster than ``counts.lsi``; None here."""
        return None

    def sum_along_paths(self, node_words: Floats, paths: Paths) -> Floats:
        """Return (words, classes): the sum over the nodes on each path. ``node_words`` is (nodes, words)."""
        out = allocate_aligned((node_words.shape[1], len(paths.ends) - 1), node_words.dtype)
        slices = slice_rows(out, SLICE_NUMBERS)
        self.threads.map(lambda rows: self.kernels.sum_along_paths(node_words, paths, rows.start, out[rows]), slices)
        return out

    def distribute_along_paths(
        self, node_words: Floats, words: Floats, counts: Floats, paths: Paths
    ) -> tuple[Floats, Floats]:
        """Distribute the words of each class to the nodes on its path; return (nodes, words) and (classes, nodes).

        ``counts`` and ``words``, the result of ``sum_along_paths``, are (words, classes).
        """
        out = allocate_aligned(node_words.shape, node_words.dtype)
        return out, self._path_counts(node_words, words, counts, paths, out)

    def path_counts(self, node_words: Floats, words: Floats, counts: Floats, paths: Paths) -> Floats:
        """Return the second result of ``distribute_along_paths``: the counts of each class at each node."""
        return self._path_counts(node_words, words, counts, paths, np.empty((0, node_words.shape[1]), node_words.dtype))

    def _path_counts(self, node_words: Floats, words: Floats, counts: Floats, paths: Paths, out: Floats) -> Floats:
        """Distribute class counts along paths into ``out``; return sums by class and node."""

        def compute_slice(rows: slice) -> Floats:
            sums = np.empty(len(paths.classes))
            self.kernels.distribute_along_paths(node_words, words[rows], counts[rows], paths, rows.start, out, sums)
            return sums

        total = np.zeros((counts.shape[1], len(node_words)))
        nodes = np.repeat(np.arange(len(node_words)), np.diff(paths.node_ends))
        total[paths.classes, nodes] = np.sum(self.threads.map(compute_slice, slice_rows(counts, SLICE_NUMBERS)), axis=0)
        return total

    def power(self, array: Floats, exponent: float) -> Floats:
        """Return ``array ** exponent``; the array itself if the exponent is one."""
        if exponent == 1.0:
            return array
        out = allocate_aligned(array.shape, array.dtype)
        self.threads.map(lambda rows: self.kernels.power(array[rows], exponent, out[rows]), slice_rows(array))
        return out

    def logarithms(self, array: Floats) -> Floats:
        """Return the logarithm of each entry; smaller ones count as ``SMALLEST_MIXTURE``."""
        out = allocate_aligned(array.shape, array.dtype)
        self.threads.map(lambda rows: self.kernels.logarithms(array[rows], out[rows]), slice_rows(array))
        return out

    def posteriors(self, scores: Floats, prior: Floats, inverse_temperature: float) -> tuple[Floats, float]:
        """Convert tempered log-probabilities plus the log-prior to probabilities in place.

        Returns the probabilities and the sum of the logarithms of the row totals.
        """

        def compute_slice(rows: slice) -> float:
            return float(self.kernels.posteriors(scores[rows], prior, inverse_temperature))

        return scores, sum(self.threads.map(compute_slice, slice_rows(scores)))

    def normalise_rows(self, counts: Floats, smoothing: float) -> Floats:
        """Add the smoothing and scale each row to sum one, in place; an empty row becomes uniform."""
        self.threads.map(lambda rows: self.kernels.normalise_rows(counts[rows], smoothing), slice_rows(counts))
        return counts

    def normalise_columns(self, counts: Floats, smoothing: float) -> Floats:
        """Add the smoothing and scale each column to sum one, in place; an empty column becomes uniform."""

        def sums(rows: slice) -> Floats:
            total = np.empty(counts.shape[1])
            self.kernels.column_sums(counts[rows], total)
            return total

        slices = slice_rows(counts)
        total = np.sum(self.threads.map(sums, slices), axis=0) + smoothing * len(counts)
        empty = total <= SMALLEST_MIXTURE
        scale = (1.0 / np.where(empty, 1.0, total)).astype(counts.dtype)
        self.threads.map(lambda rows: self.kernels.scale_columns(counts[rows], smoothing, scale), slices)
        if empty.any():
            counts[:, empty] = 1.0 / len(counts)
        return counts

    def column_totals(self, array: Floats) -> Floats:
        """Return the sum of each column in double precision, as a NumPy array."""
        total: Floats = array.sum(axis=0, dtype=np.float64)
        return total

    def add_outer(self, counts: Floats, rows: Floats, columns: Floats) -> Floats:
        """Add ``rows[a] columns[w]`` to ``counts[a, w]`` in place."""
        columns = columns.astype(counts.dtype)
        for number, weight in enumerate(rows):
            counts[number] += counts.dtype.type(weight) * columns
        return counts

    def weighted_logs(self, array: Floats, rows: Floats, columns: Floats) -> float:
        """Return Σ_a rows[a] Σ_w columns[w] log array[a, w] over non-zero weights."""
        possible = columns > 0
        weights = columns[possible]

        def one_row(row: int) -> float:
            values = array[row][possible].astype(np.float64)
            np.log(np.maximum(values, TINY, out=values), out=values)
            return float(self.kernels.weighted_sum(weights, values))

        row_numbers = np.flatnonzero(rows).tolist()
        return float(rows[row_numbers] @ np.array(self.threads.map(one_row, row_numbers)))

    def add_at(self, counts: Floats, rows: Ints, columns: Ints, values: Floats) -> Floats:
        """Add ``values[i]`` to ``counts[rows[i], columns[i]]`` in place."""
        np.add.at(counts, (rows, columns), values.astype(counts.dtype))
        return counts

    def logs_at(self, array: Floats, rows: Ints, columns: Ints, weights: Floats) -> float:
        """Return Σ_i weights[i] log array[rows[i], columns[i]]."""
        return float(weights @ np.log(np.maximum(array[rows, columns].astype(np.float64), TINY)))

    def sum_of_logs(self, array: Floats) -> float:
        """Return Σ log of the entries: the log-density of a Dirichlet prior, up to its weight."""
        return sum(self.threads.map(lambda rows: float(self.kernels.sum_of_logs(array[rows])), slice_rows(array)))

    def extrapolate(self, old: Floats, new: Floats, stride: float) -> Floats:
        """Return ``old + stride (new - old)``, at least half of ``new``."""
        out = allocate_aligned(new.shape, new.dtype)
        self.threads.map(
            lambda rows: self.kernels.extrapolate(old[rows], new[rows], stride, out[rows]), slice_rows(new)
        )
        return out


def compute_min_share(posterior: Floats) -> float:
    """Return the minimum share of a class that is kept; smaller shares are together below rounding."""
    min_share: float = float(np.finfo(posterior.dtype).eps) / max(1, posterior.shape[1])
    return min_share


def sum_logs_by_row(indptr: Any, data: Floats, mixture: Floats) -> Floats:
    """Return Σ n log mixture of each row; a mixture counts as at least 1e-30."""
    logs = np.log(np.maximum(mixture, SMALLEST_MIXTURE), dtype=np.float64)
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    sums: Floats = np.bincount(rows, (data * logs).astype(np.float64), len(indptr) - 1).astype(np.float64, copy=False)
    return sums


def sum_documents(rows: CountsView, documents: Ints, n_words: int) -> Floats:
    """Return the total count of each word in some documents."""
    starts, ends = rows.indptr[documents].astype(np.int64), rows.indptr[documents + 1].astype(np.int64)
    lengths = ends - starts
    places = np.arange(lengths.sum()) + np.repeat(starts - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    words: Floats = np.bincount(rows.indices[places], rows.data[places], minlength=n_words).astype(
        np.float64, copy=False
    )
    return words


def slice_rows(array: Floats, size: int = 1 << 18) -> list[slice]:
    """Return slices of rows of about ``size`` numbers each, which stay in a core's cache between operations."""
    rows = max(1, size // max(1, array.shape[1]), -(-len(array) // 1024))
    return [slice(start, min(start + rows, len(array))) for start in range(0, len(array), rows)]


def weighted_total(weights: Floats, rows: Floats) -> Floats:
    """Return Σ_i weights[i] rows[i] in double precision.

    BLAS is not used: its threads would change the last bits.
    """
    weights, total = np.asarray(weights, np.float64), np.zeros(rows.shape[1])
    for compute_slice in slice_rows(rows):
        total += (weights[compute_slice, None] * rows[compute_slice]).sum(axis=0)
    return total


class PathPairs(NamedTuple):
    """Pairs of classes and nodes of a mask (classes, nodes), by class and by node."""

    ends: Any
    by_class: tuple[Any, Any]
    node_ends: Any
    by_node: tuple[Any, Any]

    @classmethod
    def from_mask(cls, path_mask: Bools) -> PathPairs:
        """List the pairs of a mask in both orders."""
        ends, node_ends = (np.append(0, np.cumsum(np.count_nonzero(path_mask, axis=axis))) for axis in (1, 0))
        (classes, nodes), (other_nodes, other_classes) = np.nonzero(path_mask), np.nonzero(path_mask.T)
        return cls(ends, (classes, nodes), node_ends, (other_classes, other_nodes))

    def paths(self, weights: Floats, dtype: DTypeLike) -> Paths:
        """Return the pairs with their weights."""
        by_class, by_node = weights[self.by_class].astype(dtype), weights[self.by_node].astype(dtype)
        return Paths(self.ends, self.by_class[1], by_class, self.node_ends, self.by_node[0], by_node)


def make_paths(path_mask: Bools, weights: Floats, dtype: DTypeLike) -> Paths:
    """Return the pairs of a mask (classes, nodes) with their weights, by class and by node."""
    return PathPairs.from_mask(path_mask).paths(weights, dtype)
