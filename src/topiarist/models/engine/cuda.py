"""CUDA engine: the methods of ``Engine`` for arrays that stay on a device during a fit.

``to_device`` and ``to_host`` move parameters at the start and at the end. A method also accepts NumPy arrays: it copies
them to the device and returns its result where the source array is. Every fit that works on the host works here, but
copies make it slower. ``engine.host`` describes the methods.

Sums are added in an order that depends on the counts alone. Collections that do not fit into ``device_memory`` bytes
(None: the free bytes) are cut into blocks that visit the device in turn, see ``cuda_counts``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, Self, TypeAlias

import numpy as np

from topiarist.arrays import TINY, Csr, DTypeLike, Floats, Ints
from topiarist.execution.threads import Threads
from topiarist.kernels import SMALLEST_MIXTURE, Folding, Paths, load
from topiarist.kernels.cuda import dense, shares, sweeps, verbs
from topiarist.kernels.cuda import paths as trees
from topiarist.kernels.cuda.memory import DeviceArray, Memory, count_free_bytes, create_stream
from topiarist.kernels.cuda.sweeps import Shape
from topiarist.kernels.cuda.warp import LANES, Kernel
from topiarist.kernels.shard import CountsView, Shard
from topiarist.models.em import State
from topiarist.models.engine import cuda_counts, cuda_growth
from topiarist.models.engine.cuda_counts import CudaCountsView, CudaShard, SegmentedCounts, segment_rows, segment_words
from topiarist.models.engine.host import Engine

Numbers: TypeAlias = Floats | DeviceArray  # on the host or on the device


@dataclass(frozen=True)
class CudaEngine(Engine):
    """Engine on a device, created by ``CudaEngine.start``; ``kernels`` and ``threads`` do the work of the host."""

    memory: Memory
    pinned_pool: cuda_counts.PinnedMemoryPool
    device_paths: list[Any] = field(default_factory=list, compare=False)  # the last paths, and their device arrays

    @classmethod
    def start(cls, threads: Threads, *, device_memory: int | None = None) -> Self:
        """Create an engine with its own stream and memory."""
        memory = Memory(create_stream(), count_free_bytes() if device_memory is None else device_memory)
        return cls(load(), threads, memory, cuda_counts.PinnedMemoryPool(memory))

    def __reduce__(self) -> tuple[Any, ...]:
        """Unpickle as the engine of the other process, which uses its own device."""
        return _get_worker_engine, (type(self),)

    @property
    def executor(self) -> cuda_counts.StreamingExecutor:
        """Executor that computes one block after another and fetches the next pinned block meanwhile."""
        return cuda_counts.StreamingExecutor(self.pinned_pool)

    # ---- transfers

    def view_counts(self, counts: Csr, dtype: DTypeLike) -> CudaCountsView:
        return self._view(CountsView.from_matrix(counts, dtype))

    def _view(self, side: CountsView) -> CudaCountsView:
        if isinstance(side, CudaCountsView):
            return side
        return CudaCountsView(side.indptr, side.indices, side.data, side.cuts, segment_rows(self.memory, side))

    def view_blocks(self, counts: Csr, dtype: DTypeLike, n_components: int) -> Iterator[CudaCountsView]:
        """Yield blocks that visit the device one after another."""
        cuts = self._cut_blocks(counts, dtype, n_components)
        if len(cuts) == 2:
            yield self.view_counts(counts, dtype)
            return
        for start, stop in pairwise(cuts):
            yield self.view_counts(counts[start:stop], dtype)

    def _cut_blocks(self, counts: Csr, dtype: DTypeLike, n_components: int) -> list[int]:
        return cuda_counts.cut_blocks(counts, np.dtype(dtype).itemsize, n_components, self.memory.limit)

    def shard(self, counts: Csr, dtype: DTypeLike, n_components: int) -> Any:
        rows, n_words = self.view_counts(counts, dtype), int(counts.shape[1])
        words = segment_words(self.memory, rows.segmented, n_words, n_components)
        totals = self._multiply(words, self.memory.full((rows.n_rows, 1), rows.data.dtype, 1.0), n_words, np.float64)
        return CudaShard(rows, words, totals.numpy()[:, 0], self.uniform_rows)

    def make_shards(self, counts: Csr, dtype: DTypeLike, n_components: int) -> list[Any]:
        """Return one block if the device can hold it, or pinned blocks of half its size."""
        cuts = self._cut_blocks(counts, dtype, n_components)
        if len(cuts) == 2:
            return [self.shard(counts, dtype, n_components)]
        blocks = (counts[start:stop] for start, stop in pairwise(cuts))
        return [self.pinned_pool.pin_shard(self.shard(block, dtype, n_components)) for block in blocks]

    def fits_device(self, counts: Csr, dtype: DTypeLike, n_classes: int) -> bool:
        """Return whether the device has memory for the counts and a few trees."""
        return len(self._cut_blocks(counts, dtype, cuda_growth.KEPT_TREES * n_classes)) == 2

    def to_device(self, value: Any) -> Any:
        """Move parameters to the device; pinned rows stay pinned."""
        if isinstance(value, np.ndarray) and not isinstance(value, cuda_counts.PinnedRows):
            return self.memory.put(value)
        if isinstance(value, State):
            return State(self.to_device(value.shared), tuple(map(self.to_device, value.local)))
        return value.move_arrays(self.to_device) if hasattr(value, "move_arrays") else value

    def to_host(self, value: Any) -> Any:
        """Return a value with its device arrays copied to the memory of the host."""
        if isinstance(value, DeviceArray):
            return value.numpy()
        if isinstance(value, cuda_counts.PinnedRows):
            return self.pinned_pool.copy(value)
        if isinstance(value, State):
            return State(self.to_host(value.shared), tuple(map(self.to_host, value.local)))
        return value.move_arrays(self.to_host) if hasattr(value, "move_arrays") else value

    def to_device_of(self, array: Numbers, value: Floats) -> Any:
        return self.memory.put(value) if isinstance(array, DeviceArray) else value

    def uniform_rows(self, n_rows: int, n_components: int, dtype: DTypeLike) -> Any:
        return self.memory.full((n_rows, n_components), dtype, 1.0 / n_components)

    def _put(self, array: Numbers) -> DeviceArray:
        """Return the array on the device; copy it from the host if necessary."""
        return array if isinstance(array, DeviceArray) else self.memory.put(array)

    def _empty_like(self, array: Numbers) -> DeviceArray:
        return self.memory.empty(array.shape, array.dtype)

    def _return_like(self, out: DeviceArray, source: Numbers) -> Any:
        """Return a result on the host or the device, like its source."""
        if isinstance(source, cuda_counts.PinnedRows):
            return self.pinned_pool.pin(out)
        return out if isinstance(source, DeviceArray) else out.numpy()

    def _write_back(self, array: Numbers, device_array: DeviceArray) -> Any:
        """Return ``array``; if it is on the host, copy the device array into it first."""
        if not isinstance(array, DeviceArray):
            self.pinned_pool.overwrite(array, device_array)
        return array

    def _get_rows(self, side: CountsView) -> SegmentedCounts:
        return self._view(side).segmented.move_arrays(self._put)

    def _get_words(self, shard: Shard | CudaShard, n_components: int) -> SegmentedCounts:
        """Return the counts by word; those of a host shard are copied, and freed after their sweep."""
        if isinstance(shard, CudaShard):
            return shard.words.move_arrays(self._put)
        return segment_words(self.memory, segment_rows(self.memory, shard.rows), shard.shape[1], n_components)

    # ---- sweeps

    def _launch_sweep(
        self, kernel: Kernel, order: SegmentedCounts, factors: Sequence[DeviceArray], out: DeviceArray, dtype: DTypeLike,
        *extra: DeviceArray,
    ) -> None:  # fmt: skip
        """Start a sweep with one warp for a segment, and add the sums of rows in several segments."""
        cut, memory = order.cut, self.memory
        partial = memory.empty((cut.n_places, out.shape[1]), dtype)
        n_threads = len(cut.rows) * LANES
        memory.launch(kernel, n_threads, *cut[:4], order.indices, order.data, *factors, out, partial, *extra)
        if cut.n_places and len(out):
            scale = factors[0] if len(factors) > 1 else memory.empty((0, 0), dtype)
            n_threads = len(cut.long_rows) * out.shape[1]
            memory.launch(sweeps.combine, n_threads, cut.long_rows, cut.long_ends, partial, scale, out)

    def _count(self, order: SegmentedCounts, rows: DeviceArray, columns: DeviceArray, mixture: DeviceArray) -> Any:
        """Return (P2), (P3), (H5) of each row of the counts; an empty ``mixture`` is not filled."""
        out, kernel = self._empty_like(rows), sweeps.make_counting_kernel(Shape.for_array(rows), True)
        self._launch_sweep(kernel, order, (rows, columns), out, rows.dtype, mixture)
        return out

    def _mix(self, order: SegmentedCounts, row_factor: Numbers, column_factor: Numbers) -> DeviceArray:
        """Return the mixture (P1) of each non-zero."""
        rows, columns = self._put(row_factor), self._put(column_factor)
        mixture, no_rows = self.memory.empty(order.data.shape, rows.dtype), self.memory.empty((0, 1), rows.dtype)
        kernel = sweeps.make_counting_kernel(Shape.for_array(rows), False)
        self._launch_sweep(kernel, order, (rows, columns), no_rows, rows.dtype, mixture)
        return mixture

    def _multiply(
        self, order: SegmentedCounts, other: DeviceArray, n_rows: int, dtype: DTypeLike | None
    ) -> DeviceArray:
        """Return the sum of counts times rows of the other factor, for each row of the counts."""
        out = self.memory.empty((n_rows, other.shape[1]), dtype or other.dtype)
        kernel = sweeps.make_product_kernel(Shape.for_array(other))
        self._launch_sweep(kernel, order, (other,), out, np.float64)
        return out

    def expected_counts(self, shard: Shard | CudaShard, documents: Numbers, words: Numbers) -> tuple[Any, Any, float]:
        doc_count, log_likelihood = self.document_counts(shard, documents, words)
        return doc_count, self.word_counts(shard, words, documents), log_likelihood

    def document_counts(self, shard: Shard | CudaShard, documents: Numbers, words: Numbers) -> tuple[Any, float]:
        order, rows = self._get_rows(shard.rows), self._put(documents)
        mixture = self.memory.empty(order.data.shape, rows.dtype)
        out = self._count(order, rows, self._put(words), mixture)
        return self._return_like(out, documents), verbs.total(dense.weighted_logs, order.data, mixture)

    def word_counts(self, shard: Shard | CudaShard, words: Numbers, documents: Numbers) -> Any:
        order, no_mixture = self._get_words(shard, words.shape[1]), self.memory.empty((0,), words.dtype)
        return self._return_like(self._count(order, self._put(words), self._put(documents), no_mixture), words)

    def log_likelihood(self, side: CountsView, row_factor: Numbers, column_factor: Numbers) -> float:
        order = self._get_rows(side)
        return verbs.total(dense.weighted_logs, order.data, self._mix(order, row_factor, column_factor))

    def log_likelihoods(self, side: CountsView, row_factor: Numbers, column_factor: Numbers) -> Any:
        order, out = self._get_rows(side), self.memory.empty((side.n_rows,), np.float64)
        mixture = self._mix(order, row_factor, column_factor)
        self.memory.launch(shares.log_sums, side.n_rows * LANES, order.indptr, order.data, mixture, out)
        return out.numpy()

    def fold_in(self, side: CountsView, row_factor: Numbers, column_factor: Numbers, folding: Folding) -> Any:
        """Fit the rows of documents to fixed columns; return new rows, the arguments are unchanged."""
        order, columns = self._get_rows(side), self._put(column_factor)
        out = self.memory.copy(row_factor) if isinstance(row_factor, DeviceArray) else self.memory.put(row_factor)
        kernel = sweeps.make_folding_kernel(Shape.for_array(out))
        numbers = float(folding.smoothing), float(folding.inverse_temperature), folding.max_steps, folding.tolerance
        self.memory.launch(kernel, len(out) * LANES, order.indptr, order.indices, order.data, out, columns, *numbers)
        return self._return_like(out, row_factor)

    def row_products(self, side: CountsView, other: Numbers, dtype: DTypeLike | None = None) -> Any:
        return self._return_like(self._multiply(self._get_rows(side), self._put(other), side.n_rows, dtype), other)

    def word_products(self, shard: Shard | CudaShard, other: Numbers, dtype: DTypeLike | None = None) -> Any:
        order = self._get_words(shard, other.shape[1])
        return self._return_like(self._multiply(order, self._put(other), shard.shape[1], dtype), other)

    def class_words(self, posterior: Numbers, *shards: Shard | CudaShard) -> Iterator[Any]:
        """Yield the words of classes; the device reads dense rows."""
        yield from (self.word_products(shard, posterior) for shard in shards)

    # ---- paths of a tree

    def sum_along_paths(self, node_words: Numbers, paths: Paths) -> Any:
        rows, (ends, nodes, weights, *_) = self._put(node_words), self._get_device_paths(paths)
        out = self.memory.empty((rows.shape[1], len(paths.ends) - 1), rows.dtype)
        self.memory.launch(trees.sum_along_paths, out.array.size, rows, ends, nodes, weights, out)
        return self._return_like(out, node_words)

    def _get_device_paths(self, paths: Paths) -> list[DeviceArray]:
        """Return the paths on the device; the copy of the last call is reused."""
        if not self.device_paths or self.device_paths[0] is not paths:
            self.device_paths[:] = paths, [self._put(part) for part in paths]
        device_paths: list[DeviceArray] = self.device_paths[1]
        return device_paths

    def distribute_along_paths(
        self, node_words: Numbers, words: Numbers, counts: Numbers, paths: Paths
    ) -> tuple[Any, Any]:
        """Distribute words to nodes; the counts of classes at nodes are on the host."""
        out = self._empty_like(node_words)
        path_counts = self._distribute(node_words, words, counts, paths, out)
        return self._return_like(out, node_words), path_counts

    def path_counts(self, node_words: Numbers, words: Numbers, counts: Numbers, paths: Paths) -> Any:
        return self._distribute(node_words, words, counts, paths, None)

    def _distribute(
        self, node_words: Numbers, words: Numbers, counts: Numbers, paths: Paths, out: DeviceArray | None
    ) -> Any:
        """Distribute class counts along paths into ``out``; return sums by class and node."""
        nodes, launch, (n_words, n_classes) = self._put(node_words), self.memory.launch, counts.shape
        ratio = self.memory.empty((n_classes, n_words), nodes.dtype)
        launch(trees.ratios, ratio.array.size, self._put(counts), self._put(words), ratio)
        by_node = (nodes, ratio, *self._get_device_paths(paths)[3:])
        if out is not None:
            launch(trees.distribute_ratios, len(nodes) * n_words, *by_node, out)
        sums = self.memory.empty((max(1, -(-n_words // verbs.PART_COLUMNS)), len(paths.classes)), np.float64)
        launch(trees.pair_sums, sums.array.size * LANES, *by_node, verbs.PART_COLUMNS, sums)
        total = np.zeros((n_classes, len(nodes)))
        pair_nodes = np.repeat(np.arange(len(nodes)), np.diff(paths.node_ends))
        total[paths.classes, pair_nodes] = sums.numpy().sum(axis=0)
        return total

    # ---- growth

    def group_words(
        self, shard: Shard | CudaShard, groups: Sequence[Ints], collection: Floats, prior_tokens: float
    ) -> Any:
        """Return P(w) of each group, on the device."""
        members = cuda_growth.make_memberships(self.memory, shard.rows.n_rows, groups, shard.rows.data.dtype)
        counts = self._multiply(self._get_words(shard, members.shape[1]), members, len(collection), None)
        out = verbs.transpose(counts, (len(groups), len(collection)))
        return self.normalise_rows(self.add_outer(out, np.full(len(groups), prior_tokens), collection), 0.0)

    def class_tables(self, shard: Shard | CudaShard, class_given_doc: Numbers) -> tuple[Any, Any]:
        """Return the tables of tokens and of documents on the device of the shares."""
        rows, n_words = self._put(class_given_doc), shard.shape[1]
        words = self._get_words(shard, rows.shape[1])
        presence = words._replace(data=self.memory.full(words.data.shape, words.data.dtype, 1.0))
        sums = (self._multiply(order, rows, n_words, None) for order in (words, presence))
        tokens, having = (verbs.transpose(table, (rows.shape[1], n_words)) for table in sums)
        return self._return_like(tokens, class_given_doc), self._return_like(having, class_given_doc)

    def split_in_two(
        self, points: Numbers, groups: Sequence[Ints], seeds: Sequence[int], min_size: float
    ) -> list[tuple[float, Any]]:
        return cuda_growth.split_in_two(self.threads, self._put(points), groups, seeds, min_size)

    def leading_factors(self, matrix: Csr, number: int, seed: int) -> tuple[Floats, Floats, Floats] | None:
        if matrix.shape[0] < matrix.shape[1] or matrix.shape[1] < number + cuda_growth.OVERSAMPLES:
            return None
        return cuda_growth.leading_factors(self, matrix, number, seed)

    # ---- whole arrays

    def _map(self, kernel: Kernel, array: Numbers, *arguments: object) -> Any:
        """Return the result of an elementwise kernel in a new array."""
        source = self._put(array)
        out = self._empty_like(source)
        flat = (part.flat if isinstance(part, DeviceArray) else part for part in (source, *arguments, out))
        self.memory.launch(kernel, out.array.size, *flat)
        return self._return_like(out, array)

    def power(self, array: Numbers, exponent: float) -> Any:
        """Return each entry to a power; the array itself if the exponent is one."""
        return array if exponent == 1.0 else self._map(dense.power, array, float(exponent))

    def logarithms(self, array: Numbers) -> Any:
        """Return the logarithm of each entry; smaller ones count as ``SMALLEST_MIXTURE``."""
        return self._map(dense.logarithms, array)

    def extrapolate(self, old: Numbers, new: Numbers, stride: float) -> Any:
        return self._map(dense.extrapolate, new, self._put(old), stride - 1.0)

    def posteriors(self, scores: Numbers, prior: Floats, inverse_temperature: float) -> tuple[Any, float]:
        rows, evidence = self._put(scores), self.memory.empty((len(scores),), np.float64)
        log_prior = self.memory.put(prior, np.float64)
        self.memory.launch(dense.posteriors, len(rows) * LANES, rows, log_prior, float(inverse_temperature), evidence)
        return self._write_back(scores, rows), float(evidence.numpy().sum())

    def normalise_rows(self, counts: Numbers, smoothing: float) -> Any:
        rows = self._put(counts)
        verbs.normalise_rows(rows, smoothing)
        return self._write_back(counts, rows)

    def normalise_columns(self, counts: Numbers, smoothing: float) -> Any:
        """Scale the smoothed columns to sum one, in place; an empty column becomes uniform."""
        table = self._put(counts)
        total = verbs.column_sums(table) + smoothing * len(table)
        is_empty = total <= SMALLEST_MIXTURE
        scale = np.where(is_empty, 0.0, 1.0 / np.where(is_empty, 1.0, total))
        columns = (self.memory.put(part, table.dtype) for part in (scale, is_empty / max(1, len(table))))
        self.memory.launch(dense.scale_columns, table.array.size, table, float(smoothing), *columns)
        return self._write_back(counts, table)

    def column_totals(self, array: Numbers) -> Any:
        return verbs.column_sums(self._put(array))

    def add_outer(self, counts: Numbers, rows: Floats, columns: Floats) -> Any:
        table = self._put(counts)
        factors = (self.memory.put(part, table.dtype) for part in (rows, columns))
        self.memory.launch(dense.add_outer, table.array.size, table, *factors)
        return self._write_back(counts, table)

    def weighted_logs(self, array: Numbers, rows: Floats, columns: Floats) -> float:
        row_numbers = np.flatnonzero(rows)
        return float(rows[row_numbers] @ verbs.row_logs(self._put(array), columns, TINY)[row_numbers])

    def add_at(self, counts: Numbers, rows: Ints, columns: Ints, values: Floats) -> Any:
        """Add ``values[i]`` to ``counts[rows[i], columns[i]]`` in place, one row at a time."""
        for row in np.unique(rows):
            row_values = np.zeros(counts.shape[1])
            np.add.at(row_values, columns[rows == row], values[rows == row])
            counts = self.add_outer(counts, np.eye(1, len(counts), int(row)).ravel(), row_values)
        return counts

    def logs_at(self, array: Numbers, rows: Ints, columns: Ints, weights: Floats) -> float:
        """Return the weighted sum of the logarithms of some entries."""
        total = 0.0
        for row in np.unique(rows):
            row_weights = np.zeros(array.shape[1])
            np.add.at(row_weights, columns[rows == row], weights[rows == row])
            total += self.weighted_logs(array, np.eye(1, len(array), int(row)).ravel(), row_weights)
        return total

    def sum_of_logs(self, array: Numbers) -> float:
        return verbs.total(dense.sums_of_logs, self._put(array))


@lru_cache(maxsize=1)
def _get_worker_engine(kind: type[CudaEngine]) -> CudaEngine:
    """Return the engine of a worker process; one for all tasks, so that its memory is reused."""
    return kind.start(Threads(1))
