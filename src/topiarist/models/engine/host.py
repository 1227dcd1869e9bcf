"""What every model of counts does with the kernels: sweep, normalise, look ahead, piece by piece over threads.

All functions give the same bits for any number of threads: a piece owns its rows, and what crosses pieces (a
log-likelihood, the sum of a column) is added in the order of the pieces.

Everything that a model does with a large array goes through these methods. ``cuda_engine`` has the same ones for arrays
on a device; small arrays (weights of paths, priors of classes) are NumPy's in either case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from topiarist.arrays import Bools, Csr, DTypeLike, Floats, Ints
from topiarist.kernels import SMALLEST_MIXTURE, Folding, Held, Kernels, Paths
from topiarist.kernels.shard import Shard, Side, aligned_empty, uniform_rows
from topiarist.models.halves import two_means
from topiarist.scale.executors import Executor, InProcess
from topiarist.scale.threads import Threads

PATH_NUMBERS = 1 << 17  # in a piece of words times classes: enough pieces to share, each worth its call
TINY = 1e-300
FEW_CLASSES = 64  # up to which whole rows are read: lists would save little


@dataclass(frozen=True)
class Engine:
    """How a block is computed: which telling of the kernels, on how many threads."""

    kernels: Kernels
    threads: Threads

    @property
    def executor(self) -> Executor:
        """Where blocks go that nobody has another place for."""
        return InProcess()

    def side(self, counts: Csr, dtype: DTypeLike) -> Side:
        """Counts by document, where this engine reads them."""
        return Side.of(counts, dtype)

    def sides(self, counts: Csr, dtype: DTypeLike, n_components: int) -> Iterator[Side]:
        """The same in as many blocks of documents as are needed, for so many components: one."""
        yield self.side(counts, dtype)

    def shard(self, counts: Csr, dtype: DTypeLike, n_components: int) -> Shard:
        """Counts by document and by word, laid out for so many components."""
        return Shard.of(counts, dtype, n_components)

    def shards(self, counts: Csr, dtype: DTypeLike, n_components: int) -> list[Shard]:
        """The same in as many blocks of documents as are needed: one."""
        return [self.shard(counts, dtype, n_components)]

    def holds(self, counts: Csr, dtype: DTypeLike, n_classes: int) -> bool:
        """Whether a tree of so many classes can grow from these counts with all of them at hand: always, here."""
        return True

    def to_device(self, value: Any) -> Any:
        """Parameters, where this engine computes: arrays, or what is made of them (see ``em.State``)."""
        return value

    def to_host(self, value: Any) -> Any:
        """The same as NumPy arrays."""
        return value

    def beside(self, array: Floats, value: Floats) -> Floats:
        """A NumPy array, where the other array is."""
        return value

    def uniform_rows(self, n_rows: int, n_components: int, dtype: DTypeLike) -> Floats:
        """Proportions that say nothing yet."""
        return uniform_rows(n_rows, n_components, dtype)

    def expected_counts(self, shard: Shard, documents: Floats, words: Floats) -> tuple[Floats, Floats, float]:
        """``document_counts`` and ``word_counts`` of one E-step, and the log-likelihood."""
        doc_count, log_likelihood = self.document_counts(shard, documents, words)
        return doc_count, self.word_counts(shard, words, documents), log_likelihood

    def document_counts(self, shard: Shard, documents: Floats, words: Floats) -> tuple[Floats, float]:
        """Expected counts of each document's components, and the log-likelihood Σ n log mixture."""
        side, out = shard.rows, aligned_empty(documents.shape, documents.dtype)

        def piece(rows: slice) -> float:
            indptr = side.indptr[rows.start : rows.stop + 1]
            mixture = self.threads.scratch(int(indptr[-1] - indptr[0]), documents.dtype)
            self.kernels.document_counts(indptr, side.indices, side.data, documents[rows], words, out[rows], mixture)
            np.log(mixture, out=mixture)
            return float(self.kernels.weighted_sum(side.data[indptr[0] : indptr[-1]], mixture))

        return out, sum(self.threads.map(piece, side.pieces))

    def word_counts(self, shard: Shard, words: Floats, documents: Floats) -> Floats:
        """Expected counts of each word's components: the same sweep, by words."""
        tiles, out = shard.words, aligned_empty(words.shape, words.dtype)

        def piece(rows: slice) -> None:
            indptr = tiles.indptr[:, rows.start : rows.stop + 1]
            self.kernels.word_counts(indptr, tiles.starts, tiles.indices, tiles.data, words[rows], documents, out[rows])

        self.threads.map(piece, tiles.pieces(4 * self.threads.n_threads))
        return out

    def log_likelihood(self, side: Side, own: Floats, other: Floats) -> float:
        """Σ n log mixture alone, for a third of the work of a sweep; nothing counts as less probable than 1e-30."""

        def piece(rows: slice) -> float:
            indptr = side.indptr[rows.start : rows.stop + 1]
            mixture = self.threads.scratch(int(indptr[-1] - indptr[0]), own.dtype)
            self.kernels.mixtures(indptr, side.indices, own[rows], other, mixture)
            np.log(np.maximum(mixture, SMALLEST_MIXTURE, out=mixture), out=mixture)
            return float(self.kernels.weighted_sum(side.data[indptr[0] : indptr[-1]], mixture))

        return sum(self.threads.map(piece, side.pieces))

    def log_likelihoods(self, side: Side, own: Floats, other: Floats) -> Floats:
        """The same of each row by itself, in double precision, as a NumPy array."""
        out = np.zeros(side.n_rows)

        def piece(rows: slice) -> None:
            indptr = side.indptr[rows.start : rows.stop + 1]
            mixture = np.empty(int(indptr[-1] - indptr[0]), own.dtype)
            self.kernels.mixtures(indptr, side.indices, own[rows], other, mixture)
            out[rows] = sums_of_logs(indptr, side.data[indptr[0] : indptr[-1]], mixture)

        self.threads.map(piece, side.pieces)
        return out

    def fold_in(self, side: Side, own: Floats, other: Floats, folding: Folding) -> Floats:
        """Each row of ``own`` brought to its optimum for fixed ``other``."""
        out = aligned_empty(own.shape, own.dtype)
        out[:] = own

        def piece(rows: slice) -> None:
            indptr = side.indptr[rows.start : rows.stop + 1]
            self.kernels.fold_in(indptr, side.indices, side.data, out[rows], other, folding)

        self.threads.map(piece, side.pieces)
        return out

    def row_products(self, side: Side, other: Floats, dtype: DTypeLike | None = None) -> Floats:
        """Σ_j n(i,j) other[j] for each row i, added in double precision; in the precision of ``other`` unless told."""
        out = aligned_empty((side.n_rows, other.shape[1]), dtype or other.dtype)

        def piece(rows: slice) -> None:
            indptr = side.indptr[rows.start : rows.stop + 1]
            self.kernels.row_products(indptr, side.indices, side.data, other, out[rows])

        self.threads.map(piece, side.pieces)
        return out

    def word_products(self, shard: Shard, other: Floats, dtype: DTypeLike | None = None) -> Floats:
        """Σ_i n(i,j) other[i] for each word j, likewise."""
        out = aligned_empty((shard.shape[1], other.shape[1]), dtype or other.dtype)
        return self._by_word(self.kernels.word_products, shard, other, out)

    def class_words(self, posterior: Floats, *shards: Shard) -> Iterator[Floats]:
        """Σ_d n(d,w) P(c|d) for each word w and class c, of one shard after the other.

        A document of a large tree belongs to one or two classes of hundreds: see ``_held``.
        """
        if posterior.shape[1] <= FEW_CLASSES:
            yield from (self.word_products(shard, posterior) for shard in shards)
            return
        held = self._held(posterior)
        for shard in shards:
            out = aligned_empty((shard.shape[1], posterior.shape[1]), posterior.dtype)
            yield self._by_word(self.kernels.held_word_products, shard, held, out)

    def _held(self, posterior: Floats) -> Held:
        """The classes that hold something of each document.

        What all the others hold of it together is less than the rounding of the numbers that it would be added to.
        """
        n_docs, n_classes = posterior.shape
        least, pieces = least_held(posterior), row_pieces(posterior)
        sizes = np.empty(n_docs, np.int64)
        self.threads.map(lambda rows: self.kernels.count_held(posterior[rows], least, sizes[rows]), pieces)
        ends = np.append(0, np.cumsum(sizes))
        numbers = np.empty(ends[-1], np.uint16 if n_classes <= 1 << 16 else np.uint32)
        held = Held(ends, numbers, np.empty(ends[-1], posterior.dtype))

        def piece(rows: slice) -> None:
            self.kernels.keep_held(posterior[rows], least, held._replace(ends=ends[rows.start : rows.stop + 1]))

        self.threads.map(piece, pieces)
        return held

    def _by_word(self, multiply: Callable[..., None], shard: Shard, other: Floats | Held, out: Floats) -> Floats:
        tiles = shard.words

        def piece(rows: slice) -> None:
            indptr = tiles.indptr[:, rows.start : rows.stop + 1]
            multiply(indptr, tiles.starts, tiles.indices, tiles.data, other, out[rows])

        self.threads.map(piece, tiles.pieces(4 * self.threads.n_threads))
        return out

    def group_words(self, shard: Shard, groups: Sequence[Ints], collection: Floats, prior_tokens: float) -> Floats:
        """P(w) in each of some groups of documents, drawn towards P(w) of the collection by so many tokens."""
        words = [sum_of_rows(shard.rows, group, len(collection)) + prior_tokens * collection for group in groups]
        return np.stack([(one / one.sum()).astype(shard.rows.data.dtype) for one in words])

    def class_tables(self, shard: Shard, class_given_doc: Floats) -> tuple[Floats, Floats]:
        """The tokens of each word in each class, and the documents of each class that have it, both expected."""
        rows, shape = shard.rows, shard.shape
        tokens = csr_array((rows.data, rows.indices, rows.indptr), shape=shape)
        presence = csr_array((np.sign(rows.data), rows.indices, rows.indptr), shape=shape)
        shares: Any = np.ascontiguousarray(class_given_doc)
        many = shares.shape[1] > FEW_CLASSES
        if many:  # only those that hold something of a document, see ``class_words``
            shares = csr_array(np.where(shares >= least_held(shares), shares, 0))
        sums = [csr_array(one.T) @ shares for one in (tokens, presence)]
        counts, having = (np.ascontiguousarray((one.toarray() if many else one).T) for one in sums)
        return counts, having

    def halves(
        self, points: Floats, groups: Sequence[Ints], seeds: Sequence[int], fewest: float
    ) -> list[tuple[float, Any]]:
        """``two_means`` of each of some groups of points: what the division is worth, and who is on the first side."""
        return self.threads.map(lambda n: two_means(points[groups[n]], seeds[n], fewest), list(range(len(groups))))

    def leading_factors(self, matrix: Csr, number: int, seed: int) -> tuple[Floats, Floats, Floats] | None:
        """U, S, Vᵀ of a large matrix, where this engine has a faster way to them than ``counts.lsi``: None here."""
        return None

    def climb(self, own: Floats, paths: Paths) -> Floats:
        """(words, classes): what the nodes on the path of each class say of each word. ``own`` is (nodes, words)."""
        out = aligned_empty((own.shape[1], len(paths.ends) - 1), own.dtype)
        pieces = row_pieces(out, PATH_NUMBERS)
        self.threads.map(lambda rows: self.kernels.climb(own, paths, rows.start, out[rows]), pieces)
        return out

    def descend(self, own: Floats, words: Floats, counts: Floats, paths: Paths) -> tuple[Floats, Floats]:
        """What each class has of each word, handed on to the nodes on its path: (nodes, words) and (classes, nodes).

        ``counts`` and ``words``, which ``climb`` gave, are (words, classes).
        """
        out = aligned_empty(own.shape, own.dtype)
        return out, self._path_counts(own, words, counts, paths, out)

    def path_counts(self, own: Floats, words: Floats, counts: Floats, paths: Paths) -> Floats:
        """The second answer of ``descend`` alone: how much of each class went to each node on its path."""
        return self._path_counts(own, words, counts, paths, np.empty((0, own.shape[1]), own.dtype))

    def _path_counts(self, own: Floats, words: Floats, counts: Floats, paths: Paths, out: Floats) -> Floats:
        def piece(rows: slice) -> Floats:
            sums = np.empty(len(paths.classes))
            self.kernels.descend(own, words[rows], counts[rows], paths, rows.start, out, sums)
            return sums

        total = np.zeros((counts.shape[1], len(own)))
        nodes = np.repeat(np.arange(len(own)), np.diff(paths.node_ends))
        total[paths.classes, nodes] = np.sum(self.threads.map(piece, row_pieces(counts, PATH_NUMBERS)), axis=0)
        return total

    def power(self, array: Floats, exponent: float) -> Floats:
        """``array ** exponent``; the array itself when nothing would change."""
        if exponent == 1.0:
            return array
        out = aligned_empty(array.shape, array.dtype)
        self.threads.map(lambda rows: self.kernels.power(array[rows], exponent, out[rows]), row_pieces(array))
        return out

    def logarithms(self, array: Floats) -> Floats:
        """The logarithm of each entry, none smaller than that of ``SMALLEST_MIXTURE``."""
        out = aligned_empty(array.shape, array.dtype)
        self.threads.map(lambda rows: self.kernels.logarithms(array[rows], out[rows]), row_pieces(array))
        return out

    def posteriors(self, scores: Floats, prior: Floats, inverse_temperature: float) -> tuple[Floats, float]:
        """Log-probabilities, tempered, plus the log-prior, to probabilities in place; and Σ log of rows' totals."""

        def piece(rows: slice) -> float:
            return float(self.kernels.posteriors(scores[rows], prior, inverse_temperature))

        return scores, sum(self.threads.map(piece, row_pieces(scores)))

    def normalise_rows(self, counts: Floats, smoothing: float) -> Floats:
        """Each row + smoothing to sum one, in place; a row of nothing becomes uniform."""
        self.threads.map(lambda rows: self.kernels.normalise_rows(counts[rows], smoothing), row_pieces(counts))
        return counts

    def normalise_columns(self, counts: Floats, smoothing: float) -> Floats:
        """Each column + smoothing to sum one, in place; a column of nothing becomes uniform."""

        def sums(rows: slice) -> Floats:
            total = np.empty(counts.shape[1])
            self.kernels.column_sums(counts[rows], total)
            return total

        pieces = row_pieces(counts)
        total = np.sum(self.threads.map(sums, pieces), axis=0) + smoothing * len(counts)
        empty = total <= SMALLEST_MIXTURE
        scale = (1.0 / np.where(empty, 1.0, total)).astype(counts.dtype)
        self.threads.map(lambda rows: self.kernels.scale_columns(counts[rows], smoothing, scale), pieces)
        if empty.any():
            counts[:, empty] = 1.0 / len(counts)
        return counts

    def column_totals(self, array: Floats) -> Floats:
        """The sum of each column in double precision, as a NumPy array."""
        total: Floats = array.sum(axis=0, dtype=np.float64)
        return total

    def add_outer(self, counts: Floats, rows: Floats, columns: Floats) -> Floats:
        """``counts[a, w] += rows[a] columns[w]``, in place."""
        columns = columns.astype(counts.dtype)
        for number, weight in enumerate(rows):
            counts[number] += counts.dtype.type(weight) * columns
        return counts

    def weighted_logs(self, array: Floats, rows: Floats, columns: Floats) -> float:
        """Σ_a rows[a] Σ_w columns[w] log array[a, w], where the weights are not zero."""
        possible = columns > 0
        weights = columns[possible]

        def one_row(row: int) -> float:
            values = array[row][possible].astype(np.float64)
            np.log(np.maximum(values, TINY, out=values), out=values)
            return float(self.kernels.weighted_sum(weights, values))

        wanted = np.flatnonzero(rows).tolist()
        return float(rows[wanted] @ np.array(self.threads.map(one_row, wanted)))

    def add_at(self, counts: Floats, rows: Ints, columns: Ints, values: Floats) -> Floats:
        """``counts[rows[i], columns[i]] += values[i]``, in place."""
        np.add.at(counts, (rows, columns), values.astype(counts.dtype))
        return counts

    def logs_at(self, array: Floats, rows: Ints, columns: Ints, weights: Floats) -> float:
        """Σ_i weights[i] log array[rows[i], columns[i]]."""
        return float(weights @ np.log(np.maximum(array[rows, columns].astype(np.float64), TINY)))

    def sum_of_logs(self, array: Floats) -> float:
        """Σ log of the entries: the log-density of a Dirichlet prior, up to its weight."""
        return sum(self.threads.map(lambda rows: float(self.kernels.sum_of_logs(array[rows])), row_pieces(array)))

    def look_ahead(self, old: Floats, new: Floats, stride: float) -> Floats:
        """``stride`` times as far from ``old`` as ``new`` is, but nowhere less than half of ``new``."""
        out = aligned_empty(new.shape, new.dtype)
        self.threads.map(lambda rows: self.kernels.look_ahead(old[rows], new[rows], stride, out[rows]), row_pieces(new))
        return out


def least_held(posterior: Floats) -> float:
    """What a class must hold of a document to be counted: all that hold less are together less than rounding."""
    least: float = float(np.finfo(posterior.dtype).eps) / max(1, posterior.shape[1])
    return least


def sums_of_logs(indptr: Any, data: Floats, mixture: Floats) -> Floats:
    """Σ n log mixture of each row; nothing counts as less probable than 1e-30."""
    logs = np.log(np.maximum(mixture, SMALLEST_MIXTURE), dtype=np.float64)
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    sums: Floats = np.bincount(rows, (data * logs).astype(np.float64), len(indptr) - 1).astype(np.float64, copy=False)
    return sums


def sum_of_rows(rows: Side, documents: Ints, n_words: int) -> Floats:
    """How often each word occurs in some documents."""
    starts, ends = rows.indptr[documents].astype(np.int64), rows.indptr[documents + 1].astype(np.int64)
    lengths = ends - starts
    places = np.arange(lengths.sum()) + np.repeat(starts - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    words: Floats = np.bincount(rows.indices[places], rows.data[places], minlength=n_words).astype(
        np.float64, copy=False
    )
    return words


def row_pieces(array: Floats, size: int = 1 << 18) -> list[slice]:
    """Slices of rows of about ``size`` numbers each: they stay in a core's cache from one operation to the next."""
    rows = max(1, size // max(1, array.shape[1]), -(-len(array) // 1024))
    return [slice(start, min(start + rows, len(array))) for start in range(0, len(array), rows)]


def weighted_total(weights: Floats, rows: Floats) -> Floats:
    """Σ_i weights[i] rows[i] in double precision. Not BLAS, whose own threads would decide about the last bits."""
    weights, total = np.asarray(weights, np.float64), np.zeros(rows.shape[1])
    for piece in row_pieces(rows):
        total += (weights[piece, None] * rows[piece]).sum(axis=0)
    return total


class Pairs(NamedTuple):
    """Which classes and nodes a mask (classes, nodes) pairs, by class and by node."""

    ends: Any
    by_class: tuple[Any, Any]
    node_ends: Any
    by_node: tuple[Any, Any]

    @classmethod
    def of(cls, path_mask: Bools) -> Pairs:
        """Both orders."""
        ends, node_ends = (np.append(0, np.cumsum(np.count_nonzero(path_mask, axis=axis))) for axis in (1, 0))
        (classes, nodes), (other_nodes, other_classes) = np.nonzero(path_mask), np.nonzero(path_mask.T)
        return cls(ends, (classes, nodes), node_ends, (other_classes, other_nodes))

    def paths(self, weights: Floats, dtype: DTypeLike) -> Paths:
        """The pairs with their weights."""
        by_class, by_node = weights[self.by_class].astype(dtype), weights[self.by_node].astype(dtype)
        return Paths(self.ends, self.by_class[1], by_class, self.node_ends, self.by_node[0], by_node)


def paths_of(path_mask: Bools, weights: Floats, dtype: DTypeLike) -> Paths:
    """The pairs of a mask (classes, nodes) with their weights, by class and by node."""
    return Pairs.of(path_mask).paths(weights, dtype)
