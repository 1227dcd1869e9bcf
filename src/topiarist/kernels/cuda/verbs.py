"""Kernels on a device, with the names and arguments of ``reference``, over the whole range at once.

Arrays are numba's device arrays, C-contiguous. Where the reference sweeps over an ``indptr``, these take ``Segments``.
Documents are numbered through all tiles, so ``starts`` is ignored. Return values are on the host; all other work is
queued in the stream of the ``Memory``. ``reference`` is the file ``kernels/*/reference.py`` that has the function.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topiarist.kernels import Folding, Kernels, Paths
from topiarist.kernels.cuda import clusters, dense, points, segments, shares, sweeps
from topiarist.kernels.cuda import paths as trees
from topiarist.kernels.cuda.memory import Memory
from topiarist.kernels.cuda.segments import Segments
from topiarist.kernels.cuda.sweeps import Shape, make_folding_kernel
from topiarist.kernels.cuda.warp import BLOCK_THREADS, LANES, SUM_BLOCKS, Gpu, Kernel, launch

INFORMATION_WORDS = 256  # words of a cluster per warp; logarithms are slow, and clusters few
PART_COLUMNS = 2048  # columns, or words, per warp in long rows
MAX_ROW_PARTS = 1024  # of a sum over rows
MIN_PART_ROWS = 64  # of such a part


class DeviceKernels:
    """Functions of ``Kernels`` on a device, and the functions that only a device needs."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def record(self) -> Kernels:
        """Return the functions as a record, as ``kernels.load`` does."""
        verbs = (name for name in Kernels._fields if name != "name")
        return Kernels("cuda", *(getattr(self, name, None) or _make_missing(name) for name in verbs))

    def _launch(self, kernel: Kernel, n_threads: int, *arguments: object, **options: int) -> None:
        launch(kernel, self.memory.stream, n_threads, *arguments, **options)

    # ---- sweeps over non-zeros

    def document_counts(
        self, indptr: Segments, indices: Gpu, data: Gpu, row_factor: Gpu, column_factor: Gpu, out: Gpu, mixture: Gpu
    ) -> None:
        """(P2), (P3), (H5): see ``reference.document_counts``; an empty ``mixture`` is not filled."""
        self._counts(indptr, indices, data, row_factor, column_factor, out, mixture, out, scatter=False)

    def word_counts(
        self,
        indptr: Segments,
        starts: Gpu | None,
        indices: Gpu,
        data: Gpu,
        row_factor: Gpu,
        column_factor: Gpu,
        out: Gpu,
    ) -> None:
        """(P3), (H6): see ``reference.word_counts``."""
        no_mixture = self.memory.empty((0,), row_factor.dtype)
        self._counts(indptr, indices, data, row_factor, column_factor, out, no_mixture.array, out, scatter=False)

    def scattered_counts(
        self,
        indptr: Segments,
        indices: Gpu,
        data: Gpu,
        row_factor: Gpu,
        column_factor: Gpu,
        out: Gpu,
        mixture: Gpu,
        sums: Gpu,
    ) -> None:
        """Compute ``document_counts`` and, in the same sweep by atomic additions, ``word_counts`` (``sums``)."""
        self.fill(sums, 0.0)
        self._counts(indptr, indices, data, row_factor, column_factor, out, mixture, sums, scatter=True)
        self._launch(dense.multiply, sums.size, _flat(sums), _flat(column_factor), _flat(sums))

    def _counts(
        self, cut: Segments, indices: Gpu, data: Gpu, row_factor: Gpu, column_factor: Gpu, out: Gpu, mixture: Gpu,
        sums: Gpu, *, scatter: bool,
    ) -> None:  # fmt: skip
        partial = self.memory.empty((cut.n_places, row_factor.shape[1]), row_factor.dtype)
        self._launch(
            sweeps.make_counting_kernel(Shape.for_width(row_factor.shape[1], row_factor.dtype), scatter),
            len(cut.rows) * LANES,
            *cut[:4], indices, data, row_factor, column_factor, out, partial.array, mixture, sums,
        )  # fmt: skip
        if cut.n_places:
            n_threads = len(cut.long_rows) * row_factor.shape[1]
            self._launch(sweeps.combine_scaled, n_threads, cut.long_rows, cut.long_ends, partial.array, row_factor, out)

    def mixtures(self, indptr: Segments, indices: Gpu, row_factor: Gpu, column_factor: Gpu, mixture: Gpu) -> None:
        """(P1): see ``reference.mixtures``."""
        kernel = sweeps.make_mixture_kernel(Shape.for_width(row_factor.shape[1], row_factor.dtype))
        self._launch(kernel, len(indptr.rows) * LANES, *indptr[:3], indices, row_factor, column_factor, mixture)

    def fold_in(
        self, indptr: Gpu, indices: Gpu, data: Gpu, row_factor: Gpu, column_factor: Gpu, folding: Folding
    ) -> None:
        """(P5): see ``reference.fold_in``; ``indptr`` are the ends of rows, not segments."""
        kernel = make_folding_kernel(Shape.for_width(row_factor.shape[1], row_factor.dtype))
        self._launch(
            kernel, row_factor.shape[0] * LANES, indptr, indices, data, row_factor, column_factor,
            float(folding.smoothing), float(folding.inverse_temperature), folding.max_steps, float(folding.tolerance),
        )  # fmt: skip

    def row_products(self, indptr: Segments, indices: Gpu, data: Gpu, other: Gpu, out: Gpu) -> None:
        """See ``reference.row_products``."""
        partial = self.memory.empty((indptr.n_places, out.shape[1]), np.float64)
        self._launch(
            sweeps.make_product_kernel(Shape.for_width(out.shape[1], other.dtype)), len(indptr.rows) * LANES,
            *indptr[:4], indices, data, other, out, partial.array,
        )  # fmt: skip
        if indptr.n_places:
            n_threads = len(indptr.long_rows) * out.shape[1]
            self._launch(sweeps.combine, n_threads, indptr.long_rows, indptr.long_ends, partial.array, out)

    def word_products(
        self, indptr: Segments, starts: Gpu | None, indices: Gpu, data: Gpu, other: Gpu, out: Gpu
    ) -> None:
        """See ``reference.word_products``."""
        self.row_products(indptr, indices, data, other, out)

    def tally(self, indices: Gpu, counts: Gpu) -> None:
        """See ``reference.tally``."""
        self._launch(segments.tally, indices.size, indices, counts)

    def transpose(self, indptr: Gpu, indices: Gpu, data: Gpu, places: Gpu, out_indices: Gpu, out_data: Gpu) -> None:
        """See ``reference.transpose``; ``places`` has a row for each of several equal tiles of documents."""
        n_threads = len(places) * BLOCK_THREADS
        self._launch(segments.transpose, n_threads, indptr, indices, data, places, out_indices, out_data)

    # ---- paths of a tree

    def sum_along_paths(self, node_words: Gpu, paths: Paths, start: int, out: Gpu) -> None:
        """(H3): see ``reference.sum_along_paths``."""
        self._launch(trees.sum_along_paths, out.size, node_words, paths.ends, paths.nodes, paths.weights, start, out)

    def distribute_along_paths(
        self, node_words: Gpu, words: Gpu, counts: Gpu, paths: Paths, start: int, out: Gpu, sums: Gpu
    ) -> None:
        """(H4), (H6): distribute the counts of words from ``start`` on to the nodes on the paths."""
        n_words, n_classes = counts.shape
        ratio = self.memory.empty((n_classes, n_words), node_words.dtype)
        pieces = self.memory.empty((max(1, -(-n_words // PART_COLUMNS)), paths.classes.size), np.float64)
        by_node = (ratio.array, paths.node_ends, paths.classes, paths.node_weights, start)
        self._launch(trees.ratios, counts.size, counts, words, ratio.array)
        if len(out):
            self._launch(trees.distribute_ratios, len(node_words) * n_words, node_words, *by_node, out)
        self._launch(trees.pair_sums, pieces.array.size * LANES, node_words, *by_node, PART_COLUMNS, pieces.array)
        self._launch(dense.add_parts, sums.size * LANES, pieces.array, sums)

    # ---- whole arrays

    def normalise_rows(self, counts: Gpu, smoothing: float) -> None:
        """(P3), (P4): see ``reference.normalise_rows``."""
        n_pieces = max(1, -(-counts.shape[1] // PART_COLUMNS))
        if n_pieces == 1:
            self._launch(dense.normalise_rows, len(counts) * LANES, counts, float(smoothing))
            return
        sums = self.memory.empty((len(counts), n_pieces), np.float64)
        for kernel in (dense.row_sums, dense.scale_rows):
            self._launch(kernel, sums.array.size * LANES, counts, float(smoothing), PART_COLUMNS, sums.array)

    def column_sums(self, counts: Gpu, sums: Gpu) -> None:
        """See ``reference.column_sums``."""
        size = max(MIN_PART_ROWS, -(-len(counts) // MAX_ROW_PARTS))
        pieces = self.memory.empty((max(1, -(-len(counts) // size)), counts.shape[1]), np.float64)
        self._launch(dense.column_sums, pieces.array.size, counts, size, pieces.array)
        self._launch(dense.add_parts, sums.size * LANES, pieces.array, sums)

    def scale_columns(self, counts: Gpu, smoothing: float, scale: Gpu) -> None:
        """(P3), (P4): see ``reference.scale_columns``."""
        self._launch(dense.scale_columns, counts.size, counts, float(smoothing), scale)

    def extrapolate(self, old: Gpu, new: Gpu, stride: float, out: Gpu) -> None:
        """See ``reference.extrapolate``."""
        self._launch(dense.extrapolate, out.size, _flat(old), _flat(new), stride - 1.0, _flat(out))

    def power(self, array: Gpu, exponent: float, out: Gpu) -> None:
        """See ``reference.power``."""
        self._launch(dense.power, out.size, _flat(array), float(exponent), _flat(out))

    def logarithms(self, array: Gpu, out: Gpu) -> None:
        """See ``reference.logarithms``."""
        self._launch(dense.logarithms, out.size, _flat(array), _flat(out))

    def fill(self, out: Gpu, value: float) -> None:
        """Set one value everywhere."""
        self._launch(dense.fill, out.size, _flat(out), out.dtype.type(value))

    def fill_columns(self, counts: Gpu, mask: Gpu, value: float) -> None:
        """Set one value in the columns of the mask."""
        self._launch(dense.fill_columns, counts.size, counts, mask, counts.dtype.type(value))

    def add_outer(self, counts: Gpu, rows: Gpu, columns: Gpu) -> None:
        """Compute ``counts += rows ⊗ columns``."""
        self._launch(dense.add_outer, counts.size, counts, rows, columns)

    # ---- numbers for the host

    def posteriors(self, scores: Gpu, prior: Gpu, inverse_temperature: float) -> float:
        """(C1): see ``reference.posteriors``."""
        evidence = self.memory.empty((len(scores),), np.float64)
        arguments = (scores, prior, float(inverse_temperature), evidence.array)
        self._launch(dense.posteriors, len(scores) * LANES, *arguments)
        return self._total(dense.value_sums, evidence.array)

    def sum_of_logs(self, array: Gpu) -> float:
        """(P4): see ``reference.sum_of_logs``."""
        return self._total(dense.sums_of_logs, _flat(array))

    def weighted_sum(self, weights: Gpu, values: Gpu) -> float:
        """See ``reference.weighted_sum``."""
        return self._total(dense.weighted_sums, weights, values)

    def weighted_logs(self, weights: Gpu, values: Gpu) -> float:
        """Return Σ weights · log values, a log-likelihood."""
        return self._total(dense.weighted_logs, weights, values)

    def row_logs(self, array: Gpu, weights: Gpu, floor: float) -> Any:
        """Return Σ_k weights[k] log array[d, k] of each row; values count as at least ``floor``."""
        sums = self.memory.empty((len(array), max(1, -(-array.shape[1] // PART_COLUMNS))), np.float64)
        self._launch(dense.row_logs, sums.array.size * LANES, array, weights, PART_COLUMNS, float(floor), sums.array)
        return sums.numpy().sum(axis=1)

    # ---- what growing needs

    def log_sums(self, indptr: Gpu, data: Gpu, mixture: Gpu, out: Gpu) -> None:
        """Compute Σ n log mixture of each row."""
        self._launch(shares.log_sums, out.size * LANES, indptr, data, mixture, out)

    def split_columns(self, table: Gpu, sources: Gpu, halves: Gpu, places: Gpu, certainty: float, out: Gpu) -> None:
        """Split columns, see ``shares.split_columns``."""
        self._launch(shares.split_columns, out.size, table, sources, halves, places, float(certainty), out)

    def sum_columns(self, table: Gpu, ends: Gpu, columns: Gpu, out: Gpu) -> None:
        """Add groups of columns."""
        self._launch(shares.sum_columns, out.size, table, ends, columns, out)

    def find_largest_columns(self, table: Gpu, out: Gpu) -> None:
        """Compute the column of the largest number of each row."""
        self._launch(shares.find_largest_columns, len(table) * LANES, table, out)

    def take_rows(self, table: Gpu, numbers: Gpu, out: Gpu) -> None:
        """Compute ``out = table[numbers]``."""
        self._launch(shares.take_rows, out.size, table, numbers, out)

    def transpose_table(self, table: Gpu, out: Gpu) -> None:
        """Compute ``out = table.T``, for the size of ``out``."""
        self._launch(shares.transpose_table, out.size, table, out)

    def mark_groups(self, groups: Gpu, out: Gpu) -> None:
        """Set one in the column of each document's group and zero elsewhere."""
        self._launch(shares.mark_groups, out.size, groups, out)

    def moments(self, cloud: Gpu, begins: Gpu, ends: Gpu, groups: Gpu, out: Gpu) -> None:
        """Compute Σ x xᵀ of each group, with a one appended to x; ``groups`` has the first part of each."""
        pieces = self.memory.empty((len(begins), out.shape[1]), np.float64)
        self._launch(points.moments, pieces.array.size, cloud, begins, ends, pieces.array)
        self._launch(points.add_groups, out.size * LANES, pieces.array, groups, out)

    def side_sums(self, cloud: Gpu, begins: Gpu, ends: Gpu, groups: Gpu, sides: Gpu, out: Gpu) -> None:
        """Compute the sum and number of the points of each group on the first side."""
        pieces = self.memory.empty((len(begins), out.shape[1]), np.float64)
        self._launch(points.side_sums, pieces.array.size, cloud, begins, ends, sides, pieces.array)
        self._launch(points.add_groups, out.size * LANES, pieces.array, groups, out)

    def split_groups(
        self, sums: Gpu, totals: Gpu, normals: Gpu, limits: Gpu, gains: Gpu, firsts: Gpu, moved: Gpu
    ) -> None:
        """Compute the plane between the means of both sides of each group."""
        self._launch(points.split_groups, limits.size * LANES, sums, totals, normals, limits, gains, firsts, moved)

    def choose_side(self, cloud: Gpu, groups: Gpu, normals: Gpu, limits: Gpu, sides: Gpu, moved: Gpu) -> None:
        """Compute the side of its group's plane on which each point is."""
        self._launch(points.choose_side, len(cloud) * LANES, cloud, groups, normals, limits, sides, moved)

    def multiply_by_factor(self, cloud: Gpu, factor: Gpu, out: Gpu) -> None:
        """Compute ``out = cloud @ factor``."""
        self._launch(points.multiply_by_factor, out.size, cloud, factor, out)

    def row_totals(self, table: Gpu) -> Any:
        """Return the sum of each row."""
        sums = self.memory.empty((len(table), max(1, -(-table.shape[1] // PART_COLUMNS))), np.float64)
        self._launch(dense.row_sums, sums.array.size * LANES, table, 0.0, PART_COLUMNS, sums.array)
        return sums.numpy().sum(axis=1)

    def blend(self, table: Gpu, columns: Gpu, rows: Gpu, out: Gpu) -> None:
        """Compute ``out[c, w] = (table[c, w] + columns[w]) * rows[c]``."""
        self._launch(clusters.blend, out.size, table, columns, rows, out)

    def apply_minimum(self, table: Gpu, minimum: float) -> None:
        """Replace smaller numbers by the minimum in place."""
        self._launch(clusters.apply_minimum, table.size, table, float(minimum))

    def add_rows(self, table: Gpu, ends: Gpu, rows: Gpu, out: Gpu) -> None:
        """Add groups of rows."""
        self._launch(clusters.add_rows, out.size, table, ends, rows, out)

    def information(self, table: Gpu, first: Gpu, second: Gpu, sign: float) -> Any:
        """Return Σ_w x log x of rows, or of sums or differences of two rows, see ``clusters.information``."""
        sums = self.memory.empty((len(first), max(1, -(-table.shape[1] // INFORMATION_WORDS))), np.float64)
        self._launch(
            clusters.information,
            sums.array.size * LANES,
            table,
            first,
            second,
            float(sign),
            INFORMATION_WORDS,
            sums.array,
        )
        return sums.numpy().sum(axis=1)

    def _total(self, kernel: Kernel, *arguments: object) -> float:
        """The sum of what a fixed number of warps found."""
        n_threads = SUM_BLOCKS * BLOCK_THREADS
        sums = self.memory.empty((n_threads // LANES,), np.float64)
        self._launch(kernel, n_threads, *arguments, sums.array, max_blocks=SUM_BLOCKS)
        return float(sums.numpy().sum())


def _flat(array: Gpu) -> Any:
    return array.reshape(array.size)


def _make_missing(name: str) -> Any:
    """Return a function that raises, for kernels that only the host has."""

    def refuse(*_: object) -> None:
        raise NotImplementedError(f"{name} is not available on a device")

    return refuse


KERNELS = DeviceKernels(Memory()).record()
