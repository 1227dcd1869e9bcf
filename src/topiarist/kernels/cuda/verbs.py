"""The verbs on a device: the names and arguments of ``reference``, over the whole range at once.

Arrays are numba's device arrays, C-contiguous. Where the reference takes an ``indptr`` to sweep over, these take
``Segments``; documents are numbered through all tiles, so ``starts`` is not looked at. What a verb returns is on the
host; everything else is queued in the stream of its ``Memory``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topiarist.kernels import Folding, Kernels, Paths
from topiarist.kernels.cuda import clusters, dense, points, segments, shares, sweeps
from topiarist.kernels.cuda import folding as iterated
from topiarist.kernels.cuda import paths as trees
from topiarist.kernels.cuda.memory import Memory
from topiarist.kernels.cuda.segments import Segments
from topiarist.kernels.cuda.sweeps import Shape
from topiarist.kernels.cuda.warp import LANES, SUM_BLOCKS, THREADS, Gpu, Kernel, launch

INFORMED = 256  # words of a cluster that a warp adds up: logarithms are slow, and clusters few
PIECE = 2048  # columns, or words, that a warp adds up where rows are long
ROW_PIECES = 1024  # at most, of a sum over rows
ROWS = 64  # in such a piece at least


class Verbs:
    """Every verb of ``Kernels``, and a few that only a device needs."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def record(self) -> Kernels:
        """As ``kernels.load`` gives it."""
        verbs = (verb for verb in Kernels._fields if verb != "name")
        return Kernels("cuda", *(getattr(self, verb, None) or _missing(verb) for verb in verbs))

    def _launch(self, kernel: Kernel, n_threads: int, *arguments: object, **options: int) -> None:
        launch(kernel, self.memory.stream, n_threads, *arguments, **options)

    # ---- sweeps over non-zeros

    def document_counts(
        self, indptr: Segments, indices: Gpu, data: Gpu, own: Gpu, other: Gpu, out: Gpu, mixture: Gpu
    ) -> None:
        """(P2), (P3), (H5): see ``reference.document_counts``; no mixtures where there is no room for them."""
        self._counts(indptr, indices, data, own, other, out, mixture, out, scatter=False)

    def word_counts(
        self, indptr: Segments, starts: Gpu | None, indices: Gpu, data: Gpu, own: Gpu, other: Gpu, out: Gpu
    ) -> None:
        """(P3), (H6): see ``reference.word_counts``."""
        nothing = self.memory.empty((0,), own.dtype)
        self._counts(indptr, indices, data, own, other, out, nothing.array, out, scatter=False)

    def scattered_counts(
        self, indptr: Segments, indices: Gpu, data: Gpu, own: Gpu, other: Gpu, out: Gpu, mixture: Gpu, sums: Gpu
    ) -> None:
        """``document_counts`` and, in the same sweep by atomic additions, ``word_counts`` (``sums``)."""
        self.fill(sums, 0.0)
        self._counts(indptr, indices, data, own, other, out, mixture, sums, scatter=True)
        self._launch(dense.multiply, sums.size, _flat(sums), _flat(other), _flat(sums))

    def _counts(
        self, cut: Segments, indices: Gpu, data: Gpu, own: Gpu, other: Gpu, out: Gpu, mixture: Gpu, sums: Gpu,
        *, scatter: bool,
    ) -> None:  # fmt: skip
        partial = self.memory.empty((cut.n_places, own.shape[1]), own.dtype)
        self._launch(
            sweeps.counting(Shape.of(own.shape[1], own.dtype), scatter), len(cut.rows) * LANES,
            *cut[:4], indices, data, own, other, out, partial.array, mixture, sums,
        )  # fmt: skip
        if cut.n_places:
            n_threads = len(cut.long_rows) * own.shape[1]
            self._launch(sweeps.combine_scaled, n_threads, cut.long_rows, cut.long_ends, partial.array, own, out)

    def mixtures(self, indptr: Segments, indices: Gpu, own: Gpu, other: Gpu, mixture: Gpu) -> None:
        """(P1): see ``reference.mixtures``."""
        kernel = sweeps.mixing(Shape.of(own.shape[1], own.dtype))
        self._launch(kernel, len(indptr.rows) * LANES, *indptr[:3], indices, own, other, mixture)

    def fold_in(self, indptr: Gpu, indices: Gpu, data: Gpu, own: Gpu, other: Gpu, folding: Folding) -> None:
        """(P5): see ``reference.fold_in``. Here ``indptr`` is that of the rows."""
        kernel = iterated.folding(Shape.of(own.shape[1], own.dtype))
        self._launch(
            kernel, own.shape[0] * LANES, indptr, indices, data, own, other,
            float(folding.smoothing), float(folding.inverse_temperature), folding.max_steps, float(folding.tolerance),
        )  # fmt: skip

    def row_products(self, indptr: Segments, indices: Gpu, data: Gpu, other: Gpu, out: Gpu) -> None:
        """See ``reference.row_products``."""
        partial = self.memory.empty((indptr.n_places, out.shape[1]), np.float64)
        self._launch(
            sweeps.adding(Shape.of(out.shape[1], other.dtype)), len(indptr.rows) * LANES,
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
        """See ``reference.transpose``; ``places`` has a row for each of some equal tiles of documents."""
        n_threads = len(places) * THREADS
        self._launch(segments.transpose, n_threads, indptr, indices, data, places, out_indices, out_data)

    # ---- paths of a tree

    def climb(self, own: Gpu, paths: Paths, start: int, out: Gpu) -> None:
        """(H3): see ``reference.climb``."""
        self._launch(trees.climb, out.size, own, paths.ends, paths.nodes, paths.weights, start, out)

    def descend(self, own: Gpu, words: Gpu, counts: Gpu, paths: Paths, start: int, out: Gpu, sums: Gpu) -> None:
        """(H4), (H6): see ``reference.descend``."""
        n_words, n_classes = counts.shape
        ratio = self.memory.empty((n_classes, n_words), own.dtype)
        pieces = self.memory.empty((max(1, -(-n_words // PIECE)), paths.classes.size), np.float64)
        by_node = (ratio.array, paths.node_ends, paths.classes, paths.node_weights, start)
        self._launch(trees.ratios, counts.size, counts, words, ratio.array)
        if len(out):
            self._launch(trees.hand_down, len(own) * n_words, own, *by_node, out)
        self._launch(trees.pair_sums, pieces.array.size * LANES, own, *by_node, PIECE, pieces.array)
        self._launch(dense.add_pieces, sums.size * LANES, pieces.array, sums)

    # ---- whole arrays

    def normalise_rows(self, counts: Gpu, smoothing: float) -> None:
        """(P3), (P4): see ``reference.normalise_rows``."""
        n_pieces = max(1, -(-counts.shape[1] // PIECE))
        if n_pieces == 1:
            self._launch(dense.normalise_rows, len(counts) * LANES, counts, float(smoothing))
            return
        sums = self.memory.empty((len(counts), n_pieces), np.float64)
        for kernel in (dense.row_sums, dense.scale_rows):
            self._launch(kernel, sums.array.size * LANES, counts, float(smoothing), PIECE, sums.array)

    def column_sums(self, counts: Gpu, sums: Gpu) -> None:
        """See ``reference.column_sums``."""
        size = max(ROWS, -(-len(counts) // ROW_PIECES))
        pieces = self.memory.empty((max(1, -(-len(counts) // size)), counts.shape[1]), np.float64)
        self._launch(dense.column_sums, pieces.array.size, counts, size, pieces.array)
        self._launch(dense.add_pieces, sums.size * LANES, pieces.array, sums)

    def scale_columns(self, counts: Gpu, smoothing: float, scale: Gpu) -> None:
        """(P3), (P4): see ``reference.scale_columns``."""
        self._launch(dense.scale_columns, counts.size, counts, float(smoothing), scale)

    def look_ahead(self, old: Gpu, new: Gpu, stride: float, out: Gpu) -> None:
        """See ``reference.look_ahead``."""
        self._launch(dense.look_ahead, out.size, _flat(old), _flat(new), stride - 1.0, _flat(out))

    def power(self, array: Gpu, exponent: float, out: Gpu) -> None:
        """See ``reference.power``."""
        self._launch(dense.power, out.size, _flat(array), float(exponent), _flat(out))

    def logarithms(self, array: Gpu, out: Gpu) -> None:
        """See ``reference.logarithms``."""
        self._launch(dense.logarithms, out.size, _flat(array), _flat(out))

    def fill(self, out: Gpu, value: float) -> None:
        """One value everywhere."""
        self._launch(dense.fill, out.size, _flat(out), out.dtype.type(value))

    def fill_columns(self, counts: Gpu, wanted: Gpu, value: float) -> None:
        """One value in the columns that are wanted."""
        self._launch(dense.fill_columns, counts.size, counts, wanted, counts.dtype.type(value))

    def add_outer(self, counts: Gpu, rows: Gpu, columns: Gpu) -> None:
        """``counts += rows ⊗ columns``."""
        self._launch(dense.add_outer, counts.size, counts, rows, columns)

    # ---- numbers for the host

    def posteriors(self, scores: Gpu, prior: Gpu, inverse_temperature: float) -> float:
        """(C1): see ``reference.posteriors``."""
        evidence = self.memory.empty((len(scores),), np.float64)
        arguments = (scores, prior, float(inverse_temperature), evidence.array)
        self._launch(dense.posteriors, len(scores) * LANES, *arguments)
        return self._total(dense.sums, evidence.array)

    def sum_of_logs(self, array: Gpu) -> float:
        """(P4): see ``reference.sum_of_logs``."""
        return self._total(dense.sums_of_logs, _flat(array))

    def weighted_sum(self, weights: Gpu, values: Gpu) -> float:
        """See ``reference.weighted_sum``."""
        return self._total(dense.weighted_sums, weights, values)

    def weighted_logs(self, weights: Gpu, values: Gpu) -> float:
        """Σ weights · log values: a log-likelihood."""
        return self._total(dense.weighted_logs, weights, values)

    def row_logs(self, array: Gpu, weights: Gpu, least: float) -> Any:
        """Σ_k weights[k] log array[d, k] of each row, nothing counting as less than ``least``."""
        sums = self.memory.empty((len(array), max(1, -(-array.shape[1] // PIECE))), np.float64)
        self._launch(dense.row_logs, sums.array.size * LANES, array, weights, PIECE, float(least), sums.array)
        return sums.numpy().sum(axis=1)

    # ---- what growing needs

    def log_sums(self, indptr: Gpu, data: Gpu, mixture: Gpu, out: Gpu) -> None:
        """Σ n log mixture of each row."""
        self._launch(shares.log_sums, out.size * LANES, indptr, data, mixture, out)

    def halve(self, table: Gpu, sources: Gpu, halves: Gpu, places: Gpu, certain: float, out: Gpu) -> None:
        """Columns that part, see ``shares.halve``."""
        self._launch(shares.halve, out.size, table, sources, halves, places, float(certain), out)

    def join(self, table: Gpu, ends: Gpu, columns: Gpu, out: Gpu) -> None:
        """Columns added together."""
        self._launch(shares.join, out.size, table, ends, columns, out)

    def strongest(self, table: Gpu, out: Gpu) -> None:
        """The column of the largest number of each row."""
        self._launch(shares.strongest, len(table) * LANES, table, out)

    def take_rows(self, table: Gpu, numbers: Gpu, out: Gpu) -> None:
        """``out = table[numbers]``."""
        self._launch(shares.take_rows, out.size, table, numbers, out)

    def turn(self, table: Gpu, out: Gpu) -> None:
        """``out = table.T``, as far as ``out`` goes."""
        self._launch(shares.turn, out.size, table, out)

    def membership(self, groups: Gpu, out: Gpu) -> None:
        """One in the column of the group that each document is in."""
        self._launch(shares.membership, out.size, groups, out)

    def moments(self, cloud: Gpu, begins: Gpu, ends: Gpu, groups: Gpu, out: Gpu) -> None:
        """Σ x xᵀ of each group, a one being the last coordinate; ``groups`` has the first piece of each."""
        pieces = self.memory.empty((len(begins), out.shape[1]), np.float64)
        self._launch(points.moments, pieces.array.size, cloud, begins, ends, pieces.array)
        self._launch(points.add_groups, out.size * LANES, pieces.array, groups, out)

    def side_sums(self, cloud: Gpu, begins: Gpu, ends: Gpu, groups: Gpu, sides: Gpu, out: Gpu) -> None:
        """The sum and the number of the points of each group that are on the first side."""
        pieces = self.memory.empty((len(begins), out.shape[1]), np.float64)
        self._launch(points.side_sums, pieces.array.size, cloud, begins, ends, sides, pieces.array)
        self._launch(points.add_groups, out.size * LANES, pieces.array, groups, out)

    def part(self, sums: Gpu, totals: Gpu, normals: Gpu, limits: Gpu, gains: Gpu, firsts: Gpu, moved: Gpu) -> None:
        """The plane between the means of both sides of each group."""
        self._launch(points.part, limits.size * LANES, sums, totals, normals, limits, gains, firsts, moved)

    def choose_side(self, cloud: Gpu, groups: Gpu, normals: Gpu, limits: Gpu, sides: Gpu, moved: Gpu) -> None:
        """On which side of its group's plane each point is."""
        self._launch(points.choose_side, len(cloud) * LANES, cloud, groups, normals, limits, sides, moved)

    def mix(self, cloud: Gpu, factor: Gpu, out: Gpu) -> None:
        """``out = cloud @ factor``."""
        self._launch(points.mix, out.size, cloud, factor, out)

    def row_totals(self, table: Gpu) -> Any:
        """The sum of each row."""
        sums = self.memory.empty((len(table), max(1, -(-table.shape[1] // PIECE))), np.float64)
        self._launch(dense.row_sums, sums.array.size * LANES, table, 0.0, PIECE, sums.array)
        return sums.numpy().sum(axis=1)

    def blend(self, table: Gpu, columns: Gpu, rows: Gpu, out: Gpu) -> None:
        """``out[c, w] = (table[c, w] + columns[w]) * rows[c]``."""
        self._launch(clusters.blend, out.size, table, columns, rows, out)

    def raise_to(self, table: Gpu, least: float) -> None:
        """Nothing less than this, in place."""
        self._launch(clusters.raise_to, table.size, table, float(least))

    def add_rows(self, table: Gpu, ends: Gpu, rows: Gpu, out: Gpu) -> None:
        """Sums of groups of rows."""
        self._launch(clusters.add_rows, out.size, table, ends, rows, out)

    def information(self, table: Gpu, first: Gpu, second: Gpu, sign: float) -> Any:
        """Σ_w x log x of rows, or of sums or differences of two of them, see ``clusters.information``."""
        sums = self.memory.empty((len(first), max(1, -(-table.shape[1] // INFORMED))), np.float64)
        self._launch(
            clusters.information, sums.array.size * LANES, table, first, second, float(sign), INFORMED, sums.array
        )
        return sums.numpy().sum(axis=1)

    def _total(self, kernel: Kernel, *arguments: object) -> float:
        """The sum of what a fixed number of warps found."""
        n_threads = SUM_BLOCKS * THREADS
        sums = self.memory.empty((n_threads // LANES,), np.float64)
        self._launch(kernel, n_threads, *arguments, sums.array, most=SUM_BLOCKS)
        return float(sums.numpy().sum())


def _flat(array: Gpu) -> Any:
    return array.reshape(array.size)


def _missing(verb: str) -> Any:
    """A verb that only the host has: for rows that list their components, and for classes that are known."""

    def refuse(*_: object) -> None:
        raise NotImplementedError(f"there is no {verb} for a device")

    return refuse


KERNELS = Verbs(Memory()).record()
